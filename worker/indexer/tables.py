"""Where the rows of an index go in DuckDB: the tables of the text image, and of the code image."""

from collections.abc import Mapping, Sequence

import numpy as np

from fledgling.messages.languages import Modules
from fledgling.security import memory_file
from fledgling.worker.indexer.loading import BlockLoader, Columns, Loading, RowLoader
from fledgling.worker.indexer.sinks import ParsedFile, Sink
from fledgling.worker.store.database import SQL
from fledgling.worker.store.package_root import root
from fledgling.worker.store.symbols import DEFINITIONS
from fledgling.worker.store.text import Block


class TextTables(Sink):
    """`files`, and `blocks` where somebody may look at all of the text."""

    def __init__(self, loading: Loading, fd: int, *, holds_blocks: bool) -> None:
        self._loading = loading
        self._fd = fd
        for tables in ("schema", "schema_blocks"):
            loading.create(tables, "text")
        loading.db.execute("SET force_compression='uncompressed'")  # text: it takes 20 times as long to fetch otherwise
        self._blocks = BlockLoader(loading.cursor("text")) if holds_blocks else None

    def text(self, blocks: Sequence[Block]) -> None:
        if self._blocks:
            self._blocks.add(blocks)

    def files(self, files: Columns) -> None:
        self._loading.load("text", "files", files)

    def end_text(self) -> None:
        """Write the image out and make it immutable for good; from here on it is read only."""
        if self._blocks:
            self._blocks.finish()
        self._loading.db.execute("DETACH text")
        memory_file.seal(self._fd)
        self._loading.db.execute("ATTACH 'image://text' AS text (READ_ONLY)")
        self._loading.db.execute(
            "RESET force_compression"
        )  # rows about code repeat themselves: they take a fifth of it


class EdgeTables:
    """What uses what, where somebody may look at all of it; it is filled when the other tables are sealed."""

    def __init__(self, loading: Loading, fd: int) -> None:
        self._loading = loading
        self._fd = fd

    def add(self, table: str, columns: Columns) -> None:
        """Load the next rows of a table: `calls`, `refs`, `inherits`, `effects`, `cycles` or `unreached`."""
        self._loading.load_all("edges", table, columns)

    def finish(self) -> None:
        """Write the image out and make it immutable."""
        self._loading.db.execute("DETACH edges")
        memory_file.seal(self._fd)


class CodeTables(Sink):
    """What the parsers found; `symbols` where somebody may look at all of them."""

    def __init__(
        self, loading: Loading, fd: int, modules: Mapping[str, Modules], *, holds_symbols: bool, holds_edges: bool
    ) -> None:
        self._loading = loading
        self._fd = fd
        self._modules = modules
        for tables in ("schema", "schema_comments", "schema_names", "schema_roots"):
            loading.create(tables, "code")
        self._symbols = RowLoader(loading, "code", "symbols") if holds_symbols else None
        self._names, self._imports = (RowLoader(loading, "code", table) for table in ("names", "imports"))
        if holds_edges:  # as wherever SQL is allowed: nothing else reads `content`
            loading.db.execute("CREATE VIEW code.blocks AS FROM text.blocks")
            loading.create("schema_content", "code")
            loading.create("schema_edges", "edges")
        self.counts: dict[str, int] = {}  # of files, symbols and imports, when all are there

    def symbols(self, symbols: ParsedFile) -> None:
        if self._symbols:
            self._symbols.add(symbols.columns)
        self._names.add(
            {
                "name": symbols.outlined.names,
                "code": np.frombuffer(symbols.outlined.kinds, np.uint8),
                "file": np.repeat(symbols.numbers, symbols.counts),
                "lines": np.frombuffer(symbols.outlined.lines, np.uint32),
            }
        )

    def imports(self, imports: Columns) -> None:
        self._imports.add(imports)

    def comments(self, comments: Columns) -> None:
        self._loading.load("code", "comments", comments)

    def extracted(self, files: Columns) -> None:
        self._loading.load("code", "files", files)

    def finish(self) -> None:
        """Load what waits, and the roots that the imports lead to; count, write the image out and make it immutable."""
        for loader in filter(None, (self._symbols, self._names, self._imports)):
            loader.finish()
        db = self._loading.db
        leading = db.execute(SQL["leading_modules"]).fetchall()
        roots = [root(module, self._modules.get(language)) for module, language in leading]
        self._loading.load("code", "roots", {"root": roots})
        counted = db.execute(SQL["count_rows"], {"definitions": DEFINITIONS}).fetchone()
        assert counted is not None
        self.counts = dict(zip(("files", "symbols", "imports"), counted, strict=True))
        db.execute("DETACH code")
        memory_file.seal(self._fd)
