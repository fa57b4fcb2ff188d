"""Generations: the map is served before a file is read, text while definitions are still being extracted.

Nothing is lost when the next generation comes, and no answer says what is not known yet.
"""

import asyncio
import os
import re
import time
from contextlib import asynccontextmanager, suppress

import msgspec
import psutil
import pytest
from asking import client_of, structured, text
from conftest import connected
from running import INDEXER, LOOK_SECONDS, PATIENCE, QUERY_WORKER, back_processes, broker, first, fronted, until
from trees import make

from fledgling.broker.front import PROGRESS_SECONDS
from fledgling.broker.indexing.indexing import UNFINISHED
from fledgling.broker.protocol import render, tools
from fledgling.broker.terms import Terms, due
from fledgling.messages.answers import (
    Directory,
    Exploration,
    FileEntry,
    Hits,
    Ranking,
    Refusal,
    Relations,
    Summary,
    SymbolList,
)
from fledgling.messages.generations import CODE, GRAPH, LISTING, TEXT, WORDS
from fledgling.messages.questions import Dependencies, Explore, Read, Search, Symbols
from fledgling.security import limits
from fledgling.worker.indexer.build import COUNTING, EXTRACTING, SMALL_BYTES
from fledgling.worker.lister.process import SMALL_FILES
from fledgling.worker.tools.request import EARLIER

