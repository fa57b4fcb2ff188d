"""What confines each process here, for an operator: which layer holds, which is absent, and what that means."""

import os
import platform
import sys
from collections.abc import Iterable, Iterator

from msgspec import Struct

from fledgling.broker.audit_log.records import AnyRecord, ProcessRecord
from fledgling.messages.answers import AnyAnswer, Refusal
from fledgling.security import landlock, layering
from fledgling.security.confinement import DEGRADABLE, LAYERS, OPTIONAL

ENFORCED = "enforced"


class Finding(Struct, frozen=True):
    """One layer of one process: whether it is enforced, why not, and what it means if it is not."""

    process: str
    pid: int
    layer: str
    state: str
    meaning: str | None = None


class Report(Struct, frozen=True):
    """What the doctor found: `serves` says whether a server starts here without `--allow-degraded`."""

    system: str
    findings: tuple[Finding, ...]
    serves: bool
    note: str | None = None  # what the index lacks: files that were given up
    landlock_abi: int = 0  # the kernel's version of Landlock; 0: none
    lacks: tuple[str, ...] = ()  # what a later version of Landlock stops as well
    thin: tuple[str, ...] = ()  # what code inside a process is kept from by one layer alone, or by none


def report(heard: Iterable[AnyRecord], answer: AnyAnswer | Refusal) -> Report:
    """Return the report of the processes that were heard of while an index was made and asked for its map."""
    findings = tuple(
        Finding(record.process, record.pid, layer, state, None if state == ENFORCED else LAYERS[layer])
        for record in heard
        if isinstance(record, ProcessRecord)
        for layer, state in record.confinement.items()
    )
    serves = not any(finding.layer in DEGRADABLE and finding.state != ENFORCED for finding in findings)
    absent = frozenset(
        finding.layer for finding in findings if finding.layer in (*DEGRADABLE, *OPTIONAL) and finding.state != ENFORCED
    )
    version = _landlock()
    return Report(
        _system(version),
        findings,
        serves or sys.platform != "linux",
        getattr(answer, "note", None),
        version,
        tuple(layering.lacks(version)),
        tuple(layering.thin(version, as_root=os.geteuid() == 0, absent=absent)) if sys.platform == "linux" else (),
    )


def lines(found: Report) -> Iterator[str]:
    """Yield the report for a person: `broker (pid 4101)`, and below it a line for each layer."""
    yield found.system
    process = None
    for finding in found.findings:
        if finding.process != process:
            process = finding.process
            yield ""
            yield f"{process} (pid {finding.pid})"
        if finding.state == ENFORCED:
            yield f"  {finding.layer:14}{ENFORCED}"
        else:
            yield f"  {finding.layer:14}ABSENT: {finding.state}; so {finding.meaning}"
    yield ""
    if found.serves:
        yield "A server starts here: files and system calls are confined."
    else:
        yield "A server does not start here without --allow-degraded."
    yield from _section("Landlock of this kernel does not stop what a later one does:", found.lacks)
    yield from _section("Code that has taken a back process over is kept from this by one layer, or none:", found.thin)
    if found.note:
        yield ""
        yield found.note


def _section(title: str, rows: Iterable[str]) -> Iterator[str]:
    rows = list(rows)
    if rows:
        yield from ("", title, *(f"  {row}" for row in rows))


def _landlock() -> int:
    """Return the kernel's version of Landlock, or 0 where it has none."""
    try:
        return landlock.abi()
    except OSError:
        return 0


def _system(version: int) -> str:
    confined = f"Landlock ABI {version}" if version else "no Landlock"
    kernel = f"{platform.system()} {platform.release()}, {platform.machine()}"
    return f"{kernel}, Python {platform.python_version()}, {confined}"
