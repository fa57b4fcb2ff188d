"""Frames on a pipe: four bytes of length, big-endian, then one message as MessagePack.

The only place that turns messages into bytes and back. A frame that is too long, holds too many values or does not
decode is a FrameError: the other side is broken or lies, and the one who reads it ends the conversation.
"""

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

import msgspec

MAX_FRAME_BYTES = 16 * 2**20  # above the largest answer a profile allows: 7 MB as JSON, up to 2.25 times that packed
MAX_VALUES = 2**17  # in a frame: an empty list is one byte of it, and 80 bytes of memory
HEADER_BYTES = 4
PLACE = re.compile(r" - at `(\$[\w.\[\]]*+)`\Z", re.ASCII)  # in a message, as msgspec names it: `$.files[...].path`

Message = TypeVar("Message")
Item = TypeVar("Item")


class FrameError(Exception):
    """What came over the pipe is no message of the expected type."""


class CutFrameError(FrameError):
    """The other side has ended, or closed the pipe, in the middle of a frame."""

    def __init__(self) -> None:
        super().__init__("the pipe closed in the middle of a frame")


def pack(message: msgspec.Struct) -> bytes:
    """Return one whole frame: `pack(Cancel(7))` is `00 00 00 11` and 17 bytes of MessagePack."""
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(HEADER_BYTES, "big") + body


def together(items: Iterable[Item], size: Callable[[Item], int], most: int) -> Iterator[list[Item]]:
    """Yield as many items at a time as one message is to hold: past `most` bytes another begins.

    >>> list(together(["ab", "cd", "e"], len, 3))
    [['ab', 'cd'], ['e']]
    """
    some: list[Item] = []
    held = 0
    for item in items:
        some.append(item)
        held += size(item)
        if held > most:
            yield some
            some, held = [], 0
    if some:
        yield some


# What the first byte of a value says, see msgpack's spec.md: how many bytes of it are there at least, and how many of
# them, behind the first, tell the length of the rest. Of a list or map that is the head; values of their own follow.
_AT_LEAST = [1] * 0xA0 + list(range(1, 33)) + [1] * 4 + [2, 3, 5, 3, 4, 6, 5, 9, 2, 3, 5, 9, 2, 3, 5, 9]
_AT_LEAST += [3, 4, 6, 10, 18, 2, 3, 5, 3, 5, 3, 5] + [1] * 32
_REST = [0] * 0xC4 + [1, 2, 4, 1, 2, 4] + [0] * 15 + [1, 2, 4] + [0] * 36


def has_more_values(body: bytes | bytearray, most: int) -> bool:
    """Return whether MessagePack holds more than `most` values: `has_more_values(b"\\x92\\0\\0", 2)` is True.

    It is read no further than that takes, and only where it is longer: each value has a byte. What the values are, and
    whether they are whole, the decoder sees.
    """
    if len(body) <= most:
        return False
    place = 0
    for _ in range(most):
        if place >= len(body):
            return False
        first = body[place]
        if rest := _REST[first]:
            place += int.from_bytes(body[place + 1 : place + 1 + rest], "big")
        place += _AT_LEAST[first]
    return place < len(body)


class Unpacker(Generic[Message]):
    """Decodes frames of one type, a union of tagged Structs, of so many bytes and values: `Unpacker(ToWorker)`."""

    def __init__(self, expected: object, limit: int = MAX_FRAME_BYTES, values: int = MAX_VALUES) -> None:
        self._limit = limit
        self._values = values
        self._decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(expected)

    def length(self, header: bytes | bytearray) -> int:
        """Return how many bytes follow the header; raise FrameError past the limit, before anything is read."""
        length = int.from_bytes(header, "big")
        if length > self._limit:
            raise FrameError(f"a frame of {length} bytes is over the limit of {self._limit}")
        return length

    def message(self, body: bytes | bytearray) -> Message:
        """Return the decoded body; raise FrameError for anything else than one message of the type."""
        if has_more_values(body, self._values):
            raise FrameError(f"a frame holds more than {self._values} values")
        try:
            return self._decoder.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
            place = PLACE.search(str(problem))  # a value is its sender's, and is not shown
            at = f" at {place[1]}" if place else ""
            raise FrameError(f"a frame does not decode: {type(problem).__name__}{at}") from problem


class Pipe(Generic[Message]):
    """The blocking end that a back process holds: reads messages from one descriptor, writes to another."""

    def __init__(
        self,
        expected: object,
        source: int = 0,
        sink: int = 1,
        values: int = MAX_VALUES,
        limit: int = MAX_FRAME_BYTES,
    ) -> None:
        self._unpacker: Unpacker[Message] = Unpacker(expected, limit, values)
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
            raise CutFrameError  # or it is empty, which no message is
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

    def _read(self, count: int) -> bytearray:
        received = bytearray(count)
        at = 0
        with memoryview(received) as room:
            while at < count:
                length = os.readv(self._source, [room[at:]])
                if not length and at:
                    raise CutFrameError
                if not length:
                    return bytearray()
                at += length
        return received
