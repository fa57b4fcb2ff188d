"""What goes on to the sinks of each table: all rows as they come, or what a view leaves of them when all are there."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, Generic, TypeVar

from fledgling.security import memory_file
from fledgling.worker.extractor.messages import Source
from fledgling.worker.files.text import pieces
from fledgling.worker.indexer.loading import BlockLoader, Columns, Loading, RowLoader
from fledgling.worker.indexer.sinks import ParsedFile, Sink
from fledgling.worker.indexer.views import Views
from fledgling.worker.rows import SymbolRow
from fledgling.worker.store.database import SQL
from fledgling.worker.store.symbol_writer import outlined
from fledgling.worker.store.symbols import CODES
from fledgling.worker.store.text import Block, Blocks

BLOCKS_READ = 1024  # at once, to be parsed: some megabytes
FILES_TOGETHER = 500  # whose symbols go on together: some ten thousand rows

Rows = TypeVar("Rows", ParsedFile, Columns)
Sources = Iterator[tuple[int, Source]]  # each with the number of its first block


def text_sink(
    loading: Loading, views: Views, sink: Sink, numbers: Mapping[str, int], fd: int, *, has_content: bool
) -> "AllText | NoText":
    """Return what takes text; `fd` is the file where all of it stands, `numbers` has the files when all are there."""
    if not has_content:
        return NoText(loading)
    return NarrowedText(loading, views, sink, numbers) if "content" in views else AllText(sink, fd)


def symbols_sink(
    loading: Loading, views: Views, sink: Sink, numbers: Mapping[str, int]
) -> "AllRows[ParsedFile] | NarrowedSymbols":
    """Return what takes symbols; `numbers` has the files when all symbols are there."""
    return NarrowedSymbols(loading, views, sink, numbers) if "symbols" in views else AllRows(sink.symbols)


def imports_sink(loading: Loading, views: Views, sink: Sink) -> "AllRows[Columns] | NarrowedImports":
    """Return what takes resolved imports."""
    return NarrowedImports(loading, views, sink) if "imports" in views else AllRows(sink.imports)


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
        self._views.compute("content")
        for run in _runs(self._views.rest()):
            path, first_line, *_ = run[0]
            if path not in self._numbers:
                continue
            text = "\n".join(piece[3] for piece in run).encode()
            comments = [line for piece in run for line in piece[4] or ()]
            blocks = [Block(path, *piece) for piece in pieces(text, first_line, len(text))]
            self._sink.text(blocks)
            for number, lines in enumerate(_by_block(comments, blocks), block):
                found["block"] += [number] * len(lines)
                found["line_number"] += lines
            block += len(blocks)
        self._sink.comments(found)


def _runs(rows: Iterable[Any]) -> Iterator[list[Any]]:
    """Put the pieces together of which one follows the other: rows of left_content.sql."""
    run: list[Any] = []
    for row in rows:
        path, first_line, *_ = row
        if run and (path, first_line - 1) != (run[-1][0], run[-1][2]):
            yield run
            run = []
        run.append(row)
    if run:
        yield run


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

    def add(self, symbols: ParsedFile) -> None:
        """Take the symbols of the next files."""
        self._loader.add(symbols.columns)

    def finish(self) -> None:
        """Let go on what the view leaves. Rows of no file are in columns alone."""
        self._loader.finish()
        self._views.compute("symbols")
        first = 0
        files = ([*file] for _, file in groupby(self._views.rest(), key=itemgetter(0)))
        while some := [*islice(files, FILES_TOGETHER)]:
            known = ((self._numbers.get(file[0][0]), file) for file in some)
            found = {number: _symbols(file) for number, file in known if number is not None}
            counts = [*map(len, found.values())]
            columns = self._views.rest_as_columns(first, count := sum(map(len, some)))
            self._sink.symbols(ParsedFile([*found], counts, outlined(found.values()), columns))
            first += count


def _symbols(rows: Sequence[Sequence[Any]]) -> list[SymbolRow]:
    """Return the symbols among rows of the table. A view may leave out columns, and say anything in others."""
    return [
        SymbolRow(name or "", kind, max(start or 0, 0), max(end or 0, 0), parent, signature, None, "", full_name or "")
        for _, name, kind, start, end, parent, signature, _, _, _, full_name, *_ in rows
        if kind in CODES
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
        if count := self._views.compute("imports"):
            self._sink.imports(self._views.rest_as_columns(0, count))
