"""A shard: the sealed index of one repository as one file, of which every byte is covered by a hash.

docs/fleet.md describes the format. Everything that decides what a shard may look like lives here. A shard on a disk is
hostile input: whoever reads one checks its owner and its manifest here, and each part while it is copied, and hands on
nothing that does not hold.
"""

import os
import stat
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import groupby
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from fledgling import __version__
from fledgling.messages.bounded import Count, Said, Word
from fledgling.messages.control import Generation
from fledgling.messages.profile import Profile

MAGIC, VERSION = b"fledshrd", 1
SUFFIX = ".shard"
MAX_MANIFEST = 2**20  # bytes; the longest part of one are a profile's views, which are at most 64 KiB
MAX_SHARD = 16 * 2**30  # bytes; a kernel of 78,000 files takes a tenth
MAX_REPOSITORIES = 100_000  # of one directory: names of as many are read at once
COPIED_BYTES = 2**20  # at once
PAGE = 4096  # bytes: what a file or memory is made of; one that is never written takes no room
DIGEST_BYTES = 32

_HEAD = struct.Struct("<8sHH4x")  # magic, version, 0 for little-endian sections and 1 for big
_END = struct.Struct(f"<Q{DIGEST_BYTES}s")  # where the manifest begins, and its BLAKE2b
ORDER = ("little", "big").index(sys.byteorder)

# What of an index a server needs: the listing is superseded by then, and no SQL is asked of several repositories.
PartName = Literal["text", "code", "blocks", "signatures", "outlines", "words", "graph"]
PARTS: tuple[PartName, ...] = ("text", "code", "blocks", "signatures", "outlines", "words", "graph")
Digest = Annotated[str, Meta(pattern=rf"^[0-9a-f]{{{2 * DIGEST_BYTES}}}\Z")]
RepositoryName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")]


class ShardError(Exception):
    """A shard cannot be used, and why."""


class ShardPart(Struct, frozen=True, forbid_unknown_fields=True):
    """One memory file of the index: where it is in the shard, how long it is, and its BLAKE2b."""

    name: PartName
    start: Count
    size: Count
    digest: Digest


class MadeUnder(Struct, frozen=True, forbid_unknown_fields=True):
    """What of a profile decides what is in an index."""

    profile: Word
    digest: Word
    views: tuple[tuple[str, str], ...]  # of each its name and what it selects
    absolute_paths: bool

    @classmethod
    def of(cls, profile: Profile) -> "MadeUnder":
        """Return that of a profile."""
        views = tuple((view.name, view.select) for view in profile.views)
        return cls(profile.name, profile.digest, views, profile.absolute_paths)

    def wider_than(self, profile: Profile) -> str | None:
        """Say why an index may hold what a profile hides; None where it cannot.

        One that hides nothing may be served what was made under any views: it shows less than it could.
        """
        wanted = MadeUnder.of(profile)
        if self.absolute_paths and not wanted.absolute_paths:
            return f"it holds absolute paths, which the profile {profile.name} hides"
        if wanted.views and self.views != wanted.views:
            return f"it was made under other views than those of the profile {profile.name}"
        return None


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """What a shard holds and what it was made of: the same `tree`, `extractors` and profile make the same answers."""

    repository: RepositoryName
    tree: Word
    extractors: Word
    under: MadeUnder
    generation: Generation
    files: Count
    lines: Count
    symbols: Count
    source_bytes: Count
    languages: dict[Word, Count]  # of each how many files are in it
    skipped: dict[Word, Count]  # how many files have no text, by reason
    parts: tuple[ShardPart, ...]
    partial: Said | None = None  # what it lacks, as a sentence


RELEASE = f"fledgling={__version__}"  # how `extractors` begins: another release may mean other things by the same bytes


def write(fd: int, manifest: Manifest, images: Mapping[str, int]) -> Manifest:
    """Write a shard to an empty file: its parts, out of sealed memory files by name, and a manifest that names them."""
    _write(fd, _HEAD.pack(MAGIC, VERSION, ORDER))
    place, parts = _HEAD.size, []
    for name in PARTS:
        hashed, size = blake2b(digest_size=DIGEST_BYTES), 0
        while data := os.pread(images[name], COPIED_BYTES, size):
            hashed.update(data)
            for at, run in runs(data):
                os.ftruncate(fd, place + size + at)  # zeros before it take no room
                _write(fd, run)
            size += len(data)
            os.ftruncate(fd, place + size)
        if size:
            parts.append(ShardPart(name, place, size, hashed.hexdigest()))
        place += size
    manifest = msgspec.structs.replace(manifest, parts=tuple(parts))
    encoded = msgspec.json.encode(manifest)
    if len(encoded) > MAX_MANIFEST:
        raise ShardError(f"its manifest has more than {MAX_MANIFEST:,} bytes")
    _write(fd, encoded + _END.pack(place, _digest(encoded)))
    os.fsync(fd)
    return manifest


