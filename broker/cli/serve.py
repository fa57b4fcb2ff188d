"""`serve`: one client on standard input and output, or several agents over HTTP."""

import asyncio
import logging
import os
import signal
import socket
from asyncio import FIRST_COMPLETED
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec.structs import replace

from fledgling.broker.audit_log.records import AgentRecord, EndRecord
from fledgling.broker.audit_log.writer import AuditLog, tell_confinement
from fledgling.broker.cli.help import Command
from fledgling.broker.cli.project import ServedProject, audit_log, confined, indexed, project_of, setting_options, warn
from fledgling.broker.control import answering, place
from fledgling.broker.control.answering import Offer
from fledgling.broker.front import Front
from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.metrics import ALONE, Metrics
from fledgling.broker.operating.operated import Answering, Operated, Shared
from fledgling.broker.operating.session import Session, SessionError
from fledgling.broker.operating.session import opened as open_session
from fledgling.broker.projects.projects import Projects, Slot
from fledgling.broker.protocol.http import agents
from fledgling.broker.protocol.http.agents import Agent
from fledgling.broker.protocol.http.listening import opened as listen
from fledgling.broker.protocol.http.listening import watched
from fledgling.broker.reporting import stats
from fledgling.config import NO_AGENTS, NO_ISSUER, NO_SESSION, ConfigError
from fledgling.messages.operations import OPERATIONS
from fledgling.messages.profile import Profile

if TYPE_CHECKING:
    from fledgling.broker.protocol.http.issuer import Issuer

T = TypeVar("T")
START_SECONDS = 5.0  # until clients are greeted though an indexer has not said whether its build is refused
_log = logging.getLogger("fledgling")


@click.command(
    cls=Command,
    examples=(
        "fledgling serve --profile fledgling-analyst",
        "fledgling serve --root api=src/api --root web=src/web --control",
        "fledgling serve --transport http --agents ~/agents.yaml --monitor 127.0.0.1:9464",
    ),
)
@setting_options
@click.option("--control", is_flag=True, help="let your own commands ask this server: status, reindex, search, ...")
def serve(*, control: bool, **options: Any) -> None:
    """Serve one MCP client on standard input and output, or several agents over HTTP."""
    project = project_of(options, logging.INFO, takes_several=True)
    operators = _operators(project) if control else {}
    if project.settings.transport != "stdio":
        _serve_http(project, operators)
        return
    log = audit_log(project.resolved, project.settings.roots, project.profile)
    answering_of = partial(_answering, _shared(project), ALONE)
    if project.settings.projects:
        _serve_projects(project, log, answering_of, operators)
        return
    indexing = indexed(project, log, is_followed=project.settings.freshness != "off")
    # Imported here, not at the top: the SDK takes 0.2 s, and the indexer works meanwhile.
    from fledgling.broker.protocol import sdk  # noqa: PLC0415

    with sdk.lean():
        from fledgling.broker.protocol import server  # noqa: PLC0415

    # Ctrl-C ends us as SIGTERM does, and the kernel ends the others.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    async def serving() -> None:
        behind = Front(indexing.profile, indexing, project.settings.freshness)
        front = answering_of(behind)
        try:
            offered = [answering.offers(behind, log, project.settings, project.confining)]
            async with _operated(operators, offered):
                await _unless_refused([indexing], lambda: server.serve(front, log, project.settings.answers))
        finally:
            await front.close()

    asyncio.run(serving())
    log.tell(EndRecord(reason="the client has closed its end"))


def _serve_projects(
    project: ServedProject,
    log: AuditLog,
    answering_of: Callable[[Projects], Answering],
    operators: Mapping[str, socket.socket],
) -> None:
    """Serve one client several projects; each starts when it is first asked for."""
    tell_confinement(log.tell, "broker", os.getpid(), confined(project))
    from fledgling.broker.protocol import sdk  # noqa: PLC0415

    with sdk.lean():
        from fledgling.broker.protocol import server  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_DFL)

    async def serving() -> None:
        behind = _projects(project, project.profile, log, Front)
        front = answering_of(behind)
        try:
            offered = [answering.offers(behind, log, project.settings, project.confining)]
            async with _operated(operators, offered):
                await server.serve(front, log, project.settings.answers)
        finally:
            await front.close()

    asyncio.run(serving())
    log.tell(EndRecord(reason="the client has closed its end"))


def _projects(project: ServedProject, profile: Profile, log: AuditLog, kind: type[Front]) -> Projects:
    """Return the front of all projects of the settings under a profile."""

    def start(root: str) -> Front:
        return kind(profile, _indexing(project, profile, log, root), project.settings.freshness)

    slots = {name: Slot(root, partial(start, root)) for name, root in project.settings.roots.items()}
    return Projects(profile, slots, project.settings.total_memory)


def _indexing(project: ServedProject, profile: Profile, log: AuditLog, root: str) -> Indexing:
    settings = replace(project.settings, root=root)
    is_followed = settings.freshness != "off"
    return Indexing(settings, profile, confining=project.confining, tell=log.tell, is_followed=is_followed)


