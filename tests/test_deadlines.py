"""Every call ends by query_timeout and GRACE, whoever is late: the index, a worker, a queue, the engine.

On a busy machine a timer is late, too: a call may be as late as a plain timer of the same process at the same time, and
after that by what the thread of both has waited for a processor.
"""

import asyncio
import re
import tomllib
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path

import forking
import psutil
import pytest
from asking import client_of
from mcp.types import PromptReference, ResourceTemplateReference
from running import FOLLOWER, INDEXER, QUERY_WORKER, answered, back_processes, building, first, fronted, until

from fledgling.broker import following
from fledgling.broker.breaker import Breaker
from fledgling.broker.front import MAX_SQL_CALLS
from fledgling.broker.protocol.resources import FILE_TEMPLATE
from fledgling.broker.refused import not_ready
from fledgling.broker.succession import Succession
from fledgling.messages.answers import Refusal
from fledgling.messages.generations import CODE, LISTING, TEXT, WORDS
from fledgling.messages.questions import Explore, Query, Read, Search, Symbols
from fledgling.security import limits

SECONDS = 0.3  # query_timeout
CALLS = 1000  # of the long test
TICKS = 0.001  # seconds that the clock of the loop and the arithmetic of a test may differ
STILL_SECONDS = 0.1  # by which a plain timer is late where the machine stood still
AFTER_SECONDS = 1.0  # that a call may take then: what ends it has to run first
STATEMENTS = tomllib.loads((Path(__file__).parent / "queries" / "slow.toml").read_text())
SLOW = [STATEMENTS["heard"][name] for name in ("joins without end", "recursion without end", "generated")]
DEAF = [STATEMENTS["deaf"][name] for name in ("reversed", "all matches")]
LATE = re.compile(
    r"the call took longer than the profile's query_timeout of 0.3 s"
    r"|the index is (still being built|being built once more, since .*): .*, and what this call needs was not ready "
    r"within the profile's query_timeout of 0.3 s"
    r"|no query worker was ready within the profile's query_timeout of 0.3 s"
    r"|the project was not checked for changes within the profile's query_timeout of 0.3 s"
    r"|the query worker does not start"
    r"|the query worker ended while it worked on this call"
    r"|\d+ query workers have ended one after the other"
    r"|\d+ calls are at work already"
)


@pytest.fixture(scope="module")
def hasty(tmp_path_factory):
    profile = tmp_path_factory.mktemp("profile") / "hasty.sql"
    profile.write_text(
        f"SET tools = 'explore, read, search, symbols, dependencies, query'; SET query_timeout = {SECONDS};"
    )
    return profile


# ---- how late a call is ----------------------------------------------------------------------------------------------


async def late(call):
    """What became of a call, and by how many seconds it passed what is promised, for which it alone is to blame."""
    loop = asyncio.get_running_loop()
    begun, promised = loop.time(), SECONDS + limits.GRACE
    timer = asyncio.create_task(asyncio.sleep(promised))
    fired = loop.create_future()
    timer.add_done_callback(lambda _: fired.set_result(loop.time() - begun - promised - waited()))
    found = await asyncio.gather(call, return_exceptions=True)
    passed = loop.time() - begun - promised
    if passed <= 0:
        timer.cancel()
        return found[0], passed
    timer_late = await fired
    call_late = passed - waited() - timer_late
    return found[0], max(0.0, call_late - AFTER_SECONDS) if timer_late > STILL_SECONDS else call_late


def waited():
    """For how many seconds this thread could have run so far and got no processor."""
    return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9


async def in_time(*calls):
    """What became of calls that are put at once; none of them may be late."""
    found = await asyncio.gather(*map(late, calls))
    for answer, passed in found:
        assert passed <= TICKS, (passed, answer)
        if isinstance(answer, Refusal) and answer.kind != "not_found":
            assert LATE.fullmatch(answer.reason), answer
            assert answer.next_step
    return [answer for answer, _ in found]


