"""The look for what has changed below a root since the last look: a `stat` of every file, directory and rule.

No watch is kept: Landlock does not confine inotify, queues of events overflow, and some file systems raise none. A look
costs some three microseconds a file, and nothing is done between two looks. A file is another where its size, one of
its times or its inode is: they are compared for equality alone, since clocks go wrong and times can be set.
"""

import os
from collections.abc import Iterator, Mapping

from msgspec import Struct

from fledgling.scope import Scope
from fledgling.worker.files import repository
from fledgling.worker.files.openat import directory_below
from fledgling.worker.files.stamps import ruling, stamp_of
from fledgling.worker.files.tree import Entry
from fledgling.worker.files.walk import NO_STAMP, Seen, Walk
from fledgling.worker.process import fault
from fledgling.worker.reasons import CLOSED_DIRECTORY
from fledgling.worker.rows import Stamp

HEAD, INDEX = b".git/HEAD", b".git/index"


class ChangedFiles(Struct, frozen=True):
    """What a look has found: entries that are new or others, by path, and the paths of those that are gone."""

    changed: dict[str, Entry] = {}
    removed: list[str] = []


class Sweeper:
    """The files below a root, as the last look found them.

    >>> sweeper = Sweeper(root_fd, Scope(), names=500_000, is_whole=False)
    >>> sweeper.look().changed
    {'a.py': Entry(path='a.py', ...)}
    """

    def __init__(self, root_fd: int, scope: Scope, *, names: int, is_whole: bool) -> None:
        """Walk the whole tree, as `walk` does. Raises OSError where the root cannot be read."""
        self._root_fd, self._scope, self._names, self._is_whole = root_fd, scope, names, is_whole
        self.entries: dict[str, Entry] = {}  # by path
        self._holds = True  # what the walk has seen; not after a look that could not end
        self._walk_all()

    def look(self) -> ChangedFiles:
        """Look at everything once more. What changes after its beginning may be left to the next look.

        Raises OSError where the root cannot be read, and has forgotten nothing then.
        """
        if not self._holds:
            return self._look_at_all()
        others = [path for path, seen in self._walk.seen.items() if self._has_other_names(path, seen)]
        if self._has_other_rules() or (others and self._is_cut):
            return self._look_at_all()
        before = dict(self._walk.seen)
        if not all(map(self._again, sorted(others))) or self._walk.limit or self._is_cut:
            return self._look_at_all()
        changed, removed = self._exchanged(before, self._walk.seen) if others else ({}, [])
        if others:
            self.unlisted = self._walk.unlisted()
        for entry in self._with_other_stamps(before):
            changed[entry.path] = entry
        self.entries |= changed
        for path in removed:
            del self.entries[path]
        return ChangedFiles(changed, removed)

    @property
    def _is_cut(self) -> bool:
        """Whether there are more files than are listed: then a change anywhere may bring in others."""
        most = None if self._is_whole else self._scope.max_files
        files = sum(len(seen.entries) for seen in self._walk.seen.values())
        return self._walk.limit is not None or (most is not None and files > most)

    def _walk_all(self) -> None:
        walk = Walk(self._root_fd, self._scope, self._names)
        walk.run()
        self._walk = walk
        tree = self._walk.tree(is_whole=self._is_whole)
        self.entries = {entry.path: entry for entry in tree.entries}
        self.cut = tree.partial  # which files are missing, as a sentence
        self.unlisted = self._walk.unlisted()  # names that are left out, with why

    def _look_at_all(self) -> ChangedFiles:
        before, self._holds = self.entries, False
        self._walk_all()
        self._holds = True
        changed = {path: entry for path, entry in self.entries.items() if before.get(path) != entry}
        return ChangedFiles(changed, [path for path in before if path not in self.entries])

    def _has_other_names(self, path: bytes, seen: Seen) -> bool:
        try:
            return stamp_of(os.stat(path or b".", dir_fd=self._root_fd, follow_symlinks=False)) != seen.stamp
        except OSError:
            return seen.stamp != NO_STAMP

    def _again(self, path: bytes) -> bool:
        """Read a directory anew; False where it has names now that make rules for others."""
        if path not in self._walk.seen:  # what was above it is gone
            return True
        try:
            return self._walk.again(path)
        except OSError:  # of the root
            return False
        except Exception as problem:  # noqa: BLE001  (a walk of all knows what to leave out)
            fault.survived(problem)
            return False

    def _exchanged(self, before: Mapping[bytes, Seen], now: Mapping[bytes, Seen]) -> tuple[dict[str, Entry], list[str]]:
        """Return what is in directories that were read anew, and which paths are no more."""
        old: dict[str, Entry] = {}
        new: dict[str, Entry] = {}
        for path in before.keys() | now.keys():
            was, is_now = before.get(path), now.get(path)
            if was is not is_now:
                old |= {entry.path: entry for entry in was.entries.values()} if was else {}
                new |= {entry.path: entry for entry in is_now.entries.values()} if is_now else {}
        return (
            {path: entry for path, entry in new.items() if old.get(path) != entry},
            [path for path in old if path not in new],
        )

    def _with_other_stamps(self, before: Mapping[bytes, Seen]) -> Iterator[Entry]:
        """Yield the files that were written to, of the directories that were not read anew."""
        for path, seen in self._walk.seen.items():
            if before.get(path) is seen:
                for raw, entry in seen.entries.items():
                    try:
                        status = os.stat(raw, dir_fd=self._root_fd, follow_symlinks=False)
                    except OSError:  # since its directory was looked at: the next look will tell
                        continue
                    if (
                        status.st_mtime_ns != entry.modified_ns
                        or status.st_ctime_ns != entry.changed_ns
                        or status.st_size != entry.size
                        or status.st_ino != entry.inode
                    ):
                        stamp = Stamp(status.st_size, *stamp_of(status))
                        if stamp != entry.stamp:
                            seen.entries[raw] = entry.restamped(stamp, self._scope.max_file_size)
                            yield seen.entries[raw]

    # ---- rules -------------------------------------------------------------------------------------------------------

    def _has_other_rules(self) -> bool:
        """Return whether a file that makes rules for others is another: an ignore file, or what git tracks."""
        return any(self._rules_otherwise(path, seen) for path, seen in self._walk.seen.items() if seen.ruling)

    def _rules_otherwise(self, path: bytes, seen: Seen) -> bool:
        now = ruling(_names(seen), path, self._root_fd)
        others = {name for name, stamp in now.items() if stamp != seen.ruling[name]}
        if not others or not others <= {HEAD, INDEX} or seen.left_out_as == CLOSED_DIRECTORY:
            return bool(others)
        seen.ruling |= {name: now[name] for name in others}  # git rewrites them whenever it is asked
        if seen.left_out_as and others == {INDEX}:
            return False
        return self._is_another(path, seen)

    def _is_another(self, path: bytes, seen: Seen) -> bool:
        """Return whether a directory is a repository now and was none, the reverse, or tracks other files."""
        try:
            found = self._repository(path)
        except OSError:
            return True
        is_own = seen.rules.in_repository and seen.rules.base == len(path)
        if seen.left_out_as or not is_own:
            return bool(seen.left_out_as) != (found is not None)
        return found is None or found.tracked != seen.rules.tracked

    def _repository(self, path: bytes) -> repository.Repository | None:
        with (
            directory_below(self._root_fd, path.split(b"/")[:-1], self._walk.device) as directory,
            os.scandir(directory) as names,
        ):
            git = next((item for item in names if item.name == ".git"), None)
            return repository.read(git, directory, self._walk.device) if git else None


def _names(seen: Seen) -> list[str]:
    return [name.decode() for name in seen.ruling]
