"""The files of a directory in an object storage: they are put there, and fetched into a directory that is served.

What comes from there is hostile until it is verified. A list beside the files, `fleet.json`, names those of one build
by the hashes of their manifests and their sizes. While files are put it says so and names those alone that stay, so
that nobody fetches half a build, and nothing that was written over is taken for what was there. Storages are spoken to
by fsspec, which is imported where one is asked for, and by no other command.
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from fledgling.broker.fleet import pack, replacing, shard, verified
from fledgling.broker.fleet.bundle import BUNDLE
from fledgling.broker.fleet.shard import SHARD
from fledgling.broker.fleet.verified import COPIED_BYTES, MAX_FILE, Digest, Kind, ShardError, ShardPart
from fledgling.broker.own_file import OwnFileError
from fledgling.plain import said

LIST = "fleet.json"
MAX_LIST = 2**26  # bytes: of 100,000 shards with names of 64 characters, 246 each, and as many bundles, 114 each
MAX_BUILD = 2**40  # bytes of all its files: zeros are counted, of which a shard is mostly, and 100,000 take 160 GB
NO_DRIVER = "fsspec has no driver for it"
FileName = Annotated[str, Meta(pattern=r"^(?:[A-Za-z0-9][A-Za-z0-9._-]{0,63}\.shard|[0-9]{5}\.bundle)\Z")]


class ListedFile(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the list says of a file: the hash of its manifest, how long it is, and of a shard where its repository was.

    Of that it has the hash, by which a directory inside of a repository is refused before anything is written there.
    """

    manifest: Digest
    size: Annotated[int, Meta(gt=0, le=MAX_FILE)]  # bytes
    root: Digest | None = None


class ListedBuild(Struct, frozen=True, forbid_unknown_fields=True):
    """What is in the list: the files by their names, and whether others are being put."""

    files: dict[FileName, ListedFile]
    is_partial: bool = False


class Moved(Struct, frozen=True):
    """What became of the files: how many a build has, how many of them were moved, and which could not be, with why.

    `removed` are those that the build has no more.
    """

    files: int
    moved: int
    failed: dict[str, str]
    digest: str
    removed: int = 0


def put(shards: Path, url: str) -> Moved:
    """Put those files of a directory into a storage that are not there, and then the list. Raises ShardError."""
    storage = _Storage(url)
    directory = verified.open_directory(str(shards))
    try:
        roots = dict(shard.roots(directory))
        if here := storage.directory:
            replacing.outside_git(here)
            replacing.outside(here, roots.items())
        files = {
            name: ListedFile(manifest, size, roots.get(name.removesuffix(SHARD.suffix)))
            for name, manifest, size in pack.files(directory)
        }
        if not files:
            raise ShardError("there is no shard in the directory")
        present = storage.names()
        listed = storage.build().files if LIST in present else {}
        there = {name: each for name, each in files.items() if listed.get(name) == each and name in present}
        new = {name: each for name, each in files.items() if name not in there}
        if new:
            storage.tell(ListedBuild(there, is_partial=True))
        failed = {}
        for name, listed_as in new.items():
            try:
                with _whole(directory, name, listed_as) as fd:
                    storage.write(name, verified.chunks(fd))
                there[name] = listed_as
            except ShardError as wrong:
                failed[name] = str(wrong)
            except OSError as refused:
                failed[name] = f"it cannot be read ({refused.strerror})"
        storage.tell(ListedBuild(there, is_partial=bool(failed)))
        return Moved(len(files), len(new) - len(failed), failed, _digest(files))
    finally:
        os.close(directory)


