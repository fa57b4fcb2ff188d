"""Which branches and commits the refs of the root's repository name: looked up by a name, never listed.

Layout: gitrepository-layout(5), git-pack-refs(1). All of it is hostile input. A `.git` that is a file (in a worktree or
submodule) or a symlink leads out of the tree and is not followed, and refs in a table are not read: then nothing is
known, and that is said. What is in the history behind the refs is not looked at.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, suppress

from fledgling.messages.following import AskRefs, Refs
from fledgling.worker.files.openat import mode_at, open_directory, read_file

MAX_PACKED = 64 << 20  # bytes of packed-refs; some 800,000 refs
MAX_REF = 1024  # bytes of a loose ref: a hash, or the name of another ref
MAX_REFS = 20_000  # loose refs, and directories of them, that are read to find a commit; git packs them long before
MAX_DEPTH = 32  # directories of refs in one another
_BRANCHES = (b"refs/heads", b"refs/remotes")
_LINK = "a link among its refs is not followed"


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
        branch = _has_branch(git, device, asked.branch.encode()) if asked.branch else None
        commit = _has_commit(git, device, asked.commit.encode()) if asked.commit else None
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
    has = {name: mode_at(name, git) is not None for name in (b"HEAD", b"refs", b"reftable", b"commondir")}
    problem = "its .git is not a repository" if not (has[b"HEAD"] and has[b"refs"]) else None
    problem = "its refs are in a table, which is not read" if has[b"reftable"] else problem
    problem = "its .git shares the refs of another repository: they are elsewhere" if has[b"commondir"] else problem
    if problem:
        os.close(git)
        raise UnknownError(problem)
    return git


def _packed(git: int, device: int) -> bytes:
    """Return the lines of packed-refs, `HASH NAME` or `^HASH`, a line break around each; of no file, no line.

    Read after the loose refs: git packs a ref before it takes the loose one away.
    """
    try:
        data = read_file(b"packed-refs", git, device, MAX_PACKED)
    except FileNotFoundError:
        return b"\n"
    if len(data) > MAX_PACKED:
        raise UnknownError(f"its packed-refs are larger than {MAX_PACKED >> 20} MB")
    return b"\n" + data + b"\n"


def _has_branch(git: int, device: int, name: bytes) -> bool:
    if any(part[:1] in {b"", b"."} or part.endswith(b".lock") for part in name.split(b"/")):
        return False  # no ref has such a name, git-check-ref-format(1)
    paths = [place + b"/" + name for place in _BRANCHES]
    if any(_is_loose(git, device, path) for path in paths):
        return True
    packed = _packed(git, device)
    return any(b" " + path + b"\n" in packed for path in paths)


def _is_loose(git: int, device: int, path: bytes) -> bool:
    """Return whether a path is that of a loose ref. Raises UnknownError where a link is in the way."""
    *directories, last = path.split(b"/")
    with ExitStack() as opened:
        at = git
        for name in directories:
            if not stat.S_ISDIR(_unlinked(name, at)):
                return False
            at = open_directory(name, at, device)
            opened.callback(os.close, at)
        return stat.S_ISREG(_unlinked(last, at))


def _unlinked(name: bytes, directory: int) -> int:
    """Return of what kind a name is, 0 where there is none. Raises UnknownError for a link."""
    mode = mode_at(name, directory) or 0
    if stat.S_ISLNK(mode):
        raise UnknownError(_LINK)
    return mode


def _has_commit(git: int, device: int, commit: bytes) -> bool:
    """Return whether a ref, or what an annotated tag stands for, is this commit; also a HEAD that is on no branch."""
    is_hidden = False
    refs = open_directory(b"refs", git, device)
    try:
        for data in _loose(refs, device, [MAX_REFS], MAX_DEPTH):
            if data is None:
                is_hidden = True
            elif data.strip() == commit:
                return True
    finally:
        os.close(refs)
    if read_file(b"HEAD", git, device, MAX_REF).strip() == commit:
        return True
    packed = _packed(git, device)
    if b"\n" + commit + b" " in packed or b"\n^" + commit + b"\n" in packed:
        return True
    if is_hidden:
        raise UnknownError(_LINK)
    return False


def _loose(directory: int, device: int, left: list[int], depth: int) -> Iterator[bytes | None]:
    """Yield what the refs below a directory hold, None for a link. Raises UnknownError where there are too many."""
    with os.scandir(directory) as found:
        for item in found:
            left[0] -= 1
            if left[0] < 0:
                raise UnknownError(f"it has more than {MAX_REFS:,} loose refs and directories of them")
            name = os.fsencode(item.name)
            if item.is_symlink():
                yield None
            elif item.is_dir(follow_symlinks=False):
                if not depth:
                    raise UnknownError(f"its refs are more than {MAX_DEPTH} directories deep")
                with suppress(FileNotFoundError):  # packed meanwhile
                    below = open_directory(name, directory, device)
                    try:
                        yield from _loose(below, device, left, depth - 1)
                    finally:
                        os.close(below)
            elif item.is_file(follow_symlinks=False) and not name.endswith(b".lock"):
                with suppress(FileNotFoundError):
                    yield read_file(name, directory, device, MAX_REF)
