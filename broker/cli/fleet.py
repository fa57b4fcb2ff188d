"""`fleet`: indexes of many repositories on a disk, made by confined indexers and served as one tree."""

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path

import click

from fledgling.broker import surroundings
from fledgling.broker.cli import terminal
from fledgling.broker.cli.fleet_options import settings, settings_options
from fledgling.broker.cli.fleet_serve import fleet_serve
from fledgling.broker.cli.project import ServedProject, json_option
from fledgling.broker.cli.starting import confined
from fledgling.broker.fleet import bundling, exporting, making, replacing, shard, storage
from fledgling.broker.fleet.building import ListError, build, read_list, untouched
from fledgling.broker.fleet.engines import ENGINES, EngineMissingError, EngineName
from fledgling.broker.fleet.making import Outcome, ToIndex
from fledgling.broker.fleet.verified import ShardError
from fledgling.broker.own_file import OwnFileError
from fledgling.config import ConfigError, Resolved, read_user_file, resolve
from fledgling.messages.control import Confining
from fledgling.plain import counted
from fledgling.roots import refuse_wide, with_root
from fledgling.security import lifeline, limits
from fledgling.security import profile as profiles
from fledgling.security.profile import ProfileError
from fledgling.settings import NAMED_ROOT

_log = logging.getLogger("fledgling")

ALL, NONE, SOME = 0, 1, 2  # exit codes: what of the repositories has a whole shard


@click.group("fleet")
def fleet_group() -> None:
    """Index many repositories into a directory, and serve them from there. Exit codes: 0 all; 1 none; 2 some of them.

    A shard is the index of one repository, as one file. It holds what its profile shows, and no profile that hides more
    is served from it.
    """


out_option = click.option(
    "--out",
    metavar="DIR",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="the directory of the shards, outside of every repository and yours alone to write to",
)


@fleet_group.command("shard", short_help="Index repositories one after the other, and write their shards")
@click.argument("listed", metavar="[NAME=]REPO...", nargs=-1, required=True)
@out_option
@settings_options
@json_option
@click.option("--parent", type=int, hidden=True, help="end when this process does, which has started the command")
def fleet_shard(
    listed: tuple[str, ...],
    out: Path,
    profile: str | None,
    config: str | None,
    allow_degraded: bool,
    as_json: bool,
    parent: int | None,
) -> None:
    """Index repositories, one after the other, each by a confined indexer of its own, and write their shards.

    A repository is called as its directory is, or NAME. A shard is not made again while its repository, the profile and
    this release are what it was made of, and a new one takes the place of the old one at once, or not at all. What
    fails is said, and the others are made.
    """
    if parent is not None:
        lifeline.tie(parent)
    surroundings.check()
    of = partial(_resolved, profile=profile, config=config)
    repositories, outcomes = named(listed), []
    _outside(out, repositories)
    for name, root in repositories:
        outcomes.append(_made(name, root, out.resolve(), of, Confining(allow_degraded)))
        _tell(outcomes[-1], as_json=as_json)
    raise SystemExit(exit_code(outcomes))


@fleet_group.command("build", short_help="Make the shards of the repositories in a list")
@click.argument("listed", metavar="LIST", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@out_option
@settings_options
@click.option("--engine", type=click.Choice(list(ENGINES)), default="local", show_default=True, help="what runs it")
@click.option(
    "--workers",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="repositories at once on this machine [default: one for each core]",
)
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]),
    metavar="TIME",
    help="leave out repositories without a file that has changed since then: 2026-11-26, or 2026-11-26T12:30",
)
@click.option("--address", metavar="ADDRESS", help="where a Dask scheduler or a Ray cluster runs already")
@json_option
def fleet_build(
    listed: Path,
    out: Path,
    profile: str | None,
    config: str | None,
    allow_degraded: bool,
    engine: EngineName,
    workers: int | None,
    since: datetime | None,
    address: str | None,
    as_json: bool,
) -> None:
    """Make the shards of the repositories in LIST, many at once. Each line of it is [NAME=]REPO.

    A process of `fleet shard` makes each of them, wherever the engine runs it; LIST, repositories, profile and DIR must
    be at the same paths there. What is unchanged is not made again, so the same command goes on with a build that was
    stopped. What fails is said, and the others are made.
    """
    try:
        repositories = named(read_list(listed))
    except ListError as wrong:
        raise ConfigError(
            str(listed), str(wrong), "give a file with a line for each repository: [NAME=]DIRECTORY"
        ) from None
    _outside(out, repositories)
    _, of_profile = settings(profile, config)
    options = _shard_options(out, profile, config, allow_degraded=allow_degraded)
    outcomes: list[Outcome] = []

    def tell(outcome: Outcome) -> None:
        outcomes.append(outcome)
        _tell(outcome, f"[{len(outcomes)}/{len(repositories)}] ", as_json=as_json)

    try:
        for outcome in untouched(repositories, out.resolve(), of_profile, since.timestamp()) if since else ():
            tell(outcome)
        done = {outcome.repository for outcome in outcomes}
        left = [each for each in repositories if each[0] not in done]
        with ENGINES[engine](workers or limits.cores(), address) as running:
            for outcome in build(running, left, options):
                tell(outcome)
    except ShardError as wrong:
        raise ConfigError(str(out), str(wrong), "see `fledgling fleet build --help`") from None
    except EngineMissingError as missing:
        raise ConfigError("--engine", str(missing), "or use --engine local") from None
    code = exit_code(outcomes)
    if code == NONE:
        raise SystemExit(code)
    bundled = _bundled(out.resolve(), of_profile.memory_limit, Confining(allow_degraded), as_json=as_json)
    raise SystemExit(code or bundled)


