"""The text of an index, in a memory file of its own: the indexer writes it once, and who reads it maps it.

Its sections are the blocks of text in their order, and the paths of the files in theirs, both in UTF-8; the names of
languages and of reasons why a text is missing; where each block and each path ends; and a column for all else that is
known of a block or a file. A map, a search and a read ask no DuckDB: a statement takes it milliseconds.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from operator import attrgetter
from typing import NamedTuple, Protocol, TypeAlias

import msgspec

from fledgling.worker.store.sections import NUMBER, PLACE, Mapped, Sections, SectionWriter

FileColumn: TypeAlias = "memoryview | array[int]"  # numbers, one for each file
UNCOUNTED = 2**32 - 1  # lines of a file whose lines are not known; none has so many


class Column(Protocol):
    """Numbers, one for each block."""

    def __len__(self) -> int:
        """Return how many there are."""
        ...

    def __getitem__(self, at: int, /) -> int:
        """Return one of them."""
        ...


class File(NamedTuple):
    """A file of the index, its number in the order of paths, and its blocks: they are numbered on from `block`."""

    path: str
    language: str | None
    size_bytes: int
    line_count: int | None
    skip_reason: str | None
    number: int = 0
    block: int = 0
    blocks: int = 0
    encoding: str | None = None  # of the file on disk; None is UTF-8


class Block(NamedTuple):
    """Some consecutive lines of one file in UTF-8, without the last line's end."""

    path: str
    first_line: int
    text: bytes


class BlockWriter:
    """Writes blocks as they come, those of a file one after the other.

    >>> writer = BlockWriter(fd)
    >>> writer.add([Block("a.py", 1, b"import os")])
    >>> writer.finish([File("a.py", "python", 10, 1, None)])
    """

    def __init__(self, fd: int) -> None:
        """Write to an empty file, which the caller closes."""
        self._sections = SectionWriter(fd, "text")
        self._sections.begin("text")
        self._ends = array(PLACE, [0])
        self._first_lines = array(NUMBER)
        self._counts: dict[str, tuple[int, int]] = {}  # path -> its first block, and how many there are

    def add(self, blocks: Iterable[Block]) -> None:
        """Write the next blocks."""
        for path, first_line, text in blocks:
            self._sections.write([text])
            first, count = self._counts.get(path, (len(self._first_lines), 0))
            self._counts[path] = (first, count + 1)
            self._ends.append(self._ends[-1] + len(text))
            self._first_lines.append(first_line)

    def finish(self, files: Iterable[File], unlisted: Sequence[tuple[str, str]] = ()) -> None:
        """Write what is known of all files, those of the blocks among them, and the names that are not, with why."""
        known = sorted(files, key=attrgetter("path"))
        numbers = {file.path: number for number, file in enumerate(known)}
        files_of = array(NUMBER)
        for path, (_, count) in self._counts.items():
            files_of.extend([numbers[path]] * count)
        paths = [file.path.encode() for file in known]
        names: dict[str | None, int] = {}
        about = {
            "lines": [UNCOUNTED if file.line_count is None else file.line_count for file in known],
            "languages": [names.setdefault(file.language, len(names)) for file in known],
            "encodings": [names.setdefault(file.encoding, len(names)) for file in known],
            "reasons": [names.setdefault(file.skip_reason, len(names)) for file in known],
            "first_blocks": [self._counts.get(file.path, (0, 0))[0] for file in known],
            "block_counts": [self._counts.get(file.path, (0, 0))[1] for file in known],
        }
        with self._sections as sections:
            sections.column("block_ends", PLACE, self._ends)
            sections.column("first_lines", NUMBER, self._first_lines)
            sections.column("block_files", NUMBER, files_of)
            sections.begin("paths")
            sections.write(paths)
            sections.column("path_ends", PLACE, accumulate(map(len, paths), initial=0))
            sections.begin("names")
            sections.write([msgspec.msgpack.encode([*names])])
            sections.begin("unlisted")
            sections.write([msgspec.msgpack.encode(unlisted)])
            sections.column("sizes", PLACE, [file.size_bytes for file in known])
            for name, column in about.items():
                sections.column(name, NUMBER, column)
        self._counts.clear()  # a writer outlives what it has written


