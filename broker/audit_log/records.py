"""What a line of the audit log says: a Struct for each event, and no line is made from anything else."""

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from fledgling import __version__
from fledgling.messages.answers import RefusalKind
from fledgling.messages.profile import Profile

Verdict = Literal["allowed", "denied", "refused", "cancelled", "failed"]
DecidingLayer = Literal["protocol", "profile", "arguments", "gate", "index", "limit", "worker", "client", "broker"]


def _event(name: str) -> str:
    """Return what a line says it is: `StartRecord` -> `start`."""
    return name.removesuffix("Record").lower()


class Record(Struct, frozen=True, kw_only=True, tag_field="event", tag=_event):
    """What every line says; the writer fills it in. `previous` is the SHA-256 of the line before, "" in the first.

    `agent` says for whom, where a server has several.
    """

    time: datetime = datetime.fromtimestamp(0, UTC)
    sequence: int = 0
    previous: str = ""
    agent: str | UnsetType = UNSET


class StartRecord(Record, frozen=True, kw_only=True):
    """A server starts. A start without an end before it: that server was killed or crashed."""

    pid: int
    versions: dict[str, str]
    root: str
    profile: str | None
    digest: str | None

    @classmethod
    def of(cls, roots: Mapping[str, str], profile: Profile | None) -> "StartRecord":
        """Return the line about this process; without a profile where each agent has its own."""
        from importlib.metadata import version  # noqa: PLC0415  (it takes 20 ms, and most commands keep no log)

        return cls(
            pid=os.getpid(),
            versions={"fledgling": __version__, **{name: version(name) for name in ("duckdb", "mcp", "tree-sitter")}},
            root=printable(", ".join(f"{name}={root}" if name else root for name, root in roots.items())),
            profile=profile.name if profile else None,
            digest=profile.digest if profile else None,
        )


class AgentRecord(Record, frozen=True, kw_only=True):
    """The server that starts serves an agent, under this profile."""

    profile: str
    digest: str


class CallRecord(Record, frozen=True, kw_only=True):
    """A tool was called. `arguments_sha256` is over their JSON: sorted keys, no blanks, ASCII; `arguments` is that.

    `generation` is that of the changes of the project which the answer is made of, if it is made of an index.
    """

    profile: str
    digest: str
    tool: str
    verdict: Verdict
    layer: DecidingLayer
    reason: str | None
    milliseconds: float
    rows: int
    bytes: int
    generation: int | None = None
    arguments_sha256: str
    arguments: str | UnsetType = UNSET


class MessageRecord(Record, frozen=True, kw_only=True):
    """A line of the client was refused before it was a call."""

    verdict: Verdict
    layer: DecidingLayer
    reason: str


class ProcessRecord(Record, frozen=True, kw_only=True):
    """A back process serves or works: which, over which generation of the index, and how it is confined."""

    process: str
    pid: int
    generation: int | None = None
    confinement: dict[str, str] = {}  # layer -> enforced, or why not


class DegradedRecord(Record, frozen=True, kw_only=True):
    """A layer of confinement is missing and the operator has allowed that."""

    process: str
    layer: str
    reason: str


class KilledRecord(Record, frozen=True, kw_only=True):
    """A back process has ended before its time, or was ended, and why."""

    process: str
    pid: int
    reason: str


class EmbeddedRecord(Record, frozen=True, kw_only=True):
    """Text of the project was to go to the embedding endpoint: so many texts, with the question so many bytes.

    `outcome` is `answered`, or why there was no answer.
    """

    endpoint: str
    texts: int
    bytes: int
    outcome: str


class EndRecord(Record, frozen=True, kw_only=True):
    """The server ends in good order."""

    reason: str


AnyRecord = (
    StartRecord
    | AgentRecord
    | CallRecord
    | MessageRecord
    | ProcessRecord
    | DegradedRecord
    | KilledRecord
    | EmbeddedRecord
    | EndRecord
)
Tell = Callable[[AnyRecord], None]  # hears what becomes of processes: AuditLog.tell

# Which layer gives a refusal of a kind, where `writer.Decision` does not know better.
LAYERS: dict[RefusalKind, DecidingLayer] = {
    "denied": "index",
    "invalid": "arguments",
    "not_found": "index",
    "ambiguous": "index",
    "not_indexed": "index",
    "timeout": "limit",
    "memory": "limit",
    "busy": "limit",
    "cancelled": "client",
    "unavailable": "worker",
    "failed": "worker",
}


def printable(text: str) -> str:
    r"""Return text in ASCII: `printable("s\u0435arch")` shows the Cyrillic letter as an escape."""
    return text.encode("ascii", "backslashreplace").decode()
