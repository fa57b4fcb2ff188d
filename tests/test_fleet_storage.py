"""Shards in an object storage: what is fetched is what was put, or is not taken.

A directory stands for the storage, which fsspec speaks to as to any other.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import msgspec
import pytest
from forking import fledgling, started
from test_fleet import NAMES, damage

from fledgling.broker.fleet.storage import LIST, MAX_LIST, ListedBuild, ListedFile
from fledgling.broker.fleet.verified import MAX_FILE, MAX_FILES

# It is looked for, and not imported: DuckDB has a stand-in for it in the processes of these tests.
pytestmark = pytest.mark.skipif(not PathFinder.find_spec("fsspec"), reason="fsspec is not installed")
FILES = [*(f"{name}.shard" for name in NAMES), "00000.bundle"]


@pytest.fixture(scope="module")
def built(repositories_and_shards: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of shards, and beside it a storage that they were put into."""
    place = tmp_path_factory.mktemp("fleet")
    shutil.copytree(repositories_and_shards[1], place / "shards")
    assert moved("put", place / "shards", url(place / "storage")) == (0, 4, {})
    return place


def url(storage: Path) -> str:
    return f"file://{storage}"


def moved(*arguments: object) -> tuple[int, int, dict[str, str]]:
    """The exit code of a command, how many files it has moved, and which it could not: all, for one reason."""
    done = fledgling("fleet", *map(str, arguments), "--json")
    found: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, found.get("moved", 0), found.get("failed", {"": str(found)})


def test_what_is_fetched_is_what_was_put(built: Path, tmp_path: Path) -> None:
    storage, out = Path(shutil.copytree(built / "storage", tmp_path / "storage")), tmp_path / "out"
    out.mkdir(mode=0o700)
    digest = json.loads(fledgling("fleet", "put", str(built / "shards"), url(storage), "--json").stdout)["digest"]
    assert moved("fetch", url(storage), out, "--digest", digest) == (0, 4, {})
    assert {name: (out / name).read_bytes() for name in FILES} == {
        name: (built / "shards" / name).read_bytes() for name in FILES
    }
    blocks = [sum((place / name).stat().st_blocks for name in FILES) for place in (out, built / "shards")]
    assert blocks[0] <= 1.1 * blocks[1], "zeros take no room"
    (out / "gone.shard").write_bytes((out / "api.shard").read_bytes())
    (out / "other.shard").write_text("of another program")
    (out / "lib.shard").unlink()
    damaged = bytearray((out / "web.shard").read_bytes())
    damaged[5000] ^= 1
    (out / "web.shard").write_bytes(damaged)
    assert moved("fetch", url(storage), out) == (0, 2, {}), "what is here and whole is not fetched"
    assert sorted(path.name for path in out.iterdir()) == sorted([*FILES, "other.shard"])
    assert moved("put", built / "shards", url(storage)) == (0, 0, {})
    code, _, failed = moved("fetch", url(storage), out, "--digest", "0" * 64)
    assert (code, "and not the one that was named" in failed[""]) == (2, True)


