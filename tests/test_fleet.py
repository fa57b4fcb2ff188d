"""Shards: the indexes of many repositories on a disk, made by confined processes and trusted by none."""

import errno
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import psutil
import pytest
from conftest import git
from forking import fledgling
from running import GONE_SECONDS

from fledgling.broker.fleet import replacing, shard, verified
from fledgling.broker.fleet.pack import packed
from fledgling.broker.fleet.shard import SHARD, MadeUnder, Manifest
from fledgling.broker.fleet.verified import ShardError
from fledgling.messages.control import Generation
from fledgling.messages.generations import EDGES
from fledgling.messages.profile import Profile, View
from fledgling.security import memory_file
from fledgling.security import profile as profiles

NAMES = ["api", "lib", "web"]
SECTIONS = ("blocks", "signatures", "outlines", "words", "graph")  # the same bytes in each build; databases vary
TEXT = "import os\n\n\ndef run_{name}(timeout):\n    return timeout  # needle {name}\n\n\nclass {title}:\n    pass\n"


def write_repositories(above: Path) -> None:
    for name in NAMES:
        (above / name / "src").mkdir(parents=True)
        (above / name / "src" / "main.py").write_text(TEXT.format(name=name, title=name.title()))
        (above / name / "README.md").write_text(f"# {name}\n\nA needle.\n")


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    above = tmp_path_factory.mktemp("repositories")
    write_repositories(above)
    return above


@pytest.fixture(scope="module")
def built(repositories: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shards of the three repositories; tests that change one take a copy."""
    out = tmp_path_factory.mktemp("shards")
    done = fledgling("fleet", "shard", *(str(repositories / name) for name in NAMES), "--out", str(out))
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture
def shards(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "shards"))


def made(*arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code of `fleet shard`, and what it says of each repository."""
    done = fledgling("fleet", "shard", *arguments, "--json")
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, {outcome["repository"]: outcome for outcome in outcomes}


def states(outcomes: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: outcome["state"] for name, outcome in outcomes.items()}


def test_shard_is_made_again_only_of_another_tree(shards: Path, tmp_path: Path) -> None:
    above = tmp_path / "repositories"
    write_repositories(above)  # the same files with other times
    roots = [str(above / name) for name in NAMES]
    before = {name: (shards / f"{name}.shard").read_bytes() for name in NAMES}
    (above / "web" / "src" / "more.py").write_text("def more(): ...\n")
    (above / "lib" / ".gitignore").write_text("ignored\n")
    (above / "lib" / ".gitignore").unlink()
    code, outcomes = made(*roots, "--out", str(shards))
    assert (code, states(outcomes)) == (0, {"api": "unchanged", "lib": "unchanged", "web": "built"})
    assert outcomes["web"]["files"] == 3
    assert [name for name in NAMES if (shards / f"{name}.shard").read_bytes() != before[name]] == ["web"]
    assert sorted(path.name for path in shards.iterdir()) == [f"{name}.shard" for name in NAMES]


def test_damaged_shard_is_made_again(repositories: Path, shards: Path) -> None:
    path = shards / "api.shard"
    damage(path, manifest(path).parts[0].start + 100)
    assert states(made(str(repositories / "api"), "--out", str(shards))[1]) == {"api": "built"}
    copied(path)


def test_shard_of_another_profile_is_made_again(repositories: Path, shards: Path) -> None:
    code, outcomes = made(str(repositories / "api"), "--out", str(shards), "--profile", "fledgling-outie")
    assert (code, states(outcomes)) == (0, {"api": "built"})


def test_failed_repository_is_said_and_does_not_stop_the_others(repositories: Path, shards: Path) -> None:
    api = str(repositories / "api")
    code, outcomes = made("/nowhere/gone", api, "--out", str(shards))
    assert (code, states(outcomes)) == (2, {"gone": "failed", "api": "unchanged"})
    assert "is not there" in outcomes["gone"]["reason"]
    assert made("/nowhere/gone", "--out", str(shards))[0] == 1


@pytest.mark.parametrize(
    ("out", "reason"),
    [
        ("inside", "the directory is inside the repository a"),
        ("open", "others may write to it"),
    ],
)
def test_no_shard_is_written_where_it_could_be_meddled_with(tmp_path: Path, out: str, reason: str) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "a.py").write_text("x = 1\n")
    elsewhere = tmp_path.parent / f"{tmp_path.name}-open"
    elsewhere.mkdir(mode=0o777)
    elsewhere.chmod(0o777)
    place = tmp_path / "inside" if out == "inside" else elsewhere
    done = fledgling("fleet", "shard", f"a={tmp_path}", "--out", str(place))
    assert done.returncode == (2 if out == "inside" else 1)
    assert reason in done.stdout + done.stderr
    assert [*place.iterdir()] == []


