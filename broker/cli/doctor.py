"""`doctor`: what is missing or wrong here. A wrong setting is something that it finds, and not its end."""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click
from msgspec.structs import asdict, replace

import fledgling
from fledgling.broker import surroundings
from fledgling.broker.audit_log.records import AnyRecord
from fledgling.broker.audit_log.writer import tell_confinement
from fledgling.broker.cli import over_http, terminal
from fledgling.broker.cli.help import Command
from fledgling.broker.cli.project import json_option, setting_options, settled
from fledgling.broker.cli.starting import run
from fledgling.broker.confining import confined_to
from fledgling.broker.front import Front
from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.protocol.http import agents, listening
from fledgling.broker.reporting import doctor as diagnosis
from fledgling.broker.reporting.doctor import Check
from fledgling.broker.terms import Terms, due
from fledgling.config import ConfigError, Resolved, refusing
from fledgling.found import WORKING
from fledgling.messages.answers import AnyAnswer, Refusal
from fledgling.messages.control import Confining
from fledgling.messages.generations import CODE
from fledgling.messages.profile import Profile
from fledgling.messages.questions import Explore
from fledgling.roots import refuse_wide
from fledgling.security import profile as profiles
from fledgling.security.confinement import ConfinementError
from fledgling.security.profile import ProfileError
from fledgling.settings import NO_AGENTS, Settings

# What stands in for a project where none is named that could be indexed.
OWN = {"Fledgling's own directory, in place of a project": str(Path(fledgling.__file__).parent)}
DEGRADED = Confining(allow_degraded=True)  # what is missing is said, and ends nothing


@click.command(cls=Command)
@setting_options
@json_option
def doctor(as_json: bool, **options: Any) -> None:
    """Show what confines each process here, what it means where a layer is missing, and whether clients find Fledgling.

    The first line says whether all is well, and what to do if not.
    Settings, versions, PATH and clients are looked at, too; the project is not indexed. Exit code 1 where a server does
    not start without --allow-degraded, or something is wrong. A layer that only root can have is not called missing.
    """
    checks: list[Check] = []
    with _noting(checks, "system"):
        surroundings.check()
    can_start = not checks
    roots, settings, profile = _settings(options, checks)
    installed = [*diagnosis.of_installation(os.environ)]  # before this process may open nothing any more
    heard: dict[str, list[AnyRecord]] = {}
    if can_start:
        _start(roots, settings, profile, heard, checks)
    stops = dict.fromkeys(each.what for each in checks if each.state == "wrong")
    found = diagnosis.report(heard, [*checks, *installed], stops)
    if as_json:
        terminal.show_json({"serves": found.serves, **asdict(found)})
    else:
        terminal.show_text("\n".join(diagnosis.lines(found)))
    raise SystemExit(terminal.OK if diagnosis.is_well(found) else terminal.NOTHING)


def _noting(checks: list[Check], what: str) -> AbstractContextManager[None]:
    """Make a check of what is wrong in the block, and end that."""

    def note(wrong: Exception) -> None:
        checks.append(Check(what, "wrong", str(wrong)))

    return refusing(note, ProfileError, ConfinementError, IndexingError)


def _settings(options: dict[str, Any], checks: list[Check]) -> tuple[Mapping[str, str], Settings, Profile]:
    """Return roots, settings and a profile to start processes by: those in force, or where one is wrong the defaults.

    Where nobody has set a root, and none is found, that alone is replaced.
    """
    options.pop("allow_degraded")
    is_wide_meant = options.pop("yes_really")
    wrong: list[Exception] = []
    resolved = settled(options, wrong.append)
    profile, roots = profiles.load(Settings().profile), resolved.settings.roots
    checks += (Check("settings", "wrong", str(each)) for each in wrong)
    with _noting(checks, "settings"):
        profile = profiles.load(resolved.settings.profile)
        if not wrong or resolved.sources["profile"] != "default":  # one that is wrong may allow more than the default
            checks += diagnosis.on_embedding(resolved, profile)
    with _noting(checks, "settings"):
        try:
            if not (is_wide_meant or wrong):
                refuse_wide(resolved, os.environ)
        except ConfigError as wide:
            if resolved.sources["root"] != WORKING:
                raise
            checks.append(Check(diagnosis.ROOT, "notice", str(wide)))  # who has set nothing may stand anywhere
            roots = OWN
    if resolved.settings.transport != "stdio":
        _look_at_http(resolved, checks)
    if any(each.state == "wrong" for each in checks):
        checks += (Check("settings", "notice", each) for each in resolved.notices)
        return OWN, Settings(), profile
    checks += diagnosis.of_settings(resolved)
    return roots, replace(resolved.settings, projects=()), profile


def _look_at_http(resolved: Resolved, checks: list[Check]) -> None:
    """Note what a server over HTTP would refuse; nothing is listened on, for a server that runs may do so."""
    settings = resolved.settings
    for place in (listening.served_at, listening.watched_at):
        with _noting(checks, "settings"):
            place(resolved)
    with _noting(checks, "settings"):
        known = () if settings.agents == NO_AGENTS else agents.served(Path(settings.agents), settings.roots).agents
        over_http.issuer_of(resolved, settings.roots, known)


def _start(
    roots: Mapping[str, str],
    settings: Settings,
    profile: Profile,
    heard: dict[str, list[AnyRecord]],
    checks: list[Check],
) -> None:
    """Start each process once for each root, to hear what confines it; nothing of a project is indexed."""
    with _noting(checks, "processes"):
        tell_confinement(heard.setdefault("", []).append, "broker", os.getpid(), confined_to(roots.values(), DEGRADED))
        for name, root in roots.items():
            nothing = replace(settings, root=root, exclude_patterns=("*",))
            tell = heard.setdefault(name, []).append
            with _noting(checks, f"processes of {name}" if name else "processes"):
                run(Indexing(nothing, profile, confining=DEGRADED, tell=tell), _asked)


async def _asked(front: Front, _: Indexing) -> AnyAnswer | Refusal:
    """Ask for the map, so that there is a query worker to look at."""
    await front.indexed(CODE)
    return await front.ask(Explore(), Terms(due(front.profile), least=CODE))
