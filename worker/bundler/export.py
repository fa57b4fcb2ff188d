"""The tables of some repositories as Parquet files, for engines of others: what a profile with `query` shows of each.

An index that cannot be read is left out. Its views may select what they like: this process is confined, and what they
could reach beside their own tables, the rows that others have added before, goes to the same files.
"""

import os

import _duckdb as duckdb

from fledgling import refusals
from fledgling.messages.bundling import Bundle, Bundled, Export, TakenIndex
from fledgling.messages.control import Ready
from fledgling.pipe import Pipe
from fledgling.security.confinement import ConfinementError
from fledgling.worker.bundler.opening import confined, opened
from fledgling.worker.bundler.room import Room
from fledgling.worker.store.database import SQL, lock_down
from fledgling.worker.store.image_files import AbstractFileSystem
from fledgling.worker.store.shelf import DATABASES, EDGES, StoredFiles

# Of each table what its rows are sorted by; beyond that they stand in the order of repositories and paths.
ORDERS = {"files": "", "content": "", "symbols": "name, ", "imports": "module, ", "calls": "callee_name, "}
SCHEMAS = {  # what an indexer makes in each database, in this order
    "text": ("schema", "schema_blocks"),
    "code": ("schema", "schema_blocks", "schema_comments", "schema_content"),
    "edges": ("schema_edges",),
}


class _Appended:
    """An open Parquet file: it is written from beginning to end."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def write(self, data: bytes) -> int:
        """Write all of `data` behind what there is. Raises OSError where the kernel takes no more of it."""
        left = memoryview(data)
        while left:
            left = left[os.write(self._fd, left) :]
        return len(data)

    def flush(self) -> None:
        """Do nothing: memory has no disk behind it."""

    def close(self) -> None:
        """Do nothing: the descriptor belongs to who has handed it over."""


class ParquetFiles(AbstractFileSystem):
    """The files that are made, by the names of tables."""

    protocol = "parquet"

    def __init__(self, descriptors: dict[str, int]) -> None:
        """Take the descriptors that names stand for."""
        self._descriptors = {f"{self.protocol}://{name}": fd for name, fd in descriptors.items()}

    def open(self, name: str, mode: str = "wb") -> _Appended:
        """Open a file to write; FileNotFoundError for every other name."""
        if name not in self._descriptors or mode != "wb":
            raise FileNotFoundError(name)
        return _Appended(self._descriptors[name])

    def isfile(self, _: str) -> bool:
        """Return whether there is such a file already: none is written over."""
        return False

    def isdir(self, _: str) -> bool:
        """Return whether there is such a directory: there is none."""
        return False


def export(pipe: Pipe[Bundle | Export], order: Export, db: duckdb.DuckDBPyConnection) -> None:
    """Make the files, and say of which indexes they are not."""
    try:
        layers = confined(order)
    except ConfinementError as absent:
        pipe.send(refusals.not_confined(str(absent)))
        return
    opened(order, order.staging_fd, db)
    files = ParquetFiles(order.tables)
    db.register_filesystem(files)
    columns = _staged(db)
    db.execute(f"SET allowed_directories=['{StoredFiles.protocol}://', '{files.protocol}://']")
    lock_down(db)
    pipe.send(Ready(layers))
    room = Room(db, order.staging_fd, order)
    unreadable = []
    for number, name in enumerate(order.repositories):
        if number in order.without or not _take(db, number, name, columns, room):
            unreadable.append(number)
        pipe.send(TakenIndex(room.taken()))
    with room.filled():
        for table, first in ORDERS.items():
            db.execute(
                f"COPY (SELECT repository, {columns[table]} FROM made.{table} ORDER BY {first}rowid) "
                f"TO '{files.protocol}://{table}' (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)"
            )
    pipe.send(Bundled(tuple(unreadable)))


def _staged(db: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Make the tables that rows of all indexes go to, and return by table the columns that an index is to have."""
    for database, schemas in SCHEMAS.items():
        db.execute(f"ATTACH ':memory:' AS {database}")
        for schema in schemas:
            db.execute(SQL[schema].replace("image.", f"{database}."))
    columns = {}
    for table in ORDERS:
        described = db.execute(f"DESCRIBE {EDGES}.{table}").fetchall()
        columns[table] = ", ".join(str(name) for name, *_ in described)
        db.execute(f"CREATE TABLE made.{table} AS SELECT '' AS repository, * FROM {EDGES}.{table} LIMIT 0")
    for database in reversed(SCHEMAS):
        db.execute(f"DETACH {database}")
    return columns


def _take(db: duckdb.DuckDBPyConnection, number: int, repository: str, columns: dict[str, str], room: Room) -> bool:
    """Take the rows of an index; return False where they cannot be read or are too many, and keep none of them."""

    def insert() -> None:
        for database in (*DATABASES, EDGES):
            db.execute(f"ATTACH '{StoredFiles.protocol}://{database}{number}' AS {database} (READ_ONLY)")
        db.execute("BEGIN")
        for table in ORDERS:
            in_order = "ORDER BY path, line_number" if table == "content" else ""
            db.execute(
                f"INSERT INTO made.{table} SELECT $1, {columns[table]} FROM {EDGES}.{table} {in_order}", [repository]
            )

    is_taken = room.take(insert)
    for database in (EDGES, *reversed(DATABASES)):
        db.execute(f"DETACH DATABASE IF EXISTS {database}")
    return is_taken
