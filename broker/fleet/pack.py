"""The shards of a directory, verified and copied into one sealed memory file, which is all that a query worker gets."""

import mmap
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec
from msgspec import Struct

from fledgling.broker.audit_log.records import AnyRecord
from fledgling.broker.fleet import shard
from fledgling.broker.fleet.shard import Manifest, ShardError
from fledgling.broker.memory import Memory
from fledgling.messages.control import Confining, Generation, Images, OpenFleet, StoredIndex
from fledgling.messages.profile import Profile
from fledgling.security import limits, memory_file


class Pack(Struct, frozen=True):
    """What is served: the memory file, what is in it, and why some repositories are not."""

    fd: int
    table_bytes: int
    manifests: tuple[Manifest, ...]  # in the order of names, and of the numbers that a worker knows them by
    refused: dict[str, str]  # by name, why a shard is not served


def packed(path: str, profile: Profile) -> Pack:
    """Verify and copy the shards of a directory that a profile may be served from. Raises ShardError where none is.

    Each is read once: what was verified is what is served. They must fit memory_limit.
    """
    manifests, refused, stored = [], {}, []
    fd = memory_file.create()
    try:
        directory = shard.open_directory(path)
        try:
            end, room = 0, limits.files(profile.memory_limit)
            for name in shard.names(directory):
                try:
                    copied = _copied(directory, name, profile, fd, end, room)
                except ShardError as wrong:
                    refused[name] = str(wrong)
                    os.ftruncate(fd, end)  # what was copied of it is zeros again
                    continue
                end, room = copied.end, room - copied.taken
                manifests.append(copied.manifest)
                stored.append(StoredIndex(copied.manifest.generation, copied.parts))
        finally:
            os.close(directory)
        if not manifests:
            why = "; ".join(f"{name}: {reason}" for name, reason in list(refused.items())[:3])
            raise ShardError(f"no shard in the directory can be served{f' ({why})' if why else ''}")
        table = msgspec.msgpack.encode(stored)
        os.ftruncate(fd, end)
        os.pwrite(fd, table, end)
        memory_file.seal(fd)
    except BaseException:
        os.close(fd)
        raise
    return Pack(fd, len(table), tuple(manifests), refused)


class _Copied(NamedTuple):
    """A shard in the memory file: where its parts are, where the next one may begin, and the bytes that it takes."""

    manifest: Manifest
    parts: dict[str, tuple[int, int]]
    end: int
    taken: int


def _copied(directory: int, name: str, profile: Profile, to: int, at: int, room: int) -> _Copied:
    """Copy one shard to a place, if it takes no more than `room`. Raises ShardError."""
    fd = shard.opened(directory, name)
    parts: dict[str, tuple[int, int]] = {}
    taken = 0
    try:
        manifest = shard.read(fd)
        if manifest.repository != name:
            raise ShardError(f"it is the shard of {manifest.repository}")
        if manifest.extractors.partition(" ")[0] != shard.RELEASE:
            raise ShardError("it was made by another release of Fledgling; make it again")
        if wider := manifest.under.wider_than(profile):
            raise ShardError(f"{wider}; make it under that profile")
        for part in manifest.parts:
            taken += shard.copy(fd, part, to, at, room - taken)
            parts[part.name] = at, part.size
            at += -(-part.size // mmap.PAGESIZE) * mmap.PAGESIZE
        return _Copied(manifest, parts, at, taken)
    finally:
        os.close(fd)


class PackIndex:
    """A pack as a query worker serves it."""

    images: Images | None = None
    changes = 0

    def __init__(self, pack: Pack, profile: Profile, confining: Confining, tell: Callable[[AnyRecord], None]) -> None:
        self.pack, self.profile, self.confining, self.tell = pack, profile, confining, tell
        self.memory = Memory(profile.memory_limit, self.descriptors)
        self.begun_at = datetime.now(UTC)

    def descriptors(self) -> tuple[int, ...]:
        """Return the one descriptor that a worker is handed."""
        return (self.pack.fd,)

    def opening(self, _: Generation) -> OpenFleet:
        """Return what a worker is told to open."""
        return OpenFleet(os.getpid(), self.pack.fd, self.pack.table_bytes, self.profile, self.confining)

    def close(self) -> None:
        """Let go of the memory file."""
        with suppress(OSError):
            os.close(self.pack.fd)
