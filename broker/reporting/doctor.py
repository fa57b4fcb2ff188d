"""What confines each process here, for an operator: which layer holds, which is absent, and what that means."""

import os
import platform
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Literal

from msgspec import Struct

from fledgling.broker.audit_log.records import AnyRecord, ProcessRecord
from fledgling.broker.embedding.endpoint import endpoint_of
from fledgling.broker.setup.check import State, told
from fledgling.config import ConfigError, Resolved
from fledgling.messages.profile import Profile
from fledgling.security import landlock, layering
from fledgling.security.confinement import DEGRADABLE, LAYERS, OPTIONAL

ENFORCED = "enforced"
ROOT = "root"  # a check of this name: a server starts in a project, and here is none


class Finding(Struct, frozen=True):
    """One layer of one process: whether it is enforced, why not, and what it means if it is not.

    `project` is its name where there are several, or another directory where that stands in for one.
    """

    process: str
    pid: int
    layer: str
    state: str
    meaning: str | None = None
    project: str = ""


class Check(Struct, frozen=True):
    """One thing that was looked at: `notice` is worth knowing, `wrong` does not work."""

    what: str
    state: Literal["good", "notice", "wrong"]
    detail: str


class Diagnosis(Struct, frozen=True):
    """What the doctor found: no server starts without the layers in `wants`, nor while a check in `stops` is wrong."""

    system: str
    findings: tuple[Finding, ...]
    wants: tuple[str, ...] = ()  # layers without which no server starts here, if not with `--allow-degraded`
    stops: tuple[str, ...] = ()  # checks that say why no server starts, whatever the layers
    landlock_abi: int = 0  # the kernel's version of Landlock; 0: none
    lacks: tuple[str, ...] = ()  # what a later version of Landlock stops as well
    checks: tuple[Check, ...] = ()  # of this installation, its settings and its clients
    thin: tuple[str, ...] = ()  # what code inside a process is kept from by one layer alone, or by none

    @property
    def serves(self) -> bool:
        """Whether a server starts here without `--allow-degraded`."""
        return not (self.wants or self.stops)


def report(heard: Mapping[str, Iterable[AnyRecord]], checks: Iterable[Check], stops: Iterable[str] = ()) -> Diagnosis:
    """Return the report of the processes that were heard of while they were started, by project, and of the checks."""
    findings = tuple(
        Finding(record.process, record.pid, layer, state, None if state == ENFORCED else LAYERS[layer], project)
        for project, records in heard.items()
        for record in records
        if isinstance(record, ProcessRecord)
        for layer, state in record.confinement.items()
    )
    wants = _missing(findings) if sys.platform == "linux" else []
    absent = frozenset(
        finding.layer for finding in findings if finding.layer in (*DEGRADABLE, *OPTIONAL) and finding.state != ENFORCED
    )
    version = _landlock()
    return Diagnosis(
        _system(version),
        findings,
        tuple(wants),
        tuple(stops),
        version,
        tuple(layering.lacks(version)),
        tuple(checks),
        tuple(layering.thin(version, as_root=os.geteuid() == 0, absent=absent)) if sys.platform == "linux" else (),
    )


def lines(found: Diagnosis) -> Iterator[str]:
    """Yield the report for a person: the verdict, then `broker (pid 4101)`, and below it a line for each layer."""
    yield verdict(found)
    yield found.system
    process, pids = None, set[int]()
    for finding in found.findings:
        if (finding.process, finding.pid) != process:
            process = finding.process, finding.pid
            by = "forked by " if finding.pid in pids else ""  # what an indexer forks, it says itself
            pids.add(finding.pid)
            yield ""
            yield f"{finding.process}{f' of {finding.project}' if finding.project else ''} ({by}pid {finding.pid})"
        if finding.state == ENFORCED:
            yield f"  {finding.layer:14}{ENFORCED}"
        else:
            yield f"  {finding.layer:14}ABSENT: {finding.state}; so {finding.meaning}"
    yield from _section("Landlock of this kernel does not stop what a later one does:", found.lacks)
    yield from _section("Stopped by one layer alone, or by none, if a back process is taken over:", found.thin)
    yield from _section("Looked at:", (f"{each.state:8}{each.what}: {each.detail}" for each in found.checks))


