"""Opening what lies below the root: the indexer opens nothing by name anywhere else.

Each name is one path segment, opened under the descriptor of the directory that holds it, and never through a symlink.
So nothing outside the root is ever opened, whatever is swapped, linked or renamed meanwhile: a path is not checked at
one moment and used at another.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager

MOST_AT_ONCE = 2**20  # bytes of one read: a file may say that it is of any size
_SAFE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC  # NONBLOCK: a FIFO must not hang us


def open_directory(name: bytes, parent: int, device: int) -> int:
    """Open a directory under its parent's descriptor; the caller closes it.

    Raises OSError: ENOTDIR for anything but a directory, symlinks included; EXDEV for another file system.
    """
    fd = os.open(name, _SAFE | os.O_DIRECTORY, dir_fd=parent)
    _check(fd, stat.S_ISDIR, device)
    return fd


def mode_at(name: bytes, directory: int) -> int | None:
    """Return of what kind a name is, a link itself; None where there is no such name."""
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None


@contextmanager
def directory_below(root_fd: int, segments: Iterable[bytes], device: int) -> Iterator[int]:
    """Open a directory below the root, one segment of its path after the other, for as long as the block lasts.

    >>> with directory_below(root_fd, [b"src", b"core"], device) as directory: ...

    Raises OSError, as `open_directory` does.
    """
    with ExitStack() as opened:
        directory = root_fd
        for segment in segments:
            directory = open_directory(segment, directory, device)
            opened.callback(os.close, directory)
        yield directory


def read_file(name: bytes, directory: int, device: int, limit: int) -> bytes:
    """Return a regular file's bytes, at most limit + 1 of them: one more than the limit says that it is larger.

    Raises OSError: ELOOP for a symlink; EINVAL for a FIFO, device or directory; EXDEV for another file system.
    """
    fd = os.open(name, _SAFE, dir_fd=directory)
    size = _check(fd, stat.S_ISREG, device)
    try:
        return _read(fd, size, limit + 1)
    finally:
        os.close(fd)


def _check(fd: int, is_kind: Callable[[int], bool], device: int) -> int:
    """Return the size of what was opened, or close it and raise."""
    status = os.fstat(fd)
    if is_kind(status.st_mode) and status.st_dev == device:
        return status.st_size
    os.close(fd)
    code = errno.EXDEV if is_kind(status.st_mode) else errno.EINVAL
    raise OSError(code, os.strerror(code))


def _read(fd: int, size: int, most: int) -> bytes:
    """Read to the end, which may move: only where the size and the first read agree is it where that read ended."""
    data = os.read(fd, min(size + 1, most, MOST_AT_ONCE))
    if len(data) == size:
        return data
    pieces, left = [data], most - len(data)
    while left and pieces[-1]:
        pieces.append(os.read(fd, min(left, MOST_AT_ONCE)))
        left -= len(pieces[-1])
    return b"".join(pieces)


class Reader:
    """Reads files below the root, best in path order: it keeps the directories of the last one open.

    >>> with closing(Reader(root_fd)) as reader:
    ...     data = reader.read(b"docs/index.md", limit=1_048_576)
    """

    def __init__(self, root_fd: int) -> None:
        self._root = root_fd
        self._device = os.fstat(root_fd).st_dev
        self._open: list[tuple[bytes, int]] = []

    def read(self, path: bytes, limit: int) -> bytes:
        """Return the file's bytes, at most limit + 1 of them. Raises OSError where it is no longer a regular file."""
        *directories, name = path.split(b"/")
        return read_file(name, self._directory(directories), self._device, limit)

    def close(self) -> None:
        """Close the directories that are still open, but not the root."""
        self._close(0)

    def _directory(self, names: list[bytes]) -> int:
        """The directory's descriptor, opened segment by segment from where the way to it leaves what is open."""
        shared = 0
        while shared < min(len(names), len(self._open)) and names[shared] == self._open[shared][0]:
            shared += 1
        self._close(shared)
        for name in names[shared:]:
            self._open.append((name, open_directory(name, self._top(), self._device)))
        return self._top()

    def _top(self) -> int:
        return self._open[-1][1] if self._open else self._root

    def _close(self, depth: int) -> None:
        for _, fd in self._open[depth:]:
            os.close(fd)
        del self._open[depth:]
