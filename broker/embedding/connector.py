"""The connector as the broker sees it: what it is asked, how long that may take, and what becomes of a failure.

The broker connects to nobody. It starts the connector before it is confined itself, and then talks to it, and to the
embedder that it forks for each question, through one pair of sockets.
"""

import asyncio
import logging
import math
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, suppress
from typing import TypeVar

from fledgling.broker.audit_log.records import EmbeddedRecord, KilledRecord, Tell
from fledgling.broker.audit_log.writer import tell_confinement
from fledgling.broker.embedding.endpoint import Endpoint
from fledgling.broker.watchdog import within
from fledgling.messages.control import Confining
from fledgling.messages.embedding import (
    PACKET_BYTES,
    Connect,
    Connected,
    Connecting,
    Embed,
    FromEmbedder,
    NotSimilar,
    Reason,
    Similar,
    Wanted,
)
from fledgling.pipe import HEADER_BYTES, FrameError, Unpacker, pack
from fledgling.security import inspection

MODULE = "fledgling.worker.embedder"
BACK_OFF = (0.1, 0.3, 0.9)  # seconds before each of three more tries, where the next one may go better
REST_SECONDS = 30.0  # without a question behind one that failed: who waits for a silent endpoint does so once
START_SECONDS = 60.0  # in which it could run, until the connector is confined; a quiet machine needs 0.2
END_SECONDS = 1.0  # until a connector whose socket has ended is gone; it takes 20 ms
LEFT_SECONDS = 1.5  # behind the time that an embedder has, until nothing more can come from it: the kernel has ended it
AGAIN: tuple[Reason, ...] = ("unreachable", "cut", "busy")
WORDS: Mapping[Reason, str] = {
    "unreachable": "cannot be reached",
    "silent": "did not answer in time",
    "cut": "closed the connection before it had answered",
    "busy": "is busy, or failed",
    "status": "answered with an error",
    "garbage": "answered with what is not an answer",
    "too long": "answered with more than is read",
    "dimensions": "answered with vectors of the wrong number or length",
}
RESTING = f"failed less than {REST_SECONDS:g} seconds ago"
GONE = "is not asked any more: the process that asked it has ended"

Kind = TypeVar("Kind", bound=FromEmbedder)
_log = logging.getLogger("fledgling")


class FailedError(Exception):
    """The endpoint was asked in vain; the message says what it did: "did not answer in time"."""


