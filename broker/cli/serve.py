"""`serve`: one client on standard input and output, or several agents over HTTP."""

import logging
import os
import signal
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from fledgling.broker.audit_log.records import EndRecord
from fledgling.broker.cli import over_http
from fledgling.broker.cli.help import Command
from fledgling.broker.cli.project import ServedProject, project_of, setting_options
from fledgling.broker.cli.serving import Fronts, Party, Service
from fledgling.broker.cli.starting import audit_log
from fledgling.broker.control import listening as control_sockets
from fledgling.broker.front import Front
from fledgling.broker.metrics import ALONE
from fledgling.config import ConfigError


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
    flags = {**options, "secrets": secrets}
    project = project_of(options, logging.INFO, takes_several=True)
    if page and (project.settings.transport == "stdio" or project.settings.projects):
        raise ConfigError("flag --page", "a page is of one project, and served over HTTP", "give --transport http")
    if project.settings.transport == "stdio":
        over_http.refuse_flags(flags)
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
    http = over_http.opened(project.resolved, settings.roots, project.profile, secrets, has_page=has_page)
    log = http.log
    parties = [
        Party(agent.name, agent.profile, log.of(agent.name), agent.name, agent.projects) for agent in http.agents
    ]
    service = Service(project, log, parties, operators)
    # Imported here, not at the top: the SDK takes 0.2 s, and the indexers work meanwhile.
    from fledgling.broker.protocol import sdk  # noqa: PLC0415

    with sdk.lean():
        from fledgling.broker.protocol.http import serving  # noqa: PLC0415
        from fledgling.broker.protocol.http.guests import Guest  # noqa: PLC0415
        from fledgling.broker.protocol.http.monitor import Monitor  # noqa: PLC0415
        from fledgling.broker.protocol.http.page import ServedPage, Shown  # noqa: PLC0415
        from fledgling.broker.protocol.http.turns import SharingFront  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the server takes care of it

    async def serve_all(fronts: Sequence[Fronts]) -> str | None:
        guests = [
            Guest(agent, each.front, party.log, settings)
            for agent, each, party in zip(http.agents, fronts, parties, strict=True)
        ]
        monitor = None
        if http.watching:
            served = {agent: each.front for agent, each in zip(http.agents, fronts, strict=True)}
            monitor = Monitor(http.watching, http.metrics, served)
        page = None
        if http.password:
            views = {
                party.agent: Shown(each.behind, log.of(f"{party.agent}/page"))
                for party, each in zip(parties, fronts, strict=True)
                if isinstance(each.behind, Front)
            }
            page = ServedPage(http.password, views)
        return await serving.serve(
            http.listening, settings.transport, guests, log, http.file, monitor, http.issuer, page
        )

    replaced = service.run(SharingFront, serve_all)
    over_http.ended(log, replaced)


def _operators(project: ServedProject) -> dict[str, socket.socket]:
    """Listen for operators of each root, before this process is confined."""
    roots = [*project.settings.roots.values()]
    return dict(zip(roots, control_sockets.opened(os.environ, map(Path, roots)), strict=True))
