"""One question to an embedding endpoint, by HTTP/1.0 over a socket that is connected already.

Whatever comes back may be hostile: it is bounded before it is decoded, and only how near each text is leaves this
process. See Ollama's api.md (`/api/embed`), and OpenAI's reference (`/v1/embeddings`), which many servers speak.
"""

import errno
import math
import os
import re
import select
import socket
import time
from collections.abc import Sequence
from operator import mul

import msgspec
from msgspec import Struct

from fledgling.messages.bounded import MAX_CANDIDATES
from fledgling.messages.embedding import Connect, Embed, Protocol, Reason

HEAD_BYTES = 16 * 1024  # of a reply, to the empty line
REPLY_BYTES = 8 * 2**20  # of a reply: 51 vectors of 8,192 numbers have 5 MB
MOST_DIMENSIONS = 8192  # of a vector; the largest models have 4,096
READ_BYTES = 64 * 1024  # at a time
# In a reply: a number is two bytes of it, and 32 of memory.
_MOST_VALUES = (MAX_CANDIDATES + 1) * (MOST_DIMENSIONS + 8) + 64
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9][0-9])(?: [^\r\n]*)?\r?\n")
_LENGTH = re.compile(rb"(?im)^content-length:[ \t]*([0-9]{1,9})[ \t]*\r?$")
_ENCODED = re.compile(rb"(?im)^(?:transfer|content)-encoding:[ \t]*(?!identity[ \t]*\r?$)")
_BUSY = (408, 429, 500, 502, 503, 504)  # statuses of an endpoint that may answer the next time

Vector = list[float]


class EndpointError(Exception):
    """The endpoint was asked in vain: `EndpointError("silent").reason` is "silent"."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


class _Item(Struct):
    index: int
    embedding: Vector


class _OpenAI(Struct):
    data: list[_Item]


class _Ollama(Struct):
    embeddings: list[Vector]


def connected(order: Connect, until: float) -> socket.socket:
    """Return a socket that is connected to the endpoint, and does not block. Raises EndpointError."""
    family = socket.AF_INET6 if ":" in order.address else socket.AF_INET
    connection = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    address = (order.address, order.port)
    failed = connection.connect_ex(address)
    if failed == errno.EINPROGRESS:
        _wait(connection, until, to_write=True)
        failed = connection.connect_ex(address)
    if failed not in (0, errno.EISCONN):
        raise EndpointError("unreachable")
    return connection


def ask(connection: socket.socket, order: Connect, asked: Embed, until: float) -> list[float]:
    """Return the cosine of each text and the question. Raises EndpointError.

    >>> ask(connection, order, Embed(1, "retry uploads", ("def retry(): ...", "def paint(): ...")), until)
    [0.81, 0.22]
    """
    try:
        _write(connection, request(order, [asked.query, *asked.texts]), until)
        status, body = _reply(connection, until)
    except OSError:
        raise EndpointError("cut") from None
    if status != 200:
        raise EndpointError("busy" if status in _BUSY else "status")
    first, *others = vectors(body, order.protocol, len(asked.texts) + 1)
    return [_cosine(first, other) for other in others]


def request(order: Connect, texts: Sequence[str]) -> bytes:
    """Return the request for vectors of some texts. By HTTP/1.0 a reply is never in chunks."""
    body = msgspec.json.encode({"model": order.model, "input": texts, **_FURTHER[order.protocol]})
    host = f"[{order.address}]" if ":" in order.address else order.address
    head = (
        f"POST {order.path} HTTP/1.0\r\nHost: {host}:{order.port}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json\r\nAccept-Encoding: identity\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode("ascii") + body


_FURTHER: dict[Protocol, dict[str, object]] = {"ollama": {"truncate": True}, "openai": {"encoding_format": "float"}}


def vectors(body: bytes | bytearray, protocol: Protocol, count: int) -> list[Vector]:
    """Return the vectors of a reply, so many of one length. Raises EndpointError.

    >>> vectors(b'{"embeddings": [[1, 0], [0.5, 1]]}', "ollama", 2)
    [[1.0, 0.0], [0.5, 1.0]]
    """
    if body.count(b",") + body.count(b"[") + body.count(b"{") > _MOST_VALUES:
        raise EndpointError("too long")
    try:
        found = _decoded(body, protocol)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise EndpointError("garbage") from None
    lengths = {len(vector) for vector in found}
    if len(found) != count or len(lengths) != 1 or not 1 <= max(lengths) <= MOST_DIMENSIONS:
        raise EndpointError("dimensions")
    return found


def _decoded(body: bytes | bytearray, protocol: Protocol) -> list[Vector]:
    if protocol == "ollama":
        return msgspec.json.decode(body, type=_Ollama).embeddings
    items = sorted(msgspec.json.decode(body, type=_OpenAI).data, key=lambda item: item.index)
    if [item.index for item in items] != [*range(len(items))]:
        raise EndpointError("dimensions")
    return [item.embedding for item in items]


def _cosine(one: Vector, other: Vector) -> float:
    length = math.hypot(*one) * math.hypot(*other)
    share = sum(map(mul, one, other)) / length if length else 0.0
    if not math.isfinite(share) or not math.isfinite(length):
        raise EndpointError("garbage")
    return max(-1.0, min(1.0, share))


def _write(connection: socket.socket, data: bytes, until: float) -> None:
    rest = memoryview(data)
    while rest:
        _wait(connection, until, to_write=True)
        rest = rest[os.write(connection.fileno(), rest) :]


def _reply(connection: socket.socket, until: float) -> tuple[int, bytearray]:
    """Return the status and the body of a reply, which ends where it says, or where the connection does."""
    read, end = bytearray(), -1
    while end < 0:
        _read(connection, read, until)
        end = _head_end(read)
        if end < 0 and len(read) > HEAD_BYTES:
            raise EndpointError("garbage")
    head = bytes(read[:end])
    status, said = _STATUS.match(head), _LENGTH.findall(head)
    if not status or _ENCODED.search(head) or len({*said}) > 1:
        raise EndpointError("garbage")
    length = int(said[0]) if said else None
    if length is not None and length > REPLY_BYTES:
        raise EndpointError("too long")
    del read[:end]
    while length is None or len(read) < length:
        if not _read(connection, read, until, may_end=length is None):
            break
        if len(read) > REPLY_BYTES:
            raise EndpointError("too long")
    return int(status[1]), read


def _head_end(read: bytearray) -> int:
    """Return where the body begins, or -1."""
    ends = [at + len(mark) for mark in (b"\r\n\r\n", b"\n\n") if (at := read.find(mark, 0, HEAD_BYTES)) >= 0]
    return min(ends, default=-1)


def _read(connection: socket.socket, into: bytearray, until: float, *, may_end: bool = False) -> bool:
    """Add what comes next; return whether anything did. Raises EndpointError where it ends too early."""
    _wait(connection, until, to_write=False)
    data = os.read(connection.fileno(), READ_BYTES)
    if not data and not may_end:
        raise EndpointError("cut")
    into += data
    return bool(data)


def _wait(connection: socket.socket, until: float, *, to_write: bool) -> None:
    """Wait until the socket can be used, or has failed. Raises EndpointError past the time there is.

    Not by poll(2), which takes no more descriptors than a process may open: that is none.
    """
    left = until - time.monotonic()
    reads, writes = ([], [connection]) if to_write else ([connection], [])
    if left <= 0 or select.select(reads, writes, [], left) == ([], [], []):
        raise EndpointError("silent")
