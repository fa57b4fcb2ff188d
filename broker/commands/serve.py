"""`serve`: one client on standard input and output, or several agents over HTTP."""

import asyncio
import logging
import os
import signal
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import click

from fledgling.broker import audit_log
from fledgling.broker.audit_log import AuditLog, AuditLogError
from fledgling.broker.commands.project import Project, confined, indexed, project_of, run, setting_options, warn
from fledgling.broker.front import Front
from fledgling.broker.indexing import Indexing, IndexingError
from fledgling.broker.protocol import agents
from fledgling.broker.protocol.agents import Agent
from fledgling.broker.protocol.listening import opened as listen
from fledgling.broker.reporting import stats
from fledgling.config import NO_AGENTS, ConfigError
from fledgling.wire import Profile

_log = logging.getLogger("fledgling")


@click.command()
@setting_options
def serve(**options: Any) -> None:
    """Serve one MCP client on standard input and output, or several agents over HTTP."""
    project = project_of(options, logging.INFO)
    if project.settings.transport != "stdio":
        _serve_http(project)
        return
    log = _audit_log(project, project.profile)
    indexing = indexed(project, log)
    # Imported here, not at the top: the SDK takes 0.4 s, and the indexer works meanwhile.
    from fledgling.broker.protocol import server  # noqa: PLC0415

    # Ctrl-C ends us as SIGTERM does, and the kernel ends the others.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    async def serving(front: Front, indexing: Indexing) -> None:
        telling = asyncio.create_task(_tell(indexing))
        await server.serve(front, log, project.settings.answers)
        telling.cancel()

    run(indexing, serving)
    log.tell(audit_log.End(reason="the client has closed its end"))


def _serve_http(project: Project) -> None:
    """Serve over HTTP. What a confined broker may not do comes first: the file of agents, the log, the socket."""
    settings, root = project.settings, Path(project.settings.root).resolve()
    if settings.transport == "sse":
        _log.warning("transport sse is deprecated by MCP since 2025-03-26; use http")
    if settings.agents == NO_AGENTS:
        token = agents.new_token()
        known: tuple[Agent, ...] = (Agent("default", project.profile, agents.digest(token)),)
        click.echo(f"fledgling: the token of this run is {token}", err=True)
    else:
        known = agents.served(Path(settings.agents), root)
    listening = listen(project.resolved)
    log = _audit_log(project, None)
    logs_of = {agent: log.of(agent.name) for agent in known}
    for agent in known:
        _log.info("agent %s, profile %s", agent.name, agent.profile.name)
        logs_of[agent].tell(audit_log.Agent(profile=agent.profile.name, digest=agent.profile.digest))
    audit_log.tell_of(log.tell, "broker", os.getpid(), confined(project))
    indexings = {
        agent: Indexing(settings, agent.profile, confining=project.confining, tell=logs_of[agent].tell)
        for agent in known
    }
    # Imported here, not at the top: the SDK takes 0.4 s, and the indexers work meanwhile.
    from fledgling.broker.protocol import http  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the server takes care of it

    async def serving() -> None:
        async with AsyncExitStack() as stack:
            guests = []
            for agent, indexing in indexings.items():
                front = http.SharingFront(agent.profile, indexing)
                stack.push_async_callback(front.close)
                guests.append(http.Guest(agent, front, logs_of[agent], settings))
            for indexing in indexings.values():
                warn((await indexing.accepted()).notices)
                telling = asyncio.create_task(_tell(indexing))
                stack.callback(telling.cancel)
            await http.serve(listening, settings.transport, guests, log)

    asyncio.run(serving())
    log.tell(audit_log.End(reason="it was told to end"))


def _audit_log(project: Project, profile: Profile | None) -> AuditLog:
    """Open the audit log, before anything else is opened or started."""
    settings = project.settings
    root = Path(settings.root).resolve()
    try:
        return audit_log.begun(settings.audit_log, root, profile, with_arguments=settings.audit_arguments)
    except AuditLogError as wrong:
        source = project.resolved.sources["audit_log"]
        raise ConfigError(source, f"audit_log {settings.audit_log!r}: {wrong}", "give another file") from None


async def _tell(indexing: Indexing) -> None:
    """Log how the build ended, as soon as it does."""
    try:
        built = await indexing.built()
    except IndexingError as failed:
        _log.error("no index: %s", failed)
    else:
        _log.info("%s", stats.headline(built), extra={"seconds": built.seconds})
        _log.debug("%s", ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in built.seconds.items()))
        warn(built.notices)
