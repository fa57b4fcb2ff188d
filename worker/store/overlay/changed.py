"""What has changed, as far as it was told, and where it stands among the files of the base, which is the sealed index.

Files have three numbers. The base knows one of its files by its number there, and no other reader changes that. A file
of the overlay is numbered in the order of paths, from 0. What tools see is a number in the order of all paths, as a new
build would have given it: `Order` leads from one to the other.
"""

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType

from fledgling.worker.rows import ImportRow
from fledgling.worker.store.parts import Changes, Part
from fledgling.worker.store.sections import NUMBER
from fledgling.worker.store.text import Blocks, FileColumn

MAX_CHANGED = 500  # files: each costs every search some microseconds, and what is more is soon built anew
MAX_TEXT = 16 * 2**20  # bytes in them: they are held beside the base, and again in each of the last snapshots' tables


class OvergrownError(Exception):
    """So much has changed that the index is to be built anew."""


class PathPlace(NamedTuple):
    """Where a path stands among the files of the base: before the file `at`, or in its place."""

    at: int
    is_taken: bool


class Overlay(Struct, frozen=True):
    """All that has changed since the base was built. `places` are those of `parts`, and of `removed` files of the base.

    `imports` are those of each file whose imports are others than in the base, none of a file that is gone.

    >>> overlay = Overlay().laid(base, Changes(parts=[part], removed=["b.py"]))
    """

    parts: dict[str, Part] = {}
    removed: frozenset[str] = frozenset()
    places: dict[str, PathPlace] = {}
    imports: dict[str, list[ImportRow]] = {}
    pending: tuple[str, ...] = ()
    unlisted: list[tuple[str, str]] | None = None  # None where they are those of the base
    cut: str | UnsetType | None = UNSET  # likewise

    def laid(self, base: Blocks, changes: Changes) -> "Overlay":
        """Return this overlay with what has changed since. Raises OvergrownError."""
        if changes.afresh:
            return Overlay(places=self.places).laid(base, msgspec.structs.replace(changes, afresh=False))
        parts = {**self.parts, **{part.row.path: part for part in changes.parts}}
        for path in changes.removed:
            parts.pop(path, None)
        touched = parts.keys() | self.removed | {*changes.removed}
        places = {path: self.places.get(path) or _place(base, path) for path in touched}
        removed = frozenset(path for path, place in places.items() if place.is_taken and path not in parts)
        gone: dict[str, list[ImportRow]] = {path: [] for path in changes.removed}
        if len(parts) + len(removed) > MAX_CHANGED or sum(part.size for part in parts.values()) > MAX_TEXT:
            raise OvergrownError
        return Overlay(
            parts,
            removed,
            {path: place for path, place in places.items() if path in parts or path in removed},
            {**self.imports, **gone, **changes.imports},
            tuple(changes.pending),
            self.unlisted if changes.unlisted is None else changes.unlisted,
            self.cut if changes.cut is UNSET else changes.cut,
        )


def _place(base: Blocks, path: str) -> PathPlace:
    at = base.first(path)
    return PathPlace(at, at < len(base.files) and base.path(at) == path)


class _Step(NamedTuple):
    """A place where files of the base do not follow each other: `part` comes there, or the file `at` is hidden."""

    at: int
    is_hidden: bool
    part: int | None


class Order:
    """The order of all paths: `parts` are those of the overlay in it, `hidden` the files of the base that are not.

    Of the file with number n `sources[n]` tells what it is: a file of the base, or, from `base` on, a part. `behind`
    has of each part the file of the base that it stands before, or in the place of, and `numbers` its number among all.
    """

    def __init__(self, base: int, overlay: Overlay) -> None:
        """Find where the parts stand among so many files of the base."""
        self.base, self.unlisted = base, overlay.unlisted
        self.parts: list[Part] = sorted(overlay.parts.values(), key=attrgetter("row.path"))
        places = [overlay.places[part.row.path] for part in self.parts]
        self.behind = [place.at for place in places]
        steps = [_Step(*place, number) for number, place in enumerate(places)]
        self._steps = sorted(steps + [_Step(overlay.places[path].at, True, None) for path in overlay.removed])
        self.hidden = frozenset(step.at for step in self._steps if step.is_hidden)
        self.numbers: list[int] = []
        self._turns: list[int] = []  # files of the base from which on numbers are shifted otherwise, by this much:
        self._shifts = [0]
        self._count()
        files = array(NUMBER, range(base + len(self.parts)))
        self.sources = self.spliced(files[:base], files[base:])

    def _count(self) -> None:
        shift = 0
        for at, is_hidden, part in self._steps:
            if part is not None:
                self.numbers.append(at + shift)
            if is_hidden == (part is None):  # one file more, or less
                shift += 1 if part is not None else -1
                self._turns.append(at + is_hidden)
                self._shifts.append(shift)

    def spliced(self, column: FileColumn, own: Sequence[int]) -> "array[int]":
        """Return a column of files: what the base says of those that are not hidden, and `own` says of parts."""
        found = array(memoryview(column).format)
        base, size, start = memoryview(column).cast("B"), found.itemsize, 0
        for at, is_hidden, part in self._steps:
            found.frombytes(base[start * size : at * size])
            start = at + is_hidden
            if part is not None:
                found.append(own[part])
        found.frombytes(base[start * size :])
        return found

    def number(self, file: int) -> int:
        """Return the number of a file of the base among all."""
        return file + self._shifts[bisect_right(self._turns, file)]

    def file_behind(self, number: int) -> int:
        """Return the first file of the base that is not before this number, or in the place of the part there."""
        if number == len(self.sources):
            return self.base
        source = self.sources[number]
        return source if source < self.base else self.behind[source - self.base]
