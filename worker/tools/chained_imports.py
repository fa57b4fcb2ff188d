"""Modules that begin with a name which their file imports: `use crate::a::Kind;` and then `use Kind::*;` of Rust."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from fledgling.messages.languages import Modules
from fledgling.worker.store.package_root import root
from fledgling.worker.tools import unknown
from fledgling.worker.tools.request import Request

MAX_CHAIN = 8  # imports that one leads through: one or two are usual, and a circle of them ends


class ImportStatement(NamedTuple):
    """What a file imports: one name of a module, or several."""

    path: str
    line_number: int
    module: str
    imported_names: list[str]
    resolved_path: str | None
    is_stdlib: bool
    is_relative: bool
    alias: str | None


class Chains:
    """The names that some files import, for all of a file: what is certain without knowing the scope of each.

    A name counts that is bound once, by a statement that is indented by nothing and within no definition. Within an
    inner module none is seen.
    """

    def __init__(
        self, request: Request, rows: Iterable[ImportStatement], modules: Mapping[str, Modules | None]
    ) -> None:
        self._request, self._modules = request, modules
        self._bound: dict[tuple[str, str], ImportStatement | None] = {}
        self._taking: dict[str, list[ImportStatement]] = {}  # what takes all names of a module, by its file
        self._note(rows)
        self._within = cache(self._covered)
        self._note_further = cache(self._read)

    def end(self, row: ImportStatement) -> ImportStatement | None:
        """Return the import that one leads through others to, if it leads to a file or the standard library."""
        for _ in range(MAX_CHAIN):
            found = self._begins(row)
            if found is None or found.resolved_path is not None or found.is_stdlib:
                return found
            row = found
        return None

    def _begins(self, row: ImportStatement) -> ImportStatement | None:
        """Return what imports the name that a module begins with."""
        modules = self._modules.get(row.path)
        if modules is None or not modules.chains or row.is_relative:
            return None
        name = root(row.module, modules)
        bound = self._bound.get((row.path, name))
        if bound is None and (row.path, name) not in self._bound:
            bound = self._from_around(row.path, name, modules)
        if bound is None or not self._is_outermost(bound) or self._is_within(row, "module"):
            return None
        return bound

    def _from_around(self, path: str, name: str, modules: Modules) -> ImportStatement | None:
        """Return what imports a name in a module around, of which a file takes all: `use super::*`."""
        for star in self._taking.get(path, ()):
            around = star.resolved_path
            if around and around != path and star.module in modules.around and self._is_outermost(star):
                self._note_further(around)
                if bound := self._bound.get((around, name)):
                    return bound
        return None

    def _read(self, path: str) -> None:
        """Note what a further file imports."""
        if not any(of == path for of, _ in self._bound):
            self._note(self._request.rows("imports_of", ImportStatement, paths=[path]))

    def _note(self, rows: Iterable[ImportStatement]) -> None:
        for row in rows:
            for name in [row.alias] if row.alias else row.imported_names:
                self._bound[row.path, name] = None if (row.path, name) in self._bound else row
            if row.imported_names == ["*"]:
                self._taking.setdefault(row.path, []).append(row)

    def _is_outermost(self, row: ImportStatement) -> bool:
        blocks = self._request.blocks
        file = blocks.find(row.path)
        if not file or not file.blocks or self._is_within(row, None):
            return False
        for block in blocks.holding(file, row.line_number, row.line_number):
            return not blocks.text(block).split(b"\n")[row.line_number - blocks.first_lines[block]][:1].isspace()
        return False

    def _is_within(self, row: ImportStatement, kind: str | None) -> bool:
        """Return whether a statement may be within a definition, or one of a kind; it may where that is not known."""
        covered = self._within(row.path, kind)
        if covered is None:
            return True
        at = bisect_right(covered, row.line_number, key=lambda lines: lines[0]) - 1
        return at >= 0 and row.line_number <= covered[at][1]

    def _covered(self, path: str, kind: str | None) -> Sequence[tuple[int, int]] | None:
        """Return the lines of the definitions of a file, apart from each other and in order."""
        file, outlines = self._request.blocks.find(path), self._request.outlines
        if not file or not outlines or not unknown.is_whole(self._request, file):
            return None
        covered: list[tuple[int, int]] = []
        for row in outlines.definitions(file):
            if kind not in (None, row.kind):
                continue
            if covered and row.line_start <= covered[-1][1]:
                covered[-1] = covered[-1][0], max(covered[-1][1], row.line_end)
            else:
                covered.append((row.line_start, row.line_end))
        return covered
