"""Who writes the audit log: one descriptor, one line for each decision, each with the hash of the line before."""

import asyncio
import hashlib
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from fledgling.broker import heard, own_file
from fledgling.broker.audit_log.chain import BEGINNING, Chain
from fledgling.broker.audit_log.records import (
    LAYERS,
    AnyRecord,
    CallRecord,
    DecidingLayer,
    DegradedRecord,
    ProcessRecord,
    StartRecord,
    Tell,
    Verdict,
    printable,
)
from fledgling.broker.basis import Basis
from fledgling.broker.own_file import OwnFileError
from fledgling.broker.protocol import tools
from fledgling.messages.answers import AnyAnswer, Refusal
from fledgling.messages.control import Layer
from fledgling.messages.operations import OwnAnswer
from fledgling.messages.profile import Profile
from fledgling.security.confinement import DEGRADABLE

MAX_ARGUMENTS = 2**16  # bytes of arguments in clear; no tool takes more than a third, and longer ones were refused
MAX_LINE = 2**18  # bytes; arguments in clear, escaped once more, and everything else
MAX_TOOL = 64  # characters of a tool's name, which is a client's text

_log = logging.getLogger("fledgling")


def tell_confinement(
    tell: Tell, process: str, pid: int, layers: Iterable[Layer], generation: int | None = None
) -> None:
    """Tell that a process is at work and what confines it, and, a line each, what the operator has it do without."""
    confinement = {layer.name: layer.absent or "enforced" for layer in layers}
    tell(ProcessRecord(process=process, pid=pid, generation=generation, confinement=confinement))
    for name in DEGRADABLE:
        reason = confinement.get(name, "enforced")
        if reason != "enforced":
            _log.warning("the %s (pid %d) is not confined by %s: %s", process, pid, name, reason)
            tell(DegradedRecord(process=process, layer=name, reason=reason))


# The operator was promised a line about every decision: without it there is no answer.
UNLOGGED = Refusal("unavailable", "the audit log cannot be written", "Ask again once the operator has seen to it.")


class AuditLogError(Exception):
    """The log cannot be opened or written, and why."""


class Decision:
    """What became of a call. As long as nobody says so, it has failed here."""

    def __init__(self, profile: Profile, tool: str, arguments: Mapping[str, object]) -> None:
        self.profile, self.tool, self.arguments = profile, tool, arguments
        self.begun = time.perf_counter()
        self.verdict: Verdict = "failed"
        self.layer: DecidingLayer = "broker"
        self.reason: str | None = None
        self.rows = 0
        self.bytes = 0
        self.basis = Basis()  # what the answer is made of

    @property
    def shown_tool(self) -> str:
        """The tool's name as a log may hold it: it is a client's text."""
        return printable(self.tool[:MAX_TOOL])

    @property
    def milliseconds(self) -> float:
        """How long the call has taken so far."""
        return round(1000 * (time.perf_counter() - self.begun), 3)

    def became(self, answer: AnyAnswer | Refusal | OwnAnswer, size: int) -> None:
        """Say that this answer of `size` bytes goes back."""
        self.bytes = size
        if not isinstance(answer, Refusal):
            self.verdict = "allowed"
            self.layer = "broker" if isinstance(answer, OwnAnswer) else "worker"
            self.rows = answer.rows if isinstance(answer, OwnAnswer) else tools.rows(answer)
            return
        is_denied = answer.kind == "denied"
        self.verdict, self.reason = "denied" if is_denied else "refused", answer.kind
        if self.tool not in self.profile.tools:
            self.layer = "profile"
        elif is_denied and self.tool == "query":
            self.layer = "gate"
        else:
            self.layer = LAYERS[answer.kind]


Hear = Callable[[AnyRecord, str | UnsetType], None]  # what has happened, and to which agent it did


