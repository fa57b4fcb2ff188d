"""Limits hold: time, memory, rows, bytes, calls at once. Whatever a call asks for ends, and the next is answered."""

import asyncio
import random
import time

import anyio
import pytest
from asking import structured, text
from conftest import connected
from running import CALLS, ENDLESS, QUERY_WORKER, Peak, broker, fronted, is_alive, query_worker, until

from fledgling.broker.front import MAX_CALLS
from fledgling.security import limits
from fledgling.wire import Query, Refusal
from fledgling.worker.server import CALL_THREADS

MEMORY, SECONDS, ROWS, BYTES = 256_000_000, 1.0, 100, 16_000
PROFILE = f"""
SET tools = 'explore, read, search, symbols, dependencies, query';
SET memory_limit = '256MB'; SET query_timeout = {SECONDS}; SET max_rows = {ROWS}; SET max_result_bytes = '16KB';
"""
SLACK = 0.7  # seconds that a busy machine may take to schedule who is due
TIMEOUT = (
    "the call took longer than the profile's query_timeout of 1 s. "
    "Ask for less at once: filter by path or language, or aggregate over fewer rows."
)
MEMORY_REFUSED = (
    f"the call needed more than the profile's memory_limit of {MEMORY} bytes. "
    "Ask for less at once: filter by path or language, aggregate, or select fewer columns."
)

# One call of the engine's for a whole vector of rows: two seconds in which no interrupt is heard.
DEAF = (
    "SELECT sum(levenshtein(left(repeat('ab', 500) || range, 1000), left(range || repeat('ba', 500), 1000))) "
    "FROM range(1000000)"
)
DOUBLED = "WITH RECURSIVE t(n, s) AS (SELECT 0, {start} UNION ALL SELECT n + 1, s || s FROM t WHERE n < {times}) "

SLOW = {
    "joins without end": ENDLESS,
    "a product of ranges": "SELECT sum(a.range * b.range) FROM range(10000000) a, range(1000000) b",
    "recursion without end": "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t",
}

BOMBS = {
    "a sort of a billion": "SELECT * FROM range(1000000000) a ORDER BY hash(a.range) DESC",
    "a window": "SELECT max(s) FROM (SELECT sum(range) OVER (ORDER BY hash(range)) s FROM range(30000000))",
    "a list of two billion": "SELECT len(range(2000000000))",
    "a sorted list": "SELECT len(list_sort(list_transform(range(50000000), lambda x: hash(x))))",
    "a list without its doubles": "SELECT len(list_distinct(list_transform(range(50000000), lambda x: hash(x))))",
    "a list in a list": "SELECT list_sum(list_transform(range(100000), lambda x: len(range(100000 + x))))",
    "a histogram": "SELECT list_aggregate(range(60000000), 'histogram')",
    "text doubled": DOUBLED.format(start="'x'", times=40) + "SELECT max(length(s)) FROM t",
    "lists doubled": DOUBLED.format(start="[1]", times=40) + "SELECT max(len(s)) FROM t",
    "text repeated": "SELECT repeat(repeat(repeat('a', 1000), 1000), 1000)",
    "text replaced": "SELECT replace(replace(repeat(repeat('a', 1000), 1000), 'a', repeat('b', 1000)), 'b', 'cc')",
    "text joined": "SELECT string_agg(a.line_text || b.line_text) FROM content a, content b, content c, content d",
    "rows in a list": "SELECT len(list(a.line_text || b.line_text)) FROM content a, content b, content c, content d",
    "a long text matched": DOUBLED.format(start="'ab'", times=26)
    + "SELECT regexp_replace(max(s), '(a|b)*c', '', 'g') FROM t",
    "a long text as JSON": DOUBLED.format(start="'[1],'", times=26) + "SELECT json_valid('[' || max(s) || '1]') FROM t",
}


@pytest.fixture(scope="module")
async def limited(anyio_backend, project, tmp_path_factory):
    profile = tmp_path_factory.mktemp("profile") / "limited.sql"
    profile.write_text(PROFILE)
    async with connected(project, "--profile", str(profile)) as client:
        await client.call_tool("explore", {})
        yield client


