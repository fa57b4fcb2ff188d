"""An index of a command's own: the audit log, this process confined, an indexer, and what is asked of that."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from fledgling.broker.audit_log.records import Tell
from fledgling.broker.audit_log.writer import AuditLog, AuditLogError, Hear, open_log, tell_confinement
from fledgling.broker.cli.project import ServedProject, warn
from fledgling.broker.confining import confined_to
from fledgling.broker.embedding.connector import Connector
from fledgling.broker.embedding.endpoint import endpoint_of
from fledgling.broker.front import Front
from fledgling.broker.indexing.indexing import Indexing
from fledgling.config import ConfigError, Resolved
from fledgling.messages.control import Built, Layer
from fledgling.messages.profile import Profile

Result = TypeVar("Result")


def audit_log(
    resolved: Resolved, roots: Mapping[str, str], profile: Profile | None, hear: Hear | None = None
) -> AuditLog:
    """Open the audit log, before anything else is opened or started. Raises ConfigError."""
    settings = resolved.settings
    try:
        return open_log(settings.audit_log, roots, profile, with_arguments=settings.audit_arguments, hear=hear)
    except AuditLogError as wrong:
        source = resolved.sources["audit_log"]
        raise ConfigError(source, f"audit_log {settings.audit_log!r}: {wrong}", "give another file") from None


def confined(project: ServedProject) -> tuple[Layer, ...]:
    """Confine this process to reading the project and what its children need; they cannot have more than it has."""
    return confined_to(project.settings.roots.values(), project.confining)


def connector_of(project: ServedProject, served: Sequence[Profile], tell: Tell) -> Connector | None:
    """Start what connects to the embedding endpoint, if one is set; a confined process cannot. Raises ConfigError."""
    endpoint = endpoint_of(project.resolved, served)
    return Connector(endpoint, project.confining, tell) if endpoint else None


def indexed(
    project: ServedProject, log: AuditLog | None = None, *, is_followed: bool = False, for_graph: bool = True
) -> Indexing:
    """Confine this process, then start the indexer; what one call asks is not followed."""
    log = log or AuditLog()
    tell_confinement(log.tell, "broker", os.getpid(), confined(project))
    return indexing(project, log, is_followed=is_followed, for_graph=for_graph)


def indexing(project: ServedProject, log: AuditLog, *, is_followed: bool = False, for_graph: bool = True) -> Indexing:
    """Start the indexer, in a process that is confined."""
    return Indexing(
        project.settings,
        project.profile,
        confining=project.confining,
        tell=log.tell,
        is_followed=is_followed,
        for_graph=for_graph,
    )


def build(indexing: Indexing) -> Built:
    """Let the index be built, and end all processes; nobody asks it anything, so no worker opens it."""

    async def building() -> Built:
        try:
            warn((await indexing.accepted()).notices)
            return await indexing.built()
        finally:
            await indexing.close()

    return asyncio.run(building())


def run(indexing: Indexing, use: Callable[[Front, Indexing], Awaitable[Result]]) -> Result:
    """Open the door once the indexer has accepted the profile, and end all processes when `use` is done."""

    async def serving() -> Result:
        front = Front(indexing.profile, indexing)
        try:
            warn((await indexing.accepted()).notices)
            return await use(front, indexing)
        finally:
            await front.close()

    return asyncio.run(serving())
