"""By what a file, a directory and the rules in it are known again: sizes, times and inodes."""

import os
import stat
import time
from collections.abc import Container

from fledgling.worker.rows import Stamp

State = tuple[int, ...] | None  # what changes with a file; None where there is none

# What stands there may be written twice in one tick of the clock that stamps it, and read in between. Kernels tick each
# 10 ms at most; file systems that keep no nanoseconds, every second or two. See "Racy Git" in git's documentation.
TICK_NS, COARSE_TICK_NS = 20_000_000, 2_000_000_000
SECOND_NS = 1_000_000_000

# What a message and a table hold of a time that somebody has set: from 1677 to 2554. Some file systems hold more.
EARLIEST_NS, LATEST_NS = -(2**63), 2**64 - 1


def stamp_of(status: os.stat_result) -> tuple[int, int, int]:
    """Return what changes with the names in a directory."""
    return min(max(status.st_mtime_ns, EARLIEST_NS), LATEST_NS), status.st_ctime_ns, status.st_ino


def is_racy(modified_ns: int, changed_ns: int, read_ns: int) -> bool:
    """Return whether what has these times may have been written once more after it was read, without others.

    >>> is_racy(5_000_000_000, 5_000_000_000, 6_500_000_000)
    True
    """
    is_coarse = modified_ns % SECOND_NS == 0 and changed_ns % SECOND_NS == 0
    return read_ns - changed_ns < (COARSE_TICK_NS if is_coarse else TICK_NS)


def names_stamp(status: os.stat_result) -> tuple[int, ...]:
    """Return what changes with the names in a directory that are read next; it equals no other where that may not."""
    return *stamp_of(status), *_racy(status)


def state_at(path: bytes, directory: int) -> State:
    """Return what changes with the file at a path from an open directory, which is read next; likewise."""
    try:
        status = os.stat(path, dir_fd=directory, follow_symlinks=False)
    except OSError:
        return None
    return status.st_mode, status.st_size, *stamp_of(status), *_racy(status)


def _racy(status: os.stat_result) -> tuple[int, ...]:
    """Return when that was, where the same stamp may soon be that of something else."""
    now = time.time_ns()
    return (now,) if is_racy(status.st_mtime_ns, status.st_ctime_ns, now) else ()


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
        found[b".git"] = (git[0], git[4]) if git and stat.S_ISDIR(git[0]) else git
        for name in (b".git/commondir", b".git/objects", b".git/refs"):
            part = state_at(path + name, directory)
            found[name] = part and part[:1]
        for name in (b".git/HEAD", b".git/info/exclude", b".git/index"):
            found[name] = state_at(path + name, directory)
    return found
