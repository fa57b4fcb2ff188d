"""The files a repository tracks, read from its `.git/index`: they belong to it even where an ignore rule matches them.

Layout: gitformat-index(5). The bytes are hostile input: an index that is odd in any way is refused as a whole. So is
one with a part that a reader has to understand: it is split or sparse, and its list of files is not all in this file.
"""

import struct
from bisect import bisect_left

from msgspec import Struct

MAX_INDEX = 64 << 20  # bytes; holds about 600,000 tracked files
MAX_NAME_BYTES = MAX_INDEX  # bytes of all names: version 4 compresses them, and a small file could unfold to gigabytes

_HEADER = struct.Struct(">4sII")
_EXTENSION = struct.Struct(">4sI")
_EXTENDED = 0x4000  # the flag that says two more bytes of flags follow
_SUBMODULE = 0o160000


class BadIndex(ValueError):
    """The index is damaged, or of a kind that is not read."""


class Tracked(Struct, frozen=True):
    """What a repository tracks, as paths from its root: files and links in order, and submodules."""

    files: tuple[bytes, ...]
    submodules: frozenset[bytes]

    def holds(self, path: bytes) -> bool:
        """Whether the file or link is tracked."""
        at = bisect_left(self.files, path)
        return at < len(self.files) and self.files[at] == path

    def reaches_into(self, directory: bytes) -> bool:
        """Whether a file below the directory is tracked."""
        inside = directory + b"/"
        at = bisect_left(self.files, inside)
        return at < len(self.files) and self.files[at].startswith(inside)


NOTHING = Tracked((), frozenset())


def parse(data: bytes) -> Tracked:
    """Read the bytes of an index of version 2, 3 or 4. Raises BadIndex."""
    signature, version, count = _HEADER.unpack_from(data.ljust(_HEADER.size))
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise BadIndex("not an index of version 2, 3 or 4")
    if len(data) > MAX_INDEX:
        raise BadIndex("larger than is read")
    problems = []
    for hash_size in (20, 32):  # SHA-1 and SHA-256; the file does not say which, but only one fits it
        try:
            return _parse(data, hash_size, version, count)
        except (ValueError, IndexError, struct.error) as error:
            problems.append(str(error))
    raise BadIndex(problems[0])


def _parse(data: bytes, hash_size: int, version: int, count: int) -> Tracked:
    fixed = struct.Struct(f">24xI12x{hash_size}xH")  # times, device, inode, MODE, owner, size, hash, FLAGS
    files: list[bytes] = []
    submodules = set()
    name, start, total = b"", _HEADER.size, 0
    for _ in range(count):
        mode, flags = fixed.unpack_from(data, start)
        at = start + fixed.size + (2 if flags & _EXTENDED else 0)
        previous = name
        if version == 4:
            name, start = _unfold(data, at, previous)
        else:
            end = data.index(b"\0", at)
            name, start = data[at:end], start + ((end - start) // 8 + 1) * 8
        total += len(name)
        if name < previous or total > MAX_NAME_BYTES:
            raise BadIndex("names out of order, or too many")
        if mode == _SUBMODULE:
            submodules.add(name)
        else:
            files.append(name)
    _check_end(data, start, len(data) - hash_size)
    return Tracked(tuple(files), frozenset(submodules))


def _unfold(data: bytes, at: int, previous: bytes) -> tuple[bytes, int]:
    """A name of version 4, and where it ends: how much of the name before to drop, and what to add to the rest."""
    drop, at = _varint(data, at)
    if drop > len(previous):
        raise BadIndex("a name that shares more than there is")
    end = data.index(b"\0", at)
    return previous[: len(previous) - drop] + data[at:end], end + 1


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number in the offset encoding of git's varint.c, and where it ends: b"\\x05" is 5, b"\\x80\\x00" is 128."""
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 0x7F)
        if value > MAX_INDEX:
            raise BadIndex("a length past the end")
    return value, at + 1


def _check_end(data: bytes, at: int, end: int) -> None:
    """Walk the extensions up to the checksum: the list must end where they begin, and be all there is."""
    while at < end:
        signature, size = _EXTENSION.unpack_from(data, at)
        if not signature[:1].isupper():  # only those with a capital may be skipped
            raise BadIndex("a split or sparse index")
        at += _EXTENSION.size + size
    if at != end:
        raise BadIndex("cut short")
