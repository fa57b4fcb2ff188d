"""What a session stores: the Structs of its lines."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from fledgling.messages.bounded import Path
from fledgling.messages.operations import State
from fledgling.plain import HIDDEN

_PLAIN = rf"\A[^\x00-\x1f{HIDDEN}]*\Z"
Title = Annotated[str, Meta(min_length=1, max_length=200, pattern=_PLAIN)]
Prose = Annotated[str, Meta(max_length=4000)]
Branch = Annotated[str, Meta(max_length=255, pattern=r"\A[^\x00-\x20\x7f~^:?*\[\\]*\Z")]  # as git-check-ref-format(1)
Commit = Annotated[str, Meta(pattern=r"\A[0-9a-f]{40}\Z")]
References = Annotated[tuple[Path, ...], Meta(max_length=20)]


class TaskStep(Struct, frozen=True):
    """A state of a task, and since when and by whom."""

    status: State
    at: datetime
    agent: str


class Task(Struct, frozen=True, omit_defaults=True):
    """A task as it stands: all of it was written by agents, and says nothing of the project for certain.

    `history` are its states, the first to the last.
    """

    id: int
    title: Title
    history: Annotated[tuple[TaskStep, ...], Meta(min_length=1)]
    description: Prose = ""
    notes: Prose = ""
    planning_references: References = ()
    branch: Branch = ""
    commit: Commit | None = None

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


AnyRecord = SessionBegun | Stored
