"""The memory that a bundler has for tables, and whose they are that take most of it where none is left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import _duckdb as duckdb

from fledgling.messages.bundling import Bundle, Export
from fledgling.security import limits
from fledgling.worker.store.image_files import size_of

# After these nothing can be done with any database. The process ends, and the broker knows whose tables it was taking.
DEADLY = (duckdb.FatalException, duckdb.InternalException)
NO_MEMORY = "could not allocate block"  # says an error of any kind where there is no memory


class ExhaustedError(Exception):
    """There is no memory left, and the tables of an index that was taken before take most of it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Room:
    """The memory that the tables of each index take, in the order of their numbers.

    >>> room = Room(db, order.tables_fd, order)
    >>> room.taken()
    66064368
    """

    def __init__(self, db: duckdb.DuckDBPyConnection, made: int, order: Bundle | Export) -> None:
        """Begin with what is taken already; `made` is the memory file of the database that is made."""
        self._db, self._made, self._memory = db, made, memory(order)
        self._bytes: list[int] = []
        self._used = self._held()

    def take(self, insert: Callable[[], None]) -> bool:
        """Commit what `insert` takes of the next index; return False where that cannot be read, or is too large.

        None of it is kept then. Raises ExhaustedError where it found no memory, and one before it has more than it may
        have; and what is DEADLY.
        """
        may_have = self._memory - self._used
        try:
            insert()
            may_have = self._held() - self._used  # all that it has: to commit it takes as much again for a moment
            self._db.execute("COMMIT")
        except duckdb.Error as problem:
            self._blame(problem, may_have)
            if isinstance(problem, DEADLY):
                raise
            with suppress(duckdb.TransactionException):  # none was begun
                self._db.execute("ROLLBACK")
            return False
        return True

    def taken(self) -> int:
        """Return how many bytes the tables of the next index take, now that they are taken or left out."""
        before, self._used = self._used, self._held()
        self._bytes.append(max(self._used - before, 0))
        return self._bytes[-1]

    @contextmanager
    def filled(self) -> Iterator[None]:
        """Raise ExhaustedError where all are taken, and there is no memory to write them."""
        try:
            yield
        except duckdb.Error as problem:
            self._blame(problem, 0)
            raise

    def _blame(self, problem: duckdb.Error, than: int) -> None:
        """Raise ExhaustedError where there is no memory, and the largest tables take more than so many bytes."""
        is_of_memory = isinstance(problem, duckdb.OutOfMemoryException) or NO_MEMORY in str(problem)
        most = max(self._bytes, default=0)
        if is_of_memory and most > than:
            raise ExhaustedError(self._bytes.index(most)) from None

    def _held(self) -> int:
        held = self._db.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchall()
        return int(held[0][0] or 0) + size_of(self._made)


def memory(order: Bundle | Export) -> int:
    """Return the bytes that the engine may use."""
    return int(order.memory_limit * limits.INDEXING)
