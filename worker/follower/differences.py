"""What differs between a project and the index that was built of it, as updates for a query worker."""

import os
from collections.abc import Iterable, Iterator
from operator import attrgetter

import msgspec
from msgspec import UNSET

from fledgling.messages.control import Update
from fledgling.messages.following import Follow, Obstacle, Swept
from fledgling.messages.status import Changed
from fledgling.pipe import together
from fledgling.worker.extractor.pool import Extractors
from fledgling.worker.files.stamps import is_racy, stamp_at
from fledgling.worker.files.sweep import ChangedFiles, Sweeper
from fledgling.worker.files.text import Pieces
from fledgling.worker.files.tree import Entry
from fledgling.worker.follower.imports import Imports
from fledgling.worker.follower.journal import Journal, Kind
from fledgling.worker.follower.known import Known
from fledgling.worker.follower.reading import MOST_BYTES, Reading
from fledgling.worker.language import Languages
from fledgling.worker.lister.process import most_names
from fledgling.worker.resolving.resolve import UnresolvedError
from fledgling.worker.rows import FileRow
from fledgling.worker.store.kept import Kept
from fledgling.worker.store.parts import Changes, Part
from fledgling.worker.store.text import Blocks

MAX_FILES = 500  # that differ: a worker keeps them beside its index, and each of its calls looks at them
MAX_BYTES = 16 * 2**20  # of their text, likewise
UPDATE_BYTES = 2 * 2**20  # of text in one message, and at least one file; a frame has room for more
SHOWN_PENDING = 20  # paths that an update names