FILES = 200
FUNCTIONS = 100  # a file; more than a megabyte of source in all, which takes half a second or more to parse


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A project too large for one generation: `target` is found in each file, and each defines FUNCTIONS functions."""
    root = tmp_path_factory.mktemp("large")
    for file in range(FILES):
        functions = (
            f"def function_{file}_{n}(value):\n    # target {n}\n    return [value, (value, {{}})]\n"
            for n in range(FUNCTIONS)
        )
        (root / f"module_{file:03}.py").write_text("\n".join(functions))
    assert sum(path.stat().st_size for path in root.iterdir()) > SMALL_BYTES
    return root


@pytest.mark.anyio
async def test_text_is_served_first_and_calls_go_on_while_definitions_come(large):
    """Every answer before, during and after the change is right; those of the first generation say what they lack.

    A map that was begun with text goes on without symbols.
    """
    search = Search("# target 7", context=0, max_results=1000)
    async with fronted(large) as (front, indexing):
        assert (await indexing.sealed(TEXT)).number == TEXT
        begun = await front.ask(Explore(cursor="1.1"))
        notes = []
        while not notes or notes[-1]:
            found = await front.ask(search)
            assert isinstance(found, Hits)
            assert (found.total, found.total_files) == (11 * FILES, FILES)
            assert bool(found.note) != any(file.enclosing for file in found.files)
            notes.append(found.note)
            await asyncio.sleep(LOOK_SECONDS)
        assert set(notes) == {EXTRACTING, None}
        later = await front.ask(Explore(cursor="1.1"))
        assert begun.note in (EXTRACTING, EARLIER)
        assert later.note == EARLIER
        assert begun.files == later.files
        assert {file.symbols for file in later.files} == {0}
        assert {file.lines for file in later.files} == {FUNCTIONS * 4 - 1}
        whole = await front.ask(Explore(cursor="1"))
        assert (whole.note, {file.symbols for file in whole.files}) == (None, {FUNCTIONS})
        refused = await front.ask(Explore(cursor="1.0"))
        assert refused.reason == "there is no map to continue with this cursor"
        assert (await indexing.sealed(TEXT)).number == TEXT
        assert (await indexing.sealed(CODE)).number == CODE


@pytest.mark.anyio
async def test_what_needs_definitions_waits_for_them(large):
    """Paths and text are all there: no error about a path and no empty search says that something is to come."""
    async with fronted(large) as (front, indexing):
        await indexing.sealed(TEXT)
        whole = Read("nowhere.py"), Explore("nowhere"), Search("nowhere", mode="text"), Read("module_007.py")
        for found in await asyncio.gather(*map(front.ask, whole)):
            assert "still being" not in (render.refusal(found) if isinstance(found, Refusal) else tools.text(found))
        asked = [
            front.ask(Explore()),
            front.ask(Read("module_007.py", start_line=1, end_line=2)),
            front.ask(Symbols(name_pattern="function_7_*", max_results=1000)),
            front.ask(Read("module_007.py", symbol="function_7_3")),
            front.ask(Search("function_7_", kind="function", max_results=1)),
        ]
        map_, lines, symbols, definition, named = await asyncio.gather(*asked)
        assert (map_.summary.total_files, map_.note) == (FILES, EXTRACTING)
        assert lines.lines == ["def function_7_0(value):", "    # target 0"]
        assert isinstance(symbols, SymbolList)
        assert (symbols.total, symbols.note) == (FUNCTIONS, None)
        assert definition.lines == ["def function_7_3(value):", "    # target 3", "    return [value, (value, {})]"]
        assert named.total == FUNCTIONS
        assert (await front.ask(Explore())).note is None


@pytest.mark.anyio
async def test_what_names_no_definition_is_refused_before_uses_are_known(tmp_path):
    """Nor does a name of several wait; what a class may have from above does."""
    functions = "\n".join(f"def f{n}(a):\n    return f{n + 1}(a).g(f{n // 2})\n" for n in range(60))
    tree = {f"m{n}.py": f"from m{n // 2} import *\n{functions}" for n in range(20)}
    tree |= {
        "a.py": "class A:\n    def run(self):\n        pass\n",
        "c.py": "from a import A\n\n\nclass C(A):\n    pass\n",
    }
    async with fronted(make(tmp_path, **tree)) as (front, indexing):
        await indexing.sealed(CODE)
        indexer = await first(psutil.Process(), INDEXER)
        indexer.suspend()
        assert not await indexing.is_sealed(GRAPH, 0)
        reasons = [(await front.ask(Symbols(symbol=name, relation="callers"))).reason for name in ("D.run", "f3")]
        asked = [Symbols(symbol="C.run", relation="callers"), Symbols(symbol="A.run", relation="callers")]
        waiting = [asyncio.create_task(front.ask(question)) for question in asked]
        done, _ = await asyncio.wait(waiting, timeout=0.3)
        indexer.resume()
        inherited, found = await asyncio.gather(*waiting)
    assert reasons[0].startswith("no definition 'D.run' in the index")
    assert reasons[1].startswith("'f3' names 20 definitions: function f3 (m0.py:11)")
    assert not done
    assert "C has it from method A.run (a.py:2)" in inherited.reason
    assert found.total == 0


@pytest.mark.anyio
async def test_a_question_that_no_line_answers_waits_for_ranks(large, monkeypatch):
    """Not for long: then it is told that no line holds it, and how it is answered."""
    question = Search("the value of a target")
    async with fronted(large) as (front, indexing):
        await indexing.sealed(TEXT)
        monkeypatch.setattr("fledgling.broker.front.RANKS_SECONDS", 0.01)
        soon = await front.ask(question)
        monkeypatch.setattr("fledgling.broker.front.RANKS_SECONDS", PATIENCE)
        found = await front.ask(question, Terms(time.monotonic() + PATIENCE))
    assert isinstance(soon, Hits)
    assert 'mode="meaning" waits for them' in soon.note
    assert isinstance(found, Ranking)
    assert found.files


@pytest.mark.anyio
async def test_definitions_do_not_wait_for_words(large):
    """Nor does anything but a question that files are ranked for; that is answered once words are there."""
    async with fronted(large) as (front, indexing):
        await indexing.sealed(CODE)
        indexer = await first(psutil.Process(), INDEXER)
        indexer.suspend()
        assert not await indexing.is_sealed(WORDS, 0)
        ranked = [Search("the value of a target"), Search("the value of a target", mode="meaning", path="module_00*")]
        waiting = [asyncio.create_task(front.ask(question, Terms(time.monotonic() + PATIENCE))) for question in ranked]
        asked = [
            Explore(),
            Explore(detail="summary"),
            Search("# target 7", context=0),
            Search("nowhere", mode="text"),
            Search("function_7_", kind="function"),
            Symbols(name_pattern="function_7_*"),
            Read("module_007.py", symbol="function_7_3"),
            Dependencies("module_007.py"),
        ]
        answers = await asyncio.gather(*map(front.ask, asked))
        done, _ = await asyncio.wait(waiting, timeout=0.3)
        indexer.resume()
        found = await asyncio.gather(*waiting)
    assert not any(isinstance(answer, Refusal) for answer in answers)
    assert EXTRACTING not in {answer.note for answer in answers}
    assert not done
    assert all(isinstance(each, Ranking) and each.files for each in found)


@pytest.mark.anyio
@pytest.mark.long  # to fill what there is room for takes megabytes of comments
async def test_words_that_do_not_fit_the_memory_are_missed_and_said_to_be(tmp_path):
    """A file is then found by its path, and by its text as ever."""
    root = tmp_path / "root"
    root.mkdir()
    for file in range(FILLING):
        said = "\n".join(f"# q{file:x}x{word:x} z{file:x}x{word:x}" for word in range(1000))
        (root / f"filling_{file:04}.py").write_text(said)
    profile = tmp_path / "small.sql"
    profile.write_text("SET tools = 'explore, search'; SET memory_limit = '128MB';")
    async with fronted(root, profile) as (front, indexing):
        built = await indexing.built()
        found = await front.ask(Search(f"filling {FILLING - 1:04}", mode="meaning"), Terms(due(front.profile)))
    [missing] = re.findall(r"meaning knows ([\d,]+) files by path alone: the profile's memory_limit", built.partial)
    assert 0 < int(missing.replace(",", "")) < FILLING
    assert built.partial in found.note
    assert found.files


@pytest.mark.anyio
async def test_a_client_that_waits_hears_how_far_the_index_is(large):
    """The greeting and the list of tools need no index."""
    heard = []

    async def hear(done, total, message):
        heard.append((done, total, message))

    async with connected(large) as client:
        indexer = await first(broker(), INDEXER)
        indexer.suspend()
        assert (await client.list_tools()).tools
        asked = client.call_tool("symbols", {"name_pattern": "function_9_9"}, progress_callback=hear)
        asking = asyncio.create_task(asked)
        while not (asking.done() or any("extract" in message for _, _, message in heard)):  # a step, then a report
            indexer.resume()
            await asyncio.sleep(0.05)
            indexer.suspend()
            await asyncio.sleep(PROGRESS_SECONDS + 0.1)
        indexer.resume()
        result = await asking
        assert result.structured_content["total"] == 1
        assert (await structured(client, "explore"))["summary"]["total_files"] == FILES
    progress = [done for done, _, _ in heard]
    assert progress == sorted({*progress})
    assert {total for _, total, _ in heard} == {100}
    assert all(message.startswith("indexing: ") for _, _, message in heard)
    assert any("extract" in message for _, _, message in heard)


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A project of so many files that there is a listing: of source, and one of each kind that is known by its name."""
    root = tmp_path_factory.mktemp("wide")
    for directory in range(WIDE):
        (root / f"part_{directory:02}").mkdir()
        for file in range(100):
            module = root / f"part_{directory:02}" / f"module_{file:02}.py"
            module.write_text(f"def part_{directory:02}_{file:02}():\n    return 'needle'\n" * DEFINITIONS)
    (root / ".env").write_text("TOKEN=x\n")
    (root / "binary.py").write_bytes(b"\0" * 10)
    (root / "large.js").write_text("x" * 1_048_577)
    (root / "link.py").symlink_to("part_00/module_00.py")
    (root / "script").write_text("#!/usr/bin/env python3\nprint()\n")
    assert WIDE * 100 > SMALL_FILES
    assert WIDE * 100 * BYTES > SMALL_BYTES
    return root


