"""A fleet of so many repositories out of some that were built: each copy is a shard under a name of its own.

What is copied are whole bundles of MEMBERS, so that the bundle of copies has the parts of the one that it is made from,
as a bundler would make it of them. The last hundred are not copied: what they alone hold is in one repository.
"""

import json
import os
import struct
from collections.abc import Mapping
from pathlib import Path

from fledgling.broker.fleet import verified
from fledgling.broker.fleet.bundle import MEMBERS

Runs = list[tuple[int, bytes]]


def name_of(number: int) -> str:
    """Return what a repository is called."""
    return f"r{number:05}"


def can_fill(distinct: int, count: int) -> bool:
    """Return whether so many repositories can be made out of so many: of whole bundles, and the last is not copied."""
    return distinct % MEMBERS == count % MEMBERS == 0 and distinct >= 2 * MEMBERS


def fill(shards: Path, distinct: int, count: int) -> None:
    """Add copies to a directory until it has `count` repositories, of which `distinct` were built and bundled."""
    copied = distinct // MEMBERS - 1  # bundles
    made = {source: _Bundle(shards, source) for source in range(copied)}
    for bundle in range(distinct // MEMBERS, count // MEMBERS):
        if not (shards / f"{bundle:05}.bundle").exists():
            made[(bundle - distinct // MEMBERS) % copied].copy(shards, bundle)


class _Bundle:
    """A bundle and its shards, without their manifests and the zeros in them, to be written again and again."""

    def __init__(self, shards: Path, bundle: int) -> None:
        self._bundle = _ShardFile((shards / f"{bundle:05}.bundle").read_bytes())
        self._shards = [
            _ShardFile((shards / f"{name_of(bundle * MEMBERS + place)}.shard").read_bytes()) for place in range(MEMBERS)
        ]

    def copy(self, shards: Path, bundle: int) -> None:
        """Write the shards under the names of another bundle, and that."""
        members = []
        for place, each in enumerate(self._shards):
            name = name_of(bundle * MEMBERS + place)
            identity = each.write(shards / f"{name}.shard", {"repository": name})
            members.append({"repository": name, "identity": identity})
        self._bundle.write(shards / f"{bundle:05}.bundle", {"members": members})


class _ShardFile:
    def __init__(self, whole: bytes) -> None:
        [self._start] = struct.unpack("<Q", whole[-verified.END.size :][:8])
        self._manifest = json.loads(whole[self._start : -verified.END.size])
        self._runs: Runs = list(verified.runs(whole[: self._start]))

    def write(self, path: Path, other: Mapping[str, object]) -> str:
        """Write the file, with other fields in its manifest, and return the hash of that."""
        encoded = json.dumps({**self._manifest, **other}).encode()
        hashed = verified.digest(encoded)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            for at, run in self._runs:
                os.pwrite(fd, run, at)
            os.pwrite(fd, encoded + verified.END.pack(self._start, hashed), self._start)
        finally:
            os.close(fd)
        return hashed.hex()