def read(fd: int) -> Manifest:
    """Return the manifest of an open shard, of which nothing else is read. Raises ShardError."""
    size = os.fstat(fd).st_size
    if size < _HEAD.size + _END.size:
        raise ShardError("it is too short to be a shard")
    try:
        head = _read(fd, _HEAD.size, 0)
        start, digest = _END.unpack(_read(fd, _END.size, size - _END.size))
        if not head.startswith(MAGIC):
            raise ShardError("it is not a shard")
        if head != _HEAD.pack(MAGIC, VERSION, ORDER):
            raise ShardError("it is of another version, or of a machine with another byte order")
        length = size - _END.size - start
        if not _HEAD.size <= start or not 0 < length <= MAX_MANIFEST:
            raise ShardError("its manifest is not in it")
        encoded = _read(fd, length, start)
    except OSError as failed:
        raise ShardError(f"it cannot be read ({failed.strerror})") from failed
    if _digest(encoded) != digest:
        raise ShardError("its manifest is not what was written")
    try:
        manifest = msgspec.json.decode(encoded, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise ShardError("its manifest cannot be read") from None
    _check_parts(manifest.parts, start)
    return manifest


def copy(fd: int, part: ShardPart, to: int, at: int, room: int) -> int:
    """Copy a part into a memory file at a place, where there are zeros, and return how many bytes that has taken.

    Raises ShardError unless what was copied is what was written, and where it takes more than `room`.
    """
    hashed, done, taken = blake2b(digest_size=DIGEST_BYTES), 0, 0
    while done < part.size:
        data = _read(fd, min(COPIED_BYTES, part.size - done), part.start + done)
        hashed.update(data)
        for begin, run in runs(data):
            taken += -(-len(run) // PAGE) * PAGE
            if taken > room:
                raise ShardError("there is no room for it in the memory_limit of the profile")
            view = memoryview(run)
            while view:
                written = os.pwrite(to, view, at + done + begin)
                begin, view = begin + written, view[written:]
        done += len(data)
    if hashed.hexdigest() != part.digest:
        raise ShardError(f"its part {part.name} is not what was written")
    return taken


def runs(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the pages that are not all zeros, each run of them with its place: nine in ten of a small database are."""
    pages = range(0, len(data), PAGE)
    for is_zero, run in groupby(pages, lambda at: not data[at : at + PAGE].strip(b"\0")):
        if not is_zero:
            first, *others = run
            yield first, data[first : (others or [first])[-1] + PAGE]


def opened(directory: int, name: str) -> int:
    """Open a shard of a directory for reading, if it is a file of this user's alone. Raises ShardError."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(f"{name}{SUFFIX}", flags, dir_fd=directory)
    except OSError as failed:
        raise ShardError(f"it cannot be opened ({failed.strerror})") from failed
    if problem := _not_own(fd):
        os.close(fd)
        raise ShardError(problem)
    return fd


def open_directory(path: str) -> int:
    """Open a directory of shards, which nobody but this user may write to. Raises ShardError."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as failed:
        raise ShardError(f"the directory cannot be opened ({failed.strerror})") from failed
    found = os.fstat(fd)
    if found.st_uid != os.geteuid() or found.st_mode & 0o022:
        os.close(fd)
        raise ShardError("the directory is another user's, or others may write to it")
    return fd


def names(directory: int) -> list[str]:
    """Return the names of the repositories that have a shard in a directory, in order; other files are none."""
    found = sorted(name.removesuffix(SUFFIX) for name in os.listdir(directory) if name.endswith(SUFFIX))
    shown = [name for name in found if is_name(name)]
    if len(shown) > MAX_REPOSITORIES:
        raise ShardError(f"there are more than {MAX_REPOSITORIES:,} shards in the directory")
    return shown


def is_name(name: str) -> bool:
    """Return whether a repository may be called so: a letter or digit, then up to 63 of these, `.`, `_` and `-`."""
    try:
        msgspec.convert(name, RepositoryName)
    except msgspec.ValidationError:
        return False
    return True


def _not_own(fd: int) -> str | None:
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        return "it is not a regular file with a single name"
    if found.st_uid != os.geteuid() or found.st_mode & 0o022:
        return "it is another user's, or others may write to it"
    if found.st_size > MAX_SHARD:
        return f"it has more than {MAX_SHARD:,} bytes"
    return None


def _check_parts(parts: Iterable[ShardPart], end: int) -> None:
    """Raise ShardError unless the parts fill the file between head and manifest, each once and in their order."""
    place, seen = _HEAD.size, -1
    for part in parts:
        if part.start != place or PARTS.index(part.name) <= seen:
            raise ShardError("its parts do not stand one after the other")
        place, seen = place + part.size, PARTS.index(part.name)
    if place != end:
        raise ShardError("its parts do not fill it")


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=DIGEST_BYTES).digest()


def _read(fd: int, size: int, at: int) -> bytes:
    """Return so many bytes. Raises ShardError where the file has been cut since it was looked at."""
    data = b""
    while len(data) < size:
        try:
            more = os.pread(fd, size - len(data), at + len(data))
        except (OverflowError, ValueError):  # an offset that no file has
            more = b""
        if not more:
            raise ShardError("it was cut short")
        data += more
    return data


def _write(fd: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]