def mcp_calls(client):
    """What else a client asks that waits for the index: resources and completions; and a prompt, which does not."""
    of_file = ResourceTemplateReference(type="ref/resource", uri=FILE_TEMPLATE)
    of_symbol = PromptReference(type="ref/prompt", name="explain_symbol")
    return [
        client.read_resource("fledgling://overview"),
        client.read_resource("fledgling://file/d0/m0.py"),
        client.complete(of_file, {"name": "path", "value": "d1"}),
        client.complete(of_symbol, {"name": "symbol", "value": "f77"}),
        client.get_prompt("orient"),
    ]


QUESTIONS = (
    Explore(),
    Read("d0/m0.py"),
    Search("needle"),
    Search("f7", kind="function"),
    Symbols(),
    Query("FROM files"),
)
BESIDE_TEXT = (
    "Meanwhile ask explore or read (by path and lines, without symbol) or search (for text, without kind); "
    "ask this again later: the work goes on."
)


# ---- whoever is late -------------------------------------------------------------------------------------------------


@asynccontextmanager
async def held(root, profile, number=None):
    """A front whose indexer stands still once a generation is there; None: from its start, while it loads."""
    loading = forking.executing() if number is None else nullcontext()
    with loading:
        async with building(root, profile) as (front, indexing):
            indexer = await first(psutil.Process(), INDEXER)
            if number is not None:
                await indexing.sealed(number)
            indexer.suspend()
            try:
                yield front, indexing, indexer
            finally:
                for process in back_processes(psutil.Process(), INDEXER):
                    with suppress(psutil.NoSuchProcess):
                        process.resume()


@pytest.mark.anyio
@pytest.mark.parametrize(
    "number",  # of what waits beside a listing, tests/test_generations.py asks
    [None, pytest.param(LISTING, marks=pytest.mark.long), TEXT],
    ids=["nothing", "the listing", "the text"],
)
async def test_calls_that_wait_for_the_index_are_refused_in_time(staged, hasty, number):
    """With what is there, how far the rest is, and what can be asked meanwhile."""
    async with held(staged, hasty, number) as (front, indexing, _), client_of(front, "text") as client:
        answers = await in_time(*map(front.ask, QUESTIONS), *mcp_calls(client))
        newest = indexing.newest_or_none()
    refused = [answer for answer in answers[: len(QUESTIONS)] if isinstance(answer, Refusal)]
    assert newest is None if number is None else newest.number >= number
    if newest is None:
        assert len(refused) == len(QUESTIONS)
        assert {answer.next_step for answer in refused} == {"Ask this again later: the work goes on."}
    if number == TEXT and newest.number == TEXT:
        waited = [answer for answer in refused if answer.reason.startswith("the index is still being built: ")]
        assert len(waited) >= 3
        assert {answer.next_step for answer in waited} == {BESIDE_TEXT}


MEANWHILE = {  # what a question waits for, and what is answered already
    CODE: (Search("needle", mode="meaning"), ["search (for text, or with kind)", "symbols (without relation)"]),
    WORDS: (Symbols(symbol="f77_0", relation="callers"), ["symbols (without relation)"]),
}


@pytest.mark.anyio
@pytest.mark.parametrize("number", MEANWHILE)
async def test_who_waits_behind_definitions_hears_what_is_answered_already(staged, hasty, number):
    asked, answered = MEANWHILE[number]
    async with held(staged, hasty, number) as (front, indexing, _):
        assert indexing.newest().number == number
        refused = await front.ask(asked)
    assert isinstance(refused, Refusal)
    for each in answered:
        assert each in refused.next_step
    assert ("search" in refused.next_step) == (number == CODE)


