"""Tags of files and how they are shown, and what of a snapshot is kept from one call to the next."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from fledgling.worker.store.text import Blocks

if TYPE_CHECKING:  # as in request.py
    from fledgling.worker.store.overlay.snapshots import Snapshot


class Evidence(NamedTuple):
    """What in a file a rule has found: how sure that makes it, on which line, 0 for the path, and what is there."""

    confidence: float
    matcher: str
    line: int
    what: str

    def __str__(self) -> str:
        """`IMPORT sqlite3, line 4`."""
        return " ".join(filter(None, (self.matcher, self.what))) + (f", line {self.line}" if self.line else "")


class Tag(NamedTuple):
    """A tag of a file, how sure it is, and what says so: the surest first."""

    name: str
    confidence: float
    evidence: tuple[Evidence, ...]

    def __str__(self) -> str:
        """`database 0.97 (IMPORT sqlite3, line 4; PATH)`."""
        return f"{self.name} {self.confidence:.2f} ({'; '.join(map(str, self.evidence))})"


class MadeRows(NamedTuple):
    """The rows of a table that is made for a statement, as JSON, and what is said to be left out of it."""

    json: str
    left_out: str | None


TagsOfFiles = dict[int, tuple[Tag, ...]]  # by the number of a file, in the order of names


Made = TypeVar("Made")


class LastMade(Generic[Made]):
    """What was made of the snapshot that was asked last, tags or summaries, from one call to the next."""

    def __init__(self) -> None:
        self._last: tuple[Blocks, Made] | None = None  # holds no table of the snapshot

    def of(self, snapshot: "Snapshot", make: Callable[[], Made]) -> Made:
        """Return what there is of a snapshot, and make it where it is not kept."""
        last = self._last
        if last is None or last[0] is not snapshot.blocks:
            last = self._last = snapshot.blocks, make()
        return last[1]
