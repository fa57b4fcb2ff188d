"""What stands in place of what a grammar lacks, near errors only: a word, or nothing.

A gap is an expression and what is put in its place: `(EMPTY_TUPLE, b"a")`. Where an expression has groups, they are
what is replaced, else all of it; blanks make up for the difference, and lines stay what they were.
"""

import re
from collections.abc import Iterable, Sequence

from fledgling.worker.extracting.blanking import VISIBLE
from fledgling.worker.extracting.repair import Repaired, around, left_out
from fledgling.worker.extracting.source_text import Span

Gap = tuple[re.Pattern[bytes], bytes]


def filled(source: bytes, unknown: Iterable[Span], gaps: Sequence[Gap]) -> Repaired:
    """The text with other words for gaps near what the grammar does not know.

    >>> filled(b"f(())", [(2, 4)], [(re.compile(rb"(?<=[(])[(][)]"), b"a")]).text
    b'f(a )'
    """
    text = bytearray(source)
    for start, end in around(unknown):
        for gap, filling in gaps:
            for match in gap.finditer(source, start, end):
                for begin, behind in left_out(match):
                    if len(filling) <= len(source[begin:behind].partition(b"\n")[0]):  # a longer one would move names
                        text[begin:behind] = fitted(filling, source[begin:behind])
    return Repaired(bytes(text))


def fitted(filling: bytes, replaced: bytes) -> bytes:
    """The filling and blanks, as long as what it replaces; it stands in the first line, which is not shorter."""
    return filling + VISIBLE.sub(b" ", replaced)[len(filling) :]
