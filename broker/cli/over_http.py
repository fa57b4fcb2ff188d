"""What a server over HTTP opens before this process is confined: agents, secrets, sockets, the log."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from fledgling.broker.audit_log.records import AgentRecord, EndRecord
from fledgling.broker.audit_log.writer import AuditLog
from fledgling.broker.cli import secrets_of_run
from fledgling.broker.cli.starting import audit_log
from fledgling.broker.metrics import ALONE, Metrics
from fledgling.broker.protocol.http import agents
from fledgling.broker.protocol.http.agents import Agent, WatchedFile
from fledgling.broker.protocol.http.listening import Listening, watched
from fledgling.broker.protocol.http.listening import opened as listen
from fledgling.config import ConfigError, Resolved
from fledgling.messages.profile import Profile
from fledgling.settings import NO_AGENTS, NO_ISSUER

if TYPE_CHECKING:
    from fledgling.broker.protocol.http.issuer import Issuer

FLAGS = ("secrets", "agents", "host", "port", "hosts", "origins", "issuer", "issuer_keys", "resource", "monitor")
_log = logging.getLogger("fledgling")


class Opened(NamedTuple):
    """Who is served, where, and who watches; the password of the page where there is one."""

    agents: tuple[Agent, ...]
    file: WatchedFile | None
    issuer: "Issuer | None"
    listening: Listening
    watching: Listening | None
    metrics: Metrics
    log: AuditLog
    password: str | None


def opened(
    resolved: Resolved, roots: Mapping[str, str], alone: Profile, secrets: str | None, *, has_page: bool = False
) -> Opened:
    """Open all of it; where no agents are named there is one, under the profile `alone`. Raises ConfigError."""
    settings = resolved.settings
    if settings.transport == "sse":
        _log.warning("transport sse is deprecated by MCP since 2025-03-26; use http")
    made = {"password": agents.new_token()} if has_page else {}
    if settings.agents == NO_AGENTS:
        made = {"token": agents.new_token(), **made}
        known: tuple[Agent, ...] = (Agent(ALONE, alone, agents.digest(made["token"])),)
        file = None
    else:
        known, file = agents.served(Path(settings.agents), roots)
    issuer = issuer_of(resolved, roots, known)
    listening, watching = listen(resolved), watched(resolved)
    _tell(secrets_of_run.told(made, secrets, roots.values()), f"http://{listening.authority}/page")
    metrics = Metrics()
    log = audit_log(resolved, roots, None, metrics.hear if watching else None)
    for agent in known:
        _log.info("agent %s, profile %s", agent.name, agent.profile.name)
        log.of(agent.name).tell(AgentRecord(profile=agent.profile.name, digest=agent.profile.digest))
    return Opened(known, file, issuer, listening, watching, metrics, log, made.get("password"))


def _tell(told: Mapping[str, str], page: str) -> None:
    """Say what is to be known of the secrets of this run."""
    if token := told.get("token"):
        click.echo(f"fledgling: the token of this run is {token}", err=True)
    if password := told.get("password"):
        click.echo(f"fledgling: the page is {page}, for the password {password} and the name of an agent", err=True)


def issuer_of(resolved: Resolved, roots: Mapping[str, str], known: Sequence[Agent]) -> "Issuer | None":
    """Return who issues tokens for this server, if anybody does; agents with a subject need one. Raises ConfigError."""
    settings, sources = resolved.settings, resolved.sources
    given = {name: getattr(settings, name) for name in ("issuer", "issuer_keys", "resource")}
    lacking = [name for name, value in given.items() if value == NO_ISSUER]
    with_subject = [agent.name for agent in known if agent.credential.startswith(agents.by_subject(""))]
    if len(lacking) == len(given) and not with_subject:
        return None
    if lacking:
        problem = (
            f"{with_subject[0]} has the tokens of an issuer" if with_subject else "an issuer has keys and a resource"
        )
        raise ConfigError(sources[lacking[0]], f"{lacking[0]} is not set, and {problem}", f"give {', '.join(given)}")
    if not with_subject:
        raise ConfigError(sources["issuer"], "no agent has a subject", "add one with `fledgling agents add --subject`")
    from fledgling.broker.protocol.http.issuer import Issuer  # noqa: PLC0415  (it loads cryptography)

    keys = Path(settings.issuer_keys)
    if any(keys.parent.resolve().is_relative_to(root) for root in roots.values()):
        raise ConfigError(sources["issuer_keys"], "the file of keys is inside the root", "keep it elsewhere")
    return Issuer(settings.issuer, settings.resource, keys)


def refuse_flags(given: Mapping[str, Any]) -> None:
    """Refuse flags that nobody heeds on standard input and output. Raises ConfigError.

    In a file of settings or the environment they are no mistake: other servers read those as well.
    """
    for name in FLAGS:
        if given.get(name) not in (None, ()):
            raise ConfigError(
                f"flag --{name.replace('_', '-')}", "only a server over HTTP has any", "give --transport http"
            )


def ended(log: AuditLog, replaced: str | None) -> None:
    """Say in the log why serving has ended. Raises ConfigError where a file was replaced."""
    log.tell(EndRecord(reason="a file of agents or keys was replaced" if replaced else "it was told to end"))
    if replaced:
        problem = "the file was deleted, or another has taken its place"
        raise ConfigError(replaced, problem, "start Fledgling again")
