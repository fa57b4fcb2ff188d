"""A file of parts and a manifest, of which every byte is covered by a hash: a shard, or a bundle of them.

docs/fleet.md describes the format. What a disk gives back is hostile input: whoever reads such a file checks its owner
and its manifest here, and each part while it is copied, and hands on nothing that does not hold.
"""

import errno
import os
import stat
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Generic, NamedTuple, Protocol, TypeVar

import msgspec
from msgspec import Meta, Struct

from fledgling.digests import blake2b
from fledgling.messages.bounded import Count, Word
from fledgling.messages.control import StoredIndexes
from fledgling.security import memory_file

VERSION = 1
MAX_FILE = 16 * 2**30  # bytes; the shard of a kernel of 78,000 files takes a tenth
MAX_FILES = 100_000  # of one directory: names of as many are read at once
COPIED_BYTES = 2**20  # at once
PAGE = 4096  # bytes: what a file or memory is made of; one that is never written takes no room
DIGEST_BYTES = 32

HEAD = struct.Struct("<8sHH4x")  # magic, version, 0 for little-endian sections and 1 for big
END = struct.Struct(f"<Q{DIGEST_BYTES}s")  # where the manifest begins, and its BLAKE2b
ORDER = ("little", "big").index(sys.byteorder)

Digest = Annotated[str, Meta(pattern=rf"^[0-9a-f]{{{2 * DIGEST_BYTES}}}\Z")]


class ShardError(Exception):
    """A shard or a bundle cannot be used, and why."""


class ShardPart(Struct, frozen=True, forbid_unknown_fields=True):
    """One memory file: its name in the index, where it is in the file, how long it is, and its BLAKE2b."""

    name: Word
    start: Count
    size: Count
    digest: Digest


class HasParts(Protocol):
    """A manifest: whatever it says beside, it names the parts."""

    @property
    def parts(self) -> tuple[ShardPart, ...]:
        """The parts, in the order of the file."""


M = TypeVar("M", bound=HasParts)


@dataclass(frozen=True)
class Kind(Generic[M]):
    """A kind of files: what it is called, its first bytes, how its names end, its parts, and its manifest."""

    what: str
    magic: bytes
    suffix: str
    parts: tuple[str, ...]
    manifest: type[M]
    max_manifest: int  # bytes
    is_whole: bool = False  # whether each file has all parts

    @property
    def head(self) -> bytes:
        """The first bytes of a file of this kind that was made here."""
        return HEAD.pack(self.magic, VERSION, ORDER)


def write(fd: int, kind: Kind[M], manifest: M, images: Mapping[str, int]) -> M:
    """Write a file that is empty and open to append.

    It has its parts, out of sealed memory files by name, but for the empty ones, and a manifest that names them.
    """
    write_all(fd, kind.head)
    place, parts = HEAD.size, []
    for name in kind.parts:
        hashed, size = blake2b(digest_size=DIGEST_BYTES), 0
        for data in chunks(images[name]):
            hashed.update(data)
            for at, run in runs(data):
                os.ftruncate(fd, place + size + at)  # zeros before it take no room
                write_all(fd, run)
            size += len(data)
            os.ftruncate(fd, place + size)
        if size:
            parts.append(ShardPart(name, place, size, hashed.hexdigest()))
        place += size
    manifest = msgspec.structs.replace(manifest, parts=tuple(parts))  # type: ignore[type-var]
    encoded = msgspec.json.encode(manifest)
    if len(encoded) > kind.max_manifest:
        raise ShardError(f"its manifest has more than {kind.max_manifest:,} bytes")
    write_all(fd, encoded + END.pack(place, digest(encoded)))
    os.fsync(fd)
    return manifest


def read(fd: int, kind: Kind[M]) -> M:
    """Return the manifest of an open file, of which nothing else is read. Raises ShardError."""
    return identified(fd, kind)[0]


def identified(fd: int, kind: Kind[M]) -> tuple[M, str]:
    """Return the manifest of an open file and the hash of it, the `identity` of that file. Raises ShardError.

    They are of one reading: a file that is written to meanwhile has another `identity` afterwards.
    """
    size = os.fstat(fd).st_size
    if size < HEAD.size + END.size:
        raise ShardError(f"it is too short to be a {kind.what}")
    try:
        head = _read(fd, HEAD.size, 0)
        start, expected = END.unpack(_read(fd, END.size, size - END.size))
        if not head.startswith(kind.magic):
            raise ShardError(f"it is not a {kind.what}")
        if head != kind.head:
            raise ShardError("it was made in another version of the format, or on a machine with another byte order")
        length = size - END.size - start
        if not HEAD.size <= start or not 0 < length <= kind.max_manifest:
            raise ShardError("its manifest is not in it")
        encoded = _read(fd, length, start)
    except OSError as failed:
        raise ShardError(f"it cannot be read ({failed.strerror})") from failed
    if digest(encoded) != expected:
        raise ShardError("its manifest is not what was written")
    try:
        manifest = msgspec.json.decode(encoded, type=kind.manifest)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise ShardError("its manifest cannot be read") from None
    _check_parts(manifest.parts, kind.parts, start)
    if kind.is_whole and len(manifest.parts) < len(kind.parts):
        raise ShardError("it lacks a part")
    return manifest, expected.hex()


def whole(fd: int, kind: Kind[M]) -> M:
    """Return the manifest of an open file, of which every byte is what was written. Raises ShardError."""
    manifest = read(fd, kind)
    check(fd, manifest.parts)
    return manifest


def identity(fd: int) -> str:
    """Return the hash of the manifest of a file that was read: all of the file is as its manifest says."""
    return _read(fd, DIGEST_BYTES, max(os.fstat(fd).st_size - DIGEST_BYTES, 0)).hex()


