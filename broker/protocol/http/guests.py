"""An agent that is served: its own MCP server, and what it may have of that which agents share."""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fledgling.broker.audit_log.writer import AuditLog
from fledgling.broker.operating.operated import Answering
from fledgling.broker.protocol import server, stdio
from fledgling.broker.protocol.http.agents import Agent
from fledgling.broker.protocol.http.refusing import RequestRefused, check_body_headers
from fledgling.broker.protocol.http.turns import TURNS, Turn, taken
from fledgling.settings import NO_AGENTS, Settings

BODY_SECONDS = 10.0  # from the headers to the end of the body
MAX_SESSIONS = 16  # of one agent, in the eras that have sessions
IDLE_SECONDS = 600.0  # without a request or an open stream until a session ends
MAX_REQUESTS = 64  # of one agent at once, its open streams among them; as on standard input, and sessions
MAX_HELD = 2 * stdio.MAX_MESSAGE  # bytes of the bodies of one agent's requests at work

Received = SessionMessage | Exception


class Guest:
    """An agent that is served: its own MCP server, and its share of what it has in common with the others."""

    def __init__(self, agent: Agent, front: Answering, log: AuditLog, settings: Settings) -> None:
        self.agent = agent
        self.log = log
        self._server = server.build(front, log, settings.answers)
        self._serving = {"http": _streamable, "sse": _sse}[settings.transport]
        self._app: ASGIApp | None = None
        self.turns = asyncio.Semaphore(MAX_REQUESTS if settings.agents == NO_AGENTS else TURNS)
        self._requests = 0
        self._held = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Serve the agent for as long as the block lasts."""
        async with self._serving(self._server) as self._app:
            yield

    async def serve(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        """Serve one request, when it is its turn."""
        assert self._app is not None, "serve() comes within open()"
        if self._requests >= MAX_REQUESTS:
            raise RequestRefused(429, f"{MAX_REQUESTS} requests are at work already")
        self._requests += 1
        try:
            if scope["method"] != "POST":
                async with taken(self.turns) as turn:
                    await self._app(scope, receive, _ending(turn, send))
                return
            check_body_headers(headers)
            async with self._body(receive) as data, taken(self.turns):
                try:
                    stdio.message(data)
                except stdio.UnfitLine as unfit:
                    raise RequestRefused(400, str(unfit), unfit.answer()) from None
                await self._app(scope, _replayed(data, receive), send)
        finally:
            self._requests -= 1

    @asynccontextmanager
    async def _body(self, receive: Receive) -> AsyncIterator[bytes]:
        """Yield the body of a request once all of it is there; it counts until the block ends."""
        held = bytearray()
        try:
            try:
                async with asyncio.timeout(BODY_SECONDS):
                    while (event := await receive()).get("more_body") or event.get("body"):
                        held += event["body"]
                        self._held += len(event["body"])
                        if len(held) > stdio.MAX_MESSAGE:
                            raise RequestRefused(413, f"a body of more than {stdio.MAX_MESSAGE} bytes")
                        if self._held > MAX_HELD:
                            raise RequestRefused(429, f"bodies of more than {MAX_HELD} bytes are at work already")
                        if not event.get("more_body"):
                            break
                if event["type"] == "http.disconnect":
                    raise RequestRefused(400, "a body that does not end")
            except TimeoutError:
                raise RequestRefused(
                    408, f"a body that takes more than {BODY_SECONDS:g} s", connection="close"
                ) from None
            yield bytes(held)
        finally:
            self._held -= len(held)


def _ending(turn: Turn, send: Send) -> Send:
    """Return what sends an answer and ends the turn as it begins: it may be a stream that stays open."""

    async def sending(event: Message) -> None:
        turn.end()
        await send(event)

    return sending


def _replayed(data: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read already, and then what comes after it."""
    events: list[Message] = [{"type": "http.request", "body": data, "more_body": False}]

    async def replay() -> Message:
        return events.pop() if events else await receive()

    return replay


@asynccontextmanager
async def _streamable(mcp: Server[None]) -> AsyncIterator[ASGIApp]:
    manager = StreamableHTTPSessionManager(
        mcp,
        session_idle_timeout=IDLE_SECONDS,
        max_request_body_size=stdio.MAX_MESSAGE,
        max_sessions=MAX_SESSIONS,
    )

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if "last-event-id" in Headers(scope=scope):  # the manager has nothing to answer then
            raise RequestRefused(400, "no events are kept; open a stream without Last-Event-ID")
        await manager.handle_request(scope, receive, send)

    async with manager.run():
        yield app


@asynccontextmanager
async def _sse(mcp: Server[None]) -> AsyncIterator[ASGIApp]:
    transport = SseServerTransport("/messages/", max_request_body_size=stdio.MAX_MESSAGE)
    streams = 0

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal streams
        if scope["method"] == "POST":
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # its stream ends; 202 is said by then
                await transport.handle_post_message(scope, receive, send)
            return
        if streams >= MAX_SESSIONS:
            raise RequestRefused(429, f"{MAX_SESSIONS} sessions are open already")
        streams += 1
        try:
            async with transport.connect_sse(scope, receive, send) as (incoming, outgoing):
                await _run_bounded(mcp, incoming, outgoing)
        finally:
            streams -= 1

    yield app


async def _run_bounded(
    mcp: Server[None], incoming: ReadStream[Received], outgoing: WriteStream[SessionMessage]
) -> None:
    """Run a session in which requests without an answer are bounded, as on standard input."""
    unanswered = stdio.Unanswered()
    to_server, received = anyio.create_memory_object_stream[Received](0)
    answers, from_server = anyio.create_memory_object_stream[SessionMessage](math.inf)

    async def read() -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with to_server:
                async for item in incoming:
                    if isinstance(item, SessionMessage):
                        size = len(item.message.model_dump_json())
                        await to_server.send(await unanswered.admitted(item.message, size))

    async def write() -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with from_server:
                async for answer in from_server:
                    await outgoing.send(answer)
                    if isinstance(answer.message, (JSONRPCResponse, JSONRPCError)):
                        unanswered.remove(answer.message.id)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        await mcp.run(received, answers, mcp.create_initialization_options())
        tasks.cancel_scope.cancel()
