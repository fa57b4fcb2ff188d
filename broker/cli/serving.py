"""One process that serves one agent or several: a front for each over its index, and an end to all of them together."""

import asyncio
import logging
import os
import socket
from asyncio import FIRST_COMPLETED
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from fledgling.broker.audit_log.writer import AuditLog, tell_confinement
from fledgling.broker.cli.printing import printed
from fledgling.broker.cli.project import ServedProject, warn
from fledgling.broker.cli.starting import confined, connector_of
from fledgling.broker.control import answering
from fledgling.broker.control.answering import Offer
from fledgling.broker.front import Front
from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.operating.operated import Answering, Operated, Shared
from fledgling.broker.operating.session import Session, SessionError
from fledgling.broker.operating.session import opened as open_session
from fledgling.broker.projects.projects import Projects, Slot
from fledgling.broker.reporting import stats
from fledgling.config import ConfigError
from fledgling.messages.operations import OPERATIONS
from fledgling.messages.profile import Profile
from fledgling.settings import NO_SESSION

T = TypeVar("T")
START_SECONDS = 5.0  # until clients are greeted though an indexer has not said whether its build is refused
_log = logging.getLogger("fledgling")


class Party(NamedTuple):
    """An agent that is served: its name, its profile, its log, and what operators call it, if they can tell it.

    Of several projects it has those that are named, and to it there are no others; where none is, it has all.
    """

    agent: str
    profile: Profile
    log: AuditLog
    offered_to: str | None = None
    projects: Sequence[str] = ()


class Fronts(NamedTuple):
    """What answers a party, and the front of its index, or of its projects' indexes, behind that."""

    front: Answering
    behind: Front | Projects


class Service:
    """A server from its confinement on: creating one starts an indexer for each party, unless there are projects.

    What a confined broker may not do comes before: its log, sockets and files. What takes long to load comes after.

    >>> service = Service(project, log, [Party(ALONE, project.profile, log)], operators)
    >>> service.run(Front, lambda fronts: server.serve(fronts[0].front, log, "structured"))
    """

    def __init__(
        self, project: ServedProject, log: AuditLog, parties: Sequence[Party], operators: Mapping[str, socket.socket]
    ) -> None:
        self._project, self._log, self._parties, self._operators = project, log, parties, operators
        self._shared = _shared(project)
        self._connector = connector_of(project, [party.profile for party in parties], log.tell)
        tell_confinement(log.tell, "broker", os.getpid(), confined(project))
        alone = () if project.settings.projects else parties
        self._indexings = [self._indexing(party, project.settings.root) for party in alone]

    def run(self, kind: type[Front], serve: Callable[[Sequence[Fronts]], Coroutine[None, None, T]]) -> T:
        """Serve over a front of this kind for each party, until that ends; return what `serve` does."""

        async def serving() -> T:
            async with AsyncExitStack() as stack:
                if self._connector:
                    stack.callback(self._connector.close)
                fronts = self._fronts(kind)
                for each in fronts:
                    stack.push_async_callback(each.front.close)
                offered = [
                    answering.offers(
                        each.behind, self._log, self._project.settings, self._project.confining, party.offered_to
                    )
                    for each, party in zip(fronts, self._parties, strict=True)
                ]
                await stack.enter_async_context(_operated(self._operators, offered))
                return await _unless_refused(self._indexings, partial(serve, fronts))

        return asyncio.run(serving())

    def _fronts(self, kind: type[Front]) -> list[Fronts]:
        """Put a front before each index; an operator's tools are answered where the profile names any."""
        fronts = []
        for number, party in enumerate(self._parties):
            behind: Front | Projects = (
                kind(party.profile, self._indexings[number], self._project.settings.freshness)
                if self._indexings
                else self._projects(party, kind)
            )
            if self._connector and isinstance(behind, Front) and self._connector.endpoint.is_allowed_by(party.profile):
                behind.connector = self._connector
            has_operations = OPERATIONS.keys() & {*party.profile.tools}
            fronts.append(Fronts(Operated(behind, self._shared, party.agent) if has_operations else behind, behind))
        return fronts

    def _projects(self, party: Party, kind: type[Front]) -> Projects:
        """Return the front of all projects that a party has; each starts when it is first asked for."""
        settings = self._project.settings

        def start(root: str) -> Front:
            return kind(party.profile, self._indexing(party, root), settings.freshness)

        roots = {name: root for name, root in settings.roots.items() if name in (party.projects or settings.roots)}
        slots = {name: Slot(root, partial(start, root)) for name, root in roots.items()}
        return Projects(party.profile, slots, settings.total_memory)

    def _indexing(self, party: Party, root: str) -> Indexing:
        settings = replace(self._project.settings, root=root)
        is_followed = settings.freshness != "off"
        confining = self._project.confining
        return Indexing(settings, party.profile, confining=confining, tell=party.log.tell, is_followed=is_followed)


@asynccontextmanager
async def _operated(
    operators: Mapping[str, socket.socket], offered: Sequence[Mapping[str, Offer]]
) -> AsyncIterator[None]:
    """Answer operators of each root, where there are sockets for them, with what agents are offered of it."""
    serving = [
        asyncio.create_task(
            answering.serve(listening, root, [offers[root] for offers in offered if root in offers], printed)
        )
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
            _log.error("the index is incomplete, and will stay so: %s", failed)
    else:
        _log.info("%s", stats.headline(built), extra={"seconds": built.seconds})
        _log.debug("%s", ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in built.seconds.items()))
        warn(built.notices)
