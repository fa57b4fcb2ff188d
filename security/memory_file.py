"""The memory file that holds an image: it has no path on any disk, and once sealed nobody can change it.

See memfd_create(2) and fcntl(2), "File Sealing".
"""

import fcntl
import mmap
import os
import sys
from pathlib import Path


def create() -> int:
    """Return a descriptor of a new, empty, sealable memory file; the caller closes it.

    Where the system has no memory files (macOS) it is a file only its owner may open, in a directory only its owner
    may enter, unlinked before anything is written: it takes space on a disk, but has no name there.
    """
    if sys.platform == "linux":
        return os.memfd_create("fledgling-image", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    return create_unlinked()


def create_unlinked() -> int:
    """Return a descriptor of a new file that has no name any more: `os.fstat(fd).st_nlink` is 0."""
    import tempfile  # noqa: PLC0415  (a worker, which creates none, starts sooner without it)

    with tempfile.TemporaryDirectory(prefix="fledgling-") as private:  # mode 0700
        return os.open(Path(private) / "image", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def seal(fd: int) -> None:
    """Make the file immutable for everybody and for good: no write, no growth, no shrinking, no new seal."""
    if sys.platform == "linux":
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _seals())


def mapped(fd: int) -> mmap.mmap:
    """Map a file for reading; the caller may close `fd`. Raises ValueError for an empty one.

    Private: before Linux 6.7 a shared mapping of a sealed file is refused. Its pages are shared all the same.
    """
    return mmap.mmap(fd, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)


def is_sealed(fd: int) -> bool:
    """Return whether nobody can change the file any more; where the system has no seals, always True."""
    return sys.platform != "linux" or fcntl.fcntl(fd, fcntl.F_GET_SEALS) == _seals()


if sys.platform == "linux":

    def _seals() -> int:
        return fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
