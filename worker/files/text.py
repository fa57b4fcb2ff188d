"""A file's bytes as text: everything that decides what is binary, a character or a line lives here.

A line ends at a line feed and nowhere else, as for `wc`, compilers and git: `str.splitlines` would also break at form
feeds, U+2028 and six others, and every line number after one would be wrong. In a text without any line feed it ends at
a carriage return, as on a Macintosh of old.
"""

import codecs
from typing import NamedTuple

from fledgling.digests import blake2b
from fledgling.worker.deferred import deferred
from fledgling.worker.files import encodings

HEAD = 8 * 1024  # bytes in which a NUL makes a file binary; git looks at 8,000
PDF = b"%PDF-"  # compressed pages, whose first NUL may come late
BLOCK_BYTES = 4096  # a search verifies whole blocks: small enough to be read fast, large enough to be few
Pieces = list[tuple[int, bytes]]  # what `cut` makes of a text
_UNKNOWN = "\N{REPLACEMENT CHARACTER}".encode()  # stands for a byte that is not UTF-8, and for a NUL further on
_WIDE_LEAST = 16  # bytes of a text in UTF-16 without a mark: fewer tell nothing
_PLAIN = deferred(r"[^\x00-\x08\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufffe\uffff]*\Z")  # what a text in UTF-16 is made of
_MARKS = (  # the longer first: a UTF-32 mark begins like one of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MARKED = frozenset(mark[:1] for mark, _ in _MARKS)


class Text(NamedTuple):
    """A text in UTF-8, and the encoding that it was in, where that was another. It holds no NUL and no surrogate."""

    utf8: bytes
    encoding: str | None = None


def decoded(data: bytes) -> Text | None:
    r"""Return a file's bytes as text without its byte order mark, or None if they are binary.

    >>> decoded(b"caf\xc3\xa9"), decoded(b"\xff\xfe\xe9\0"), decoded(b"\x7fELF\0")
    (Text(utf8=b'caf\xc3\xa9', encoding=None), Text(utf8=b'\xc3\xa9', encoding='utf-16'), None)
    """
    if data[:1] in _MARKED:
        for mark, wide in _MARKS:
            if data.startswith(mark):
                return _wide(data, wide)
    if data.find(b"\0", 0, HEAD) >= 0:
        return _unmarked(data)
    if data.startswith(PDF):
        return None
    text = data.removeprefix(codecs.BOM_UTF8)
    encoding: str | None = None
    if not text.isascii():
        try:
            text.decode()
        except UnicodeDecodeError:
            encoding, guess = encodings.guessed(text)
            text = guess.encode("utf-8", "replace")
    elif b"\x1b" in text and b"\x1b$" in text and (japanese := encodings.in_seven_bits(text)):
        encoding, text = "iso-2022-jp", japanese.encode()
    return Text(text.replace(b"\0", _UNKNOWN), encoding)


def _wide(data: bytes, encoding: str) -> Text | None:
    """UTF-16 or UTF-32 without a fault; anything else that begins like it is binary."""
    try:
        text = data.decode(encoding).encode()
    except UnicodeDecodeError:
        return None
    return None if b"\0" in text else Text(text, encoding)


def _unmarked(data: bytes) -> Text | None:
    """UTF-16 without a mark: plain characters, half of whose bytes at least are NUL."""
    head = data[:HEAD]
    for start, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        is_likely = len(data) >= _WIDE_LEAST and 4 * head.count(0) >= len(head) and not head[1 - start :: 2].count(0)
        if is_likely and (text := _wide(data, encoding)) and _PLAIN.match(text.utf8.decode()):
            return text
    return None


def cut(text: bytes) -> Pieces:
    r"""Return whole lines as pieces of about BLOCK_BYTES, each with the number of its first line, without its last end.

    Of b"x\r\ny\n" that is (1, b"x\ny"): a carriage return before a line feed belongs to the end of the line, and the
    line feed of the last line begins no other.
    """
    if not text:
        return []
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n") if b"\n" in text else text.replace(b"\r", b"\n")
        text = text if text.endswith(b"\n") else text.removesuffix(b"\r")
    return pieces(text, 1, len(text) - text.endswith(b"\n"))


def pieces(text: bytes, first_line: int, end: int) -> Pieces:
    """Return the lines of a text up to its byte `end` as `cut` does, numbered from `first_line`."""
    found = []
    start = 0
    while (stop := text.find(b"\n", start + BLOCK_BYTES, end)) >= 0:
        found.append((first_line, text[start:stop]))
        first_line += text.count(b"\n", start, stop) + 1
        start = stop + 1
    found.append((first_line, text[start:end]))
    return found


def count_lines(pieces: Pieces) -> int:
    r"""How many lines there are in what `cut` made: what `wc -l` says, and one more if the last has no end.

    >>> count_lines(cut(b"a\nb"))
    2
    """
    if not pieces:
        return 0
    first_line, lines = pieces[-1]
    return first_line + lines.count(b"\n")


def content_hash(data: bytes) -> str:
    """BLAKE2b of the bytes as 32 hexadecimal digits (RFC 7693): equal only for equal files."""
    return blake2b(data, digest_size=16).hexdigest()
