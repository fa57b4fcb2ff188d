"""Bundles: what many shards are asked by together leaves out none that has something, and is made of what is there."""

import json
import os
import random
import shutil
import string
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import psutil
import pytest
from forking import fledgling
from running import back_processes
from test_fleet import damage, manifest

from fledgling.broker.fleet import bundling, verified
from fledgling.broker.fleet.bundle import BUNDLE, BYTES, MEMBERS, BundleManifest, planned
from fledgling.broker.fleet.pack import packed
from fledgling.broker.fleet.shard import SHARD
from fledgling.broker.fleet.verified import HEAD, ShardError
from fledgling.messages.control import CONFINED
from fledgling.security import memory_file
from fledgling.security import profile as profiles
from fledgling.worker.store import level
from fledgling.worker.store.level import COLUMN_BYTES, Level, LevelWriter, rows_of

MANY = {f"r{number:03}": 1 for number in range(MEMBERS + 5)}
PLANS = {
    "none": ({}, {}, {}),
    "one in two": ({"0": ["api"], "1": ["api", "web"]}, {"api": 1, "web": 1}, {"0": ["api"], "1": ["web"]}),
    "the first": ({}, {"a": 1, "b": 1}, {"00000": ["a", "b"]}),
    "one is gone": ({"00000": ["a", "b"]}, {"b": 1}, {"00000": ["b"]}),
    "all are gone": ({"00000": ["a"], "00001": ["b"]}, {"b": 1}, {"00000": [], "00001": ["b"]}),
    "a new one goes where room is": (
        {"00000": ["a"], "00001": ["c"]},
        dict.fromkeys("abc", 1),
        {"00000": ["a", "b"], "00001": ["c"]},
    ),
    "too many": ({}, MANY, {"00000": [*MANY][:MEMBERS], "00001": [*MANY][MEMBERS:]}),
    "too large": ({}, {"a": BYTES, "b": 1, "c": BYTES + 1}, {"00000": ["a"], "00001": ["b"], "00002": ["c"]}),
    "some have grown": ({"00000": ["a", "b"]}, {"a": 1, "b": BYTES}, {"00000": ["a"], "00001": ["b"]}),
    "those that are there stay": ({"00003": ["a"]}, {"a": 1, "b": BYTES}, {"00000": ["b"], "00003": ["a"]}),
}


@pytest.mark.parametrize("case", PLANS)
def test_shards_stay_in_their_bundles_and_new_ones_go_where_room_is(case: str) -> None:
    there, shards, expected = PLANS[case]
    assert planned(there, shards) == expected


def written(members: list[tuple[list[bytes] | None, list[str]]]) -> Level:
    fd = memory_file.create()
    writer = LevelWriter(fd)
    for number, (texts, names) in enumerate(members):
        writer.add(number, texts, names)
    writer.finish()
    mapped = memory_file.mapped(fd)
    os.close(fd)
    return Level(mapped)


def test_first_level_leaves_every_member_that_holds_a_text() -> None:
    """And hardly another: bytes of any kind, long texts, and more of them than one column takes."""
    chance = random.Random(5)
    letters = string.printable.encode() + "ä\u017f\u212a".encode()
    members: list[tuple[list[bytes] | None, list[str]]] = []
    for number in range(20):
        texts = [bytes(chance.choices(letters, k=chance.randint(0, 300))) for _ in range(20)]
        members.append((texts, [f"name_{number}", f"Shared_{number % 3}"]))
    members.append(([b"x" * COLUMN_BYTES, b"y" * 3_000_000, b"beyond the First column"], []))
    members.append((None, ["unread"]))
    found, others = written(members), 0
    for number, (texts, names) in enumerate(members[:-1]):
        for text in [*(texts or [])[-3:], *map(str.encode, names)]:
            if len(text) >= 12:
                start = chance.randrange(len(text) - 11)
                needle = [[level.folded(text[start : start + 12])]] if len(text) < 10**6 else [[b"yyyyyyyyyyyy"]]
                left = found.holding(rows_of(needle))
                assert {number, 21} <= left
                others += len(left) - 2
    assert others < 40, "those of the names that three share, and few others"
    assert found.holding(rows_of([[b"nowhere_at_all_17"]])) == {21}
    assert found.holding(rows_of([[b"ab"]])) == set(range(22)), "of two bytes nothing is known"
    assert [found.naming(name) for name in ("name_7", "shared_1", "unread", "name")] == [
        {7}, {1, 4, 7, 10, 13, 16, 19}, {21}, set()
    ]  # fmt: skip


