"""Building the shards of a list: the same on every engine, whoever fails or is slow."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import psutil
import pytest
from forking import fledgling
from running import GONE_SECONDS, PATIENCE
from test_fleet import NAMES, SECTIONS, manifest, states, write_repositories

from fledgling.broker.fleet import engines
from fledgling.broker.fleet.building import MAX_LIST, ListError, build, read_list, untouched
from fledgling.broker.fleet.engines import ENGINES, EngineMissingError
from fledgling.security import profile as profiles


def write_list(above: Path) -> Path:
    """Write the repositories, and a list of them and of one that is not there."""
    write_repositories(above)
    listed = above / "list"
    listed.write_text("# ours\n" + "".join(f"{above / name}\n" for name in NAMES) + f"\ngone={above / 'nowhere'}\n")
    return listed


def digests(out: Path) -> dict[str, dict[str, str]]:
    """Of each shard the hashes of its parts."""
    return {
        path.stem: {part.name: part.digest for part in manifest(path).parts if part.name in SECTIONS}
        for path in sorted(out.glob("*.shard"))
    }


ENGINE_SECONDS = 300  # for one build where engines are compared, on a slow machine too


def built(listed: Path, out: Path, *options: str, timeout: float = PATIENCE) -> tuple[int, dict[str, str]]:
    out.mkdir(mode=0o700, exist_ok=True)
    done = fledgling("fleet", "build", str(listed), "--out", str(out), "--json", *options, timeout=timeout)
    lines = [json.loads(line) for line in done.stdout.splitlines() if "repository" in line]
    return done.returncode, states({line["repository"]: line for line in lines})


BUILT = {**dict.fromkeys(NAMES, "built"), "gone": "failed"}


def test_list_is_built_a_failed_repository_is_said_and_those_without_a_change_are_left_alone(
    tmp_path: Path, repositories_and_shards: tuple[Path, Path]
) -> None:
    """All of them are built for `repositories_and_shards`."""
    listed, out = write_list(tmp_path), Path(shutil.copytree(repositories_and_shards[1], tmp_path / "out"))
    (out / "web.shard").unlink()
    assert built(listed, out) == (2, {**BUILT, "api": "unchanged", "lib": "unchanged"})
    assert set(digests(out)) == set(NAMES)
    profile = profiles.load("fledgling-core")
    named = [(name, str(tmp_path / name)) for name in NAMES]
    nothing = [*untouched(named, out, profile, time.time() - 3600)]
    left = [*untouched(named, out, profile, time.time() + 1)]
    wider = [*untouched(named[2:], out, profiles.load("fledgling-outie"), time.time() + 1)]
    assert [[of.repository for of in some] for some in (nothing, left, wider)] == [
        [], ["web"], []  # the others are of another directory
    ]  # fmt: skip


@pytest.mark.long  # each build takes a second; of what is since left alone, the test above asks who decides
def test_a_list_is_built_since_a_time(tmp_path: Path, repositories_and_shards: tuple[Path, Path]) -> None:
    listed, out = write_list(tmp_path), Path(shutil.copytree(repositories_and_shards[1], tmp_path / "out"))
    listed.write_text("".join(f"{tmp_path / name}\n" for name in NAMES))
    time.sleep(1.1)  # --since has whole seconds
    since = time.strftime("%Y-%m-%dT%H:%M:%S")
    (tmp_path / "lib" / "src" / "main.py").touch()
    (tmp_path / "web" / "src" / "deep").mkdir()
    (out / "api.shard").rename(out / "other.shard")
    assert built(listed, out, "--since", since) == (0, {"api": "built", "lib": "unchanged", "web": "unchanged"})
    listed.write_text(f"lib={tmp_path / 'other'}\nweb={tmp_path / 'link'}\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "web")
    later = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() + 60))
    assert built(listed, out, "--since", later) == (0, {"lib": "built", "web": "unchanged"})


def test_only_a_line_break_ends_a_line_of_a_list(tmp_path: Path) -> None:
    """A directory's name, which a stranger may have chosen, names no other one."""
    listed = tmp_path / "list"
    named = [f"/src/a{mark}b=/etc" for mark in "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\r"]
    listed.write_bytes("\r\n".join([*named, " # none", "\t/src/web "]).encode())
    assert read_list(listed) == [*named, "/src/web"]


def test_a_list_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    listed = tmp_path / "list"
    for more, bounds in ((0, nullcontext()), (1, pytest.raises(ListError, match="it has more than 16,777,216 bytes"))):
        listed.write_bytes(b"#" * (MAX_LIST + more))
        with bounds:
            assert read_list(listed) == []


def test_a_command_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "TASK_SECONDS", 0.0)
    assert engines.run(["--json"]) == (1, "", "it was not done after 0 s")


