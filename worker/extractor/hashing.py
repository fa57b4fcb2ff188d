"""Hashes of definitions, by which one is known again: the same text has the same hash wherever it stands.

What is hashed are its lines, from line_start to line_end, without the indentation of the first one and without the
white space that ends a line. Its name, its comments and its docstring count; what stands around it does not.
"""

from collections.abc import Sequence
from hashlib import blake2b

from fledgling.worker.rows import SymbolRow

HASH_BYTES = 16
MOST_TIMES = 16  # that a text is hashed altogether: definitions stand within each other, in hostile files without end


def hashes(symbols: Sequence[SymbolRow], text: bytes) -> list[str | None]:
    """Return the hash of each symbol of a text; None of those for which the text would be read too often.

    >>> a = SymbolRow("a", "function", 1, 2, None, None, None, "public", "a")
    >>> hashes([a], b"def a():\\n    return 1")
    ['0ded5c765ce82fffad0cf24e0747cafe']
    """
    lines = text.split(b"\n")
    room = MOST_TIMES * len(text)
    found: list[str | None] = []
    for symbol in symbols:
        own = lines[max(symbol.line_start - 1, 0) : symbol.line_end]
        room -= sum(map(len, own)) + len(own)
        found.append(_hashed(own) if room >= 0 and own else None)
        room = max(room, 0)
    return found


def _hashed(lines: Sequence[bytes]) -> str:
    first = lines[0]
    indent = first[: len(first) - len(first.lstrip(b" \t"))]
    made_of = b"\n".join(line.removeprefix(indent).rstrip() for line in lines)
    return blake2b(made_of, digest_size=HASH_BYTES).hexdigest()
