"""A server stays up whoever dies while the index is built: it is built once more, and then the server says so."""

import asyncio
import re
from contextlib import suppress
from typing import get_args

import psutil
import pytest
from conftest import DEFINED, STAGED, stage
from running import (
    INDEXER,
    QUERY_WORKER,
    Server,
    back_processes,
    building,
    children_of,
    first,
    is_alive,
    opened,
    until,
    words_of,
)

from fledgling.broker.indexing import indexing as indexing_module
from fledgling.broker.indexing import relating
from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.indexing.indexing import UNFINISHED
from fledgling.messages.answers import Refusal, Relations, Table
from fledgling.messages.control import Progress
from fledgling.messages.generations import CODE, EDGES, GRAPH, TEXT
from fledgling.messages.inner_answers import Overview
from fledgling.messages.questions import Explore, Query, Search, Symbols

WARNED = "the index is built once more"
GIVEN_UP = re.compile(
    r"the index could not be built, and is not tried again: (.*?): it (was killed by SIGKILL|exited with status \d+); "
    r"the second time (.*?): it (was killed by SIGKILL|exited with status \d+)"
)


@pytest.fixture(scope="module")
def patient(tmp_path_factory):
    """A profile under which a call waits for two builds on a busy machine."""
    profile = tmp_path_factory.mktemp("profile") / "patient.sql"
    profile.write_text("SET tools = 'explore, search, symbols'; SET query_timeout = 600;")
    return profile


# ---- who is who ------------------------------------------------------------------------------------------------------


def indexers(server):
    return [process for process in children_of(server) if words_of(process)[-1:] == [INDEXER] and is_alive(process)]