def test_what_a_storage_says_is_not_believed(built: Path, tmp_path: Path) -> None:
    storage, out = Path(shutil.copytree(built / "storage", tmp_path / "storage")), tmp_path / "out"
    shutil.copytree(built / "shards", out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    files = json.loads((storage / LIST).read_text())["files"]
    flipped = bytearray((storage / "web.shard").read_bytes())
    flipped[len(flipped) // 2] ^= 1
    (storage / "web.shard").write_bytes(flipped)
    (storage / "lib.shard").write_bytes((storage / "api.shard").read_bytes())
    (storage / "api.shard").write_bytes(b"")
    (storage / "00000.bundle").unlink()
    for name in FILES:
        (out / name).unlink()
    code, fetched, failed = moved("fetch", url(storage), out)
    assert (code, fetched) == (2, 0)
    assert failed["lib.shard"] == "it is not the one that the build names"
    assert failed["api.shard"] == "it is not as long as the build says"
    assert failed["00000.bundle"] == "00000.bundle cannot be looked at (FileNotFoundError)"
    assert "is not what was written" in failed["web.shard"]
    assert [*out.iterdir()] == []
    for name, data in before.items():
        (out / name).write_bytes(data)
        os.chmod(out / name, 0o600)
    for wrong in (
        "{",
        '{"files": {"../x.shard": "' + "0" * 64 + '"}}',
        '{"files": {"x.sh": "' + "0" * 64 + '"}}',
        json.dumps({"files": files, "more": 1}),
    ):
        (storage / LIST).write_text(wrong)
        code, _, failed = moved("fetch", url(storage), out)
        assert (code, f"{LIST} is not a list of files" in failed[""]) == (2, True)
    for size, reason in ((2**40, "is not a list of files"), (-1, "is not a list of files"), (2**34, "more than")):
        named = {f"r{number}.shard": {**files["api.shard"], "size": size} for number in range(65)}
        (storage / LIST).write_text(json.dumps({"files": named}))
        assert reason in moved("fetch", url(storage), out)[2][""]
    (storage / LIST).write_text('{"files": {}}')
    assert "the build in the storage is empty" in moved("fetch", url(storage), out)[2][""]
    os.truncate(storage / LIST, MAX_LIST + 1)
    assert f"{LIST} has more than 67,108,864 bytes" in moved("fetch", url(storage), out)[2][""]
    assert "cannot be looked at (FileNotFoundError)" in moved("fetch", url(tmp_path / "nowhere"), out)[2][""]
    assert "fsspec has no driver for it" in moved("fetch", "nothing://known", out)[2][""]
    if not PathFinder.find_spec("s3fs"):
        said = moved("fetch", "s3://bucket/fleet", out)[2][""]
        assert "Install s3fs" in said
        assert "see `fledgling fleet fetch --help`" in said
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_file_of_another_length_is_not_read(built: Path, tmp_path: Path) -> None:
    """Sixteen gigabytes of zeros that take no room there would be read, and hashed, for half a minute."""
    storage, out = Path(shutil.copytree(built / "storage", tmp_path / "storage")), tmp_path / "out"
    out.mkdir(mode=0o700)
    os.truncate(storage / "web.shard", MAX_FILE)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = started("fleet", "fetch", url(storage), str(out), "--json")
    found = json.loads(done.stdout)
    assert (found["moved"], found["failed"]) == (3, {"web.shard": "it is not as long as the build says"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime - before.ru_utime < 5, "seconds of CPU, of which the command takes one to start"
    assert not (out / "web.shard").exists()


def test_list_of_all_that_a_directory_may_hold_is_read() -> None:
    digest = "0" * 64
    shards = {f"{number:064}.shard": ListedFile(digest, MAX_FILE, digest) for number in range(MAX_FILES)}
    bundles = {f"{number:05}.bundle": ListedFile(digest, MAX_FILE) for number in range(MAX_FILES)}
    told = msgspec.json.encode(ListedBuild(shards | bundles, is_partial=True))
    assert msgspec.json.decode(told, type=ListedBuild).files.keys() == shards.keys() | bundles.keys()
    assert len(told) < MAX_FILES * (246 + 114) + 100 <= MAX_LIST, "as much as the limit says of itself"


INSIDE = "the directory is inside the repository lib; name one outside of every repository"


@pytest.fixture
def inside(repositories_and_shards: tuple[Path, Path]) -> Iterator[Path]:
    """A directory in the repository lib, which is gone again before another test sees it."""
    place = repositories_and_shards[0] / "lib" / "shards"
    place.mkdir(mode=0o700)
    yield place
    shutil.rmtree(place)


def test_nothing_is_fetched_into_its_repository(built: Path, inside: Path) -> None:
    done = fledgling("fleet", "fetch", url(built / "storage"), str(inside))
    assert (done.returncode, INSIDE in done.stderr) == (2, True)
    assert not [*inside.iterdir()]


def test_list_that_hides_where_a_repository_was_has_nothing_of_it_fetched(
    built: Path, inside: Path, tmp_path: Path
) -> None:
    storage = Path(shutil.copytree(built / "storage", tmp_path / "storage"))
    build = json.loads((storage / LIST).read_text())
    del build["files"]["lib.shard"]["root"]
    (storage / LIST).write_text(json.dumps(build))
    code, _, failed = moved("fetch", url(storage), inside)
    assert (code, failed) == (2, {"lib.shard": INSIDE})
    assert not (inside / "lib.shard").exists()


@pytest.mark.parametrize("kind", ["link", "link to nothing", "hard link", "pipe", "directory"])
def test_what_stands_in_the_way_in_a_storage_is_not_written_to(built: Path, tmp_path: Path, kind: str) -> None:
    storage, kept = tmp_path / "storage", tmp_path / "kept"
    storage.mkdir()
    kept.write_text("kept")
    way = storage / "web.shard"
    {
        "link": lambda: way.symlink_to(kept),
        "link to nothing": lambda: way.symlink_to(tmp_path / "made"),
        "hard link": lambda: way.hardlink_to(kept),
        "pipe": lambda: os.mkfifo(way),
        "directory": way.mkdir,
    }[kind]()
    code, put, failed = moved("put", built / "shards", url(storage))
    assert (code, put) == (2, 3)
    assert failed == {"web.shard": "web.shard is there, and no regular file with a single name"}
    assert kept.read_text() == "kept"
    assert not (tmp_path / "made").exists()


def test_list_that_is_a_pipe_is_not_waited_for(built: Path, tmp_path: Path) -> None:
    storage, out = tmp_path / "storage", tmp_path / "out"
    storage.mkdir()
    out.mkdir(mode=0o700)
    os.mkfifo(storage / LIST)
    assert f"{LIST} is not a file" in moved("put", built / "shards", url(storage))[2][""]
    assert f"{LIST} is not a file" in moved("fetch", url(storage), out)[2][""]


def test_half_a_put_is_neither_fetched_nor_taken_for_a_whole_one(built: Path, tmp_path: Path) -> None:
    storage, shards = (Path(shutil.copytree(built / name, tmp_path / name)) for name in ("storage", "shards"))
    out = tmp_path / "out"
    out.mkdir(mode=0o700)
    (shards / "api.shard").write_bytes((shards / "lib.shard").read_bytes())
    damage(shards / "web.shard")
    assert moved("put", shards, url(storage)) == (2, 1, {"web.shard": "its manifest is not what was written"})
    assert "was not put whole" in moved("fetch", url(storage), out)[2][""]
    (storage / "lib.shard").unlink()
    assert moved("put", built / "shards", url(storage)) == (0, 3, {}), "what was there before, has failed, or is gone"
    assert moved("fetch", url(storage), out) == (0, 4, {})


BREAKING = """
import json
import sys
from pathlib import Path

import fsspec
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem

from fledgling.broker.fleet import storage
from fledgling.broker.fleet.verified import ShardError

there = {"api.shard": b"old"}


class BreakingFile(AbstractBufferedFile):
    def _upload_chunk(self, final=False):
        if final:
            there[self.path.rpartition("/")[2]] = self.buffer.getvalue()
        return final

    def _fetch_range(self, start, end):
        return there["fleet.json"][start:end]

    def write(self, data):
        if self.tell():
            raise RuntimeError
        return super().write(data)

    def discard(self):
        self.buffer = None

    def close(self):
        super().close()
        if self.mode == "rb":
            raise RuntimeError


class Breaking(AbstractFileSystem):
    protocol = "breaking"

    def ls(self, path, detail=True, **_):
        return [{"name": f"at/{name}", "size": len(data)} if detail else f"at/{name}" for name, data in there.items()]

    def _open(self, path, mode, **options):
        return BreakingFile(self, path, mode, **options, size=len(there["fleet.json"]) if mode == "rb" else None)


fsspec.register_implementation("breaking", Breaking)
shards = Path(sys.argv[1])
failed = storage.put(shards, "breaking://at").failed
try:
    storage.fetch("breaking://at", shards)
except ShardError as wrong:
    print(json.dumps([failed, [*there], there["api.shard"].decode(), str(wrong)]))
"""


def test_driver_that_breaks_harms_nothing(built: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BREAKING, str(built / "shards")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == [
        {name: f"{name} cannot be written (RuntimeError)" for name in FILES},
        ["api.shard", LIST],
        "old",
        f"{LIST} cannot be read (RuntimeError)",
    ]