async def is_answered(client):
    summary = (await structured(client, "explore"))["summary"]
    assert (summary["total_files"], summary["total_lines"]) == (20, 125)


# ---- time -----------------------------------------------------------------------------------------------------------


@pytest.mark.anyio
@pytest.mark.parametrize("name", SLOW)
async def test_slow_call_ends_at_its_time_and_its_worker_lives(limited, name, record_testsuite_property):
    worker = query_worker(broker())
    begun = time.monotonic()
    ended = await limited.call_tool("query", {"sql": SLOW[name]})
    seconds = time.monotonic() - begun
    record_testsuite_property(f"overshoot ms, {name}", round(1000 * (seconds - SECONDS)))
    assert ended.is_error
    assert text(ended) == TIMEOUT
    assert SECONDS <= seconds < SECONDS + 0.05 + SLACK
    assert is_alive(worker)
    await is_answered(limited)


@pytest.mark.anyio
async def test_call_that_hears_no_interrupt_ends_with_its_worker(limited, record_testsuite_property):
    worker = query_worker(broker())
    begun = time.monotonic()
    ended = await limited.call_tool("query", {"sql": DEAF})
    seconds = time.monotonic() - begun
    record_testsuite_property("overshoot ms, deaf", round(1000 * (seconds - SECONDS)))
    assert ended.is_error
    assert text(ended) == TIMEOUT
    assert SECONDS <= seconds < SECONDS + limits.GRACE + SLACK
    await is_answered(limited)
    assert not is_alive(worker)


@pytest.mark.anyio
async def test_worker_that_stands_still_is_replaced(limited):
    worker = query_worker(broker())
    worker.suspend()
    begun = time.monotonic()
    ended = await limited.call_tool("search", {"query": "timeout"})
    assert text(ended) == TIMEOUT
    assert time.monotonic() - begun < SECONDS + limits.GRACE + SLACK
    await is_answered(limited)
    assert not is_alive(worker)


@pytest.mark.anyio
async def test_one_slow_call_holds_nobody_up_and_answers_do_not_mix(project):
    async with fronted(project, "fledgling-analyst") as (front, _):
        expected = [await front.call(tool, arguments) for tool, arguments in CALLS[:8]]
        slow = asyncio.create_task(front.ask(Query(ENDLESS)))
        for _ in range(3):
            asked = [front.call(tool, arguments) for tool, arguments in CALLS[:8]]
            assert await asyncio.gather(*asked) == expected
        assert not slow.done()
        slow.cancel()
        await asyncio.gather(slow, return_exceptions=True)


@pytest.mark.anyio
async def test_statements_at_work_at_once_get_each_its_own_answer(limited):
    async def ask(number):
        answer = await structured(limited, "query", sql=f"SELECT {number}, count(*) FROM range({number})")
        return answer["rows"]

    for begin in range(0, 200, 20):
        numbers = range(begin, begin + 20)
        assert await asyncio.gather(*map(ask, numbers)) == [[[number, number]] for number in numbers]


# ---- memory ---------------------------------------------------------------------------------------------------------


@pytest.mark.anyio
@pytest.mark.parametrize("name", BOMBS)
async def test_memory_bomb_is_refused_below_the_cap_and_the_next_call_answered(
    limited, name, record_testsuite_property
):
    with Peak(broker(), QUERY_WORKER) as peak:
        ended = await limited.call_tool("query", {"sql": BOMBS[name]})
    record_testsuite_property(f"peak MB, {name}", round(peak.bytes / 1e6))
    assert ended.is_error
    assert text(ended) in (MEMORY_REFUSED, TIMEOUT)  # the second on a machine that takes a second to fill the cap
    assert peak.bytes < limits.memory_cap(MEMORY)
    await is_answered(limited)


@pytest.mark.anyio
@pytest.mark.long
async def test_many_bombs_in_one_worker(limited):
    dice = random.Random(1)
    with Peak(broker(), QUERY_WORKER) as peak:
        for _ in range(300):
            ended = await limited.call_tool("query", {"sql": BOMBS[dice.choice(list(BOMBS))]})
            assert text(ended) in (MEMORY_REFUSED, TIMEOUT)
            await is_answered(limited)
    assert peak.bytes < limits.memory_cap(MEMORY)


