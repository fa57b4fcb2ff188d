"""Filling and sealing the images of one build.

What a view of the profile filters out never goes into an image: there is nothing to escape to.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from itertools import groupby
from operator import attrgetter, itemgetter

import _duckdb as duckdb
import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import asdict, astuple

from fledgling.messages.control import Images, Modules
from fledgling.messages.profile import Profile, View
from fledgling.security import limits, memory_file
from fledgling.worker.extractor.messages import Batch, Found, Source
from fledgling.worker.files.text import Pieces
from fledgling.worker.gate.denied import Denied
from fledgling.worker.gate.statement import Gate
from fledgling.worker.rows import FileRow, ImportRow, SymbolRow
from fledgling.worker.store.database import SQL, SYMBOLS_TOGETHER
from fledgling.worker.store.ngram_writer import Sign, Signer, signed_here
from fledgling.worker.store.package_root import root
from fledgling.worker.store.sections import Holds, contents
from fledgling.worker.store.symbols import CODES, DEFINITIONS, NO_PARSER, Outlined, OutlineWriter, outlined, parsed
from fledgling.worker.store.text import Block, Blocks, BlockWriter, File

Columns = Mapping[str, Sequence[object] | npt.NDArray[np.generic]]

CHUNK_BYTES = 16 * 2**20  # of text loaded at once: large enough to be fast, small beside the memory limit
ENGINE_SHARE = (
    0.25  # of memory_limit, for the engine's buffers: it fills what it is given, and rows need room beside it
)
ENGINE_LEAST = 128 * 2**20  # bytes; with less it cannot load one chunk
ENGINE_KEPT = 16 * 2**20  # bytes that it may keep of what it has written to an image
FILES_READ = 500  # at once: their symbols are some ten thousand rows
BLOCKS_READ = 1024  # at once, to be parsed: some megabytes
ROW_BYTES = 12  # of a row that are written last, behind the outlines: a hash, a number, and room to spare
WAITING_BYTES = 8 * 2**20  # of rows that wait to be loaded, and of what is written last: the roots of modules

# The order matters, as when serving: store/database.py.
_BUILD_SETTINGS = (
    "SET temp_directory=''",
    "SET enable_external_access=false",
    "SET pandas_analyze_sample=0",  # columns of objects hold text: nothing is guessed from a sample
    "SET force_compression='uncompressed'",  # of text: what is compressed takes 20 times as long to fetch
)

# Where a view hides files, joins are carried out as written: DuckDB would choose by how many rows there are, also
# hidden ones, and the order of what is left would tell.
_AS_WRITTEN = "SET disabled_optimizers='join_order,build_side_probe_side'"

# Other columns come as objects.
_NUMBERS = frozenset({"block", "first_line", "line_number", "line_start", "line_end", "code", "file", "lines"})
_TABLE = {"visible_files": "files"}  # what a view narrows, where that is not what it is called

# The columns that each view keeps, where that is more than the path: text is put together again from lines.
_KEEPS = {"content": ("path", "line_number", "line_text", "is_comment")}

# What each view of a profile may read. visible_files decides about files before any text is read.
_VIEW_READS = {
    "visible_files": frozenset({"files"}),
    "files": frozenset({"files"}),
    "content": frozenset({"content", "files"}),
    "symbols": frozenset({"symbols", "files"}),
    "imports": frozenset({"imports", "files"}),
}


class ViewError(Exception):
    """A profile's view cannot be used: `line` of the profile file, `problem`, and what would be right."""

    def __init__(self, line: int, problem: str, fix: str) -> None:
        super().__init__(line, problem, fix)
        self.line, self.problem, self.fix = line, problem, fix