@pytest.mark.anyio
@pytest.mark.parametrize("role", [pytest.param("lister", marks=pytest.mark.long), "extractor"])  # as if nothing was
async def test_calls_that_wait_for_a_process_that_stands_still_are_refused_in_time(staged, hasty, role):
    async with building(staged, hasty) as (front, _):
        forked = []
        while len(forked) < (1 if role == "lister" else 3):
            await asyncio.sleep(0.001)
            forked = back_processes(psutil.Process(), INDEXER)[1:]
        for process in forked:
            with suppress(psutil.NoSuchProcess):
                process.suspend()
        await in_time(*map(front.ask, QUESTIONS))


@pytest.mark.anyio
async def test_calls_that_wait_for_the_second_build_hear_of_the_first(staged, hasty):
    async with held(staged, hasty) as (front, _, indexer):
        indexer.kill()
        await until(lambda: back_processes(psutil.Process(), INDEXER) not in ([], [indexer]))
        for process in back_processes(psutil.Process(), INDEXER):
            process.suspend()
        for answer in await in_time(*map(front.ask, QUESTIONS)):
            assert "being built once more, since the indexer ended before the index was complete" in answer.reason


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("share", "asked"),
    [
        pytest.param(0, (Read("README.md"), Search("timeout")), id="looks before"),
        pytest.param(10**6, (Explore(),), id="looks behind"),
        pytest.param(10**6, (Read("README.md"), Search("timeout")), id="looks behind others", marks=pytest.mark.long),
        pytest.param(0, (Explore(),), id="looks before the map", marks=pytest.mark.long),
    ],
)
async def test_calls_are_in_time_though_the_follower_stands_still(project, hasty, share, asked, monkeypatch):
    """It is asked before an answer is looked for, or behind one that shares a look."""
    monkeypatch.setattr(following, "SHARE", share)
    async with fronted(project, hasty, is_followed=True) as (front, _):
        for question in asked:
            await answered(front, question)
            follower = await first(psutil.Process(), FOLLOWER)
            follower.suspend()
            for _ in range(2):
                [answer] = await in_time(front.ask(question))
                assert "not checked for changes" in answer.reason, question
            follower.resume()
            await answered(front, question)


@pytest.mark.anyio
async def test_one_of_very_many_definitions_of_a_name_is_read_in_time(tmp_path):
    (tmp_path / "again.py").write_text("def f(): 0\n" * 20_000)
    (tmp_path / "mixed.py").write_text("def f(): 0\ndef g(): 0\n" * 10_000)
    (tmp_path / "own.sql").write_text("SET extends = 'fledgling-core'; SET query_timeout = 5;")
    async with fronted(tmp_path, tmp_path / "own.sql") as (front, _):
        answer = await answered(front, Read("again.py", symbol="f"))
        assert answer.note == "f is defined 20000 times here, one after the other."
        refused = await front.ask(Read("mixed.py", symbol="f"))
        assert refused.reason.startswith("'f' names 10000 definitions in mixed.py: "), refused.reason
        assert refused.reason.endswith("; f(), lines 19-19; and 9,990 more"), refused.reason


async def slow(front):
    return await in_time(*(front.ask(Query(sql)) for sql in SLOW[:2]), front.ask(Explore()))


async def deaf(front):
    return await in_time(*(front.ask(Query(f"{sql} -- {front.turn}")) for sql in DEAF), front.ask(Explore()))


async def stopped_worker(front):
    for worker in back_processes(psutil.Process(), QUERY_WORKER):
        worker.suspend()
    return await in_time(front.ask(Search("needle")), front.ask(Explore()), front.ask(Query("SELECT 1")))


async def killed_worker(front):
    for worker in back_processes(psutil.Process(), QUERY_WORKER):
        worker.kill()
    return await in_time(*map(front.ask, QUESTIONS))


async def stopped_successor(front):
    """The worker ends, and the one that should take over stands still while it starts."""
    before = back_processes(psutil.Process(), QUERY_WORKER)
    for worker in before:
        worker.kill()
    asking = asyncio.create_task(in_time(front.ask(Explore()), front.ask(Symbols())))
    while not asking.done():
        for worker in {*back_processes(psutil.Process(), QUERY_WORKER)} - {*before}:
            worker.suspend()
        await asyncio.sleep(0.005)
    for worker in back_processes(psutil.Process(), QUERY_WORKER):
        worker.resume()
    return await asking


