"""What a bundler does first, whatever it makes: it is confined, and opens the indexes, which lie in one memory file.

They were written by processes that have met hostile files, so not a byte of them is read before.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import _duckdb as duckdb

from fledgling.messages.control import Bundle, Export, Layer, StoredIndexes
from fledgling.security import limits
from fledgling.security.confinement import confine
from fledgling.worker.store.database import EMPTY
from fledgling.worker.store.image_files import ImageFiles
from fledgling.worker.store.shelf import StoredFiles, stored_in

# After these nothing can be done with any database. The process ends, and the broker knows whose tables it was taking.
DEADLY = (duckdb.FatalException, duckdb.InternalException)
NO_MEMORY = "could not allocate block"  # says a deadly one where there is no memory to commit what was taken


class ExhaustedError(Exception):
    """There is no memory left, and the tables of an index that was taken before take most of it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Room:
    """The memory that the tables of each index take, in the order of their numbers.

    >>> room = Room(db, order.tables_fd, order.memory_limit)
    >>> room.taken()
    66064368
    """

    def __init__(self, db: duckdb.DuckDBPyConnection, made: int, memory_limit: int) -> None:
        """Begin with what is taken already; `made` is the memory file of the database that is made."""
        self._db, self._made = db, made
        self._limit = _memory_of(memory_limit)
        self._used = self._now()
        self._own = self._limit - self._used
        self._bytes: list[int] = []

    def weigh(self) -> None:
        """Note what the next index has, all of which is to be committed: that takes as much again for a moment."""
        self._own = self._now() - self._used

    def taken(self) -> int:
        """Return how many bytes the tables of the next index take."""
        before, self._used = self._used, self._now()
        self._bytes.append(max(self._used - before, 0))
        self._own = self._limit - self._used  # that the one after it may have wanted
        return self._bytes[-1]

    def look(self, problem: duckdb.Error) -> None:
        """Raise ExhaustedError where an index found no memory, and one before it has more than it can have had."""
        most = max(self._bytes, default=0)
        is_of_memory = isinstance(problem, duckdb.OutOfMemoryException) or NO_MEMORY in str(problem)
        if is_of_memory and most > self._own:
            raise ExhaustedError(self._bytes.index(most)) from None

    @contextmanager
    def filled(self) -> Iterator[None]:
        """Raise ExhaustedError where all are taken, and there is no memory to write them."""
        try:
            yield
        except duckdb.OutOfMemoryException:
            raise ExhaustedError(self._bytes.index(max(self._bytes))) from None

    def _now(self) -> int:
        held = self._db.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchall()
        return int(held[0][0] or 0) + os.fstat(self._made).st_blocks * 512


def _memory_of(memory_limit: int) -> int:
    return int(memory_limit * limits.INDEXING)


class MadeFiles(ImageFiles):
    """The database that is made, by a protocol of its own: the indexes have the other."""

    protocol = "made"


def confined(order: Bundle | Export) -> tuple[Layer, ...]:
    """Give up the rights of this process, and say what holds it. Raises ConfinementError."""
    lowered = limits.of_indexer(order.memory_limit)
    return confine("indexer", order.confining, parent=order.broker_pid, lowered=lowered)


def opened(order: Bundle | Export, made: int, db: duckdb.DuckDBPyConnection) -> StoredIndexes:
    """Attach an empty memory file as the database `made`, and let the tables of the indexes be attached."""
    stored = stored_in(order.fd, order.table_bytes)
    os.pwrite(made, EMPTY, 0)
    db.execute("SET memory_limit=$1", [f"{_memory_of(order.memory_limit)}B"])
    db.execute("SET auto_checkpoint_skip_wal_threshold=0")
    db.execute("SET wal_autocheckpoint='0B'")
    StoredFiles(order.fd, stored).register(db)
    files = MadeFiles({"tables": made})
    db.register_filesystem(files)
    db.execute(f"ATTACH '{files.protocol}://tables' AS made")
    return stored
