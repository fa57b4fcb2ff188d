"""One audit: start the server, run the corpus against it, look at its processes, and collect what was seen.

report = asyncio.run(audit({"fledgling-core": profile}, root=None))
report.exit_code
"""

import asyncio
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from mcp import MCPError
from msgspec.structs import replace

from fledgling import __version__
from fledgling.messages.profile import Profile
from fledgling.security import secret_files
from fledgling.security.audit import client, corpus, scratch
from fledgling.security.audit.corpus import Attack, Elsewhere, Probe
from fledgling.security.audit.lines import by_lines
from fledgling.security.audit.probes import Tried
from fledgling.security.audit.report import Audited, Report, Result
from fledgling.security.audit.session import by_session
from fledgling.security.audit.target import SCRATCH, YOURS, Target, looked, result
from fledgling.security.audit.verdict import Verdict, shown

MOST_SECRETS, MOST_WALKED = 50, 20_000  # secret files of the user's project to watch for, and entries to find them in
TELLING = 16  # characters of a line that stands in no other file by chance
LANDLOCKED = "EACCES"  # what Landlock says of a path; a filter of system calls says EPERM
FAMILIES_OF_YOURS = ("query", "arguments")  # what needs nothing planted


async def audit(
    profiles: Mapping[str, Profile], root: Path | None, command: Sequence[str] = client.COMMAND, above: str = ""
) -> Report:
    """Audit profiles, by how they are asked for, on a scratch project each and, where it is given, on the user's.

    `above` is the directory that a project is in the tree of a server of several.
    """
    begun = time.monotonic()
    attacks = corpus.attacks()
    results = [*_elsewhere(attacks), *await asyncio.to_thread(lambda: [*_probed(attacks)])]
    audits = [_audited(tuple(command), asked, profile, root, attacks, above) for asked, profile in profiles.items()]
    results += [row for rows in await asyncio.gather(*audits) for row in rows]
    return Report(
        version=__version__,
        at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        machine=f"{platform.system()} {platform.release()} {platform.machine()}, Python {platform.python_version()}",
        seconds=time.monotonic() - begun,
        profiles=tuple(
            Audited(profile.name, profile.digest, profile.tools, profile.embedding) for profile in profiles.values()
        ),
        threats={number: threat.name for number, threat in corpus.threats().items()},
        results=tuple(results),
    )


async def _audited(
    command: tuple[str, ...], asked: str, profile: Profile, root: Path | None, attacks: Sequence[Attack], above: str
) -> list[Result]:
    with tempfile.TemporaryDirectory(prefix="fledgling-audit-") as place:
        planted = scratch.plant(Path(place))
        target = Target(command, asked, profile, SCRATCH, planted.root, planted, planted.hidden, above)
        rows = await _served(target, _on_scratch(target, attacks))
        if root is not None:
            yours = replace(target, project=YOURS, root=root, hidden={**planted.hidden, **dict(_secrets(root))})
            rows += await _served(yours, _on_yours(yours, attacks))
        return rows


async def _served(target: Target, attacking: Awaitable[list[Result]]) -> list[Result]:
    """Return the rows, or one that says that there was no server to attack."""
    try:
        return await attacking
    except ExceptionGroup as lost:
        if lost.split((MCPError, OSError))[1] is not None:
            raise
        why = str(_first(lost))
    except OSError as lost:
        why = str(lost)
    attack = Attack("process", "the server starts, and answers to the end", (), "", "none", Elsewhere())
    return [result(attack, Verdict("unproven", "", f"it did not: {shown(why)}"), target)]


def _first(lost: BaseException) -> BaseException:
    return _first(lost.exceptions[0]) if isinstance(lost, BaseExceptionGroup) else lost


async def _on_scratch(target: Target, attacks: Sequence[Attack]) -> list[Result]:
    """Run every row that needs a server, and see what has become of the files and what stands in the log."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        before = target.scratch.snapshot()
        rows = await by_session(target, attacks, log)
        rows += await asyncio.to_thread(by_lines, target, attacks)
        after = target.scratch.snapshot()
        log.seek(0)
        said = log.read().splitlines()
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    rows += looked(
        target, attacks, "files", (not changed, shown(", ".join(changed)) or f"{len(after)} are as they were")
    )
    raw = [line for line in said if not line.isprintable()]
    return rows + looked(target, attacks, "log", (not raw, shown(raw[0]) if raw else f"{len(said)} lines"))


async def _on_yours(target: Target, attacks: Iterable[Attack]) -> list[Result]:
    """Run the rows that need nothing planted; nothing is written into the project."""
    with tempfile.TemporaryFile("w+") as log:
        return await by_session(target, [attack for attack in attacks if attack.family in FAMILIES_OF_YOURS], log)


def _elsewhere(attacks: Iterable[Attack]) -> Iterator[Result]:
    for attack in attacks:
        if isinstance(attack.act, Elsewhere):
            yield result(attack, Verdict("elsewhere", attack.layer, attack.act.test or attack.act.because))


# ---- inside ---------------------------------------------------------------------------------------------------------


def _probed(attacks: Iterable[Attack]) -> Iterator[Result]:
    """Run the probes of every role, each role in a program of its own."""
    tried, harmless = {}, corpus.harmless()
    command = [sys.executable, "-I", "-B", "-m", "fledgling.security.audit.probes"]
    for role in corpus.ROLES:
        done = subprocess.run([*command, role], capture_output=True, cwd="/", env={}, check=False)
        for line in done.stdout.splitlines():
            probe = msgspec.json.decode(line, type=Tried)
            tried[probe.name] = probe
    for attack in attacks:
        if isinstance(attack.act, Probe):
            probe = tried.get(attack.name, Tried(attack.name, "broken", "the probes ended before it"))
            yield result(attack, _probe_verdict(attack, probe, harmless.get(attack.name, "")))


def _probe_verdict(attack: Attack, tried: Tried, harmless: str) -> Verdict:
    match tried.outcome:
        case "killed":
            return Verdict("held", "seccomp", f"killed: {tried.detail}")
        case "refused":
            layer: corpus.Layer = "landlock" if tried.detail == LANDLOCKED else attack.layer
            return Verdict("held", layer, f"refused: {tried.detail}")
        case "through" if harmless:
            return Verdict("works", "", f"{tried.detail}: {harmless}")
        case "through":
            return Verdict("through", "", tried.detail)
        case "not run":
            return Verdict("not run", "", tried.detail)
        case "broken":
            return Verdict("unproven", "", tried.detail)


# ---- the user's project ---------------------------------------------------------------------------------------------


def _secrets(root: Path) -> Iterator[tuple[str, str]]:
    """Yield secret files of a project, each with a line that may be in no reply."""
    walked = found = 0
    for directory, _, names in os.walk(root):
        for name in names:
            path = Path(directory, name)
            relative = str(path.relative_to(root))
            walked += 1
            if walked > MOST_WALKED or found == MOST_SECRETS:
                return
            if secret_files.is_secret(relative) and path.is_file() and not path.is_symlink():
                with suppress(OSError), path.open(errors="replace") as file:
                    line = max(file.read(1 << 16).splitlines(), key=len, default="").strip()
                    if len(line) >= TELLING:
                        found += 1
                        yield relative, line
