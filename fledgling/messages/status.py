"""How far an index is and what it has followed since: what an operator asks, and a client by address."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from fledgling.messages.bounded import Count, Path, Said

MAX_TOLD = 100  # paths of a kind that are told by name; of more the number
MAX_TOLD_CHARS = 8_000  # of all their names together

State = Literal["pending", "in_progress", "completed", "failed", "unloaded"]


class Listed(Struct, frozen=True):
    """So many files, and the first of them by name."""

    count: Count = 0
    paths: tuple[Path, ...] = ()


class Changed(Struct, frozen=True, forbid_unknown_fields=True, tag="changed"):
    """Follower to broker: what is other at a generation of changes than it was at another, `since`.

    That is the one that was asked for, or an earlier one where what came between is not known by itself. A file that
    was new and is gone again is not told.
    """

    since: Count
    generation: Count
    added: Listed = Listed()
    modified: Listed = Listed()
    deleted: Listed = Listed()


class Status(Struct, frozen=True, forbid_unknown_fields=True, tag="status"):
    """How an index stands: its last build, and what has changed since a generation of changes.

    `progress` is in percent of that build. Files are those of its stage at work, and where it is over, of the index.
    They are None where a view of the profile decides which there are, or nobody knows yet; `changes` where nobody can
    tell, and `unfollowed` says why where a setting decides it or the root is gone; `partial` where the index lacks
    nothing. `generation` and `as_of` are what an answer would be made of now. `resolving` says how far work on the
    graph is behind an index that is served. Of a project that is unloaded nothing but that is known.
    """

    state: State
    progress: float = 0.0
    started_at: datetime | None = None
    generation: Count = 0
    as_of: datetime | None = None
    completed_at: datetime | None = None
    current_file: Path | None = None
    total_files: Count | None = None
    processed_files: Count | None = None
    error: Said | None = None
    partial: Said | None = None
    changes: Changed | None = None
    unfollowed: Said | None = None
    resolving: Said | None = None