WIDE = 21  # directories
FILLING = 3000  # files, of comments alone
DEFINITIONS = 15  # of a module, all of one name
LINES = WIDE * 100 * DEFINITIONS * 2 + 2  # in all
BYTES = DEFINITIONS * 38  # of a module: so often a line of 18 and one of 20, line ends included
LISTED = Exploration(
    path="",
    directories=[Directory(path=f"part_{n:02}/", files=100, languages={"python": 100}) for n in range(WIDE)],
    files=[
        FileEntry(".env", skipped="secret"),
        FileEntry("binary.py", "python"),
        FileEntry("large.js", "javascript", skipped="too large"),
        FileEntry("link.py", "python", skipped="symlink"),
        FileEntry("script"),
    ],
    summary=Summary(
        total_files=WIDE * 100 + 5,
        total_bytes=WIDE * 100 * BYTES + 8 + 10 + 1_048_577 + 20 + 31,
        languages={"python": WIDE * 100 + 2, "javascript": 1},
        skipped={"too large": 1, "symlink": 1, "secret": 1},
    ),
    note=COUNTING,
)


@asynccontextmanager
async def listed(root, profile="fledgling-core"):
    """A front whose indexer is held still as soon as there is a listing."""
    async with fronted(root, profile) as (front, indexing):
        generation = await indexing.sealed(LISTING)
        indexer = await first(psutil.Process(), INDEXER)
        indexer.suspend()
        assert generation.number == LISTING
        assert not await indexing.is_sealed(TEXT, 0)
        try:
            yield front, indexing, indexer
        finally:
            with suppress(psutil.NoSuchProcess):  # the test has let it go on
                indexer.resume()


