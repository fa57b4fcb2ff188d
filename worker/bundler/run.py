"""One bundle: the first level over the indexes of some repositories, and their tables as one database.

What it writes goes to memory files. An index that cannot be read is left out.
"""

from collections.abc import Iterator

import _duckdb as duckdb

from fledgling import refusals
from fledgling.messages.bundling import Bundle, Bundled, Export, TakenIndex
from fledgling.messages.control import Ready
from fledgling.pipe import Pipe
from fledgling.security import memory_file
from fledgling.security.confinement import ConfinementError
from fledgling.worker.bundler.opening import confined, opened
from fledgling.worker.bundler.room import Room
from fledgling.worker.store.database import SQL, lock_down
from fledgling.worker.store.level import LevelWriter
from fledgling.worker.store.overlay.snapshots import Snapshot
from fledgling.worker.store.shelf import BROKEN, Shelf, StoredFiles, schema
from fledgling.worker.store.symbols import Outlines

# The tables that statements of the five tools name, by the database of an index that has them; `rowid` is the number
# that other files of the index know a row by.
TABLES = {"text": ("files",), "code": ("files", "imports", "roots", "names")}


def bundle(pipe: Pipe[Bundle | Export], order: Bundle, db: duckdb.DuckDBPyConnection) -> None:
    """Make a bundle, and say of which indexes it is not. The order of the first lines is what confinement needs."""
    mapped = memory_file.mapped(order.fd)
    try:
        layers = confined(order)
    except ConfinementError as absent:
        pipe.send(refusals.not_confined(str(absent)))
        return
    stored = opened(order, order.tables_fd, db)
    db.execute(f"SET allowed_directories=['{StoredFiles.protocol}://']")
    own = _own_tables(db)
    lock_down(db)
    shelf = Shelf(mapped, stored, db)
    writer, tables = LevelWriter(order.level_fd), _Tables(db, shelf, own)
    room = Room(db, order.tables_fd, order)
    unreadable = []
    pipe.send(Ready(layers))
    for number, snapshot in enumerate(shelf.snapshots):
        is_left = snapshot is None or number in order.without or not _is_whole(snapshot)
        if snapshot is None or is_left or not tables.take(number, room):
            unreadable.append(number)
        else:
            _add(writer, number, snapshot)
        pipe.send(TakenIndex(room.taken()))
    writer.finish()
    with room.filled():
        tables.write(set(range(len(stored.indexes))) - {*unreadable})
    pipe.send(Bundled(tuple(unreadable)))


def _is_whole(snapshot: Snapshot) -> bool:
    """Return whether all texts and names of an index can be read, so that nothing of one that is broken is taken."""
    assert snapshot.outlines
    try:
        for block in range(snapshot.blocks.count if snapshot.signatures else 0):
            snapshot.blocks.text(block)
        for name in _names(snapshot.outlines):
            name.encode()
    except BROKEN:
        return False
    return True


def _add(writer: LevelWriter, number: int, of: Snapshot) -> None:
    assert of.outlines
    texts = map(of.blocks.text, range(of.blocks.count)) if of.signatures else None
    writer.add(number, texts, _names(of.outlines))


def _names(outlines: Outlines) -> Iterator[str]:
    return (outlines.row(row).name for row in range(outlines.count_rows()))


def _own_tables(db: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], str]:
    """Make the empty tables in memory, and return by database and table the columns that an index is to have.

    They are those that an indexer makes, whatever an index that comes first has in their place.
    """
    columns = {}
    for sql in ("schema", "schema_names", "schema_roots"):
        db.execute(SQL[sql].replace("image.", "memory."))
    for database, tables in TABLES.items():
        for table in tables:
            described = db.execute(f"DESCRIBE memory.{table}").fetchall()
            columns[database, table] = ", ".join(str(name) for name, *_ in described)
            db.execute(
                f"CREATE TABLE memory.{database}_{table} AS "
                f"SELECT 0::INTEGER AS member, 0::BIGINT AS place, * FROM memory.{table} LIMIT 0"
            )
    return columns


class _Tables:
    """The tables of all indexes, one below the other in memory until they are written."""

    def __init__(self, db: duckdb.DuckDBPyConnection, shelf: Shelf, columns: dict[tuple[str, str], str]) -> None:
        self._db, self._shelf, self._columns = db, shelf, columns

    def take(self, number: int, room: Room) -> bool:
        """Take the tables of an index; return False where they cannot be read or are too large, and keep none."""

        def insert() -> None:
            self._shelf.attach(number)
            self._db.execute("BEGIN")
            for (database, table), columns in self._columns.items():
                self._db.execute(
                    f"INSERT INTO memory.{database}_{table} "
                    f"SELECT {number}, rowid, {columns} FROM {database}{number}.{table}"
                )

        is_taken = room.take(insert)
        self._shelf.detach(number)
        return is_taken

    def write(self, members: set[int]) -> None:
        """Write the tables, in the order of members and places, and of each member what the tables are to it."""
        self._db.execute("USE made")  # what a view selects from is found beside it, whatever it is attached as
        self._db.execute("BEGIN")
        for database, tables in TABLES.items():
            for table in tables:
                name = f"{database}_{table}"
                self._db.execute(f"CREATE TABLE made.{name} AS FROM memory.{name} ORDER BY member, place")
        for member in sorted(members):
            for database, tables in TABLES.items():
                self._db.execute(f"CREATE SCHEMA made.{schema(database, member)}")
                for table in tables:
                    self._db.execute(
                        f"CREATE VIEW made.{schema(database, member)}.{table} AS "
                        f"SELECT place AS rowid, * EXCLUDE (member, place) FROM main.{database}_{table} "
                        f"WHERE member = {member}"
                    )
        self._db.execute("COMMIT")
        self._db.execute("USE memory")
        self._db.execute("DETACH made")
