"""A file's bytes as text: everything that decides what is binary, a character or a line lives here.

A line ends at a line feed and nowhere else, as for `wc`, compilers and git: `str.splitlines` would also break at form
feeds, U+2028 and six others, and every line number after one would be wrong.
"""

import codecs
from hashlib import blake2b

HEAD = 8 * 1024  # bytes in which a NUL makes a file binary; git looks at 8,000
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"  # stands for a byte that is not UTF-8, and for a NUL further on
_MARKS = (  # the longer first: a UTF-32 mark begins like one of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(data: bytes) -> str | None:
    r"""Return the text, without its byte order mark, or None if it is binary. It holds no NUL and no surrogate.

    b"caf\xc3\xa9" and b"\xff\xfec\0a\0f\0\xe9\0" are "café"; b"caf\xe9" is "caf\ufffd"; b"\x7fELF\0" is binary.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode_wide(data, encoding)
    if b"\0" in data[:HEAD]:
        return None
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace").replace("\0", _UNKNOWN)


def _decode_wide(data: bytes, encoding: str) -> str | None:
    """UTF-16 or UTF-32 without a fault; anything else that begins like it is binary."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def split_lines(text: str) -> list[str]:
    r"""The lines, without their ends: "a\r\nb\n" -> ["a", "b"]. The line feed of the last line begins no other."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def count_lines(text: str) -> int:
    r"""How many lines `split_lines` makes: what `wc -l` says, and one more if the last has no end. "a\nb" -> 2."""
    return text.count("\n") + (not text.endswith("\n") and text != "")


def content_hash(data: bytes) -> str:
    """BLAKE2b of the bytes as 32 hexadecimal digits (RFC 7693): equal only for equal files."""
    return blake2b(data, digest_size=16).hexdigest()