INTO = {  # what writes into a directory, by the command of the fleet
    "shard": ("{api}", "{web}", "--out", "{place}"),
    "build": ("{list}", "--out", "{place}"),
    "parquet": ("{built}", "--out", "{place}"),
    "put": ("{built}", "file://{place}"),
    "fetch": ("{storage}", "{place}"),
    "bundle": ("{place}",),
}
# Git is looked for in one way; whose a directory is, each finds by itself but `build`, which does it as `shard` does.
TRIED = {"in": {*INTO}, "bare": {"shard"}, "of": {*INTO} - {"build"}}


@pytest.mark.parametrize("wide", [False, pytest.param(True, marks=pytest.mark.long)], ids=["some", "all"])
def test_nothing_is_written_into_a_repository(repositories: Path, built: Path, tmp_path: Path, wide: bool) -> None:
    """One that is named, or whose shard says so, be it in the directory itself, or that Git says is one.

    The long row tries each command in each place.
    """
    (tmp_path / "work" / "shards").mkdir(parents=True)
    (tmp_path / "work" / ".git").write_text("gitdir: elsewhere\n")
    git(tmp_path, "init", "-q", "--bare", "bare")
    shutil.rmtree(tmp_path / "bare" / "hooks")
    (tmp_path / "bare" / "hooks").mkdir(mode=0o700)
    (repositories / "web" / "shards").mkdir(mode=0o700)
    (tmp_path / "list").write_text(f"{repositories / 'api'}\n{repositories / 'web'}\n")
    places = {
        "in": tmp_path / "work" / "shards", "bare": tmp_path / "bare" / "hooks", "of": repositories / "web" / "shards"
    }  # fmt: skip
    (tmp_path / "web").mkdir(mode=0o700)
    shutil.copy(built / "web.shard", tmp_path / "web")
    storage = f"file://{tmp_path / 'storage'}"
    assert fledgling("fleet", "put", str(tmp_path / "web"), storage).returncode == 0
    refused = {}
    named = {"api": repositories / "api", "web": repositories / "web", "list": tmp_path / "list"}
    named |= {"built": built, "storage": storage}
    for (case, place), command in product(places.items(), INTO):
        if not wide and command not in TRIED[case]:
            continue
        if command == "bundle":
            shutil.copy(built / "web.shard", place)
        before = [*place.iterdir()]
        done = fledgling("fleet", command, *(each.format(place=place, **named) for each in INTO[command]))
        refused[case, command] = done.returncode != 0, "the directory is inside" in done.stdout + done.stderr
        assert [*place.iterdir()] == before, (case, command)
    shutil.rmtree(places["of"])
    assert set(refused.values()) == {(True, True)}, refused


@pytest.mark.parametrize("kind", ["link", "fifo", "hard link", "directory"])
def test_what_stands_in_the_way_of_a_new_shard_is_not_followed(repositories: Path, shards: Path, kind: str) -> None:
    kept = shards / "kept"
    kept.write_text("kept")
    way = shards / ".web.shard.new"
    {
        "link": lambda: way.symlink_to(kept),
        "fifo": lambda: os.mkfifo(way),
        "hard link": lambda: way.hardlink_to(kept),
        "directory": way.mkdir,
    }[kind]()
    (shards / "web.shard").unlink()
    code, outcomes = made(str(repositories / "web"), "--out", str(shards))
    assert code == 1
    assert "its shard cannot be written" in outcomes["web"]["reason"]
    assert kept.read_text() == "kept"


def test_nothing_is_left_of_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    directory = verified.open_directory(str(tmp_path))
    with pytest.raises(OSError, match="full"), replacing.new(tmp_path, "a.shard", [], directory):
        raise OSError(errno.ENOSPC, "the disk is full")
    os.close(directory)
    assert [*tmp_path.iterdir()] == []


def test_two_with_one_name_are_refused(repositories: Path, shards: Path) -> None:
    done = fledgling("fleet", "shard", str(repositories / "api"), f"api={repositories / 'web'}", "--out", str(shards))
    assert done.returncode == 2
    assert "two repositories are called api" in done.stderr


