"""Symbols with an overlay. Rows have numbers in the order of all paths: between two of the base there is room for all
rows of parts, so neither those of the base nor the tables that hold them are numbered anew.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate, count

from fledgling.worker.store.overlay.changed import Order
from fledgling.worker.store.parts import Part
from fledgling.worker.store.sections import NUMBER
from fledgling.worker.store.symbols import (
    NO_PARSER,
    Outline,
    Outlines,
    Row,
    hashes_of,
    is_meant,
    not_whole,
    parsed,
    read_outline,
)
from fledgling.worker.store.text import File

SPREAD = 2**24  # between the numbers of two rows of the base: each row takes a byte of MAX_TEXT at least


class OverlaidOutlines(Outlines):
    """Definitions as a new build would find them.

    Row r of the base has the number `(r + 1) * SPREAD`. The rows of parts are counted from 1, and added to that number
    of the row of the base that is the last before them.

    >>> outlines = OverlaidOutlines(base, Order(len(blocks.files), overlay))
    >>> [outlines.row(number).line_start for number in outlines.named("run")]
    [1, 7]
    """

    def __init__(self, base: Outlines, order: Order) -> None:
        """Lay the symbols of parts over those of the base."""
        self._base, self._order = base, order
        self._own_parsed = bytes([_parsed(part) for part in order.parts])
        counts = [len(part.symbols.kinds) for part in order.parts]
        self._own_rows = [*accumulate(counts, initial=1)]  # the first of each part, and the end of the last
        self.own_firsts = [  # their numbers
            base.first_row(file) * SPREAD + row for file, row in zip(order.behind, self._own_rows, strict=False)
        ]

    def count_rows(self) -> int:
        """Return how many rows the base has."""
        return self._base.first_row(self._order.base)

    def parsed(self, file: File) -> int:
        """Return how far a file was parsed: WHOLE, IN_PART, ..."""
        source = self._order.sources[file.number]
        own = source - self._order.base
        return self._own_parsed[own] if own >= 0 else self._base.parsed(file._replace(number=source))

    @cached_property
    def not_whole(self) -> list[int]:
        """The numbers of the files that were parsed in part or not at all."""
        order = self._order
        found = [order.number(file) for file in self._base.not_whole if file not in order.hidden]
        return sorted(found + [order.numbers[part] for part in not_whole(self._own_parsed)])

    def file_of(self, number: int) -> int:
        """Return the number of the file that a row is of."""
        row, own = divmod(number, SPREAD)
        if own:
            return self._order.numbers[bisect_right(self._own_rows, own) - 1]
        return self._order.number(self._base.file_of(row - 1))

    def row(self, number: int) -> Row:
        """Return a row."""
        row, own = divmod(number, SPREAD)
        if not own:
            return self._base.row(row - 1)
        part = bisect_right(self._own_rows, own) - 1
        return self.row_of(self._own(part), own - self._own_rows[part])

    def each_named(self, name: str, kind: str | None = None) -> Iterator[int]:
        """Yield the definitions of this very name, or its symbols of one kind, in no order."""
        hidden, base = self._order.hidden, self._base
        yield from ((row + 1) * SPREAD for row in base.each_named(name, kind) if base.file_of(row) not in hidden)
        hashed = array(NUMBER, hashes_of([name])).tobytes()
        for first, part in zip(self.own_firsts, self._order.parts, strict=True):
            if hashed in part.symbols.hashes:
                rows = zip(count(first), part.symbols.names, part.symbols.kinds, strict=False)
                yield from (number for number, own, code in rows if own == name and is_meant(code, kind))

    def of(self, file: File, kind: str | None = None) -> list[int]:
        """Return the definitions of a file, or its symbols of one kind, in the order of lines."""
        source = self._order.sources[file.number]
        own = source - self._order.base
        first, step = (self.own_firsts[own], 1) if own >= 0 else ((self._base.first_row(source) + 1) * SPREAD, SPREAD)
        kinds = self.outline(file.number).kinds
        return [first + place * step for place, code in enumerate(kinds) if is_meant(code, kind)]

    def outline(self, file: int) -> Outline:
        """Return what is in the file with this number."""
        source = self._order.sources[file]
        own = source - self._order.base
        return self._own(own) if own >= 0 else self._base.outline(source)

    def _start(self, file: int) -> int:
        order, rows = self._order, self._own_rows
        of_base = (self._base.first_row(order.file_behind(file)) + 1) * SPREAD
        row = rows[bisect_left(order.numbers, file)]
        return of_base if row == rows[-1] else min(of_base, self.own_firsts[bisect_right(rows, row) - 1])

    def _own(self, part: int) -> Outline:
        symbols = self._order.parts[part].symbols
        return read_outline(b"".join(symbols.parts), 0, len(symbols.kinds))


def _parsed(part: Part) -> int:
    return NO_PARSER if part.is_parsed is None else parsed(part.engine, is_whole=part.is_parsed)
