"""By what a file, a directory and the rules in it are known again: sizes, times and inodes."""

import os
import stat
from collections.abc import Container

from fledgling.worker.rows import Stamp

State = tuple[int, ...] | None  # what changes with a file; None where there is none


# What a message and a table hold of a time that somebody has set: from 1677 to 2554. Some file systems hold more.
EARLIEST_NS, LATEST_NS = -(2**63), 2**64 - 1


def stamp_of(status: os.stat_result) -> tuple[int, int, int]:
    """Return what changes with the names in a directory."""
    return min(max(status.st_mtime_ns, EARLIEST_NS), LATEST_NS), status.st_ctime_ns, status.st_ino


def state_at(path: bytes, directory: int) -> State:
    """Return the stamp of what is at a path from an open directory."""
    try:
        status = os.stat(path, dir_fd=directory, follow_symlinks=False)
    except OSError:
        return None
    return status.st_mode, status.st_size, *stamp_of(status)


def stamp_at(path: bytes, directory: int) -> Stamp | None:
    """Return the stamp of the file at a path from an open directory; None where there is nothing."""
    try:
        status = os.stat(path, dir_fd=directory, follow_symlinks=False)
    except OSError:
        return None
    return Stamp(status.st_size, *stamp_of(status))


def ruling(names: Container[str], path: bytes, directory: int) -> dict[bytes, State]:
    """Return those of some names in a directory that make rules for others, each with what changes with the rules.

    Of what makes a repository it is enough that it is there; git writes into those whenever it is asked.
    """
    found = {}
    if ".gitignore" in names:
        found[b".gitignore"] = state_at(path + b".gitignore", directory)
    if ".git" in names:
        git = state_at(path + b".git", directory)
        found[b".git"] = (git[0], git[-1]) if git and stat.S_ISDIR(git[0]) else git
        for name in (b".git/commondir", b".git/objects", b".git/refs"):
            part = state_at(path + name, directory)
            found[name] = part and part[:1]
        for name in (b".git/HEAD", b".git/info/exclude", b".git/index"):
            found[name] = state_at(path + name, directory)
    return found
