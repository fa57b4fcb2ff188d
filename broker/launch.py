"""Hearing, watching and ending a back process that broker/spawn.py starts."""

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
from typing import Generic, TypeVar

import msgspec

from fledgling.broker.memory import Memory
from fledgling.pipe import HEADER_BYTES, CutFrameError, FrameError, Unpacker, pack

LOGGED_CHARS = 2000  # of what a back process writes to its standard error, a line
LAST_WORDS_SECONDS = 1.0  # of what a process that has ended wrote there: what it has forked may hold the pipe open
LOGGED_TOTAL = 64 * 1024  # bytes of it over the life of one process: enough for a fault, too little for a flood

Received = TypeVar("Received")
_log = logging.getLogger("fledgling")


async def receive(reader: asyncio.StreamReader, unpacker: Unpacker[Received]) -> Received | None:
    """Return the next message, or None when the other side closed the pipe between two frames."""
    header = b""
    try:
        header = await reader.readexactly(HEADER_BYTES)
        return unpacker.message(await reader.readexactly(unpacker.length(header)))
    except asyncio.IncompleteReadError as cut:
        if header or cut.partial:
            raise CutFrameError from cut
        return None


def how_ended(status: int) -> str:
    """Say how a process ended, from its exit status: `how_ended(-9)` is "it was killed by SIGKILL"."""
    if status >= 0:
        return f"it exited with status {status}"
    try:
        return f"it was killed by {signal.Signals(-status).name}"
    except ValueError:  # a real-time signal has no name
        return f"it was killed by signal {-status}"


class BackProcess(Generic[Received]):
    """One indexer or query worker, from its start to its end.

    Its first message waits in the pipe, so it can be started before the event loop runs. Without one it loads, and
    waits for `begin`.

    >>> process = BackProcess(spawn("fledgling.worker.query", [image_fd]), Open(...), Unpacker(FromWorker))
    >>> await process.receive()
    Ready()
    """

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        first: msgspec.Struct | None,
        unpacker: Unpacker[Received],
    ) -> None:
        self._process = process
        assert isinstance(process.args, list)
        self._module = str(process.args[-1])  # as broker/spawn.py starts it
        self._unpacker = unpacker
        self._reader: asyncio.StreamReader | None = None
        self._answers: asyncio.ReadTransport | None = None
        self._writer: asyncio.WriteTransport | None = None
        self._draining: asyncio.Task[None] | None = None
        self._errors: asyncio.ReadTransport | None = None
        self._memory: Memory | None = None
        self.is_busy = True  # asked for something, and not done; a process that starts is
        self.over_memory = False
        self.broken: str | None = None  # what was wrong with the last frame, if anything
        if first:
            self.begin(first)

    @property
    def pid(self) -> int:
        """The process id, as in `ps`."""
        return self._process.pid

    def tell(self, message: msgspec.Struct) -> None:
        """Send a message without waiting; what a process that has ended would have got is dropped."""
        if self._writer and not self._writer.is_closing():
            self._writer.write(pack(message))

    async def receive(self) -> Received | None:
        """Return the next message, or None when the process has ended. A frame that does not decode ends it."""
        reader = await self._attached()
        try:
            return await receive(reader, self._unpacker)
        except CutFrameError:  # it has ended while it wrote
            self.kill()
            return None
        except FrameError as broken:
            self.broken = str(broken)
            _log.error("%s (pid %d) broke the protocol and is killed: %s", self._module, self.pid, broken)
            self.kill()
            return None

    def watch(self, memory: Memory, share: int) -> None:
        """Let the process be looked at, and ended where all hold too much; `over_memory` then says so."""
        self._memory = memory
        memory.watch(self, share)

    def busy(self, is_busy: bool) -> None:  # noqa: FBT001  (it says itself what it is)
        """Note whether the process is asked for something: one that is not is looked at less often."""
        self.is_busy = is_busy
        if is_busy and self._memory:
            self._memory.stir()

    def end_for_memory(self) -> None:
        """End the process at once, and say why."""
        self.over_memory = True
        self.kill()

    def has_ended(self) -> bool:
        """Return whether the process is gone already."""
        return self._process.poll() is not None

    def kill(self) -> None:
        """End the process and all that it has forked at once."""
        if self._process.returncode is None:
            self._end_group()

    async def ended(self) -> int:
        """Wait until the process is gone and its pipes are closed; return its exit status, negative for a signal."""
        status = await asyncio.to_thread(self._process.wait)
        self._end_group()  # who is stopped, or ignores its closed socket, would stay
        if self._memory:
            self._memory.forget(self)
        if self._draining:
            await asyncio.wait([self._draining], timeout=LAST_WORDS_SECONDS)
            self._draining.cancel()
        if self._errors:
            self._errors.close()
        if self._writer and not self._writer.is_closing():
            self._writer.abort()
        if self._answers:
            self._answers.close()  # paused before more than was ever read, it would not see that the pipe has ended
        self._close_unused()
        return status

    def _end_group(self) -> None:
        """End whoever is left of its process group: it leads one, and no filter lets a process leave it.

        Its number is nobody else's while one is left; where none is, there is no such group.
        """
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def _close_unused(self) -> None:
        """Close the pipes that the event loop has not taken over: nobody listened to this process yet."""
        process = self._process
        taken = {process.stdin: self._writer, process.stdout: self._reader, process.stderr: self._draining}
        for pipe, by in taken.items():
            if pipe and not by:
                with contextlib.suppress(BrokenPipeError):  # its first message may still be waiting
                    pipe.close()

    def begin(self, first: msgspec.Struct) -> None:
        """Send the first message: it fits the pipe, so nobody waits."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it ended at once: `receive` says so
            self._process.stdin.write(pack(first))

    async def _attached(self) -> asyncio.StreamReader:
        if self._reader is None:
            loop = asyncio.get_running_loop()
            self._reader, self._answers = await _reader(self._process.stdout)
            self._writer, _ = await loop.connect_write_pipe(asyncio.Protocol, self._process.stdin)
            stderr, self._errors = await _reader(self._process.stderr)
            self._draining = asyncio.create_task(self._drain(stderr))
        return self._reader

    async def _drain(self, stderr: asyncio.StreamReader) -> None:
        """Log what the process complains of, escaped and cut, as it may quote hostile text; lines come together."""
        room = LOGGED_TOTAL
        while read := await stderr.read(LOGGED_CHARS):
            if room > 0:
                said = "; ".join(read.decode("utf-8", "replace").splitlines())
                _log.warning("%s (pid %d): %s", self._module, self.pid, ascii(said)[1:-1])
                room -= len(read)


async def _reader(pipe: object) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader, transport
