"""What a long life does: processes killed at random instants, and many calls. Minutes each, so marked `long`."""

import asyncio
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import forking
import psutil
import pytest
from asking import said
from conftest import connected
from running import (
    CALLS,
    INDEXER,
    QUERY_WORKER,
    Server,
    anonymous_bytes,
    back_processes,
    broker,
    fronted,
    is_alive,
    opened,
    until,
)

from fledgling.messages.answers import Refusal
from fledgling.worker.query.calls import FORGET_CALLS

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("executed")]

WORKER_KILLS, BROKER_KILLS, BUILD_KILLS, SOAK_CALLS = 1000, 200, 60, 100_000
AT_ONCE = 8  # calls of a soak that wait together
LOOKS = 10  # at what is held, in each tenth of a soak that is looked at
WARM = 2000  # calls until what is kept for later is there: caches, threads, arenas
# Bytes that are nobody else's over a soak, after it has warmed up: 64 KiB for 10,000 calls of a worker.
WORKER_GROWTH, BROKER_GROWTH = 640 * 2**10, 2 * 2**20

# Wrong calls among right ones: each is refused, and leaves nothing behind either.
WRONG = [
    ("read", {"path": "../secret"}),
    ("read", {"path": "src/core/engine.py", "symbol": "nowhere"}),
    ("search", {"query": "(", "regex": True}),
    ("search", {"query": ""}),
    ("query", {"sql": "DROP TABLE files"}),
    ("symbols", {"cursor": "999999"}),
    ("nothing", {}),
]

STATEMENTS: list[tuple[str, dict[str, str]]] = [
    ("query", {"sql": "SELECT path, line_count FROM files ORDER BY path"}),
    ("query", {"sql": "SELECT count(*) FROM content WHERE regexp_matches(line_text, 'time.*')"}),
    ("query", {"sql": "SELECT kind, count(*) FROM symbols GROUP BY kind ORDER BY kind"}),
    ("query", {"sql": "SELECT f.path, max(s.name) FROM files f JOIN symbols s USING (path) GROUP BY ALL ORDER BY 1"}),
]


def tell(record, what, seconds):
    """Record how long something takes mostly, and at its worst but for one in a hundred."""
    record(f"{what}, median ms", round(1000 * statistics.median(seconds)))
    record(f"{what}, p99 ms", round(1000 * statistics.quantiles(seconds, n=100)[-1]))


@pytest.mark.anyio
async def test_workers_killed_at_random_instants(project, record_testsuite_property):
    """While calls go on: an answer is the right one or the one clear error, and the next one is right."""
    dice = random.Random(1)
    seconds = []
    async with connected(project) as client:
        expected = [said(await client.call_tool(*call)) for call in CALLS]
        held_before = len(opened(broker()))
        for _ in range(WORKER_KILLS):
            calls = [dice.randrange(len(CALLS)) for _ in range(dice.randrange(1, 9))]
            asked = [asyncio.create_task(client.call_tool(*CALLS[call])) for call in calls]
            await asyncio.sleep(dice.random() * 0.03)
            for worker in back_processes(broker(), QUERY_WORKER):
                worker.kill()
            begun = time.monotonic()
            for call, answer in zip(calls, await asyncio.gather(*asked), strict=True):
                assert answer.is_error or said(answer) == expected[call]
            assert said(await client.call_tool(*CALLS[0])) == expected[0]
            seconds.append(time.monotonic() - begun)
        assert [said(await client.call_tool(*call)) for call in CALLS] == expected
        assert len(opened(broker())) <= held_before + 3  # a worker, or another, may be about to end
    tell(record_testsuite_property, "from a kill to the next right answer", seconds)


@pytest.mark.anyio
async def test_brokers_killed_at_random_instants(project, record_testsuite_property):
    """At any moment from the first import to a call at work: nothing of it is left."""
    forking.begin()
    before = {*psutil.Process().children(recursive=True)}  # that others are forked from
    dice = random.Random(2)
    seconds = []
    for _ in range(BROKER_KILLS):
        with Server(project) as server:
            if dice.random() < 0.5:
                server.begin()
                server.call(2, *CALLS[dice.randrange(len(CALLS))])
            await asyncio.sleep(dice.random() * 1.5)
            left = back_processes(server.seen)
            server.process.send_signal(signal.SIGKILL)
            begun = time.monotonic()
            await until(lambda left=left: not any(map(is_alive, left)))
            seconds.append(time.monotonic() - begun)
    assert [each for each in {*psutil.Process().children(recursive=True)} - before if is_alive(each)] == []
    record_testsuite_property("until nothing is left, median ms", round(1000 * statistics.median(seconds)))
    record_testsuite_property("until nothing is left, worst ms", round(1000 * max(seconds)))


def held(worker, broker):
    """What two processes hold of what a call could leave behind: bytes, descriptors, threads."""
    return (
        *map(anonymous_bytes, (worker, broker)),
        *(len(opened(process)) for process in (worker, broker)),
        worker.num_threads(),
    )