class Differences:
    """The files that differ from the index, by path, and the imports that lead elsewhere.

    Each change has the generation in which it came; `order.generation` is that of the index.

    >>> differences = Differences(order, blocks, kept, languages, extractors)
    >>> differences.look()
    >>> [update.generation for update in differences.since(0)]
    [1]
    """

    def __init__(self, order: Follow, blocks: Blocks, kept: Kept, languages: Languages, extractors: Extractors) -> None:
        """Walk the project once. Raises OSError where the root cannot be read."""
        profile = order.profile
        self._root_fd, self._kept = order.root_fd, kept
        self._has_overlay = not profile.views and order.scope.index_content
        self._sweeper = Sweeper(order.root_fd, order.scope, names=most_names(profile), is_whole=profile.narrows_files)
        self._known = Known(blocks)
        self._reading = Reading(order, languages, extractors)
        self._imports = Imports(languages, kept, self._known)
        self._parts: dict[str, Part] = {}
        self._came: dict[str, int] = {}  # by path, the generation in which it changed last
        self._imports_came: dict[str, int] = {}
        self._unread: dict[str, Entry] = {}  # to be read once more at the next look
        self._pending: list[str] = []
        self._unlisted = self._known.unlisted()
        self._unlisted_came = 0
        self._cut, self._cut_came = order.cut, 0
        self._obstacle: Obstacle | None = None
        self._waiting = 0  # files that differ, where they are too many
        self._has_looked = False
        self._first, self._is_next = order.generation, order.is_next
        self._journal = Journal(order.base, order.generation + order.is_next)
        self.generation = order.generation + order.is_next

    def look(self) -> None:
        """Look at the project, read what has changed, and let a generation begin where something has."""
        if os.fstat(self._root_fd).st_nlink == 0:
            self._obstacle = "no root"
        elif self._obstacle == "no root":  # it could not be read
            self._obstacle = None
        if self._obstacle:
            return
        try:
            found = self._sweeper.look() if self._has_looked else self._first_look()
        except OSError:
            self._obstacle = "no root"
            return
        self._has_looked = True
        if not self._has_overlay:
            is_other = found.changed or found.removed or self._is_unread_other()
            self._obstacle = "no overlay" if is_other else None
        elif (files := len(self._came.keys() | found.changed.keys() | {*found.removed})) > MAX_FILES:
            self._obstacle, self._waiting = "too many changes", files
        else:
            self._take(found)

    def are_current(self, paths: Iterable[str]) -> bool:
        """Return whether files are what they were when they were read; of what is no file nothing is known."""
        entries = [self._sweeper.entries[path] for path in paths if path in self._sweeper.entries]
        return all(stamp_at(entry.raw, self._root_fd) == entry.stamp for entry in entries)

    def since(self, generation: int) -> Iterator[Update]:
        """Yield what has changed since a generation: all of it holds together, or nothing does."""
        if self._obstacle or generation >= self.generation:
            return
        paths = [path for path, came in self._came.items() if came > generation]
        parts = [self._parts[path] for path in paths if path in self._parts]
        if self._is_next and generation <= self._first:
            yield Update(self.generation, msgspec.msgpack.encode(Changes(afresh=True)), is_last=False)
        for some in together(parts, attrgetter("size"), UPDATE_BYTES):
            yield Update(self.generation, msgspec.msgpack.encode(Changes(some)), is_last=False)
        last = Changes(
            removed=[path for path in paths if path not in self._parts],
            imports={path: self._imports.of(path) for path, came in self._imports_came.items() if came > generation},
            pending=self._pending[:SHOWN_PENDING],
            unlisted=self._unlisted if self._unlisted_came > generation else None,
            cut=self._cut if self._cut_came > generation else UNSET,
        )
        yield Update(self.generation, msgspec.msgpack.encode(last))

    def changed(self, generation: int) -> Changed:
        """Return which files are other than at a generation; none where Updates cannot say what has changed."""
        stamps = self._kept.stamps
        whole: dict[str, Kind] = {
            path: kind for path in self._came if (kind := _kind(path in stamps, path in self._parts))
        }
        return self._journal.since(generation, self.generation, whole)

    def swept(self, seconds: float) -> Swept:
        """Return what is to be said of the last look, which took so many seconds of this process."""
        return Swept(self.generation, seconds, self._waiting or len(self._pending), self._obstacle, self._cut)

    def _first_look(self) -> ChangedFiles:
        """Compare the walk with the stamps that the index has kept."""
        entries, stamps = self._sweeper.entries, self._kept.stamps
        changed = {path: entry for path, entry in entries.items() if stamps.get(path) != entry.stamp}
        begun_ns = self._kept.begun_ns
        self._unread = {
            path: entry for path, entry in entries.items() if is_racy(entry.modified_ns, entry.changed_ns, begun_ns)
        }
        return ChangedFiles(changed, [path for path in stamps if path not in entries])

    def _is_unread_other(self) -> bool:
        """Read once more what has to be; return whether any of it may be other than what the index was built of.

        It may be where the index holds no text of it: who hides a file may have hidden it for what stood there.
        """
        readings = self._reading.read(self._unread)
        others = (
            readings.pending
            or [path for path in self._unread if path not in readings.read]
            or [path for path, read in readings.read.items() if not self._is_known(path, self._unread[path], *read)]
        )
        self._unread = readings.again
        return bool(others)

    def _take(self, found: ChangedFiles) -> None:
        """Read what has changed, and say in a new generation what is other than it was known to be."""
        waiting = {**self._unread, **found.changed}
        for path in found.removed:
            waiting.pop(path, None)
        if any(entry.size > MOST_BYTES and not entry.skip_reason for entry in waiting.values()):
            self._obstacle = "too many changes"
            return
        readings = self._reading.read(waiting)
        self._unread = readings.again
        others = {path: read for path, read in readings.read.items() if not self._is_known(path, waiting[path], *read)}
        if not (others or found.removed or self._is_said_otherwise() or readings.pending != self._pending):
            return
        self.generation += 1
        self._say()
        self._pending = readings.pending
        made = self._reading.made(others)
        for path in (*found.removed, *made):
            if kind := _kind(self._is_there(path), path in made):
                self._journal.note(self.generation, path, kind)
        for path in found.removed:
            self._parts.pop(path, None)
        self._parts |= {path: part for path, (part, _) in made.items()}
        self._came |= dict.fromkeys((*found.removed, *made), self.generation)
        if sum(part.size for part in self._parts.values()) > MAX_BYTES:
            self._obstacle = "too many changes"
            return
        links = {path: entry.target for path, entry in self._sweeper.entries.items() if entry.target}
        try:
            moved = self._imports.moved(made, found.removed, links)
        except UnresolvedError:
            self._obstacle = "unresolved imports"
            return
        self._imports_came |= dict.fromkeys(moved, self.generation)

    def _is_said_otherwise(self) -> bool:
        """Return whether something else is to be said of what is no file of the index."""
        return (self._sweeper.unlisted, self._sweeper.cut) != (self._unlisted, self._cut)

    def _say(self) -> None:
        """Let what is said of that be of this generation where it is something else."""
        if self._sweeper.unlisted != self._unlisted:
            self._unlisted, self._unlisted_came = self._sweeper.unlisted, self.generation
        if self._sweeper.cut != self._cut:
            self._cut, self._cut_came = self._sweeper.cut, self.generation

    def _is_there(self, path: str) -> bool:
        """Return whether there is a file, as far as updates have told."""
        return path in (self._parts if path in self._came else self._kept.stamps)

    def _is_known(self, path: str, entry: Entry, row: FileRow, pieces: Pieces | None) -> bool:
        """Return whether a file is after all what it was known to be, as one that is read once more mostly is."""
        if path in self._came:
            part = self._parts.get(path)
            return part is not None and part.row == row and part.blocks == (pieces or [])
        return self._kept.stamps.get(path) == entry.stamp and self._known.pieces(path) == (pieces or [])


def _kind(was_there: bool, is_there: bool) -> Kind | None:  # noqa: FBT001  (they stand in their order)
    """Return what has become of a file; None where there never was one."""
    if was_there:
        return "modified" if is_there else "deleted"
    return "added" if is_there else None
