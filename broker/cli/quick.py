"""A question that a running server answers whole: the words go there, and what comes back is printed.

Options are parsed by the server, as the command line parses them; loading that takes four times as long as all of this.
Whatever is not plainly so is left to the command line, and nothing of it is printed here; so is what the server's index
cannot answer yet. It asks again, then, what the server could not answer; such a call is in the server's log twice.
Whoever replies may be no server of ours, so a reply is checked whole before a byte of it is written.
"""

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence

from fledgling import __version__, found
from fledgling.broker.cli.colors import COLORS, PLAIN
from fledgling.broker.control import place

TYPE_CHECKING = False  # as type checkers know it: `typing` is not loaded
if TYPE_CHECKING:
    import socket
    from typing import TextIO

    Reply = tuple[int, bool, str, str]  # of a Printed: the exit code, whether a pager shows it, and what is printed

TOOLS = ("explore", "read", "search", "symbols", "dependencies", "query")  # make docs
SET = ("FLEDGLING_", "_FLEDGLING_")  # how variables begin that set something
SECONDS = 65.0  # to a whole reply: the longest query_timeout of a shipped profile, as no other is asked here, and 5 s
MAX_REPLY_BYTES = 16 * 2**20  # as any frame (fledgling/pipe.py)


def has_color(stream: "TextIO", environment: Mapping[str, str]) -> bool:
    """Return whether output is coloured where nobody says: at a terminal, unless NO_COLOR is set.

    The variable is as on https://no-color.org: set to anything but nothing.
    """
    return stream.isatty() and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def answered(words: Sequence[str], environment: Mapping[str, str]) -> int | None:
    """Print what a server says that a command prints, and return its exit code; None where the command has to run."""
    try:
        reply = _asked(words, environment) if _is_plain(words, environment) else None
        return _shown(reply) if reply else None
    except (OSError, KeyboardInterrupt) as failed:
        from fledgling.broker.cli.failures import end  # noqa: PLC0415  (it says so with all that is saved here)

        end(failed)


