"""The memory that a bundler has for tables, and whose they are that take most of it where none is left."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import _duckdb as duckdb

from fledgling.messages.control import Bundle, Export
from fledgling.security import limits

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
        self._most = self._memory - self._used  # bytes that the next index may have when it finds no memory

    def weigh(self) -> None:
        """Note what the next index has when all of it is there: to commit it takes as much again for a moment."""
        self._most = self._held() - self._used

    def taken(self) -> int:
        """Return how many bytes the tables of the next index take, now that they are taken or left out."""
        before, self._used = self._used, self._held()
        self._bytes.append(max(self._used - before, 0))
        self._most = self._memory - self._used
        return self._bytes[-1]

    def look(self, problem: duckdb.Error) -> None:
        """Raise ExhaustedError where the next index found no memory, and one before it has more than it may have."""
        if _is_of_memory(problem) and (number := self._largest(self._most)) is not None:
            raise ExhaustedError(number) from None

    @contextmanager
    def filled(self) -> Iterator[None]:
        """Raise ExhaustedError where all are taken, and there is no memory to write them."""
        try:
            yield
        except duckdb.Error as problem:
            if _is_of_memory(problem) and (number := self._largest(0)) is not None:
                raise ExhaustedError(number) from None
            raise

    def _largest(self, than: int) -> int | None:
        """Return the number of the index whose tables take most, if they take more than this."""
        most = max(self._bytes, default=0)
        return self._bytes.index(most) if most > than else None

    def _held(self) -> int:
        held = self._db.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchall()
        return int(held[0][0] or 0) + os.fstat(self._made).st_blocks * 512


def memory(order: Bundle | Export) -> int:
    """Return the bytes that the engine may use."""
    return int(order.memory_limit * limits.INDEXING)


def _is_of_memory(problem: duckdb.Error) -> bool:
    return isinstance(problem, duckdb.OutOfMemoryException) or NO_MEMORY in str(problem)