def fetch(url: str, out: Path, expected: str | None = None) -> Moved:
    """Fetch those files of the build in a storage that are not in a directory, and remove the shards that it has not.

    Each is verified before it takes the place of an old one. Raises ShardError, also where the build has another digest
    than the one that is `expected`.
    """
    storage = _Storage(url)
    directory = replacing.directory(out)
    try:
        files = _named(storage)
        replacing.outside(out, ((name.removesuffix(SHARD.suffix), each.root) for name, each in files.items()))
        digest = _digest(files)
        if expected and digest != expected:
            raise ShardError(f"the digest of the build is {digest}, and not the one that was named")
        failed, moved, removed = {}, 0, 0
        for name, listed in sorted(files.items(), key=lambda file: file[0].endswith(BUNDLE.suffix)):
            with suppress(ShardError, OSError), _whole(directory, name, listed):
                continue
            try:
                _fetched(storage, name, listed, out, directory)
                moved += 1
            except (ShardError, OwnFileError) as wrong:
                failed[name] = str(wrong)
            except OSError as refused:
                failed[name] = f"it cannot be written ({refused.strerror})"
        if not failed:
            for name in pack.identities(directory).keys() - files.keys():
                kind: Kind[Any] = BUNDLE if name.endswith(BUNDLE.suffix) else SHARD
                if verified.begins_as(directory, name.removesuffix(kind.suffix), kind):
                    os.unlink(name, dir_fd=directory)
                    removed += 1
        return Moved(len(files), moved, failed, digest, removed)
    finally:
        os.close(directory)


def _named(storage: "_Storage") -> dict[str, ListedFile]:
    """Return the files of the build in a storage. Raises ShardError where it is not whole, or not to be fetched."""
    build = storage.build()
    if build.is_partial:
        raise ShardError("a build is being put there, or was not put whole; fetch again once `fleet put` has succeeded")
    if not build.files:
        raise ShardError("the build in the storage is empty; fetching it would empty the directory")
    if sum(each.size for each in build.files.values()) > MAX_BUILD:
        raise ShardError(f"the build has more than {MAX_BUILD:,} bytes")
    return build.files


def _digest(files: Mapping[str, ListedFile]) -> str:
    return verified.digest_of_all({name: each.manifest for name, each in files.items()})


def _fetched(storage: "_Storage", name: str, listed: ListedFile, out: Path, directory: int) -> None:
    """Fetch one file, verify it, and put it in the place of the old one. Pages of zeros take no room on the disk."""
    storage.check_size(name, listed.size)
    with replacing.new(out, name, [], directory) as fd:
        size = 0
        for data in storage.read(name, listed.size):
            for at, run in verified.runs(data):
                os.ftruncate(fd, size + at)
                verified.write_all(fd, run)
            size += len(data)
            os.ftruncate(fd, size)
        _check(fd, name, listed, out)
        os.fsync(fd)
        replacing.put(name, directory)


@contextmanager
def _whole(directory: int, name: str, listed: ListedFile) -> Iterator[int]:
    """Open a file of a directory that is all there, and as a build names it. Raises ShardError."""
    with verified.opening(directory, name) as fd:
        _check(fd, name, listed)
        yield fd


def _check(fd: int, name: str, listed: ListedFile, out: Path | None = None) -> None:
    """Raise ShardError unless an open file is the one that a build names, and every part what was written.

    One whose repository the directory is inside of that it is to go to is not wanted either.
    """
    parts: Sequence[ShardPart]
    if name.endswith(BUNDLE.suffix):
        bundle, identity = verified.identified(fd, BUNDLE)
        parts = bundle.parts
    else:
        manifest, identity = verified.identified(fd, SHARD)
        parts = manifest.parts
        if out:
            replacing.outside(out, [(manifest.repository, manifest.root)])
    if identity != listed.manifest or os.fstat(fd).st_size != listed.size:
        raise ShardError("it is not the one that the build names")
    verified.check(fd, parts)


