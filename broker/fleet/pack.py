"""The shards of a directory, verified and copied into one sealed memory file, which is all that a query worker gets."""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from fledgling.broker.audit_log.records import Tell
from fledgling.broker.fleet import shard, verified
from fledgling.broker.fleet.bundle import BUNDLE
from fledgling.broker.fleet.bundle import names as bundle_names
from fledgling.broker.fleet.shard import SHARD, Generations, Manifest
from fledgling.broker.fleet.verified import ShardError, ShardPart
from fledgling.broker.memory import Memory
from fledgling.messages.control import Confining, Generation, Images, OpenFleet, StoredIndex, StoredIndexes
from fledgling.messages.generations import EDGES
from fledgling.messages.profile import Profile
from fledgling.security import limits, memory_file

IN_BUNDLE = ("text", "code")  # parts of a shard that its bundle has: the tables
WHOLE = Generation(EDGES, (), has_content=True)  # what a worker is told: each index knows its own
_log = logging.getLogger("fledgling")


class ClosingError(Exception):
    """Who serves is closing, and wants no pack any more."""


class Pack(Struct, frozen=True):
    """What is served: the memory file, what is in it, and why some repositories are not."""

    fd: int
    table_bytes: int
    manifests: tuple[Manifest, ...]  # in the order of names, and of the numbers that a worker knows them by
    refused: dict[str, str]  # by name, why a shard is not served
    bundles: int  # over some of them
    digest: str  # of all files that are served


def packed(
    path: str, profile: Profile, expected: str | None = None, is_closing: Callable[[], bool] = lambda: False
) -> Pack:
    """Verify and copy the shards of a directory that a profile may be served from. Raises ShardError where none is.

    Each part is read once: what was verified is what is served. They must fit memory_limit. Where a digest is
    `expected`, all of it is served or nothing. Once `is_closing` it is given up before the next file.
    """
    directory = verified.open_directory(path)
    try:
        packing = _Packing(directory, profile, is_closing)
        try:
            packing.take_bundles()
            packing.take_shards()
            pack = packing.sealed()
            if expected and pack.digest != expected:
                raise ShardError(f"its digest is {pack.digest}, and not the one that was named")
            return pack
        except BaseException:
            os.close(packing.fd)
            raise
    finally:
        os.close(directory)


def digest_of(directory: int) -> str:
    """Return the digest of what an open directory holds to serve, of which nothing but that is read."""
    return verified.digest_of_all(identities(directory))


def identities(directory: int) -> dict[str, str]:
    """Return the files of an open directory that are to be served, each with the hash of its manifest."""
    return {name: identity for name, identity, _ in files(directory)}


def files(directory: int) -> Iterator[tuple[str, str, int]]:
    """Yield the files of an open directory that are to be served: name, hash of the manifest, and how long it is."""
    for name in [
        *(f"{name}{BUNDLE.suffix}" for name in bundle_names(directory)),
        *(f"{name}{SHARD.suffix}" for name in shard.names(directory)),
    ]:
        with suppress(ShardError), verified.opening(directory, name) as fd:
            yield name, verified.identity(fd), os.fstat(fd).st_size


