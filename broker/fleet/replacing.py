"""A new file in the place of an old one: all of it, on the disk, or nothing. Its directory is in no repository."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fledgling.broker import own_file
from fledgling.broker.fleet import verified
from fledgling.broker.fleet.shard import root_digest
from fledgling.broker.fleet.verified import ShardError
from fledgling.broker.own_file import OwnFileError

NEW = ".new"  # behind a dot and the name of a file that is being made


def directory(out: Path) -> int:
    """Open a directory to write files to, which is this user's and in no repository of Git. Raises ShardError."""
    outside_git(out)
    return verified.open_directory(str(out))


def outside_git(out: Path) -> None:
    """Raise ShardError where a directory is in a work tree of Git, whose part it would be, or among Git's own files."""
    place = out.resolve()
    for each in (place, *place.parents):
        if os.path.lexists(each / ".git"):
            raise ShardError("the directory is inside a work tree of Git; name one outside of every repository")
        if all(os.path.lexists(each / name) for name in ("HEAD", "objects", "refs")):  # what Git knows one by
            raise ShardError("the directory is inside a repository of Git; name one outside of every repository")


def outside(out: Path, repositories: Iterable[tuple[str, str | None]]) -> None:
    """Raise ShardError where a directory is inside a repository; each has a name, and perhaps a `root_digest`."""
    place = out.resolve()
    above = {root_digest(str(each)) for each in (place, *place.parents)}
    for name, root in repositories:
        if root in above:
            raise ShardError(f"the directory is inside the repository {name}; name one outside of every repository")


@contextmanager
def new(out: Path, name: str, roots: Iterable[str], directory: int) -> Iterator[int]:
    """Open what is to be a file of a directory, empty and locked; it is removed at the end unless it was `put`."""
    path = out / f".{name}{NEW}"
    fd = own_file.opened(path, roots, denied=0o022, shared="others can write to it")
    try:
        if not _is_there(path.name, directory, fd):
            raise OwnFileError("another process has just made it; try again")
        os.ftruncate(fd, 0)
        yield fd
    finally:
        if _is_there(path.name, directory, fd):
            os.unlink(path.name, dir_fd=directory)
        os.close(fd)


def put(name: str, directory: int) -> None:
    """Let what was written, and is on the disk, be the file of that name."""
    os.rename(f".{name}{NEW}", name, src_dir_fd=directory, dst_dir_fd=directory)
    os.fsync(directory)


def _is_there(name: str, directory: int, fd: int) -> bool:
    """Return whether a name is still that of an open file: who had the lock before may have renamed it."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.stat(name, dir_fd=directory, follow_symlinks=False), os.fstat(fd))
    return False
