"""What broker and follower say to each other: which files have changed since an index was built."""

from typing import Literal

from msgspec import Struct

from fledgling.messages.answers import Refusal
from fledgling.messages.bounded import Count, Said, Seconds
from fledgling.messages.control import CONFINED, Confining, Layer, Update
from fledgling.messages.operations import Branch, Commit
from fledgling.messages.profile import Profile
from fledgling.messages.status import Changed
from fledgling.scope import Scope


class Follow(Struct, frozen=True, forbid_unknown_fields=True, tag="follow"):
    """Broker to follower, once: say what changes below `root_fd` since an index was built, over files it has left.

    `scope` is what that index was built with, and `asked` what the project's own file narrowed to it. Changes are of
    generations behind `generation`, and all are told afresh where another follower went before: it `is_next`. The index
    itself is of the generation `base`.
    """

    broker_pid: int
    text_fd: int
    kept_fd: int
    root_fd: int
    profile: Profile
    scope: Scope
    asked: Scope
    generation: int
    base: int = 0
    is_next: bool = False
    cut: Said | None = None  # what is said of files that the index lacks
    root: str | None = None
    confining: Confining = CONFINED


class Following(Struct, frozen=True, forbid_unknown_fields=True, tag="following"):
    """Follower to broker, first: it is confined by these layers, and what parses for it by those."""

    layers: tuple[Layer, ...] = ()
    extractor_layers: tuple[Layer, ...] = ()


class Sweep(Struct, frozen=True, forbid_unknown_fields=True, tag="sweep"):
    """Broker to follower: look for changes, and send all Updates since a generation of changes."""

    since: int


Obstacle = Literal["too many changes", "other settings", "no overlay", "no root", "unresolved imports"]


class Swept(Struct, frozen=True, forbid_unknown_fields=True, tag="swept"):
    """Follower to broker, behind the Updates: the generation of changes that is there, and what was looked at.

    `pending` counts files that have changed and of which no Update tells. Where there is an `obstacle`, Updates cannot
    say what has changed: an index is to be built anew, or the root is gone.
    """

    generation: Count
    seconds: Seconds
    pending: Count = 0
    obstacle: Obstacle | None = None
    cut: Said | None = None  # without an obstacle, what is to be said now of files that are missing


class Look(Struct, frozen=True, forbid_unknown_fields=True, tag="look"):
    """Broker to follower: are these files, which an answer names, what they were when they were read?"""

    paths: tuple[str, ...]


class AskChanged(Struct, frozen=True, forbid_unknown_fields=True, tag="ask_changed"):
    """Broker to follower: which files have changed since a generation of changes, as far as you have looked?"""

    since: int


class Looked(Struct, frozen=True, forbid_unknown_fields=True, tag="looked"):
    """Follower to broker: whether all of them are."""

    are_current: bool


class AskRefs(Struct, frozen=True, forbid_unknown_fields=True, tag="ask_refs"):
    """Broker to follower: is there a branch of this name, and does a ref of the project's repository name this commit?

    What is empty is not asked.
    """

    branch: Branch = ""
    commit: Commit | None = None


class Refs(Struct, frozen=True, forbid_unknown_fields=True, tag="refs"):
    """Follower to broker: whether they are there; None of what was not asked, or where a `problem` hides the refs."""

    branch: bool | None = None
    commit: bool | None = None
    problem: Said | None = None


ToFollower = Follow | Sweep | Look | AskChanged | AskRefs
FromFollower = Following | Update | Swept | Looked | Refs | Changed | Refusal