def forked(server, holds_root):
    """Children of the indexer: the lister holds the root, the process above the extractors does not."""
    found = []
    for indexer in indexers(server):
        for child in children_of(indexer):
            with suppress(psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
                held = [where for fd, where in opened(child).items() if where.startswith("/") and "memfd" not in where]
                if is_alive(child) and bool(held) == holds_root:
                    found.append(child)
    return found


def extractors(server):
    return [child for above in forked(server, holds_root=False) for child in children_of(above) if is_alive(child)]


ROLES = {
    "indexer": indexers,
    "lister": lambda server: forked(server, holds_root=True),
    "extractors' parent": lambda server: forked(server, holds_root=False),
    "extractor": lambda server: extractors(server)[:1],
}
MOMENTS = ("start", "walk", "read", "extract", "words")
KILLS = [(role, moment) for role in ROLES for moment in MOMENTS if role != "lister" or moment == "start"]
# An indexer that is killed at its start is one of a server, below.
QUICK = {("lister", "start"), ("extractors' parent", "read"), ("extractor", "extract"), ("indexer", "words")}
QUICK_TWICE = {("indexer", "extract")}


def rows(quick, roles=tuple(ROLES)):
    """Parameters of a test: each costs two builds, so all but some of each kind are long."""
    return [
        pytest.param(role, moment, id=f"{role}, {moment}", marks=[] if (role, moment) in quick else [pytest.mark.long])
        for role, moment in KILLS
        if role in roles
    ]


STAGES = ("start", *get_args(Progress.__annotations__["stage"]))


def is_past(indexing, moment):
    """Whether a build has gone on to a later stage."""
    return indexing.progress and STAGES.index(indexing.progress.stage) > STAGES.index(moment)


async def killed(server, role, indexing):
    """Kill a process of this role as soon as there is one, and return its id; None where there will be none."""
    while indexers(server) and not (role == "lister" and is_past(indexing, "walk")):
        with suppress(psutil.NoSuchProcess):
            for process in ROLES[role](server):
                process.kill()
                return process.pid
        await asyncio.sleep(0.004)
    return None


async def at(indexing, moment):
    """Wait until a build is in a stage, or past it."""
    await until(
        lambda: (
            moment == "start"
            or (indexing.progress and STAGES.index(indexing.progress.stage) >= STAGES.index(moment))
            or indexing.is_over
        )
    )


CALLS = (  # what they need: the listing, the text, the definitions, the words
    Explore(),
    Search("needle 77", context=0),
    Symbols(name_pattern="f77_*"),
    Search("needle", mode="meaning"),
)
WHOLE = (STAGED, 11 * DEFINED, DEFINED, True)


async def asked(front):
    """What the answers to all CALLS count, put at once; a refusal as it is."""
    explored, found, symbols, ranked = await asyncio.gather(*map(front.ask, CALLS))
    return (
        explored if isinstance(explored, Refusal) else explored.summary.total_files,
        found if isinstance(found, Refusal) else found.total,
        symbols if isinstance(symbols, Refusal) else symbols.total,
        ranked if isinstance(ranked, Refusal) else bool(ranked.files),
    )


@pytest.mark.anyio
@pytest.mark.parametrize(("role", "moment"), rows(QUICK))
async def test_a_build_that_loses_a_process_is_made_once_more(staged, patient, role, moment, caplog):
    """Every call that waits is answered, by the first build or the second."""
    me = psutil.Process()
    descriptors = len(opened(me))
    async with building(staged, patient) as (front, indexing):
        waiting = asyncio.create_task(asked(front))
        await at(indexing, moment)
        pid = await killed(me, role, indexing)
        answers = await waiting
        await indexing.built()
        again = await asked(front)
    assert pid or (role, moment) not in QUICK
    assert answers[:2] == again[:2] == WHOLE[:2]
    if role == "extractor":  # it may have cost a batch of files, or nothing
        assert again[2] in (0, WHOLE[2])
    else:
        assert moment != "start" or WARNED in caplog.text  # later it may have done its part
        assert answers[2:] == again[2:] == WHOLE[2:]
    assert len(opened(me)) <= descriptors


@pytest.mark.anyio
@pytest.mark.parametrize(("role", "moment"), rows(QUICK_TWICE, ("indexer", "lister", "extractors' parent")))
async def test_a_build_that_loses_a_process_twice_is_given_up_in_words(staged, patient, role, moment):
    """What was sealed by then goes on serving, and all else is refused with what happened."""
    me = psutil.Process()
    async with building(staged, patient) as (front, indexing):
        waiting = asyncio.create_task(asked(front))
        await at(indexing, moment)
        first = await killed(me, role, indexing)
        await until(
            lambda: (
                indexing.is_over or first is None or indexing.state().startswith("the index is being built once more")
            )
        )
        await at(indexing, moment)
        second = await killed(me, role, indexing)
        answers = await waiting
        with suppress(IndexingError):
            await indexing.built()
        again = await asked(front)
    for answer in (*answers, *again):
        if isinstance(answer, Refusal):
            assert GIVEN_UP.fullmatch(answer.reason), answer
            assert answer.next_step == "Start Fledgling again; see its log."
    if first and second:
        assert isinstance(again[3 if moment == "words" else 2], Refusal)


@pytest.mark.anyio
async def test_a_build_that_takes_too_long_is_ended_and_what_it_has_sealed_is_served(staged, patient, monkeypatch):
    monkeypatch.setattr(indexing_module, "BUILD_SECONDS", 2.0)
    async with building(staged, patient) as (front, indexing):
        with suppress(IndexingError):  # on a busy machine its time is over before
            await indexing.sealed(TEXT)
        for process in back_processes(psutil.Process(), INDEXER):
            process.suspend()
        answers = await asked(front)
        await until(lambda: indexing.is_over)
        await until(lambda: not back_processes(psutil.Process(), INDEXER))
        for answer, count in zip(answers, WHOLE, strict=True):
            if isinstance(answer, Refusal):
                assert answer.reason == "the index was not complete after 2 s, and its build was ended"
            else:
                assert answer == count
        newest = indexing.newest_or_none()
        while newest and newest.number < CODE and (await front.ask(Explore())).note != UNFINISHED:
            assert len(back_processes(psutil.Process(), QUERY_WORKER)) >= 1


@pytest.mark.anyio
async def test_a_graph_that_takes_too_long_is_done_without(project, patient, monkeypatch):
    """Who asks for the uses of a definition hears why there are none, and all else is answered."""
    monkeypatch.setattr(relating, "RELATING_SECONDS", 0.0)
    async with building(project, patient) as (front, indexing):
        await indexing.built()
        refused = await front.ask(Symbols(symbol="Engine", relation="callers"))
        assert isinstance(refused, Refusal)
        assert refused.reason == "the uses of definitions could not be resolved: this was not finished after 0 s"
        overview = await front.survey()
        assert isinstance(overview, Overview)
        assert overview.calls.missing == f"Which function calls which is not known: {refused.reason}."
        assert not isinstance(await front.ask(Symbols("src/core/engine.py")), Refusal)
        await until(lambda: not back_processes(psutil.Process(), INDEXER))


async def resolvers_killed(indexing, times):
    """Kill what resolves, as soon as it is heard of; return how often."""
    kills, last = 0, None
    while kills < times and GRAPH not in indexing._sealed and indexing._no_graph is None:
        progress = indexing.progress
        if (
            progress is not last and progress.stage == "relate" and progress.done > progress.total // 3
        ):  # facts are there
            last = progress
            with suppress(psutil.NoSuchProcess):
                for process in extractors(psutil.Process()):
                    process.kill()
                    kills += 1
        await asyncio.sleep(0.004)
    return kills


@pytest.mark.anyio
@pytest.mark.parametrize("times", [pytest.param(1, marks=pytest.mark.long), 100])  # once: tests/test_row_makers.py
async def test_a_graph_whose_resolver_is_lost_is_made_once_more(tmp_path, patient, times):
    """Then of half of the files: that is said, and not that the graph is too large for memory_limit."""
    async with building(stage(tmp_path, STAGED // 3), patient) as (front, indexing):
        await indexing.built()
        asked = asyncio.create_task(front.ask(Symbols(symbol="f1_1", relation="callers")))
        kills = await resolvers_killed(indexing, times)
        found = await asked
        last = await front.ask(Symbols(symbol="f9_1", relation="callers"))  # of the half that is left out
    assert kills
    note = found.note if isinstance(found, Relations) else found.reason
    assert "memory_limit" not in (note or "")
    if times > 1:  # within a message it takes the extractors along
        why = "resolves them ended unexpectedly, more than once|extractors' parent of the index ended"
        assert re.search(why, note)
        assert re.search(why, last.reason)


@pytest.mark.anyio
@pytest.mark.parametrize("is_killed", [True, pytest.param(False, marks=pytest.mark.long)])  # others get their tables
async def test_uses_are_answered_before_there_are_tables_of_them(tmp_path, is_killed):
    """Who asks for those waits, or hears that there will be none; what needs neither is answered as ever."""
    profile = tmp_path / "patient.sql"
    profile.write_text("SET tools = 'symbols, query'; SET query_timeout = 600;")
    callers = Symbols(symbol="f1_1", relation="callers")
    root = tmp_path / "staged"
    root.mkdir()
    async with building(stage(root, STAGED // 4), profile) as (front, indexing):
        await indexing.sealed(GRAPH)
        [indexer] = back_processes(psutil.Process(), INDEXER)
        indexer.suspend()
        tables = asyncio.create_task(front.ask(Query("SELECT count(*) FROM calls")))
        assert isinstance(before := await front.ask(callers), Relations)
        assert isinstance(await front.ask(Query("SELECT count(*) FROM symbols")), Table)
        assert not await indexing.is_sealed(EDGES, 0)
        assert not tables.done()
        assert indexing.state() == "the index is still being built: tables of uses are being filled"
        indexer.kill() if is_killed else indexer.resume()
        found = await tables
        if is_killed:
            assert isinstance(found, Refusal)
            assert found.reason.startswith("the tables of uses could not be filled: the indexer ended before")
            assert found.next_step == "symbols(symbol, relation) answers without them."
        else:
            assert isinstance(found, Table)
        assert await front.ask(callers) == before


@pytest.mark.anyio
@pytest.mark.parametrize("kills", [1, 2])
async def test_a_server_whose_indexer_is_killed_at_once_stays_up(project, kills):
    """Before it has said a word: a client is greeted all the same, and hears what happened where there is no index."""
    with Server(project) as server:
        ended = set()
        while len(ended) < kills:
            for process in set(indexers(server.seen)) - ended:
                process.kill()
                ended.add(process)
            await asyncio.sleep(0.001)
        server.begin()
        for number, (tool, arguments) in enumerate([("explore", {}), ("symbols", {})]):
            server.call(number + 2, tool, arguments)
            answer = server.receive()["result"]
            assert answer.get("isError", False) == (kills == 2)
            if kills == 2:
                assert answer["content"][0]["text"].startswith("the index could not be built, and is not tried again: ")
        assert server.process.poll() is None


@pytest.mark.anyio
async def test_an_extractor_that_is_killed_while_it_waits_costs_nothing(staged, patient):
    """What was not put to it is put to the next one, and no answer is taken for that to another question."""
    async with building(staged, patient) as (front, _):
        indexer = await first(psutil.Process(), INDEXER)
        await until(lambda: extractors(psutil.Process()))
        indexer.suspend()  # it asks nothing
        for extractor in extractors(psutil.Process()):
            await until(lambda extractor=extractor: extractor.status() == psutil.STATUS_SLEEPING)
            extractor.kill()
            extractor.wait()
        indexer.resume()
        assert await asked(front) == WHOLE
