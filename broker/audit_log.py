"""The audit log: one JSON line for each decision and each event of the processes, with the hash of the line before.

What a line may say, how lines are chained, and how a chain is checked is decided here. A chain shows a line that was
changed, removed, inserted or moved, not the end that is missing: who keeps the last hash elsewhere sees that too.
"""

import asyncio
import fcntl
import hashlib
import json
import logging
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from fledgling.broker.protocol import tools
from fledgling.messages.answers import AnyAnswer, Refusal, RefusalKind
from fledgling.messages.control import Layer as Confined
from fledgling.messages.profile import Profile
from fledgling.security.confinement import DEGRADABLE

MAX_ARGUMENTS = 2**16  # bytes of arguments in clear; no tool takes more than a third, and longer ones were refused
MAX_LINE = 2**18  # bytes; arguments in clear, escaped once more, and everything else
MAX_TOOL = 64  # characters of a tool's name, which is a client's text

Verdict = Literal["allowed", "denied", "refused", "cancelled", "failed"]
Layer = Literal["protocol", "profile", "arguments", "gate", "index", "limit", "worker", "client", "broker"]
_log = logging.getLogger("fledgling")


# ---- what a line says -----------------------------------------------------------------------------------------------


class Record(Struct, frozen=True, kw_only=True, tag_field="event", tag=str.lower):
    """What every line says; the writer fills it in. `previous` is the SHA-256 of the line before, "" in the first.

    `agent` says for whom, where a server has several.
    """

    time: datetime = datetime.fromtimestamp(0, UTC)
    sequence: int = 0
    previous: str = ""
    agent: str | UnsetType = UNSET


class Start(Record, frozen=True, kw_only=True):
    """A server starts. A start without an end before it: that server was killed or crashed."""

    pid: int
    versions: dict[str, str]
    root: str
    profile: str | None
    digest: str | None

    @classmethod
    def of(cls, root: Path, profile: Profile | None) -> "Start":
        """Return the line about this process; without a profile where each agent has its own."""
        from importlib.metadata import version  # noqa: PLC0415  (it takes 20 ms, and most commands keep no log)

        return cls(
            pid=os.getpid(),
            versions={name: version(name) for name in ("fledgling", "duckdb", "mcp", "tree-sitter")},
            root=printable(str(root)),
            profile=profile.name if profile else None,
            digest=profile.digest if profile else None,
        )


class Agent(Record, frozen=True, kw_only=True):
    """The server that starts serves an agent, under this profile."""

    profile: str
    digest: str


class Call(Record, frozen=True, kw_only=True):
    """A tool was called. `arguments_sha256` is over their JSON: sorted keys, no blanks, ASCII; `arguments` is that."""

    profile: str
    digest: str
    tool: str
    verdict: Verdict
    layer: Layer
    reason: str | None
    milliseconds: float
    rows: int
    bytes: int
    arguments_sha256: str
    arguments: str | UnsetType = UNSET


class Message(Record, frozen=True, kw_only=True):
    """A line of the client was refused before it was a call."""

    verdict: Verdict
    layer: Layer
    reason: str


class Process(Record, frozen=True, kw_only=True):
    """A back process serves or works: which, over which generation of the index, and how it is confined."""

    process: str
    pid: int
    generation: int | None = None
    confinement: dict[str, str] = {}  # layer -> enforced, or why not


class Degraded(Record, frozen=True, kw_only=True):
    """A layer of confinement is missing and the operator has allowed that."""

    process: str
    layer: str
    reason: str


class Killed(Record, frozen=True, kw_only=True):
    """A back process has ended before its time, or was ended, and why."""

    process: str
    pid: int
    reason: str


class End(Record, frozen=True, kw_only=True):
    """The server ends in good order."""

    reason: str


AnyRecord = Start | Agent | Call | Message | Process | Degraded | Killed | End

# Which layer gives a refusal of a kind, where `became` does not know better.
LAYERS: dict[RefusalKind, Layer] = {
    "denied": "index",
    "invalid": "arguments",
    "not_found": "index",
    "ambiguous": "index",
    "timeout": "limit",
    "memory": "limit",
    "busy": "limit",
    "cancelled": "client",
    "unavailable": "worker",
    "failed": "worker",
}


# ---- the writer -----------------------------------------------------------------------------------------------------


def tell_of(
    tell: Callable[[AnyRecord], None], process: str, pid: int, layers: Iterable[Confined], generation: int | None = None
) -> None:
    """Tell that a process is at work and what confines it, and, a line each, what the operator has it do without."""
    confinement = {layer.name: layer.absent or "enforced" for layer in layers}
    tell(Process(process=process, pid=pid, generation=generation, confinement=confinement))
    for name in DEGRADABLE:
        reason = confinement.get(name, "enforced")
        if reason != "enforced":
            _log.warning("the %s (pid %d) is not confined by %s: %s", process, pid, name, reason)
            tell(Degraded(process=process, layer=name, reason=reason))


