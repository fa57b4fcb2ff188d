"""Where a request of HTTP/1.1 ends: one reading of it, or none.

Everything that decides that is here. h11 parses, and takes more than RFC 9112 lets a server be sure of: a length beside
chunks, lines that end in LF alone or go on, one length said twice. A proxy before this server may read such a request
differently, and take a part of it for the next one, which is then another agent's (CWE-444). So the bytes of each head,
and those between chunks, are looked at once more as they came, and what is not plain ends the connection.
"""

import re
from typing import NoReturn

import h11

MAX_HEAD = 2**14  # bytes of a request's first line and fields
MAX_FIELDS = 100  # header fields of a request; clients of MCP and their proxies send about twenty
MAX_BETWEEN = 2**15  # bytes of a body's sizes and extensions of chunks, which no length of the body counts

_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")  # CR and LF too: pairs of them are cut at before
_LENGTH = re.compile(rb"0|[1-9][0-9]{0,18}")  # below 2**63
_EXTENSION = rb"(?:;[\t\x20-\x7e\x80-\xff]*)?"
_BETWEEN = re.compile(rb"(?:\r\n)?[0-9A-Fa-f]{1,16}" + _EXTENSION + rb"\r\n")
_END = re.compile(rb"(?:\r\n)?0{1,16}" + _EXTENSION + rb"\r\n\r\n")

_Event = h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]
_Field = tuple[bytes, bytes]


class Strict(h11.Connection):
    """The server's end of a connection, which takes no request that could be read in two ways.

    `problem` is the status and the reason once it has refused one, and nothing may be read after that; `method` is that
    of the last request.
    """

    def __init__(self) -> None:
        super().__init__(h11.SERVER, MAX_HEAD)
        self.problem = (400, "this is not a request of HTTP/1.1")
        self.method = b""
        self._is_chunked = False
        self._between = b""  # two chunks: what was read and belongs to neither
        self._between_length = 0

    def next_event(self) -> _Event:
        """Return what comes next, as h11 does; raise h11.RemoteProtocolError for what is not plain."""
        is_head = self.their_state is h11.IDLE
        if not (is_head or self._is_chunked):
            return super().next_event()
        before, _ = self.trailing_data
        try:
            event = super().next_event()
        except h11.RemoteProtocolError as wrong:
            if wrong.error_status_hint == 431 and is_head:
                self.problem = (431, f"a head of more than {MAX_HEAD} bytes")
            raise
        rest, _ = self.trailing_data
        read = before[: len(before) - len(rest)]
        if isinstance(event, h11.Request):
            self.method = event.method
            self._check_head(read, event)
        elif self._is_chunked:
            self._check_between(read, event)
        return event

    def _check_head(self, head: bytes, request: h11.Request) -> None:
        lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
        if not head.endswith(b"\r\n\r\n") or any(_CONTROL.search(line) for line in lines):
            self._refuse("a line that does not end in CR LF, or a control character in it")
        if any(line.startswith((b" ", b"\t")) for line in lines):
            self._refuse("a line that goes on")
        if len(head) > MAX_HEAD:
            self._refuse(f"a head of more than {MAX_HEAD} bytes", 431)
        if len(lines) > 1 + MAX_FIELDS:
            self._refuse(f"more than {MAX_FIELDS} header fields", 431)
        fields = [_field(line) for line in lines[1:]]
        if b"host" not in dict(fields):
            self._refuse("no Host")
        if request.http_version not in (b"1.0", b"1.1"):
            self._refuse("this version of HTTP is not supported", 505)
        self._check_length(request, fields)

    def _check_length(self, request: h11.Request, fields: list[_Field]) -> None:
        lengths = [value for name, value in fields if name == b"content-length"]
        codings = [value for name, value in fields if name == b"transfer-encoding"]
        if len(lengths) + len(codings) > 1:
            self._refuse("Content-Length and Transfer-Encoding, or one of them twice")
        if codings and request.http_version == b"1.0":
            self._refuse("Transfer-Encoding in HTTP/1.0")
        if lengths and not _LENGTH.fullmatch(lengths[0]):
            self._refuse("Content-Length is not a plain number")
        if request.method != b"POST" and (codings or lengths not in ([], [b"0"])):
            self._refuse("a body with a method that takes none here")
        if request.method == b"POST" and not (codings or lengths):
            self._refuse("a POST without Content-Length", 411)
        self._is_chunked = bool(codings)
        self._between, self._between_length = b"", 0

    def _check_between(self, read: bytes, event: _Event) -> None:
        """Look at what stands before the data of a chunk, or ends the last one."""
        data = event.data if isinstance(event, h11.Data) else b""
        self._between += read[: len(read) - len(data)]
        if isinstance(event, h11.Data) and event.chunk_start:
            self._take(_BETWEEN)
        elif isinstance(event, h11.EndOfMessage):
            self._take(_END)
            self._is_chunked = False

    def _take(self, plain: re.Pattern[bytes]) -> None:
        self._between_length += len(self._between)
        if not plain.fullmatch(self._between):
            self._refuse("chunks that are not plain, or a trailer")
        if self._between_length > MAX_BETWEEN:
            self._refuse(f"more than {MAX_BETWEEN} bytes between chunks", 413)
        self._between = b""

    def _refuse(self, reason: str, status: int = 400) -> NoReturn:
        self.problem = (status, reason)
        raise h11.RemoteProtocolError(reason, status)


def _field(line: bytes) -> _Field:
    name, _, value = line.partition(b":")
    return name.lower(), value.strip(b" \t")