class Builder:
    """Fills the images of one build: text first, so that it can be served, then what the parsers find in it.

    >>> open_empty(db, images)
    >>> builder = Builder(db, Gate(), images, profile, has_content=True)
    >>> builder.files(rows)
    >>> visible = builder.visible()
    >>> builder.text(path, cut(text))
    >>> builder.seal_text()
    >>> for source in builder.sources(languages): ...
    >>> builder.symbols(batch, found); builder.imports(imports); builder.comments(comments)
    >>> builder.seal_code(languages.modules())

    Rows go straight into an image; where a view of the profile narrows them, they are loaded into memory first and
    copied through the view.
    """

    def __init__(
        self,
        db: duckdb.DuckDBPyConnection,
        gate: Gate | None,
        images: Images,
        profile: Profile,
        sign: Sign = signed_here,
        *,
        has_content: bool,
    ) -> None:
        """Make the tables in the open images and let `gate` check the profile's views; raises ViewError."""
        self._images = images
        self._db = db
        for setting in _BUILD_SETTINGS:
            self._db.execute(setting)
        self._engine_bytes = max(int(profile.memory_limit * ENGINE_SHARE), ENGINE_LEAST)
        self._limit_engine(self._engine_bytes)
        self._create("schema", "text", "code", "memory")
        self._create("schema_blocks", "text", "memory")
        self._db.execute("CREATE VIEW code.blocks AS FROM text.blocks")
        self._create("schema_content", "code", "memory")
        self._create("schema_names", "code")
        self._create("schema_roots", "code")
        self._views = {view.name: self._check(gate, view) for view in profile.views}
        self._lines = {view.name: view.line for view in profile.views}
        self._narrows_files = profile.narrows_files
        if self._narrows_files:
            self._db.execute(_AS_WRITTEN)
        self.narrows_content = has_content and "content" in self._views
        self.holds_hashes = bool(self._views) or "query" in profile.tools  # every view may look at files
        self.holds_comments = has_content and profile.reads_all_of("content")
        # Text that a view narrows is in no memory file yet while it is parsed.
        self._narrows_outlines = self.narrows_content or "symbols" in self._views
        self.holds_symbols = self._narrows_outlines or profile.reads_all_of("symbols")
        self._text = "text" if has_content and not self.narrows_content else "memory"
        self._symbols, self._names, self._imports = (
            Waiting(SYMBOLS_TOGETHER, partial(self._load_rows, table)) for table in ("symbols", "names", "imports")
        )
        # What a view narrows is signed when all is parsed, and so not where it was parsed.
        self._signer = Signer(images.signatures, signed_here if self.narrows_content else sign)
        self._writer = BlockWriter(images.blocks)
        self._loader = Loader(self._cursor(self._text))
        self._files_bytes = limits.files(profile.memory_limit)
        self._rows = 0  # that were taken
        self._parsed: dict[str, int] = {}  # how far, by path
        self._takers: list[Callable[[Sequence[Block]], None]] = []
        if self._text == "text":
            self._takers += [self._signer.add, self._writer.add]
        if self._text == "memory" or "query" in profile.tools:
            self._takers.append(self._loader.add)
        copies = 2 if self.narrows_content or len(self._takers) == 3 else 1
        self.text_room = int(profile.memory_limit * limits.TEXT) // copies  # bytes

    def files(self, rows: Sequence[FileRow]) -> None:
        """Load descriptions of files; in any number of calls."""
        _load(self._db, "load_files", _columns(FileRow.__struct_fields__, [astuple(row) for row in rows]))

    def visible(self) -> dict[str, FileRow]:
        """Return the files that the profile leaves visible, by path, as they were loaded; the others are forgotten."""
        with self._computing("visible_files"):
            self._db.execute(f"CREATE TABLE visible AS SELECT DISTINCT path FROM ({self._view('visible_files')})")
        self._db.execute("CREATE TABLE seen AS SELECT * FROM files WHERE path IN (FROM visible) ORDER BY path")
        self._db.execute("DROP TABLE files")  # what is deleted would go on counting where the engine plans
        self._db.execute("ALTER TABLE seen RENAME TO files")
        with self._computing("files"):
            self._db.execute(f"CREATE TABLE kept AS SELECT DISTINCT path FROM ({self._view('files')})")
        return {row[0]: FileRow(*row) for row in self._db.execute(SQL["kept_files"]).fetchall()}

    def leave_out(self, paths: Sequence[str]) -> None:
        """Leave out files that are visible, and too many; call before `seal_text`."""
        self._db.execute(SQL["leave_out_files"], {"paths": list(paths)})

    def text(self, path: str, pieces: Pieces) -> None:
        """Load the text of a visible file, as `text.cut` has cut it; paths come in order."""
        blocks = [Block(path, first_line, text) for first_line, text in pieces]
        for take in self._takers:
            take(blocks)

    def without_content(self, paths: Sequence[str], reason: str) -> None:
        """Say of files that were described already why their content is not here; call before `seal_text`."""
        if paths:
            self._db.execute(SQL["skip_files"], {"paths": list(paths), "reason": reason})

    def seal_text(self) -> None:
        """Write the text image out and make it immutable for good; from here on it is read only."""
        self._loader.finish()
        once = f"SELECT DISTINCT ON (path) * FROM ({self._kept('files')}) WHERE path IS NOT NULL ORDER BY path"
        with self._computing("files"):
            self._db.execute(f"INSERT INTO text.files BY NAME {once}")  # in the order of blocks and outlines
        if self.narrows_content:
            with self._computing("content"):
                self._db.execute(f"CREATE VIEW narrowed_content AS SELECT * FROM ({self._views['content']})")
                self._db.execute(SQL["cut_blocks"])
                self._add_narrowed()
        known = self._db.execute(SQL["known_files"]).fetchall()
        self._writer.finish(
            File(path, language, size, lines, reason, encoding=encoding)
            for path, language, size, lines, reason, encoding in known
        )
        memory_file.seal(self._images.blocks)
        self._signer.finish()
        memory_file.seal(self._images.signatures)
        self._db.execute("DETACH text")
        memory_file.seal(self._images.text)
        self._db.execute("ATTACH 'image://text' AS text (READ_ONLY)")
        self._db.execute("RESET force_compression")  # rows about code repeat themselves: they take a fifth of the space

    def sources(self, languages: Mapping[str, str]) -> Iterator[tuple[int, Source]]:
        """Yield the files that `languages` names, each with the number of its first block: what is served is parsed."""
        self._loader.finish()
        if not self._narrows_outlines:
            self._begin_outlines()
        return self._sources(languages) if self._text == "text" else self._sources_to_narrow(languages)

    def extracted(self, rows: Sequence[tuple[str, str | None, bool]]) -> None:
        """Note of files, by path, which engine extracted them and whether it understood them whole."""
        _load(self._db, "extracted_files", _columns(("path", "engine", "is_parsed"), rows))
        self._parsed = {path: parsed(engine, is_whole=is_whole) for path, engine, is_whole in rows}

    def has_room(self, found: Found) -> bool:
        """Return whether what was found fits the memory files, beside what was taken before."""
        count = sum(facts.symbols + len(facts.imports) for facts in found.facts)
        rows = self._rows + count
        parts = sum(map(len, found.outlined.parts))
        tabled = 2 * parts + sum(map(len, filter(None, found.symbols.docstring))) if self.holds_symbols else 0
        has_room = not count or self.size() + rows * ROW_BYTES + parts + tabled + WAITING_BYTES <= self._files_bytes
        if has_room:
            self._rows = rows
        return has_room

    def symbols(self, batch: Batch, found: Found) -> None:
        """Load the symbols of a batch of sources; in any number of calls, in path order."""
        if self.holds_symbols:
            each = [(source, facts.symbols) for source, facts in zip(batch.sources, found.facts, strict=True)]
            paths = [path for source, count in each for path in [source.path] * count]
            languages = [language for source, count in each for language in [source.language] * count]
            self._symbols.add({"path": paths, "language": languages, **asdict(found.symbols)})
        if not self._narrows_outlines:
            counts = [facts.symbols for facts in found.facts]
            self._outline([source.path for source in batch.sources], counts, found.outlined)

    def imports(self, imports: Sequence[tuple[str, ImportRow]]) -> None:
        """Load resolved imports, each with the path of its file; in any number of calls."""
        rows = [row for _, row in imports]
        columns = {name: [*map(attrgetter(name), rows)] for name in ImportRow.__struct_fields__}
        columns |= {"path": [path for path, _ in imports], "imported_names": [*map(_json, columns["imported_names"])]}
        self._imports.add(columns)

    def comments(self, columns: Mapping[str, Sequence[int]]) -> None:
        """Load the numbers of comment lines, one list a column: each with its block. Only if `holds_comments`."""
        _load(self._into("content"), "load_comments", columns)

    def seal_code(self, languages: Mapping[str, Modules]) -> dict[str, int]:
        """Write the other image out, make it immutable too, and return how many files, symbols and imports it holds."""
        self._symbols.finish()
        self._imports.finish()
        if self.narrows_content:
            self.seal_text()
        self._copy("files", "code")
        for table in ("symbols", "imports"):
            if table in self._views:
                self._copy(table, "code")
        leading = self._db.execute(SQL["leading_modules"]).fetchall()
        roots = [root(module, languages.get(language)) for module, language in leading]
        _load(self._cursor("code"), "load_roots", {"root": roots})
        if self._narrows_outlines:
            self._outline_narrowed()
        self._names.finish()
        self._outlines.finish(bytes([self._parsed.get(path, NO_PARSER) for path in self._numbers]))
        counted = self._db.execute(SQL["count_rows"], {"definitions": DEFINITIONS}).fetchone()
        assert counted is not None
        memory_file.seal(self._images.outlines)
        self._db.execute("DETACH code")
        self._db.close()
        memory_file.seal(self._images.code)
        return dict(zip(("files", "symbols", "imports"), counted, strict=True))

    def size(self) -> int:
        """Return the bytes of all images."""
        return sum(os.fstat(fd).st_size for fd in astuple(self._images))

    def sections(self) -> dict[str, int]:
        """Return the bytes of each section of the mapped files, and of DuckDB's images: `{"text.paths": 310, ...}`."""
        files: dict[Holds, int] = {
            "text": self._images.blocks,
            "symbols": self._images.outlines,
            "ngrams": self._images.signatures,
        }
        found = {
            f"{holds}.{section.name}": section.size
            for holds, fd in files.items()
            for section in contents(memoryview(memory_file.mapped(fd)), holds)
        }
        return found | {f"duckdb.{name}": os.fstat(getattr(self._images, name)).st_size for name in ("text", "code")}

    def _load_rows(self, table: str, columns: Columns) -> None:
        """Load the next rows of a table that is found batch by batch."""
        _load(self._into(table), f"load_{table}", columns)
        self._forget_written()

    def _limit_engine(self, size: int) -> None:
        self._db.execute("SET memory_limit=$1", [f"{size}B"])

    def _forget_written(self) -> None:
        """Let go of what was written to an image: the engine keeps it beside that, as far as its limit goes."""
        [[held]] = self._db.execute(SQL["engine_holds"]).fetchall()
        with suppress(duckdb.OutOfMemoryException):  # it cannot just now
            self._limit_engine(held + ENGINE_KEPT)
            self._limit_engine(self._engine_bytes)

    def _create(self, sql: str, *catalogs: str) -> None:
        for catalog in catalogs:
            self._db.execute(SQL[sql].replace("image.", f"{catalog}."))

    def _cursor(self, catalog: str) -> duckdb.DuckDBPyConnection:
        cursor = self._db.cursor()
        cursor.execute(f"USE {catalog}")
        return cursor

    def _into(self, table: str) -> duckdb.DuckDBPyConnection:
        """Return where rows are loaded: the image itself, or memory where a view narrows them first."""
        return self._cursor("memory" if table in self._views else "code")

    def _copy(self, table: str, catalog: str) -> None:
        with self._computing(table):
            self._db.execute(f"INSERT INTO {catalog}.{table} BY NAME SELECT * FROM ({self._kept(table)})")
        self._forget_written()

    def _add_narrowed(self) -> None:
        """Write and sign the blocks that a view narrowed: they are others than those that were loaded."""
        cursor = self._db.cursor()
        cursor.execute(SQL["narrowed_blocks"])
        while rows := cursor.fetchmany(BLOCKS_READ):
            blocks = [Block(path, first_line, text.encode()) for path, first_line, text in rows]
            self._signer.add(blocks)
            self._writer.add(blocks)
        cursor.close()

    def _begin_outlines(self) -> None:
        blocks = Blocks(memory_file.mapped(self._images.blocks))
        self._numbers = {blocks.file(number).path: number for number in blocks.files}
        self._outlines = OutlineWriter(self._images.outlines, len(self._numbers))

    def _outline(self, paths: Iterable[str], counts: Sequence[int], symbols: Outlined) -> None:
        """Write the outlines of some files, of which each has so many symbols, and load their names."""
        numbers = [self._numbers[path] for path in paths]
        self._outlines.add(numbers, counts, symbols)
        self._names.add(
            {
                "name": symbols.names,
                "code": np.frombuffer(symbols.kinds, np.uint8),
                "file": np.repeat(numbers, counts),
                "lines": np.frombuffer(symbols.lines, np.uint32),
            }
        )

    def _outline_narrowed(self) -> None:
        """Make outlines of what views have left of the symbols, and of the files."""
        self._begin_outlines()
        paths = [*self._numbers]
        for first in range(0, len(paths), FILES_READ):
            some = paths[first : first + FILES_READ]
            found = self._db.execute(SQL["outlines"], {"first": some[0], "last": some[-1]}).fetchall()
            rows: dict[str, list[SymbolRow]] = {path: [] for path in some}
            for path, *row in found:
                if path in rows and row[1] in CODES:
                    rows[path].append(SymbolRow(*row))
            self._outline(some, [*map(len, rows.values())], outlined(rows.values()))

    def _sources(self, languages: Mapping[str, str]) -> Iterator[tuple[int, Source]]:
        blocks = Blocks(memory_file.mapped(self._images.blocks))
        behind = BLOCKS_READ
        for file in map(blocks.file, blocks.files):
            if file.block >= behind:
                blocks.forget()
                behind = file.block + BLOCKS_READ
            if file.blocks and file.path in languages:
                texts = map(blocks.text, range(file.block, file.block + file.blocks))
                yield file.block, Source(file.path, languages[file.path], tuple(texts))

    def _sources_to_narrow(self, languages: Mapping[str, str]) -> Iterator[tuple[int, Source]]:
        for path, group in groupby(self._texts_to_narrow(), key=itemgetter(1)):
            if path in languages:
                blocks = list(group)
                yield blocks[0][0], Source(path, languages[path], tuple(text for _, _, text in blocks))

    def _texts_to_narrow(self) -> Iterator[tuple[int, str, bytes]]:
        cursor = self._cursor(self._text)
        for first in range(0, self._loader.blocks, BLOCKS_READ):
            last = first + BLOCKS_READ - 1
            rows = cursor.execute(SQL["blocks_between"], {"first": first, "last": last}).fetchall()
            yield from ((block, path, text.encode()) for block, path, text in rows)
        cursor.close()

    def _check(self, gate: Gate | None, view: View) -> str:
        assert gate, "the profile has views"
        table = _TABLE.get(view.name, view.name)
        known = {name for name, *_ in self._db.execute(f"DESCRIBE memory.{table}").fetchall()}
        try:
            select: str = gate.admit(view.select, _VIEW_READS[view.name])
            columns = [name for name, *_ in self._db.execute(f"DESCRIBE {select}").fetchall()]
        except Denied as denied:
            raise ViewError(view.line, denied.reason, denied.next_step) from denied
        except duckdb.Error as problem:
            raise ViewError(view.line, str(problem).splitlines()[0], f"the columns are {', '.join(known)}") from problem
        keeps = _KEEPS.get(view.name, ("path",))
        if not known.issuperset(columns) or not set(keeps).issubset(columns):
            raise ViewError(
                view.line,
                f"the view {view.name} has the columns {', '.join(columns)}",
                f"it keeps {', '.join(keeps)}, and adds none to {', '.join(sorted(known))}",
            )
        return select

    @contextmanager
    def _computing(self, name: str) -> Iterator[None]:
        """Name the view, and its line of the profile, that fails on a value of the project: never that value."""
        try:
            yield
        except (duckdb.DataError, duckdb.ProgrammingError, OverflowError) as problem:
            if name not in self._views:
                raise
            said = f"the view {name} cannot be computed for this project: {type(problem).__name__}"
            fix = "leave columns as they are, or use TRY_CAST and what fits them"
            raise ViewError(self._lines[name], said, fix) from None

    def _kept(self, table: str) -> str:
        """Return what a view leaves of a table, and of the files those alone that are not left out."""
        view = self._view(table)
        is_cut = table == "files" and self._narrows_files
        return f"SELECT * FROM ({view}) WHERE path IN (FROM kept) ORDER BY path" if is_cut else view

    def _view(self, name: str) -> str:
        return self._views.get(name, f"FROM {_TABLE.get(name, name)}")


