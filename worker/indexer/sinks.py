"""Where the rows of an index go: the sections of mapped files. tables.py holds those that go into DuckDB.

Whatever a profile narrows, a sink gets rows in the same way and in the same order: what is left of them.
"""

from collections.abc import Sequence
from itertools import starmap
from typing import NamedTuple

from fledgling.security import memory_file
from fledgling.worker.indexer.loading import Columns
from fledgling.worker.store.ngram_writer import Sign, Signer
from fledgling.worker.store.symbol_writer import Outlined, OutlineWriter
from fledgling.worker.store.symbols import NO_PARSER, parsed
from fledgling.worker.store.text import Block, BlockWriter, File


class ParsedFile(NamedTuple):
    """Symbols of some files, each by its number in the order of paths: as parts of a section, so many in each file.

    `columns` holds the same as rows of the table, where somebody may look at one. A view may leave in those what is no
    symbol, or of no file.
    """

    numbers: Sequence[int]
    counts: Sequence[int]
    outlined: Outlined
    columns: Columns


class Sink:
    """Something that keeps some of the rows: it says what it does with these, and lets others pass.

    Text comes before the files that it is of, or behind them, and all of it before `end_text`; symbols, imports and
    comments come behind the files.
    """

    def text(self, blocks: Sequence[Block]) -> None:
        """Take the next blocks of text, in the order of paths and lines."""

    def files(self, files: Columns) -> None:
        """Take the next files, in the order of paths."""

    def unlisted(self, names: Sequence[tuple[str, str]]) -> None:
        """Take the names of the project that are no files of the index, each with why; before `end_text`."""

    def end_text(self) -> None:
        """Take note that text and files are all there."""

    def symbols(self, symbols: ParsedFile) -> None:
        """Take the symbols of the next files."""

    def imports(self, imports: Columns) -> None:
        """Take the next imports; some files' come late, when the names that they lead to are known."""

    def comments(self, comments: Columns) -> None:
        """Take the lines that hold only comment, each with the number of its block: all at once."""

    def extracted(self, files: Columns) -> None:
        """Take the next files once more, with what extracted them."""

    def finish(self) -> None:
        """Take note that all rows are there."""


class Sinks(Sink):
    """Several sinks as one: each gets all rows.

    >>> Sinks([TextSections(fd), NgramSections(signatures, sign)]).text(blocks)
    """

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = sinks

    def text(self, blocks: Sequence[Block]) -> None:
        for sink in self._sinks:
            sink.text(blocks)

    def files(self, files: Columns) -> None:
        for sink in self._sinks:
            sink.files(files)

    def unlisted(self, names: Sequence[tuple[str, str]]) -> None:
        for sink in self._sinks:
            sink.unlisted(names)

    def end_text(self) -> None:
        for sink in self._sinks:
            sink.end_text()

    def symbols(self, symbols: ParsedFile) -> None:
        for sink in self._sinks:
            sink.symbols(symbols)

    def imports(self, imports: Columns) -> None:
        for sink in self._sinks:
            sink.imports(imports)

    def comments(self, comments: Columns) -> None:
        for sink in self._sinks:
            sink.comments(comments)

    def extracted(self, files: Columns) -> None:
        for sink in self._sinks:
            sink.extracted(files)

    def finish(self) -> None:
        for sink in self._sinks:
            sink.finish()


class TextSections(Sink):
    """The mapped text: blocks, and what is known of each file."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._writer = BlockWriter(fd)
        self._files: list[File] = []
        self._unlisted: Sequence[tuple[str, str]] = ()

    def text(self, blocks: Sequence[Block]) -> None:
        self._writer.add(blocks)

    def files(self, files: Columns) -> None:
        """Take files. A view may leave out columns, and say anything in others."""
        known = (files[name] for name in ("path", "language", "size_bytes", "line_count", "skip_reason", "encoding"))
        self._files += starmap(_file, zip(*known, strict=True))

    def unlisted(self, names: Sequence[tuple[str, str]]) -> None:
        self._unlisted = names

    def end_text(self) -> None:
        self._writer.finish(self._files, self._unlisted)
        self._files.clear()
        memory_file.seal(self._fd)


def _file(
    path: str, language: str | None, size: int | None, lines: int | None, reason: str | None, encoding: str | None
) -> File:
    known = None if lines is None or lines < 0 else lines
    return File(path, language, max(size or 0, 0), known, reason, encoding=encoding)


class NgramSections(Sink):
    """The mapped signatures of the text."""

    def __init__(self, fd: int, sign: Sign) -> None:
        self._fd = fd
        self._signer = Signer(fd, sign)

    def text(self, blocks: Sequence[Block]) -> None:
        self._signer.add(blocks)

    def end_text(self) -> None:
        self._signer.finish()
        memory_file.seal(self._fd)


class SymbolSections(Sink):
    """The mapped symbols, and how far each file was parsed."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._writer = OutlineWriter(fd)
        self._parsed: dict[str, int] = {}  # how far, by path

    def files(self, files: Columns) -> None:
        self._parsed |= {str(path): NO_PARSER for path in files["path"]}

    def symbols(self, symbols: ParsedFile) -> None:
        self._writer.add(symbols.numbers, symbols.counts, symbols.outlined)

    def extracted(self, files: Columns) -> None:
        """Take files. Where a view leaves out how far one was parsed, nothing is said of it."""
        for path, engine, is_parsed in zip(files["path"], files["engine"], files["is_parsed"], strict=True):
            if path in self._parsed and is_parsed is not None:
                self._parsed[path] = parsed(engine, is_whole=is_parsed)

    def finish(self) -> None:
        self._writer.finish(bytes(self._parsed.values()))
        memory_file.seal(self._fd)
