"""Which branches and commits the refs of the root's repository name: looked up by a name, never listed.

Layout: gitrepository-layout(5), git-pack-refs(1). All of it is hostile input. A `.git` that is a file (in a worktree or
submodule) or a symlink leads out of the tree and is not followed, and refs in a table are not read: then nothing is
known, and that is said. What is in the history behind the refs is not looked at.
"""

import os
from collections.abc import Iterator

from fledgling.messages.control import AskRefs, Refs
from fledgling.worker.files.openat import directory_below, open_directory, read_file

MAX_PACKED = 64 << 20  # bytes of packed-refs; some 800,000 refs
MAX_REF = 1024  # bytes of a loose ref: a hash, or the name of another ref
MAX_REFS = 20_000  # loose refs that are read to find a commit; git packs them long before
MAX_DEPTH = 32  # directories of refs in one another
_BRANCHES = (b"refs/heads/", b"refs/remotes/")


class UnknownError(Exception):
    """The refs cannot be read, and why."""


def look(root_fd: int, asked: AskRefs) -> Refs:
    """Say what the refs of the repository at the root know of a branch and a commit.

    >>> look(root_fd, AskRefs(branch="main"))
    Refs(branch=True, commit=None, problem=None)
    """
    device = os.fstat(root_fd).st_dev
    try:
        git = _repository(root_fd, device)
    except UnknownError as unknown:
        return Refs(problem=str(unknown))
    try:
        packed = _packed(git, device)
        branch = _has_branch(git, device, packed, asked.branch.encode()) if asked.branch else None
        commit = _has_commit(git, device, packed, asked.commit.encode()) if asked.commit else None
        return Refs(branch, commit)
    except UnknownError as unknown:
        return Refs(problem=str(unknown))
    except OSError as error:
        return Refs(problem=f"its refs cannot be read ({error.strerror})")
    finally:
        os.close(git)


def _repository(root_fd: int, device: int) -> int:
    """Open the repository of the root; the caller closes it. Raises UnknownError."""
    try:
        git = open_directory(b".git", root_fd, device)
    except FileNotFoundError:
        raise UnknownError("the project has no .git") from None
    except OSError:
        raise UnknownError("its .git is not a directory: the refs are elsewhere") from None
    with os.scandir(git) as found:
        names = {item.name for item in found}
    problem = "its .git is not a repository" if not {"HEAD", "refs"} <= names else None
    problem = "its refs are in a table, which is not read" if "reftable" in names else problem
    if problem:
        os.close(git)
        raise UnknownError(problem)
    return git


def _packed(git: int, device: int) -> bytes:
    """Return the lines of packed-refs, `HASH NAME` or `^HASH`, a line break before each; of no file, no line."""
    try:
        data = read_file(b"packed-refs", git, device, MAX_PACKED)
    except FileNotFoundError:
        return b"\n"
    if len(data) > MAX_PACKED:
        raise UnknownError(f"its packed-refs are larger than {MAX_PACKED >> 20} MB")
    return b"\n" + data


def _has_branch(git: int, device: int, packed: bytes, name: bytes) -> bool:
    *directories, last = name.split(b"/")
    if {b"", b".", b".."} & {*directories, last}:
        return False  # no ref has such a name, git-check-ref-format(1)
    for place in _BRANCHES:
        if b" " + place + name + b"\n" in packed + b"\n":
            return True
        try:
            with directory_below(git, [*place.rstrip(b"/").split(b"/"), *directories], device) as directory:
                read_file(last, directory, device, MAX_REF)
        except OSError:
            continue
        return True
    return False


def _has_commit(git: int, device: int, packed: bytes, commit: bytes) -> bool:
    """Return whether a ref, or what an annotated tag stands for, is this commit; also a HEAD that is on no branch."""
    if b"\n" + commit + b" " in packed or b"\n^" + commit in packed:
        return True
    if read_file(b"HEAD", git, device, MAX_REF).strip() == commit:
        return True
    left = [MAX_REFS]
    refs = open_directory(b"refs", git, device)
    try:
        return any(data.strip() == commit for data in _loose(refs, device, left, MAX_DEPTH))
    finally:
        os.close(refs)


def _loose(directory: int, device: int, left: list[int], depth: int) -> Iterator[bytes]:
    """Yield what the refs below a directory hold. Raises UnknownError where there are too many."""
    with os.scandir(directory) as found:
        for item in found:
            left[0] -= 1
            if not (left[0] and depth):
                raise UnknownError(f"it has more than {MAX_REFS:,} loose refs")
            if item.is_dir(follow_symlinks=False):
                below = open_directory(os.fsencode(item.name), directory, device)
                try:
                    yield from _loose(below, device, left, depth - 1)
                finally:
                    os.close(below)
            elif item.is_file(follow_symlinks=False):
                yield read_file(os.fsencode(item.name), directory, device, MAX_REF)