def _is_plain(words: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Return whether a command is a question, nothing but its options sets anything, and it can be printed as it is."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    file = found.user_file(environment)
    return (
        bool(words)
        and words[0] in TOOLS
        and all(streams)
        and all(stream.encoding == "utf-8" for stream in streams[1:])
        and not any(name.startswith(SET) for name in environment)
        and not (file and os.path.lexists(file))
    )


def _asked(words: Sequence[str], environment: Mapping[str, str]) -> "Reply | None":
    try:
        root = _root(words, environment)
        request = _request(words, *root, has_color=has_color(sys.stdout, environment)) if root else b""
    except (OSError, ValueError):  # the working directory is gone, or a word is no text
        return None
    if not root:
        return None
    for _, connection in place.connected(environment, place.prefix_of(root[0])):
        if connection and (reply := _reply(connection, request)):
            return reply
    return None


def _shown(reply: "Reply") -> int:
    code, is_paged, *texts = reply

    def show() -> None:
        for stream, text in zip((sys.stdout, sys.stderr), texts, strict=True):
            stream.write(text)
            stream.flush()

    if is_paged and sys.stdout.isatty():
        from fledgling.broker.cli.pager import paged  # noqa: PLC0415  (programs that read what is printed need no pager)

        with paged(wanted=True):
            show()
    else:
        show()
    return code


def _root(words: Sequence[str], environment: Mapping[str, str]) -> tuple[str, str | None] | None:
    """Return the root of a command and the word that names it, if one does; None where that is not plain.

    The server parses the words, and says nothing where they name another. Raises OSError and ValueError.
    """
    options = words[: words.index("--")] if "--" in words else words
    named = [after for word, after in zip(options, words[1:], strict=False) if word == "--root"]
    named += [word.removeprefix("--root=") for word in options if word.startswith("--root=")]
    root = os.path.realpath(named[0] if named else found.root(environment, os.getcwd())[0])
    is_root = os.path.isdir(root) and os.access(root, os.R_OK | os.X_OK) and not found.is_wide(root, environment)
    is_plain = len(named) < 2 and "" not in named and "=" not in "".join(named)
    return (root, named[0] if named else None) if is_root and is_plain else None


# ---- what goes over the socket ---------------------------------------------------------------------------------------


def _request(words: Sequence[str], root: str, named: str | None, *, has_color: bool) -> bytes:
    """Return the frame of an AskCommand (messages/operating.py), as MessagePack has maps and strings."""
    parts = [b"\x86"]
    fields = {"type": "ask_command", "version": __version__, "root": root, "named": named, "has_color": has_color}
    for name, value in fields.items():
        parts += [_text(name), _text(value) if isinstance(value, str) else _CONSTANTS[value]]
    parts += [_text("words"), b"\xdd", len(words).to_bytes(4, "big"), *map(_text, words)]
    body = b"".join(parts)
    return len(body).to_bytes(4, "big") + body


_CONSTANTS = {None: b"\xc0", False: b"\xc2", True: b"\xc3"}


def _text(value: str) -> bytes:
    data = value.encode()
    return b"\xdb" + len(data).to_bytes(4, "big") + data


def _reply(connection: "socket.socket", request: bytes) -> "Reply | None":
    """Ask a server; None where it is of another version, has doubts, or does not answer in time."""
    try:
        connection.settimeout(place.GREETING_SECONDS)
        connection.sendall(request)
        _frame(connection, place.GREETING_SECONDS)  # its greeting
        return _printed(_frame(connection, SECONDS))
    except OSError:
        return None


def _frame(connection: "socket.socket", seconds: float) -> bytes:
    end = time.monotonic() + seconds
    length = int.from_bytes(_received(connection, 4, end), "big")
    if length > MAX_REPLY_BYTES:
        raise OSError
    return _received(connection, length, end)


def _received(connection: "socket.socket", size: int, end: float) -> bytes:
    parts = []
    while size:
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        part = connection.recv(size)
        if not part:
            raise ConnectionResetError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _printed(body: bytes) -> "Reply | None":
    """Return the fields of a Printed (messages/operating.py); None for another reply, or one a terminal would obey."""
    try:
        values = [*_values(body)]
        code, is_paged, *texts = values[3::2]
        out, err = (text.decode() for text in texts if isinstance(text, bytes))
    except (IndexError, ValueError):
        return None
    if values[:2] + values[2::2] != [b"type", b"printed", b"code", b"is_paged", b"out", b"err"]:
        return None
    if type(code) is not int or type(is_paged) is not bool:
        return None
    return (code, is_paged, out, err) if _is_harmless(out) and _is_harmless(err) else None


def _values(body: bytes) -> Iterator[bytes | int]:
    """Yield short strings, bytes, flags and small numbers, which is all that there is in a Printed.

    Raises IndexError and ValueError where it holds more, less or anything else.
    """
    at = 1
    for _ in range(10):  # five names, and what each is
        first, at = body[at], at + 1
        if first < 0x80 or first in (0xC2, 0xC3):
            yield first if first < 0x80 else first == 0xC3
            continue
        if 0xA0 <= first < 0xC0:
            size = first & 0x1F
        elif 0xC4 <= first <= 0xC6:
            width = 1 << (first - 0xC4)  # bytes that say how many follow
            size, at = int.from_bytes(body[at : at + width], "big"), at + width
        else:
            raise ValueError
        at += size
        if at > len(body):
            raise ValueError
        yield body[at - size : at]
    if at != len(body) or body[0] != 0x85:
        raise ValueError


def _is_harmless(text: str) -> bool:
    """Return whether a terminal obeys nothing of a text but line breaks, tabs and the colours of answers."""
    if "\x1b" in text:
        for color in (PLAIN, *COLORS.values()):
            text = text.replace(f"\x1b[{color}m", " ")
    if text.replace("\n", " ").replace("\t", " ").isprintable():
        return True
    from fledgling.plain import visible  # noqa: PLC0415  (it knows more exactly, and few texts need that)

    return visible(text) == text
