"""What an index keeps for whoever follows the project: the stamps of its files, and facts of each. No worker maps it.

Its sections are the paths, and where each ends; a column for each number of a stamp; and of each file, packed, its
imports as they stand there, what it declares, and where its imports lead. They are empty where there is nothing of it.
"""

import mmap
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, pairwise
from typing import Literal

from msgspec.structs import astuple

from fledgling.worker.rows import Stamp
from fledgling.worker.store.sections import PLACE, Sections, SectionWriter

Packed = Literal["imports", "declared", "resolved"]
TEXTS: tuple[Packed, ...] = ("imports", "declared", "resolved")
UNRESOLVED = b"\xc0"  # in place of where imports lead, where a fault of ours has left that open: nil, packed
_BITS = 2**64 - 1  # a time before 1970 is a number below zero, and a column holds none


class KeptWriter:
    """Writes what is kept: of all files at first, then what is found in them.

    >>> writer = KeptWriter(fd)
    >>> writer.files({"a.py": Stamp(10, 1_700_000_000, 1_700_000_000, 7)}, begun_ns=time.time_ns())
    >>> writer.facts("a.py", imports, b"")
    >>> writer.resolved("a.py", resolved)
    >>> writer.finish()
    """

    def __init__(self, fd: int) -> None:
        """Write to an empty file, which the caller closes."""
        self._sections = SectionWriter(fd, "kept")
        self._paths: list[str] = []
        self._texts_of: dict[str, dict[str, bytes]] = {name: {} for name in TEXTS}

    def files(self, stamps: Mapping[str, Stamp], begun_ns: int) -> None:
        """Keep the stamps of all files, none of which was taken before a moment in nanoseconds since 1970."""
        self._paths = [*stamps]
        self._sections.column("begun", PLACE, [begun_ns])
        self._write("paths", map(str.encode, self._paths))
        columns = zip(*map(astuple, stamps.values()), strict=True) if stamps else [()] * len(Stamp.__struct_fields__)
        for name, column in zip(Stamp.__struct_fields__, columns, strict=True):
            self._sections.column(name, PLACE, [value & _BITS for value in column])

    def facts(self, path: str, imports: bytes, declared: bytes) -> None:
        """Keep what extractors have found in a file."""
        self._texts_of["imports"][path] = imports
        self._texts_of["declared"][path] = declared

    def resolved(self, path: str, imports: bytes) -> None:
        """Keep where the imports of a file lead."""
        self._texts_of["resolved"][path] = imports

    def finish(self) -> None:
        """Write what was found."""
        with self._sections:
            for name, texts in self._texts_of.items():
                self._write(name, (texts.get(path, b"") for path in self._paths))
                texts.clear()

    def _write(self, name: str, texts: Iterable[bytes]) -> None:
        lengths = []
        self._sections.begin(name)
        for text in texts:
            self._sections.write([text])
            lengths.append(len(text))
        self._sections.column(f"{name}_ends", PLACE, accumulate(lengths, initial=0))


class Kept:
    """The file as it is read.

    >>> kept = Kept(memory_file.mapped(fd))
    >>> kept.stamps["a.py"]
    Stamp(size=10, modified_ns=1700000000, changed_ns=1700000000, inode=7)
    """

    def __init__(self, data: mmap.mmap) -> None:
        """Read a mapped file. Raises FormatError."""
        self._data, self._sections = data, Sections(data, "kept")
        [self.begun_ns] = self._sections.column("begun")
        columns = [map(_signed, self._sections.column(name)) for name in Stamp.__struct_fields__]
        paths = [text.decode() for text in self._texts("paths")]
        self.stamps = dict(zip(paths, map(Stamp, *columns), strict=True))
        self._numbers = {path: number for number, path in enumerate(paths)}
        self._ends = {name: self._sections.column(f"{name}_ends") for name in TEXTS}

    def text(self, name: Packed, path: str) -> bytes:
        """Return one of the packed texts of a file; empty where there is none, or no such file."""
        number = self._numbers.get(path)
        if number is None:
            return b""
        start, ends = self._sections.start(name), self._ends[name]
        return self._data[start + ends[number] : start + ends[number + 1]]

    def having(self, name: Packed) -> Iterator[str]:
        """Yield the files of which there is such a text."""
        for path, (begin, end) in zip(self._numbers, pairwise(self._ends[name]), strict=True):
            if end > begin:
                yield path

    def _texts(self, name: str) -> Iterator[bytes]:
        start = self._sections.start(name)
        for begin, end in pairwise(self._sections.column(f"{name}_ends")):
            yield self._data[start + begin : start + end]


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value
