"""What an operator and a running server say to each other over the server's control socket: one request, one reply."""

from typing import Annotated

from msgspec import Meta, Struct

from fledgling.messages.answers import AnyAnswer, Refusal
from fledgling.messages.bounded import MAX_PATH_CHARS, Count, Word
from fledgling.messages.questions import AnyQuestion
from fledgling.messages.status import Status

Digest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]  # SHA-256


class Serving(Struct, frozen=True):
    """An index that a server serves: under which profile, of which settings; of which project and for which agent
    where it has several.

    Who asks under the same profile and settings (by their hashes) may take its answers for those of an index of its
    own, if it `is_followed`.
    """

    profile: Word
    digest: Digest
    settings: Digest
    is_followed: bool
    agent: Word | None = None
    project: Word | None = None


class Greeting(Struct, frozen=True, forbid_unknown_fields=True, tag="greeting"):
    """Server to operator, first: its version, its process, and what it serves of which directory of the machine."""

    version: Word
    pid: Count
    root: Annotated[str, Meta(max_length=MAX_PATH_CHARS)]
    serving: Annotated[tuple[Serving, ...], Meta(max_length=64)]  # none of a project that no agent has


class AskStatus(Struct, frozen=True, forbid_unknown_fields=True, tag="ask_status"):
    """Operator to server: how does the index with this number stand, and what has changed since a generation?"""

    number: Count
    since: Count | None = None
    looks: bool = False


class Reindex(Struct, frozen=True, forbid_unknown_fields=True, tag="reindex"):
    """Operator to server: build the index with this number anew. The reply is its status then."""

    number: Count


class Purge(Struct, frozen=True, forbid_unknown_fields=True, tag="purge"):
    """Operator to server: give up the index with this number. The reply is its status then."""

    number: Count


class AskTool(Struct, frozen=True, forbid_unknown_fields=True, tag="ask_tool"):
    """Operator to server: answer this from the index with this number."""

    number: Count
    question: AnyQuestion


class ServedAnswer(Struct, frozen=True, forbid_unknown_fields=True, tag="served_answer"):
    """Server to operator: the answer, and whether the index it is from is partial."""

    answer: AnyAnswer | Refusal
    is_partial: bool = False


class AskCommand(Struct, frozen=True, forbid_unknown_fields=True, tag="ask_command"):
    """Operator to server: what would the command of these words print? The root is the directory that it works on, and
    `named` the word that says so, if one does. Colour goes to a terminal, where nobody says otherwise.
    """

    version: Word
    root: Annotated[str, Meta(max_length=MAX_PATH_CHARS)]
    named: Annotated[str, Meta(max_length=MAX_PATH_CHARS)] | None
    has_color: bool
    words: Annotated[tuple[str, ...], Meta(min_length=1)]


class Printed(Struct, frozen=True, forbid_unknown_fields=True, tag="printed"):
    """Server to operator: the exit code of a command, and what it prints, on standard output through a pager or not.

    What asks reads it without a decoder (broker/cli/quick.py): its fields stay these, in this order.
    """

    code: Annotated[int, Meta(ge=0, le=127)]
    is_paged: bool
    out: bytes
    err: bytes


FromOperator = AskStatus | Reindex | Purge | AskTool | AskCommand
ToOperator = Greeting | Status | ServedAnswer | Printed | Refusal
