"""The index that a build makes: rows from what was read and found, through what the profile lets in, to every sink."""

import os
from collections.abc import Mapping, Sequence
from operator import attrgetter

import _duckdb as duckdb
import msgspec
from msgspec.structs import asdict, astuple

from fledgling.messages.control import Images
from fledgling.messages.languages import Modules
from fledgling.messages.profile import Profile
from fledgling.security import limits, memory_file
from fledgling.worker.extractor.messages import Batch, ExtractedBatch
from fledgling.worker.files.text import Pieces
from fledgling.worker.gate.statement import Gate
from fledgling.worker.indexer.loading import Columns, Loading
from fledgling.worker.indexer.narrowing import Sources, imports_sink, symbols_sink, text_sink
from fledgling.worker.indexer.sinks import (
    NgramSections,
    ParsedFile,
    Sinks,
    SymbolSections,
    TextSections,
)
from fledgling.worker.indexer.tables import CodeTables, EdgeTables, TextTables
from fledgling.worker.indexer.views import Views
from fledgling.worker.rows import FileRow, ImportRow
from fledgling.worker.store.ngram_writer import Sign, signed_here
from fledgling.worker.store.sections import Holds, contents
from fledgling.worker.store.text import Block

ROW_BYTES = 36  # of a row that are written behind the symbols: a hash, a number, 20 to 26 of words, and room to spare
WAITING_BYTES = 8 * 2**20  # of rows that wait to be loaded, and of what is written last: the roots of modules


