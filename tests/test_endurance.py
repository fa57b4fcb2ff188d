"""What a long life does: processes killed at random instants, and many calls. Minutes each, so marked `long`."""

import asyncio
import random
import signal
import statistics
import time

import psutil
import pytest
from conftest import connected
from running import (
    CALLS,
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

from fledgling.wire import Refusal

pytestmark = pytest.mark.long

WORKER_KILLS, BROKER_KILLS, SOAK_CALLS = 1000, 200, 100_000
AT_ONCE = 8  # calls of a soak that wait together
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


@pytest.mark.anyio
async def test_workers_killed_at_random_instants(project, record_testsuite_property):
    """While calls go on: an answer is the right one or the one clear error, and the next one is right."""
    dice = random.Random(1)
    seconds = []
    async with connected(project) as client:
        expected = [(await client.call_tool(*call)).model_dump_json() for call in CALLS]
        for _ in range(WORKER_KILLS):
            calls = [dice.randrange(len(CALLS)) for _ in range(dice.randrange(1, 9))]
            asked = [asyncio.create_task(client.call_tool(*CALLS[call])) for call in calls]
            await asyncio.sleep(dice.random() * 0.03)
            for worker in back_processes(broker(), QUERY_WORKER):
                worker.kill()
            for call, answer in zip(calls, await asyncio.gather(*asked), strict=True):
                assert answer.is_error or answer.model_dump_json() == expected[call]
            begun = time.monotonic()
            assert (await client.call_tool(*CALLS[0])).model_dump_json() == expected[0]
            seconds.append(time.monotonic() - begun)
        assert [(await client.call_tool(*call)).model_dump_json() for call in CALLS] == expected
        assert len(opened(broker())) < 20
    record_testsuite_property("recovery median ms", round(1000 * statistics.median(seconds)))
    record_testsuite_property("recovery p99 ms", round(1000 * statistics.quantiles(seconds, n=100)[-1]))


@pytest.mark.anyio
async def test_brokers_killed_at_random_instants(project, record_testsuite_property):
    """At any moment from the first import to a call at work: nothing of it is left."""
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
    assert [child for child in psutil.Process().children(recursive=True) if is_alive(child)] == []
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
        await all_at_once(WARM)
        before = held(worker, me)
        await all_at_once(SOAK_CALLS)
        after = held(worker, me)
        assert [worker] == back_processes(me, QUERY_WORKER)
    grown = [new - old for new, old in zip(after, before, strict=True)]
    record_testsuite_property("worker, broker: bytes; worker, broker: descriptors; threads", grown)
    assert grown[0] < WORKER_GROWTH
    assert grown[1] < BROKER_GROWTH
    assert grown[2:] == [0, 0, 0]
