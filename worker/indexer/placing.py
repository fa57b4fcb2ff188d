"""Which definition of an outline each one of a graph is, where several begin on one line; and what stands in which."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from fledgling.worker.arrays import NDArray
from fledgling.worker.graph.columns import Begun, GraphColumns
from fledgling.worker.graph.linking.other_case import small
from fledgling.worker.graph.reasons import Reason, confidence
from fledgling.worker.graph.unit import LINE, LINE_BITS
from fledgling.worker.store.graph import ANY_OF_LINE, IN_NO_OUTLINE, MAX_PLACES, PLACE_BITS, USES
from fledgling.worker.store.graph_writer import Numbers
from fledgling.worker.store.symbols import Outlines, Row
from fledgling.worker.store.text import File

MAX_LINES = (1 << LINE_BITS - PLACE_BITS) - 1  # of a file: what is defined further down is not in the graph
_LAST = re.compile(r"\w*$")
_OWN = (USES.index("definition"), USES.index("write"))
_NAMING = np.asarray(sorted(_OWN), np.int64)
_RUN = np.asarray([USES.index(use) for use in ("call", "read", "write")], np.int64)
_VALUES = ("variable", "constant", "property", "field")


class BegunOnLine(NamedTuple):
    """The definitions of an outline that begin on a line, and which of them the parts of a graph are, from part 1."""

    rows: list[Row]
    doubled: Set[int]  # places of several
    by_name: dict[str, list[int]]
    only: int  # the place of the one that something may stand in, `constructor(private a: A) {`; ANY_OF_LINE of several
    parts: list[int]


class Places:
    """Asks the outlines of the files of a graph.

    >>> places = Places(graph, [blocks.file(number) for number in numbers], outlines, in_any_case=("php",))
    >>> places.settle()
    >>> places.target_lines
    """

    def __init__(
        self, graph: GraphColumns, files: Sequence[File], outlines: Outlines, in_any_case: Sequence[str]
    ) -> None:
        """`files` are those of the graph, as the index has them; some languages have names `in_any_case`."""
        self._graph, self.files, self._outlines, self._in_any_case = graph, files, outlines, in_any_case
        self._begun = {(file, line): begun for file, line, begun in graph.together}
        self._lines: dict[tuple[int, int], BegunOnLine] = {}
        self._several = {
            (number, line) for number, file in enumerate(files) for line in outlines.lines_of_several(file)
        }
        self.target_lines = np.zeros(0, np.uint32)  # of each row, with places
        self._keys = np.asarray([file << LINE_BITS | line for file, line in sorted(self._several)], np.int64)

    def settle(self) -> None:
        """Find the places of the targets of all rows; a row of which none is known is no longer sure."""
        graph = self._graph
        for at in np.flatnonzero(np.asarray(graph.target_line) > MAX_LINES).tolist():
            graph.target_file[at] = -1
            graph.target_line[at] = graph.target_part[at] = 0
            graph.reason[at], graph.confidence[at] = Reason.NOT_PARSED, confidence(Reason.NOT_PARSED)
        lines = np.array(graph.target_line, np.uint32)
        files = np.asarray(graph.target_file, np.int64)
        asked = (np.asarray(graph.target_part) != 0) | _among(files << LINE_BITS | lines, self._keys)
        found: Numbers = (lines << PLACE_BITS).astype(np.uint32)
        for at in np.flatnonzero(asked & (files >= 0)).tolist():
            file, line = graph.target_file[at], graph.target_line[at]
            place = self.place(file, line, graph.target_part[at], graph.names[graph.name[at]])
            found[at] |= place
            is_own = graph.kind[at] in _OWN and (graph.kind[at] == _OWN[0] or graph.line[at] == line)
            if not is_own and self._is_open(file, line, place):
                graph.reason[at] = min(graph.reason[at], Reason.TOGETHER)
                graph.confidence[at] = confidence(graph.reason[at])
        self.target_lines = found

    def of_links(self, links: Sequence[tuple[int, int, int, int, int]]) -> Iterator[tuple[int, int, int, int, int]]:
        """Yield pairs of definitions with places, of which those that are not told apart are not sure."""
        for file, line, to, to_line, reason in links:
            if max(line & LINE, to_line & LINE if to >= 0 else 0) > MAX_LINES:
                continue
            own, other = self.line_of(file, line), self.line_of(to, to_line)
            ends = ((file, own), (to, other))
            is_open = any(self._is_open(at, end >> PLACE_BITS, end & IN_NO_OUTLINE) for at, end in ends)
            least = min(filter(None, (reason, Reason.TOGETHER))) if is_open else reason
            yield file, own, to, other, int(least)

    def line_of(self, file: int, line: int) -> int:
        """Return the line of a Target of the graph with its place; as it is where it is in no file."""
        if file < 0:
            return line << PLACE_BITS
        return (line & LINE) << PLACE_BITS | self.place(file, line & LINE, line >> LINE_BITS)

    def place(self, file: int, line: int, part: int, name: str = "") -> int:
        """Return which of the definitions on a line a part of it is; where that has no part, what has a name.

        Without a name it is the only one that is no value: in what else could something stand?
        """
        if not part and (file, line) not in self._several:
            return ANY_OF_LINE
        known = self._line(file, line)
        if part and part <= len(known.parts):
            return known.parts[part - 1]
        named = known.by_name.get(name, ()) if name else (known.only,)
        return named[0] if len(named) == 1 else ANY_OF_LINE

    def _is_open(self, file: int, line: int, place: int) -> bool:
        """Return whether several definitions on a line may be meant by a place."""
        return (file, line) in self._several and (place == ANY_OF_LINE or place in self._line(file, line).doubled)

    def row(self, file: int, line: int, place: int) -> Row | None:
        """Return the definition of an outline at a place: of those that are not told apart, the longest."""
        if place == IN_NO_OUTLINE:
            return None
        rows = self._line(file, line).rows
        rows = rows[place - 1 : place] if place else rows
        return max(rows, key=lambda row: row.line_end, default=None)

    def within(self) -> Iterator[tuple[int, int]]:
        """Yield rows whose line does not tell what they are in, and the line with place of that, 0 for nothing.

        What may be in any of several definitions is not sure.
        """
        graph = self._graph
        lines = np.asarray(graph.line)
        keys = np.asarray(graph.file, np.int64) << LINE_BITS | np.asarray(graph.enclosing_line, np.int64)
        is_shared = (np.asarray(graph.enclosing_part) != 0) | _among(keys, self._keys)
        firsts = np.searchsorted(np.asarray(graph.file), np.arange(len(self.files) + 1))
        known: dict[tuple[int, int, int], int | None] = {}
        for number, file in enumerate(self.files):
            ends = np.asarray(self._outlines.lines_of_ends(file), np.int64)
            some = slice(firsts[number], firsts[number + 1])
            is_asked = is_shared[some] | _among(lines[some], ends) | self._is_beside(number, some)
            for at in np.flatnonzero(is_asked).tolist():
                row = int(firsts[number]) + at
                key = number, graph.enclosing_line[row], graph.enclosing_part[row]
                if key not in known:
                    known[key] = self.line_around(*key)
                around = known[key]
                if around is not None:
                    yield row, around
                is_open = around and self._is_open(number, around >> PLACE_BITS, around & IN_NO_OUTLINE)
                if is_open or (around is None and graph.enclosing_line[row] > MAX_LINES):
                    graph.reason[row] = min(graph.reason[row], Reason.TOGETHER)
                    graph.confidence[row] = confidence(graph.reason[row])

    def _is_beside(self, file: int, rows: slice) -> NDArray[np.bool_]:
        """Return which rows of a file stand on the first or last line of a definition, and before or behind it.

        What stands around it in the graph alone may be its head: a decorator, or what a parameter is by default.
        """
        graph = self._graph
        found = np.zeros(rows.stop - rows.start, np.bool_)
        edges = np.asarray(self._outlines.edges(self.files[file]), np.int64).reshape(-1, 3)
        if not len(edges):
            return found
        kinds, lines = np.asarray(graph.kind[rows]), np.asarray(graph.line[rows])
        at = np.minimum(np.searchsorted(edges[:, 0], lines), len(edges) - 1)
        begins, is_last = edges[at, 1], edges[at, 2]
        is_other = (edges[at, 0] == lines) & (begins != np.asarray(graph.enclosing_line[rows]))
        is_last = is_last.astype(np.bool_)
        names: dict[int, tuple[int, int]] = {}  # where the definition that begins on a line has its name
        for own in np.flatnonzero(_among(kinds, _NAMING)).tolist():
            row = rows.start + own
            if graph.target_file[row] == file:
                names.setdefault(graph.target_line[row], (graph.line[row], graph.column[row]))
        for own in np.flatnonzero(is_other & _among(kinds, _RUN)).tolist():
            row = rows.start + own
            if name := names.get(int(begins[own])):  # else the graph lacks the definition
                found[own] = is_last[own] or (name[0] == graph.line[row] and graph.column[row] < name[1])
        return found

    def around(self, file: int, line: int, part: int) -> tuple[int, int]:
        """Return the line and part of the innermost definition of an outline that one of the graph is or is in."""
        while line and part and self.place(file, line, part) == IN_NO_OUTLINE:
            _, _, line, part = self._begun[file, line][part - 1]
        return line, part

    def line_around(self, file: int, line: int, part: int) -> int | None:
        """Return the line of that with its place, None where no outline has it."""
        line, part = self.around(file, line, part)
        if line > MAX_LINES or (line and not self._line(file, line).rows):
            return None
        return line << PLACE_BITS | self.place(file, line, part)

    def _line(self, file: int, line: int) -> BegunOnLine:
        found = self._lines.get((file, line))
        if found is None:
            rows, _, doubled = self._outlines.together(self.files[file], line)
            by_name = defaultdict[str, list[int]](list)
            for number, row in enumerate(rows, 1):
                by_name[row.name].append(number if number <= MAX_PLACES and len(rows) > 1 else ANY_OF_LINE)
            holding = [number for number, row in enumerate(rows, 1) if row.kind not in _VALUES]
            only = holding[0] if len(holding) == 1 and holding[0] <= MAX_PLACES else ANY_OF_LINE
            spelled = small if self.files[file].language in self._in_any_case else str
            parts = _parts(self._begun.get((file, line), ()), rows, spelled)
            found = self._lines[file, line] = BegunOnLine(rows, doubled, by_name, only, parts)
        return found


def _among(numbers: NDArray[Any], ordered: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of some numbers are among others, which are in order; numpy's own `isin` imports as it runs."""
    if not len(ordered):
        return np.zeros(len(numbers), np.bool_)
    places = np.minimum(np.searchsorted(ordered, numbers), len(ordered) - 1)
    found: NDArray[np.bool_] = ordered[places] == numbers
    return found