# ---- rows and bytes -------------------------------------------------------------------------------------------------

# statement, rows in the answer, whether it was cut
CUT = {
    "one row too many": (f"SELECT range FROM range({ROWS + 1})", ROWS, True),
    "a billion rows": ("SELECT range FROM range(1000000000)", ROWS, True),
    "too many bytes": ("SELECT repeat('x', 999) FROM range(20)", 15, True),
    "one cell too large": ("SELECT repeat(repeat('x', 1000), 17)", 0, True),
    "all rows there may be": (f"SELECT range FROM range({ROWS})", ROWS, False),
    "almost all bytes": ("SELECT repeat('x', 999) FROM range(15)", 15, False),
    "no row": ("SELECT path FROM files WHERE path = 'nowhere'", 0, False),
}


@pytest.mark.anyio
@pytest.mark.parametrize("name", CUT)
async def test_rows_and_bytes_are_cut_and_a_cut_says_so(limited, name):
    statement, rows, is_cut = CUT[name]
    answer = await structured(limited, "query", sql=statement)
    assert (len(answer["rows"]), answer["row_count"], answer.get("truncated", False)) == (rows, rows, is_cut)
    assert ("Cut after" in answer.get("note", "")) == is_cut
    assert len(str(answer["rows"])) < BYTES + 1000


# ---- calls at once, and calls that nobody waits for -----------------------------------------------------------------


@pytest.mark.anyio
async def test_a_call_beyond_the_limit_hears_that_the_server_is_busy(project):
    async with fronted(project, "fledgling-analyst") as (front, _):
        expected = await front.call("explore", {})
        slow = [asyncio.create_task(front.ask(Query(ENDLESS))) for _ in range(CALL_THREADS)]
        others = [asyncio.create_task(front.call("explore", {})) for _ in range(MAX_CALLS - CALL_THREADS)]
        await asyncio.sleep(0.1)
        busy = await front.call("explore", {})
        assert isinstance(busy, Refusal)
        assert (busy.kind, busy.next_step) == ("busy", "Wait for an answer, then ask again.")
        for call in slow:
            call.cancel()
        assert await asyncio.gather(*others) == [expected] * (MAX_CALLS - CALL_THREADS)
        await asyncio.gather(*slow, return_exceptions=True)
        assert await front.call("explore", {}) == expected


async def idles(worker):
    """Whether a process has done nothing for a fifth of a second."""
    before = worker.cpu_times()
    await asyncio.sleep(0.2)
    after = worker.cpu_times()
    return after.user + after.system - before.user - before.system < 0.05


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_cancelled_call_ends_soon_and_the_next_is_answered(project, era):
    async with connected(project, "--profile", "fledgling-analyst", era=era) as client:
        await is_answered(client)
        for statement, is_heard in ((ENDLESS, True), (DEAF, False)):
            worker = query_worker(broker())
            busy = worker.cpu_times().user
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as group:
                    group.start_soon(client.call_tool, "query", {"sql": statement})
                    await until(lambda worker=worker, busy=busy: worker.cpu_times().user > busy + 0.2)
                    scope.cancel()
            if is_heard:
                await anyio.sleep(0.3)
                assert await idles(worker)
            else:
                await until(lambda worker=worker: not is_alive(worker), limits.GRACE + SLACK)
            await is_answered(client)


@pytest.mark.anyio
async def test_calls_cancelled_as_they_end_leave_the_clock_running(project, tmp_path):
    """Whoever ends a call may find it ended already: the time limit of later calls must not die of that."""
    profile = tmp_path / "limited.sql"
    profile.write_text(PROFILE)
    dice = random.Random(1)
    async with fronted(project, profile) as (front, _):
        await front.call("explore", {})
        for _ in range(100):
            calls = [asyncio.create_task(front.call(*CALLS[dice.randrange(len(CALLS))])) for _ in range(4)]
            await asyncio.sleep(dice.random() * 0.02)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
        before = front.call("explore", {})
        begun = time.monotonic()
        ended = await front.ask(Query(ENDLESS))
        assert ended.kind == "timeout"
        assert time.monotonic() - begun < SECONDS + limits.GRACE + SLACK
        assert (await before).summary.total_files == 20
