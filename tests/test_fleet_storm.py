"""A hundred kills of whoever builds or serves shards: nothing is half, nothing is lost, and nobody is left behind."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from forking import fledgling
from running import GONE_SECONDS, PATIENCE, QUERY_WORKER, Server, back_processes, is_alive
from test_fleet import SECTIONS, copied, manifest

from fledgling.broker.fleet import verified
from fledgling.broker.fleet.bundle import BUNDLE
from fledgling.security import memory_file

pytestmark = pytest.mark.long
BUILDS, SERVERS, REPOSITORIES = 60, 40, 6
COMMAND = [sys.executable, "-I", "-B", "-m", "fledgling", "fleet"]


def write(root: Path, version: int) -> None:
    root.mkdir(parents=True, exist_ok=True)
    (root / "a.py").write_text("".join(f"def f{n}_{version}():\n    return {n}\n\n\n" for n in range(400)))


def assert_whole(out: Path) -> None:
    """Every file is what somebody wrote to the end; what was being made has another name."""
    for path in out.glob("*.shard"):
        copied(path)
    for path in out.glob("*.bundle"):
        to = memory_file.create()
        with path.open("rb") as file:
            verified.copy_all(file.fileno(), verified.read(file.fileno(), BUNDLE).parts, to, 0, 2**30)
        os.close(to)


def gone(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=GONE_SECONDS)
    return not [each for each in alive if is_alive(each)]


def said(server: Server) -> str:
    """The text of the next answer."""
    return str(server.receive()["result"]["content"][0]["text"])


def test_build_is_whole_whoever_is_killed(tmp_path: Path) -> None:
    chance, above, out = random.Random(33), tmp_path / "sources", tmp_path / "out"
    out.mkdir(mode=0o700)
    roots = [above / f"r{number}" for number in range(REPOSITORIES)]
    for root in roots:
        write(root, 0)
    listed = tmp_path / "list"
    listed.write_text("".join(f"{root}\n" for root in roots))
    killed = {"scheduler": 0, "worker": 0}
    there: set[str] = set()
    for kill in range(BUILDS):
        write(chance.choice(roots), kill + 1)
        building = psutil.Popen(
            [*COMMAND, "build", str(listed), "--out", str(out), "--workers", "2"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(chance.uniform(0.2, 4))
        end = time.monotonic() + 20
        while not (below := building.children(recursive=True)) and building.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        victim = building if kill % 2 or not below else chance.choice(below)
        killed["scheduler" if victim is building else "worker"] += 1
        with suppress(psutil.NoSuchProcess):  # it was quicker
            victim.send_signal(signal.SIGKILL)
        if victim is building:
            building.wait()
            assert gone(below), "who builds ends with whoever started it"
        else:
            building.wait(timeout=PATIENCE)
        assert_whole(out)
        assert there <= {path.name for path in out.glob("*.shard")}, "what was there is there"
        there = {path.name for path in out.glob("*.shard")}
    done = fledgling("fleet", "build", str(listed), "--out", str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    fresh = tmp_path / "fresh"
    fresh.mkdir(mode=0o700)
    assert fledgling("fleet", "build", str(listed), "--out", str(fresh)).returncode == 0
    for root in roots:
        left, right = (manifest(where / f"{root.name}.shard") for where in (out, fresh))
        assert left.tree == right.tree
        assert [p.digest for p in left.parts if p.name in SECTIONS] == [
            p.digest for p in right.parts if p.name in SECTIONS
        ]
    assert {path.suffix for path in out.iterdir()} == {".shard", ".bundle"}
    assert min(killed.values()) >= BUILDS // 4, killed


def test_server_answers_or_is_gone_whoever_is_killed(tmp_path: Path) -> None:
    chance, out = random.Random(34), tmp_path / "out"
    out.mkdir(mode=0o700)
    for number in range(REPOSITORIES):
        write(tmp_path / f"r{number}", number)
    listed = tmp_path / "list"
    listed.write_text("".join(f"{tmp_path / f'r{number}'}\n" for number in range(REPOSITORIES)))
    assert fledgling("fleet", "build", str(listed), "--out", str(out)).returncode == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    kills = 0
    while kills < SERVERS:
        with Server(out, command=[*COMMAND, "serve", str(out)]) as server:
            server.begin()
            number = 1
            for _ in range(3):  # workers, and then the server itself
                number += 1
                server.call(number, "search", {"query": f"f7_{chance.randrange(REPOSITORIES)}(", "context": 0})
                time.sleep(chance.uniform(0, 0.2))
                for worker in back_processes(server.seen, QUERY_WORKER):
                    worker.send_signal(signal.SIGKILL)
                kills += 1
                answer = said(server)
                assert any(text in answer for text in ("a.py", "the query worker ended", "does not start")), answer
                end, answer = time.monotonic() + PATIENCE, ""
                while "r3/a.py" not in answer:
                    number += 1
                    server.call(number, "search", {"query": "def f9_3(", "context": 0})
                    answer = said(server)
                    assert time.monotonic() < end, answer
            number += 1
            server.call(number, "search", {"query": "return 3", "context": 0})
            time.sleep(chance.uniform(0, 0.05))
            below = server.seen.children(recursive=True)
            server.process.kill()
            server.process.wait()
            kills += 1
            assert gone(below)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before, "who serves writes nothing"
