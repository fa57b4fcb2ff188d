"""A file that this broker alone writes: the audit log, the session. An operator names it, outside every root."""

import fcntl
import os
import stat
from collections.abc import Iterable
from pathlib import Path


class OwnFileError(Exception):
    """The file cannot be used, and why."""


def opened(path: Path, roots: Iterable[str], *, denied: int, shared: str) -> int:
    """Open a file to read and append, new or not, locked to the end: one server writes one file.

    A file whose mode has one of the bits `denied`, or that is somebody else's, is `shared`. Raises OwnFileError.

    >>> opened(path, ["/srv/app"], denied=0o022, shared="others can write to it")
    3
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        if any(path.parent.resolve(strict=True).is_relative_to(root) for root in roots):
            raise OwnFileError("it is inside the root")
        fd = os.open(path, flags, 0o600)
    except (OSError, ValueError) as failed:
        raise OwnFileError(f"it cannot be opened ({getattr(failed, 'strerror', failed)})") from failed
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        raise OwnFileError("it is not a regular file with a single name")
    if found.st_uid != os.geteuid() or found.st_mode & denied:
        raise OwnFileError(shared)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise OwnFileError("another process is writing to it") from None
    return fd


def check_named(fd: int) -> None:
    """Raise OwnFileError where the file has lost its name: what is written to it ends with this process.

    So it is where a rotation compresses what it has renamed. Renamed alone, it is the same file.
    """
    if not os.fstat(fd).st_nlink:
        raise OwnFileError("it was removed while the server ran; start the server again")
