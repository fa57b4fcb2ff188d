"""Making one shard: a broker of its own, confined as any other, indexes the repository and writes to one open file.

The process that is asked opens the file, beside the shard that there may be, and starts the other one. It reads nothing
of the repository, and puts the file in the place of the old shard once all of it is on the disk: whatever ends before
leaves that as it was.
"""

import asyncio
import os
import re
import signal
import time
import traceback
from collections.abc import Callable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from fledgling.broker.fleet import replacing, shard, verified
from fledgling.broker.fleet.shard import SHARD, MadeUnder, Manifest
from fledgling.broker.fleet.verified import ShardError
from fledgling.broker.indexing.failures import IndexingError, UnchangedError
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.launch import how_ended
from fledgling.broker.own_file import OwnFileError
from fledgling.digests import blake2b
from fledgling.messages.control import Confining
from fledgling.messages.generations import EDGES
from fledgling.messages.profile import Profile
from fledgling.plain import said
from fledgling.security import lifeline
from fledgling.security.confinement import ConfinementError
from fledgling.settings import Settings

MAX_OUTCOME = 2**16  # bytes; it is a few counts, and two sentences at most

State = Literal["built", "unchanged", "failed"]


class Outcome(Struct, frozen=True, forbid_unknown_fields=True):
    """What became of one repository; `reason` says why it has failed, `partial` what its index lacks."""

    repository: str
    state: State
    reason: str | None = None
    partial: str | None = None
    files: int = 0
    lines: int = 0
    symbols: int = 0
    bytes: int = 0
    seconds: float = 0.0


class ToIndex(Struct, frozen=True):
    """What is to be indexed, and how: its name among others, settings whose root it is, and the profile."""

    name: str
    settings: Settings
    profile: Profile
    confining: Confining


@cache
def extractors() -> str:
    """Return what makes an index: this release, and those of the engine and the grammars as a hash."""
    needed = {re.split(r"[^\w-]", need)[0] for need in metadata.requires("fledgling-lens") or () if "extra" not in need}
    versions = [
        f"{name}={metadata.version(name)}" for name in sorted(needed) if name.startswith(("duckdb", "tree-sit"))
    ]
    return f"{shard.RELEASE} {blake2b(' '.join(versions).encode(), digest_size=16).hexdigest()}"


def make(repository: ToIndex, out: Path, confine: Callable[[], object]) -> Outcome:
    """Make the shard of a repository in a directory, unless the one that is there is of the same; say what became.

    `confine` confines the process that indexes, which is not this one.
    """
    begun = time.monotonic()
    try:
        outcome = _made(repository, out, confine)
    except (ShardError, OwnFileError) as wrong:
        outcome = _failed(repository, f"its shard cannot be written: {wrong}")
    except OSError as refused:
        outcome = _failed(repository, f"its shard cannot be written: {refused.strerror}")
    return msgspec.structs.replace(outcome, seconds=round(time.monotonic() - begun, 3))


def _made(repository: ToIndex, out: Path, confine: Callable[[], object]) -> Outcome:
    root, name = repository.settings.root, f"{repository.name}{SHARD.suffix}"
    directory = replacing.directory(out)
    try:
        with replacing.new(out, name, [root], directory) as fd:
            outcome = _in_child(repository, fd, known(repository.name, repository.profile, directory), confine)
            if outcome.state == "built":
                replacing.put(name, directory)
        return outcome
    finally:
        os.close(directory)


def known(name: str, profile: Profile, directory: int) -> Manifest | None:
    """Return the manifest of the shard that there is, if only another tree would make another one.

    One is made again whose last generation could not be made, on a busy machine as it may be, and one that is damaged.
    """
    try:
        with verified.opening(directory, f"{name}{SHARD.suffix}") as fd:
            found = verified.whole(fd, SHARD)
    except ShardError:
        return None  # it is made anew
    is_same = found.extractors == extractors() and found.under == MadeUnder.of(profile)
    is_whole = found.partial is None or found.generation.number >= EDGES
    return found if is_same and is_whole else None


def _in_child(repository: ToIndex, fd: int, known: Manifest | None, confine: Callable[[], object]) -> Outcome:
    """Have a process of its own write the shard, and return what that says."""
    reading, telling = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            lifeline.tie(parent)
            os.close(reading)
            outcome = _indexed(repository, fd, known, confine)
            os.write(telling, msgspec.msgpack.encode(outcome))
            os._exit(0)
        finally:
            traceback.print_exc()  # a fault of ours, as any command says it
            os._exit(1)
    os.close(telling)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read(MAX_OUTCOME)
    _, status = os.waitpid(child, 0)
    if not told:
        return _failed(
            repository, f"the process that indexes it has ended: {how_ended(os.waitstatus_to_exitcode(status))}"
        )
    return msgspec.msgpack.decode(told, type=Outcome)


def _indexed(repository: ToIndex, fd: int, known: Manifest | None, confine: Callable[[], object]) -> Outcome:
    try:
        confine()
        return asyncio.run(_written(repository, fd, known))
    except UnchangedError:
        assert known
        return outcome_of(known, "unchanged")
    except (IndexingError, ShardError, ConfinementError) as wrong:
        return _failed(repository, str(wrong))
    except OSError as refused:
        return _failed(repository, f"its shard cannot be written: {refused.strerror}")


async def _written(repository: ToIndex, fd: int, known: Manifest | None) -> Outcome:
    """Index a repository to the end, and write the shard."""
    profile = repository.profile
    indexing = Indexing(repository.settings, profile, confining=repository.confining, tree=known.tree if known else "")
    try:
        built = await indexing.built()
        partial = built.partial
        try:
            await indexing.sealed(EDGES)
        except IndexingError as failed:
            partial = " ".join(filter(None, (partial, f"{failed}.")))
        manifest = Manifest(
            repository.name,
            root=shard.root_digest(repository.settings.root),
            tree=built.tree or "",
            extractors=extractors(),
            under=MadeUnder.of(profile),
            generation=indexing.newest(),
            files=built.files,
            lines=built.lines,
            symbols=built.symbols,
            source_bytes=sum(each.bytes for each in built.languages),
            languages={each.language: each.files for each in built.languages if each.language},
            skipped=built.skipped,
            parts=(),
            partial=said(partial) if partial else None,
        )
        return outcome_of(verified.write(fd, SHARD, manifest, msgspec.structs.asdict(indexing.images)), "built")
    finally:
        await indexing.close()


def outcome_of(manifest: Manifest, state: State) -> Outcome:
    """Return what became of a repository that has a shard."""
    return Outcome(
        manifest.repository,
        state,
        partial=manifest.partial,
        files=manifest.files,
        lines=manifest.lines,
        symbols=manifest.symbols,
        bytes=sum(part.size for part in manifest.parts),
    )


def _failed(repository: ToIndex, reason: str) -> Outcome:
    return Outcome(repository.name, "failed", said(reason))