class Connector:
    """The process that forks embedders. Create it before this process is confined.

    >>> connector = Connector(endpoint, confining, log.tell)
    >>> await connector.similar("retry uploads", ["def retry(): ...", "def paint(): ..."], deadline, log.tell)
    (0.81, 0.22)
    """

    def __init__(self, endpoint: Endpoint, confining: Confining, tell: Tell) -> None:
        self.endpoint = endpoint
        self._confining = confining
        self._tell = tell
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._filters = inspection.filters()  # which it inherits
        reader, writer = os.pipe()
        self._lifeline = os.fdopen(writer, "wb", buffering=0)  # the connector ends with it, even where it was stopped
        with ExitStack() as opened:
            opened.enter_context(self._channel)
            opened.enter_context(self._lifeline)
            with theirs, os.fdopen(reader, "rb", buffering=0):
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-B", "-m", MODULE],
                    pass_fds=[reader],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,  # it has nothing to say that its packets do not
                    cwd="/",
                    env={},
                    start_new_session=True,
                )
            opened.pop_all()  # it has started: they stay open
        self._channel.setblocking(False)
        address, port, path, protocol, model, _ = endpoint
        self._send(Connect(reader, address, port, path, protocol, model, confining))
        self._unpacker: Unpacker[FromEmbedder] = Unpacker(FromEmbedder, PACKET_BYTES)
        self._asking = asyncio.Lock()
        self._number = 0
        self._rests_until = -math.inf
        self._is_ready: bool | None = None  # None: it has not said yet what confines it
        self._is_embedder_known = False
        self._at_work: set[asyncio.Task[tuple[float, ...]]] = set()

    async def similar(self, query: str, texts: Sequence[str], deadline: float, tell: Tell) -> tuple[float, ...]:
        """Return how near each text is to the question, from -1 to 1. Raises FailedError, by the deadline.

        A question goes to the end of its own time though nobody waits any more: what comes late is not the next one's.
        """
        if time.monotonic() < self._rests_until:
            raise FailedError(RESTING)
        task = asyncio.create_task(self._asked(query, texts, tell))
        self._at_work.add(task)
        task.add_done_callback(self._forget)
        try:
            async with asyncio.timeout_at(deadline):
                return await asyncio.shield(task)
        except TimeoutError:
            raise FailedError(WORDS["silent"]) from None

    async def ready(self) -> bool:
        """Return whether the connector is confined, once it has said so; one that is not is ended and not used."""
        if self._is_ready is None:
            said = await self._received((Connecting,), within(START_SECONDS, lambda: self._process.pid))
            problem = said.problem if said else "it did not say what confines it"
            if said and not problem:
                problem = inspection.problem(
                    "connector", self._process.pid, said.layers, self._confining, self._filters
                )
                tell_confinement(self._tell, "connector", self._process.pid, said.layers)
            self._is_ready = problem is None
            if problem:
                self._end(f"it is not used: {problem}")
        return self._is_ready

    def close(self) -> None:
        """End the connector, and so its embedder: its socket ends, and then its pipe."""
        self._is_ready = False
        self._channel.close()
        self._lifeline.close()
        with suppress(PermissionError):  # of Landlock, where it has scopes
            self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)

    def _forget(self, task: asyncio.Task[tuple[float, ...]]) -> None:
        self._at_work.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waited has had it

    async def _asked(self, query: str, texts: Sequence[str], tell: Tell) -> tuple[float, ...]:
        """Ask, and again where that may help, one question after the other. Raises FailedError."""
        until = time.monotonic() + self.endpoint.seconds
        async with self._asking:
            if not await self.ready():
                raise FailedError(GONE)
            if time.monotonic() < self._rests_until:
                raise FailedError(RESTING)
            if time.monotonic() > until:  # others were asked meanwhile, or the connector has started late
                raise FailedError(WORDS["silent"])
            found = await self._once(query, texts, until, tell)
            for pause in BACK_OFF:
                if isinstance(found, tuple) or found not in AGAIN or time.monotonic() + pause > until:
                    break
                await asyncio.sleep(pause)
                found = await self._once(query, texts, until, tell)
            if isinstance(found, tuple):
                return found
            self._rests_until = time.monotonic() + REST_SECONDS
            _log.warning("the embedding endpoint %s", WORDS[found])
            raise FailedError(WORDS[found] if self._is_ready else GONE)

    async def _once(self, query: str, texts: Sequence[str], until: float, tell: Tell) -> tuple[float, ...] | Reason:
        """Have one embedder ask, and log that; return what it says, or why it says nothing."""
        found = await self._exchange(query, texts, until)
        outcome = "answered" if isinstance(found, tuple) else found
        sent = sum(len(text.encode()) for text in (query, *texts))
        tell(EmbeddedRecord(endpoint=self.endpoint.url, texts=len(texts), bytes=sent, outcome=outcome))
        return found

    async def _exchange(self, query: str, texts: Sequence[str], until: float) -> tuple[float, ...] | Reason:
        """Go through what is said about one question; nothing of it comes later."""
        self._number += 1
        last = until + LEFT_SECONDS
        self._send(Wanted(self._number, max(until - time.monotonic(), 0.1)))
        connected = await self._received((Connected, NotSimilar), asyncio.timeout_at(last))
        if isinstance(connected, NotSimilar):
            return connected.reason
        if not isinstance(connected, Connected):
            return "silent"
        problem = inspection.problem("embedder", connected.pid, connected.layers, self._confining, self._filters + 1)
        if problem:
            self._end(f"an embedder is not confined: {problem}")
            return "unreachable"
        if not self._is_embedder_known:  # the others are as this one: the log has a line for each question besides
            self._is_embedder_known = True
            tell_confinement(self._tell, "embedder", connected.pid, connected.layers)
        self._send(Embed(self._number, query, tuple(texts)))
        found = await self._received((Similar, NotSimilar), asyncio.timeout_at(last))
        if isinstance(found, Similar) and len(found.shares) == len(texts):
            return found.shares
        return found.reason if isinstance(found, NotSimilar) else "silent"

    def _send(self, message: Connect | Wanted | Embed) -> None:
        with suppress(OSError):  # it has ended: nothing comes back
            self._channel.send(pack(message))

    async def _received(
        self, expected: tuple[type[Kind], ...], limit: AbstractAsyncContextManager[object]
    ) -> Kind | None:
        """Return the next message of some kinds about the question at work; None where none comes in time."""
        loop = asyncio.get_running_loop()
        try:
            async with limit:
                while packet := await loop.sock_recv(self._channel, PACKET_BYTES):
                    message = self._unpacker.message(packet[HEADER_BYTES:])
                    is_current = isinstance(message, Connecting) or message.number == self._number
                    if isinstance(message, expected) and is_current:
                        return message
            self._end("it has closed its socket")
        except TimeoutError:
            pass
        except FrameError as broken:
            self._end(f"it broke the protocol: {broken}")
        except OSError:
            self._end("its socket is closed")
        return None

    def _end(self, why: str) -> None:
        """End a connector that cannot be used any more."""
        self.close()
        _log.error("the connector (pid %d) has ended: %s", self._process.pid, why)
        self._tell(KilledRecord(process="connector", pid=self._process.pid, reason=why))
