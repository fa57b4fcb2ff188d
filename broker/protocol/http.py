"""MCP over HTTP: Streamable HTTP at /mcp, or the deprecated SSE, for several agents with a token each.

Everything that decides what is refused before it is a message is here. Each agent has a server, a front, an index and
workers of its own; they share the socket, the event loop and the audit log, so what one may hold of these is bounded.
"""

import asyncio
import hmac
import logging
import math
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import Any

import anyio
import h11
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, ErrorData, JSONRPCError, JSONRPCResponse
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from fledgling.broker.audit_log.records import MessageRecord
from fledgling.broker.audit_log.writer import AuditLog
from fledgling.broker.basis import Basis
from fledgling.broker.front import Front, Report
from fledgling.broker.operating.operated import Answering
from fledgling.broker.protocol import agents, framing, server, stdio
from fledgling.broker.protocol.agents import Agent, WatchedFile
from fledgling.broker.protocol.listening import BACKLOG, Listening
from fledgling.broker.protocol.monitor import MAX_CONNECTIONS, Monitor
from fledgling.config import NO_AGENTS, Settings
from fledgling.messages.answers import AnyAnswer, Refusal
from fledgling.messages.generations import LISTING
from fledgling.messages.questions import AnyQuestion

HEAD_SECONDS = 10.0  # from a connection, or the first byte of a further request, to the end of its headers
BODY_SECONDS = 10.0  # from the headers to the end of the body
KEEP_ALIVE_SECONDS = 30  # that a connection may wait for its next request
MAX_SESSIONS = 16  # of one agent, in the eras that have sessions
IDLE_SECONDS = 600.0  # without a request or an open stream until a session ends
MAX_REQUESTS = 64  # of one agent at once, its open streams among them; as on standard input, and sessions
MAX_HELD = 2 * stdio.MAX_MESSAGE  # bytes of the bodies of one agent's requests at work
SPARE_CONNECTIONS = 64  # on top of MAX_REQUESTS for each agent: those that have not yet said whose they are
TURNS = 1  # requests of one of several agents, or of nobody, worked on at once, refused ones too: others do not wait
TURN_SECONDS = 1.0  # until a request no longer counts as one of those: its client does not read what it asked for
CALLS_SECONDS = 8.0  # for calls at work when the server is told to end; supervisors wait ten or more
ENDING_SECONDS = 1.0  # for what is under way after that
LOOK_SECONDS = 1.0  # between two looks at the file of agents
TOLD_SECONDS = 1.0  # between two lines about requests that are nobody's: whoever can connect could fill the log

Paths = Mapping[str, tuple[str, ...]]
PATHS: Mapping[str, Paths] = {  # transport -> path -> methods
    "http": {"/mcp": ("GET", "POST", "DELETE")},
    "sse": {"/sse": ("GET",), "/messages/": ("POST",)},
}

# Headers that mean something here, and nothing clear if they stand twice; HTTP itself refuses a second Host or length.
SINGLE = (
    "origin",
    "authorization",
    "content-type",
    "content-encoding",
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
)

Received = SessionMessage | Exception
_log = logging.getLogger("fledgling")


class RequestRefused(Exception):
    """A request is not served: the status and the reason that go back."""

    def __init__(self, status: int, reason: str, answer: JSONRPCError | None = None, **headers: str) -> None:
        super().__init__(reason)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answer = answer or JSONRPCError(
            jsonrpc="2.0", id=None, error=ErrorData(code=INVALID_REQUEST, message=reason)
        )

    def response(self) -> Response:
        """Return what goes back."""
        text = self.answer.model_dump_json(by_alias=True, exclude_unset=True)
        return Response(text, self.status, self.headers, media_type="application/json")


# ---- before it is known whose a request is --------------------------------------------------------------------------


def check_head(scope: Scope, headers: Headers, listening: Listening, paths: Paths) -> None:
    """Refuse what no agent may ask, whatever its token."""
    target = scope["raw_path"].decode("latin-1")
    if not target.startswith("/"):  # an absolute one would count in place of Host
        raise RequestRefused(404, "nothing is served here; ask for a path", connection="close")
    if is_expecting(scope, headers) and (headers.getlist("expect") != ["100-continue"] or scope["method"] != "POST"):
        raise RequestRefused(417, "nothing is expected here but 100-continue, of a POST")
    if headers["host"].lower() not in listening.hosts:
        raise RequestRefused(421, "this Host is not served here")
    for name in SINGLE:
        if len(headers.getlist(name)) > 1:
            raise RequestRefused(400, f"{name} stands twice", connection="close")
    if "origin" in headers and headers["origin"].lower() not in listening.origins:
        raise RequestRefused(403, "this Origin is not served here")
    methods = paths.get(target)
    if methods is None:
        raise RequestRefused(404, "there is nothing here")
    if scope["method"] not in methods:
        raise RequestRefused(405, "not a method of this path", allow=", ".join(methods))