class Index:
    """Takes what a build reads and finds, and lets what the profile leaves of it go on to the sinks.

    Text comes first, so that it can be served, then what the parsers find in it.

    >>> open_empty(db, images)
    >>> index = Index(db, Gate(), images, profile, languages.modules(), has_content=True)
    >>> index.files(rows)
    >>> index.text(path, cut(text))
    >>> index.end_reading()
    True
    >>> for source in index.sources(languages): ...
    >>> index.symbols(batch, found); index.imports(imports); index.comments(comments)
    >>> index.finish(files)
    {'files': 812, 'symbols': 9184, 'imports': 3310}
    """

    def __init__(
        self,
        db: duckdb.DuckDBPyConnection,
        gate: Gate | None,
        images: Images,
        profile: Profile,
        modules: Mapping[str, Modules],
        sign: Sign = signed_here,
        *,
        has_content: bool,
    ) -> None:
        """Make the tables in the open images and let `gate` check the profile's views. Raises ViewError.

        `modules` says how names of modules are read, by language.
        """
        self._images = images
        self._db = db
        self._profile = profile
        self.has_content = has_content
        loading = Loading(db, profile.memory_limit)
        self._views = Views(loading, gate, profile)
        narrows_text = has_content and "content" in self._views
        self.holds_content = has_content and profile.reads_all_of("content")  # as rows: mapped, there is always text
        self.holds_symbols = profile.reads_all_of("symbols") or narrows_text  # as rows, too
        self.hashes_symbols = has_content and profile.hashes_definitions
        self._files_bytes = limits.files(profile.memory_limit)
        self.text_room = limits.text(profile.memory_limit, holds_rows=self.holds_content)
        self._prose = 0  # bytes that wait until words are made of them
        self._rows = 0  # of symbols and imports that were taken
        self._numbers: dict[str, int] = {}  # of files, in the order of paths
        text = TextTables(loading, images.text, holds_blocks=self.holds_content)
        holds_edges = "query" in profile.tools
        self._tables = CodeTables(
            loading, images.code, modules, holds_symbols=self.holds_symbols, holds_edges=holds_edges
        )
        self.edges = EdgeTables(loading, images.edges) if holds_edges else None
        # Another sink is another line here.
        self._sinks = Sinks(
            [
                TextSections(images.blocks),
                NgramSections(images.signatures, sign),
                SymbolSections(images.outlines),
                text,
                self._tables,
            ]
        )
        left = loading, self._views, self._sinks
        self._text = text_sink(*left, self._numbers, images.blocks, has_content=has_content)
        self._symbols = symbols_sink(*left, self._numbers)
        self._imports = imports_sink(*left)

    def files(self, rows: Sequence[FileRow]) -> None:
        """Take descriptions of files; in any number of calls."""
        self._views.describe(rows)

    def visible(self) -> dict[str, FileRow]:
        """Return the files that the profile leaves visible, by path, as they were taken; the others are forgotten."""
        return self._views.visible()

    def leave_out(self, paths: Sequence[str]) -> None:
        """Leave out files that are visible, and too many; call before `end_reading`."""
        self._views.leave_out(paths)

    def without_content(self, paths: Sequence[str], reason: str) -> None:
        """Say of files that were described already why their content is not here; call before `end_reading`."""
        self._views.without_content(paths, reason)

    def unlisted(self, names: Sequence[tuple[str, str]]) -> None:
        """Take the names of the project that are no files of the index, and why; call before `end_reading`."""
        self._sinks.unlisted(names)

    def text(self, path: str, pieces: Pieces) -> None:
        """Take the text of a visible file, as `text.cut` has cut it; paths come in order."""
        self._text.add([Block(path, first_line, text) for first_line, text in pieces])

    def end_reading(self) -> bool:
        """Number the files, which are all there. Return whether text can be served: what a view narrows waits."""
        for files in self._views.files():
            for path in files["path"]:
                self._numbers[str(path)] = len(self._numbers)
            self._sinks.files(files)
        if self._text.is_whole:
            self._sinks.end_text()
        return self._text.is_whole

    def sources(self, languages: Mapping[str, str]) -> Sources:
        """Yield the files that `languages` names, each with the number of its first block: what was read is parsed."""
        return self._text.sources(languages)

    def has_room(self, found: ExtractedBatch) -> bool:
        """Return whether what was found fits the memory files, beside what was taken before."""
        count = sum(facts.symbols + len(facts.imports) for facts in found.facts)
        prose = self._prose + sum(len(facts.prose) for facts in found.facts)
        rows = self._rows + count
        parts = sum(map(len, found.outlined.parts))
        tabled = 2 * parts + sum(map(len, filter(None, found.symbols.docstring))) if self.holds_symbols else 0
        has_room = (
            not count or self.size() + rows * ROW_BYTES + prose + parts + tabled + WAITING_BYTES <= self._files_bytes
        )
        if has_room:
            self._rows, self._prose = rows, prose
        return has_room

    def room_for_words(self) -> int:
        """Return the bytes that are left for words, where all else is sealed but the graph."""
        return self._files_bytes - self.size() - WAITING_BYTES

    def room_for_another(self) -> int:
        """Return the bytes that are left where another index of this size stands beside it, as while one is renewed."""
        return self._files_bytes // 2 - self.size()

    def symbols(self, batch: Batch, found: ExtractedBatch) -> None:
        """Take the symbols of a batch of sources; in any number of calls, in path order."""
        counts = [facts.symbols for facts in found.facts]
        columns: Columns = {}
        if self.holds_symbols:
            each = [*zip(batch.sources, counts, strict=True)]
            paths = [path for source, count in each for path in [source.path] * count]
            languages = [language for source, count in each for language in [source.language] * count]
            columns = {"path": paths, "language": languages, **asdict(found.symbols)}
        numbers = [self._numbers[source.path] for source in batch.sources]
        self._symbols.add(ParsedFile(numbers, counts, found.outlined, columns))

    def imports(self, imports: Sequence[tuple[str, ImportRow]]) -> None:
        """Take resolved imports, each with the path of its file; in any number of calls."""
        rows = [row for _, row in imports]
        columns = {name: [*map(attrgetter(name), rows)] for name in ImportRow.__struct_fields__}
        columns |= {"path": [path for path, _ in imports], "imported_names": [*map(_json, columns["imported_names"])]}
        self._imports.add(columns)

    def comments(self, columns: Columns) -> None:
        """Take the numbers of comment lines, one list a column: each with its block. Only if `holds_content`."""
        self._text.comments(columns)

    def finish(self, extracted: Sequence[tuple[str, str | None, bool]]) -> dict[str, int]:
        """Let go on what has waited, seal all but words, and return how many files, symbols and imports there are.

        `extracted` says of files, by path, what has extracted them and whether it understood them whole.
        """
        self._views.extracted(extracted)
        for files in self._views.files():
            self._sinks.extracted(files)
        self._views.forget_hidden()
        self._text.finish()
        if not self._text.is_whole:
            self._sinks.end_text()
        self._symbols.finish()
        self._imports.finish()
        self._sinks.finish()
        if not self.edges:
            memory_file.seal(self._images.edges)
            self._db.close()
        return self._tables.counts

    def why_unrelated(self) -> str | None:
        """Say why there is no graph of this index; None where there is one."""
        if not self.has_content:
            return "Uses of definitions are not resolved: index_content is off."
        if any(view.name in ("content", "symbols", "imports") for view in self._profile.views):
            return "Uses of definitions are not resolved under this profile."
        return None

    def numbers(self) -> Mapping[str, int]:
        """Return the files that there are, each with its number in the order of paths."""
        return self._numbers

    def size(self) -> int:
        """Return the bytes of all memory files."""
        return sum(os.fstat(fd).st_size for fd in astuple(self._images))

    def sections(self) -> dict[str, int]:
        """Return the bytes of each section of the mapped files, and of DuckDB's images: `{"text.paths": 310, ...}`."""
        files: dict[Holds, int] = {
            "text": self._images.blocks,
            "symbols": self._images.outlines,
            "ngrams": self._images.signatures,
            "words": self._images.words,
        }
        mapped = {
            f"{holds}.{section.name}": section.size
            for holds, fd in files.items()
            for section in contents(memoryview(memory_file.mapped(fd)), holds)
        }
        return mapped | {f"duckdb.{name}": os.fstat(getattr(self._images, name)).st_size for name in ("text", "code")}


def _json(names: Sequence[str]) -> str:
    return msgspec.json.encode(names).decode()
