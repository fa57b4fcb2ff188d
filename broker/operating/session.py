"""What agents have stored in a session, in memory, and in a file where the operator names one.

The file is JSON lines, of the broker alone. A line is there, on the disk, before whoever stored it hears so; a start
reads all of them again. What a crash has left of the last line was never answered, and is cut off; any other line that
is not one of ours ends the start, since to leave it out would be to lose it.
"""

import logging
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from fledgling.broker import own_file
from fledgling.broker.operating.records import AnyRecord, SessionBegun, Stored, Tagged
from fledgling.broker.own_file import OwnFileError

MAX_FILE_BYTES = 16 * 2**20  # some 20,000 changes of tasks; a start reads them in half a second
MAX_LINE_BYTES = 2**16  # of a record; the longest task takes a third
VERSION = 2
SHARED = "others may read or write it; own it, and chmod 600 it"
_log = logging.getLogger("fledgling")
_DECODER = msgspec.json.Decoder(AnyRecord)


class SessionError(Exception):
    """The file of a session cannot be used, and why."""


class FullError(Exception):
    """There is no room for another record."""


class Session(Struct):
    """The records there are, and where they are written, if anywhere.

    >>> session = Session()
    >>> session.append(Stored(task))
    >>> len(session.records)
    1
    """

    records: list[Stored | Tagged] = []
    fd: int | None = None
    size: int = 0

    def append(self, record: Stored | Tagged) -> None:
        """Store one record. Raises FullError where there is no room, SessionError where it cannot be written."""
        line = msgspec.json.encode(record) + b"\n"
        if self.size + len(line) > MAX_FILE_BYTES or len(line) > MAX_LINE_BYTES:
            raise FullError
        try:
            _DECODER.decode(line)
        except msgspec.ValidationError as unfit:
            raise SessionError("this could not be read again, and is not stored") from unfit
        if self.fd is not None:
            self._write(self.fd, line)
        self.size += len(line)
        self.records.append(record)

    def _write(self, fd: int, line: bytes) -> None:
        written = 0
        try:
            own_file.check_named(fd)
        except OwnFileError as removed:
            raise SessionError(f"the session file cannot be written: {removed}") from removed
        try:
            while written < len(line):
                written += os.write(fd, line[written:])
            os.fsync(fd)
        except OSError as failed:
            os.ftruncate(fd, self.size)  # it is not answered, and not to be found there later
            raise SessionError(f"the session file cannot be written ({failed.strerror})") from failed


def opened(path: Path, roots: Iterable[str]) -> Session:
    """Open the file of a session, and read what is in it. Raises SessionError."""
    try:
        fd = own_file.opened(path, roots, denied=0o077, shared=SHARED)
    except OwnFileError as wrong:
        raise SessionError(str(wrong)) from wrong
    data = os.pread(fd, MAX_FILE_BYTES + 1, 0)
    if len(data) > MAX_FILE_BYTES:
        raise SessionError(f"it is larger than {MAX_FILE_BYTES} bytes; begin another")
    whole = data.rfind(b"\n") + 1
    records = [_record(number, line) for number, line in enumerate(data[:whole].split(b"\n")[:-1], 1)]
    if records and not isinstance(records[0], SessionBegun):
        raise SessionError("its first line is not that of a session")
    if whole < len(data):
        if not records and not b'{"event":"begun"'.startswith(data[:16]):
            raise SessionError("it is not a session file")
        _log.warning("session file: %d bytes of a line that was never finished are cut off", len(data) - whole)
        os.ftruncate(fd, whole)
    session = Session([record for record in records if not isinstance(record, SessionBegun)], fd, whole)
    if not records:
        line = msgspec.json.encode(SessionBegun(VERSION, datetime.now(UTC))) + b"\n"
        session._write(fd, line)
        session.size = len(line)
    return session


def _record(number: int, line: bytes) -> AnyRecord:
    try:
        record: AnyRecord = _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise SessionError(f"line {number} is not a record of a session; mend it, or begin another file") from None
    if isinstance(record, SessionBegun) and (number > 1 or record.version != VERSION):
        raise SessionError(f"line {number} is of another session, or of another version")
    return record
