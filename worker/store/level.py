"""The first level over several indexes: which of them may hold a text, and which define a name.

The matrix has ROWS rows of one bit a column; a member, which is one of the indexes, has a column for every
COLUMN_BYTES of its text. Bit c of row r is set where that text, or a name that the member defines, holds a gram of
three or four bytes whose hash is r. A literal that is nowhere, or in few, so costs a few reads however many members
are, and the signatures of blocks (ngrams.py) are looked at in those alone that are left. Beside it stand the hashes of
all names, folded, in order, and whose each is.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from zlib import crc32

from fledgling.worker.store import ngrams
from fledgling.worker.store.ngrams import LONGEST, Hashing, Needed, folded, numbers, with_all
from fledgling.worker.store.sections import NUMBER, FormatError, Mapped, Sections, SectionWriter

ROW_BITS = 18  # of a gram's hash: 32 KB a column, of which 3 MB of source fill a third
ROWS = 1 << ROW_BITS
WEIGHTS = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F)  # odd: each byte of a gram reaches the upper bits
HASHING = Hashing(WEIGHTS, 32, ROW_BITS)
COLUMN_BYTES = 2**22  # of text in one column: more would leave few bits that are not set
_SIGNED_BYTES = 2**20  # of text whose grams are numbers at once, some 16 times as many
_ROWS_AT_ONCE = 2**14  # of the matrix, when columns become rows


class LevelWriter:
    """Writes the level of indexes that come one after the other.

    >>> writer = LevelWriter(fd)
    >>> writer.add(0, [b"import os", ...], ["run", "main"])
    >>> writer.finish()
    """

    def __init__(self, fd: int) -> None:
        """Write to an empty file, which the caller closes."""
        self._fd = fd
        self._columns: list[bytes] = []  # of each ROWS bits
        self._members = array(NUMBER)  # whose each column is
        self._names: list[int] = []  # hashes, and behind each its member

    def add(self, member: int, texts: Iterable[bytes] | None, names: Iterable[str]) -> None:
        """Take what an index holds: texts, none of which a hit goes beyond, and names. With None it may hold any."""
        import numpy as np  # noqa: PLC0415  (who reads a level needs nothing of it)

        named = sorted({*map(str.encode, names)})  # what stands beside what is in the matrix, too
        self._names += {_hash(name) << 32 | member for name in named}
        if texts is None:
            self._column(member, np.ones(ROWS, bool))
            return
        seen, size = np.zeros(ROWS, bool), 0
        for text in _pieces([b"\n".join(named)], texts):
            if size > COLUMN_BYTES:
                self._column(member, seen)
                seen, size = np.zeros(ROWS, bool), 0
            size += len(text)
            codes = np.frombuffer(text, np.uint8).astype(np.uint32)
            a, b, c, d = map(np.uint32, WEIGHTS)
            three = codes[:-2] * a + codes[1:-1] * b + codes[2:] * c
            for hashes in (three, three[:-1] + codes[3:] * d):
                seen[hashes >> np.uint32(HASHING.bits - ROW_BITS)] = True
        self._column(member, seen)

    def _column(self, member: int, seen: object) -> None:
        import numpy as np  # noqa: PLC0415

        self._columns.append(np.packbits(np.asarray(seen, bool), bitorder="little").tobytes())
        self._members.append(member)

    def finish(self) -> None:
        """Write all of it."""
        import numpy as np  # noqa: PLC0415

        columns = np.frombuffer(b"".join(self._columns), np.uint8).reshape(-1, ROWS // 8)
        self._columns.clear()
        self._names.sort()
        with SectionWriter(self._fd, "level") as sections:
            sections.begin("matrix")
            for first in range(0, ROWS // 8, _ROWS_AT_ONCE // 8):
                some = columns[:, first : first + _ROWS_AT_ONCE // 8]
                bits = np.unpackbits(some, axis=1, bitorder="little")
                sections.write([np.packbits(bits.T, axis=1, bitorder="little").tobytes()])
            sections.column("columns", NUMBER, self._members)
            sections.column("names", NUMBER, (name >> 32 for name in self._names))
            sections.column("named", NUMBER, (name & 0xFFFFFFFF for name in self._names))


class Level:
    """The file as it is read.

    >>> level = Level(memory_file.mapped(fd))
    >>> level.holding(rows_of([[b"timeout"]])), level.naming("run")
    ({3, 17}, {17})
    """

    def __init__(self, data: Mapped) -> None:
        """Read a mapped file. Raises FormatError."""
        sections = Sections(data, "level")
        self._data, self._matrix = data, sections.start("matrix")
        self._columns = sections.column("columns")
        self._width = -(-len(self._columns) // 8)
        self._names, self._named = sections.column("names"), sections.column("named")
        if sections.table["matrix"].size != ROWS * self._width or len(self._names) != len(self._named):
            raise FormatError("its sections do not fit each other")

    def holding(self, groups: Sequence[Sequence[int]]) -> set[int]:
        """Return the members that may hold all texts of one group, which `rows_of` has made rows of."""
        bits = 0
        for rows in groups:
            bits |= with_all(self._data, self._matrix, self._width, rows)
        count = len(self._columns)
        return {self._columns[column] for column in numbers(bits, 0) if column < count}

    def naming(self, name: str) -> set[int]:
        """Return the members that may define a name, in any case of its letters."""
        hashed = _hash(name.encode())
        return {*self._named[bisect_left(self._names, hashed) : bisect_right(self._names, hashed)]}


def rows_of(needed: Needed) -> list[list[int]]:
    """Return for each group of texts the rows in which a member that holds them all is marked."""
    return ngrams.rows_of(needed, HASHING)


def _hash(name: bytes) -> int:
    return crc32(folded(name))


def _pieces(*some: Iterable[bytes]) -> Iterator[bytes]:
    """Yield texts end to end, folded, about _SIGNED_BYTES at once; of a long one parts that overlap."""
    waiting, size = [], 0
    for texts in some:
        for whole in texts:
            text = folded(whole)
            for start in range(0, max(len(text) - LONGEST + 1, 1), _SIGNED_BYTES):
                waiting.append(text[start : start + _SIGNED_BYTES + LONGEST - 1])
                size += len(waiting[-1])
                if size > _SIGNED_BYTES:
                    yield b"\n".join(waiting) + b"\n\n\n"
                    waiting, size = [], 0
    yield b"\n".join(waiting) + b"\n\n\n"
