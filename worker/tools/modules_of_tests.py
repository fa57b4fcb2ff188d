"""What is of the tests within a file that is not: the modules that say so, `#[cfg(test)] mod tests`."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import takewhile
from operator import itemgetter

from fledgling.worker.store.text import File
from fledgling.worker.tools.occurrences import head, unnamed_of
from fledgling.worker.tools.request import Request


class ModulesOfTests:
    """Tells which lines are in a module of tests; each file is looked at once."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._known: dict[int, list[tuple[int, int]]] = {}  # the first and last lines of those in each file

    def hold(self, file: File, line: int) -> bool:
        """Return whether a line of a file is in a module of tests."""
        if file.number not in self._known:
            self._known[file.number] = self._outermost(file)
        known = self._known[file.number]
        before = bisect_right(known, line, key=itemgetter(0))
        return before > 0 and line <= known[before - 1][1]

    def _outermost(self, file: File) -> list[tuple[int, int]]:
        known: list[tuple[int, int]] = []
        for first, last in sorted(self._found(file)):
            if known and first <= known[-1][1]:
                first, last = known[-1][0], max(last, known.pop()[1])
            known.append((first, last))
        return known

    def _found(self, file: File) -> Iterator[tuple[int, int]]:
        above = unnamed_of(self._request, file).tests
        for row in self._request.outlines.definitions(file) if above and self._request.outlines else ():
            lines = takewhile(_is_above, head(self._request, file, row))
            if row.kind == "module" and any(re.match(above, line) for line in lines):
                yield row.line_start, row.line_end


def _is_above(line: str) -> bool:
    return line.startswith(("#", "@", "[", "/"))
