"""`fleet serve`: one client on standard input and output, or several agents over HTTP, over shards."""

import asyncio
import logging
import os
import signal
from pathlib import Path

import click

from fledgling.broker import logs
from fledgling.broker.audit_log.records import EndRecord
from fledgling.broker.audit_log.writer import AuditLog, tell_confinement
from fledgling.broker.cli import over_http
from fledgling.broker.cli.fleet_options import settings, settings_options
from fledgling.broker.cli.project import setting_option
from fledgling.broker.cli.starting import audit_log
from fledgling.broker.confining import confined_to
from fledgling.broker.fleet.live import LiveFleet, ShardDirectory
from fledgling.broker.fleet.pack import Pack, PackIndex
from fledgling.broker.fleet.verified import ShardError
from fledgling.config import ConfigError, Resolved
from fledgling.messages.control import Confining
from fledgling.messages.profile import Profile

_log = logging.getLogger("fledgling")


@click.command("serve", short_help="Serve all repositories of a directory to an MCP client, or to several over HTTP")
@click.argument("directory", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@settings_options
@click.option("--digest", metavar="HEX", help="serve nothing but what `fleet bundle` printed this for")
@setting_option("transport")
@setting_option("agents")
@setting_option("host")
@setting_option("port")
@click.option("--secrets", metavar="FILE", help="over HTTP, keep the token of this run there, mode 600")
def fleet_serve(
    directory: Path,
    profile: str | None,
    config: str | None,
    allow_degraded: bool,
    digest: str | None,
    secrets: str | None,
    **flags: str | None,
) -> None:
    """Serve the repositories whose shards are in a directory, as the directories of one tree.

    Each shard is verified while it is copied into memory; one that is not what was written, or holds what the profile
    hides, is refused by name, and the others are served. All of them must fit the profile's memory_limit. A new build
    is served once it is whole. Over HTTP each agent has a copy and a query worker of its own, under its own profile.
    """
    resolved, served = settings(profile, config, **flags)
    logs.configure(resolved.settings)
    shards = _Shards(directory, digest, Confining(allow_degraded))
    if resolved.settings.transport == "stdio":
        over_http.refuse_flags({**flags, "secrets": secrets})
        _serve_stdio(resolved, shards, served)
    else:
        _serve_http(resolved, shards, served, secrets)


class _Shards:
    """The directory that is served, and how."""

    def __init__(self, directory: Path, digest: str | None, confining: Confining) -> None:
        self.place, self._digest, self.confining = directory.resolve(), digest, confining
        self._path = str(directory.absolute())  # through links, of which one may come to lead elsewhere

    def packed(self, profile: Profile, log: AuditLog, agent: str = "") -> tuple[ShardDirectory, PackIndex]:
        """Verify and copy what a profile may be served; say what is refused. Raises ConfigError where that is all."""
        whose = f"agent {agent}: " if agent else ""
        directory = ShardDirectory(self._path, profile, self._digest)
        index = PackIndex(self._pack(directory, whose), profile, self.confining, log.tell)
        for name, reason in index.pack.refused.items():
            _log.error("%s%s is not served: %s", whose, name, reason)
        number = len(index.pack.manifests)
        _log.info("%s%d %s, profile %s", whose, number, "repository" if number == 1 else "repositories", profile.name)
        return directory, index

    def _pack(self, directory: ShardDirectory, whose: str) -> Pack:
        try:
            return directory.packed()
        except ShardError as wrong:
            raise ConfigError(str(self.place), f"{whose}{wrong}", "see `fledgling fleet serve --help`") from None

    def confine(self, log: AuditLog) -> None:
        """Confine this process to reading the directory, and what its children need."""
        tell_confinement(log.tell, "broker", os.getpid(), confined_to([str(self.place)], self.confining))


def _serve_stdio(resolved: Resolved, shards: _Shards, profile: Profile) -> None:
    """Serve one client, until it closes its end."""
    log = audit_log(resolved, {"": str(shards.place)}, profile)
    packed = shards.packed(profile, log)
    shards.confine(log)
    from fledgling.broker.protocol import server  # noqa: PLC0415  (the SDK takes 0.4 s; other commands need none)

    signal.signal(signal.SIGINT, signal.SIG_DFL)

    async def serving() -> None:
        fleet = LiveFleet(*packed)
        try:
            await server.serve(fleet, log, resolved.settings.answers)
        finally:
            await fleet.close()

    asyncio.run(serving())
    log.tell(EndRecord(reason="the client has closed its end"))


def _serve_http(resolved: Resolved, shards: _Shards, profile: Profile, secrets: str | None) -> None:
    """Serve over HTTP. What a confined broker may not do comes first, and so do the copies: all is verified by then."""
    http = over_http.opened(resolved, {"": str(shards.place)}, profile, secrets)
    packed = [shards.packed(agent.profile, http.log.of(agent.name), agent.name) for agent in http.agents]
    shards.confine(http.log)
    from fledgling.broker.protocol import sdk  # noqa: PLC0415  (the SDK takes 0.4 s)

    with sdk.lean():
        from fledgling.broker.protocol.http import serving  # noqa: PLC0415
        from fledgling.broker.protocol.http.guests import Guest  # noqa: PLC0415
        from fledgling.broker.protocol.http.monitor import Monitor  # noqa: PLC0415
        from fledgling.broker.protocol.http.turns import SharingFleet  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the server takes care of it

    async def serve_all() -> str | None:
        fleets = {agent: LiveFleet(*each, SharingFleet) for agent, each in zip(http.agents, packed, strict=True)}
        try:
            guests = [
                Guest(agent, fleet, http.log.of(agent.name), resolved.settings) for agent, fleet in fleets.items()
            ]
            monitor = Monitor(http.watching, http.metrics, fleets) if http.watching else None
            return await serving.serve(
                http.listening, resolved.settings.transport, guests, http.log, http.file, monitor, http.issuer
            )
        finally:
            await asyncio.gather(*(fleet.close() for fleet in fleets.values()))

    over_http.ended(http.log, asyncio.run(serve_all()))
