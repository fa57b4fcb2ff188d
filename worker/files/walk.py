"""The walk: which files a tree holds, by git's own rules and without git.

It lists what `git ls-files --cached --others --exclude-standard` lists at the root and is on disk: files that are
tracked or not ignored, and symlinks as themselves. `scope.exclude_patterns` then take more away, tracked or not. A
repository nested in a repository is left out, as git does; below a root that is none, each has its own rules.

    walk(root_fd, Scope()) -> Tree(entries=[Entry(path="a.py", ...), ...], left_out={"ignored": 3}, partial=None, ...)

What is not listed is counted: `left_out` says how many names, by reason; a directory that was not entered is one name.
"""

import errno
import os
import time
from collections import Counter
from itertools import islice
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from fledgling.gitignore import compile_patterns
from fledgling.scope import Scope
from fledgling.security.secret_files import is_secret
from fledgling.worker.files import repository
from fledgling.worker.files.display_name import shown
from fledgling.worker.files.ignore import MAX_FILE, Rules
from fledgling.worker.files.openat import open_directory, read_file

MAX_DEPTH = 128  # directories in one another: one descriptor each, of the indexer's 256; real trees stay below 40
MAX_NAMES = 500_000  # names looked at: ten times the default of max_files, and about five seconds
PATH_BYTES = 256  # of paths and targets of links for each of those names, on average: one may have 32 KiB
MAX_SECONDS = 30.0  # of CPU time; hostile rules take milliseconds to compile for a directory, and to match a name
NAMES_A_LOOK = 64  # names between two looks at that time, each of which takes a tenth of what an ordinary name does
BEYOND = "The project is larger than one walk takes: files may be missing."  # says nothing of what a view hides
MAX_NOTICES = 20  # sentences; a hostile tree gives cause for one in every directory


_GIT_NAMES = frozenset({"HEAD", "objects", "refs"})  # by which git itself knows a repository


class Entry(Struct, frozen=True, array_like=True, gc=False):
    """A file or symlink: its path as text and, to read it by (worker/files/openat.py), as the bytes on disk.

    `target` is what a symlink says, and None for a file. `skip_reason` says why it is not read, where its name and size
    tell: "symlink", "secret" or "too large".
    """

    path: str
    raw: bytes
    target: str | None
    size: int
    modified_ns: int
    skip_reason: str | None = None


class Tree(Struct, frozen=True):
    """What a walk found, in the order of the paths, and what it left out.

    `partial` says in a sentence which entries are missing, if any are; `notices` what else a user should know.
    """

    entries: list[Entry]
    left_out: dict[str, int]
    partial: str | None
    notices: list[str]


class _Directory(Struct):
    """A directory on the way from the root to where the walk is. Its path ends in a slash; the root's is empty.

    A bare repository `is_git` whatever it is called: its `config` may hold what logs in to where it was cloned from.
    """

    fd: int
    path: bytes
    rules: Rules
    pending: list[tuple[bytes, bool]]  # directories in it that are still to be entered, and whether they are ignored
    is_git: bool = False


def walk(root_fd: int, scope: Scope, *, names: int = MAX_NAMES, is_whole: bool = False) -> Tree:
    """Walk the tree below the open directory. Raises OSError where the root itself cannot be read.

    Where a view has yet to decide which files there are, the tree `is_whole`: `max_files` counts those that it leaves,
    and what ended the walk is a notice for the operator alone.
    """
    walking = _Walk(os.fstat(root_fd).st_dev, scope, names)
    walking.run(root_fd)
    entries = sorted(walking.entries, key=attrgetter("path"))
    ended = f"The walk ended after {walking.limit}; what comes later is missing." if walking.limit else None
    notices = _first(walking.notices)
    if is_whole:
        return Tree(entries, dict(walking.left_out), BEYOND if ended else None, [ended, *notices] if ended else notices)
    entries, cut = nearest(entries, scope.max_files)
    return Tree(entries, dict(walking.left_out), " ".join(filter(None, (ended, cut))) or None, notices)


def _first(notices: list[str]) -> list[str]:
    """As many notices as anybody reads, and how many more there are."""
    more = len(notices) - MAX_NOTICES
    return [*notices[:MAX_NOTICES], f"And {more:,} more like these."] if more > 0 else notices


def nearest(entries: list[Entry], most: int) -> tuple[list[Entry], str | None]:
    """Return as many entries as there may be, those nearest to the root, and a sentence if some are missing.

    Entries come and go in the order of their paths.
    """
    if len(entries) <= most:
        return entries, None
    kept = sorted(entries, key=lambda entry: entry.raw.count(b"/"))[:most]
    cut = f"Only {most:,} of {len(entries):,} files are indexed: those nearest to the root, then by path."
    return sorted(kept, key=attrgetter("path")), cut