@pytest.fixture(scope="module")
def built(repositories_and_shards: tuple[Path, Path]) -> tuple[Path, Path]:
    """The repositories, and their shards; tests that change one take a copy."""
    return repositories_and_shards


def bundled(out: Path) -> BundleManifest:
    with (out / "00000.bundle").open("rb") as file:
        return verified.read(file.fileno(), BUNDLE)


def counts(said: str) -> tuple[int, int]:
    told = json.loads(said)
    assert told["failed"] == {}
    return told["bundles"], told["made"]


def test_directory_is_served_under_its_digest_or_not_at_all(built: tuple[Path, Path], tmp_path: Path) -> None:
    out = Path(shutil.copytree(built[1], tmp_path / "shards"))
    digest = json.loads(fledgling("fleet", "bundle", str(out), "--json").stdout)["digest"]
    core = profiles.load("fledgling-core")
    pack = packed(str(out), core, digest)
    os.close(pack.fd)
    assert pack.bundles == 1
    whole = os.stat("/proc/self/fd").st_nlink
    for name, made in (("web.shard", b""), ("00000.bundle", b""), ("more.shard", (out / "api.shard").read_bytes())):
        before = (out / name).read_bytes() if (out / name).exists() else None
        (out / name).write_bytes(made)
        if name == "more.shard":  # which is refused in any case, and so changes nothing
            os.close(packed(str(out), core, digest).fd)
        else:
            with pytest.raises(ShardError, match="not the one that was named"):
                packed(str(out), core, digest)
        if before is not None:
            (out / name).write_bytes(before)
    assert os.stat("/proc/self/fd").st_nlink == whole
    done = fledgling("fleet", "serve", str(out), "--digest", "0" * 64)
    assert done.returncode == 2
    assert "and not the one that was named" in done.stderr


WRITING = """import os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
at = os.fstat(fd).st_size - 32
hashes = [bytes.fromhex(each) for each in sys.argv[2:]]
while True:
    for each in hashes:
        os.pwrite(fd, each, at)
"""


def test_what_is_written_to_while_it_is_read_goes_by_no_other_hash(built: tuple[Path, Path], tmp_path: Path) -> None:
    """Somebody writes the hash that is expected over that of another manifest, and back, as fast as can be."""
    out, core = tmp_path / "shards", profiles.load("fledgling-core")
    out.mkdir(mode=0o700)
    path = Path(shutil.copy(built[1] / "api.shard", out))
    pack = packed(str(out), core)
    os.close(pack.fd)
    whole, size = path.read_bytes(), verified.END.size
    start, _ = verified.END.unpack(whole[-size:])
    other = whole[start:-size].replace(b'"files":', b'"files":9')
    path.write_bytes(whole[:start] + other + verified.END.pack(start, verified.digest(other)))
    os.close(packed(str(out), core).fd)
    hashes = verified.digest(other), whole[-verified.DIGEST_BYTES :]
    with subprocess.Popen([sys.executable, "-c", WRITING, path, *(each.hex() for each in hashes)]) as writing:
        try:
            for _ in range(200):
                with pytest.raises(ShardError):
                    os.close(packed(str(out), core, pack.digest).fd)
        finally:
            writing.kill()