@pytest.mark.long
@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "local"])
def test_every_engine_builds_the_same(tmp_path: Path, engine: str) -> None:
    pytest.importorskip({"dask": "distributed", "ray": "ray"}[engine])
    listed = write_list(tmp_path / "repositories")
    home = {"HOME": str(tmp_path)}  # Ray writes to it
    assert built(listed, tmp_path / "local", timeout=ENGINE_SECONDS) == (2, BUILT)
    (tmp_path / "other").mkdir(mode=0o700)
    options = ["--out", str(tmp_path / "other"), "--json", "--engine", engine, "--workers", "2"]
    command = [sys.executable, "-I", "-B", "-m", "fledgling", "fleet", "build", str(listed), *options]
    environment = {"PATH": os.environ["PATH"], **home}
    done = subprocess.run(
        command, cwd="/", env=environment, capture_output=True, text=True, timeout=ENGINE_SECONDS, check=False
    )
    found = states({of["repository"]: of for of in map(json.loads, done.stdout.splitlines()) if "repository" in of})
    assert (done.returncode, found) == (2, BUILT), done.stderr
    assert digests(tmp_path / "other") == digests(tmp_path / "local")


def test_a_straggler_does_not_hold_up_the_rest() -> None:
    slow = threading.Event()

    def run(command: list[str]) -> tuple[int, str, str]:
        if command[-1].startswith("slow="):
            slow.wait(PATIENCE)
        return 0, json.dumps({"repository": command[-1].partition("=")[0], "state": "built"}), ""

    with engines.ThreadPoolExecutor(2) as pool:
        engine = engines.Runner(lambda command: pool.submit(run, command), engines.as_completed)
        done = []
        for outcome in build(engine, [("slow", "/s"), *((f"r{n}", "/r") for n in range(20))], []):
            done.append(outcome.repository)
            if len(done) == 20:
                slow.set()
    assert done[-1] == "slow"


def test_build_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    above, out = tmp_path / "r", tmp_path / "out"
    out.mkdir(mode=0o700)
    for number, files in enumerate((1, 200)):  # the second takes far longer than to see that the first is done
        (above / f"r{number}").mkdir(parents=True)
        for file in range(files):
            (above / f"r{number}" / f"{file}.py").write_text(f"def f{number}(): ...\n" * 60)
    listed = tmp_path / "list"
    listed.write_text("".join(f"{above / f'r{number}'}\n" for number in range(2)))
    options = ["fleet", "build", str(listed), "--out", str(out), "--workers", "1"]
    building = psutil.Popen([sys.executable, "-I", "-B", "-m", "fledgling", *options], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + PATIENCE
    while not [*out.glob("*.shard")]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    building.suspend()  # it starts none of which nothing is known here
    below = building.children(recursive=True)
    building.send_signal(signal.SIGKILL)
    building.wait()
    _, alive = psutil.wait_procs(below, timeout=GONE_SECONDS)
    assert not alive
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("*.shard")}
    code, found = built(listed, out)
    assert code == 0
    assert set(found) == {"r0", "r1"}
    assert len(before) < 2, "it was killed before it was done"
    after = {path.name: path.stat().st_mtime_ns for path in out.glob("*.shard")}
    assert before.items() <= after.items(), "what was whole is not made again"
    assert sum(state == "unchanged" for state in found.values()) == len(before)
    assert [path.name for path in out.iterdir() if not path.name.endswith(".shard")] == ["00000.bundle"]


def test_a_command_whose_engine_ended_before_it_began_makes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "out").mkdir(mode=0o700)
    engine = subprocess.Popen(["true"])
    engine.wait()
    done = fledgling("fleet", "shard", "--parent", str(engine.pid), str(tmp_path / "a"), "--out", str(tmp_path / "out"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not [*(tmp_path / "out").iterdir()]


def test_command_that_was_killed_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = tmp_path / "count"
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\necho x >> {count}\n[ $(wc -l < {count}) -ge 3 ] || kill -9 $$\necho done\n")
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    assert engines.run(["--json"]) == (0, "done\n", "")
    count.unlink()
    program.write_text("#!/bin/sh\nkill -9 $$\n")
    assert engines.run(["--json"])[0] == -9


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--engine", "dask"], "Dask is not installed: pip install 'fledgling-lens[fleet]'"),
        (["--engine", "ray"], "Ray is not installed: pip install 'fledgling-lens[ray]'"),
        (["--address", "tcp://10.0.0.1:8786"], "the engine local has no address"),
    ],
)
def test_engine_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch, options: list[str], reason: str) -> None:
    for name in ("distributed", "ray"):
        monkeypatch.setitem(sys.modules, name, None)
    engine = options[1] if options[0] == "--engine" else "local"
    address = None if options[0] == "--engine" else options[1]
    with pytest.raises(EngineMissingError) as missing, ENGINES[engine](1, address):
        pass
    assert str(missing.value) == reason


def test_list_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    listed = tmp_path / "list"
    listed.write_bytes(b"\xff\xfe")
    with pytest.raises(ListError, match="not UTF-8"):
        read_list(listed)
    with pytest.raises(ListError, match="it is not a regular file"):
        read_list(Path("/dev/null"))
    os.mkfifo(tmp_path / "pipe")
    done = fledgling("fleet", "build", str(tmp_path / "pipe"), "--out", str(tmp_path))
    assert (done.returncode, "it is not a regular file; give a file" in done.stderr) == (2, True)
    listed.write_text("/a/web\n/b/web\n")
    done = fledgling("fleet", "build", str(listed), "--out", str(tmp_path))
    assert done.returncode == 2
    assert "two repositories are called web" in done.stderr
