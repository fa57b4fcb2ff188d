"""Parquet files of what the shards of a directory hold, for engines of others: a confined process makes them.

A table is a directory, `symbols/`, and has a file for each bundle of shards, `00017.parquet`. `parts.json` names them
before they are there, and says of which shards they are once all are.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from fledgling.broker.fleet import bundling, replacing, shard, verified
from fledgling.broker.fleet.bundling import LeftOut
from fledgling.broker.fleet.making import extractors
from fledgling.broker.fleet.shard import SHARD, RepositoryName
from fledgling.broker.fleet.verified import Digest, ShardError
from fledgling.broker.own_file import OwnFileError
from fledgling.messages.bounded import Said
from fledgling.messages.bundling import Export
from fledgling.messages.control import Confining
from fledgling.messages.profile import Profile
from fledgling.security import memory_file

TABLES = ("files", "content", "symbols", "imports", "calls")
EXPORTED = ("text", "code", "edges")  # parts of a shard: its tables
NO_TABLES = "it has no tables for SQL; make it under a profile with the tool `query`, such as fledgling-analyst"
PARTS = "parts.json"
MAX_PARTS = 2**20  # bytes of that: a thousand bundles take a tenth
PartName = Annotated[str, Meta(pattern=r"^[0-9]{5}\Z")]


class Exported(Struct, frozen=True):
    """What became of the files: how many each table has, how many of them were made, and what they lack.

    `failed` are files that could not be made, and `refused` repositories that are in none, by name, each with why.
    """

    parts: int
    made: int
    failed: dict[str, str]
    refused: dict[str, str]


class TablePart(Struct, frozen=True, forbid_unknown_fields=True):
    """A file of each table: the hash of what it was made of, and which repositories were left out, each with why.

    One that is made of nothing is being put or removed. One that left a repository out for what that cost is made
    again: the machine may have been busy.
    """

    made_of: Digest | None = None
    left_out: dict[RepositoryName, Said] = {}
    is_made_again: bool = False


def export(shards: Path, out: Path, profile: Profile, confining: Confining) -> Exported:
    """Make those files that are not of the shards that there are, as far as a profile may show them.

    What is there of other shards is removed first. Raises ShardError where there are none to show, or a directory is
    not as it has to be.
    """
    with ExitStack() as held:
        replacing.outside_git(out)
        directory = _opened(shards, held)
        usable, refused = _usable(directory, profile, out)
        planned = {
            part: {name: usable[name] for name in members if name in usable}
            for part, members in bundling.arranged(directory).plan.items()
        }
        plan = {
            part: (members, verified.digest_of_all(members | {"": extractors()}))
            for part, members in planned.items()
            if members
        }
        to = _DirectoryOfTables(out, held)
        to.remove([part for part, known in to.parts.items() if part not in plan or known.made_of != plan[part][1]])
        if not usable:
            why = "; ".join(f"{name}: {reason}" for name, reason in list(refused.items())[:3])
            raise ShardError(f"no shard can be exported{f' ({why})' if why else ''}")
        made, failed = 0, {}
        for part, (members, made_of) in plan.items():
            if part in to.parts and not to.parts[part].is_made_again:
                continue
            try:
                to.put(part, made_of, partial(_filled, directory, members, profile, confining))
                made += 1
            except (ShardError, OwnFileError) as wrong:
                failed[part] = str(wrong)
            except OSError as refusal:
                failed[part] = f"it cannot be written ({refusal.strerror})"
        for known in to.parts.values():
            refused |= known.left_out
        return Exported(sum(1 for part in to.parts.values() if part.made_of), made, failed, refused)


def _opened(path: Path | str, held: ExitStack, below: int | None = None) -> int:
    fd = verified.open_directory(str(path), below)
    held.callback(os.close, fd)
    return fd


def _usable(directory: int, profile: Profile, out: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return of each shard that may be exported the hash of its manifest, and of the others why not, by name.

    Raises ShardError where the repository of one of them holds the directory of the tables.
    """
    usable, refused, roots = {}, {}, []
    for name in shard.names(directory):
        try:
            with verified.opening(directory, f"{name}{SHARD.suffix}") as fd:
                manifest, identity = verified.identified(fd, SHARD)
                roots.append((manifest.repository, manifest.root))
                shard.check(manifest, name, profile)
        except ShardError as wrong:
            refused[name] = str(wrong)
            continue
        if {*EXPORTED} <= {part.name for part in manifest.parts}:
            usable[name] = identity
        else:
            refused[name] = NO_TABLES
    replacing.outside(out, roots)
    return usable, refused