@pytest.mark.anyio
@pytest.mark.parametrize("profile", ["fledgling-core", "fledgling-analyst"])
async def test_many_calls_leave_nothing_behind(project, profile, record_testsuite_property):
    dice = random.Random(3)
    right = CALLS + (STATEMENTS if profile == "fledgling-analyst" else [])
    async with fronted(project, profile) as (front, indexing):
        await indexing.built()
        expected = {number: await front.call(*call) for number, call in enumerate(right)}

        async def some(count):
            for _ in range(count):
                if dice.random() < 0.2:
                    assert isinstance(await front.call(*dice.choice(WRONG)), Refusal)
                else:
                    number = dice.randrange(len(right))
                    assert await front.call(*right[number]) == expected[number]

        async def all_at_once(count):
            await asyncio.gather(*(some(count // AT_ONCE) for _ in range(AT_ONCE)))

        me = psutil.Process()
        [worker] = back_processes(me, QUERY_WORKER)

        async def least(count):
            """What is held at least, seen now and then where no other call is at work as the engine forgets.

            It holds up to 20 MB more until it does, and what calls at work then have goes up and down by 2.
            """
            looks = []
            for _ in range(LOOKS):
                await all_at_once(count // LOOKS)
                for _ in range(2 * FORGET_CALLS):
                    await front.call(*CALLS[0])
                    looks.append(held(worker, me))
            return [min(each) for each in zip(*looks, strict=True)]

        await all_at_once(WARM)
        before = await least(SOAK_CALLS // 10)
        await all_at_once(SOAK_CALLS * 8 // 10)
        after = await least(SOAK_CALLS // 10)
        assert [worker] == back_processes(me, QUERY_WORKER)
    grown = [new - old for new, old in zip(after, before, strict=True)]
    record_testsuite_property("worker, broker: bytes; worker, broker: descriptors; threads", grown)
    assert grown[0] < WORKER_GROWTH
    assert grown[1] < BROKER_GROWTH
    assert grown[2:] == [0, 0, 0]


BUSY = "while True: pass"
BUSY_LOOPS, STARTS = 8, 500
START_SECONDS = 120.0  # for one of them, on a machine whose processors are lent five times over
ENDS = {  # command -> exit status, and the last line that says why, on standard error
    ("index",): (0, r"(fledgling: root .*)?"),
    ("search", "timeout"): (0, r"(fledgling: (root|waiting) .*)?"),
    ("symbols", "--kind", "class", "--json"): (0, r"(fledgling: (root|waiting) .*)?"),
    ("serve",): (0, r"fledgling: (root|indexed) .*"),
    ("index", "--profile", "{bad}"): (2, r"fledgling: bad\.sql:2: .*"),
    ("serve", "--profile", "{bad}"): (2, r"fledgling: bad\.sql:2: .*"),
    ("index", "--profile", "nowhere"): (2, r"fledgling: .*nowhere.*"),
}


@contextmanager
def busy_loops():
    """Processes that take all the processors there are."""
    loops = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(BUSY_LOOPS)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def test_starts_and_builds_beside_busy_loops_end_with_a_reason(project, tmp_path, record_testsuite_property):
    """An answer, or one line that says why there is none; and no word of a process that ends with another."""
    bad = tmp_path / "bad.sql"
    bad.write_text("SET tools = 'explore';\nCREATE VIEW files AS SELECT nonesuch FROM files;\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FLEDGLING_")}  # of tests
    dice = random.Random(4)
    seconds = []
    with busy_loops():
        for _ in range(STARTS):
            command = dice.choice([*ENDS])
            status, reason = ENDS[command]
            words = [word.format(bad=bad) for word in command]
            begun = time.monotonic()
            done = subprocess.run(  # noqa: PLW1510  (its status is looked at)
                [sys.executable, "-I", "-B", "-m", "fledgling", *words, "--root", str(project)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=START_SECONDS,
                env=environment,
            )
            seconds.append(time.monotonic() - begun)
            said = done.stderr.splitlines()
            assert done.returncode == status, (command, done.stderr)
            assert re.fullmatch(reason, said[-1] if said else ""), (command, done.stderr)
            assert not re.search(r"Error at|Traceback|has ended|ended before", done.stderr), (command, done.stderr)
            assert done.stdout or command[0] == "serve" or status, command
    record_testsuite_property("starts beside busy loops", STARTS)
    record_testsuite_property("starts beside busy loops, worst s", round(max(seconds), 1))


@pytest.mark.anyio
async def test_builds_lose_processes_at_random_instants(staged, record_testsuite_property):
    """Whoever is killed whenever, once or more often: the server stays, and says what it has or why not."""
    dice = random.Random(5)
    answers, refusals, seconds = 0, 0, []
    for _ in range(BUILD_KILLS):
        with Server(staged, stderr=subprocess.PIPE) as server:
            ended = None
            for _ in range(dice.randrange(1, 4)):
                await asyncio.sleep(dice.random() * 0.8)
                if running := back_processes(server.seen, INDEXER):
                    with suppress(psutil.NoSuchProcess):
                        dice.choice(running).kill()
                        ended = time.monotonic()
            server.begin()
            for number, call in enumerate([*CALLS[4:6], ("symbols", {"name_pattern": "f7_*"})]):
                server.call(number + 2, *call)
                answer = server.receive()["result"]
                answers += not answer.get("isError", False)
                if answer.get("isError"):
                    refusals += 1
                    assert "the index could not be built, and is not tried again" in answer["content"][0]["text"]
                elif ended:
                    seconds.append(time.monotonic() - ended)
            assert server.process.poll() is None
    assert answers
    record_testsuite_property("builds that lost processes: answers, refusals", [answers, refusals])
    tell(record_testsuite_property, "from the last kill to an answer", seconds)
