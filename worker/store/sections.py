"""The one format of the mapped files of an index: named columns of one type each, and a table that says where they are.

docs/index-format.md describes it. A file is written once, in order, and mapped by whoever reads it:

    magic, version, what the file holds    16 bytes
    the sections, one after the other      items of one type each, in the byte order of the machine
    the table of contents                  MessagePack: of each section its name, type, start and count
    start of the table                     8 bytes
"""

import mmap
import struct
from array import array
from collections.abc import Iterable
from typing import BinaryIO, Final, Literal, Self, TypeAlias, get_args

import msgspec

MAGIC, VERSION = b"fledglng", 1
_HEAD = struct.Struct("=8sHHI")  # magic, version, what it holds, nothing
_END = struct.Struct("=Q")
Holds = Literal["text", "symbols", "ngrams", "kept", "graph", "words", "facts", "level"]
HOLDS: tuple[Holds, ...] = get_args(Holds)  # and their numbers

Type = Literal["B", "I", "Q"]  # of items: bytes, and the two below; codes of the modules array and struct
PLACE: Final = "Q"  # where a byte is
NUMBER: Final = "I"  # of a line, a block, a file or a row
WRITTEN_BYTES = 2**20  # at once


class Window:
    """A part of a mapping, read as a mapping of its own: nothing outside of it can be reached.

    >>> Window(mapped, 4096, 100)[0:8]
    b'fledglng'
    """

    def __init__(self, data: mmap.mmap, start: int, size: int) -> None:
        self.view = memoryview(data)[start : start + size]

    def __getitem__(self, at: slice) -> bytes:
        """Return some bytes."""
        return bytes(self.view[at])


Mapped: TypeAlias = mmap.mmap | Window


def view_of(data: "Mapped | bytes") -> memoryview:
    """Return the bytes of a mapping where they are."""
    return data.view if isinstance(data, Window) else memoryview(data)


class FormatError(Exception):
    """A file is not of this format, or of a version that is not known here."""


class Section(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A row of the table of contents: `start` is where its first byte is, `count` how many items it has."""

    name: str
    type: Type
    start: int
    count: int

    @property
    def size(self) -> int:
        """The bytes of the section."""
        return self.count * struct.calcsize(self.type)


class SectionWriter:
    """Writes a file, section by section; one that is begun takes bytes until the next one is.

    >>> with SectionWriter(fd, "ngrams") as writer:
    ...     writer.begin("matrix")
    ...     writer.write([b"abc", b"def"])
    ...     writer.column("widths", NUMBER, [3, 3])
    """

    def __init__(self, fd: int, holds: Holds) -> None:
        """Write to an empty file, which the caller closes."""
        self._file: BinaryIO = open(fd, "wb", WRITTEN_BYTES, closefd=False)  # noqa: SIM115  (closed by `__exit__`)
        self._end = self._file.write(_HEAD.pack(MAGIC, VERSION, HOLDS.index(holds), 0))
        self._begun: tuple[str, Type, int] | None = None
        self._table: list[Section] = []

    def begin(self, name: str, of: Type = "B") -> None:
        """Begin a section of items of one type."""
        self._close_section()
        self._begun = name, of, self._end

    def write(self, chunks: Iterable[bytes | memoryview]) -> None:
        """Write the next bytes of the section that is begun."""
        for chunk in chunks:
            self._end += self._file.write(chunk)

    def column(self, name: str, of: Type, items: "Iterable[int] | memoryview") -> None:
        """Write a whole section: numbers, or the memory of an array of them."""
        self.begin(name, of)
        self.write([items if isinstance(items, memoryview) else array(of, items).tobytes()])

    def _close_section(self) -> None:
        if self._begun:
            name, of, start = self._begun
            self._table.append(Section(name, of, start, (self._end - start) // struct.calcsize(of)))
            self._begun = None

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Write the table of contents, unless an error ends the block."""
        if kind is None:
            self._close_section()
            with self._file as file:
                file.write(msgspec.msgpack.encode(self._table))
                file.write(_END.pack(self._end))


class Sections:
    """A file as it is read: mapped, and nothing copied.

    >>> sections = Sections(memory_file.mapped(fd), "ngrams")
    >>> list(sections.column("widths"))
    [3, 3]
    """

    def __init__(self, data: Mapped, holds: Holds) -> None:
        """Read the table of contents of a mapped file. Raises FormatError."""
        self.data = data
        self._view = view_of(data)
        self.table = {section.name: section for section in contents(self._view, holds)}

    def column(self, name: str) -> memoryview:
        """Return a section as numbers, or as bytes."""
        section = self.table[name]
        return self._view[section.start : section.start + section.size].cast(section.type)

    def start(self, name: str) -> int:
        """Return where the first byte of a section is."""
        return self.table[name].start

    def forget(self) -> None:
        """Give the pages back that were read so far: they count as memory of the process that maps them."""
        if isinstance(self.data, mmap.mmap):
            self.data.madvise(mmap.MADV_DONTNEED)


def contents(data: memoryview, holds: Holds) -> list[Section]:
    """Return the table of contents of a file that holds what is named. Raises FormatError."""
    if len(data) < _HEAD.size + _END.size:
        raise FormatError("the file is too short to be one of an index")
    magic, version, number, _ = _HEAD.unpack_from(data)
    if magic != MAGIC:
        raise FormatError("the file is not one of an index")
    if version != VERSION:
        raise FormatError(f"the file has version {version} of the format, and only version {VERSION} is known here")
    if number != HOLDS.index(holds):
        raise FormatError(f"the file does not hold {holds}")
    end = len(data) - _END.size
    [table] = _END.unpack_from(data, end)
    if not _HEAD.size <= table <= end:
        raise FormatError("the table of contents is not in the file")
    try:
        sections = msgspec.msgpack.decode(data[table:end], type=list[Section])
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise FormatError("the table of contents cannot be read") from None
    if not all(section.count >= 0 and _HEAD.size <= section.start <= table - section.size for section in sections):
        raise FormatError("a section is not in the file")
    return sections
