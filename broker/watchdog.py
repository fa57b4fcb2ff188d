"""How long a back process may take, in time in which it could run.

Where many take turns on the processors, wall time says little about a process: one that is ended because it was late
is followed by one that is as late, and nobody is ever answered. So the time in which it, or a process below it, is
ready to run and gets no processor does not count. One that waits for what never comes, is stopped, or never ends what
it does is ended as on a quiet machine. Where the kernel does not show processes (macOS), all time counts.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

from fledgling.broker.memory import about, forked

LOOK_SECONDS = 1.0  # between two looks at a process that is waited for; most are done before the first
LOOKS = 10  # at least, in a limit that is short
STARVED = 20  # times the limit, in wall time at most: with a two-hundredth of a processor one loads in a minute or two


@asynccontextmanager
async def within(seconds: float, pid: Callable[[], int], most: float | None = None) -> AsyncIterator[None]:
    """Raise TimeoutError where the block is not done after so many seconds in which a process could run.

    It is raised after `most` seconds in any case, STARVED times as many if nothing is said. `pid` says which process
    that is now: another may have taken its place.

    >>> async with within(60.0, lambda: process.pid):
    ...     message = await process.receive()
    """
    async with asyncio.timeout(None) as limit:
        watch = _Watch(limit, seconds, pid, STARVED * seconds if most is None else most)
        try:
            yield
        finally:
            watch.end()


class _Watch:
    """The looks at one process, which let a limit expire."""

    def __init__(self, limit: asyncio.Timeout, seconds: float, pid: Callable[[], int], most: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._limit, self._left, self._pid = limit, seconds, pid
        self._every = min(LOOK_SECONDS, seconds / LOOKS)
        self._looked = self._loop.time()
        self._last = self._looked + most
        self._ran: float | None = None
        self._uncounted = 0.0  # seconds that it has run: the kernel tells of them when a tick is over
        self._next = self._loop.call_later(self._every, self._look)

    def end(self) -> None:
        """Look no more."""
        self._next.cancel()

    def _look(self) -> None:
        """Count the time since the last look: where the process waits for a processor, only what it has run.

        What is before the first look counts whole: nothing is known yet.
        """
        now, seen = self._loop.time(), _seen(self._pid())
        passed = now - self._looked
        if seen.is_ready and self._ran is not None:
            self._uncounted = min(self._uncounted + max(seen.ran - self._ran, 0.0), passed + _TICK)
            passed = min(passed, self._uncounted)
            self._uncounted -= passed
        self._left -= passed
        self._looked, self._ran = now, seen.ran
        if self._left <= 0 or now >= self._last:
            self._limit.reschedule(now)
        else:
            self._next = self._loop.call_later(min(self._every, self._left), self._look)


class _Seen(NamedTuple):
    """How long a process and those below it have run, and whether a thread of theirs is ready to, or does."""

    ran: float
    is_ready: bool


_TICK = 1 / os.sysconf("SC_CLK_TCK")


def _seen(pid: int) -> _Seen:
    """Look at a process; one that is gone, or cannot be seen, is not ready to run. See proc_pid_stat(5).

    What threads and children that are gone have run is counted by the process that they were of.
    """
    processes = [pid, *forked(pid)]
    ran = sum(sum(map(int, fields[11:15])) for fields in map(_stat, processes)) * _TICK
    return _Seen(ran, any(_stat(each, thread)[:1] == [b"R"] for each in processes for thread in _threads(each)))


def _stat(pid: int, thread: str = "") -> list[bytes]:
    """Return what the kernel says of a process, or of a thread of it, behind its name; nothing if it is gone."""
    return about(pid, f"task/{thread}/stat" if thread else "stat").rpartition(b")")[2].split()


def _threads(pid: int) -> list[str]:
    with suppress(OSError):
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208  `pathlib` would take three times as long
    return []
