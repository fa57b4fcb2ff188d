"""What confines each process here, for an operator: which layer holds, which is absent, and what that means."""

import platform
import sys
from collections.abc import Iterable, Iterator

from msgspec import Struct

from fledgling.broker.audit_log import AnyRecord, Process
from fledgling.security import landlock
from fledgling.security.confinement import DEGRADABLE, LAYERS
from fledgling.wire import AnyAnswer, Refusal

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


def report(heard: Iterable[AnyRecord], answer: AnyAnswer | Refusal) -> Report:
    """Return the report of the processes that were heard of while an index was made and asked for its map."""
    findings = tuple(
        Finding(record.process, record.pid, layer, state, None if state == ENFORCED else LAYERS[layer])
        for record in heard
        if isinstance(record, Process)
        for layer, state in record.confinement.items()
    )
    serves = not any(finding.layer in DEGRADABLE and finding.state != ENFORCED for finding in findings)
    return Report(_system(), findings, serves or sys.platform != "linux", getattr(answer, "note", None))


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
    if found.note:
        yield ""
        yield found.note


def _system() -> str:
    try:
        confined = f"Landlock ABI {landlock.abi()}"
    except OSError as absent:
        confined = f"no Landlock ({absent.strerror})"
    kernel = f"{platform.system()} {platform.release()}, {platform.machine()}"
    return f"{kernel}, Python {platform.python_version()}, {confined}"
