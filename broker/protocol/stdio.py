"""MCP's stdio transport with bounds: one message a line, and a line that is none is refused and the next one served.

The SDK's own has no bound for a line, for requests that it has read and not answered, or for answers that nobody reads,
and drops in silence what it cannot parse. Everything that decides how much of a client's bytes is held is here.
"""

import asyncio
import logging
import math
import os
import re
import select
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import anyio
import anyio.lowlevel
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

MAX_MESSAGE = 2**20  # bytes a line; the longest arguments that any tool takes are a fiftieth of it
MAX_PARTS = 2**15  # commas and opening brackets of a line: a value takes up to 60 times the memory of its text
MAX_UNANSWERED = 64  # requests read and not answered: twice the calls at work, so a cancellation still gets through
LAST_WORDS_SECONDS = 1.0  # for the answers under way when the client has closed its end
_CHUNK = 2**16

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]

_LINE = re.compile(rb"\S[^\n]*")  # not a blank one: those are nobody's message
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")  # JSON.stringify writes half of a pair so, too
_log = logging.getLogger("fledgling")


class UnfitLine(Exception):
    """A line is no message; `code`, `id` and the text are those of the error that goes back."""

    def __init__(self, problem: str, code: int = INVALID_REQUEST, id: RequestId | None = None) -> None:  # noqa: A002
        super().__init__(problem)
        self.code, self.id = code, id

    def answer(self) -> JSONRPCError:
        """Return what goes back."""
        return JSONRPCError(jsonrpc="2.0", id=self.id, error=ErrorData(code=self.code, message=str(self)))


class _Request(msgspec.Struct):
    """What must be readable of a bad request for its sender to learn which one it was."""

    method: object
    id: RequestId


class _Identified(msgspec.Struct):
    """Whether a message says that it wants an answer, though its id may be none that an answer could have."""

    id: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_REQUEST = msgspec.json.Decoder(_Request)
_IDENTIFIED = msgspec.json.Decoder(_Identified)


