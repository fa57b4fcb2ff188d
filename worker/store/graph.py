"""What each use of a name means, in a memory file of its own: the indexer writes it when all is resolved.

Its rows are occurrences of names in code, in the order of files, lines and columns; one that may mean several things
has several rows. A row says where it is, what the name is there for, which definition it means, and how sure that is.
Definitions are the file and the line where they begin, with a number where several do; docs/index-format.md has the
sections.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterator, Sequence
from operator import sub
from typing import Literal, NamedTuple, get_args

import msgspec

from fledgling.worker.store.sections import Mapped, Sections

# The kinds, confidences and reasons of rows are codes, which are places in these.
Use = Literal["call", "read", "write", "type", "decorator", "inherit", "import", "definition", "keyword"]
USES: tuple[Use, ...] = get_args(Use)
Confidence = Literal["certain", "likely", "possible", "unresolved", "external", "local"]
CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)

# How far the uses in a file are known: its language has none, or it has no text; wholly; in part; not at all, since
# they took too long; not at all, since there was no room.
NO_GRAPH, RESOLVED, IN_PART, GIVEN_UP, LEFT_OUT = range(5)

NONE = 2**32 - 1  # no definition
# The lines of definitions hold, in their last bits, which of those that begin on one it is: PLACE_BITS of 32.
PLACE_BITS = 10
MAX_PLACES = (1 << PLACE_BITS) - 2  # definitions that begin on one line and are told apart
IN_NO_OUTLINE = MAX_PLACES + 1  # something that no outline has: a function within one on its line
ANY_OF_LINE = 0  # the only one; of several, it is not known which
NAMES = ("reasons", "outside")  # words by their codes: why, bases outside the project
COLUMN_BIT, USE_BIT, CONFIDENCE_BIT = 16, 12, 8  # from which on they stand in a number of the section `sites`

CALLS: tuple[Use, ...] = ("call", "decorator")  # uses that are calls
SURE: tuple[Confidence, ...] = ("certain", "likely")  # where more than the name speaks for what is meant
_SURE_CALLS = frozenset(USES.index(use) << 4 | CONFIDENCES.index(how) for use in CALLS for how in SURE)


class GraphDefinition(NamedTuple):
    """A definition, by the number of its file and the line where it begins.

    `place` is its number among the definitions of an outline that begin on that line and have different qualified
    names, from 1; ANY_OF_LINE where it is alone.
    """

    file: int
    line: int
    place: int = ANY_OF_LINE


class Occurrence(NamedTuple):
    """A row. `target` is the definition that is meant, None where it is none of the project, or not known."""

    number: int
    file: int
    line: int
    column: int  # in bytes, from 0
    use: Use
    confidence: Confidence
    reason: int
    target: GraphDefinition | None


class _Pairs:
    """Links as they are read."""

    def __init__(self, sections: Sections, name: str) -> None:
        self._files, self._lines = sections.column(f"{name}_files"), sections.column(f"{name}_lines")
        self._to_files, self._to_lines = sections.column(f"{name}_to_files"), sections.column(f"{name}_to_lines")
        self._reasons, self._back = sections.column(f"{name}_reasons"), sections.column(f"{name}_back")

    def of(self, definition: GraphDefinition) -> Iterator[tuple[GraphDefinition, int]]:
        """Yield what a definition leads to, each with why that is not sure, 0 where it is."""
        begin = bisect_left(range(len(self._files)), definition, key=self._from)
        for place in range(begin, len(self._files)):
            if self._from(place) != definition:
                break
            yield self._to(place), self._reasons[place]

    def to(self, definition: GraphDefinition) -> Iterator[tuple[GraphDefinition, int]]:
        """Yield what leads to a definition, likewise."""
        begin = bisect_left(self._back, definition, key=self._to)
        for place in self._back[begin:]:
            if self._to(place) != definition:
                break
            yield self._from(place), self._reasons[place]

    def _from(self, place: int) -> GraphDefinition:
        return unpacked(self._files[place], self._lines[place])

    def _to(self, place: int) -> GraphDefinition:
        return unpacked(self._to_files[place], self._to_lines[place])


def unpacked(file: int, line: int) -> GraphDefinition:
    """Return a definition from the numbers that stand for it; a line holds which of several it is."""
    return GraphDefinition(file, line >> PLACE_BITS, line & IN_NO_OUTLINE)


class Graph:
    """The file as it is read.

    >>> graph = Graph(memory_file.mapped(fd))
    >>> [graph.row(number).line for number in graph.leading_to(Definition(0, 12))]
    [40, 57]
    """

    def __init__(self, data: Mapped) -> None:
        """Read a mapped file. Raises FormatError."""
        sections = Sections(data, "graph")
        self._how_far = bytes(sections.column("how_far"))
        self._first_rows, self._lines = sections.column("first_rows"), sections.column("lines")
        self._sites, self._targets = sections.column("sites"), sections.column("targets")
        self._target_files, self._target_lines = sections.column("target_files"), sections.column("target_lines")
        self._first_leading, self._leading = sections.column("first_leading"), sections.column("leading")
        words = {name: msgspec.msgpack.decode(sections.column(name), type=list[str]) for name in NAMES}
        self.reasons, self._outside = words["reasons"], words["outside"]
        self._made = msgspec.msgpack.decode(sections.column("made"), type=list[tuple[int, int, str, str, int, int]])
        self._within, self._around = sections.column("within"), sections.column("around")
        self._bases, self._overrides = _Pairs(sections, "bases"), _Pairs(sections, "overrides")

    def how_far(self, file: int) -> int:
        """Return how far the uses in the file with this number are known: RESOLVED, IN_PART, ..."""
        return self._how_far[file]

    def rows(self) -> int:
        """Return how many rows there are."""
        return len(self._lines)

    def row(self, number: int, file: int | None = None) -> Occurrence:
        """Return a row, of a file if that is known."""
        site, target = self._sites[number], self._targets[number]
        return Occurrence(
            number,
            bisect_right(self._first_rows, number) - 1 if file is None else file,
            self._lines[number],
            site >> COLUMN_BIT,
            USES[site >> USE_BIT & 15],
            CONFIDENCES[site >> CONFIDENCE_BIT & 15],
            site & 255,
            None if target == NONE else self._target(target),
        )

    def at(self, file: int, line: int, column: int) -> list[Occurrence]:
        """Return what an occurrence may mean; nothing of one that is no name of a definition, or no code."""
        rows = self._between(file, line, line)
        begin = bisect_left(self._sites, column << COLUMN_BIT, rows.start, rows.stop)
        end = bisect_left(self._sites, column + 1 << COLUMN_BIT, begin, rows.stop)
        return [self.row(number, file) for number in range(begin, end)]

    def within(self, file: int, first: int, last: int) -> Iterator[Occurrence]:
        """Yield the rows on some lines of a file, in order."""
        return (self.row(number, file) for number in self._between(file, first, last))

    def leading_to(self, definition: GraphDefinition) -> list[Occurrence]:
        """Return the rows that may mean a definition, in the order of files and lines.

        Of one of several on a line that is also what may mean any of these.
        """
        found = self._leading_to(definition)
        if definition.place not in (ANY_OF_LINE, IN_NO_OUTLINE):
            found = sorted([*found, *self._leading_to(definition._replace(place=ANY_OF_LINE))])
        return [self.row(number) for number in found]

    def _leading_to(self, definition: GraphDefinition) -> Sequence[int]:
        target = bisect_left(range(len(self._target_files)), definition, key=self._target)
        if target == len(self._target_files) or self._target(target) != definition:
            return ()
        return self._leading[self._first_leading[target] : self._first_leading[target + 1]]

    def around(self, number: int) -> GraphDefinition | None:
        """Return the definition that a row is in, where its line does not tell; line 0 is none."""
        place = bisect_left(self._within, number)
        is_known = place < len(self._within) and self._within[place] == number
        return unpacked(0, self._around[place]) if is_known else None

    def making(self, name: str, related: Container[GraphDefinition]) -> Iterator[tuple[int, int]]:
        """Yield file and line of each name that is made and may be this one, if no row tells what it means.

        Of a name of which nothing is known that is so if it is asked of one of some `related` classes, by their lines,
        or modules, by line 0.
        """
        for file, line, begin, end, *of in self._made:
            if not begin and not end and of[0] == NONE:
                continue
            is_like = len(name) > len(begin) + len(end) and name.startswith(begin) and name.endswith(end)
            if (is_like or name == begin == end) and (of[0] == NONE or GraphDefinition(of[0], of[1]) in related):
                yield file, line

    def computing(self) -> Iterator[tuple[int, int]]:
        """Yield file and line of each name that is computed and may be any."""
        return ((file, line) for file, line, *ends, of, _ in self._made if of == NONE and not any(ends))

    def computed_in(self, file: int) -> Iterator[int]:
        """Yield the lines of a file on which a name is made of which no row tells all that it may mean."""
        return (line for of, line, *_ in self._made if of == file)

    def targets(self) -> list[tuple[int, GraphDefinition]]:
        """Return what rows lead to, with the number of these, the largest first."""
        counts = map(sub, self._first_leading[1:], self._first_leading)
        ranked = sorted(zip(counts, range(len(self._target_files)), strict=True), key=lambda each: (-each[0], each[1]))
        return [(count, self._target(place)) for count, place in ranked]

    def calls(self, file: int) -> Iterator[tuple[int, int, GraphDefinition]]:
        """Yield a file's calls that are certain or likely, in order: the row, its line, and what is called."""
        for number in range(self._first_rows[file], self._first_rows[file + 1]):
            site, target = self._sites[number], self._targets[number]
            if target != NONE and site >> CONFIDENCE_BIT & 255 in _SURE_CALLS:
                yield number, self._lines[number], self._target(target)

    def bases(self, definition: GraphDefinition) -> dict[GraphDefinition, int]:
        """Return the classes that a class is derived from, of those in the project, each with why that is not sure."""
        return {base: reason for base, reason in self._bases.of(definition) if base.file != NONE}

    def bases_outside(self, definition: GraphDefinition) -> list[str]:
        """Return the names of the bases of a class that are no known class of the project; "" is an expression's."""
        bases = self._bases.of(definition)
        return sorted(self._outside[base.line] for base, reason in bases if base.file == NONE and not reason)

    def has_more_below(self, definition: GraphDefinition) -> bool:
        """Return whether more may be derived from a class than is known."""
        return any(base.file == NONE and reason for base, reason in self._bases.of(definition))

    def derived(self, definition: GraphDefinition) -> dict[GraphDefinition, int]:
        """Return the classes that are derived from a class, likewise."""
        return dict(self._bases.to(definition))

    def overridden(self, definition: GraphDefinition) -> dict[GraphDefinition, int]:
        """Return the methods that a method takes the place of, each with why that is not sure, 0 where it is."""
        return dict(self._overrides.of(definition))

    def overriding(self, definition: GraphDefinition) -> dict[GraphDefinition, int]:
        """Return the methods that take the place of a method, likewise."""
        return dict(self._overrides.to(definition))

    def _between(self, file: int, first: int, last: int) -> range:
        rows = self._first_rows[file], self._first_rows[file + 1]
        return range(bisect_left(self._lines, first, *rows), bisect_right(self._lines, last, *rows))

    def _target(self, place: int) -> GraphDefinition:
        return unpacked(self._target_files[place], self._target_lines[place])