@pytest.mark.anyio
async def test_the_map_comes_before_a_file_is_read(wide):
    """It says what the names tell, and nothing about lines; what needs more waits, and later maps are whole."""
    async with listed(wide) as (front, indexing, indexer):
        map_ = await front.ask(Explore())
        assert map_ == LISTED
        assert b"lines" not in msgspec.json.encode(msgspec.structs.replace(map_, note=None))
        shown = tools.text(map_).splitlines()
        assert shown[0].startswith(f".  {WIDE * 100 + 5:,} files, {LISTED.summary.total_bytes:,} bytes  (python ")
        assert shown[1:3] == ["without content: 1 too large, 1 symlink, 1 secret", "part_00/  100 files: 100 python"]
        assert shown[WIDE + 2 :] == [
            "files: language",
            ".env  -, secret",
            "binary.py  python",
            "large.js  javascript, too large",
            "link.py  python, symlink",
            "script  -",
            f"[{COUNTING}]",
        ]
        needing = (Search("part_07_03"), Symbols(kind="function"))
        waiting = [asyncio.create_task(front.ask(question)) for question in needing]
        done, _ = await asyncio.wait(waiting, timeout=0.3)
        assert not done
        indexer.resume()
        notes = []
        while not notes or notes[-1]:
            map_ = await front.ask(Explore())
            assert (map_.summary.total_files, len(map_.directories)) == (WIDE * 100 + 5, WIDE)
            assert (map_.summary.total_lines is None) == (map_.note == COUNTING)
            assert (map_.summary.largest_file is None) == (map_.note == COUNTING)
            assert map_.summary.total_lines in (None, LINES)
            notes.append(map_.note)
            await asyncio.sleep(LOOK_SECONDS)
        assert [*dict.fromkeys(notes)] in ([COUNTING, EXTRACTING, None], [COUNTING, None])
        hits, symbols = await asyncio.gather(*waiting)
        assert (hits.total, hits.total_files) == (DEFINITIONS, 1)
        assert symbols.total == WIDE * 100 * DEFINITIONS
        assert {file.path: file.skipped for file in map_.files}["binary.py"] == "binary"
        assert {file.path: file.language for file in map_.files}["script"] == "python"
        assert (await indexing.built()).files == WIDE * 100 + 5


@pytest.mark.anyio
@pytest.mark.long  # that they come before the index is whole; the map above has them by then
async def test_a_map_has_lines_as_soon_as_they_are_counted(wide):
    """The worker over the listing makes way though nobody asks for text."""
    async with listed(wide) as (front, indexing, indexer):
        notes = [(await front.ask(Explore())).note]
        indexer.resume()
        await indexing.sealed(TEXT)
        indexer.suspend()
        assert not await indexing.is_sealed(CODE, 0)
        while notes[-1] == COUNTING:
            notes.append((await front.ask(Explore())).note)
        assert notes[-1] == EXTRACTING


@pytest.mark.anyio
async def test_the_next_generation_is_served_however_many_workers_end_before(wide):
    """And nobody has to ask for what only the next one has."""
    async with listed(wide) as (front, indexing, indexer):
        assert (await front.ask(Explore())).note == COUNTING
        [serving] = back_processes(psutil.Process(), QUERY_WORKER)
        indexer.resume()
        ended = set()
        while len(ended) < 2:
            for worker in set(back_processes(psutil.Process(), QUERY_WORKER)) - ended - {serving}:
                worker.kill()
                ended.add(worker)
            await asyncio.sleep(0.002)
        await indexing.built()
        found = await front.ask(Explore())
        while found.note:
            await asyncio.sleep(LOOK_SECONDS)
            found = await front.ask(Explore())
        assert found.summary.total_lines == LINES


async def dies_for_good(indexing, indexer):
    """Kill an indexer, and the one that builds the index once more."""
    indexer.kill()
    while not indexing.is_over:
        for process in back_processes(psutil.Process(), INDEXER):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        await asyncio.sleep(0.01)


@pytest.mark.anyio
async def test_a_map_of_an_index_that_will_not_be_finished_says_so(wide):
    async with listed(wide) as (front, indexing, indexer):
        assert (await front.ask(Explore())).note == COUNTING
        await dies_for_good(indexing, indexer)
        found = await front.ask(Explore())
        while found.note == COUNTING:
            await asyncio.sleep(LOOK_SECONDS)
            found = await front.ask(Explore())
        assert found == msgspec.structs.replace(LISTED, note=UNFINISHED)
        assert (await front.ask(Search("needle"))).kind == "failed"