@pytest.mark.parametrize("times", [2, pytest.param(12, marks=pytest.mark.long)])
def test_killed_at_any_moment_a_build_leaves_the_old_shard(tmp_path: Path, shards: Path, times: int) -> None:
    """And what it leaves of its own is no obstacle to the next."""
    write_repositories(tmp_path / "r")
    web = tmp_path / "r" / "web"
    (web / "more.py").write_text("".join(f"def f{n}():\n    return {n}\n\n" for n in range(3000)))
    old, chance = (shards / "web.shard").read_bytes(), random.Random(7)
    command = [sys.executable, "-I", "-B", "-m", "fledgling", "fleet", "shard", str(web), "--out", str(shards)]
    for _ in range(times):
        building = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.3, 1.5))
        building.kill()
        building.wait()
        if (shards / "web.shard").read_bytes() != old:
            break  # it was quicker
    assert manifest(shards / "web.shard").files in (2, 3)
    assert made(str(web), "--out", str(shards))[0] == 0
    assert manifest(shards / "web.shard").files == 3
    assert not (shards / ".web.shard.new").exists()


def test_nothing_is_left_running_where_a_build_is_killed(tmp_path: Path, shards: Path) -> None:
    root = tmp_path / "a"
    root.mkdir()
    for number in range(300):
        (root / f"{number}.py").write_text("x = 1\n" * 1000)
    command = [sys.executable, "-I", "-B", "-m", "fledgling", "fleet", "shard", str(root), "--out", str(shards)]
    building = psutil.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    below: list[psutil.Process] = []
    at_work: list[psutil.Process] = []  # extractors: one that has only just begun is not tied to the indexer yet
    while not at_work:  # below the process that is confined, and the indexer
        below = building.children(recursive=True)
        assert building.poll() is None
        with suppress(psutil.NoSuchProcess):
            at_work = [process for process in below[2:] if process.cpu_times().user > 0.05]
    status = Path(f"/proc/{below[1].ppid()}/status").read_text()
    assert "Seccomp:\t2" in status, "who starts an indexer is confined"
    for extractor in at_work:
        extractor.suspend()  # so that the build does not end because it is done
    building.send_signal(signal.SIGKILL)
    building.wait()
    _, alive = psutil.wait_procs(below, timeout=GONE_SECONDS)
    assert not alive


# ---- what a shard on a disk is trusted with -------------------------------------------------------------------------


def damage(path: Path, at: int = -1) -> None:
    """Change one byte of a shard, whatever it was: its last one."""
    whole = bytearray(path.read_bytes())
    whole[at] ^= 1
    path.write_bytes(whole)


def manifest(path: Path) -> Manifest:
    with path.open("rb") as file:
        return verified.read(file.fileno(), SHARD)


def copied(path: Path) -> None:
    """Copy all parts of a shard, as a server does."""
    to = memory_file.create()
    try:
        with path.open("rb") as file:
            for part in verified.read(file.fileno(), SHARD).parts:
                os.ftruncate(to, 0)
                assert verified.copy(file.fileno(), part, to, 0, part.size + 4096) <= part.size + 4096
    finally:
        os.close(to)


