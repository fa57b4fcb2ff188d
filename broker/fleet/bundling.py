"""Making the bundles of a directory: a confined process makes each of them from shards that were verified."""

import asyncio
import os
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from fledgling.broker.fleet import replacing, shard, verified
from fledgling.broker.fleet.bundle import BUNDLE, BundleManifest, Member, names, planned
from fledgling.broker.fleet.making import extractors
from fledgling.broker.fleet.pack import digest_of
from fledgling.broker.fleet.shard import SHARD, Generations
from fledgling.broker.fleet.verified import ShardError
from fledgling.broker.launch import BackProcess, how_ended
from fledgling.broker.memory import Memory
from fledgling.broker.own_file import OwnFileError
from fledgling.broker.spawn import spawn
from fledgling.broker.watchdog import within
from fledgling.messages.answers import Refusal
from fledgling.messages.bundling import Bundle, Bundled, Exhausted, Export, TakenIndex
from fledgling.messages.control import Confining, Ready, StoredIndex, StoredIndexes
from fledgling.pipe import Unpacker
from fledgling.security import inspection, limits, memory_file

# For what is made of the shards of one bundle, by all processes that it takes: as many as may be left out at
# TAKING_SECONDS each, and 600 for the others, of which 100 small ones take 3.
BUNDLING_SECONDS = 1800.0
TAKING_SECONDS = 120.0  # until a process begins, and then until it takes the next shard: 4,000 times a small one's
MAX_LEFT_OUT = 10  # shards of one bundle that cost a process: each has all others taken once more
MADE_OF = ("text", "code", "blocks", "signatures", "outlines")  # parts of its shards
MAX_FRAME = 2**16  # bytes of what a bundler says
FromBundler = Ready | TakenIndex | Bundled | Exhausted | Refusal


class Bundles(Struct, frozen=True):
    """What became of the bundles of a directory: how many there are, how many of them were made, and which were not.

    `digest` is of all bundles and shards that are there.
    """

    bundles: int
    made: int
    failed: dict[str, str]  # by name, why
    digest: str


class KnownShard(NamedTuple):
    """A shard of the directory: the hash of its manifest, and the bytes that it takes."""

    identity: str
    bytes: int


class Arranged(NamedTuple):
    """The bundles and the shards of a directory by name, and of which shards each bundle is to be."""

    there: dict[str, BundleManifest]
    shards: dict[str, KnownShard]
    plan: dict[str, list[str]]


def bundle(out: Path, memory_limit: int, confining: Confining) -> Bundles:
    """Make those bundles of a directory that are not of the shards that are there. Raises ShardError."""
    directory = replacing.directory(out)
    try:
        replacing.outside(out, shard.roots(directory))
        there, shards, plan = arranged(directory)
        made, failed = 0, {}
        present = {*names(directory)}
        foreign = {name for name in present - there.keys() if not verified.begins_as(directory, name, BUNDLE)}
        for name in present - foreign - plan.keys():  # what cannot be read, and is of no shard here
            os.unlink(f"{name}{BUNDLE.suffix}", dir_fd=directory)
        for name, members in plan.items():
            if name in foreign:
                failed[name] = "a file of that name is not a bundle, and stays; move it elsewhere"
                continue
            wanted = [(member, shards[member].identity) for member in members]
            known = there.get(name)
            is_same = known and wanted == [(each.repository, each.identity) for each in known.members]
            if known and is_same and known.extractors == extractors():
                continue
            if not members:
                os.unlink(f"{name}{BUNDLE.suffix}", dir_fd=directory)
                continue
            try:
                _make(out, directory, name, members, memory_limit, confining)
                made += 1
            except (ShardError, OwnFileError) as wrong:
                failed[name] = str(wrong)
            except OSError as refused:
                failed[name] = f"it cannot be written ({refused.strerror})"
        return Bundles(sum(map(bool, plan.values())), made, failed, digest_of(directory))
    finally:
        os.close(directory)


def arranged(directory: int) -> Arranged:
    """Return which shards of a directory go together."""
    there, shards = dict(_there(directory)), dict(_shards(directory))
    plan = planned(
        {name: [each.repository for each in manifest.members] for name, manifest in there.items()},
        {name: each.bytes for name, each in shards.items()},
    )
    return Arranged(there, shards, plan)


def _there(directory: int) -> Iterator[tuple[str, BundleManifest]]:
    """Yield the bundles that can be used; the others are made anew."""
    for name in names(directory):
        with suppress(ShardError), verified.opening(directory, f"{name}{BUNDLE.suffix}") as fd:
            yield name, verified.whole(fd, BUNDLE)


def _shards(directory: int) -> Iterator[tuple[str, KnownShard]]:
    """Yield the shards that this release has made; others are not served."""
    for name in shard.names(directory):
        with suppress(ShardError), verified.opening(directory, f"{name}{SHARD.suffix}") as fd:
            manifest, identity = verified.identified(fd, SHARD)
            shard.check_release(manifest.extractors)
            if manifest.repository == name:
                yield name, KnownShard(identity, os.fstat(fd).st_blocks * 512)


def _make(
    out: Path, directory: int, name: str, members: Sequence[str], memory_limit: int, confining: Confining
) -> None:
    """Make one bundle, and put it in the place of the old one. Raises ShardError."""
    files = [memory_file.create() for _ in range(3)]
    try:
        held, level, tables = files
        copied = copied_shards(directory, members, MADE_OF, held, memory_limit)
        order = Bundle(os.getpid(), held, copied.table_bytes, level, tables, memory_limit, confining)
        left_out = filled(order, len(members), held, (level, tables))
        for fd in (level, tables):
            memory_file.seal(fd)
        identities = enumerate(zip(members, copied.identities, strict=True))
        made = BundleManifest(extractors(), tuple(Member(*each, number in left_out) for number, each in identities), ())
        with replacing.new(out, f"{name}{BUNDLE.suffix}", [], directory) as fd:
            verified.write(fd, BUNDLE, made, {"level": level, "tables": tables})
            replacing.put(f"{name}{BUNDLE.suffix}", directory)
    finally:
        for fd in files:
            os.close(fd)


