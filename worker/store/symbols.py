"""The symbols of every file, in a memory file of its own: extractors make its parts, the indexer writes them one after
the other, and the query worker maps it.

Its sections are a part for each file that has symbols, in the order of paths: where each of its rows ends, their first
and their last lines, their kinds, and then the rows, in the order of lines; the CRC-32 of each name, in order, and
whose it is; where the part of each file begins; the first row of each file, and the end of the last; and how far each
file was parsed.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property
from itertools import groupby, pairwise
from typing import NamedTuple, get_args
from zlib import crc32

import msgspec

from fledgling.messages.questions import DEFINITION_KINDS, Kind
from fledgling.worker.store.graph import MAX_PLACES
from fledgling.worker.store.ngrams import folded
from fledgling.worker.store.sections import NUMBER, Mapped, Sections, view_of
from fledgling.worker.store.text import File

Packed = tuple[str, str | None, str | None, str | None, str | None]  # a row, as symbol_writer.py packs it
_DECODER = msgspec.msgpack.Decoder(Packed)
KINDS: tuple[Kind, ...] = get_args(Kind)
CODES: dict[str, int] = {kind: code for code, kind in enumerate(KINDS)}  # of a kind, one byte
DEFINITIONS = len(DEFINITION_KINDS)  # codes below it are of definitions, those from it on of imports and exports
_NO_SCOPES = frozenset(CODES[kind] for kind in KINDS if kind in ("variable", "constant", "import", "export"))
KEPT_ROWS = 50_000  # definitions that a call keeps of lines it has read, and those of one line: some 20 MB
_HEAD_BYTES = 3 * 4 + 1  # of a row, in the head of its part
_ROW_HEAD_BYTES = 1  # of a row as it is packed, before its name: that it is an array of so many

# How far a file was parsed: there is no parser for it, or no text; whole; in part, so that definitions may be missing
# or end in the wrong line; or not at all, since that took too long or too much memory.
NO_PARSER, WHOLE, IN_PART, GIVEN_UP = range(4)
_NOT_WHOLE = re.compile(b"[%c%c]" % (IN_PART, GIVEN_UP))

assert KINDS[:DEFINITIONS] == DEFINITION_KINDS


class Row(NamedTuple):
    """A symbol in a file."""

    name: str
    kind: Kind
    line_start: int
    line_end: int
    signature: str | None
    parent_name: str | None
    full_name: str | None  # where it is not the name

    @property
    def qualified_name(self) -> str:
        """The name behind those of what it is in: `Engine.run`."""
        return self.full_name or self.name


def hashes_of(names: Iterable[str]) -> Iterator[int]:
    """Yield the hashes that names are found by."""
    return map(crc32, map(str.encode, names))


def is_meant(code: int, kind: str | None = None) -> bool:
    """Return whether a symbol is one of a kind, or a definition where none is given."""
    return code < DEFINITIONS if kind is None else code == CODES[kind]


def parsed(engine: str | None, *, is_whole: bool) -> int:
    """Return how far a file was parsed, by what found its definitions.

    >>> parsed("tree-sitter", is_whole=False) == IN_PART, parsed(None, is_whole=False) == GIVEN_UP
    (True, True)
    """
    if engine == "none":
        return NO_PARSER
    if is_whole:
        return WHOLE
    return IN_PART if engine else GIVEN_UP


def not_whole(files: bytes) -> list[int]:
    """Return the places of files that were not parsed whole: `not_whole(bytes([WHOLE, GIVEN_UP]))` is [1]."""
    return [found.start() for found in _NOT_WHOLE.finditer(files)]


class Outline(NamedTuple):
    """The part of one file as it is read; rows begin at `start` of `data`."""

    ends: memoryview
    starts: memoryview
    lasts: memoryview
    kinds: bytes
    start: int
    data: Mapped | bytes

    def begin_of(self, place: int) -> int:
        """Return where in `data` the row at a place begins."""
        return self.start + (self.ends[place - 1] if place else 0)


class OnOneLine(NamedTuple):
    """The definitions that begin on a line and have different qualified names, in order, and their numbers, from 1.

    `doubled` are those that several have: overloads, which nothing tells apart.
    """

    rows: list[Row]
    numbers: dict[str, int]
    doubled: Set[int]

    def place(self, row: Row) -> int:
        """Return the number of one of them; 0 where it is alone, or they are too many."""
        number = self.numbers[row.qualified_name]
        return number if len(self.rows) > 1 and number <= MAX_PLACES else 0


class Outlines:
    """The file as it is read; rows are numbers until they are asked for.

    >>> outlines = Outlines(memory_file.mapped(fd))
    >>> [outlines.row(number).line_start for number in outlines.named("run")]
    [1]
    """

    def __init__(self, data: Mapped) -> None:
        """Read a mapped file. Raises FormatError."""
        self._sections = sections = Sections(data, "symbols")
        self._data, self._parts, self._written = data, sections.start("parts"), sections.column("parts")
        self._hashes, self._named = sections.column("hashes"), sections.column("named")
        self._begins, self._first_rows = sections.column("begins"), sections.column("first_rows")
        self._parsed = bytes(sections.column("parsed"))

    def forget(self) -> None:
        """Give the pages back that were read so far: they count as memory of the process that maps them."""
        self._sections.forget()

    def parsed(self, file: File) -> int:
        """Return how far a file was parsed: WHOLE, IN_PART, ..."""
        return self._parsed[file.number]

    @cached_property
    def not_whole(self) -> list[int]:
        """The numbers of the files that were parsed in part or not at all."""
        return not_whole(self._parsed)

    def file_of(self, number: int) -> int:
        """Return the number of the file that a row is of."""
        return bisect_right(self._first_rows, number) - 1

    def row(self, number: int) -> Row:
        """Return a row."""
        file = self.file_of(number)
        return self.row_of(self.outline(file), number - self._first_rows[file])

    def named(self, name: str, kind: str | None = None) -> list[int]:
        """Return the definitions of this very name, or its symbols of one kind, in the order of paths and lines."""
        return sorted(self.each_named(name, kind))

    def defines(self, name: str) -> bool:
        """Return whether there is a definition of this very name: the first is enough."""
        return any(True for _ in self.each_named(name))

    def each_named(self, name: str, kind: str | None = None) -> Iterator[int]:
        """Yield what `named` returns, in no order. No row is decoded for its name: a project has thousands of `get`."""
        [hashed] = hashes_of([name])
        numbers = self._named[bisect_left(self._hashes, hashed) : bisect_right(self._hashes, hashed)]
        written = msgspec.msgpack.encode(name)
        for file, of_file in groupby(numbers, self.file_of):
            part, first = self.outline(file), self._first_rows[file]
            for number in of_file:
                begin = part.begin_of(number - first) + _ROW_HEAD_BYTES
                if is_meant(part.kinds[number - first], kind) and part.data[begin : begin + len(written)] == written:
                    yield number

    def may_name(self, groups: Sequence[Sequence[bytes]]) -> bool:
        """Return whether a symbol may have a name that holds all texts of a group, as `ngrams.folded` leaves them.

        Names stand in the parts as they are, among what else is written of symbols.
        """
        written = folded(bytes(self._written))
        return any(all(text in written for text in texts) for texts in groups)

    def count_rows(self) -> int:
        """Return how many rows there are."""
        return len(self._hashes)

    def count(self, file: File) -> int:
        """Return how many definitions a file has."""
        kinds = self.outline(file.number).kinds
        return len(kinds) - sum(kinds.count(code) for code in range(DEFINITIONS, len(KINDS)))

    def of(self, file: File, kind: str | None = None) -> list[int]:
        """Return the definitions of a file, or its symbols of one kind, in the order of lines."""
        first, kinds = self._first_rows[file.number], self.outline(file.number).kinds
        return [number for number, code in enumerate(kinds, first) if is_meant(code, kind)]

    def definitions(self, file: File) -> list[Row]:
        """Return the definitions of a file, in the order of lines."""
        part = self.outline(file.number)
        return [self.row_of(part, place) for place, code in enumerate(part.kinds) if is_meant(code)]

    def beginning(self, file: File, line: int) -> list[Row]:
        """Return the definitions that begin on a line."""
        part = self.outline(file.number)
        places = range(bisect_left(part.starts, line), bisect_right(part.starts, line))
        return [self.row_of(part, place) for place in places if is_meant(part.kinds[place])]

    def together(self, file: File, line: int) -> OnOneLine:
        """Return the definitions that begin on a line, by qualified name in order: of several the longest."""
        found: dict[str, Row] = {}
        begun = self.beginning(file, line)
        for row in begun:
            before = found.setdefault(row.qualified_name, row)
            if row.line_end > before.line_end:
                found[row.qualified_name] = row
        counts = Counter(row.qualified_name for row in begun)
        doubled = {number for number, name in enumerate(found, 1) if counts[name] > 1}
        return OnOneLine([*found.values()], {name: number for number, name in enumerate(found, 1)}, doubled)

    def by_line(self) -> "DefinitionLines":
        """Return what reads lines once each."""
        return DefinitionLines(self)

    def lines_of_several(self, file: File) -> list[int]:
        """Return the lines on which several definitions begin."""
        part = self.outline(file.number)
        counts = Counter(start for start, kind in zip(part.starts, part.kinds, strict=True) if is_meant(kind))
        return [line for line, count in counts.items() if count > 1]

    def lines_of_ends(self, file: File) -> list[int]:
        """Return the lines, in order, on which a definition with a body begins, and another one begins or ends."""
        part = self.outline(file.number)
        spans = [
            span for *span, kind in zip(part.starts, part.lasts, part.kinds, strict=True) if kind not in _NO_SCOPES
        ]
        begins = Counter(start for start, _ in spans)
        touched = begins + Counter(end for start, end in spans if end != start)
        return sorted(line for line in begins if touched[line] > 1)

    def innermost(self, file: File, line: int) -> Row | None:
        """Return the innermost definition with a body that a line is in; of those on the same lines, the first."""
        part = self.outline(file.number)
        found = None
        for place in range(bisect_right(part.starts, line) - 1, -1, -1):
            if part.lasts[place] < line:
                continue
            lines = part.starts[place], part.lasts[place]
            if found is not None and lines != (part.starts[found], part.lasts[found]):
                break
            if part.kinds[place] not in _NO_SCOPES:
                found = place
        return None if found is None else self.row_of(part, found)

    def outline(self, file: int) -> Outline:
        """Return what is in the file with this number."""
        begin = self._parts + self._begins[file]
        return read_outline(self._data, begin, self._first_rows[file + 1] - self._first_rows[file])

    def part(self, file: int) -> tuple[int, bytes]:
        """Return what is in the file with this number as it was written, and behind how many rows: see `names_of`."""
        rows, begin = self._first_rows[file + 1] - self._first_rows[file], self._parts + self._begins[file]
        part = read_outline(self._data, begin, rows)
        return rows, bytes(self._data[begin : part.start + part.ends[-1]]) if rows else b""

    def first_row(self, file: int) -> int:
        """Return the first row of the file with this number, or of the next that has any."""
        return self._first_rows[file]

    def enclosing(self, file: File, lines: Iterable[int]) -> Iterator[int]:
        """Yield where the innermost definition with a body begins that each of some lines, in order, is in, or 0."""
        return (begin for begin, _ in self._around(file, lines))

    def edges(self, file: File) -> list[tuple[int, int, bool]]:
        """Return the lines, in order, on which definitions with a body begin or end.

        Each with where the innermost begins that it is in, and whether that ends there.
        """
        part = self.outline(file.number)
        spans = zip(part.starts, part.lasts, part.kinds, strict=True)
        lines = sorted({line for start, last, kind in spans if kind not in _NO_SCOPES for line in (start, last)})
        return [
            (line, begin, last == line) for line, (begin, last) in zip(lines, self._around(file, lines), strict=True)
        ]

    def _around(self, file: File, lines: Iterable[int]) -> Iterator[tuple[int, int]]:
        part = self.outline(file.number)
        open_: list[tuple[int, int]] = []
        place = 0
        for line in lines:
            while place < len(part.starts) and part.starts[place] <= line:
                if part.kinds[place] not in _NO_SCOPES:
                    open_.append((part.starts[place], part.lasts[place]))
                place += 1
            while open_ and open_[-1][1] < line:
                open_.pop()
            yield open_[-1] if open_ else (0, 0)

    def rows(self, files: range) -> tuple[int, int]:
        """Return the first and the last row of some files; the first is behind the last where they have none."""
        return self._start(files.start), self._start(files.stop) - 1

    def _start(self, file: int) -> int:
        return self._first_rows[file]

    def row_of(self, part: Outline, place: int) -> Row:
        """Return the row at a place of a part."""
        packed = part.data[part.begin_of(place) : part.start + part.ends[place]]
        name, before, after, parent, full_name = _DECODER.decode(packed)
        signature = before if before is None or after is None else f"{before}{name}{after}"
        lines = part.starts[place], part.lasts[place]
        return Row(name, KINDS[part.kinds[place]], *lines, signature, parent, full_name)


class DefinitionLines:
    """The definitions that begin on lines, each line read once: a minified one has thousands, and each is asked for.

    >>> lines = DefinitionLines(outlines)
    >>> lines.together(file, row.line_start).place(row)
    """

    def __init__(self, outlines: Outlines) -> None:
        """Read from `outlines`, for one call."""
        self.outlines = outlines
        self._known: dict[tuple[int, int], OnOneLine] = {}
        self._rows = 0

    def together(self, file: File, line: int) -> OnOneLine:
        """Return what `Outlines.together` does."""
        found = self._known.get((file.number, line))
        if found is None:
            found = self.outlines.together(file, line)
            self._rows += len(found.rows)
            if self._rows > KEPT_ROWS:
                self._known.clear()
                self._rows = len(found.rows)
            self._known[file.number, line] = found
        return found


def read_outline(data: Mapped | bytes, begin: int, count: int) -> Outline:
    """Return the part of one file, of so many rows, that begins somewhere in what was written."""
    start = begin + count * _HEAD_BYTES
    numbers = view_of(data)[begin : start - count].cast(NUMBER)
    kinds = data[start - count : start]
    return Outline(numbers[:count], numbers[count : 2 * count], numbers[2 * count :], kinds, start, data)


def names_of(part: bytes, rows: int) -> Iterator[tuple[str, int]]:
    """Yield the name of each row that the part of one file has, and the code of its kind."""
    outline = read_outline(part, 0, rows)
    for (begin, end), code in zip(pairwise([0, *outline.ends]), outline.kinds, strict=True):
        yield _DECODER.decode(part[outline.start + begin : outline.start + end])[0], code
