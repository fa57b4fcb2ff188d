"""Frames on a pipe: four bytes of length, big-endian, then one message as MessagePack.

The only place that turns messages into bytes and back. A frame that is too long or does not decode is a FrameError: the
other side is broken or lies, and the one who reads it ends the conversation.
"""

import os
import threading
from typing import Generic, TypeVar

import msgspec

MAX_FRAME_BYTES = 16 * 2**20  # above the largest answer a profile allows: 7 MB as JSON, up to 2.25 times that packed
HEADER_BYTES = 4

Message = TypeVar("Message")


class FrameError(Exception):
    """What came over the pipe is no message of the expected type."""


def pack(message: msgspec.Struct) -> bytes:
    """Return one whole frame: `pack(Cancel(7))` is `00 00 00 11` and 17 bytes of MessagePack."""
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(HEADER_BYTES, "big") + body


class Unpacker(Generic[Message]):
    """Decodes frames of one type, a union of tagged Structs, of at most `limit` bytes: `Unpacker(ToWorker)`."""

    def __init__(self, expected: object, limit: int = MAX_FRAME_BYTES) -> None:
        self._limit = limit
        self._decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(expected)

    def length(self, header: bytes) -> int:
        """Return how many bytes follow the header; raise FrameError past the limit, before anything is read."""
        length = int.from_bytes(header, "big")
        if length > self._limit:
            raise FrameError(f"a frame of {length} bytes is over the limit of {self._limit}")
        return length

    def message(self, body: bytes) -> Message:
        """Return the decoded body; raise FrameError for anything else than one message of the type."""
        try:
            return self._decoder.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
            raise FrameError(f"a frame does not decode: {type(problem).__name__}") from problem


class Pipe(Generic[Message]):
    """The blocking end that a back process holds: reads messages from one descriptor, writes to another."""

    def __init__(self, expected: object, source: int = 0, sink: int = 1) -> None:
        self._unpacker: Unpacker[Message] = Unpacker(expected)
        self._source = source
        self._sink = sink
        self._sending = threading.Lock()

    def receive(self) -> Message | None:
        """Return the next message, or None at the end of the pipe; raise FrameError for anything else."""
        header = self._read(HEADER_BYTES)
        if not header:
            return None
        body = self._read(self._unpacker.length(header))
        if not body:
            raise FrameError("the pipe closed in the middle of a frame, or the frame is empty")
        return self._unpacker.message(body)

    def send(self, message: msgspec.Struct) -> None:
        """Pack and write one message; safe to call from several threads."""
        self.write(pack(message))

    def write(self, frame: bytes) -> None:
        """Write one packed frame whole; safe to call from several threads."""
        rest = memoryview(frame)
        with self._sending:
            while rest:
                rest = rest[os.write(self._sink, rest) :]

    def _read(self, count: int) -> bytes:
        received = bytearray()
        while len(received) < count:
            chunk = os.read(self._source, count - len(received))
            if not chunk and received:
                raise FrameError("the pipe closed in the middle of a frame")
            if not chunk:
                return b""
            received += chunk
        return bytes(received)