class Waiting:
    """Rows that wait, an array a column, until there are so many that they are loaded together.

    >>> waiting = Waiting(2, print)
    >>> waiting.add({"name": ["a", "b", "c"]})
    {'name': array(['a', 'b'], dtype=object)}
    """

    def __init__(self, together: int, load: Callable[[Columns], None]) -> None:
        self._together = together
        self._load = load
        self._parts: list[Columns] = []
        self._rows = 0

    def add(self, columns: Columns) -> None:
        """Take the next rows, and load those that are enough."""
        self._parts.append(_arrays(columns))
        self._rows += len(next(iter(columns.values())))
        while self._rows >= self._together:
            self._load_next()

    def finish(self) -> None:
        """Load what is left."""
        if self._rows:
            self._load_next()

    def _load_next(self) -> None:
        whole = {name: np.concatenate([part[name] for part in self._parts]) for name in self._parts[0]}
        self._parts = [{name: values[self._together :].copy() for name, values in whole.items()}]
        self._load({name: values[: self._together] for name, values in whole.items()})
        self._rows = max(0, self._rows - self._together)


class Loader:
    """Fills the table of blocks: a chunk on a thread of its own while the next is read."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor
        self._thread = ThreadPoolExecutor(1)
        self._loading: Future[None] | None = None
        self._waiting: list[Block] = []
        self._bytes = 0
        self.blocks = 0

    def add(self, blocks: Iterable[Block]) -> None:
        """Load the next blocks."""
        for block in blocks:
            self._waiting.append(block)
            self._bytes += len(block.text)
        if self._bytes > CHUNK_BYTES:
            self._hand_over()

    def finish(self) -> None:
        """Load what is left; a second time does nothing."""
        if self._waiting:
            self._hand_over()
        if self._loading:
            self._loading.result()
        self._thread.shutdown()
        self._cursor.close()

    def _hand_over(self) -> None:
        if self._loading:
            self._loading.result()
        self._loading = self._thread.submit(self._load, self.blocks, self._waiting)
        self.blocks += len(self._waiting)
        self._waiting, self._bytes = [], 0

    def _load(self, first: int, blocks: Sequence[Block]) -> None:
        paths, first_lines, texts = zip(*blocks, strict=True)
        columns = {"path": paths, "first_line": first_lines, "text": [text.decode() for text in texts]}
        _load(self._cursor, "load_blocks", {"block": range(first, first + len(blocks)), **columns})


def _columns(names: Sequence[str], rows: Sequence[Sequence[object]]) -> dict[str, Sequence[object]]:
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return dict(zip(names, columns, strict=True))


def _json(names: Sequence[str]) -> str:
    return msgspec.json.encode(names).decode()


def _load(db: duckdb.DuckDBPyConnection, sql: str, columns: Columns) -> None:
    """Run a SQL file that reads `loaded`. The engine takes arrays over five times as fast as lists."""
    db.register("loaded", _arrays(columns))
    db.execute(SQL[sql])
    db.unregister("loaded")


def _arrays(columns: Columns) -> Columns:
    return {name: np.asarray(values, np.int32 if name in _NUMBERS else object) for name, values in columns.items()}
