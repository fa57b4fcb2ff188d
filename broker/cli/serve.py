"""`serve`: one client on standard input and output, or several agents over HTTP."""

import logging
import os
import signal
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fledgling.broker.audit_log.records import AgentRecord, EndRecord
from fledgling.broker.cli import secrets_of_run
from fledgling.broker.cli.help import Command
from fledgling.broker.cli.project import ServedProject, project_of, setting_options
from fledgling.broker.cli.serving import Fronts, Party, Service
from fledgling.broker.cli.starting import audit_log
from fledgling.broker.control import listening as control_sockets
from fledgling.broker.front import Front
from fledgling.broker.metrics import ALONE, Metrics
from fledgling.broker.protocol.http import agents
from fledgling.broker.protocol.http.agents import Agent
from fledgling.broker.protocol.http.listening import opened as listen
from fledgling.broker.protocol.http.listening import watched
from fledgling.config import NO_AGENTS, NO_ISSUER, ConfigError

if TYPE_CHECKING:
    from fledgling.broker.protocol.http.issuer import Issuer

_log = logging.getLogger("fledgling")


@click.command(
    cls=Command,
    examples=(
        "fledgling serve --profile fledgling-analyst",
        "fledgling serve --root api=src/api --root web=src/web --control",
        "fledgling serve --transport http --agents ~/agents.yaml --monitor 127.0.0.1:9464",
        "fledgling serve --transport http --page",
    ),
)
@setting_options
@click.option("--control", is_flag=True, help="let your own commands ask this server: status, reindex, search, ...")
@click.option("--page", is_flag=True, help="over HTTP, show the report at /page, behind a password of this run")
@click.option(
    "--secrets", metavar="FILE", help="over HTTP, keep the token and the password of this run there, mode 600"
)
def serve(*, control: bool, page: bool, secrets: str | None, **options: Any) -> None:
    """Serve one MCP client on standard input and output, or several agents over HTTP."""
    project = project_of(options, logging.INFO, takes_several=True)
    if page and (project.settings.transport == "stdio" or project.settings.projects):
        raise ConfigError("flag --page", "a page is of one project, and served over HTTP", "give --transport http")
    if secrets is not None and project.settings.transport == "stdio":
        raise ConfigError("flag --secrets", "only a server over HTTP has any", "give --transport http")
    operators = _operators(project) if control else {}
    if project.settings.transport == "stdio":
        _serve_stdio(project, operators)
    else:
        _serve_http(project, operators, secrets, has_page=page)


def _serve_stdio(project: ServedProject, operators: Mapping[str, socket.socket]) -> None:
    """Serve one client, until it closes its end."""
    log = audit_log(project.resolved, project.settings.roots, project.profile)
    service = Service(project, log, [Party(ALONE, project.profile, log)], operators)
    # Imported here, not at the top: the SDK takes 0.2 s, and the indexer works meanwhile.
    from fledgling.broker.protocol import sdk  # noqa: PLC0415

    with sdk.lean():
        from fledgling.broker.protocol import server  # noqa: PLC0415

    # Ctrl-C ends us as SIGTERM does, and the kernel ends the others.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    service.run(Front, lambda fronts: server.serve(fronts[0].front, log, project.settings.answers))
    log.tell(EndRecord(reason="the client has closed its end"))


def _serve_http(
    project: ServedProject, operators: Mapping[str, socket.socket], secrets: str | None, *, has_page: bool
) -> None:
    """Serve over HTTP. What a confined broker may not do comes first: the file of agents, the log, the socket."""
    settings = project.settings
    if settings.transport == "sse":
        _log.warning("transport sse is deprecated by MCP since 2025-03-26; use http")
    made = {"password": agents.new_token()} if has_page else {}
    if settings.agents == NO_AGENTS:
        made = {"token": agents.new_token(), **made}
        known: tuple[Agent, ...] = (Agent(ALONE, project.profile, agents.digest(made["token"])),)
        file = None
    else:
        known, file = agents.served(Path(settings.agents), settings.roots)
    issuer = _issuer(project, known)
    socket_of_all, watching = listen(project.resolved), watched(project.resolved)
    _tell(secrets_of_run.told(made, secrets, settings.roots.values()), f"http://{socket_of_all.authority}/page")
    metrics = Metrics()
    log = audit_log(project.resolved, settings.roots, None, metrics.hear if watching else None)
    parties = [Party(agent.name, agent.profile, log.of(agent.name), agent.name, agent.projects) for agent in known]
    for party in parties:
        _log.info("agent %s, profile %s", party.agent, party.profile.name)
        party.log.tell(AgentRecord(profile=party.profile.name, digest=party.profile.digest))
    service = Service(project, log, parties, operators)
    # Imported here, not at the top: the SDK takes 0.2 s, and the indexers work meanwhile.
    from fledgling.broker.protocol import sdk  # noqa: PLC0415

    with sdk.lean():
        from fledgling.broker.protocol.http import serving as http  # noqa: PLC0415
        from fledgling.broker.protocol.http.guests import Guest  # noqa: PLC0415
        from fledgling.broker.protocol.http.monitor import Monitor  # noqa: PLC0415
        from fledgling.broker.protocol.http.page import ServedPage, Shown  # noqa: PLC0415
        from fledgling.broker.protocol.http.turns import SharingFront  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the server takes care of it

    async def serve_all(fronts: Sequence[Fronts]) -> str | None:
        guests = [
            Guest(agent, each.front, party.log, settings)
            for agent, each, party in zip(known, fronts, parties, strict=True)
        ]
        monitor = None
        if watching:
            monitor = Monitor(watching, metrics, {guest: each.front for guest, each in zip(known, fronts, strict=True)})
        page = None
        if has_page:
            views = {
                party.agent: Shown(each.behind, log.of(f"{party.agent}/page"))
                for party, each in zip(parties, fronts, strict=True)
                if isinstance(each.behind, Front)
            }
            page = ServedPage(made["password"], views)
        return await http.serve(socket_of_all, settings.transport, guests, log, file, monitor, issuer, page)

    replaced = service.run(SharingFront, serve_all)
    log.tell(EndRecord(reason="a file of agents or keys was replaced" if replaced else "it was told to end"))
    if replaced:
        problem = "the file was deleted, or another has taken its place"
        raise ConfigError(replaced, problem, "start Fledgling again")


def _tell(told: Mapping[str, str], page: str) -> None:
    """Say what is to be known of the secrets of this run."""
    if token := told.get("token"):
        click.echo(f"fledgling: the token of this run is {token}", err=True)
    if password := told.get("password"):
        click.echo(f"fledgling: the page is {page}, for the password {password} and the name of an agent", err=True)


def _issuer(project: ServedProject, known: Sequence[Agent]) -> "Issuer | None":
    """Return who issues tokens for this server, if anybody does; agents with a subject need one. Raises ConfigError."""
    settings, sources = project.settings, project.resolved.sources
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
    if any(keys.parent.resolve().is_relative_to(root) for root in settings.roots.values()):
        raise ConfigError(sources["issuer_keys"], "the file of keys is inside the root", "keep it elsewhere")
    return Issuer(settings.issuer, settings.resource, keys)


def _operators(project: ServedProject) -> dict[str, socket.socket]:
    """Listen for operators of each root, before this process is confined."""
    roots = [*project.settings.roots.values()]
    return dict(zip(roots, control_sockets.opened(os.environ, map(Path, roots)), strict=True))
