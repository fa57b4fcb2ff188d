"""How the lines of an audit log are chained: each holds the hash of the line before.

A chain shows a line that was changed, removed, inserted or moved, but not that its end is missing: who keeps the last
hash elsewhere sees that too.
"""

import hashlib
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

BEGINNING = b'{"event":"'  # of every line


class ChainLink(Struct):
    """What every line has, of whatever version."""

    event: str
    time: datetime
    sequence: int
    previous: str


_LINK = msgspec.json.Decoder(ChainLink)


class Chain:
    """Where a chain of lines ends: how many there are, and what the next one must hold as `previous`.

    What a crash or a full disk has left of a line is hashed together with the whole line before it, so neither can go.
    """

    def __init__(self) -> None:
        self.sequence = 0
        self.is_ended = True  # by a line break
        self._end: Any = None

    @property
    def hash(self) -> str:
        """The SHA-256 of the last line, in hexadecimal; "" before the first."""
        return self._end.hexdigest() if self._end else ""

    def append(self, data: bytes) -> None:
        """Go on over lines, or a part of one, as they stand in the file."""
        if not data:
            return
        if not self.is_ended and data.startswith(b"\n"):
            data = data[1:]
        *ended, rest = data.split(b"\n")
        for line in ended:
            self.line(line)
        self.is_ended = not rest
        if rest:
            self.line(rest)

    def line(self, line: bytes) -> ChainLink | None:
        """Go on over one line; None where it is torn: no record."""
        try:
            link = _LINK.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            if self._end:
                self._end.update(b"\n" + line)
            else:
                self._end = hashlib.sha256(line)
            return None
        self.sequence = link.sequence
        self._end = hashlib.sha256(line)
        return link
