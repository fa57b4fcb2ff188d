"""The one file that a report is written to. It is opened before the broker may open nothing any more.

One descriptor is all there is then: no name can be made, moved or taken away. An earlier report stays what it is until
there is room on the disk for the next; what fails after that leaves the file empty, as a new one is until then.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fledgling.config import ConfigError

FIX = "name a new file, or an earlier report"


class Output:
    """An open file that takes its whole text at once."""

    def __init__(self, fd: int, source: str) -> None:
        self._fd, self._source = fd, source
        self._bytes = os.fstat(fd).st_size

    def write(self, text: str) -> None:
        """Replace what the file says. Raises ConfigError where that cannot be; no half of it is left."""
        data = memoryview(text.encode())
        left = self._bytes
        try:
            os.posix_fallocate(self._fd, 0, len(data))
            left = 0
            for start in range(0, len(data), 2**20):
                os.pwrite(self._fd, data[start : start + 2**20], start)
            os.ftruncate(self._fd, len(data))
            os.fsync(self._fd)
        except OSError as wrong:
            os.ftruncate(self._fd, left)
            raise ConfigError(self._source, f"it cannot be written ({wrong.strerror})", "name another file") from None


@contextmanager
def opened(path: Path, mark: str) -> Iterator[Output]:
    """Open a new or empty file, or one that begins with `mark`, to the end of the block. Raises ConfigError."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(path, flags, 0o666)
    except (OSError, ValueError) as wrong:
        reason = wrong.strerror if isinstance(wrong, OSError) else wrong
        raise ConfigError(str(path), f"it cannot be opened ({reason})", FIX) from None
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise ConfigError(str(path), "it is not a regular file", FIX)
        if status.st_size and os.pread(fd, len(mark.encode()), 0) != mark.encode():
            raise ConfigError(str(path), "it exists already, and is not a report", FIX)
        yield Output(fd, str(path))
    finally:
        os.close(fd)
