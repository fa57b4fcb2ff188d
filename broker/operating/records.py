"""What a session stores: the Structs of its lines."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from fledgling.messages.bounded import Path, Word
from fledgling.messages.operations import (
    MAX_GIVEN,
    MAX_LINKS,
    MAX_REFERENCES,
    Branch,
    Commit,
    Prose,
    State,
    TagName,
    Title,
)
from fledgling.plain import HIDDEN

_PLAIN = (
    rf"\A[^\x00-\x1f{HIDDEN}]*\Z"  # what an agent gives is refused, or printed, as it is (broker/operating/desk.py)
)


class TaskStep(Struct, frozen=True):
    """A state of a task, and since when and by whom."""

    status: State
    at: datetime
    agent: str


class Task(Struct, frozen=True, omit_defaults=True):
    """A task as it stands: all of it was written by agents, and says nothing of the project for certain.

    `history` are its states, the first to the last; branches and commits are those it was linked to, each once.
    """

    id: int
    title: Annotated[Title, Meta(pattern=_PLAIN)]
    history: Annotated[tuple[TaskStep, ...], Meta(min_length=1)]
    description: Prose = ""
    notes: Prose = ""
    planning_references: Annotated[tuple[Path, ...], Meta(max_length=MAX_REFERENCES)] = ()
    branches: Annotated[tuple[Branch, ...], Meta(max_length=MAX_LINKS)] = ()
    commits: Annotated[tuple[Commit, ...], Meta(max_length=MAX_LINKS)] = ()

    @property
    def status(self) -> State:
        """The state it is in."""
        return self.history[-1].status


class SessionBegun(Struct, frozen=True, tag_field="event", tag="begun"):
    """The first line of a file."""

    version: int
    at: datetime


class Stored(Struct, frozen=True, tag_field="event", tag="stored"):
    """A task that was made or changed: the whole of it, as it is from now on."""

    task: Task


class Tagged(Struct, frozen=True, omit_defaults=True, tag_field="event", tag="tagged"):
    """Tags that an agent under a profile gave to files by hand, or to a definition in one; or has taken away."""

    profile: Word
    agent: Word
    at: datetime
    tags: Annotated[tuple[TagName, ...], Meta(min_length=1, max_length=MAX_GIVEN)]
    paths: Annotated[tuple[Path, ...], Meta(min_length=1, max_length=MAX_REFERENCES)]
    symbol: Annotated[str, Meta(pattern=_PLAIN)] | None = None
    is_removed: bool = False


AnyRecord = SessionBegun | Stored | Tagged
