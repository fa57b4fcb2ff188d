"""Hashes of definitions, by which one is known again: the same text has the same hash wherever it stands.

What is hashed are its lines, from line_start to line_end, without the indentation of the first one and without the
white space that ends a line. Its name, its comments and its docstring count; what stands around it does not.
"""

from collections.abc import Sequence
from itertools import accumulate

from fledgling.digests import blake2b
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
    ends = [0, *accumulate(len(line) + 1 for line in lines)]  # how long the text is up to each line
    room = MOST_TIMES * len(text)
    found: list[str | None] = []
    for symbol in symbols:
        first, last = max(symbol.line_start - 1, 0), min(symbol.line_end, len(lines))
        size = ends[last] - ends[first] if first < last else 0
        if 0 < size <= room:
            found.append(_hashed(lines[first:last]))
        else:
            found.append(None)
        room = max(room - size, 0)
    return found


def _hashed(lines: Sequence[bytes]) -> str:
    first = lines[0]
    indent = first[: len(first) - len(first.lstrip(b" \t"))]
    made_of = b"\n".join(line.removeprefix(indent).rstrip() for line in lines)
    return blake2b(made_of, digest_size=HASH_BYTES).hexdigest()