class _Storage:
    """A place in a storage, by its URL: `s3://bucket/fleet`. What its driver raises is a ShardError here."""

    def __init__(self, url: str) -> None:
        try:
            import fsspec  # noqa: PLC0415  (an extra)
            from fsspec.registry import known_implementations  # noqa: PLC0415
        except ImportError:
            raise ShardError("fsspec is not installed: pip install 'fledgling-lens[storage]'") from None
        of_url: Callable[[str], tuple[Any, str]] = fsspec.url_to_fs
        protocol = url.partition("://")[0]
        known = known_implementations.get(protocol, {})
        with _said("it cannot be reached"):
            try:
                self._files, self._place = of_url(url)
            except ImportError:
                raise ShardError(known.get("err", NO_DRIVER)) from None  # Install s3fs to access S3
            except ValueError:
                if protocol in fsspec.available_protocols():
                    raise
                raise ShardError(NO_DRIVER) from None
            self.directory = Path(self._place) if "file" in self._files.protocol else None  # of this machine

    def names(self) -> set[str]:
        """Return the names of the files that are there."""
        with _said("it cannot be looked at"):
            self._files.invalidate_cache()
            try:
                return {str(path).rpartition("/")[2] for path in self._files.ls(self._place, detail=False)}
            except FileNotFoundError:
                return set()

    def build(self) -> ListedBuild:
        """Return what the list says."""
        data = b"".join(self.read(LIST, MAX_LIST))
        try:
            return msgspec.json.decode(data, type=ListedBuild)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise ShardError(f"{LIST} is not a list of files") from None

    def read(self, name: str, most: int) -> Iterator[bytes]:
        """Yield what is in a file, up to so many bytes."""
        options = {"block_size": 4 * COPIED_BYTES, "cache_type": "readahead"}
        self._look(name)
        with _said(f"{name} cannot be read"), self._files.open(self._at(name), "rb", **options) as file:
            read = 0
            while data := file.read(COPIED_BYTES):
                read += len(data)
                if read > most:
                    raise ShardError(f"{name} has more than {most:,} bytes")
                yield data

    def check_size(self, name: str, size: int) -> None:
        """Raise ShardError where a file is not so long, before a byte of it is read."""
        found = self._look(name)
        if found not in (None, size):  # a storage need not know it
            raise ShardError("it is not as long as the build says")

    def _look(self, name: str) -> int | None:
        """Return how long a file is. Raises ShardError where it is none: a pipe would be waited for."""
        with _said(f"{name} cannot be looked at"):
            found: dict[str, Any] = self._files.info(self._at(name))
        if found.get("type", "file") != "file":
            raise ShardError(f"{name} is not a file")
        size: int | None = found.get("size")
        return size

    def write(self, name: str, data: Iterator[bytes]) -> None:
        """Write a file. Where that fails nothing comes to be there, if the driver can throw away what it has taken."""
        with _said(f"{name} cannot be written"):
            if self.directory:
                _check_way(self.directory / name)
            self._files.makedirs(self._place, exist_ok=True)
            file = self._files.open(self._at(name), "wb")
            try:
                for some in data:
                    file.write(some)
                file.close()
            except BaseException:
                with suppress(Exception):  # a file of a disk can do neither
                    file.discard()
                    file.closed = True  # or it is written to the end once nobody refers to it
                raise

    def tell(self, build: ListedBuild) -> None:
        """Write the list."""
        self.write(LIST, iter([msgspec.json.encode(build, order="sorted")]))

    def _at(self, name: str) -> str:
        return f"{self._place.rstrip('/')}/{name}"


def _check_way(path: Path) -> None:
    """Raise ShardError unless nothing is in the place of a file, or a regular one: what is there would be written to.

    A pipe would be waited for, and a link or another name leads to what is somebody else's.
    """
    with suppress(FileNotFoundError):
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise ShardError(f"{path.name} is there, and no regular file with a single name")


@contextmanager
def _said(what: str) -> Iterator[None]:
    """Say what a driver could not do, and the type of what it has raised: its words may hold keys."""
    try:
        yield
    except ShardError:
        raise
    except Exception as wrong:
        raise ShardError(said(f"{what} ({type(wrong).__name__})")) from wrong
