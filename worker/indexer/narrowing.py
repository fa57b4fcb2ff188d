"""What goes on to the sinks of each table: all rows as they come, or what a view leaves of them when all are there."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any, Generic, TypeVar

from fledgling.security import memory_file
from fledgling.worker.extractor.messages import Source
from fledgling.worker.files.text import pieces
from fledgling.worker.indexer.loading import BlockLoader, Columns, Loading, RowLoader, of_rows
from fledgling.worker.indexer.sinks import FileSymbols, Sink
from fledgling.worker.indexer.views import Views
from fledgling.worker.rows import SymbolRow
from fledgling.worker.store.database import SQL
from fledgling.worker.store.symbols import CODES, outlined
from fledgling.worker.store.text import Block, Blocks

BLOCKS_READ = 1024  # at once, to be parsed: some megabytes
FILES_TOGETHER = 500  # whose symbols go on together: some ten thousand rows

Rows = TypeVar("Rows", FileSymbols, Columns)
Sources = Iterator[tuple[int, Source]]  # each with the number of its first block


class AllText:
    """Text that no view narrows goes on as it comes, and is parsed where it is served."""

    is_whole = True  # when all files are read, all text has gone on

    def __init__(self, sink: Sink, fd: int) -> None:
        """`fd` is the file in which the text stands when all of it is there."""
        self._fd = fd
        self.add, self.comments = sink.text, sink.comments

    def sources(self, languages: Mapping[str, str]) -> Sources:
        """Yield the files that `languages` names."""
        blocks = Blocks(memory_file.mapped(self._fd))
        behind = BLOCKS_READ
        for file in map(blocks.file, blocks.files):
            if file.block >= behind:
                blocks.forget()
                behind = file.block + BLOCKS_READ
            if file.blocks and file.path in languages:
                texts = map(blocks.text, range(file.block, file.block + file.blocks))
                yield file.block, Source(file.path, languages[file.path], tuple(texts))

    def finish(self) -> None:
        """Do nothing: all has gone on."""


class NoText:
    """Text of an index without content waits in memory until it is parsed, and goes nowhere."""

    is_whole = True

    def __init__(self, loading: Loading) -> None:
        self._loading = loading
        self._loader = BlockLoader(loading.cursor("memory"))
        self.add = self._loader.add

    def sources(self, languages: Mapping[str, str]) -> Sources:
        """Yield the files that `languages` names."""
        self._loader.finish()
        for path, group in groupby(self._blocks(), key=itemgetter(1)):
            if path in languages:
                blocks = list(group)
                yield blocks[0][0], Source(path, languages[path], tuple(text.encode() for _, _, text in blocks))

    def _blocks(self) -> Iterator[tuple[int, str, str]]:
        cursor = self._loading.cursor("memory")
        for first in range(0, self._loader.blocks, BLOCKS_READ):
            between = {"first": first, "last": first + BLOCKS_READ - 1}
            yield from cursor.execute(SQL["blocks_between"], between).fetchall()
        cursor.close()

    def comments(self, comments: Columns) -> None:
        """Load the lines that hold only comment, each with the number of its block."""
        self._loading.load("memory", "comments", comments)

    def finish(self) -> None:
        """Do nothing: nothing goes on."""


class NarrowedText(NoText):
    """Text that a view narrows goes on when it is parsed, cut anew: a view may look at what is only comment."""

    is_whole = False

    def __init__(self, loading: Loading, views: Views, sink: Sink, numbers: Mapping[str, int]) -> None:
        """`numbers` has the files that there are, when all text is there."""
        super().__init__(loading)
        self._views = views
        self._sink = sink
        self._numbers = numbers

    def finish(self) -> None:
        """Let go on what the view leaves of these files."""
        found: dict[str, list[int]] = {"block": [], "line_number": []}
        block = 0
        for rows in self._views.rows("left_content", of="content"):
            for path, first_line, text, comments in rows:
                if path in self._numbers:
                    data = text.encode()
                    blocks = [Block(path, *piece) for piece in pieces(data, first_line, len(data))]
                    self._sink.text(blocks)
                    for number, lines in enumerate(_by_block(comments or (), blocks), block):
                        found["block"] += [number] * len(lines)
                        found["line_number"] += lines
                    block += len(blocks)
        self._views.forget("blocks", "comments")
        self._sink.comments(found)


def _by_block(lines: Sequence[int], blocks: Sequence[Block]) -> Iterator[Sequence[int]]:
    """Yield the lines of each block: of `[3, 9]` and blocks from line 1 and 5 on, `[3]` and `[9]`."""
    for block in blocks:
        last = block.first_line + block.text.count(b"\n")
        yield lines[bisect_left(lines, block.first_line) : bisect_right(lines, last)]


class AllRows(Generic[Rows]):
    """Symbols or imports that no view narrows go on as they come."""

    def __init__(self, add: Callable[[Rows], None]) -> None:
        self.add: Callable[[Rows], None] = add

    def finish(self) -> None:
        """Do nothing: all has gone on."""


class NarrowedSymbols:
    """Symbols that a view narrows wait in memory until all are there."""

    def __init__(self, loading: Loading, views: Views, sink: Sink, numbers: Mapping[str, int]) -> None:
        """`numbers` has the files that there are, when all symbols are there."""
        self._loader = RowLoader(loading, "memory", "symbols")
        self._views = views
        self._sink = sink
        self._numbers = numbers

    def add(self, symbols: FileSymbols) -> None:
        """Take the symbols of the next files."""
        self._loader.add(symbols.columns)

    def finish(self) -> None:
        """Let go on what the view leaves. Rows of no file are in columns alone."""
        self._loader.finish()
        names = self._views.columns("memory.symbols")
        rows = chain.from_iterable(self._views.rows("left_symbols", of="symbols"))
        files = ([*file] for _, file in groupby(rows, key=itemgetter(0)))
        while some := [*islice(files, FILES_TOGETHER)]:
            numbers = [self._numbers.get(file[0][0]) for file in some]
            found = {
                number: _symbols(names, file) for number, file in zip(numbers, some, strict=True) if number is not None
            }
            counts = [*map(len, found.values())]
            columns = of_rows(names, [*chain.from_iterable(some)])
            self._sink.symbols(FileSymbols([*found], counts, outlined(found.values()), columns))
        self._views.forget("symbols")


def _symbols(names: Collection[str], rows: Sequence[Sequence[Any]]) -> list[SymbolRow]:
    """Return the symbols among rows of the table. A view may leave out columns, and say anything in others."""
    known = (dict(zip(names, row, strict=True)) for row in rows)
    return [
        SymbolRow(
            row["name"] or "",
            row["kind"],
            max(row["line_start"] or 0, 0),
            max(row["line_end"] or 0, 0),
            row["parent_name"],
            row["signature"],
            None,
            "",
            row["qualified_name"] or "",
        )
        for row in known
        if row["kind"] in CODES
    ]


class NarrowedImports:
    """Imports that a view narrows wait in memory until all are there."""

    def __init__(self, loading: Loading, views: Views, sink: Sink) -> None:
        self._loader = RowLoader(loading, "memory", "imports")
        self.add = self._loader.add
        self._views = views
        self._sink = sink

    def finish(self) -> None:
        """Let go on what the view leaves."""
        self._loader.finish()
        names = self._views.columns("memory.imports")
        for rows in self._views.rows("left_imports", of="imports"):
            self._sink.imports(of_rows(names, rows))
        self._views.forget("imports")