class AuditLogError(Exception):
    """The log cannot be opened or written, and why."""


class Decision:
    """What became of a call. As long as nobody says so, it has failed here."""

    def __init__(self, profile: Profile, tool: str, arguments: Mapping[str, object]) -> None:
        self.profile, self.tool, self.arguments = profile, tool, arguments
        self.begun = time.perf_counter()
        self.verdict: Verdict = "failed"
        self.layer: Layer = "broker"
        self.reason: str | None = None
        self.rows = 0
        self.bytes = 0

    @property
    def shown_tool(self) -> str:
        """The tool's name as a log may hold it: it is a client's text."""
        return printable(self.tool[:MAX_TOOL])

    @property
    def milliseconds(self) -> float:
        """How long the call has taken so far."""
        return round(1000 * (time.perf_counter() - self.begun), 3)

    def became(self, answer: AnyAnswer | Refusal, size: int) -> None:
        """Say that this answer of `size` bytes goes back."""
        self.bytes = size
        if not isinstance(answer, Refusal):
            self.verdict, self.layer, self.rows = "allowed", "worker", tools.rows(answer)
            return
        is_denied = answer.kind == "denied"
        self.verdict, self.reason = "denied" if is_denied else "refused", answer.kind
        if self.tool not in self.profile.tools:
            self.layer = "profile"
        elif is_denied and self.tool == "query":
            self.layer = "gate"
        else:
            self.layer = LAYERS[answer.kind]


class AuditLog:
    """Appends to one descriptor, or, given none, to nothing.

    >>> with log.deciding(profile, "search", {"query": "timeout"}) as decision:
    ...     decision.became(answer, size)
    """

    def __init__(
        self,
        fd: int | None = None,
        chain: "Chain | None" = None,
        *,
        with_arguments: bool = False,
        agent: str | UnsetType = UNSET,
    ) -> None:
        self._fd = fd
        self._agent = agent
        self._chain = chain or Chain()
        self._with_arguments = with_arguments

    def of(self, agent: str) -> "AuditLog":
        """Return the same log, whose lines name an agent."""
        return AuditLog(self._fd, self._chain, with_arguments=self._with_arguments, agent=agent)

    def write(self, record: AnyRecord) -> None:
        """Append one line. Raises AuditLogError; what was written of that line stays, and the next one follows it."""
        if self._fd is None:
            return
        chain = self._chain
        now = datetime.now(UTC)
        record = replace(record, time=now, sequence=chain.sequence + 1, previous=chain.hash, agent=self._agent)
        line = msgspec.json.encode(record)
        data = line + b"\n" if chain.is_ended else b"\n" + line + b"\n"
        written = 0
        try:
            while written < len(data):
                written += os.write(self._fd, data[written:])
        except OSError as failed:
            chain.append(data[:written])
            raise AuditLogError(f"the audit log cannot be written ({failed.strerror})") from failed
        chain.append(data)

    def tell(self, record: AnyRecord) -> None:
        """Append a line about what has happened and cannot be refused; where that fails, the server's log says so."""
        try:
            self.write(record)
        except AuditLogError as failed:
            _log.error("%s; it lacks an event: %s", failed, type(record).__name__.lower())

    @contextmanager
    def deciding(self, profile: Profile, tool: str, arguments: Mapping[str, object]) -> Iterator[Decision]:
        """Append exactly one line about a call when the block ends, however it ends. Raises AuditLogError."""
        decision = Decision(profile, tool, arguments)
        if self._fd is None:
            yield decision
            return
        try:
            yield decision
        except BaseException as ended:
            if isinstance(ended, asyncio.CancelledError):
                decision.verdict, decision.layer = "cancelled", "client"
            decision.reason = type(ended).__name__
            self.tell(self._call(decision))
            raise
        self.write(self._call(decision))

    def _call(self, decision: Decision) -> Call:
        text = json.dumps(decision.arguments, sort_keys=True, separators=(",", ":"))
        return Call(
            profile=decision.profile.name,
            digest=decision.profile.digest,
            tool=decision.shown_tool,
            verdict=decision.verdict,
            layer=decision.layer,
            reason=decision.reason,
            milliseconds=decision.milliseconds,
            rows=decision.rows,
            bytes=decision.bytes,
            arguments_sha256=hashlib.sha256(text.encode()).hexdigest(),
            arguments=text if self._with_arguments and len(text) <= MAX_ARGUMENTS else UNSET,
        )


def printable(text: str) -> str:
    r"""Return text in ASCII: `printable("s\u0435arch")` shows the Cyrillic letter as an escape."""
    return text.encode("ascii", "backslashreplace").decode()


def begun(setting: str, root: Path, profile: Profile | None, *, with_arguments: bool) -> AuditLog:
    """Open the log that a setting names: none, stderr, or a file, and begin a run in it. Raises AuditLogError."""
    if setting == "none":
        return AuditLog()
    if setting == "stderr":  # a chain of its own for each run
        log = AuditLog(os.dup(2), with_arguments=with_arguments)
    else:
        fd = _opened(Path(setting), root)
        log = AuditLog(fd, _chain_of(fd), with_arguments=with_arguments)
    log.write(Start.of(root, profile))
    return log


