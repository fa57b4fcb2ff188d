"""Writing the symbols of every file: extractors make the parts, the indexer a memory file of them (symbols.py)."""

from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise
from operator import attrgetter

import msgspec

from fledgling.worker.rows import SymbolRow
from fledgling.worker.store.sections import NUMBER, PLACE, SectionWriter
from fledgling.worker.store.symbols import CODES, Packed, hashes_of


class Outlined(msgspec.Struct, frozen=True):
    """The symbols of some files: the part of each, and what tables hold of all rows, one after the other.

    `lines` counts from the first line of a row to its last, and `hashes` are those of names, as arrays of NUMBER.
    """

    parts: list[bytes] = []
    names: list[str] = []
    kinds: bytes = b""
    lines: bytes = b""
    hashes: bytes = b""


def outlined(files: Iterable[Sequence[SymbolRow]]) -> Outlined:
    """Return the symbols of some files, each in the order of lines, as they are written.

    >>> outlined([[SymbolRow("run", "function", 1, 2, None, "def run()", None, "public", "run")]]).names
    ['run']
    """
    files = [*files]
    names = [row.name for rows in files for row in rows]
    lines = [row.line_end - row.line_start if row.line_end > row.line_start else 0 for rows in files for row in rows]
    kinds = [bytes([CODES[row.kind] for row in rows]) for rows in files]
    hashes = array(NUMBER, hashes_of(names)).tobytes()
    return Outlined([*map(_part, files, kinds)], names, b"".join(kinds), array(NUMBER, lines).tobytes(), hashes)


def one_by_one(some: Outlined, counts: Sequence[int]) -> list[Outlined]:
    """Return the symbols of each file by themselves, of which each has so many: the reverse of `end_to_end`."""
    size = array(NUMBER).itemsize
    return [
        Outlined(
            [part],
            some.names[begin:end],
            some.kinds[begin:end],
            some.lines[begin * size : end * size],
            some.hashes[begin * size : end * size],
        )
        for part, (begin, end) in zip(some.parts, pairwise(accumulate(counts, initial=0)), strict=True)
    ]


def end_to_end(some: Sequence[Outlined]) -> Outlined:
    """Return the symbols of files, and behind them those of others."""
    return Outlined(
        [part for each in some for part in each.parts],
        [name for each in some for name in each.names],
        b"".join(each.kinds for each in some),
        b"".join(each.lines for each in some),
        b"".join(each.hashes for each in some),
    )


def _part(rows: Sequence[SymbolRow], kinds: bytes) -> bytes:
    data = [*map(msgspec.msgpack.encode, map(_packed, rows))]
    ends = array(NUMBER, accumulate(map(len, data)))
    starts = array(NUMBER, map(attrgetter("line_start"), rows))
    lasts = array(NUMBER, map(attrgetter("line_end"), rows))
    return b"".join(chain((ends, starts, lasts, kinds), data))


def _packed(row: SymbolRow) -> Packed:
    """Return what a row says, its name once: a signature is what stands before the name, and what behind it."""
    name, signature = row.name, row.signature
    before, found, after = signature.partition(name) if signature and name else (signature, "", None)
    full_name = None if row.qualified_name == name else row.qualified_name
    return name, before, after if found else None, row.parent_name, full_name


class OutlineWriter:
    """Writes the symbols of all files, in the order of the files.

    >>> writer = OutlineWriter(fd)
    >>> writer.add([0], [1], outlined([[SymbolRow("run", ...)]]))
    >>> writer.finish(bytes([WHOLE]))
    """

    def __init__(self, fd: int) -> None:
        """Write to an empty file, which the caller closes."""
        self._sections = SectionWriter(fd, "symbols")
        self._sections.begin("parts")
        self._numbers, self._begins, self._counts = array(NUMBER), array(PLACE), array(NUMBER)  # of files with parts
        self._hashes: list[bytes] = []
        self._end = 0

    def add(self, numbers: Sequence[int], counts: Sequence[int], symbols: Outlined) -> None:
        """Write the symbols of the files with these numbers, of each so many."""
        self._numbers.extend(numbers)
        self._counts.extend(counts)
        for part in symbols.parts:
            self._begins.append(self._end)
            self._end += len(part)
        self._sections.write(symbols.parts)
        self._hashes.append(symbols.hashes)

    def finish(self, parsed: bytes) -> None:
        """Write where everything is, and how far each file of the index was `parsed`."""
        import numpy as np  # noqa: PLC0415  (what reads outlines needs nothing of it)

        begins, counts = np.zeros(len(parsed), PLACE), np.zeros(len(parsed), NUMBER)
        begins[self._numbers], counts[self._numbers] = self._begins, self._counts
        begins[counts == 0] = 0  # whether nothing was found in a file or nothing was looked for

        keys = np.frombuffer(b"".join(self._hashes), NUMBER).astype(np.uint64)  # a hash, and behind it whose it is
        self._hashes.clear()
        keys <<= 32
        keys |= np.arange(len(keys), dtype=NUMBER)
        keys.sort()
        with self._sections as sections:
            sections.column("hashes", NUMBER, (keys >> 32).astype(NUMBER).data)
            sections.column("named", NUMBER, keys.astype(NUMBER).data)
            sections.column("begins", PLACE, begins.data)
            sections.column("first_rows", NUMBER, accumulate(counts.tolist(), initial=0))
            sections.begin("parsed")
            sections.write([parsed])
