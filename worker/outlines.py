"""What is defined where, in a memory file of its own: the indexer writes it once, and the query worker maps it.

The file holds a row of each definition, in the order of paths and lines; where each row begins, and the last one ends;
the CRC-32 of each name, in order, and whose it is; the first and the last line of each row, and its file; the first row
of each file, and the end of the last. The last 16 bytes say how many rows and files there are.
"""

import struct
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple
from zlib import crc32

import msgspec

from fledgling.security import memory_file
from fledgling.wire import DEFINITION_KINDS
from fledgling.worker.blocks import NUMBER, PLACE, File, columns

_COUNTS = struct.Struct("=QQ")
_DEFINITIONS = frozenset(DEFINITION_KINDS)
_NO_SCOPES = frozenset({"variable", "constant"})  # no line is said to be in one


class Row(NamedTuple):
    """A definition in a file."""

    name: str
    kind: str
    line_start: int
    line_end: int
    signature: str | None
    parent_name: str | None
    full_name: str | None  # where it is not the name

    @property
    def qualified_name(self) -> str:
        """The name behind those of what it is in: `Engine.run`."""
        return self.full_name or self.name


_NAME, _KIND, _LINE_START, _LINE_END = range(1, 5)  # in a row behind its path
_FULL_NAME = 7


class OutlineWriter:
    """Writes the definitions of all files, in the order of the files.

    >>> writer = OutlineWriter(fd, ["run.py"])
    >>> writer.add([("run.py", "run", "function", 1, 2, "def run()", None, "run")])
    >>> writer.finish()
    """

    def __init__(self, fd: int, paths: Sequence[str]) -> None:
        """Write to an empty file, which the caller closes, what is in files of these paths."""
        self._file = open(fd, "wb", closefd=False)  # noqa: SIM115  (closed by `finish`)
        self._numbers = {path: number for number, path in enumerate(paths)}
        self._ends = array(PLACE, [0])
        self._starts, self._lasts, self._files = array(NUMBER), array(NUMBER), array(NUMBER)
        self._counts = array(NUMBER, bytes(len(paths) * array(NUMBER).itemsize))
        self._hashes = array(NUMBER)

    def add(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Write the definitions among symbols, in the order of paths and lines: each the path and a row."""
        kept = [row for row in rows if row[_KIND] in _DEFINITIONS and row[0] in self._numbers]
        names = [row[_NAME] for row in kept]
        data = [
            msgspec.msgpack.encode(row[1:] if row[_FULL_NAME] != name else (*row[1:_FULL_NAME], None))
            for row, name in zip(kept, names, strict=True)
        ]
        self._file.writelines(data)
        self._ends.extend(accumulate(map(len, data), initial=self._ends.pop()))
        self._hashes.extend([_hash(name) for name in names])
        self._starts.extend([row[_LINE_START] for row in kept])
        self._lasts.extend([row[_LINE_END] for row in kept])
        files = [self._numbers[row[0]] for row in kept]
        self._files.extend(files)
        for file, count in Counter(files).items():
            self._counts[file] += count

    def finish(self) -> None:
        """Write where everything is."""
        import numpy as np  # noqa: PLC0415  (what reads outlines needs nothing of it)

        hashes = np.frombuffer(self._hashes, NUMBER)
        named = np.argsort(hashes, kind="stable")
        first_rows = array(NUMBER, [0])
        for count in self._counts:
            first_rows.append(first_rows[-1] + count)
        with self._file as file:
            file.writelines((self._ends, hashes[named].data, named.astype(NUMBER).data))
            file.writelines((self._starts, self._lasts, self._files, first_rows))
            file.write(_COUNTS.pack(len(hashes), len(self._counts)))


def _hash(name: str) -> int:
    return crc32(name.encode())


class Outlines:
    """The file as it is read; rows are numbers until they are asked for.

    >>> outlines = Outlines(fd)
    >>> [outlines.row(number).line_start for number in outlines.named("run")]
    [1]
    """

    def __init__(self, fd: int) -> None:
        """Map the file; the caller may close `fd`."""
        self._data = memory_file.mapped(fd)
        rows, files = _COUNTS.unpack_from(self._data, len(self._data) - _COUNTS.size)
        self._ends, self._hashes, self._named, self._starts, self._lasts, self.files, self._first_rows = columns(
            memoryview(self._data)[: -_COUNTS.size],
            (
                (PLACE, rows + 1),
                (NUMBER, rows),
                (NUMBER, rows),
                (NUMBER, rows),
                (NUMBER, rows),
                (NUMBER, rows),
                (NUMBER, files + 1),
            ),
        )
        self._decoder = msgspec.msgpack.Decoder(Row)

    def row(self, number: int) -> Row:
        """Return a row."""
        return self._decoder.decode(self._data[self._ends[number] : self._ends[number + 1]])

    def named(self, name: str) -> Sequence[int]:
        """Return the rows of this very name, in the order of paths and lines."""
        found = _hash(name)
        hashed = self._named[bisect_left(self._hashes, found) : bisect_right(self._hashes, found)]
        return [number for number in hashed if self.row(number).name == name]

    def of(self, file: File) -> range:
        """Return the rows of a file, in the order of lines."""
        return range(self._first_rows[file.number], self._first_rows[file.number + 1])

    def definitions(self, file: File) -> list[Row]:
        """Return the definitions of a file, in the order of lines."""
        return [self.row(number) for number in self.of(file)]

    def innermost(self, file: File, line: int) -> str | None:
        """Return the qualified name of the innermost definition a line is in; of those on the same lines, the first."""
        rows = self.of(file)
        found = None
        for number in range(bisect_right(self._starts, line, rows.start, rows.stop) - 1, rows.start - 1, -1):
            if self._lasts[number] < line:
                continue
            if found is not None and self._lines(number) != self._lines(found):
                break
            if self.row(number).kind not in _NO_SCOPES:
                found = number
        return None if found is None else self.row(found).qualified_name

    def _lines(self, number: int) -> tuple[int, int]:
        return self._starts[number], self._lasts[number]