def _serve_http(project: ServedProject, operators: Mapping[str, socket.socket]) -> None:
    """Serve over HTTP. What a confined broker may not do comes first: the file of agents, the log, the socket."""
    settings = project.settings
    if settings.transport == "sse":
        _log.warning("transport sse is deprecated by MCP since 2025-03-26; use http")
    if settings.agents == NO_AGENTS:
        token = agents.new_token()
        known: tuple[Agent, ...] = (Agent(ALONE, project.profile, agents.digest(token)),)
        file = None
        click.echo(f"fledgling: the token of this run is {token}", err=True)
    else:
        known, file = agents.served(Path(settings.agents), settings.roots.values())
    issuer = _issuer(project, known)
    listening, watching = listen(project.resolved), watched(project.resolved)
    metrics, shared = Metrics(), _shared(project)
    log = audit_log(project.resolved, settings.roots, None, metrics.hear if watching else None)
    logs_of = {agent: log.of(agent.name) for agent in known}
    for agent in known:
        _log.info("agent %s, profile %s", agent.name, agent.profile.name)
        logs_of[agent].tell(AgentRecord(profile=agent.profile.name, digest=agent.profile.digest))
    tell_confinement(log.tell, "broker", os.getpid(), confined(project))
    several = bool(settings.projects)
    indexings = (
        {} if several else {agent: _indexing(project, agent.profile, logs_of[agent], settings.root) for agent in known}
    )
    # Imported here, not at the top: the SDK takes 0.2 s, and the indexers work meanwhile.
    from fledgling.broker.protocol import sdk  # noqa: PLC0415

    with sdk.lean():
        from fledgling.broker.protocol.http import serving as http  # noqa: PLC0415
        from fledgling.broker.protocol.http.guests import Guest  # noqa: PLC0415
        from fledgling.broker.protocol.http.monitor import Monitor  # noqa: PLC0415
        from fledgling.broker.protocol.http.turns import SharingFront  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the server takes care of it

    async def serving() -> str | None:
        async with AsyncExitStack() as stack:
            behind: dict[Agent, Front | Projects] = {
                agent: _projects(project, agent.profile, logs_of[agent], SharingFront)
                if several
                else SharingFront(agent.profile, indexings[agent], settings.freshness)
                for agent in known
            }
            fronts = {agent: _answering(shared, agent.name, front) for agent, front in behind.items()}
            for front in fronts.values():
                stack.push_async_callback(front.close)
            guests = [Guest(agent, front, logs_of[agent], settings) for agent, front in fronts.items()]
            offered = [
                answering.offers(front, log, settings, project.confining, agent.name) for agent, front in behind.items()
            ]
            await stack.enter_async_context(_operated(operators, offered))
            monitor = Monitor(watching, metrics, fronts) if watching else None
            serve_all = partial(http.serve, listening, settings.transport, guests, log, file, monitor, issuer)
            return await _unless_refused(indexings.values(), serve_all)

    replaced = asyncio.run(serving())
    log.tell(EndRecord(reason="a file of agents or keys was replaced" if replaced else "it was told to end"))
    if replaced:
        problem = "the file was deleted, or another has taken its place"
        raise ConfigError(replaced, problem, "start Fledgling again")


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
    return dict(zip(roots, place.listening(os.environ, map(Path, roots)), strict=True))


@asynccontextmanager
async def _operated(
    operators: Mapping[str, socket.socket], offered: Sequence[Mapping[str, Offer]]
) -> AsyncIterator[None]:
    """Answer operators of each root, where there are sockets for them, with what agents are offered of it."""
    serving = [
        asyncio.create_task(answering.serve(listening, root, [offers[root] for offers in offered]))
        for root, listening in operators.items()
    ]
    try:
        yield
    finally:
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


def _shared(project: ServedProject) -> Shared:
    """Return the tasks and tags of a session: in memory, or out of the file that the operator names."""
    settings = project.settings
    if settings.session == NO_SESSION:
        return Shared.of(Session())
    try:
        return Shared.of(open_session(Path(settings.session), settings.roots.values()))
    except SessionError as wrong:
        source = project.resolved.sources["session"]
        raise ConfigError(source, f"session {settings.session!r}: {wrong}", "give another file") from None


def _answering(shared: Shared, agent: str, front: Front | Projects) -> Answering:
    """Return a front that answers an operator's tools, where the profile names any."""
    return Operated(front, shared, agent) if OPERATIONS.keys() & {*front.profile.tools} else front


async def _unless_refused(indexings: Collection[Indexing], serve: Callable[[], Coroutine[None, None, T]]) -> T:
    """Serve, until that ends. Raises IndexingError where a build is refused, as a rule before anybody is served.

    Returns what serving does.
    """
    accepting = asyncio.gather(*map(_accepted, indexings))
    tasks: list[asyncio.Future[Any]] = [accepting, asyncio.gather(*map(_tell, indexings))]
    try:
        await asyncio.wait([accepting], timeout=START_SECONDS)
        if accepting.done():
            accepting.result()
        tasks.append(serving := asyncio.create_task(serve()))
        if not accepting.done():
            await asyncio.wait([accepting, tasks[-1]], return_when=FIRST_COMPLETED)
        if accepting.done():
            accepting.result()
        return await serving
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _accepted(indexing: Indexing) -> None:
    """Wait until an indexer begins its build, and log what it says; where it dies, every answer will say so."""
    try:
        warn((await indexing.accepted()).notices)
    except IndexingError as failed:
        if failed.is_refused:
            raise


async def _tell(indexing: Indexing) -> None:
    """Log how the build ended, as soon as it does."""
    try:
        built = await indexing.built()
    except IndexingError as failed:
        if not failed.is_refused:
            _log.error("the index is not whole, and will not be: %s", failed)
    else:
        _log.info("%s", stats.headline(built), extra={"seconds": built.seconds})
        _log.debug("%s", ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in built.seconds.items()))
        warn(built.notices)
