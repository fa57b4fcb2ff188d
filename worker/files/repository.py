"""What a directory's `.git` says about the files beside it; nothing else in it is ever read.

A `.git` that is a file (in a worktree or submodule) or a symlink leads out of the tree and is not followed: then it is
known that this is a repository, but not which files it tracks.
"""

import os

from msgspec import Struct

from fledgling.worker.files import git_index, ignore
from fledgling.worker.files.openat import open_directory, read_file

_SIGNS = {"HEAD", "objects", "refs"}  # git takes a directory without these for a plain one (setup.c)


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


def _read(directory: int, device: int) -> Repository | None:
    git = open_directory(b".git", directory, device)
    try:
        with os.scandir(git) as names:
            if not {item.name for item in names} >= _SIGNS:
                return None
        exclude = _exclude(git, device)
        try:
            return Repository(_tracked(git, device), exclude)
        except (OSError, git_index.BadIndex) as error:
            return Repository(exclude=exclude, problem=f"its index cannot be read ({error})")
    finally:
        os.close(git)


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
