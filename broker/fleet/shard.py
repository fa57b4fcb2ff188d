"""A shard: the sealed index of one repository as one file. What its manifest says, and who may be served from it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from fledgling import __version__
from fledgling.broker.fleet import verified
from fledgling.broker.fleet.verified import Kind, ShardError, ShardPart
from fledgling.messages.bounded import Count, Said, Word
from fledgling.messages.control import Generation
from fledgling.messages.profile import Profile

# What of an index is kept: the listing is superseded by then. No SQL is asked of several repositories, so nobody serves
# `edges`, which an index has under a profile with `query` alone: they are exported.
PARTS = ("text", "code", "blocks", "signatures", "outlines", "words", "graph", "edges")
SERVED = PARTS[:-1]
MAX_MANIFEST = 2**20  # bytes; the longest part of one are a profile's views, which are at most 64 KiB
RepositoryName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")]


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
    root: Word  # where it was, as `root_digest` says it
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


class Generations:
    """What indexes know, each once: of most repositories that is the same.

    >>> Generations().number(manifest.generation)
    0
    """

    def __init__(self) -> None:
        self.all: list[Generation] = []
        self._numbers: dict[bytes, int] = {}

    def number(self, of: Generation) -> int:
        """Return the number of what an index knows."""
        number = self._numbers.setdefault(msgspec.msgpack.encode(of), len(self.all))
        if number == len(self.all):
            self.all.append(of)
        return number


RELEASE = f"fledgling={__version__}"  # how `extractors` begins: another release may mean other things by the same bytes
SHARD = Kind("shard", b"fledshrd", ".shard", PARTS, Manifest, MAX_MANIFEST)


def check_release(extractors: str) -> None:
    """Raise ShardError where another release of Fledgling has made a file."""
    if extractors.partition(" ")[0] != RELEASE:
        raise ShardError("it was made by another release of Fledgling; make it again")


def usable(fd: int, name: str, profile: Profile) -> tuple[Manifest, str]:
    """Return the manifest of an open file and its hash, if `check` has nothing against it. Raises ShardError."""
    manifest, identity = verified.identified(fd, SHARD)
    check(manifest, name, profile)
    return manifest, identity


def check(manifest: Manifest, name: str, profile: Profile) -> None:
    """Raise ShardError unless a shard is the one of that name, and a profile may show all that it holds."""
    if manifest.repository != name:
        raise ShardError(
            f"it is the shard of {manifest.repository}, and is to be called {manifest.repository}{SHARD.suffix}"
        )
    check_release(manifest.extractors)
    if wider := manifest.under.wider_than(profile):
        raise ShardError(f"{wider}; make it under that profile")


def root_digest(root: str) -> str:
    """Return the hash of a directory's path without links, which tells it from others and does not name it."""
    return verified.digest(os.fsencode(os.path.realpath(root))).hex()


def names(directory: int) -> list[str]:
    """Return the names of the repositories that have a shard in a directory, in order; other files are none."""
    return [name for name in verified.names(directory, SHARD) if is_name(name)]


def roots(directory: int) -> Iterator[tuple[str, str]]:
    """Yield of each shard in a directory what its repository is called and the hash of where that was, as it says."""
    for name in names(directory):
        with suppress(ShardError), verified.opening(directory, f"{name}{SHARD.suffix}") as fd:
            manifest = verified.read(fd, SHARD)
            yield manifest.repository, manifest.root


def is_name(name: str) -> bool:
    """Return whether a repository may be called so: a letter or digit, then up to 63 of these, `.`, `_` and `-`."""
    try:
        msgspec.convert(name, RepositoryName)
    except msgspec.ValidationError:
        return False
    return True
