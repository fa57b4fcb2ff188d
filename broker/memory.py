"""What the processes and the memory files of one profile hold together, looked at from outside.

The kernel holds each of them to a share (security/limits.py). Shares are more than the whole in sum: where together
they come to hold more than that, the process that is the furthest over its share is ended.
"""

import asyncio
import logging
import os
import re
import signal
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import NamedTuple, Protocol

from fledgling.security import limits

_log = logging.getLogger("fledgling")


HELD = re.compile(rb"^Rss(?:Anon|Shmem):\s+(\d+)", re.MULTILINE)  # of status, in this order


class Watched(Protocol):
    """A back process as it is looked at."""

    @property
    def pid(self) -> int:
        """The process id."""

    @property
    def is_busy(self) -> bool:
        """Whether it was asked for something, and has not said yet that it is done."""

    def end_for_memory(self) -> None:
        """End it, and say that memory was why."""


class Held(NamedTuple):
    """What one process holds, of what share, and which back process it is of: itself, or the one that forked it."""

    pid: int
    size: int
    share: int
    of: Watched


class Memory:
    """The memory of one profile. `files` names the descriptors of the memory files there are at the time.

    >>> memory = Memory(profile.memory_limit, lambda: astuple(indexing.images))
    >>> memory.watch(process, share=limits.worker_share(profile.memory_limit, None))
    >>> memory.forget(process)
    """

    def __init__(self, memory_limit: int, files: Callable[[], Collection[int]]) -> None:
        self._limit = memory_limit
        self._files = files
        self._watched: dict[Watched, int] = {}
        self._looking: asyncio.Task[None] | None = None
        self._stirred = asyncio.Event()
        self._ended = 0  # the process that was ended last

    def watch(self, process: Watched, share: int) -> None:
        """Look at a process from now on, and at those that it forks."""
        self._watched[process] = share
        self.stir()
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_on())

    def stir(self) -> None:
        """Look at once, and often: a process is asked for something."""
        self._stirred.set()

    def forget(self, process: Watched) -> None:
        """Look at a process no more."""
        self._watched.pop(process, None)

    def files_bytes(self) -> int:
        """Return what the memory files hold: what was never written takes no memory."""
        return sum(os.fstat(fd).st_blocks * 512 for fd in self._files())

    def held(self) -> int:
        """Return what the processes and the memory files hold together, in bytes."""
        files = self.files_bytes()
        return files + sum(process.size for process in self._held(files))

    async def _look_on(self) -> None:
        """Look again and again while there is a process to look at."""
        while self._watched:
            again = limits.look_again(self._room())
            if any(process.is_busy for process in self._watched):
                await asyncio.sleep(again)
                continue
            self._stirred.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(limits.LOOK_IDLE):
                    await self._stirred.wait()
        self._looking = None

    def _room(self) -> int:
        """Return how many bytes may still be held; where there are none, end a process."""
        files = self.files_bytes()
        held = [*self._held(files)]
        room = limits.whole(self._limit) - limits.kept_free() - files - sum(process.size for process in held)
        if room < 0 and held:
            self._end(max(held, key=lambda process: process.size / process.share))
        return room

    def _end(self, worst: Held) -> None:
        if worst.pid != self._ended:  # it may take a while to go
            _log.warning("a process (pid %d) is ended: memory_limit and the headroom are full", worst.pid)
        self._ended = worst.pid
        if worst.pid == worst.of.pid:
            worst.of.end_for_memory()
        else:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(worst.pid, signal.SIGKILL)

    def _held(self, files: int) -> Iterator[Held]:
        """Yield what each process holds; what files have more than they may, the indexer that writes them holds."""
        excess = max(files - limits.files(self._limit), 0)
        for process, share in [*self._watched.items()]:
            below = [*forked(process.pid)]
            size = held_bytes(process.pid, files) + (excess if below else 0)
            yield Held(process.pid, size, share, process)
            for pid in below:
                yield Held(pid, held_bytes(pid, 0), limits.extractor_share(self._limit), process)


def held_bytes(pid: int, mapped: int) -> int:
    """Return what a process holds that is of no file, and of memory files what is more than `mapped`; 0 if it is gone.

    See proc_pid_status(5): RssAnon, RssShmem. Where the system does not tell them apart (macOS), all that it holds.
    """
    if sys.platform != "linux":
        import psutil  # noqa: PLC0415  (there alone: a twentieth of the time that loading takes)

        with suppress(psutil.Error):
            return psutil.Process(pid).memory_info().rss
        return 0
    found = HELD.findall(about(pid, "status"))
    anonymous, shared = [int(kilobytes) * 1024 for kilobytes in found] or (0, 0)
    return anonymous + max(shared - mapped, 0)


def forked(pid: int) -> Iterator[int]:
    """Yield the processes below a process; none of ours forks on another thread than its first."""
    for child in map(int, about(pid, f"task/{pid}/children").split()):
        yield child
        yield from forked(child)


def about(pid: int, file: str) -> bytes:
    """Return what the kernel says of a process; nothing if it is gone. `pathlib` would take three times as long."""
    with suppress(OSError), open(f"/proc/{pid}/{file}", "rb", buffering=0) as opened:  # noqa: PTH123
        return opened.readall()
    return b""