def _parts(begun: Sequence[Begun], rows: Sequence[Row], spelled: Callable[[str], str]) -> list[int]:
    """Return the places of the definitions of a graph on a line among those of its outline: the names tell.

    What is `spelled` alike has one name. What sets a property, `a=` of Ruby, is that where an outline has no other.
    """
    own: dict[tuple[str, str], int] = {}
    for number, row in enumerate(rows):
        own.setdefault((spelled(row.name), spelled("".join(_LAST.findall(row.parent_name or "")))), number)
    found: list[int | None] = []
    for names, around, *_ in begun:
        each = [(spelled(name), spelled(around)) for name in (*names, *(name.removesuffix("=") for name in names))]
        found.append(next((own[name] for name in each if name in own), None))
    left = defaultdict[str, list[int]](list)
    for number in sorted({*range(len(rows))} - {*found}):
        left[rows[number].name].append(number)
    several = set[int]()  # which of some with one name they are is not known: fields of variants
    for at, (names, *_) in enumerate(begun):
        alike = next((left[name] for name in names if name in left), [])
        if found[at] is None and len(alike) == 1:
            found[at] = alike[0]
        elif found[at] is None and alike:
            several.add(at)
    is_any = any(rows[number].kind not in _VALUES for number in {*range(len(rows))} - {*found})
    unknown = [ANY_OF_LINE if is_any or at in several else IN_NO_OUTLINE for at in range(len(found))]
    return [unknown[at] if number is None else _numbered(number, len(rows)) for at, number in enumerate(found)]


def _numbered(number: int, count: int) -> int:
    return number + 1 if count > 1 and number < MAX_PLACES else ANY_OF_LINE