def _filled(
    directory: int, members: Mapping[str, str], profile: Profile, confining: Confining, tables: Mapping[str, int]
) -> dict[str, LeftOut]:
    """Have a process fill memory files, by the names of tables; return whose tables it left out, each with why.

    `members` are names of repositories, each with the hash of the manifest that was looked at. Raises ShardError.
    """
    held, staging = memory_file.create(), memory_file.create()
    try:
        copied = bundling.copied_shards(directory, members, EXPORTED, held, profile.memory_limit)
        if copied.identities != [*members.values()]:
            raise ShardError("a shard was replaced meanwhile, perhaps by one of another profile; export again")
        order = Export(
            os.getpid(),
            held,
            copied.table_bytes,
            tuple(members),
            staging,
            dict(tables),
            profile.memory_limit,
            confining,
        )
        left_out = bundling.filled(order, len(members), held, (staging, *tables.values()))
        return {name: left_out[number] for number, name in enumerate(members) if number in left_out}
    finally:
        os.close(held)
        os.close(staging)


class _DirectoryOfTables:
    """The directory of the tables: whoever may read it may read what is in it.

    A part is named in `parts.json` as long as there is a file of it, and is made of nothing unless all are there.
    """

    def __init__(self, path: Path, held: ExitStack) -> None:
        self._path, self._fd = path, _opened(path, held)
        self._mode = os.fstat(self._fd).st_mode
        for table in TABLES:
            with suppress(FileExistsError):
                os.mkdir(table, self._mode & 0o777, dir_fd=self._fd)
        self._tables = {table: _opened(table, held, self._fd) for table in TABLES}
        self.parts = self._read()

    def put(self, part: str, made_of: str, fill: Callable[[Mapping[str, int]], dict[str, LeftOut]]) -> None:
        """Let `fill` fill a memory file for each table, and put them in the place of the old files."""
        files = {table: memory_file.create() for table in TABLES}
        try:
            left_out = fill(files)
            self._tell({**self.parts, part: TablePart()})
            for table, fd in files.items():
                self._replace(f"{part}.parquet", fd, self._path / table, self._tables[table])
            reasons = {name: each.why for name, each in left_out.items()}
            is_made_again = any(each.is_costly for each in left_out.values())
            self._tell({**self.parts, part: TablePart(made_of, reasons, is_made_again)})
        finally:
            for fd in files.values():
                os.close(fd)

    def remove(self, parts: Sequence[str]) -> None:
        """Remove the files of some parts."""
        if not parts:
            return
        self._tell({**self.parts, **dict.fromkeys(parts, TablePart())})
        for table in self._tables.values():
            for part in parts:
                with suppress(FileNotFoundError):
                    os.unlink(f"{part}.parquet", dir_fd=table)
            os.fsync(table)
        self._tell({name: each for name, each in self.parts.items() if name not in parts})

    def _replace(self, name: str, of: int, path: Path, directory: int) -> None:
        with replacing.new(path, name, [], directory) as fd:
            os.fchmod(fd, 0o600 | self._mode & 0o044)
            for data in verified.chunks(of):
                verified.write_all(fd, data)
            os.fsync(fd)
            replacing.put(name, directory)

    def _read(self) -> dict[str, TablePart]:
        """Return what is said of the parts; nothing where that cannot be read, and all are made anew."""
        with suppress(ShardError, OSError, msgspec.DecodeError), verified.opening(self._fd, PARTS) as fd:
            return msgspec.json.decode(os.pread(fd, MAX_PARTS, 0), type=dict[PartName, TablePart])
        return {}

    def _tell(self, parts: dict[str, TablePart]) -> None:
        said = memory_file.create()
        try:
            verified.write_all(said, msgspec.json.encode(parts, order="sorted"))
            self._replace(PARTS, said, self._path, self._fd)
        finally:
            os.close(said)
        self.parts = parts
