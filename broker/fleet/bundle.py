"""A bundle: what some hundred shards are asked by together, as one file beside them.

It holds the first level of their texts and names, and their tables as one database. A shard that is not the one that a
bundle was made over is served all the same, and asked by itself; so a bundle may be old, or gone, and no answer is
another one.
"""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from fledgling.broker.fleet import verified
from fledgling.broker.fleet.shard import RepositoryName
from fledgling.broker.fleet.verified import Digest, Kind, ShardPart
from fledgling.messages.bounded import Word

MEMBERS = 100  # shards in one bundle at most: tables of more take longer to make than one changed shard is worth
BYTES = 256 * 2**20  # of those shards on the disk, if there are several
PARTS = ("level", "tables")


class Member(Struct, frozen=True, forbid_unknown_fields=True):
    """A shard in a bundle: whose it is, and the hash of its manifest. One that could not be read is left out."""

    repository: RepositoryName
    identity: Digest
    is_left_out: bool = False


class BundleManifest(Struct, frozen=True, forbid_unknown_fields=True):
    """What a bundle was made of: its members, each known in it by its place among them."""

    extractors: Word
    members: tuple[Member, ...]
    parts: tuple[ShardPart, ...]


BUNDLE = Kind("bundle", b"fledbndl", ".bundle", PARTS, BundleManifest, 2**20, is_whole=True)
_NAME = re.compile(r"[0-9]{5}")


def names(directory: int) -> list[str]:
    """Return the names of what may be bundles in a directory, in order: `00017`. Other programs have other names."""
    return [name for name in verified.names(directory, BUNDLE) if _NAME.fullmatch(name)]


def planned(there: Mapping[str, Iterable[str]], shards: Mapping[str, int]) -> dict[str, list[str]]:
    """Return of which shards each bundle is to be, by name: one stays where it is, and a new one goes where room is.

    The last of those that have grown beyond BYTES together are as new ones are.
    `there` are the members of bundles that exist, `shards` the bytes of all shards.

    >>> planned({"00000": ["api", "gone"]}, {"api": 10**6, "web": 10**6})
    {'00000': ['api', 'web']}
    """
    plan: dict[str, list[str]] = {}
    left = {*shards}  # none is in two, whatever bundles say that were copied here
    for name, members in sorted(there.items()):
        plan[name] = sorted({*members} & left)
        left -= {*plan[name]}
    for members in plan.values():
        while len(members) > 1 and sum(shards[member] for member in members) > BYTES:
            members.pop()
    placed = {member for members in plan.values() for member in members}
    bytes_of = {name: sum(shards[member] for member in members) for name, members in plan.items()}
    number = 0
    for new in sorted(shards.keys() - placed):
        while True:
            name = f"{number:05}"
            members = plan.setdefault(name, [])
            has_room = len(members) < MEMBERS and bytes_of.get(name, 0) + shards[new] <= BYTES
            if has_room or not members:
                break
            number += 1
        members.append(new)
        bytes_of[name] = bytes_of.get(name, 0) + shards[new]
    return {name: sorted(members) for name, members in plan.items()}
