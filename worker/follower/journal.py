"""Which files have changed since when: added, modified, deleted, from one generation of changes to the last."""

from collections import deque
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Literal, NamedTuple

from fledgling.messages.status import MAX_TOLD, MAX_TOLD_CHARS, Changed, Listed

MAX_EVENTS = 10_000  # changes that are kept, a hundred bytes each; of what was before them, only the whole is known

Kind = Literal["added", "modified", "deleted"]


class FileEvent(NamedTuple):
    """A change of one file, and the generation in which it came."""

    generation: int
    path: str
    kind: Kind


class Journal:
    """The changes of a project since its index was built.

    >>> journal = Journal(base=0, begun=0)
    >>> journal.note(1, "a.py", "added")
    >>> journal.since(0, 1, {}).added
    Listed(count=1, paths=('a.py',))
    """

    def __init__(self, base: int, begun: int) -> None:
        """Begin over an index of generation `base`; events are noted from `begun` on."""
        self._base, self._horizon = base, begun
        self._events: deque[FileEvent] = deque()

    def note(self, generation: int, path: str, kind: Kind) -> None:
        """Note a change. Generations only grow."""
        self._events.append(FileEvent(generation, path, kind))
        if len(self._events) > MAX_EVENTS:
            self._horizon = self._events.popleft().generation

    def since(self, generation: int, now: int, whole: Mapping[str, Kind]) -> Changed:
        """Return what is other now than at a generation; `whole` is what is other than in the index."""
        if generation < self._horizon:
            return _changed(self._base, now, whole)
        first: dict[str, Kind] = {}
        last: dict[str, Kind] = {}
        for event in self._events:
            if event.generation > generation:
                first.setdefault(event.path, event.kind)
                last[event.path] = event.kind
        between = {path: kind for path, begun in first.items() if (kind := _together(begun, last[path]))}
        return _changed(min(generation, now), now, between)


def _together(first: Kind, last: Kind) -> Kind | None:
    """Return what the first and the last of some changes of a file come to; None where it was never there for long."""
    if first == "added":
        return None if last == "deleted" else "added"
    return "deleted" if last == "deleted" else "modified"


def _changed(since: int, now: int, kinds: Mapping[str, Kind]) -> Changed:
    def listed(kind: Kind) -> Listed:
        return _listed(path for path, of in kinds.items() if of == kind)

    return Changed(since, now, listed("added"), listed("modified"), listed("deleted"))


def _listed(paths: Iterable[str]) -> Listed:
    found = sorted(paths)
    lengths = accumulate(map(len, found))
    shown = [path for path, length in zip(found[:MAX_TOLD], lengths, strict=False) if length <= MAX_TOLD_CHARS]
    return Listed(len(found), tuple(shown))
