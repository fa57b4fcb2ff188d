"""Shards in an object storage: what is fetched is what was put, or is not taken.

A directory stands for the storage, which fsspec speaks to as to any other.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from test_cli import fledgling
from test_fleet import NAMES, write_repositories

from fledgling.broker.fleet.storage import LIST

pytest.importorskip("fsspec")
FILES = [*(f"{name}.shard" for name in NAMES), "00000.bundle"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of shards, and beside it a storage that they were put into."""
    place = tmp_path_factory.mktemp("fleet")
    write_repositories(place)
    (place / "shards").mkdir(mode=0o700)
    listed = place / "list"
    listed.write_text("".join(f"{place / name}\n" for name in NAMES))
    assert fledgling("fleet", "build", str(listed), "--out", str(place / "shards")).returncode == 0
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
    assert failed["api.shard"] == "it is too short to be a shard"
    assert failed["00000.bundle"] == "00000.bundle cannot be read (FileNotFoundError)"
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
    assert "cannot be read (FileNotFoundError)" in moved("fetch", url(tmp_path / "nowhere"), out)[2][""]
    assert "it cannot be reached (ValueError)" in moved("fetch", "nothing://known", out)[2][""]
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