@pytest.mark.anyio
async def test_no_worker_waits_for_an_index_that_failed(wide):
    async with listed(wide) as (_, indexing, indexer):
        assert len(back_processes(psutil.Process(), QUERY_WORKER)) == 1
        await dies_for_good(indexing, indexer)
        await until(lambda: not back_processes(psutil.Process(), QUERY_WORKER))


OF_LISTING = {  # what is asked, and the reason why not
    Explore(): None,
    Explore(depth=3): None,
    Explore("part_01"): None,
    Explore("part_07", pattern="*_0[12].py"): None,
    Explore(pattern="**/*_1*.py", depth=2): None,
    Explore("nope"): "no file or directory 'nope' in the index.",
    Explore("link.py"): "link.py is a file",
    Explore("../x"): "'../x' is not a path below the root of the project",
}


@pytest.mark.anyio
async def test_a_listing_is_the_same_to_the_byte_whichever_worker_answers(wide, caplog):
    """One that ends before it was needed costs no call either."""
    answers = []
    for ended in (0, 3):
        async with listed(wide) as (front, _, _):
            said = {}
            for number, question in enumerate(OF_LISTING):
                if number < ended:
                    [worker] = back_processes(psutil.Process(), QUERY_WORKER)
                    worker.kill()
                    worker.wait()
                said[question] = await front.ask(question)
                assert len(back_processes(psutil.Process(), QUERY_WORKER)) == 1
            answers.append([*map(msgspec.msgpack.encode, said.values())])
    assert answers[0] == answers[1]
    assert said[Explore()] == LISTED
    one = said[Explore("part_07", pattern="*_0[12].py")]
    assert [file.path for file in one.files] == ["part_07/module_01.py", "part_07/module_02.py"]
    assert one.summary.total_bytes == 2 * BYTES
    for question, reason in OF_LISTING.items():
        assert isinstance(said[question], Refusal) == bool(reason)
        assert not reason or said[question].reason.startswith(reason)
    assert "Exception in callback" not in caplog.text


@pytest.mark.anyio
async def test_a_resource_and_a_page_of_the_whole_map_are_never_made_of_a_listing(wide):
    """They do not say what they lack, as a tool does: who reads the overview, or goes on in a map, waits for lines."""
    async with listed(wide) as (front, _, indexer), client_of(front) as client:
        assert COUNTING in text(await client.call_tool("explore", {}))
        reading = asyncio.create_task(client.read_resource("fledgling://overview"))
        asked = [asyncio.create_task(front.ask(Explore(cursor=cursor))) for cursor in ("3", "3.1")]
        done, _ = await asyncio.wait([reading, *asked], timeout=0.3)
        assert not done
        indexer.resume()
        [overview] = (await reading).contents
        assert f"{WIDE * 100 + 5:,} files, {LINES:,} lines" in overview.text
        whole, of_text = await asyncio.gather(*asked)
        assert whole.note is None
        assert whole.summary.total_lines == of_text.summary.total_lines == LINES


async def following(front, page):
    """The pages that follow one."""
    found = []
    while page.next:
        page = await front.ask(msgspec.convert(page.next.arguments, Explore))
        found.append(page)
    return found


def files_of(pages):
    return [file for page in pages for file in page.files]


@pytest.mark.anyio
async def test_a_map_goes_on_as_it_began_though_the_index_is_complete_by_then(wide):
    """Of all its files the same is known; and whoever asks again is told the rest."""
    async with listed(wide) as (front, indexing, indexer):
        first_page = await front.ask(Explore(depth=2))
        before = [first_page, *await following(front, first_page)]
        indexer.resume()
        await indexing.built()
        assert (await front.ask(Symbols(kind="function"))).total == WIDE * 100 * DEFINITIONS
        after = [first_page, *await following(front, first_page)]
        assert len(after) > 3
        whole = [msgspec.structs.replace(page, note=None) for page in before]
        assert [msgspec.structs.replace(page, note=None) for page in after] == whole
        assert {page.note for page in before} == {COUNTING}
        assert {page.note for page in after[1:]} == {EARLIER}
        assert {file.lines for file in files_of(after)} == {None}
        again = await front.ask(Explore(depth=2))
        known = files_of([again, *await following(front, again)])
        assert [file.path for file in known] == [file.path for file in files_of(after)]
        assert {file.path for file in known if file.skipped == "binary"} == {"binary.py"}
        assert again.next.arguments["cursor"].isdigit()