def test_what_two_repositories_share_is_in_memory_once(built: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "shards"
    out.mkdir(mode=0o700)
    shutil.copy(built[1] / "api.shard", out)
    sizes = []
    for name in ("api", "fork"):
        if name == "fork":
            done = fledgling("fleet", "shard", f"fork={built[0] / 'api'}", "--out", str(out))
            assert done.returncode == 0, done.stdout
        pack = packed(str(out), profiles.load("fledgling-core"))
        sizes.append(os.fstat(pack.fd).st_blocks * 512)
        os.close(pack.fd)
    assert sizes[1] < 1.7 * sizes[0], "but for the databases, whose bytes vary"


def test_bundle_is_made_again_only_of_other_shards(built: tuple[Path, Path], tmp_path: Path) -> None:
    out = Path(shutil.copytree(built[1], tmp_path / "shards"))
    before = (out / "00000.bundle").read_bytes()
    done = fledgling("fleet", "bundle", str(out), "--json")
    assert counts(done.stdout) == (1, 0)
    assert (out / "00000.bundle").read_bytes() == before
    (out / "00000.bundle").unlink()
    done = fledgling("fleet", "bundle", str(out), "--json")
    assert counts(done.stdout) == (1, 1)
    assert (out / "00000.bundle").read_bytes() == before, "of the same shards the same bytes, whoever makes them"
    damage(out / "00000.bundle", 5000)
    done = fledgling("fleet", "bundle", str(out), "--json")
    assert (counts(done.stdout), (out / "00000.bundle").read_bytes() == before) == ((1, 1), True), "it was damaged"
    write_garbage(out / "lib.shard")
    write_garbage(out / "web.shard", at=16, size=40)  # behind the head: the first row alone
    for made in (1, 0):
        done = fledgling("fleet", "bundle", str(out), "--json")
        assert counts(done.stdout) == (1, made)
    assert [(each.repository, each.is_left_out) for each in bundled(out).members] == [
        ("api", False), ("lib", True), ("web", True)
    ]  # fmt: skip
    (out / "00000.bundle").write_bytes(b"fledbndl" + bytes(HEAD.size))
    for shard in out.glob("*.shard"):
        shard.unlink()
    assert counts(fledgling("fleet", "bundle", str(out), "--json").stdout) == (0, 0)
    assert [*out.iterdir()] == []


def test_damaged_shard_that_costs_its_bundle_is_named(built: tuple[Path, Path], tmp_path: Path) -> None:
    out = Path(shutil.copytree(built[1], tmp_path / "shards"))
    (out / "00000.bundle").unlink()
    path, [part, *_] = out / "lib.shard", manifest(out / "lib.shard").parts
    damage(path, part.start + 100)
    failed = bundling.bundle(out, 2**30, CONFINED).failed
    assert failed == {"00000": f"lib: its part {part.name} is not what was written"}


def write_garbage(path: Path, at: int = 0, size: int | None = None) -> None:
    """Let outlines be garbage, all of them or so many bytes from a place on."""
    [part] = [part for part in manifest(path).parts if part.name == "outlines"]
    whole = path.read_bytes()[part.start : part.start + part.size]
    end = part.size if size is None else at + size
    write_part(path, "outlines", whole[:at] + b"\xff" * (end - at) + whole[end:])


def write_part(path: Path, name: str, data: bytes) -> None:
    """Let a part of a shard be other bytes, so that the hashes hold: whoever wrote it was taken over."""
    whole, of = path.read_bytes(), manifest(path)
    images = {name: memory_file.create() for name in SHARD.parts}
    for part in of.parts:
        os.write(images[part.name], data if part.name == name else whole[part.start : part.start + part.size])
    path.unlink()
    with path.open("ab") as file:
        verified.write(file.fileno(), SHARD, of, images)
    for fd in images.values():
        os.close(fd)


def test_columns_of_one_shard_are_not_those_of_the_others(built: tuple[Path, Path], tmp_path: Path) -> None:
    """The first member has its files in columns of another order, and one more."""
    out = Path(shutil.copytree(built[1], tmp_path / "shards"))
    [part] = [part for part in manifest(out / "api.shard").parts if part.name == "text"]
    image = tmp_path / "text.duckdb"
    image.write_bytes((out / "api.shard").read_bytes()[part.start : part.start + part.size])
    with duckdb.connect(image) as db:
        columns = [f"{name}::VARCHAR AS {name}" for name, *_ in db.execute("DESCRIBE files").fetchall()]
        db.execute(f"CREATE TABLE other AS SELECT 'more' AS more, {', '.join(reversed(columns))} FROM files")
        db.execute("DROP TABLE files")
        db.execute("ALTER TABLE other RENAME TO files")
    write_part(out / "api.shard", "text", image.read_bytes())
    assert counts(fledgling("fleet", "bundle", str(out), "--json").stdout) == (1, 1)
    tables = bundled(out).parts[1]
    made = tmp_path / "tables.duckdb"
    made.write_bytes((out / "00000.bundle").read_bytes()[tables.start : tables.start + tables.size])
    with duckdb.connect(made) as db:
        found = db.execute("SELECT member, path, size_bytes > 9 FROM text_files ORDER BY member, path").fetchall()
    assert found == [(member, path, True) for member in range(3) for path in ("README.md", "src/main.py")]


def test_what_is_no_bundle_stays_and_what_is_in_the_way_is_said(built: tuple[Path, Path], tmp_path: Path) -> None:
    out = Path(shutil.copytree(built[1], tmp_path / "shards"))
    (out / "00000.bundle").unlink()
    (out / "backup.bundle").write_bytes(b"# v2 git bundle\n")
    for name, reason in (("00000.bundle", "is not a bundle, and stays"), (".00000.bundle.new", "Is a directory")):
        (out / name).mkdir()
        done = fledgling("fleet", "bundle", str(out), "--json")
        assert done.returncode == 2
        assert reason in json.loads(done.stdout)["failed"]["00000"]
        (out / name).rmdir()
    assert (out / "backup.bundle").read_bytes() == b"# v2 git bundle\n"


def left_running() -> list[psutil.Process]:
    """The processes below this one, but for those that others are forked from, or that have ended."""
    return back_processes(psutil.Process())


LARGE = "(SELECT range || repeat('x', 100000) FROM range({})) a(path)"  # each row takes 128 KiB
HOSTILE = {  # what a table of a shard is selected from, how long it may take at first, and why it is left out
    "endless": (
        "range(1000000000000) a(path), range(1000000) b WHERE a.path + b.range < 0",
        0.5,
        "its tables were not taken",
    ),
    "long": ("(SELECT repeat('x', 2000000000 + range) FROM range(9)) a(path)", 60, "its tables cannot be read"),
    "many": (LARGE.format(4000), 60, "its tables take most of the memory"),
}


def with_table(shard: Path, image: Path, part: str, table: str, rows: str) -> None:
    """Let a table of a shard be a view of such rows, so that its hashes hold."""
    [known] = [each for each in manifest(shard).parts if each.name == part]
    image.write_bytes(shard.read_bytes()[known.start : known.start + known.size])
    with duckdb.connect(image) as db:
        columns = [(name, of == "VARCHAR") for name, of, *_ in db.execute(f"DESCRIBE {table}").fetchall()]
        first = next(name for name, is_text in columns if is_text)
        selected = [f"{'path' if name == first else 'NULL'} AS {name}" for name, _ in columns]
        db.execute(f"DROP TABLE {table}")
        db.execute(f"CREATE VIEW {table} AS SELECT {', '.join(selected)}, 1 AS rowid FROM {rows}")
    write_part(shard, part, image.read_bytes())


@pytest.mark.parametrize(
    ("rows", "seconds", "reason"),  # what takes most of the memory is left out of two in the test below, too
    [pytest.param(*row, id=name, marks=[pytest.mark.long] if name == "many" else []) for name, row in HOSTILE.items()],
)
def test_hostile_shard_costs_a_bundle_itself_alone(
    built: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: str, seconds: float, reason: str
) -> None:
    out = Path(shutil.copytree(built[1], tmp_path / "shards"))
    with_table(out / "api.shard", tmp_path / "image", "code", "imports", rows)
    left_out: dict[int, bundling.LeftOut] = {}
    fill = bundling.filled

    def filled(*given: Any) -> dict[int, bundling.LeftOut]:
        left_out.update(fill(*given))
        return left_out

    monkeypatch.setattr(bundling, "filled", filled)
    for bound in (seconds, 8 * seconds, 64 * seconds):
        monkeypatch.setattr(bundling, "TAKING_SECONDS", bound)
        (out / "00000.bundle").unlink(missing_ok=True)
        left_out.clear()
        found = bundling.bundle(out, 2**30, CONFINED)
        why = [*found.failed.values(), *(each.why for number, each in left_out.items() if number)]
        if not any("in time" in each for each in why):  # a busy machine may need more for a good one
            break
    assert (found.bundles, found.made, found.failed) == (1, 1, {})
    assert [each.is_left_out for each in bundled(out).members] == [True, False, False]
    monkeypatch.setattr(bundling, "MAX_LEFT_OUT", 0)
    (out / "00000.bundle").unlink()
    failed = bundling.bundle(out, 2**30, CONFINED).failed
    if reason == HOSTILE["endless"][2]:
        assert failed["00000"].startswith(reason)
        assert not [*out.glob("*.bundle*")]
    else:
        assert failed == {}, "that costs no process here"
    assert not left_running()


def test_no_memory_is_put_down_to_the_shards_that_take_most(built: tuple[Path, Path], tmp_path: Path) -> None:
    """And not to the small one whose turn it was."""
    out = Path(shutil.copytree(built[1], tmp_path / "shards"))
    for name, rows in (("api", 1250), ("lib", 850)):
        with_table(out / f"{name}.shard", tmp_path / name, "code", "imports", LARGE.format(rows))
    found = bundling.bundle(out, 2**29, CONFINED)
    assert (found.bundles, found.made, found.failed) == (1, 1, {})
    assert [each.is_left_out for each in bundled(out).members] == [True, True, False]


# A bundler that was taken over: it fills each file as far as the kernel lets it, and then its memory.
GREEDY = """#!{python} -I
import os, time
from fledgling.messages.bundling import Bundle, Export
from fledgling.messages.control import Ready
from fledgling.pipe import Pipe
from fledgling.worker.bundler.opening import confined
pipe = Pipe(Bundle | Export)
order = pipe.receive()
pipe.send(Ready(confined(order)))
for fd in (order.level_fd, order.tables_fd):
    for at in range(0, int(order.memory_limit * 0.875), 2**20):
        os.pwrite(fd, b"x" * 2**20, at)
kept = bytearray(b"x") * int(order.memory_limit * 0.5)
time.sleep(60)
"""


# One that is not held by what it says holds it, and says something of which the broker would make use.
UNHELD = """#!{python} -I
import time
from fledgling.messages.bundling import Bundle, Bundled, Exhausted, Export, TakenIndex
from fledgling.messages.control import Layer, Ready
from fledgling.pipe import Pipe
from fledgling.security.confinement import ROLES
pipe = Pipe(Bundle | Export)
pipe.receive()
layers = tuple(Layer(name, None) for name in ROLES["bundler"])
{says}
time.sleep(60)
"""
# What it says, and why there is no bundle then.
UNHELD_SAYS = {
    "that it is ready": ("pipe.send(Ready(layers))", " does not hold the bundler: the kernel says "),
    "which shard costs it": (
        "pipe.send(Ready(layers)); pipe.send(Exhausted(0))",
        " does not hold the bundler: the kernel says ",
    ),
    "that one is taken": ("pipe.send(TakenIndex())", "the process that reads its tables has ended"),
    "that all is done": ("pipe.send(Bundled())", "the process that reads its tables has ended"),
}


@pytest.mark.parametrize(("says", "reason"), UNHELD_SAYS.values(), ids=UNHELD_SAYS)
def test_nothing_is_made_of_what_a_bundler_says_that_is_not_held(
    built: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, reason: str
) -> None:
    out = Path(shutil.copytree(built[1], tmp_path / "shards"))
    (out / "00000.bundle").unlink()
    monkeypatch.setattr(sys, "executable", taken_over(tmp_path, UNHELD, says=says))
    monkeypatch.setattr(bundling, "TAKING_SECONDS", 20.0)
    failed = bundling.bundle(out, 2**29, CONFINED).failed
    assert list(failed) == ["00000"]
    assert reason in failed["00000"]
    assert not left_running()


def taken_over(tmp_path: Path, program: str, **values: str) -> str:
    """Write a program that is started in the place of a bundler."""
    path = tmp_path / "bundler"
    path.write_text(program.format(python=sys.executable, **values))
    path.chmod(0o700)
    return str(path)


def test_bundler_holds_no_more_than_memory_limit(
    built: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = Path(shutil.copytree(built[1], tmp_path / "shards"))
    (out / "00000.bundle").unlink()
    monkeypatch.setattr(sys, "executable", taken_over(tmp_path, GREEDY))
    monkeypatch.setattr(bundling, "MAX_LEFT_OUT", 0)
    failed = bundling.bundle(out, 2**29, CONFINED).failed
    assert failed == {"00000": "the process that reads its tables took more memory than there is"}
    assert not left_running()


# Seconds of taking a shard and of all, and why there is no bundle then of three shards of which two are endless.
TOO_LONG = {
    "not begun": (0.0, 600, "the process that reads its tables did not begin in time"),
    "nothing in time": (60, 0.0, "it was not done after 0 s"),
    "two processes": (8, 12, "it was not done after 12 s"),
}


@pytest.mark.parametrize(
    ("taking", "bundling_seconds", "reason"),
    [pytest.param(*row, id=name, marks=[pytest.mark.long] if row[0] == 8 else []) for name, row in TOO_LONG.items()],
)  # that one which is ended is followed by another, a row above shows, and that the end comes in time a row beside it
def test_bundle_that_takes_too_long_is_said_and_leaves_nothing(
    built: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    taking: float,
    bundling_seconds: float,
    reason: str,
) -> None:
    out = Path(shutil.copytree(built[1], tmp_path / "shards"))
    (out / "00000.bundle").unlink()
    for name in ("api", "lib"):
        with_table(out / f"{name}.shard", tmp_path / name, "code", "imports", HOSTILE["endless"][0])
    monkeypatch.setattr(bundling, "TAKING_SECONDS", taking)
    monkeypatch.setattr(bundling, "BUNDLING_SECONDS", bundling_seconds)
    assert bundling.bundle(out, 2**30, CONFINED).failed == {"00000": reason}
    assert not [*out.glob("*.bundle*")]
    assert not left_running()
