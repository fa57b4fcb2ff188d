"""Several indexes in one memory file: each is opened when it is asked, and none of them sees another.

A worker holds one descriptor, however many there are. DuckDB attaches the tables of an index when a statement needs
them, through a file system that knows nothing but places in that file.
"""

import mmap
import os
import re
from collections.abc import Callable
from threading import Lock, get_ident

import _duckdb as duckdb
import msgspec

from fledgling.messages.control import StoredIndex, StoredIndexes
from fledgling.worker.store.database import SQL
from fledgling.worker.store.graph import Graph
from fledgling.worker.store.image_files import DiscardedLog, ImageFile, ImageFiles, size_of
from fledgling.worker.store.level import Level
from fledgling.worker.store.ngrams import Signatures
from fledgling.worker.store.overlay.snapshots import Snapshot
from fledgling.worker.store.sections import FormatError, Window
from fledgling.worker.store.symbols import Outlines
from fledgling.worker.store.text import Blocks
from fledgling.worker.store.words import Words

# What an index raises that is not what an indexer writes, as it has met hostile files: sections lack, or do not fit.
BROKEN = (FormatError, LookupError, ValueError, TypeError, msgspec.MsgspecError)
DATABASES = ("text", "code")
EDGES = "edges"  # the database beside them that an index has where SQL is allowed, by which others mean theirs
BUNDLE = "bundle"  # the database of a bundle, with its number behind
_QUALIFIED = re.compile(rf"\b({'|'.join(DATABASES)})\.(?=[a-z])")  # in a SQL file, what is of one of them


def stored_in(fd: int, table_bytes: int) -> StoredIndexes:
    """Return what the last bytes of a memory file say of those before."""
    return msgspec.msgpack.decode(os.pread(fd, table_bytes, size_of(fd) - table_bytes), type=StoredIndexes)


class Shelf:
    """The indexes by their numbers.

    >>> shelf = Shelf(memory_file.mapped(fd), stored, db)
    >>> [snapshot.blocks.count for snapshot in shelf.snapshots if snapshot]
    [812, 17]
    """

    def __init__(self, data: mmap.mmap, stored: StoredIndexes, db: duckdb.DuckDBPyConnection) -> None:
        """Open indexes in a mapped file, and their tables in a database that StoredFiles are registered with."""
        self._data = data
        self.generations = [stored.generations[each.generation] for each in stored.indexes]
        self.levels = [self._level(*each["level"]) for each in stored.bundles]
        self.bundles = [each.bundle for each in stored.indexes]
        self._members: list[dict[int, int]] = [{} for _ in stored.bundles]  # of each level, their numbers here
        self._alone = {number for number, bundle in enumerate(self.bundles) if bundle is None}
        for number, bundle in enumerate(self.bundles):
            if bundle:
                self._members[bundle[0]][bundle[1]] = number
        self.snapshots = [self._open(each, number) for number, each in enumerate(stored.indexes)]
        self.unreadable = tuple(number for number, snapshot in enumerate(self.snapshots) if snapshot is None)
        self._attaching, self._attached = Lock(), db.cursor()  # which nobody else uses: DuckDB has one at a time

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.snapshots)

    def left(self, may: Callable[[Level], set[int]]) -> list[int]:
        """Return the indexes that a first level leaves by what `may` says of it, and those that are in none."""
        found = set(self._alone)
        for level, members in zip(self.levels, self._members, strict=True):
            found.update(members.values() if level is None else (members[each] for each in may(level) & members.keys()))
        return sorted(found)

    def attach(self, number: int) -> None:
        """Let DuckDB know the tables of an index."""
        bundle = self.bundles[number]
        names = [f"{BUNDLE}{bundle[0]}"] if bundle else [f"{name}{number}" for name in DATABASES]
        with self._attaching:
            for name in names:
                self._attached.execute(f"ATTACH IF NOT EXISTS '{ImageFiles.protocol}://{name}' AS {name} (READ_ONLY)")

    def detach(self, number: int) -> None:
        """Let DuckDB forget the tables of an index that is in no bundle."""
        with self._attaching:
            for name in DATABASES:
                self._attached.execute(f"DETACH DATABASE IF EXISTS {name}{number}")

    def place(self, database: str, number: int) -> str:
        """Return where the tables of an index are that it has in a database where it is alone: `code17`."""
        bundle = self.bundles[number]
        return f"{BUNDLE}{bundle[0]}.{schema(database, bundle[1])}" if bundle else f"{database}{number}"

    def _level(self, start: int, size: int) -> Level | None:
        """Return the first level of a bundle; None where it is not what a bundler writes."""
        try:
            return Level(Window(self._data, start, size))
        except BROKEN:
            return None

    def _open(self, stored: StoredIndex, number: int) -> Snapshot | None:
        """Return the readers of an index; None where it is not what an indexer writes."""
        try:
            return self._snapshot(stored, number)
        except BROKEN:
            return None

    def _snapshot(self, stored: StoredIndex, number: int) -> Snapshot:
        parts = {name: Window(self._data, *place) for name, place in stored.parts.items() if name not in DATABASES}
        return Snapshot(
            0,
            Blocks(parts["blocks"]),
            Signatures(parts["signatures"]) if "signatures" in parts else None,
            Outlines(parts["outlines"]),
            Words(parts["words"]) if "words" in parts else None,
            StoredTables(self, number),
            self.generations[number].partial,
            graph=Graph(parts["graph"]) if "graph" in parts else None,
        )