@pytest.mark.anyio
@pytest.mark.parametrize("detail", ["map", "summary"])
async def test_a_map_has_the_pages_that_it_had_before_uses_were_resolved(project, tmp_path, detail):
    profile = tmp_path / "short.sql"
    profile.write_text("SET tools = 'explore, symbols'; SET max_rows = 3;")
    asked = Explore(depth=9, detail=detail)
    async with fronted(project, profile) as (front, _):
        first_page = await front.ask(asked)
        before = [first_page, *await following(front, first_page)]
        assert isinstance(await front.ask(Symbols(symbol="process", relation="callers")), Relations | Refusal)
        again = await front.ask(asked)
        assert [again, *await following(front, again)] == before
        assert [first_page, *await following(front, first_page)] == before
        assert len(before) > 2


TRIED = ("a view of files", "a view of content")
VIEWS = {
    "no view": ("", LISTING),
    "a view of files": ("CREATE VIEW files AS SELECT * FROM files WHERE NOT is_binary;", TEXT),
    "a view of visible files": ("CREATE VIEW visible_files AS SELECT * FROM files WHERE path < 'q';", TEXT),
    "a view of content": ("CREATE VIEW content AS SELECT * FROM content WHERE NOT is_comment;", CODE),
    "a view of symbols": ("CREATE VIEW symbols AS SELECT * FROM symbols WHERE kind = 'function';", LISTING),
    "a view of imports": ("CREATE VIEW imports AS SELECT * FROM imports WHERE NOT is_stdlib;", LISTING),
}


@pytest.mark.anyio
@pytest.mark.parametrize(
    "name",  # no symbol and no import is made of what a listing tells, and what is visible is said of files
    [pytest.param(name, marks=[] if name in TRIED else [pytest.mark.long]) for name in VIEWS],
)
async def test_there_is_no_listing_of_what_a_view_narrows(wide, tmp_path, name):
    """A view may ask for any column: lines, hashes, whether a file is binary."""
    view, first_generation = VIEWS[name]
    profile = tmp_path / "narrow.sql"
    profile.write_text(f"SET tools = 'explore, search'; {view}")
    async with fronted(wide, profile) as (front, indexing):
        generation = await indexing.sealed(LISTING)
        assert generation.number == first_generation
        map_ = await front.ask(Explore())
        assert (map_.summary.total_lines is None) == (map_.note == COUNTING)
        assert (first_generation == LISTING) == bool(os.fstat(indexing.images.listing).st_size)


@pytest.mark.anyio
@pytest.mark.long  # more would cost time and no answer
async def test_a_small_project_has_one_generation(project):
    async with fronted(project) as (front, indexing):
        assert (await indexing.sealed(LISTING)).number == WORDS
        assert (await indexing.sealed(CODE)).number == WORDS
        assert COUNTING not in ((await front.ask(Explore())).note or "")


@pytest.mark.anyio
@pytest.mark.parametrize(
    "view",  # who has been let in by then is described in the same loop
    [
        "",
        pytest.param(
            "CREATE VIEW visible_files AS SELECT * FROM files WHERE path >= 'text_1';", marks=pytest.mark.long
        ),
    ],
)
async def test_text_that_does_not_fit_the_memory_is_missed_and_said_to_be(tmp_path, view):
    """Never killed, never silently short: what there is no room for is listed with the reason."""
    root = tmp_path / "root"
    root.mkdir()
    for file in range(90):
        (root / f"text_{file:02}").write_text(f"canary {file}\n" + f"{'filler of a line':1019}\n" * 1000)
    profile = tmp_path / "small.sql"
    profile.write_text(f"SET tools = 'explore, search'; SET memory_limit = '128MB'; {view}")
    async with fronted(root, profile) as (front, indexing):
        built = await indexing.built()
        missing = built.skipped["over memory_limit"]
        map_ = await front.ask(Explore(), Terms(due(front.profile), least=CODE))
        found = await front.ask(Search("canary", context=0), Terms(due(front.profile), least=CODE))
    assert built.files == (80 if view else 90)
    assert found.total == built.files - missing == 128_000_000 * limits.TEXT // 1_020_010
    assert map_.summary.skipped == {"over memory_limit": missing}
    assert f"{missing} files listed without content" in built.partial
    assert built.partial == map_.note == found.note
