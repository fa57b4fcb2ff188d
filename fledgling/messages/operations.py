"""What an operator's agent may ask for besides reading: a Struct for each tool that the broker itself answers."""

import re
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct

from fledgling.messages.bounded import MAX_LINE, Count
from fledgling.messages.profile import TAG
from fledgling.messages.questions import Question, Text, name_of
from fledgling.plain import HIDDEN

Number = Annotated[int, Meta(ge=1, le=MAX_LINE)]
Project = Annotated[Text | None, Meta(description="its name; not needed where there is one")]
State = Literal["need to be done", "in-progress", "complete"]
Title = Annotated[str, Meta(min_length=1, max_length=200)]
Prose = Annotated[str, Meta(max_length=4000)]
Branch = Annotated[str, Meta(max_length=255, pattern=r"^[^\x00-\x20\x7f~^:?*\[\\]*$")]  # as git-check-ref-format(1)
Commit = Annotated[str, Meta(pattern="^[0-9a-f]{40}$")]
MAX_REFERENCES = 20  # paths of one task, or of one call that gives tags
MAX_GIVEN = 16  # tags of one call
MAX_LINKS = 20  # branches of one task, and commits
TagName = Annotated[str, Meta(pattern=rf"^{TAG}\Z")]
_UNSEEN = re.compile(rf"[\x00-\x1f{HIDDEN}]")  # what a terminal obeys or hides


class StatusOf(Question, frozen=True, tag="status"):
    """How each index stands: state, progress, files, times, generation; and what has changed since it was made.

    Example: status(project="api", changes=true)
    """

    project: Project = None
    changes: Annotated[bool, Meta(description="name the files added, modified and deleted since `since`")] = False
    since: Annotated[Count | None, Meta(description="generation, by default that of the index")] = None


class Manage(Question, frozen=True):
    """Make the index of a project anew, or give it up. Reindexing takes over what has changed; with `force`, all again.

    Example: manage(action="reindex", project="api")
    """

    action: Literal["reindex", "purge"]
    project: Project = None
    force: bool = False


class Tasks(Question, frozen=True):
    """Tasks that the agents of this server share, until it ends. What is in them was written by agents.

    Example: tasks(action="create", title="Split the parser", planning_references=["src/parse.py"])
    """

    action: Literal["list", "get", "create", "update", "unlink"] = "list"
    id: Annotated[Number | None, Meta(description="of the task, for get, update and unlink")] = None
    title: Title | None = None
    description: Prose | None = None
    notes: Prose | None = None
    planning_references: Annotated[
        Annotated[list[Text], Meta(max_length=MAX_REFERENCES)] | None, Meta(description="paths of the index")
    ] = None
    status: State | None = None
    branch: Annotated[
        Branch | None,
        Meta(description="links the task to it; with list, only its tasks; with unlink, takes the link back"),
    ] = None
    commit: Annotated[Commit | None, Meta(description="40 hex digits; links the task to it, or takes that back")] = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 20

    def __post_init__(self) -> None:
        """Allow line breaks in prose, which is nowhere printed as it is; refuse them elsewhere."""
        for field in self.__struct_fields__:
            value = getattr(self, field)
            for text in value if isinstance(value, list) else (value,):
                seen = re.sub("[\t\n]", "", text) if field in ("description", "notes") and text else text
                if isinstance(seen, str) and _UNSEEN.search(seen):
                    raise ValueError(f"{field} holds a control character, or one that is not seen; give plain text")


class TagsOf(Question, frozen=True, tag="tags"):
    """Tags that agents give to files by hand, beside those of the rules, as long as the session lasts.

    A tag of a symbol counts for its file: search(tags_any=[...]) finds both. Lists a file's tags with what says so.
    Example: tags(action="add", tags=["reviewed"], paths=["src/parse.py"])
    """

    action: Literal["list", "add", "remove"] = "list"
    tags: Annotated[tuple[TagName, ...], Meta(max_length=MAX_GIVEN)] = ()
    paths: Annotated[tuple[Text, ...], Meta(max_length=MAX_REFERENCES, description="files of the index")] = ()
    symbol: Annotated[Text | None, Meta(description="of the one path, for add and remove")] = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 20

    def __post_init__(self) -> None:
        """Refuse what is not seen, as of tasks."""
        super().__post_init__()
        if any(_UNSEEN.search(text) for text in (*self.paths, self.symbol or "")):
            raise ValueError("paths or symbol hold a control character, or one that is not seen; give plain text")


AnyOperation = StatusOf | Manage | Tasks | TagsOf
OPERATIONS: dict[str, type[AnyOperation]] = {name_of(operation): operation for operation in get_args(AnyOperation)}
CHANGING = ("manage", "tasks", "tags")  # they change the memory of the server, and a file that the operator names


class OwnAnswer(Struct, frozen=True):
    """What a tool of the broker's own answers: its text, the same as JSON, and how many things that names."""

    text: str
    structure: dict[str, object]
    rows: int
