"""The file system through which DuckDB opens images: a name stands for an open descriptor, no path is looked up.

DuckDB's own file system is disabled before the first image is opened, so nothing that stands on a disk under any name
can take the place of an image, and no file is made beside one.
"""

import os
import sys
from threading import get_ident
from types import ModuleType

import _duckdb as duckdb


class AbstractFileSystem:
    """What DuckDB takes from the package fsspec: the base class of file systems, by which it knows one.

    The package itself takes five times as long to import as DuckDB does, and nothing else of it is used. Where somebody
    has imported it all the same, this takes its place: DuckDB asks for it by name.
    """


_fsspec = ModuleType("fsspec")
_fsspec.AbstractFileSystem = AbstractFileSystem  # type: ignore[attr-defined]
sys.modules["fsspec"] = _fsspec


class ImageFiles(AbstractFileSystem):
    """The images of a process, by name; DuckDB calls the methods, from any of its threads.

    >>> files = ImageFiles({"code": images.code})
    >>> files.register(db)
    >>> db.execute("ATTACH 'image://code' AS code (READ_ONLY)")
    """

    protocol = "image"

    def __init__(self, descriptors: dict[str, int]) -> None:
        """Take the descriptors that names stand for; they stay open as long as an image is attached."""
        self._descriptors = {f"{self.protocol}://{name}": fd for name, fd in descriptors.items()}

    def register(self, db: duckdb.DuckDBPyConnection) -> None:
        """Become the only file system of this DuckDB, for good."""
        db.register_filesystem(self)
        db.execute("SET disabled_filesystems='LocalFileSystem'")

    def forget(self) -> None:
        """Open no file from now on: what is attached stays so."""
        self._descriptors.clear()

    def open(self, name: str, mode: str = "rb") -> "ImageFile | DiscardedLog":
        """Open an image, or its log; FileNotFoundError for every other name."""
        if name in self._descriptors:
            return ImageFile(self._descriptors[name])
        if mode == "wb" and name.removesuffix(".wal") in self._descriptors:
            return DiscardedLog()
        raise FileNotFoundError(name)

    def touch(self, name: str, *, truncate: bool) -> None:
        """Do nothing: so DuckDB says that an image may be cut, but not where. What lies behind is written over."""

    def isfile(self, name: str) -> bool:
        """Return whether there is such a file: only an image is one."""
        return name in self._descriptors

    def size(self, name: str) -> int:
        """Return the bytes of an image; a log has none."""
        return size_of(self._descriptors[name]) if name in self._descriptors else 0


def size_of(fd: int) -> int:
    """Return the bytes of an open file; fstat(3) may be a call that takes a path, which a confined worker has not."""
    return os.lseek(fd, 0, os.SEEK_END)


class ImageFile:
    """An open image. Each thread has a position of its own: DuckDB seeks and reads in two steps, on several threads."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._positions: dict[int, int] = {}

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to an offset from the beginning of the file, as DuckDB does before it reads or writes."""
        assert whence == os.SEEK_SET
        self._positions[get_ident()] = offset
        return offset

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes, less at the end of the file only."""
        data = os.pread(self._fd, size, self._positions[get_ident()])
        self._positions[get_ident()] += len(data)
        return data

    def write(self, data: bytes) -> int:
        """Write all of `data`. Raises OSError where the kernel takes no more of it."""
        left = memoryview(data)
        while left:
            written = os.pwrite(self._fd, left, self._positions[get_ident()])
            self._positions[get_ident()] += written
            left = left[written:]
        return len(data)

    def truncate(self, size: int) -> None:
        """Cut the file, or let it grow."""
        os.ftruncate(self._fd, size)

    def flush(self) -> None:
        """Do nothing: memory has no disk behind it."""

    def close(self) -> None:
        """Do nothing: the descriptor is opened again by its name, and belongs to who made that."""


class DiscardedLog:
    """The write-ahead log of an image while that is filled. Nobody recovers such an image, so nothing of it is kept."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Pretend to move."""
        assert whence == os.SEEK_SET
        return offset

    def write(self, data: bytes) -> int:
        """Drop `data`."""
        return len(data)

    def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
