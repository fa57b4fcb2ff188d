r"""File names as text: any bytes a file system holds become a string that is safe to store, show and log.

A name is shown as it is unless it holds something that cannot be seen: then that is written as an escape, and so is the
backslash, in every name, so that two names are never shown alike.
"""


def shown(raw: bytes) -> str:
    r"""The name as text: `\\` for a backslash, `\xNN` for a byte, `\uNNNN` for a character that does not print.

    Such characters are controls, zero-width and bidirectional formats, and every space but the plain one; such bytes
    are ASCII controls and what is not UTF-8.
    `b"caf\xc3\xa9"` -> `café`, `b"a\nb\\c"` -> `a\x0ab\\c`, `b"\xff"` -> `\xff`.
    """
    name = raw.decode("utf-8", "surrogateescape")
    if name.isprintable() and "\\" not in name:
        return name
    return name.translate({ord(each): _shown(each) for each in {*name}})


def _shown(character: str) -> str:
    """One character. U+0085 is `\\u0085` and the byte 0x85 `\\x85`: they stay apart."""
    code = ord(character)
    if character == "\\":
        return r"\\"
    if character.isprintable():
        return character
    if 0xDC80 <= code <= 0xDCFF:  # how surrogateescape carries a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
