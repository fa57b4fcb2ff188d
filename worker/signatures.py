"""Which blocks may hold a text: a bit-sliced matrix of trigram signatures, as the query worker reads it.

The matrix has ROWS rows of one bit a block: bit b of row r is set where block b holds a trigram whose hash is r. A
block without one of a text's bits is without the text; one that has them all is a candidate, to be searched. signer.py
makes the matrix. See Faloutsos and Christodoulakis, "Signature Files", ACM TOIS 2(4), 1984.
"""

import os
from collections.abc import Iterable, Iterator, Sequence

from fledgling.security import memory_file

ROW_BITS = 13  # of a trigram's hash: one bit more halves the false candidates, for twice the memory
ROWS = 1 << ROW_BITS
WEIGHTS = (0x9E37, 0x85EB, 0xC2B3)  # odd, so that each byte of a trigram reaches the upper bits of its 16-bit hash
TRIGRAM = 3  # bytes
READ_ROWS = 64  # of one text: more of a long text than 66 bytes leaves no fewer blocks
_LETTERS = (("\u212a".encode(), b"k"), ("\u017f".encode(), b"s"))  # that RE2 folds to ASCII

Needed = Sequence[Sequence[bytes]]  # texts of which one group must be there whole: [[b"def ", b"timeout"], [b"lambda"]]


def folded(text: bytes, sought: bytes = b"ks") -> bytes:
    r"""Return the bytes whose trigrams are kept: ASCII without case, and with the two letters that RE2 folds to ASCII.

    They are left as they are where they are not in what is sought.

    >>> folded("Timeout 20 \u212a".encode())
    b'timeout 20 k'
    """
    lower = text.lower()
    if text.isascii():
        return lower
    for letter, ascii_letter in _LETTERS:
        if ascii_letter in sought:
            lower = lower.replace(letter, ascii_letter)
    return lower


class Signatures:
    """The matrix in its memory file, mapped and never copied; `blocks` is how many it has room for.

    >>> signatures = Signatures(fd)
    >>> list(numbers(signatures.holding([[b"timeout"]])))
    [3, 17]
    """

    def __init__(self, fd: int) -> None:
        """Map the file; the caller may close `fd`."""
        size = os.fstat(fd).st_size
        self._width = size // ROWS
        self.blocks = self._width * 8
        self._matrix = memory_file.mapped(fd) if size else b""

    def holding(self, needed: Needed) -> int:
        """Return as bits the blocks that may hold all texts of one group; of a text under 3 bytes nothing is known."""
        found = 0
        for texts in needed:
            found |= self._holding_all(texts)
        return found

    def _holding_all(self, texts: Iterable[bytes]) -> int:
        found = (1 << self.blocks) - 1
        for row in sorted({row for text in texts for row in _rows(text)}):
            if not found:
                break
            start = row * self._width
            found &= int.from_bytes(self._matrix[start : start + self._width], "little")
        return found


def numbers(bits: int) -> Iterator[int]:
    """Yield the places of the bits that are set, the lowest first: `list(numbers(0b1010))` is [1, 3]."""
    digits = bin(bits)[:1:-1]
    at = digits.find("1")
    while at >= 0:
        yield at
        at = digits.find("1", at + 1)


def _rows(text: bytes) -> Iterator[int]:
    """Yield the hash of each trigram."""
    a, b, c = WEIGHTS
    for at in range(min(len(text) - TRIGRAM + 1, READ_ROWS)):
        yield ((text[at] * a + text[at + 1] * b + text[at + 2] * c) & 0xFFFF) >> (16 - ROW_BITS)