class _Packing:
    """A memory file that is being filled from a directory."""

    def __init__(self, directory: int, profile: Profile, is_closing: Callable[[], bool]) -> None:
        self.fd = memory_file.create()
        self._directory, self._profile, self._is_closing = directory, profile, is_closing
        self._served: dict[str, tuple[str, Manifest]] = {}  # whose shard hides what the profile does, by its hash
        self._end, self._room = 0, limits.files(profile.memory_limit)
        self._members: dict[tuple[str, str], tuple[int, int]] = {}  # repositories and the shards of bundles
        self._bundles: list[dict[str, tuple[int, int]]] = []
        self._stored: list[StoredIndex] = []
        self._generations, self._known = Generations(), Generations()  # of those that are stored, and of all
        self._manifests: list[Manifest] = []
        self._refused: dict[str, str] = {}
        self._identities: dict[str, str] = {}  # by the names of files
        self._copies: dict[tuple[str, int], tuple[int, int]] = {}  # of parts, by hash and size

    def _look_at_shards(self) -> None:
        """Note which shards may be served, before a bundle is copied that may hold what others show."""
        for name in shard.names(self._directory):
            with suppress(ShardError), self._opening(f"{name}{SHARD.suffix}") as fd:
                manifest, identity = shard.usable(fd, name, self._profile)
                self._served[name] = identity, self._with_known(manifest)

    def take_bundles(self) -> None:
        """Copy the bundles. What is wrong with one is logged: its members are served without."""
        if bundles := bundle_names(self._directory):
            self._look_at_shards()
        for name in bundles:
            try:
                with self._opening(f"{name}{BUNDLE.suffix}") as fd:
                    self._take_bundle(fd, f"{name}{BUNDLE.suffix}")
            except ShardError as wrong:
                _log.error("the bundle %s is not used: %s", ascii(name)[1:-1], wrong)
                os.ftruncate(self.fd, self._end)  # what was copied of it is zeros again

    def _take_bundle(self, fd: int, name: str) -> None:
        manifest, identity = verified.identified(fd, BUNDLE)
        shard.check_release(manifest.extractors)
        if any(self._served.get(each.repository, ("",))[0] != each.identity for each in manifest.members):
            self._identities[name] = identity  # it is one of the directory, of which nothing is taken
            raise ShardError("some of its shards are missing, have changed, or may not be served under the profile")
        parts = self._copied(fd, manifest.parts)
        for place, member in enumerate(manifest.members):
            if not member.is_left_out:
                self._members[member.repository, member.identity] = len(self._bundles), place
        self._bundles.append(parts)
        self._identities[name] = identity

    def take_shards(self) -> None:
        """Copy the shards; why one is not served is kept."""
        for name in shard.names(self._directory):
            try:
                with self._opening(f"{name}{SHARD.suffix}") as fd:
                    self._take_shard(fd, name)
            except ShardError as wrong:
                self._refused[name] = str(wrong)
                os.ftruncate(self.fd, self._end)

    def _take_shard(self, fd: int, name: str) -> None:
        identity, manifest = self._served.pop(name, ("", None))
        if manifest is None or verified.identity(fd) != identity:  # it need not be decoded twice
            manifest, identity = shard.usable(fd, name, self._profile)
            manifest = self._with_known(manifest)
        bundle = self._members.get((name, identity))
        wanted = [part for part in shard.SERVED if not (bundle and part in IN_BUNDLE)]
        needed = [part for part in manifest.parts if part.name in wanted]
        parts = self._copied(fd, needed)
        self._stored.append(StoredIndex(self._generations.number(manifest.generation), parts, bundle))
        self._manifests.append(manifest)
        self._identities[f"{name}{SHARD.suffix}"] = identity

    def _with_known(self, manifest: Manifest) -> Manifest:
        """Return a manifest that holds what others hold as well in the same memory."""
        known = self._known.all[self._known.number(manifest.generation)]
        return msgspec.structs.replace(manifest, generation=known)

    def _opening(self, name: str) -> AbstractContextManager[int]:
        if self._is_closing():
            raise ClosingError
        return verified.opening(self._directory, name)

    def _copied(self, fd: int, parts: Sequence[ShardPart]) -> dict[str, tuple[int, int]]:
        """Copy parts, and return where they are; what has been copied of another file is not copied again."""
        known = {part.name: at for part in parts if (at := self._copies.get((part.digest, part.size)))}
        new = [part for part in parts if part.name not in known]
        place = verified.copy_all(fd, new, self.fd, self._end, self._room)
        self._end, self._room = place.end, self._room - place.taken
        self._copies.update(((part.digest, part.size), place.parts[part.name]) for part in new)
        return place.parts | known

    def sealed(self) -> Pack:
        """Return what was copied, which nobody changes from now on. Raises ShardError where nothing was."""
        if not self._manifests:
            why = "; ".join(f"{name}: {reason}" for name, reason in list(self._refused.items())[:3])
            raise ShardError(f"no shard in the directory can be served{f' ({why})' if why else ''}")
        return Pack(
            self.fd,
            verified.seal_with(StoredIndexes(self._stored, self._generations.all, self._bundles), self.fd, self._end),
            tuple(self._manifests),
            self._refused,
            len(self._bundles),
            verified.digest_of_all(self._identities),
        )


class PackIndex:
    """A pack as a query worker serves it."""

    images: Images | None = None
    changes = 0

    def __init__(self, pack: Pack, profile: Profile, confining: Confining, tell: Tell) -> None:
        self.pack, self.profile, self.confining, self.tell = pack, profile, confining, tell
        self.memory = Memory(profile.memory_limit, self.descriptors)
        self.begun_at = datetime.now(UTC)

    @property
    def indexes(self) -> int:
        """How many indexes there are."""
        return len(self.pack.manifests)

    def descriptors(self) -> tuple[int, ...]:
        """Return the one descriptor that a worker is handed."""
        return (self.pack.fd,)

    def newest(self) -> Generation:
        """Return what a worker serves of each index: all there is."""
        return WHOLE

    def opening(self, _: Generation) -> OpenFleet:
        """Return what a worker is told to open."""
        return OpenFleet(os.getpid(), self.pack.fd, self.pack.table_bytes, self.profile, self.confining)

    def close(self) -> None:
        """Let go of the memory file."""
        with suppress(OSError):
            os.close(self.pack.fd)