class Blocks:
    """The file as it is read. Nothing of it is kept but its mapping.

    >>> blocks = Blocks(memory_file.mapped(fd))
    >>> blocks.find("a.py")
    File(path='a.py', language='python', size_bytes=10, line_count=1, skip_reason=None, number=0, block=0, ...)
    >>> blocks.text(0)
    b'import os'
    """

    def __init__(self, data: Mapped) -> None:
        """Read a mapped file. Raises FormatError."""
        sections = Sections(data, "text")
        self._sections, self._data = sections, data
        self._text, self._path_text = sections.start("text"), sections.start("paths")
        self._ends, self._path_ends = sections.column("block_ends"), sections.column("path_ends")
        self.first_lines: Column = sections.column("first_lines")
        self.files_of: Column = sections.column("block_files")
        self.lines: FileColumn = sections.column("lines")
        self.sizes: FileColumn = sections.column("sizes")
        self.languages: FileColumn = sections.column("languages")
        self.reasons: FileColumn = sections.column("reasons")
        self.encodings: FileColumn = sections.column("encodings")
        self._firsts, self._counts = sections.column("first_blocks"), sections.column("block_counts")
        self.names = msgspec.msgpack.decode(sections.column("names"), type=list[str | None])
        self.count = len(self.first_lines)
        self.files = range(len(self.sizes))
        self._numbers: dict[tuple[str, str | None], list[int]] = {}  # of files, as they were asked for

    def forget(self) -> None:
        """Give the pages back that were read so far: they count as memory of the process that maps them."""
        self._sections.forget()

    def in_order(self) -> Iterator[int]:
        """Yield all blocks in the order of paths and lines."""
        return iter(range(self.count))

    def by_block(self) -> FileColumn:
        """Return of each block its file; UNCOUNTED where that is there no more."""
        return array(NUMBER, [self.files_of[block] for block in range(self.count)])

    def text(self, block: int) -> bytes:
        """Return the lines of a block, without the end of the last."""
        return self._data[self._text + self._ends[block] : self._text + self._ends[block + 1]]

    def file_of(self, block: int) -> File:
        """Return the file that a block is of."""
        return self.file(self.files_of[block])

    def find(self, path: str) -> File | None:
        """Return the file at a path."""
        file = next(self.below(path), None)
        return file if file and file.path == path else None

    def first(self, path: str) -> int:
        """Return the number of the first file whose path is not before this one."""
        return bisect_left(self.files, path, key=self.path)

    def below(self, prefix: str) -> Iterator[File]:
        """Yield the files whose path begins with a text, in the order of paths."""
        for number in self.files[self.first(prefix) :]:
            file = self.file(number)
            if not file.path.startswith(prefix):
                return
            yield file

    def holding(self, file: File, first: int, last: int) -> Sequence[int]:
        """Return the blocks of a file that hold the lines from `first` to `last`."""
        end = file.block + file.blocks
        start = bisect_right(self.first_lines, first, file.block, end) - 1
        return range(max(start, file.block), bisect_right(self.first_lines, last, file.block, end))

    @cached_property
    def unlisted(self) -> dict[str, str]:
        """The names of the project that are no files of the index, those of directories with a slash, and why."""
        return dict(msgspec.msgpack.decode(self._sections.column("unlisted"), type=list[tuple[str, str]]))

    def without_text(self, reason: str) -> list[int]:
        """Return the numbers of the files that have no text for this reason."""
        return self._where("reasons", self.reasons, reason)

    def in_language(self, language: str) -> list[int]:
        """Return the numbers of the files in a language."""
        return self._where("languages", self.languages, language)

    def not_utf8(self) -> list[int]:
        """Return the numbers of the files that are in another encoding on disk."""
        return self._where("encodings", self.encodings, None, is_other=True)

    def path(self, number: int) -> str:
        """Return the path of the file with this number."""
        return self.raw_path(number).decode()

    def raw_path(self, number: int) -> bytes:
        """Return the same path in UTF-8."""
        start = self._path_text
        return self._data[start + self._path_ends[number] : start + self._path_ends[number + 1]]

    def blocks_of(self, number: int) -> range:
        """Return the blocks of the file with this number."""
        first = self._firsts[number]
        return range(first, first + self._counts[number])

    def file(self, number: int) -> File:
        """Return the file with this number."""
        lines = self.lines[number]
        return File(
            self.path(number),
            self.names[self.languages[number]],
            self.sizes[number],
            None if lines == UNCOUNTED else lines,
            self.names[self.reasons[number]],
            number,
            self._firsts[number],
            self._counts[number],
            self.names[self.encodings[number]],
        )

    def _where(self, name: str, column: FileColumn, value: str | None, *, is_other: bool = False) -> list[int]:
        """Return the numbers of the files of which a column says this, or anything else. They are looked for once."""
        key = name, value
        if key not in self._numbers:
            place = self.names.index(value) if value in self.names else None
            self._numbers[key] = [number for number, at in enumerate(column) if (at != place) is is_other]
        return self._numbers[key]