class AuditLog:
    """Appends to one descriptor, or, given none, to nothing; whoever is to `hear` gets each record as well.

    >>> with log.deciding(profile, "search", {"query": "timeout"}) as decision:
    ...     decision.became(answer, size)
    """

    def __init__(
        self,
        fd: int | None = None,
        chain: Chain | None = None,
        *,
        is_named: bool = False,
        with_arguments: bool = False,
        agent: str | UnsetType = UNSET,
        hear: Hear | None = None,
    ) -> None:
        self._fd = fd
        self._is_named = is_named  # a file, which may be removed
        self._agent = agent
        self._hear = hear
        self._chain = chain or Chain()
        self._with_arguments = with_arguments

    def of(self, agent: str) -> "AuditLog":
        """Return the same log, whose lines name an agent."""
        return AuditLog(
            self._fd,
            self._chain,
            is_named=self._is_named,
            with_arguments=self._with_arguments,
            agent=agent,
            hear=self._hear,
        )

    def write(self, record: AnyRecord) -> None:
        """Append one line. Raises AuditLogError; what was written of that line stays, and the next one follows it."""
        if self._hear:
            self._hear(record, self._agent)
        if self._fd is None:
            return
        if self._is_named:
            try:
                own_file.check_named(self._fd)
            except OwnFileError as removed:
                raise AuditLogError(f"the audit log cannot be written ({removed})") from removed
        chain = self._chain
        now = datetime.now(UTC)
        record = replace(record, time=now, sequence=chain.sequence + 1, previous=chain.hash, agent=self._agent)
        line = msgspec.json.encode(record)
        data = line + b"\n" if chain.is_ended else b"\n" + line + b"\n"
        written = 0
        try:
            while written < len(data):
                written += heard.write(self._fd, data[written:])
        except OSError as failed:
            chain.append(data[:written])
            raise AuditLogError(f"the audit log cannot be written ({failed.strerror})") from failed
        chain.append(data)

    def tell(self, record: AnyRecord) -> None:
        """Append a line about what has happened and cannot be refused; where that fails, the server's log says so."""
        try:
            self.write(record)
        except AuditLogError as failed:
            _log.error("%s; an event is missing from it: %s", failed, type(record).__name__.lower())

    @contextmanager
    def deciding(self, profile: Profile, tool: str, arguments: Mapping[str, object]) -> Iterator[Decision]:
        """Append exactly one line about a call when the block ends, however it ends. Raises AuditLogError."""
        decision = Decision(profile, tool, arguments)
        if self._fd is None and self._hear is None:
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

    def _call(self, decision: Decision) -> CallRecord:
        import json  # noqa: PLC0415  (where there is a log, or somebody who hears)

        text = json.dumps(decision.arguments, sort_keys=True, separators=(",", ":"))
        return CallRecord(
            profile=decision.profile.name,
            digest=decision.profile.digest,
            tool=decision.shown_tool,
            verdict=decision.verdict,
            layer=decision.layer,
            reason=decision.reason,
            milliseconds=decision.milliseconds,
            rows=decision.rows,
            bytes=decision.bytes,
            generation=decision.basis.generation,
            arguments_sha256=hashlib.sha256(text.encode()).hexdigest(),
            arguments=text if self._with_arguments and len(text) <= MAX_ARGUMENTS else UNSET,
        )


def open_log(
    setting: str, roots: Mapping[str, str], profile: Profile | None, *, with_arguments: bool, hear: Hear | None = None
) -> AuditLog:
    """Open the log that a setting names: none, stderr, or a file, and begin a run in it. Raises AuditLogError."""
    if setting == "none":
        return AuditLog(hear=hear)
    if setting == "stderr":  # a chain of its own for each run
        log = AuditLog(os.dup(2), with_arguments=with_arguments, hear=hear)
    else:
        try:
            fd = own_file.opened(Path(setting), roots.values(), denied=0o022, shared="others can write to it")
        except OwnFileError as wrong:
            raise AuditLogError(str(wrong)) from wrong
        log = AuditLog(fd, _chain_of(fd), is_named=True, with_arguments=with_arguments, hear=hear)
    log.write(StartRecord.of(roots, profile))
    return log


def _chain_of(fd: int) -> Chain:
    """Return where the chain of an open file ends; raise AuditLogError where there is none."""
    size = os.fstat(fd).st_size
    start = max(0, size - 2 * MAX_LINE)
    tail = os.pread(fd, 2 * MAX_LINE, start)
    chain = Chain()
    chain.append(tail.partition(b"\n")[2] if start else tail)
    first = b"" if start else tail.partition(b"\n")[0][: len(BEGINNING)]  # torn itself, perhaps
    if tail and not chain.sequence and not (first and BEGINNING.startswith(first)):
        raise AuditLogError("it holds something other than an audit log")
    return chain
