"""The connections of a socket: how many there may be, how long each may take, and how they end."""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from fledgling.broker.protocol.http import framing
from fledgling.broker.protocol.http.listening import Listening

HEAD_SECONDS = 10.0  # from a connection, or the first byte of a further request, to the end of its headers
ACCEPTED_AT_ONCE = (
    8  # then those before are heard: who is accepted in a storm says whose it is before it has to make way
)
KEEP_ALIVE_SECONDS = 30  # that a connection may wait for its next request
ENDING_SECONDS = 1.0  # for what is under way after that


class Connection(H11Protocol):
    """A connection of uvicorn's that has to make way, and to say what it wants in time."""

    def __init__(self, config: uvicorn.Config, state: ServerState, limit: int, tell: Callable[[str], None]) -> None:
        super().__init__(config, state, {})
        self.conn = self._framing = framing.Strict()
        self._limit = limit
        self._tell = tell
        self._late: asyncio.TimerHandle | None = None
        self.since = self.loop.time()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; where there are too many, one that is not served makes way: the oldest of whoever has most."""
        super().connection_made(transport)
        self._late = self.loop.call_later(HEAD_SECONDS, self._end, 408, "no request in time")
        if len(self.connections) > self._limit:
            others = [other for other in self.connections if isinstance(other, Connection)]
            count = Counter(other.agent() for other in others)
            waiting = [other for other in others if not other.is_served()]
            ended = min(waiting, key=lambda other: (-count[other.agent()], other.since))
            ended.transport.abort()
            self.connections.discard(ended)  # now, not when its loss is heard: more may be accepted before that

    def data_received(self, data: bytes) -> None:
        """Take what has come; from the first byte of a request, the clock runs."""
        if self.conn.their_state in (h11.MUST_CLOSE, h11.CLOSED):
            return  # the last request has said that none comes after it
        super().data_received(data)
        if self.is_asking() and self._late:
            self._late.cancel()
            self._late = None
        elif not self.is_asking() and not self._late:
            self._late = self.loop.call_later(HEAD_SECONDS, self._end, 408, "no request in time")

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        if self._late:
            self._late.cancel()
        super().connection_lost(exc)

    def is_asking(self) -> bool:
        """Return whether a request is at work."""
        return self._cycle is not None and not self._cycle.response_complete

    def is_served(self) -> bool:
        """Return whether a request is at work that is not going to be refused."""
        return self.is_asking() and not self._state.get("is_refused")

    def is_calling(self) -> bool:
        """Return whether a request is at work that will have an end."""
        return self.is_served() and self._cycle is not None and self._cycle.scope["method"] == "POST"

    def agent(self) -> str | None:
        """Return whose it is, as far as its last request has said."""
        return self._state.get("agent")

    def is_expired(self) -> bool:
        """Return whether the token of its last request is out of date by now."""
        return time.time() > float(self._state.get("until", math.inf))

    @property
    def _state(self) -> dict[str, Any]:
        return self._cycle.scope["state"] if self._cycle else {}

    @property
    def _cycle(self) -> RequestResponseCycle | None:
        return self.cycle  # None before the first request, whatever its type says

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        """Answer what is no request, or could be read as more than one."""
        self._end(*self._framing.problem)

    def _end(self, status: int, reason: str) -> None:
        """Refuse, if no answer has begun, and close."""
        if self.transport.is_closing():
            return
        self._tell(reason)
        if self._cycle:
            self._cycle.disconnected = True  # it has nobody to answer any more
            self._cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            text = reason.encode()
            headers = [("content-type", "text/plain"), ("content-length", str(len(text))), ("connection", "close")]
            sent = b"" if self._framing.method == b"HEAD" else text
            events = (h11.Response(status_code=status, headers=headers), h11.Data(sent), h11.EndOfMessage())
            self.transport.write(b"".join(self.conn.send(event) or b"" for event in events))
        self.transport.close()


class ServedSocket:
    """A socket that is served: its connections."""

    def __init__(self, app: ASGIApp, listening: Listening, limit: int, tell: Callable[[str], None]) -> None:
        config = uvicorn.Config(
            app,
            loop="none",
            http=Connection,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
        )
        config.load()
        self.state = ServerState()
        self._listening = listening
        self._connection = partial(Connection, config, self.state, limit, tell)

    async def accept(self) -> asyncio.Server:
        """Begin to serve."""
        loop = asyncio.get_running_loop()
        return await loop.create_server(self._connection, sock=self._listening.socket, backlog=ACCEPTED_AT_ONCE)

    def connections(self) -> list[Connection]:
        """Return those that are open."""
        return [each for each in self.state.connections if isinstance(each, Connection)]

    def end(self, agents: Collection[str]) -> None:
        """Close what these agents have open, whatever is at work on it."""
        for connection in self.connections():
            if connection.agent() in agents:
                connection.transport.abort()

    def expire(self) -> None:
        """Close what was opened with tokens that are out of date by now."""
        for connection in self.connections():
            if connection.is_expired():
                connection.transport.abort()

    async def close(self, seconds: float) -> None:
        """Close all; calls at work are waited for, streams are not."""
        for connection in self.connections():
            if not connection.is_calling():
                connection.transport.abort()
        at_work = {task for task in self.state.tasks if not task.done()}
        if at_work and any(connection.is_calling() for connection in self.connections()):
            await asyncio.wait(at_work, timeout=seconds)
        for connection in self.connections():
            connection.transport.abort()
        if self.state.tasks:
            await asyncio.wait(self.state.tasks, timeout=ENDING_SECONDS)