@asynccontextmanager
async def transport(refused: Callable[[UnfitLine], None]) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Yield the two streams of a client on standard input and output; `refused` hears of every line that is no message.

    While it lasts, what is printed goes to standard error: standard output is the wire's alone.
    """
    source, sink = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    # Without a bound of its own, so that a cancellation never falls between an answer and its way out: Unanswered is
    # the bound.
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](math.inf)
    unanswered = Unanswered()
    async with anyio.create_task_group() as tasks:

        async def read() -> None:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the server has ended
                async with to_server:
                    async for line in lines(source):
                        try:
                            received = message(line)
                        except UnfitLine as unfit:
                            refused(unfit)
                            await unanswered.admit(unfit.id, 0)
                            await outgoing.send(SessionMessage(unfit.answer()))
                        else:
                            await to_server.send(await unanswered.admitted(received, len(line)))

        async def write() -> None:
            async with from_server:
                async for answer in from_server:
                    text = answer.message.model_dump_json(by_alias=True, exclude_unset=True)
                    try:
                        await _write(sink, text.encode() + b"\n")
                    except OSError as gone:
                        _log.warning("the client reads no more: %s", gone.strerror)
                        tasks.cancel_scope.cancel()
                        return
                    if isinstance(answer.message, (JSONRPCResponse, JSONRPCError)):
                        unanswered.remove(answer.message.id)

        tasks.start_soon(read)
        tasks.start_soon(write)
        yield incoming, outgoing
        outgoing.close()
        tasks.cancel_scope.deadline = anyio.current_time() + LAST_WORDS_SECONDS


class Unanswered:
    """Requests that were read and not answered. While they are too many or too large together, no further one is read.

    So a client that writes and never reads fills its own pipe, not our memory.
    """

    def __init__(self) -> None:
        self._sizes: dict[RequestId | None, list[int]] = {}  # a client may use one id twice
        self._count = 0
        self._bytes = 0
        self._removed = asyncio.Event()

    async def admitted(self, received: JSONRPCMessage, size: int) -> SessionMessage:
        """Return the message for the server, once there is room for it if it is a request."""
        if not isinstance(received, JSONRPCRequest):
            return SessionMessage(received)
        await self.admit(received.id, size)

        async def settled() -> None:  # the SDK's hook for a request that was cancelled and gets no answer
            self.remove(received.id)

        return SessionMessage(received, ServerMessageMetadata(on_request_unanswered=settled))

    async def admit(self, request: RequestId | None, size: int) -> None:
        """Count a request of this many bytes once there is room for it; one alone always has."""
        while self._count >= MAX_UNANSWERED or (self._count and self._bytes + size > MAX_MESSAGE):
            self._removed.clear()
            await self._removed.wait()
        self._sizes.setdefault(request, []).append(size)
        self._count += 1
        self._bytes += size

    def remove(self, request: RequestId | None) -> None:
        """Count a request no more: its answer is written, or it gets none."""
        sizes = self._sizes.get(request)
        if sizes:
            self._count -= 1
            self._bytes -= sizes.pop()
            if not sizes:
                del self._sizes[request]
            self._removed.set()


async def lines(source: int) -> AsyncIterator[bytes]:
    """Yield the lines of a descriptor, blank ones left out, a longer one cut a byte past MAX_MESSAGE.

    A longer one is yielded as soon as it is too long, and skipped to its end.
    """
    held = bytearray()
    is_skipping = False
    while chunk := await _read(source):
        if is_skipping:
            _, newline, chunk = chunk.partition(b"\n")
            is_skipping = not newline
        complete, newline, rest = chunk.rpartition(b"\n")
        if newline:
            for found in _LINE.finditer(held + complete):
                yield found[0][: MAX_MESSAGE + 1]
            held.clear()
        held += rest
        if len(held) > MAX_MESSAGE:
            yield bytes(held[: MAX_MESSAGE + 1])
            held.clear()
            is_skipping = True
    if last := held.strip():
        yield bytes(last)


def message(line: bytes) -> JSONRPCMessage:
    r"""Return the message of a line, or raise Unfit: `message(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}')`."""
    if len(line) > MAX_MESSAGE:
        raise UnfitLine(f"a message of more than {MAX_MESSAGE} bytes; send a shorter one, on one line")
    if line.count(b",") + line.count(b"[") + line.count(b"{") > MAX_PARTS:
        raise UnfitLine(f"a message of more than {MAX_PARTS} values; send fewer")
    try:
        received = jsonrpc_message_adapter.validate_json(line, by_name=False)
        has_unfit_id = isinstance(received, JSONRPCNotification) and _IDENTIFIED.decode(line).id is not msgspec.UNSET
    except (ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # pydantic takes NaN for JSON
        raise _unfit(line) from None
    if has_unfit_id:
        raise UnfitLine("an id that is neither text nor a whole number")  # or who sent it would wait for ever
    return received


def _unfit(line: bytes) -> UnfitLine:
    if line.startswith(b"["):
        return UnfitLine("a batch of messages; send one message a line")
    try:
        return UnfitLine("not a JSON-RPC 2.0 message", id=_REQUEST.decode(line).id)
    except msgspec.ValidationError:
        return UnfitLine("not a JSON-RPC 2.0 message")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            identified = _REQUEST.decode(_SURROGATE.sub(rb"\\ufffd", line))
            return UnfitLine("half of a surrogate pair in a text; send whole characters", id=identified.id)
        return UnfitLine("not JSON in UTF-8; send one message a line", PARSE_ERROR)


# Without threads, which cannot be ended, and without O_NONBLOCK, which would hold for whoever shares the terminal.


async def _read(source: int) -> bytes:
    await _ready(anyio.wait_readable, source)
    return os.read(source, _CHUNK)


async def _write(sink: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        await _ready(anyio.wait_writable, sink)
        rest = rest[os.write(sink, rest[: select.PIPE_BUF]) :]


async def _ready(wait: Callable[[int], Awaitable[None]], descriptor: int) -> None:
    try:
        await wait(descriptor)
    except PermissionError:  # a regular file: it always is
        await anyio.lowlevel.checkpoint()