def _shard_options(out: Path, profile: str | None, config: str | None, *, allow_degraded: bool) -> list[str]:
    """Return the options that `fleet shard` is started with for each repository."""
    given = {"--out": str(out.resolve()), "--profile": profile, "--config": config}
    options = [word for name, value in given.items() if value for word in (name, value)]
    return [*options, "--allow-degraded"] if allow_degraded else options


@fleet_group.command("bundle", short_help="Put shards together, so that thousands are asked at once")
@click.argument("directory", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@settings_options
@json_option
def fleet_bundle(directory: Path, profile: str | None, config: str | None, allow_degraded: bool, as_json: bool) -> None:
    """Put the shards of a directory together, some hundred in a bundle, so that thousands are asked at once.

    Only bundles whose shards have changed are made, by a confined process each. `fleet build` does this at its end.
    """
    _, of_profile = settings(profile, config)
    raise SystemExit(_bundled(directory.resolve(), of_profile.memory_limit, Confining(allow_degraded), as_json=as_json))


@contextmanager
def _explained(source: str, command: str, directory: str, problem: str) -> Iterator[None]:
    """Say what is wrong with shards, and where to read on; or with a directory that the kernel refuses."""
    try:
        yield
    except (ShardError, OwnFileError) as wrong:
        raise ConfigError(source, str(wrong), f"see `fledgling {command} --help`") from None
    except OSError as refused:
        fix = "look whose the directory is, and whether its disk is whole"
        raise ConfigError(directory, f"{problem} ({refused.strerror})", fix) from None


def _bundled(directory: Path, memory_limit: int, confining: Confining, *, as_json: bool) -> int:
    """Make the bundles of a directory, say what became of them, and return the exit code."""
    with _explained(str(directory), "fleet bundle", str(directory), "its bundles cannot be looked at"):
        found = bundling.bundle(directory, memory_limit, confining)
    failed = [f"bundle {name}: failed: {reason}" for name, reason in found.failed.items()]
    made = f"{counted(found.bundles, 'bundle')}, {found.made} of them made"
    _show(found, [made, *failed, f"digest {found.digest}"], as_json=as_json)
    return SOME if found.failed else ALL


@fleet_group.command("parquet", short_help="Write the tables of shards as Parquet files")
@click.argument("directory", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--out",
    metavar="TABLES",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="the directory of the files, outside of every repository and yours alone to write to",
)
@settings_options
@json_option
def fleet_parquet(
    directory: Path, out: Path, profile: str | None, config: str | None, allow_degraded: bool, as_json: bool
) -> None:
    """Write the tables of a directory's shards as Parquet files, for DuckDB, Spark or Trino.

    Shards have tables where their profile has the tool `query`. What the profile of this command hides is in none of
    the files, and only those are written whose shards have changed.
    """
    _, shown = settings(profile, config)
    with _explained(str(directory), "fleet parquet", str(out), "the tables cannot be written"):
        found = exporting.export(directory.resolve(), out.resolve(), shown, Confining(allow_degraded))
    failed = [f"{name}.parquet: failed: {reason}" for name, reason in found.failed.items()]
    left_out = [f"{name}: left out: {reason}" for name, reason in found.refused.items()]
    made = f"{counted(found.parts, 'file')} of each table, {found.made} of them made"
    _show(found, [made, *failed, *left_out], as_json=as_json)
    raise SystemExit(SOME if found.failed or found.refused else ALL)


@fleet_group.command("put", short_help="Put shards and bundles into an object storage")
@click.argument("directory", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("url", metavar="URL")
@json_option
def fleet_put(directory: Path, url: str, as_json: bool) -> None:
    """Put the shards and bundles of a directory into an object storage, s3://bucket/fleet, where `fetch` finds them.

    Only what is not there is put; a list of all says meanwhile that it is not whole, so that nobody fetches half a
    build. URL is one that fsspec knows; it needs the driver of the storage: s3fs, gcsfs, adlfs.
    """
    surroundings.check()
    raise SystemExit(_moved(partial(storage.put, directory.resolve(), url), url, "fleet put", "put", as_json=as_json))


@fleet_group.command("fetch", short_help="Fetch shards and bundles from an object storage")
@click.argument("url", metavar="URL")
@click.argument("directory", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--digest", metavar="HEX", help="fetch nothing but what `fleet put` printed this for")
@json_option
def fleet_fetch(url: str, directory: Path, digest: str | None, as_json: bool) -> None:
    """Fetch the shards and bundles of an object storage into a directory, from which they are served.

    Each is verified before it takes the place of an old one, and shards that the storage has no more are removed. Name
    the digest where others may write to the storage.
    """
    surroundings.check()
    move = partial(storage.fetch, url, directory.resolve(), digest)
    raise SystemExit(_moved(move, url, "fleet fetch", "fetched", as_json=as_json))


def _moved(move: Callable[[], storage.Moved], url: str, command: str, what: str, *, as_json: bool) -> int:
    """Put or fetch files, say what became of them, and return the exit code."""
    with _explained(url, command, url, "the directory cannot be used"):
        found = move()
    failed = [f"{name}: failed: {reason}" for name, reason in found.failed.items()]
    gone = f", {counted(found.removed, 'other')} removed" if found.removed else ""
    moved = f"{counted(found.files, 'file')}, {found.moved} of them {what}{gone}"
    _show(found, [moved, *failed, f"digest {found.digest}"], as_json=as_json)
    return SOME if found.failed else ALL


fleet_group.add_command(fleet_serve)


def named(repositories: Iterable[str]) -> list[tuple[str, str]]:
    """Return the name and the directory of each repository. Raises ConfigError where two have one name.

    >>> named(["api=/srv/backend", "/srv/web/"])
    [('api', '/srv/backend'), ('web', '/srv/web/')]
    """
    found: dict[str, str] = {}
    for repository in repositories:
        name, _, root = repository.partition("=") if re.match(NAMED_ROOT, repository) else ("", "", repository)
        name = name or Path(root).absolute().name
        if not shard.is_name(name):
            problem = f"a repository cannot be called {name[:80]!r}"
            raise ConfigError("REPO", problem, "give NAME=DIRECTORY, a NAME of letters, digits, `.`, `_` and `-`")
        if name in found:
            raise ConfigError("REPO", f"two repositories are called {name}", "give NAME=DIRECTORY")
        found[name] = root
    return list(found.items())


def _outside(out: Path, repositories: Iterable[tuple[str, str]]) -> None:
    """Raise ConfigError where the directory of the shards is inside one of the repositories."""
    with _explained("--out", "fleet", str(out), "it cannot be looked at"):
        replacing.outside(out, ((name, shard.root_digest(root)) for name, root in repositories))


def _tell(outcome: Outcome, before: str = "", *, as_json: bool) -> None:
    """Say what became of a repository."""
    _show(outcome, [before + line(outcome)], as_json=as_json)


def _show(found: object, lines: Iterable[str], *, as_json: bool) -> None:
    """Show what became of something: in lines, or as JSON in one."""
    if as_json:
        terminal.show_line(found)
    else:
        for each in lines:
            terminal.show_text(each)


def line(outcome: Outcome) -> str:
    """Return what became of a repository: `flask: built, 83 files, 18210 lines, 1604 definitions, 2.7 MB, 1.3 s`."""
    if outcome.state == "failed":
        return f"{outcome.repository}: failed: {outcome.reason}"
    lacks = f" ({outcome.partial})" if outcome.partial else ""
    return (
        f"{outcome.repository}: {outcome.state}, {outcome.files} files, {outcome.lines} lines, "
        f"{outcome.symbols} definitions, {outcome.bytes / 1e6:.1f} MB, {outcome.seconds:.1f} s{lacks}"
    )


def exit_code(outcomes: list[Outcome]) -> int:
    """Return whether all repositories, none or some have a whole shard."""
    whole = sum(outcome.state != "failed" and not outcome.partial for outcome in outcomes)
    if whole == len(outcomes):
        return ALL
    return NONE if all(outcome.state == "failed" for outcome in outcomes) else SOME


def _made(name: str, root: str, out: Path, of: Callable[[str], Resolved], confining: Confining) -> Outcome:
    """Make one shard, or say why there is none."""
    try:
        resolved = of(root)
        profile = profiles.load(resolved.settings.profile)
    except (ConfigError, ProfileError) as wrong:
        return Outcome(name, "failed", str(wrong))
    project = ServedProject(resolved, profile, confining)
    return making.make(ToIndex(name, resolved.settings, profile, confining), out, partial(confined, project))


def _resolved(root: str, *, profile: str | None, config: str | None) -> Resolved:
    """Return the settings for one repository. Raises ConfigError."""
    flags = {"root": str(Path(root).absolute()), "profile": profile}
    resolved = with_root(resolve(flags, os.environ, read_user_file(os.environ, config)), os.environ)
    refuse_wide(resolved, os.environ)
    return resolved