def _opened(path: Path, root: Path) -> int:
    """Return a file that its owner alone may read, new or not, locked to the end: one server writes one file."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        if path.parent.resolve(strict=True).is_relative_to(root):
            raise AuditLogError("it is inside the root")
        fd = os.open(path, flags, 0o600)
    except (OSError, ValueError) as failed:
        raise AuditLogError(f"it cannot be opened ({getattr(failed, 'strerror', failed)})") from failed
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        raise AuditLogError("it is no regular file with one name")
    if found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise AuditLogError("others may write it")
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise AuditLogError("another server writes it, and each needs a file of its own") from None
    return fd


def _chain_of(fd: int) -> "Chain":
    """Return where the chain of an open file ends; raise AuditLogError where there is none."""
    size = os.fstat(fd).st_size
    start = max(0, size - 2 * MAX_LINE)
    tail = os.pread(fd, 2 * MAX_LINE, start)
    chain = Chain()
    chain.append(tail.partition(b"\n")[2] if start else tail)
    first = b"" if start else tail.partition(b"\n")[0][: len(_BEGINNING)]  # torn itself, perhaps
    if tail and not chain.sequence and not (first and _BEGINNING.startswith(first)):
        raise AuditLogError("it holds something else than an audit log")
    return chain


# ---- the chain ------------------------------------------------------------------------------------------------------


class _Link(Struct):
    """What every line has, of whatever version."""

    event: str
    time: datetime
    sequence: int
    previous: str


_BEGINNING = b'{"event":"'
_LINK = msgspec.json.Decoder(_Link)


class Chain:
    """Where a chain of lines ends: how many there are, and what the next one must hold as `previous`.

    What a crash or a full disk has left of a line is hashed together with the whole line before it, so neither can go.
    """

    def __init__(self) -> None:
        self.sequence = 0
        self.is_ended = True  # by a line break
        self._end: Any = None

    @property
    def hash(self) -> str:
        """The SHA-256 of the last line, in hexadecimal; "" before the first."""
        return self._end.hexdigest() if self._end else ""

    def append(self, data: bytes) -> None:
        """Go on over lines, or a part of one, as they stand in the file."""
        if not data:
            return
        if not self.is_ended and data.startswith(b"\n"):
            data = data[1:]
        *ended, rest = data.split(b"\n")
        for line in ended:
            self.line(line)
        self.is_ended = not rest
        if rest:
            self.line(rest)

    def line(self, line: bytes) -> _Link | None:
        """Go on over one line; None where it is torn: no record."""
        try:
            link = _LINK.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            if self._end:
                self._end.update(b"\n" + line)
            else:
                self._end = hashlib.sha256(line)
            return None
        self.sequence = link.sequence
        self._end = hashlib.sha256(line)
        return link


class Checked(Struct, frozen=True):
    """What `verify` found: `found` is the number of the line with the known hash, `broken` says what is wrong."""

    lines: int
    torn: int
    hash: str
    found: int | None
    broken: str | None


def verify(lines: Iterable[bytes], known: str | None = None) -> Checked:
    """Follow a chain to its first break. `known` is the hash of a line, kept elsewhere.

    A torn line is no break as long as the line after it was written by one who had seen it.
    """
    chain, torn, found, number, broken = Chain(), 0, None, 0, None
    for number, line in enumerate(lines, 1):
        expected, sequence = chain.hash, chain.sequence + 1
        link = chain.line(line.removesuffix(b"\n"))
        if link is None:
            torn += 1
        elif (link.previous, link.sequence) != (expected, sequence):
            broken = f"line {number}: {_break(number, link, sequence)}"
            break
        if chain.hash == known:
            found = number
    if torn == number > 0:
        broken = "line 1: it is no line of an audit log"
    return Checked(number - torn, torn, chain.hash, found, broken)


def _break(number: int, link: _Link, sequence: int) -> str:
    if link.sequence > sequence:
        return f"{link.sequence - sequence} lines before it are missing"
    if link.sequence < sequence:
        return "it was moved, repeated or inserted"
    if number == 1:
        return "it names a line before it, and there is none"
    return f"line {number - 1} is not the line that was there when this one was written"


def report(checked: Checked, known: str | None) -> list[str]:
    """Return what `verify` found, in lines for a person."""
    said = [f"{checked.lines} lines, {checked.torn} torn by a crash or a full disk"]
    if known is not None:
        after = (
            f"is that of line {checked.found}" if checked.found else "is that of no line: lines were cut off or changed"
        )
        said.append(f"the hash of --last {after}")
    return [*said, f"broken: {checked.broken}" if checked.broken else f"unbroken; last hash {checked.hash}"]