def verdict(found: Diagnosis) -> str:
    """Return in a line whether all is well, what is missing or wrong, and what to do next."""
    lacking = {row.layer for row in found.findings if row.state != ENFORCED}
    absent = [layer for layer in LAYERS if layer in lacking]
    wrong = ", ".join(dict.fromkeys(each.what for each in found.checks if each.state == "wrong"))
    mend = f" What is wrong, and what to do, is below at: {wrong}." if wrong else ""
    ways = "Take a kernel or container that can, or give --allow-degraded to do without."
    wants = " and ".join(found.wants)
    lacks = f"{wants} cannot be enforced."
    if found.stops:
        even_so = f" With that put right it would not start here either: {lacks} {ways}" if wants else ""
        return f"NOT WELL: a server does not start like this.{mend}{even_so}"
    if wants:
        return f"NOT WELL: a server does not start here: {lacks} {ways}{mend}"
    here = "in a project" if any(each.what == ROOT for each in found.checks) else "here"
    if wrong:
        return f"NOT WELL: a server starts {here}, but not all is right.{mend}"
    named = " and ".join(absent)
    if _missing(found.findings):
        return (
            f"UNCONFINED: a server starts {here} without {named}, which Linux has; "
            "lines with ABSENT say what that means."
        )
    if absent:
        layers = "layer" if len(absent) == 1 else "layers"
        return (
            f"WELL: a server starts {here}, though some processes lack the {layers} {named}; "
            "lines with ABSENT say why, and what that means."
        )
    return f"WELL: a server starts {here}, and every layer holds. Nothing is to be done."


def _missing(findings: Iterable[Finding]) -> list[str]:
    """Return the layers that some process lacks, of those that `--allow-degraded` does without."""
    lacking = {row.layer for row in findings if row.state != ENFORCED}
    return [layer for layer in DEGRADABLE if layer in lacking]


def is_well(found: Diagnosis) -> bool:
    """Return whether a server starts here, and nothing is wrong."""
    return found.serves and not any(each.state == "wrong" for each in found.checks)


def of_settings(resolved: Resolved) -> Iterator[Check]:
    """Yield what is found of settings that are none of them wrong."""
    set_by = {key: source for key, source in resolved.sources.items() if source != "default"}
    said = ", ".join(f"{key} by {source}" for key, source in set_by.items())
    yield Check("settings", "notice" if resolved.notices else "good", "; ".join((said, *resolved.notices)))


def of_installation(environment: Mapping[str, str]) -> Iterator[Check]:
    """Yield what is found of versions, PATH and clients. Nothing is run."""
    yield from _versions()
    yield _on_path(environment)
    states: dict[State, Literal["good", "notice", "wrong"]] = {"another": "notice", "broken": "wrong"}
    for client in told(environment):
        detail = f"{client.detail}; run: {client.run}" if client.run else client.detail
        yield Check(f"client {client.client}", states.get(client.state, "good"), detail)


def on_embedding(resolved: Resolved, profile: Profile) -> Iterator[Check]:
    """Yield where text of the project goes, or that the endpoint that is set is not used; nothing where none is."""
    try:
        found = endpoint_of(resolved, [profile])
    except ConfigError as wrong:
        yield Check("embedding endpoint", "wrong", str(wrong))
        return
    if found:
        leaves = f"text that {profile.name} shows LEAVES to {found.url} with searches by meaning, of 50 files each"
        yield Check("embedding endpoint", "notice", leaves)


def _versions() -> Iterator[Check]:
    """Yield what is installed of the packages that Fledgling stands on."""
    for name, tested in (("duckdb", "2.0."), ("mcp", ""), ("tree-sitter", ""), ("numpy", "")):
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            yield Check(name, "wrong", "it is not installed; reinstall Fledgling")
        else:
            if found.startswith(tested):
                yield Check(name, "good", found)
            else:
                yield Check(name, "wrong", f"{found}, but Fledgling works with {tested}x; reinstall Fledgling")


def _on_path(environment: Mapping[str, str]) -> Check:
    found, ours = shutil.which("fledgling", path=environment.get("PATH")), Path(sys.executable).with_name("fledgling")
    if found is None:
        return Check("PATH", "notice", f"it has no fledgling; this one is {ours}")
    if Path(found).resolve() == ours.resolve() or Path(found).resolve().parent == ours.parent.resolve():
        return Check("PATH", "good", f"fledgling is {found}")
    return Check("PATH", "notice", f"fledgling is {found}, not this one, {ours}")


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
