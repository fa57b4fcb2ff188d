"""The rows of a graph, made on all cores: the process that resolves forks others, which have all that it has solved.

What rows a file has tells nothing to the next (Solver.forget), so that it does not matter who makes them.
"""

import mmap
import operator
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import msgspec

from fledgling.security import limits
from fledgling.worker.graph.columns import GraphColumns, packed, unpacked
from fledgling.worker.graph.rows.rows import Rows
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.telling import Tell, unheard
from fledgling.worker.graph.unit import Unit
from fledgling.worker.process import fault

PARTS = 128  # of the files: whoever is done with one takes the next, and a byte tells which
LEAST_BYTES = 500_000  # of packed occurrences: rows of fewer are made in a third of a second, and nothing is forked
LOOK_SECONDS = 0.02  # between two looks at whether who was forked has ended
LENGTH_BYTES = 8  # before a result: how long it is
MADE, LOST = 0, 1  # exit statuses


class RowsOfParts(msgspec.Struct, frozen=True):
    """What a process has made: rows by the number of their part, packed; and what it has spent for them."""

    spent: list[int]
    parts: dict[int, dict[str, bytes]]


class SharedWork(NamedTuple):
    """What those have together who make rows: the parts, and how many files each of them is done with."""

    parts: list[list[Unit]]
    done: memoryview


class RowMakers:
    """Makes rows of what is solved.

    >>> makers = RowMakers(claims, confine, memory_limit, room=10**9)
    >>> graph = makers.rows(solver, tell)
    """

    def __init__(self, claims: tuple[int, int], confine: Callable[[], None], memory_limit: int, room: int) -> None:
        """`claims` are the ends of a pipe, `confine` is what a forked process does first; all may hold `room` bytes."""
        self._reading, self._writing = claims
        self._confine, self._room = confine, room
        self._longest = limits.rows_bytes(memory_limit)

    def rows(self, solver: Solver, tell: Tell) -> GraphColumns | None:
        """Make the rows of all files; None where budgets end, so that it matters which files come first."""
        rows, parts = Rows(solver), in_parts(solver.project.units)
        processes = min(limits.row_makers(self._room), len(parts))
        is_small = sum(len(unit.facts.sites) for unit in solver.project.units) < LEAST_BYTES
        if processes < 2 or is_small or any(_run_out(rows, rows.spent())):
            return rows.graph(tell)
        found = {0: rows.part(parts[0], unheard)}  # what most files ask for is then known to all
        together = SharedWork(parts, memoryview(mmap.mmap(-1, 8 * processes)).cast("Q"))
        self._offer(range(1, len(parts)))
        forked = [*self._forked(rows, together, processes)]

        def tell_all(own: int) -> None:
            together.done[0] = own
            tell(sum(together.done))

        found |= self._taken(rows, together, tell_all)
        results = [*self._ended(forked, lambda: tell(sum(together.done)))]
        for result in results:
            found |= {at: unpacked(said) for at, said in result.parts.items()}
        for at in range(len(parts)):  # who was lost took them along
            if at not in found:
                found[at] = rows.part(parts[at], unheard)
        run_out = _run_out(rows, map(sum, zip(rows.spent(), *(result.spent for result in results), strict=True)))
        if not any(run_out):
            return rows.whole(found[at] for at in range(len(parts)))
        return None if any(run_out[2:]) else Rows(solver).graph(tell)  # the first two are spent by rows alone

    def _offer(self, parts: Iterable[int]) -> None:
        """Let these parts be taken, and no other that a process before this one has left."""
        while self._claim() is not None:
            pass
        os.write(self._writing, bytes(parts))

    def _claim(self) -> int | None:
        """Take a part, which nobody else gets; None where there is none."""
        try:
            return os.read(self._reading, 1)[0]
        except BlockingIOError:
            return None

    def _taken(self, rows: Rows, together: SharedWork, tell: Tell) -> dict[int, GraphColumns]:
        """Make the rows of one part after the other, until none is left."""
        found: dict[int, GraphColumns] = {}
        files = 0
        while (at := self._claim()) is not None:
            found[at] = rows.part(together.parts[at], unheard)
            files += len(together.parts[at])
            tell(files)
        return found

    def _forked(self, rows: Rows, together: SharedWork, processes: int) -> Iterator[tuple[int, mmap.mmap]]:
        """Fork processes until there are so many with this one, or no more are to be had, or no memory for them."""
        with suppress(OSError):
            for at in range(1, processes):
                yield self._fork(rows, together, at)

    def _fork(self, rows: Rows, together: SharedWork, at: int) -> tuple[int, mmap.mmap]:
        """Fork a process that makes rows; return its number, and the memory that has them when it has ended."""
        result = mmap.mmap(-1, self._longest)
        child = os.fork()
        if child:
            return child, result
        status = LOST
        try:
            self._confine()
            rows.be_silent()
            before = rows.spent()
            found = self._taken(rows, together, partial(operator.setitem, together.done, at))
            spent = [each - first for first, each in zip(before, rows.spent(), strict=True)]
            parts = {of: {name: bytes(held) for name, held in packed(graph)} for of, graph in found.items()}
            said = msgspec.msgpack.encode(RowsOfParts(spent, parts))
            result[LENGTH_BYTES : LENGTH_BYTES + len(said)] = said
            result[:LENGTH_BYTES] = len(said).to_bytes(LENGTH_BYTES, "little")
            status = MADE
        except Exception as problem:  # noqa: BLE001  (as in pool.py; who has forked this one makes the rows itself)
            sys.stderr.write(fault.line(problem))
        finally:
            os._exit(status)

    @staticmethod
    def _ended(forked: Iterable[tuple[int, mmap.mmap]], tell: Callable[[], None]) -> Iterator[RowsOfParts]:
        """Wait for processes, and yield what each has made."""
        for child, result in forked:
            while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
                tell()
                time.sleep(LOOK_SECONDS)
            if os.waitstatus_to_exitcode(ended[1]) == MADE:
                length = int.from_bytes(result[:LENGTH_BYTES], "little")
                yield msgspec.msgpack.decode(result[LENGTH_BYTES : LENGTH_BYTES + length], type=RowsOfParts)
            result.close()


def _run_out(rows: Rows, spent: Iterable[int]) -> list[bool]:
    """Which of the budgets that files share are spent."""
    return [each >= most for each, most in zip(spent, rows.most(), strict=True)]


def in_parts(units: Sequence[Unit]) -> list[list[Unit]]:
    """Return files in parts, in order: as many occurrences in each, as far as that goes."""
    most = sum(len(unit.facts.sites) for unit in units) / PARTS
    parts: list[list[Unit]] = []
    size = most
    for unit in units:
        if size >= most and len(parts) < PARTS:
            parts.append([])
            size = 0
        parts[-1].append(unit)
        size += len(unit.facts.sites)
    return parts
