"""The walk: which files a tree holds, by git's own rules and without git.

It lists what `git ls-files --cached --others --exclude-standard` lists at the root and is on disk: files that are
tracked or not ignored, and symlinks as themselves. `scope.exclude_patterns` then take more away, tracked or not. A
repository nested in a repository is left out, as git does, unless there are `scope.submodules`; then, and below a root
that is none, each has its own rules.

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
from fledgling.worker.files.display_name import shown
from fledgling.worker.files.ignore import Rules
from fledgling.worker.files.openat import directory_below, open_directory
from fledgling.worker.files.rule_files import RuleFiles
from fledgling.worker.files.stamps import State, names_stamp, ruling, stamp_of
from fledgling.worker.files.tree import Entry, Tree, foremost, nearest, too_large
from fledgling.worker.process import fault
from fledgling.worker.reasons import (
    CLOSED_DIRECTORY,
    CLOSED_FILE,
    ELSEWHERE,
    EXCLUDED,
    IGNORED,
    NESTED,
    SECRET,
    SPECIAL,
    SUBMODULE,
    SYMLINK,
    TOO_DEEP,
)

MAX_DEPTH = 128  # directories in one another: one descriptor each, of the indexer's 256; real trees stay below 40
MAX_NAMES = 500_000  # names looked at: ten times the default of max_files, and about five seconds
PATH_BYTES = 256  # of paths and targets of links for each of those names, on average: one may have 32 KiB
MAX_SECONDS = 30.0  # of CPU time; hostile rules take milliseconds to compile for a directory, and to match a name
NAMES_A_LOOK = 64  # names between two looks at that time, each of which takes a tenth of what an ordinary name does
BEYOND = "The project is larger than one walk takes: files may be missing."  # says nothing of what a view hides
LEFT_OUT_NAMES = 100  # of one directory that are said, and as many closed directories: 10,000 would take all the room
MAX_UNLISTED = 10_000  # such names in all: a megabyte in an index, and a fifth of a frame of the lister

NO_STAMP: tuple[int, ...] = (0, 0, 0)  # of a directory that cannot even be looked at: what is above it is closed

_GIT_NAMES = frozenset({"HEAD", "objects", "refs"})  # by which git itself knows a repository


class Seen(Struct):
    """A directory that a walk has been in, as whoever walks again needs it.

    `stamp` was taken before its names were read, and `ruling` before the names that make rules for others: of each its
    own stamp. `inherited` are the rules it was entered with, `rules` those that hold in it. `entries` and `directories`
    are what was kept of it, by their paths.
    """

    stamp: tuple[int, ...]
    inherited: Rules
    rules: Rules
    ruling: dict[bytes, State] = {}
    left_out_as: str | None = None  # why nothing in it is listed: a nested repository, or a fault of ours
    left_out: dict[bytes, str] = {}  # LEFT_OUT_NAMES of them at most, by their paths, and why
    names: int = 0
    path_bytes: int = 0  # of them, as Walk.path_bytes counts those of all
    entries: dict[bytes, Entry] = {}
    directories: dict[bytes, bool] = {}  # their paths, and whether they are ignored


class _Directory(Struct):
    """A directory on the way from the root to where the walk is. Its path ends in a slash; the root's is empty.

    A bare repository `is_git` whatever it is called: its `config` may hold what logs in to where it was cloned from.
    """

    fd: int
    path: bytes
    rules: Rules
    seen: Seen
    pending: list[tuple[bytes, bool]]  # directories in it that are still to be entered, and whether they are ignored
    is_git: bool = False


def walk(root_fd: int, scope: Scope, *, names: int = MAX_NAMES, is_whole: bool = False) -> Tree:
    """Walk the tree below the open directory. Raises OSError where the root itself cannot be read.

    Where a view has yet to decide which files there are, the tree `is_whole`: `max_files` counts those that it leaves,
    and what ended the walk is a notice for the operator alone.
    """
    walking = Walk(root_fd, scope, names)
    walking.run()
    return walking.tree(is_whole=is_whole)


def _reason(error: OSError, reason: str) -> str:
    """Return why a name is left out that cannot be opened."""
    return ELSEWHERE if error.errno == errno.EXDEV else reason


class Walk:
    """A walk: depth first, without recursion, each directory opened once, under its parent's descriptor.

    It remembers the directories, so that one alone can be read `again`.
    """

    def __init__(self, root_fd: int, scope: Scope, most_names: int) -> None:
        self.root_fd = root_fd
        self.device = os.fstat(root_fd).st_dev
        self.most_names = most_names
        self.excludes = compile_patterns(pattern.encode() for pattern in scope.exclude_patterns)
        self.max_files = scope.max_files
        self.max_file_size = scope.max_file_size
        self.enters_repositories = scope.submodules
        self.seen: dict[bytes, Seen] = {}  # by paths that end in a slash; the root's is empty
        self.left_out: Counter[str] = Counter()
        self.rule_files = RuleFiles(self.device, enters_repositories=scope.submodules)
        self.names = 0
        self.path_bytes = 0
        self.limit: str | None = None  # what ended the walk before its end
        self._start_clock()

    def run(self) -> None:
        """Walk it all, or up to a limit. Raises OSError where the root itself cannot be read."""
        way: list[_Directory] = []
        try:
            self._enter(way, b".", self.root_fd, b"", Rules())
            while way:
                self._step(way)
        finally:
            for directory in way:
                os.close(directory.fd)

    def again(self, path: bytes) -> bool:
        """Read one directory anew, and walk what is new in it; False where it all must be walked, for other rules.

        One that is there no more is forgotten. Raises OSError where the root cannot be read, and is of no use then.
        """
        known = self._forget(path)
        self._start_clock()
        way: list[_Directory] = []
        try:
            self._enter_again(way, path, known)
            now = self.seen[path]
            gone = [name for name, ignored in known.directories.items() if now.directories.get(name) != ignored]
            for name in gone:
                self.drop(name + b"/")
            way[0].pending = [item for item in way[0].pending if path + item[0] + b"/" not in self.seen]
            while way:
                self._step(way)
        except OSError as error:
            if not path:
                raise
            self.drop(path)
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                self._close(path, known.inherited, error)
            return True
        finally:
            for directory in way:
                os.close(directory.fd)
        return now.ruling.keys() == known.ruling.keys()

    def drop(self, path: bytes) -> None:
        """Forget a directory, and all below it."""
        for other in [other for other in self.seen if other.startswith(path)]:
            self._forget(other)

    def tree(self, *, is_whole: bool) -> Tree:
        """Return what the walk has found; see `walk`."""
        entries = sorted(
            (entry for seen in self.seen.values() for entry in seen.entries.values()), key=attrgetter("path")
        )
        ended = f"The walk ended after {self.limit}; what comes later is missing." if self.limit else None
        notices = foremost(self.rule_files.notices)
        if is_whole:  # a profile hides files: nothing is said of what may be beside them
            notices = [ended, *notices] if ended else notices
            return Tree(entries, dict(self.left_out), BEYOND if ended else None, notices)
        entries, cut = nearest(entries, self.max_files)
        partial = " ".join(filter(None, (ended, cut))) or None
        return Tree(entries, dict(self.left_out), partial, notices, self.unlisted())

    def unlisted(self) -> list[tuple[str, str]]:
        """Return the names that were left out, those nearest to the root where they are too many, by path."""
        left_out = [item for seen in self.seen.values() for item in seen.left_out.items()]
        closed: Counter[bytes] = Counter()
        for path, reason in sorted((path, seen.left_out_as) for path, seen in self.seen.items() if seen.left_out_as):
            above = path[:-1].rpartition(b"/")[0]
            closed[above] += reason != NESTED
            if reason == NESTED or closed[above] <= LEFT_OUT_NAMES:
                left_out.append((path, reason))
        left_out.sort(key=lambda item: (item[0].rstrip(b"/").count(b"/"), item[0]))
        return sorted((shown(path), reason) for path, reason in left_out[:MAX_UNLISTED])

    def _leave_out(self, directory: _Directory, name: bytes, reason: str) -> None:
        """Note that a name in a directory, one of a directory with a slash, is not listed."""
        self.left_out[reason] += 1
        if len(directory.seen.left_out) < LEFT_OUT_NAMES:
            directory.seen.left_out[directory.path + name] = reason
            self._count(directory.seen, len(directory.path) + len(name))

    def _count(self, seen: Seen, path_bytes: int) -> None:
        seen.path_bytes += path_bytes
        self.path_bytes += path_bytes

    def _forget(self, path: bytes) -> Seen:
        """Forget one directory, and count nothing of it any more."""
        seen = self.seen.pop(path)
        self.names -= seen.names
        self.path_bytes -= seen.path_bytes
        return seen

    def _enter_again(self, way: list[_Directory], path: bytes, known: Seen) -> None:
        """Put a directory on the way whose path is known, opening one segment of it after the other."""
        *above, name = path.split(b"/")[:-1] or [b"."]
        with directory_below(self.root_fd, above, self.device) as parent:
            self._enter(way, name, parent, path, known.inherited, known)

    def _step(self, way: list[_Directory]) -> None:
        """Enter the next directory below the last one on the way, or go back up."""
        directory = way[-1]
        if not directory.pending or self._is_over():
            os.close(way.pop().fd)
            return
        name, is_ignored = directory.pending.pop()
        if directory.path.count(b"/") >= MAX_DEPTH:
            self._leave_out(directory, name + b"/", TOO_DEEP)
            return
        rules = directory.rules
        if is_ignored != rules.is_ignored:
            rules = replace(rules, is_ignored=is_ignored)
        try:
            self._enter(way, name, directory.fd, directory.path + name + b"/", rules)
        except OSError as error:
            self._close(directory.path + name + b"/", rules, error)
        except Exception as problem:  # (any of them would be the end of the index)
            if way[-1] is directory:
                raise
            fault.survived(problem)
            self._give_up(way.pop())

    def _close(self, path: bytes, rules: Rules, error: OSError) -> None:
        """Leave out a directory that cannot be read now, and know by its stamp when that may have changed."""
        try:
            stamp = names_stamp(os.stat(path.rstrip(b"/"), dir_fd=self.root_fd, follow_symlinks=False))
        except OSError:
            stamp = NO_STAMP
        seen = self.seen[path] = Seen(stamp, rules, rules, left_out_as=_reason(error, CLOSED_DIRECTORY))
        self.left_out[_reason(error, CLOSED_DIRECTORY)] += 1
        self._count(seen, len(path))

    def _give_up(self, directory: _Directory) -> None:
        """Leave out a directory in which a fault of ours was met: what was found may be what its rules leave out."""
        os.close(directory.fd)
        seen = self._forget(directory.path)
        self.seen[directory.path] = Seen(seen.stamp, seen.inherited, seen.rules, seen.ruling, CLOSED_DIRECTORY)
        self.left_out[CLOSED_DIRECTORY] += 1

    def _enter(
        self, way: list[_Directory], name: bytes, parent: int, path: bytes, rules: Rules, known: Seen | None = None
    ) -> None:
        """Open a directory, put it on the way, and sort out the names in it. What is `known` are its rules."""
        fd = open_directory(name, parent, self.device)
        seen = self.seen[path] = Seen(names_stamp(os.fstat(fd)), rules, rules)  # before its names are read
        directory = _Directory(fd, path, rules, seen, [])
        way.append(directory)
        with os.scandir(fd) as names:
            found = {item.name: item for item in islice(names, self.most_names + 1 - self.names)}
        seen.names, seen.ruling = len(found), ruling(found, b"", fd)
        self.names += len(found)
        directory.is_git = found.keys() >= _GIT_NAMES
        if known and known.left_out_as in (None, NESTED) and known.ruling.keys() == seen.ruling.keys():
            directory.rules, seen.left_out_as, seen.ruling = known.rules, known.left_out_as, known.ruling
        elif rules_here := self.rule_files.taken(path, fd, rules, found):
            directory.rules = rules_here
        else:
            self.left_out[NESTED] += 1
            seen.left_out_as = NESTED
        seen.rules = directory.rules
        if not seen.left_out_as:
            ordered = sorted(found.values(), key=attrgetter("name"), reverse=True)  # the first is entered first
            for number, item in enumerate(ordered):
                if number and number % NAMES_A_LOOK == 0 and self._is_over():  # `_step` has looked before the first
                    break
                self._place(directory, item)
        if self.names > self.most_names:
            self.limit = f"{self.most_names:,} names"

    def _start_clock(self) -> None:
        """Let a walk take MAX_SECONDS from now on."""
        self._end = time.process_time() + MAX_SECONDS
        self._soonest = time.monotonic() + MAX_SECONDS  # a walk is one thread; CPU time takes the kernel longer to tell

    def _is_over(self) -> bool:
        """Whether a limit ends the walk here."""
        if time.monotonic() > self._soonest and time.process_time() > self._end:
            self.limit = f"{MAX_SECONDS:g} seconds"
        elif self.path_bytes > self.most_names * PATH_BYTES:
            self.limit = f"{self.path_bytes:,} bytes of paths"
        return self.limit is not None

    def _place(self, directory: _Directory, item: os.DirEntry[str]) -> None:
        """Sort out one name: an entry, a directory to enter, or left out."""
        name = os.fsencode(item.name)
        if name == b".git":
            return
        path, rules = directory.path + name, directory.rules
        try:
            is_directory = item.is_dir(follow_symlinks=False)
            name += b"/" if is_directory else b""
            if self.excludes.verdict(path, is_directory=is_directory):
                self._leave_out(directory, name, EXCLUDED)
                return
            is_ignored = rules.ignore(path, is_directory=is_directory)
            if is_ignored and not rules.track(path, is_directory=is_directory):
                self._leave_out(directory, name, IGNORED)
            elif not is_directory:
                self._list(directory, item, path)
            elif path[rules.base :] in rules.tracked.submodules and not self.enters_repositories:
                self._leave_out(directory, name, SUBMODULE)
            else:
                directory.seen.directories[path] = is_ignored
                directory.pending.append((name[:-1], is_ignored))
        except OSError as error:
            self._leave_out(directory, name, _reason(error, CLOSED_FILE))
        except Exception as problem:  # noqa: BLE001  (likewise)
            fault.survived(problem)
            self._leave_out(directory, name, CLOSED_FILE)

    def _list(self, directory: _Directory, item: os.DirEntry[str], path: bytes) -> None:
        """Add a file or symlink to the entries. A FIFO, socket or device is not even opened."""
        is_symlink = item.is_symlink()
        if not is_symlink and not item.is_file(follow_symlinks=False):
            self._leave_out(directory, path.removeprefix(directory.path), SPECIAL)
            return
        status = item.stat(follow_symlinks=False)  # before the target is read: one that comes later has another stamp
        if status.st_dev != self.device:
            self._leave_out(directory, path.removeprefix(directory.path), ELSEWHERE)
            return
        target = shown(os.fsencode(os.readlink(item.name, dir_fd=directory.fd))) if is_symlink else None
        name = shown(path)
        self._count(directory.seen, len(path) + len(target or ""))
        reason = SYMLINK if is_symlink else self._skip_reason(directory, name, status.st_size)
        stamp = stamp_of(status)
        entry = Entry(name, path, target, status.st_size, *stamp, reason)
        directory.seen.entries[path] = entry

    def _skip_reason(self, directory: _Directory, path: str, size: int) -> str | None:
        if is_secret(path) or (directory.is_git and is_secret(f".git/{path.removeprefix(shown(directory.path))}")):
            return SECRET
        return too_large(size, self.max_file_size)
