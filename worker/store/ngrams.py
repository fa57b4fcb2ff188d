"""Which blocks may hold a text: a bit-sliced matrix of n-gram signatures, as the query worker reads it.

The matrix has ROWS rows of one bit a block: bit b of row r is set where block b holds a gram, three or four bytes one
after the other, whose hash is r. A block without one of a text's bits is without the text; one that has them all is a
candidate, to be searched. Grams of three alone would leave about twice as many of ordinary words. The one section is
the matrix, in segments of so many blocks that one is put together in a processor's caches, and looked at there: of each
its rows one after the other. ngram_writer.py makes it. See Faloutsos and Christodoulakis, "Signature Files", ACM TOIS
2(4), 1984.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from operator import mul
from typing import NamedTuple

from fledgling.worker.store.sections import Mapped, Sections

ROW_BITS = 13  # of a gram's hash: one bit more leaves fewer false candidates, for twice the memory
ROWS = 1 << ROW_BITS
WEIGHTS = (0x9E37, 0x85EB, 0xC2B3, 0xD1B5)  # odd: each byte of a gram reaches the upper bits of its 16-bit hash
SEGMENT = 512  # bytes of a row in a segment, the last of which is shorter: 4,096 blocks, four megabytes of matrix
SHORTEST, LONGEST = GRAMS = (3, 4)  # bytes
READ_ROWS = 24  # of one text: more of them leave hardly fewer blocks
FOLDED_LETTERS = (("\u212a".encode(), b"k"), ("\u017f".encode(), b"s"))  # those beyond ASCII that RE2 folds to it


class Hashing(NamedTuple):
    """How a gram becomes the number of a row: the upper `row_bits` of `bits` of the weighted sum of its bytes."""

    weights: tuple[int, ...]
    bits: int
    row_bits: int


HASHING = Hashing(WEIGHTS, 16, ROW_BITS)
Needed = Sequence[Sequence[bytes]]  # texts of which one group must be there whole: [[b"def ", b"timeout"], [b"lambda"]]


def folded(text: bytes) -> bytes:
    r"""Return the bytes whose grams are kept: ASCII without case, and with the two letters that RE2 folds to ASCII.

    >>> folded("Timeout 20 \u212a".encode())
    b'timeout 20 k'
    """
    lower = text.lower()
    if text.isascii():
        return lower
    for letter, ascii_letter in FOLDED_LETTERS:
        lower = lower.replace(letter, ascii_letter)
    return lower


class Signatures:
    """The matrix in its memory file, mapped and never copied; `blocks` is how many it has room for.

    >>> signatures = Signatures(memory_file.mapped(fd))
    >>> list(signatures.holding([[b"timeout"]]))
    [3, 17]
    """

    def __init__(self, data: Mapped) -> None:
        """Read a mapped file. Raises FormatError."""
        sections = Sections(data, "ngrams")
        size = sections.table["matrix"].size
        self._segments = [(at, min(SEGMENT, (size - at) // ROWS)) for at in range(0, size, ROWS * SEGMENT)]  # and width
        self.blocks = size // ROWS * 8
        self._data, self._matrix = data, sections.start("matrix")

    def holding(self, needed: Needed) -> Iterator[int]:
        """Yield the blocks that may hold all texts of one group, in order; of a text under 3 bytes nothing is known."""
        groups = rows_of(needed)
        for start, width in self._segments:
            found = 0
            for rows in groups:
                found |= with_all(self._data, self._matrix + start, width, rows)
            yield from numbers(found, start // ROWS * 8)

    def may_hold(self, groups: Sequence[Sequence[int]]) -> bool:
        """Return whether a block may hold all texts of one group, which `rows_of` has made rows of."""
        return any(
            with_all(self._data, self._matrix + start, width, rows)
            for start, width in self._segments
            for rows in groups
        )

    def marked(self, needed: Needed) -> bytes:
        """Return the same blocks as bits, the first the lowest of the first byte; bits behind the last mean nothing."""
        groups = rows_of(needed)
        parts = []
        for start, width in self._segments:
            found = 0
            for rows in groups:
                found |= with_all(self._data, self._matrix + start, width, rows)
            parts.append(found.to_bytes(width, "little"))
        return b"".join(parts)


def rows_of(needed: Needed, hashing: Hashing = HASHING) -> list[list[int]]:
    """Return for each group of texts the rows in which a block that holds them all is marked."""
    return [[*dict.fromkeys(row for text in texts for row in _rows(text, hashing))] for texts in needed]


def with_all(data: Mapped | bytes, start: int, width: int, rows: Sequence[int]) -> int:
    """Return as bits the blocks of a segment that are in all of some rows: mostly few rows leave none."""
    found = (1 << 8 * width) - 1
    for row in rows:
        at = start + row * width
        found &= int.from_bytes(data[at : at + width], "little")
        if not found:
            break
    return found


def numbers(bits: int, first: int) -> Iterator[int]:
    """Yield the places of the bits that are set, the lowest first: `list(numbers(0b1010, 8))` is [9, 11]."""
    digits = bin(bits)[:1:-1]
    at = digits.find("1")
    while at >= 0:
        yield first + at
        at = digits.find("1", at + 1)


def _rows(text: bytes, hashing: Hashing) -> Iterator[int]:
    """Yield the hash of READ_ROWS grams at most, from all over the text: the longer first, which fewer blocks hold."""
    weights, mask, unused = hashing.weights, (1 << hashing.bits) - 1, hashing.bits - hashing.row_bits
    hashes = (
        (sum(map(mul, weights, text[at : at + size])) & mask) >> unused
        for size in reversed(GRAMS)
        for at in range(0, len(text) - size + 1, len(text) // READ_ROWS + 1)
    )
    return islice(hashes, READ_ROWS)
