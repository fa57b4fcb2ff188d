"""What a directory's `.git` says about the files beside it; nothing else in it is ever read.

A `.git` that is a file (in a worktree or submodule) or a symlink, or that shares a `commondir`, leads elsewhere and is
not followed: then it is known that this is a repository, but not which files it tracks.
"""

import os
import re
import stat
from functools import partial

from msgspec import Struct

from fledgling.worker.files import git_index, ignore
from fledgling.worker.files.openat import mode_at, open_directory, read_file
from fledgling.worker.process import fault

MAX_HEAD = 255  # bytes of HEAD that git looks at (setup.c)
_HEAD = re.compile(rb"ref:[ \t\r\n]*refs/|[0-9A-Fa-f]{40}")  # how it begins, as a symlink with `refs/`


class Repository(Struct, frozen=True):
    """What a repository tracks, its own ignore rules (`.git/info/exclude`), and why the first may be unknown."""

    tracked: git_index.Tracked = git_index.NOTHING
    exclude: bytes = b""
    problem: str | None = None


def read(git: os.DirEntry[str], directory: int, device: int) -> Repository | None:
    """Read the repository whose `.git` this is, a name in the open directory; None if git would not call it one."""
    if git.is_symlink():
        return Repository(problem="its .git is a symlink, which is not followed")
    try:
        if git.is_dir(follow_symlinks=False):
            return _read(directory, device)
        if git.is_file(follow_symlinks=False) and read_file(b".git", directory, device, 8).startswith(b"gitdir: "):
            return Repository(problem="its .git is a file: the index is elsewhere")
        return None
    except OSError as error:
        return Repository(problem=f"its .git cannot be read ({error.strerror})")
    except Exception as problem:  # noqa: BLE001  (any of them would be the end of the index)
        fault.survived(problem)
        return Repository(problem="the server has met a fault of its own in its .git, whose rules are not used")


def _read(directory: int, device: int) -> Repository | None:
    git = open_directory(b".git", directory, device)
    try:
        if not _has_head(git, device):
            return None
        if mode_at(b"commondir", git) is not None:
            return Repository(problem="its .git shares another repository: the rules of that are elsewhere")
        if not all(map(partial(_is_place, git), (b"objects", b"refs"))):
            return None
        exclude = _exclude(git, device)
        try:
            return Repository(_tracked(git, device), exclude)
        except (OSError, git_index.BadIndex) as error:
            return Repository(exclude=exclude, problem=f"its index cannot be read ({error})")
    finally:
        os.close(git)


def _has_head(git: int, device: int) -> bool:
    """Return whether there is a HEAD without which git takes a directory for a plain one."""
    mode = mode_at(b"HEAD", git) or 0
    if stat.S_ISLNK(mode):
        return os.readlink(b"HEAD", dir_fd=git).startswith(b"refs/")
    return stat.S_ISREG(mode) and bool(_HEAD.match(read_file(b"HEAD", git, device, MAX_HEAD)[:MAX_HEAD]))


def _is_place(git: int, name: bytes) -> bool:
    """Return whether a name is a directory, or a link, which may lead to one."""
    mode = mode_at(name, git) or 0
    return stat.S_ISDIR(mode) or stat.S_ISLNK(mode)


def _tracked(git: int, device: int) -> git_index.Tracked:
    """What the index lists; nothing where there is none yet. Raises OSError and BadIndex."""
    try:
        data = read_file(b"index", git, device, git_index.MAX_INDEX)
    except FileNotFoundError:
        return git_index.NOTHING
    return git_index.parse(data)


def _exclude(git: int, device: int) -> bytes:
    """The repository's own ignore file; empty where there is none that can be read."""
    try:
        info = open_directory(b"info", git, device)
    except OSError:
        return b""
    try:
        return read_file(b"exclude", info, device, ignore.MAX_FILE)
    except OSError:
        return b""
    finally:
        os.close(info)