def is_expecting(scope: Scope, headers: Headers) -> bool:
    """Return whether the client may wait before it sends the body: then it is not known what comes after a refusal."""
    return "expect" in headers and scope["http_version"] != "1.0"


def token(headers: Headers) -> str:
    """Return the token of a request: `Authorization: Bearer TOKEN`, and nothing else."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not given:
        raise RequestRefused(401, "no token; send Authorization: Bearer TOKEN", www_authenticate="Bearer")
    return given


def check_body_headers(headers: Headers) -> None:
    """Refuse a body of another kind, or one that says itself that it is too long."""
    kind, _, parameter = headers.get("content-type", "").lower().partition(";")
    if kind.strip() != "application/json" or parameter.strip().replace('"', "") not in ("", "charset=utf-8"):
        raise RequestRefused(415, "Content-Type is not application/json")
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise RequestRefused(415, "a body may not be encoded")
    if int(headers.get("content-length", 0)) > stdio.MAX_MESSAGE:  # HTTP has seen that it is a number
        raise RequestRefused(413, f"a body of more than {stdio.MAX_MESSAGE} bytes")


# ---- one agent ------------------------------------------------------------------------------------------------------


class Turn:
    """One of the requests of an agent, or of nobody, that this process works on; not while it waits for the worker."""

    def __init__(self, turns: asyncio.Semaphore) -> None:
        self._turns = turns
        self._is_taken = False
        self._is_over = False

    async def take(self) -> None:
        """Wait for it, unless the request has had its time."""
        if not self._is_over:
            await self._turns.acquire()
            self._is_taken = True
            if self._is_over:
                self.give()

    def give(self) -> None:
        """Let another request have it."""
        if self._is_taken:
            self._is_taken = False
            self._turns.release()

    def end(self) -> None:
        """Let another have it, for good."""
        self._is_over = True
        self.give()


_turn: ContextVar[Turn | None] = ContextVar("turn", default=None)


@asynccontextmanager
async def _taken(turns: asyncio.Semaphore) -> AsyncIterator[Turn]:
    """Wait for a turn, and have it for as long as the block lasts, but no longer than TURN_SECONDS."""
    turn = Turn(turns)
    _turn.set(turn)
    await turn.take()
    over = asyncio.get_running_loop().call_later(TURN_SECONDS, turn.end)
    try:
        await asyncio.sleep(0)  # or as many as are ready would be refused before anyone else is heard
        yield turn
    finally:
        over.cancel()
        turn.end()


class SharingFront(Front):
    """A front whose questions give their turn back while the worker has them."""

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[None]:
        """Give the turn back until the block ends."""
        turn = _turn.get()
        if turn is None:
            yield
            return
        turn.give()
        try:
            yield
        finally:
            await turn.take()

    async def ask(
        self,
        question: AnyQuestion,
        report: Report | None = None,
        *,
        least: int = LISTING,
        deadline: float | None = None,
        basis: Basis | None = None,
    ) -> AnyAnswer | Refusal:
        """Put one question, as any front does."""
        turn = _turn.get()
        if turn is None:
            return await super().ask(question, report, least=least, deadline=deadline, basis=basis)
        turn.give()
        try:
            return await super().ask(question, report, least=least, deadline=deadline, basis=basis)
        finally:
            await turn.take()


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
                async with _taken(self.turns) as turn:
                    await self._app(scope, receive, _ending(turn, send))
                return
            check_body_headers(headers)
            async with self._body(receive) as data, _taken(self.turns):
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


# ---- the door -------------------------------------------------------------------------------------------------------


class Door:
    """The ASGI application: finds out whose a request is, and hands it to its agent's own server."""

    def __init__(self, listening: Listening, transport: str, guests: Sequence[Guest], log: AuditLog) -> None:
        self._listening = listening
        self._paths = PATHS[transport]
        self._guests = guests
        self._log = log
        self._revoked: frozenset[str] = frozenset()  # names of agents
        self._turns = asyncio.Semaphore(TURNS)
        self._untold = 0
        self._told = -math.inf

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or say why not."""
        headers = Headers(scope=scope)
        guest = None
        try:
            check_head(scope, headers, self._listening, self._paths)
            guest = self._guest(token(headers))
            scope["state"]["agent"] = guest.agent.name
            await guest.serve(scope, headers, receive, send)
        except RequestRefused as refused:
            scope["state"]["is_refused"] = True
            if is_expecting(scope, headers):
                refused.headers["connection"] = "close"
            async with _taken(guest.turns if guest else self._turns):
                self.tell(str(refused), guest)
                await refused.response()(scope, receive, send)

    def _guest(self, given: str) -> Guest:
        """Return who has this token; the time it takes says nothing about which bytes of it are right."""
        digest = agents.digest(given)
        found = [guest for guest in self._guests if hmac.compare_digest(guest.agent.digest, digest)]
        if not found or found[0].agent.name in self._revoked:
            raise RequestRefused(401, "no agent has this token", www_authenticate='Bearer error="invalid_token"')
        return found[0]

    def revoke(self, digests: Collection[str]) -> frozenset[str]:
        """Serve those whose tokens have these hashes and no others; return the names of those who are newly revoked."""
        revoked = {guest.agent.name for guest in self._guests if guest.agent.digest not in digests}
        newly = frozenset(revoked - self._revoked)
        for name in sorted(newly):
            _log.warning("agent %s is revoked", name)
        self._revoked |= newly
        return newly

    def tell(self, reason: str, guest: Guest | None = None) -> None:
        """Put a refusal into the audit log; of what nobody has sent, a line a second."""
        if guest:
            guest.log.tell(MessageRecord(verdict="refused", layer="protocol", reason=reason))
            return
        now = asyncio.get_running_loop().time()
        if now - self._told < TOLD_SECONDS:
            self._untold += 1
            return
        more = f"; {self._untold} more before it" if self._untold else ""
        self._told, self._untold = now, 0
        _log.warning("a request is refused: %s%s", reason, more)
        self._log.tell(MessageRecord(verdict="refused", layer="protocol", reason=reason + more))


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


class _Socket:
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
        return await loop.create_server(self._connection, sock=self._listening.socket, backlog=BACKLOG)

    def connections(self) -> list[Connection]:
        """Return those that are open."""
        return [each for each in self.state.connections if isinstance(each, Connection)]

    def end(self, agents: Collection[str]) -> None:
        """Close what these agents have open, whatever is at work on it."""
        for connection in self.connections():
            if connection.agent() in agents:
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


async def serve(
    listening: Listening,
    transport: str,
    guests: Sequence[Guest],
    log: AuditLog,
    file: WatchedFile | None = None,
    monitor: Monitor | None = None,
) -> bool:
    """Serve until a signal says to end; False where the file of agents is another, which this process cannot open."""
    loop = asyncio.get_running_loop()
    ending = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ending.set)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # what it warns of is told as refused
    door = Door(listening, transport, guests, log)
    sockets = [_Socket(door, listening, len(guests) * MAX_REQUESTS + SPARE_CONNECTIONS, door.tell)]
    if monitor:
        sockets.append(_Socket(monitor, monitor.listening, MAX_CONNECTIONS, door.tell))
    async with AsyncExitStack() as stack:
        for guest in guests:
            await stack.enter_async_context(guest.open())
        accepting = [await socket.accept() for socket in sockets]
        if monitor:
            _log.info("watched at http://%s", monitor.listening.authority)
        _log.info("serving http://%s%s", listening.authority, next(iter(PATHS[transport])))
        try:
            return await _until(ending, door, sockets[0], file)
        finally:
            for each in accepting:
                each.close()
            for socket in sockets:
                await socket.close(CALLS_SECONDS)


async def _until(ending: asyncio.Event, door: Door, socket: _Socket, file: WatchedFile | None) -> bool:
    """Wait for a signal, and meanwhile end what was opened with tokens that are revoked; False as `serve` says."""
    while not ending.is_set():
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS if file else None):
                await ending.wait()
        if file and file.has_replacement():
            return False
        if file and (digests := file.digests()) is not None:
            socket.end(door.revoke(digests))
    return True