class CopiedShards(NamedTuple):
    """Some shards in a memory file: their hashes, and the bytes at its end that say where each is."""

    identities: list[str]
    table_bytes: int


def copied_shards(
    directory: int, members: Iterable[str], parts: Collection[str], to: int, memory_limit: int
) -> CopiedShards:
    """Verify some parts of shards while they are copied into a memory file, and seal that. Raises ShardError."""
    identities, stored, end, taken = [], [], 0, 0
    generations = Generations()
    for member in members:
        try:
            with verified.opening(directory, f"{member}{SHARD.suffix}") as fd:
                manifest, identity = verified.identified(fd, SHARD)
                needed = [part for part in manifest.parts if part.name in parts]
                place = verified.copy_all(fd, needed, to, end, limits.files(memory_limit) - taken)
        except ShardError as wrong:
            raise ShardError(f"{member}: {wrong}") from None
        identities.append(identity)
        end, taken = place.end, taken + place.taken
        stored.append(StoredIndex(generations.number(manifest.generation), place.parts))
    return CopiedShards(identities, verified.seal_with(StoredIndexes(stored, generations.all), to, end))


class LeftOut(NamedTuple):
    """Why a shard was left out: for what it holds, or since it has cost a process, which need not be its own fault."""

    why: str
    is_costly: bool = False


class _CostlyError(Exception):
    """A process has ended, or has not come to an end, and which shard that is put down to."""

    def __init__(self, number: int, why: str) -> None:
        super().__init__(why)
        self.number = number


def filled(order: Bundle | Export, count: int, held: int, made: Sequence[int]) -> dict[int, LeftOut]:
    """Have a process fill empty memory files from so many shards; return which of those it left out, each with why.

    One that the process ends or stays at is left out by the next, which begins anew. Raises ShardError.
    """
    costly: dict[int, LeftOut] = {}
    until = time.monotonic() + BUNDLING_SECONDS
    while True:
        some = msgspec.structs.replace(order, without=tuple(costly))
        try:
            unread = asyncio.run(_told(some, count, (held, *made), until))
        except _CostlyError as cost:
            if cost.number in costly or len(costly) == MAX_LEFT_OUT:
                raise ShardError(str(cost)) from None
            costly[cost.number] = LeftOut(str(cost), is_costly=True)
            for fd in made:
                os.ftruncate(fd, 0)
                os.lseek(fd, 0, os.SEEK_SET)  # the process that has ended wrote at the same place
        else:
            return {
                number: costly.get(number, LeftOut("its tables cannot be read, or are too large")) for number in unread
            }


def _started(order: Bundle | Export, descriptors: Sequence[int]) -> BackProcess[FromBundler]:
    """Start a bundler, which is looked at: with the files that it was handed it holds no more than memory_limit."""
    unpacker = Unpacker[FromBundler](FromBundler, MAX_FRAME)
    process = BackProcess(spawn("fledgling.worker.bundler", descriptors), order, unpacker)
    process.watch(Memory(order.memory_limit, lambda: descriptors), int(order.memory_limit * limits.INDEXING))
    return process


def _look(process: BackProcess[FromBundler], ready: Ready, order: Bundle | Export) -> None:
    """Look from outside at a process that says that it is ready. Raises ShardError where something does not hold it."""
    if problem := inspection.problem("bundler", process.pid, ready.layers, order.confining):
        raise ShardError(problem)


def _end_of(process: BackProcess[FromBundler], status: int) -> str:
    return "took more memory than there is" if process.over_memory else f"has ended: {how_ended(status)}"


async def _told(order: Bundle | Export, count: int, descriptors: Sequence[int], until: float) -> tuple[int, ...]:
    """Have one process do it `until` then; return which shards it left out. Raises _CostlyError and ShardError."""
    process = _started(order, descriptors)
    begun, seconds, left, why = False, 0.0, 0.0, ""
    taken: list[int] = []  # bytes of the tables of each
    try:
        while True:
            left = until - time.monotonic()
            seconds = min(left, TAKING_SECONDS) if len(taken) < count else left
            async with within(seconds, lambda: process.pid):
                found = await process.receive()
            if isinstance(found, Ready) and not begun:
                _look(process, found, order)
                begun = True
            elif isinstance(found, TakenIndex) and begun and len(taken) < count:
                taken.append(found.bytes)
            else:
                break
        if isinstance(found, Bundled) and begun:
            return found.unreadable
        if isinstance(found, Exhausted) and begun and found.number < count:
            raise _CostlyError(found.number, "its tables take most of the memory that there is for all of them")
        if isinstance(found, Refusal):
            raise ShardError(found.reason)
    except TimeoutError:
        if seconds == left:  # while it writes, too: of whose bytes most are says nothing about a slow machine
            raise ShardError(f"it was not done after {BUNDLING_SECONDS:.0f} s") from None
        why = (
            "its tables were not taken in time" if begun else "the process that reads its tables did not begin in time"
        )
    finally:
        process.kill()
        status = await process.ended()
    why = why or f"the process that reads its tables {_end_of(process, status)}"
    if not begun:
        raise ShardError(why)
    # Of files that are never done most is of the shard with the largest tables.
    raise _CostlyError(len(taken) if len(taken) < count else taken.index(max(taken)), why)