def digest_of_all(identities: Mapping[str, str]) -> str:
    """Return one hash for files of a directory, by their names and the hashes of their manifests."""
    lines = "".join(f"{identity} {name}\n" for name, identity in sorted(identities.items()))
    return digest(lines.encode()).hex()


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
    _compare(part, hashed.hexdigest())
    return taken


def check(fd: int, parts: Iterable[ShardPart]) -> None:
    """Raise ShardError unless each part of a file is what was written."""
    for part in parts:
        hashed = blake2b(digest_size=DIGEST_BYTES)
        for done in range(0, part.size, COPIED_BYTES):
            hashed.update(_read(fd, min(COPIED_BYTES, part.size - done), part.start + done))
        _compare(part, hashed.hexdigest())


def _compare(part: ShardPart, found: str) -> None:
    if found != part.digest:
        raise ShardError(f"its part {part.name} is not what was written")


class CopiedParts(NamedTuple):
    """Where the parts of a file are in a memory file, where the next ones may begin, and the bytes that they take."""

    parts: dict[str, tuple[int, int]]
    end: int
    taken: int


def copy_all(fd: int, parts: Iterable[ShardPart], to: int, at: int, room: int) -> CopiedParts:
    """Copy parts to a place in a memory file, each at the beginning of a page. Raises ShardError as `copy` does."""
    placed, taken = {}, 0
    for part in parts:
        taken += copy(fd, part, to, at, room - taken)
        placed[part.name] = at, part.size
        at += -(-part.size // PAGE) * PAGE
    return CopiedParts(placed, at, taken)


@contextmanager
def opening(directory: int, name: str) -> Iterator[int]:
    """Open a file of a directory, as `opened` does, until the block ends."""
    fd = opened(directory, name)
    try:
        yield fd
    finally:
        os.close(fd)


def seal_with(stored: StoredIndexes, fd: int, end: int) -> int:
    """Write behind the parts in a memory file which they are, as MessagePack, and seal it; return the bytes of that."""
    table = msgspec.msgpack.encode(stored)
    os.ftruncate(fd, end)
    os.pwrite(fd, table, end)
    memory_file.seal(fd)
    return len(table)


def runs(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the pages that are not all zeros, each run of them with its place: nine in ten of a small database are."""
    pages = range(0, len(data), PAGE)
    for is_zero, run in groupby(pages, lambda at: not data[at : at + PAGE].strip(b"\0")):
        if not is_zero:
            first, *others = run
            yield first, data[first : (others or [first])[-1] + PAGE]


def opened(directory: int, name: str) -> int:
    """Open a file of a directory for reading, if it is of this user's alone. Raises ShardError."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(name, flags, dir_fd=directory)
    except OSError as failed:
        if failed.errno == errno.ELOOP:  # O_NOFOLLOW: open(2)
            raise ShardError("it is a link") from None
        raise ShardError(f"it cannot be opened ({failed.strerror})") from failed
    if problem := _not_own(fd):
        os.close(fd)
        raise ShardError(problem)
    return fd


def begins_as(directory: int, name: str, kind: Kind[M]) -> bool:
    """Return whether a file is of this user alone and begins as a kind does, be it of another release or broken."""
    with suppress(ShardError), opening(directory, f"{name}{kind.suffix}") as fd:
        return os.pread(fd, len(kind.magic), 0) == kind.magic
    return False


def open_directory(path: str, below: int | None = None) -> int:
    """Open a directory, which nobody but this user may write to; one `below` another by its name, and through no link.

    Raises ShardError.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    try:
        fd = os.open(path, flags if below is None else flags | os.O_NOFOLLOW, dir_fd=below)
    except OSError as failed:
        raise ShardError(f"the directory cannot be opened ({failed.strerror})") from failed
    found = os.fstat(fd)
    if found.st_uid != os.geteuid() or found.st_mode & 0o022:
        os.close(fd)
        raise ShardError("the directory is another user's, or others may write to it")
    return fd


def names(directory: int, kind: Kind[M]) -> list[str]:
    """Return the names of the files of a kind in a directory, without what they end with, in order."""
    found = sorted(name.removesuffix(kind.suffix) for name in os.listdir(directory) if name.endswith(kind.suffix))
    if len(found) > MAX_FILES:
        raise ShardError(f"there are more than {MAX_FILES:,} {kind.what}s in the directory")
    return found


def digest(data: bytes) -> bytes:
    """Return the BLAKE2b of what is written of a manifest."""
    return blake2b(data, digest_size=DIGEST_BYTES).digest()


def _not_own(fd: int) -> str | None:
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        return "it is not a regular file with a single name"
    if found.st_uid != os.geteuid() or found.st_mode & 0o022:
        return "it is another user's, or others may write to it"
    if found.st_size > MAX_FILE:
        return f"it has more than {MAX_FILE:,} bytes"
    return None


def _check_parts(parts: Iterable[ShardPart], known: tuple[str, ...], end: int) -> None:
    """Raise ShardError unless the parts fill the file between head and manifest, each once and in their order."""
    place, seen = HEAD.size, -1
    for part in parts:
        if part.start != place or part.name not in known or known.index(part.name) <= seen:
            raise ShardError("its parts do not stand one after the other")
        place, seen = place + part.size, known.index(part.name)
    if place != end:
        raise ShardError("its parts do not fill it")


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


def chunks(fd: int) -> Iterator[bytes]:
    """Yield what a file holds, COPIED_BYTES at a time."""
    place = 0
    while data := os.pread(fd, COPIED_BYTES, place):
        yield data
        place += len(data)


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data` where an open file is, or behind its end if it is open to append."""
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]
