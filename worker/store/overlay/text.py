"""Text with an overlay: the blocks of the base keep their numbers, those of parts are numbered on behind them."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from fledgling.worker.store.overlay.changed import Order
from fledgling.worker.store.sections import NUMBER
from fledgling.worker.store.text import UNCOUNTED, Blocks, Column, File, FileColumn


class FirstLines:
    """The first line of each block, as a column."""

    def __init__(self, base: Column, own: Column) -> None:
        self._base, self._own, self._count = base, own, len(base)

    def __len__(self) -> int:
        """Return how many blocks there are."""
        return self._count + len(self._own)

    def __getitem__(self, block: int) -> int:
        """Return the first line of a block."""
        return self._base[block] if block < self._count else self._own[block - self._count]


class FilesOf:
    """Whose each block is, as a column of the numbers of files among all."""

    def __init__(self, base: Column, own: Column, order: Order) -> None:
        self._base, self._own, self._count, self._order = base, own, len(base), order

    def __len__(self) -> int:
        """Return how many blocks there are."""
        return self._count + len(self._own)

    def __getitem__(self, block: int) -> int:
        """Return the number of the file that a block is of."""
        if block < self._count:
            return self._order.number(self._base[block])
        return self._own[block - self._count]


class OverlaidBlocks(Blocks):
    """Files and their text as a new build would number, order and cut them; only numbers of blocks are others.

    >>> blocks = OverlaidBlocks(base, Order(len(base.files), overlay))
    >>> [blocks.text(block) for block in blocks.in_order()]
    [b'import os', b'what is new']
    """

    def __init__(self, base: Blocks, order: Order) -> None:
        """Lay the parts over the base."""
        self._base, self._order, self.base_count = base, order, base.count
        parts = order.parts
        self._own_counts = [len(part.blocks) for part in parts]
        self._own_firsts = [*accumulate(self._own_counts, initial=base.count)]  # and the end of the last
        self._own_texts = [text for part in parts for _, text in part.blocks]
        self._before = self._by_block([bisect_left(base.files_of, file) for file in order.behind])
        self.first_lines = FirstLines(
            base.first_lines, array(NUMBER, [line for part in parts for line, _ in part.blocks])
        )
        self.files_of = FilesOf(base.files_of, self._by_block(order.numbers), order)
        self.count = self._own_firsts[-1]
        self.files = range(len(order.sources))
        counted = [part.row.line_count for part in parts]
        self.lines = order.spliced(base.lines, [UNCOUNTED if lines is None else lines for lines in counted])
        self.sizes = order.spliced(base.sizes, [part.row.size_bytes for part in parts])
        names = {name: code for code, name in enumerate(base.names)}

        def named(column: FileColumn, own: Iterable[str | None]) -> FileColumn:
            return order.spliced(column, [names.setdefault(name, len(names)) for name in own])

        self.languages = named(base.languages, (part.row.language for part in parts))
        self.reasons = named(base.reasons, (part.row.skip_reason for part in parts))
        self.encodings = named(base.encodings, (part.row.encoding for part in parts))
        self.names = [*names]
        self._numbers = {}

    def _by_block(self, column: Sequence[int]) -> "array[int]":
        """Return what a column says of parts for each of their blocks."""
        return array(NUMBER, [said for said, count in zip(column, self._own_counts, strict=True) for _ in range(count)])

    @cached_property
    def unlisted(self) -> dict[str, str]:
        """The names of the project that are no files of the index, and why."""
        told = self._order.unlisted
        if told is not None:
            return dict(told)
        return {name: why for name, why in self._base.unlisted.items() if not next(self.below(name), None)}

    def forget(self) -> None:
        """Give the pages of the base back that were read so far."""
        self._base.forget()

    def in_order(self) -> Iterator[int]:
        """Yield all blocks in the order of paths and lines."""
        return self.merged(self._base.in_order(), iter(range(self._base.count, self.count)))

    def own_block(self, part: int) -> int:
        """Return the number of the first block of a part."""
        return self._own_firsts[part]

    def merged(self, base: Iterator[int], own: Iterator[int]) -> Iterator[int]:
        """Yield some blocks of the base, but those that are hidden, and some of parts, both in order, in one order."""
        files_of, hidden, before, count = self._base.files_of, self._order.hidden, self._before, self._base.count
        part = next(own, None)
        for block in base:
            while part is not None and before[part - count] <= block:
                yield part
                part = next(own, None)
            if files_of[block] not in hidden:
                yield block
        while part is not None:
            yield part
            part = next(own, None)

    def by_block(self) -> "array[int]":
        """Return of each block its file; UNCOUNTED where that is there no more."""
        order, hidden = self._order, self._order.hidden
        numbers = [UNCOUNTED if file in hidden else order.number(file) for file in range(order.base)]
        own = range(self._base.count, self.count)
        return array(NUMBER, [*(numbers[file] for file in self._base.by_block()), *(self.files_of[at] for at in own)])

    def text(self, block: int) -> bytes:
        """Return the lines of a block, without the end of the last."""
        own = block - self._base.count
        return self._base.text(block) if own < 0 else self._own_texts[own]

    def raw_path(self, number: int) -> bytes:
        """Return the path of the file with this number, in UTF-8."""
        source = self._order.sources[number]
        own = source - self._order.base
        return self._base.raw_path(source) if own < 0 else self._order.parts[own].row.path.encode()

    def blocks_of(self, number: int) -> range:
        """Return the blocks of the file with this number."""
        source = self._order.sources[number]
        own = source - self._order.base
        return self._base.blocks_of(source) if own < 0 else range(*self._own_firsts[own : own + 2])

    def file(self, number: int) -> File:
        """Return the file with this number."""
        source = self._order.sources[number]
        own = source - self._order.base
        if own < 0:
            file = self._base.file(source)
            return file if source == number else file._replace(number=number)
        row, count = self._order.parts[own].row, self._own_counts[own]
        return File(
            row.path,
            row.language,
            row.size_bytes,
            row.line_count,
            row.skip_reason,
            number,
            self._own_firsts[own] if count else 0,
            count,
            row.encoding,
        )