def schema(database: str, member: int) -> str:
    """Return the schema of a bundle in which a member has the tables of one of its databases: `code17`."""
    return f"{database}{member}"


class StoredTables:
    """The tables of one index among several: our statements mean them by the names that they have where it is alone."""

    def __init__(self, shelf: Shelf, number: int) -> None:
        self._shelf, self._number = shelf, number

    def statement(self, sql: str, cursor: duckdb.DuckDBPyConnection) -> str:
        """Return the text of a SQL file, for a cursor that means this index from now on."""
        self._shelf.attach(self._number)
        cursor.execute(f"USE {self._shelf.place('code', self._number)}")
        return _QUALIFIED.sub(lambda found: f"{self._shelf.place(found[1], self._number)}.", SQL[sql])

    def mean(self, cursor: duckdb.DuckDBPyConnection, *tables: str) -> None:
        """Let a cursor mean this index by the names of any tables."""
        raise NotImplementedError("no SQL is asked of several indexes")


class StoredFiles(ImageFiles):
    """The databases of several indexes as files: `image://code17` is a part of the one memory file."""

    def __init__(self, fd: int, stored: StoredIndexes) -> None:
        """Take the descriptor, which stays open as long as anything is attached."""
        super().__init__({})
        self._fd = fd
        self._places = {
            f"{self.protocol}://{name}{number}": place
            for number, each in enumerate(stored.indexes)
            for name, place in each.parts.items()
            if name in (*DATABASES, EDGES)
        } | {f"{self.protocol}://{BUNDLE}{number}": each["tables"] for number, each in enumerate(stored.bundles)}

    def open(self, name: str, mode: str = "rb") -> "ImageFile | DiscardedLog":
        """Open a database to read; FileNotFoundError for every other name."""
        if name not in self._places or mode != "rb":
            raise FileNotFoundError(name)
        return StoredFile(self._fd, *self._places[name])

    def isfile(self, name: str) -> bool:
        """Return whether there is such a file: only a database is one."""
        return name in self._places

    def size(self, name: str) -> int:
        """Return the bytes of a database."""
        return self._places[name][1] if name in self._places else 0


class StoredFile(ImageFile):
    """An open database: so many bytes of the memory file, from a place on."""

    def __init__(self, fd: int, start: int, size: int) -> None:
        super().__init__(fd)
        self._start, self._size = start, size

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes, less at the end of the database only."""
        at = self._positions[get_ident()]
        data = os.pread(self._fd, max(min(size, self._size - at), 0), self._start + at)
        self._positions[get_ident()] += len(data)
        return data