async def busy_queue(front):
    asked = [front.ask(Query(SLOW[2])) for _ in range(MAX_SQL_CALLS + 2)]
    return await in_time(*asked, front.ask(Explore()), front.ask(Search("needle")))


async def cancelled_neighbours(front):
    neighbours = [asyncio.create_task(front.ask(Query(f"{sql} -- {front.turn} cancelled"))) for sql in DEAF]
    await asyncio.sleep(0.05)
    for neighbour in neighbours:
        neighbour.cancel()
    return await in_time(front.ask(Query(SLOW[0])), front.ask(Explore()), front.ask(Symbols()))


async def breaker_pause(front):
    """Workers that end as soon as they are there, until no other is started for a while."""

    async def kill_all():
        while True:
            for worker in back_processes(psutil.Process(), QUERY_WORKER):
                with suppress(psutil.NoSuchProcess):
                    worker.kill()
            await asyncio.sleep(0.01)

    killing = asyncio.create_task(kill_all())
    try:
        return await in_time(*map(front.ask, QUESTIONS))
    finally:
        killing.cancel()


async def put_again(front):
    """A worker that stands still with calls it has not begun is killed within their time."""
    workers = back_processes(psutil.Process(), QUERY_WORKER)
    for worker in workers:
        worker.suspend()
    asking = asyncio.create_task(in_time(front.ask(Explore()), front.ask(Query("SELECT 1"))))
    await asyncio.sleep(SECONDS / 4)
    for worker in workers:
        worker.kill()
    return await asking


KINDS = [
    slow,
    deaf,
    stopped_worker,
    killed_worker,
    stopped_successor,
    busy_queue,
    cancelled_neighbours,
    put_again,
    breaker_pause,
]


@pytest.mark.anyio
async def test_a_worker_that_came_at_the_last_moment_was_late_where_nobody_looks(project, hasty):
    """The call waits for one that stands still, and another serves before it is refused."""
    async with fronted(project, hasty, {"freshness": "off"}) as (front, indexing):
        await indexing.built()
        await answered(front)
        spare = Succession(indexing, Breaker())
        assert await spare.replaced() is None
        before = {*back_processes(psutil.Process(), QUERY_WORKER)}
        front._workers.rest()
        asking = asyncio.create_task(front.ask(Explore()))
        await until(lambda: {*back_processes(psutil.Process(), QUERY_WORKER)} - before)
        for worker in {*back_processes(psutil.Process(), QUERY_WORKER)} - before:
            worker.suspend()
        front._workers.current = spare.current
        refused = await asking
    assert refused == not_ready(front.profile)


async def all_kinds(front, turn):
    """Each kind once, and how many calls that were."""
    front.turn, count = turn, 0
    for kind in KINDS:
        assert (await answered(front)).summary.total_files
        count += len(await kind(front))
    return count


@pytest.mark.anyio
async def test_calls_that_wait_for_a_worker_are_refused_or_answered_in_time(project, hasty):
    async with building(project, hasty) as (front, _):
        await all_kinds(front, 0)


@pytest.mark.anyio
@pytest.mark.long
async def test_a_thousand_slow_calls_end_in_time(project, staged, hasty, record_testsuite_property):
    count, turn = 0, 0
    while count < CALLS:
        async with (
            held(staged, hasty, [None, LISTING, TEXT][turn % 3]) as (front, _, _),
            client_of(front, "text") as client,
        ):
            count += len(await in_time(*map(front.ask, QUESTIONS), *mcp_calls(client)))
        async with building(project, hasty) as (front, _):
            count += await all_kinds(front, turn)
        turn += 1
    record_testsuite_property("slow calls in time", count)