def test_flipped_bit_anywhere_is_refused(shards: Path) -> None:
    path = shards / "api.shard"
    whole, parts = path.read_bytes(), manifest(path).parts
    last = parts[-1].start + parts[-1].size
    places = {0, 7, 8, 10, 12, last, last + 1, (last + len(whole)) // 2}
    places |= {part.start + at for part in parts for at in (0, part.size // 2, part.size - 1)}
    places |= set(range(len(whole) - 40, len(whole)))
    copied(path)
    for place in sorted(places):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(ShardError):
            copied(path)


def test_shard_that_was_cut_or_grew_is_refused(shards: Path) -> None:
    path = shards / "api.shard"
    whole = path.read_bytes()
    for length in (0, 1, 15, 16, 55, 56, len(whole) // 2, len(whole) - 41, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ShardError):
            copied(path)
    for more in (b"\0", whole, b"x" * 4096):
        path.write_bytes(whole + more)
        if more != whole:
            with pytest.raises(ShardError):
                copied(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: {**m, "parts": m["parts"][1:]},
        lambda m: {**m, "parts": m["parts"][::-1]},
        lambda m: {**m, "parts": [m["parts"][0], *m["parts"]]},
        lambda m: {**m, "parts": [{**m["parts"][0], "start": 2**60}, *m["parts"][1:]]},
        lambda m: {**m, "parts": [{**m["parts"][0], "size": 2**52}, *m["parts"][1:]]},
        lambda m: {**m, "parts": [{**m["parts"][0], "name": "kept"}, *m["parts"][1:]]},
        lambda m: {**m, "repository": "../other"},
        lambda m: {**m, "more": 1},
        lambda m: [m],
        lambda m: {**m, "files": -1},
    ],
    ids=range(10),
)
def test_manifest_that_nobody_writes_is_refused(shards: Path, change: Any) -> None:
    """One that is as its hash says, made by somebody who can count."""
    path = shards / "api.shard"
    whole, written = path.read_bytes(), manifest(path)
    start = written.parts[-1].start + written.parts[-1].size
    encoded = json.dumps(change(json.loads(whole[start:-40]))).encode()
    path.write_bytes(whole[:start] + encoded + verified.END.pack(start, verified.digest(encoded)))
    with pytest.raises(ShardError):
        copied(path)


NOT_OWN = {
    "link": "it is a link",
    **dict.fromkeys(("fifo", "hard link", "directory"), "it is not a regular file with a single name"),
    **dict.fromkeys(("writable", "another user's"), "it is another user's, or others may write to it"),
    "absent": "it cannot be opened (No such file or directory)",
}


@pytest.mark.parametrize("kind", NOT_OWN)
def test_what_is_not_a_file_of_this_user_alone_is_not_opened(shards: Path, kind: str) -> None:
    path, other = shards / "api.shard", shards / "other"
    if kind == "another user's":
        if os.geteuid():
            pytest.skip("only root gives a file away")
        os.chown(path, 12345, 12345)
    elif kind == "writable":
        path.chmod(0o666)
    elif kind == "hard link":
        other.hardlink_to(path)
    else:
        path.rename(other)
        make: dict[str, Any] = {"link": lambda: path.symlink_to(other), "fifo": lambda: os.mkfifo(path)}
        make |= {"directory": path.mkdir, "absent": lambda: None}
        make[kind]()
    directory = verified.open_directory(str(shards))
    try:
        with pytest.raises(ShardError, match=re.escape(NOT_OWN[kind])):
            os.close(verified.opened(directory, "api.shard"))
    finally:
        os.close(directory)


def test_directory_of_too_many_is_refused(shards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = len([*shards.glob("*.shard")])
    monkeypatch.setattr(verified, "MAX_FILES", count)
    os.close(packed(str(shards), profiles.load("fledgling-core")).fd)
    monkeypatch.setattr(verified, "MAX_FILES", count - 1)
    with pytest.raises(ShardError, match=f"there are more than {count - 1} shards in the directory"):
        packed(str(shards), profiles.load("fledgling-core"))


def test_shard_too_large_is_refused(shards: Path) -> None:
    with (shards / "api.shard").open("r+b") as file:
        file.truncate(verified.MAX_FILE + 1)
    directory = verified.open_directory(str(shards))
    try:
        with pytest.raises(ShardError, match="more than"):
            os.close(verified.opened(directory, "api.shard"))
    finally:
        os.close(directory)


def under(*views: View, absolute_paths: bool = False, name: str = "p") -> Profile:
    return Profile(name, "p.sql", name, ("read",), 10**9, 30.0, 100, 10**6, absolute_paths, views)


HIDES = View("visible_files", "SELECT * FROM visible_files WHERE path NOT LIKE 'secret/%'", 3)
HIDES_MORE = View("visible_files", "SELECT * FROM visible_files WHERE path LIKE 'src/%'", 3)
WIDTHS = {
    "the same": (under(HIDES), under(HIDES), False),
    "the same view on another line": (under(HIDES), under(View(HIDES.name, HIDES.select, 9)), False),
    "no view, under a view": (under(), under(HIDES), True),
    "another view": (under(HIDES), under(HIDES_MORE), True),
    "one view of two": (under(HIDES), under(HIDES, HIDES_MORE), True),
    "a view, under none": (under(HIDES), under(), False),
    "absolute paths, where they are hidden": (under(absolute_paths=True), under(), True),
    "absolute paths, where they are shown": (under(absolute_paths=True), under(absolute_paths=True), False),
    "none, where they are shown": (under(), under(absolute_paths=True), False),
}


@pytest.mark.parametrize("case", WIDTHS)
def test_profile_that_hides_more_is_not_served(case: str) -> None:
    made_under, served_under, is_wider = WIDTHS[case]
    assert bool(MadeUnder.of(made_under).wider_than(served_under)) == is_wider


def test_shard_says_what_it_was_made_of(shards: Path) -> None:
    found = manifest(shards / "api.shard")
    assert (found.repository, found.files, found.under.profile, found.partial) == ("api", 2, "fledgling-core", None)
    assert found.generation.number == EDGES
    assert isinstance(found.generation, Generation)
    assert {part.name for part in found.parts} == set(shard.SERVED)
    assert found.tree == manifest(shards / "api.shard").tree != manifest(shards / "web.shard").tree