class _Walk:
    """A walk under way: depth first, without recursion, each directory opened once, under its parent's descriptor."""

    def __init__(self, device: int, scope: Scope, most_names: int) -> None:
        self.device = device
        self.most_names = most_names
        self.excludes = compile_patterns(pattern.encode() for pattern in scope.exclude_patterns)
        self.max_file_size = scope.max_file_size
        self.entries: list[Entry] = []
        self.left_out: Counter[str] = Counter()
        self.notices: list[str] = []
        self.names = 0
        self.path_bytes = 0
        self.end = time.process_time() + MAX_SECONDS
        self.limit: str | None = None  # what ended the walk before its end

    def run(self, root_fd: int) -> None:
        """Walk it all, or up to a limit."""
        way: list[_Directory] = []
        try:
            self._enter(way, b".", root_fd, b"", Rules())
            while way:
                self._step(way)
        finally:
            for directory in way:
                os.close(directory.fd)

    def _step(self, way: list[_Directory]) -> None:
        """Enter the next directory below the last one on the way, or go back up."""
        directory = way[-1]
        if not directory.pending or self._is_over():
            os.close(way.pop().fd)
            return
        name, is_ignored = directory.pending.pop()
        if len(way) > MAX_DEPTH:
            self.left_out["too deep"] += 1
            return
        rules = directory.rules
        if is_ignored != rules.is_ignored:
            rules = replace(rules, is_ignored=is_ignored)
        try:
            self._enter(way, name, directory.fd, directory.path + name + b"/", rules)
        except OSError as error:
            self._count_error(error, "unreadable directory")

    def _enter(self, way: list[_Directory], name: bytes, parent: int, path: bytes, rules: Rules) -> None:
        """Open a directory, put it on the way, and sort out the names in it."""
        directory = _Directory(open_directory(name, parent, self.device), path, rules, [])
        way.append(directory)
        with os.scandir(directory.fd) as names:
            found = {item.name: item for item in islice(names, self.most_names + 1 - self.names)}
        self.names += len(found)
        directory.is_git = found.keys() >= _GIT_NAMES
        if self._take_rules(directory, found):
            ordered = sorted(found.values(), key=attrgetter("name"), reverse=True)  # the first is entered first
            for number, item in enumerate(ordered):
                if number % NAMES_A_LOOK == 0 and self._is_over():
                    break
                self._place(directory, item)
        if self.names > self.most_names:
            self.limit = f"{self.most_names:,} names"

    def _is_over(self) -> bool:
        """Whether a limit ends the walk here."""
        if time.process_time() > self.end:
            self.limit = f"{MAX_SECONDS:g} seconds"
        elif self.path_bytes > self.most_names * PATH_BYTES:
            self.limit = f"{self.path_bytes:,} bytes of paths"
        return self.limit is not None

    def _take_rules(self, directory: _Directory, found: dict[str, os.DirEntry[str]]) -> bool:
        """Take over what the directory's `.git` and `.gitignore` say; False if it is a repository to be left out."""
        rules = directory.rules
        if ".git" in found and not rules.tracked.reaches_into(directory.path[rules.base : -1]):
            nested = repository.read(found[".git"], directory.fd, self.device)
            if nested and rules.in_repository:
                self.left_out["nested repository"] += 1
                return False
            if nested:
                self._start(directory, nested)
        if ".gitignore" in found and found[".gitignore"].is_file(follow_symlinks=False):
            try:
                self._add(directory, read_file(b".gitignore", directory.fd, self.device, MAX_FILE), ".gitignore")
            except OSError as error:
                self.notices.append(f"{shown(directory.path)}.gitignore cannot be read: {error.strerror}.")
        return True

    def _start(self, directory: _Directory, found: repository.Repository) -> None:
        """From here on the rules of this repository hold, and no others."""
        directory.rules = Rules(len(directory.path), in_repository=True, tracked=found.tracked)
        self._add(directory, found.exclude, ".git/info/exclude")
        if found.problem:
            where = shown(directory.path) or "the root"
            self.notices.append(f"Tracked files below {where} are left out where they are ignored: {found.problem}.")

    def _add(self, directory: _Directory, data: bytes, name: str) -> None:
        directory.rules, is_complete = directory.rules.with_file(data, len(directory.path))
        if not is_complete:
            self.notices.append(f"{shown(directory.path)}{name} is past a limit: some of its rules were not used.")

    def _place(self, directory: _Directory, item: os.DirEntry[str]) -> None:
        """Sort out one name: an entry, a directory to enter, or left out."""
        name = os.fsencode(item.name)
        if name == b".git":
            return
        path, rules = directory.path + name, directory.rules
        try:
            is_directory = item.is_dir(follow_symlinks=False)
            if self.excludes.verdict(path, is_directory=is_directory):
                self.left_out["excluded"] += 1
                return
            is_ignored = rules.ignore(path, is_directory=is_directory)
            if is_ignored and not rules.track(path, is_directory=is_directory):
                self.left_out["ignored"] += 1
            elif not is_directory:
                self._list(directory, item, path)
            elif path[rules.base :] in rules.tracked.submodules:
                self.left_out["nested repository"] += 1
            else:
                directory.pending.append((name, is_ignored))
        except OSError as error:
            self._count_error(error, "unreadable file")

    def _list(self, directory: _Directory, item: os.DirEntry[str], path: bytes) -> None:
        """Add a file or symlink to the entries. A FIFO, socket or device is not even opened."""
        is_symlink = item.is_symlink()
        if not is_symlink and not item.is_file(follow_symlinks=False):
            self.left_out["special file"] += 1
            return
        status = item.stat(follow_symlinks=False)
        if status.st_dev != self.device:
            self.left_out["other file system"] += 1
            return
        target = shown(os.fsencode(os.readlink(item.name, dir_fd=directory.fd))) if is_symlink else None
        name = shown(path)
        self.path_bytes += len(path) + len(target or "")
        reason = "symlink" if is_symlink else self._skip_reason(directory, name, status.st_size)
        self.entries.append(Entry(name, path, target, status.st_size, status.st_mtime_ns, reason))

    def _skip_reason(self, directory: _Directory, path: str, size: int) -> str | None:
        name = path.removeprefix(shown(directory.path))
        if is_secret(path) or (directory.is_git and is_secret(f".git/{name}")):
            return "secret"
        return "too large" if size > self.max_file_size else None

    def _count_error(self, error: OSError, reason: str) -> None:
        self.left_out["other file system" if error.errno == errno.EXDEV else reason] += 1
