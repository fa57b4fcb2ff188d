"""DuckDB while an index is built: how it is set, and how rows are loaded into its tables."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import _duckdb as duckdb
import numpy as np

from fledgling.worker.arrays import NDArray
from fledgling.worker.store.database import SQL, SYMBOLS_TOGETHER
from fledgling.worker.store.text import Block

Columns = Mapping[str, Sequence[object] | NDArray[np.generic]]

CHUNK_BYTES = 16 * 2**20  # of text loaded at once: large enough to be fast, small beside the memory limit
DUCKDB_SHARE = 0.25  # of memory_limit, for DuckDB's buffers: it fills what it is given, and rows need room beside it
DUCKDB_LEAST = 128 * 2**20  # bytes; with less it cannot load one chunk
DUCKDB_KEPT = 16 * 2**20  # bytes that it may keep of what it has written to an image

# The order matters, as when serving: store/database.py.
_SETTINGS = (
    "SET temp_directory=''",
    "SET enable_external_access=false",
    "SET GLOBAL pandas_analyze_sample=0",  # objects are taken as text: no guess from a sample fits all
)

# Other columns come as objects.
_NUMBERS = frozenset({"block", "first_line", "line", "line_number", "line_start", "line_end", "code", "file", "lines"})


class Loading:
    """DuckDB over the images of a build, which `open_empty` has opened, and tables in memory beside them.

    >>> loading = Loading(db, profile.memory_limit)
    >>> loading.create("schema", "memory", "code")
    >>> loading.load("code", "imports", columns)
    """

    def __init__(self, db: duckdb.DuckDBPyConnection, memory_limit: int) -> None:
        self.db = db
        for setting in _SETTINGS:
            db.execute(setting)
        self._most_bytes = max(int(memory_limit * DUCKDB_SHARE), DUCKDB_LEAST)
        self._limit(self._most_bytes)

    def create(self, sql: str, *catalogs: str) -> None:
        """Make the tables of a SQL file in catalogs."""
        for catalog in catalogs:
            self.db.execute(SQL[sql].replace("image.", f"{catalog}."))

    def cursor(self, catalog: str) -> duckdb.DuckDBPyConnection:
        """Return a cursor whose statements mean the tables of a catalog."""
        cursor = self.db.cursor()
        cursor.execute(f"USE {catalog}")
        return cursor

    def load(self, catalog: str, table: str, columns: Columns) -> None:
        """Load the next rows of a table."""
        cursor = self.cursor(catalog)
        load(cursor, f"load_{table}", columns)
        cursor.close()

    def load_all(self, catalog: str, table: str, columns: Columns) -> None:
        """Load rows that are many, and let go of what was written."""
        self.load(catalog, table, columns)
        self.let_go()

    def let_go(self) -> None:
        """Let go of what was written or dropped: DuckDB keeps it, as far as its limit goes."""
        [[held]] = self.db.execute(SQL["duckdb_holds"]).fetchall()
        with suppress(duckdb.OutOfMemoryException):  # it cannot just now
            self._limit(held + DUCKDB_KEPT)
            self._limit(self._most_bytes)

    def _limit(self, size: int) -> None:
        self.db.execute("SET memory_limit=$1", [f"{size}B"])


class TableRows(Mapping[str, list[object]]):
    """Rows that lie in a table of the catalog `memory`, as columns: loading them takes no way through Python.

    >>> TableRows(loading, "rest", first=0, count=500)["path"]
    ['a.py', ...]
    """

    def __init__(self, loading: Loading, table: str, first: int, count: int) -> None:
        self._db = loading.db
        self._names = [name for name, *_ in self._db.execute(f"DESCRIBE memory.{table}").fetchall()]
        self._count = count
        self.select = f"FROM memory.{table} WHERE rowid BETWEEN {first} AND {first + count - 1}"

    def __getitem__(self, name: str) -> list[object]:
        """Return a column."""
        return [value for (value,) in self._db.execute(f"SELECT {name} {self.select}").fetchall()]

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the columns."""
        return iter(self._names)

    def __len__(self) -> int:
        """Return how many columns there are."""
        return len(self._names)


class RowLoader:
    """Rows of a table that wait, an array a column, until there are so many that they are loaded together.

    >>> loader = RowLoader(loading, "code", "names")
    >>> loader.add({"name": ["a", "b", "c"], ...})
    >>> loader.finish()
    """

    def __init__(self, loading: Loading, catalog: str, table: str) -> None:
        self._load: Callable[[Columns], None] = partial(loading.load_all, catalog, table)
        self._parts: list[Columns] = []
        self._rows = 0

    def add(self, columns: Columns) -> None:
        """Take the next rows, and load those that are enough."""
        if isinstance(columns, TableRows):
            self.finish()
            self._load(columns)
            return
        self._parts.append(_arrays(columns))
        self._rows += len(next(iter(columns.values())))
        while self._rows >= SYMBOLS_TOGETHER:
            self._load_next()

    def finish(self) -> None:
        """Load what is left."""
        if self._rows:
            self._load_next()

    def _load_next(self) -> None:
        whole = {name: np.concatenate([part[name] for part in self._parts]) for name in self._parts[0]}
        self._parts = [{name: values[SYMBOLS_TOGETHER:].copy() for name, values in whole.items()}]
        self._load({name: values[:SYMBOLS_TOGETHER] for name, values in whole.items()})
        self._rows = max(0, self._rows - SYMBOLS_TOGETHER)


class BlockLoader:
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
        load(self._cursor, "load_blocks", {"block": range(first, first + len(blocks)), **columns})


def load(db: duckdb.DuckDBPyConnection, sql: str, columns: Columns) -> None:
    """Run a SQL file that reads `loaded`. DuckDB takes arrays over five times as fast as lists."""
    if isinstance(columns, TableRows):
        db.execute(f"CREATE TEMP VIEW loaded AS {columns.select}")
        db.execute(SQL[sql])
        db.execute("DROP VIEW loaded")
    else:
        db.register("loaded", _arrays(columns))
        db.execute(SQL[sql])
        db.unregister("loaded")


def of_rows(names: Collection[str], rows: Sequence[Sequence[object]]) -> dict[str, Sequence[object]]:
    """Return rows as columns: `of_rows(("path", "size"), [("a.py", 1)])` is `{"path": ("a.py",), "size": (1,)}`."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return dict(zip(names, columns, strict=True))


def _arrays(columns: Columns) -> dict[str, NDArray[np.generic]]:
    return {name: np.asarray(values, _type(name, values)) for name, values in columns.items()}


def _type(name: str, values: Sequence[object] | NDArray[np.generic]) -> type:
    """The type of a column: numbers, unless a view says that some are not known."""
    is_known = values.dtype != object if isinstance(values, np.ndarray) else None not in values
    return np.int32 if name in _NUMBERS and is_known else object
