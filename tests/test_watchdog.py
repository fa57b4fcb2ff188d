"""A process that gets no processor is not taken for one that hangs; what hangs is ended all the same.

Each of them is a real process; one is starved by another that never rests on the same processor.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import psutil
import pytest
from running import ENDLESS, FOLLOWER, PATIENCE, QUERY_WORKER, answered, first, fronted, starved, until

from fledgling.broker import following, query_worker, watchdog
from fledgling.broker.breaker import DEADLY
from fledgling.broker.watchdog import within
from fledgling.messages.answers import Hits, Refusal
from fledgling.messages.questions import Query, Search

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="the kernel does not show who waits for a processor"),
]

LIMIT = 0.3  # seconds
MEANWHILE = 2.5 * LIMIT  # in which one that is starved does not run for LIMIT
RUNS = "while True: pass"
WAITS = "import time; time.sleep(1000)"
FORKED = "import os\nif os.fork():\n    os.wait()\n"
BRIEFLY = """import os, threading, time
def run():
    begun = time.monotonic()
    while time.monotonic() < begun + 0.01: pass
while True:
"""
CHILDREN = f"{BRIEFLY}    if os.fork(): os.wait()\n    else: run(); os._exit(0)"
THREADS = f"{BRIEFLY}    each = threading.Thread(target=run); each.start(); each.join()"

# What a process does, whether it is starved, and by which signal which of it is stopped; then whether it has hung.
KINDS = {
    "waits": (WAITS, False, None, True),
    "runs": (RUNS, False, None, True),
    "is stopped": (RUNS, False, 0, True),
    "waits for one that waits": (f"{FORKED}{WAITS}", False, None, True),
    "waits for one that is stopped": (f"{FORKED}{RUNS}", False, 1, True),
    "runs on a thread": (
        f"import threading; threading.Thread(target=exec, args=({RUNS!r},)).start()",
        False,
        None,
        True,
    ),
    "runs in one child after the other": (CHILDREN, False, None, True),
    "runs on one thread after the other": (THREADS, False, None, True),
    "is starved": (RUNS, True, None, False),
    "is starved and waits": (WAITS, True, None, True),
    "is starved and stopped": (RUNS, True, 0, True),
    "waits for one that is starved": (f"{FORKED}{RUNS}", True, None, False),
    "is starved on a thread": (
        f"import threading; threading.Thread(target=exec, args=({RUNS!r},)).start()",
        True,
        None,
        False,
    ),
}
ALIKE = {"runs on a thread", "is starved on a thread"}  # as on its first one, or on one after the other


@pytest.fixture
def process(request: pytest.FixtureRequest) -> Iterator[psutil.Process]:
    started = subprocess.Popen([sys.executable, "-I", "-c", request.param], start_new_session=True)
    yield psutil.Process(started.pid)
    os.killpg(started.pid, signal.SIGKILL)  # children that end meanwhile too
    started.wait()


@pytest.mark.parametrize(
    ("process", "is_starved", "stopped", "hangs"),
    [pytest.param(*row, id=name, marks=[pytest.mark.long] if name in ALIKE else []) for name, row in KINDS.items()],
    indirect=["process"],
)
async def test_only_what_hangs_is_given_up(process, is_starved, stopped, hangs) -> None:
    await asyncio.sleep(0.1)  # it loads
    await until(lambda: [process, *process.children()][stopped or 0 :])
    if stopped is not None:
        [process, *process.children()][stopped].send_signal(signal.SIGSTOP)
    with starved(process) if is_starved else nullcontext():
        begun = time.monotonic()
        try:
            async with within(LIMIT, lambda: process.pid):
                await asyncio.sleep(PATIENCE if hangs else MEANWHILE)
        except TimeoutError:
            assert hangs
            assert time.monotonic() - begun >= LIMIT
            assert sum(process.cpu_times()[:4]) < 4 * LIMIT  # it has not taken STARVED times as long
        else:
            assert not hangs


@pytest.mark.parametrize("process", [RUNS], indirect=True, ids=["runs"])
async def test_one_that_is_starved_is_given_up_in_the_end(process, monkeypatch) -> None:
    monkeypatch.setattr(watchdog, "STARVED", 2)
    begun = time.monotonic()
    with starved(process), pytest.raises(TimeoutError):
        async with within(LIMIT, lambda: process.pid):
            await asyncio.sleep(60)
    assert time.monotonic() - begun >= 2 * LIMIT


@pytest.mark.parametrize("process", [RUNS], indirect=True, ids=["runs"])
async def test_looks_between_ticks_count_all_that_it_runs(process, monkeypatch) -> None:
    monkeypatch.setattr(watchdog, "LOOKS", 100)
    await until(lambda: process.cpu_times().user > LIMIT)
    before = process.cpu_times().user
    with pytest.raises(TimeoutError):
        async with within(LIMIT, lambda: process.pid):
            await asyncio.sleep(PATIENCE)
    assert process.cpu_times().user - before < 2 * LIMIT


@pytest.mark.long  # it waits for one that has a hundredth of a processor, or less where others run
async def test_follower_that_is_starved_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text("needle = 1\n")
    async with fronted(tmp_path, is_followed=True) as (front, _):
        await answered(front, Search("needle"))
        follower = await first(psutil.Process(), FOLLOWER)
        monkeypatch.setattr(following, "SHARE", 10**6)  # where looks are shared, none of these calls would look
        monkeypatch.setattr(following, "SILENT_SECONDS", 0.2)
        monkeypatch.setattr(watchdog, "STARVED", 1000)
        with starved(follower):
            for number in range(5):
                (tmp_path / "b.py").write_text("needle\n" * number)
                found = await answered(front, Search("needle"))
                assert isinstance(found, Hits)
                assert found.total == 1 + number
        assert [follower] == [await first(psutil.Process(), FOLLOWER)]


async def test_worker_that_is_starved_lives_to_end_a_call(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is the call blamed: it is put again and again."""
    profile = tmp_path / "hasty.sql"
    profile.write_text("SET extends = 'fledgling-analyst'; SET query_timeout = 0.2;")
    async with fronted(project, profile, {"freshness": "off"}) as (front, indexing):
        await indexing.built()
        await answered(front)
        worker = await first(psutil.Process(), QUERY_WORKER)
        monkeypatch.setattr(query_worker, "STARVED", 1000)
        with starved(worker):
            for _ in range(DEADLY + 1):
                refused = await front.ask(Query(ENDLESS))
                assert isinstance(refused, Refusal)
                assert refused.kind == "timeout"
                await until(lambda: not front._workers.current._stopping)
        await answered(front, Query("SELECT 1"))
        assert worker == await first(psutil.Process(), QUERY_WORKER)
