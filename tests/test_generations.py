"""Two generations: text is served while definitions are still being extracted, and nothing is lost when they come."""

import asyncio

import pytest
from asking import structured
from conftest import connected
from running import INDEXER, broker, first, fronted

from fledgling.broker.front import PROGRESS_SECONDS
from fledgling.wire import CODE, TEXT, Explore, Hits, Read, Search, SymbolList, Symbols
from fledgling.worker.build import EXTRACTING, SMALL_BYTES, TEXT_SHARE

FILES = 200
FUNCTIONS = 150  # a file; 2 MB of source in all, which takes a second or more to parse


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
    """Every answer before, during and after the change is right; those of the first generation say what they lack."""
    search = Search("# target 7", context=0, max_results=1000)
    async with fronted(large) as (front, indexing):
        assert (await indexing.sealed(TEXT)).number == TEXT
        notes = []
        while not notes or notes[-1]:
            found = await front.ask(search)
            assert isinstance(found, Hits)
            assert (found.total, found.total_files) == (11 * FILES, FILES)
            assert bool(found.note) != any(file.enclosing for file in found.files)
            notes.append(found.note)
        assert set(notes) == {EXTRACTING, None}
        assert (await indexing.sealed(TEXT)).number == TEXT
        assert (await indexing.sealed(CODE)).number == CODE


@pytest.mark.anyio
async def test_what_needs_definitions_waits_for_them(large):
    async with fronted(large) as (front, indexing):
        await indexing.sealed(TEXT)
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
async def test_a_client_that_waits_hears_how_far_the_index_is(large):
    heard = []

    async def progress(done, total, message):
        heard.append((done, total, message))

    async with connected(large) as client:
        indexer = await first(broker(), INDEXER)
        asked = client.call_tool("symbols", {"name_pattern": "function_9_9"}, progress_callback=progress)
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
    assert heard == sorted(heard)
    assert any("extract" in message for _, _, message in heard)


@pytest.mark.anyio
async def test_a_small_project_has_one_generation(project):
    async with fronted(project) as (front, indexing):
        assert (await indexing.sealed(TEXT)).number == CODE
        assert (await front.ask(Explore())).note is None


@pytest.mark.anyio
@pytest.mark.parametrize("view", ["", "CREATE VIEW visible_files AS SELECT * FROM files WHERE path >= 'text_1';"])
async def test_text_that_does_not_fit_the_memory_is_missed_and_said_to_be(tmp_path, view):
    """Never killed, never silently short: what there is no room for is listed with the reason."""
    root = tmp_path / "root"
    root.mkdir()
    for file in range(90):
        (root / f"text_{file:02}").write_text(f"canary {file}\n" + "filler of a line\n" * 60_000)
    profile = tmp_path / "small.sql"
    profile.write_text(f"SET tools = 'explore, search'; SET memory_limit = '128MB'; {view}")
    async with fronted(root, profile) as (front, indexing):
        built = await indexing.built()
        missing = built.skipped["over memory_limit"]
        map_ = await front.ask(Explore(), whole=True)
        found = await front.ask(Search("canary", context=0), whole=True)
    assert built.files == (80 if view else 90)
    assert found.total == built.files - missing == 128_000_000 * TEXT_SHARE // 1_020_010
    assert map_.summary.skipped == {"over memory_limit": missing}
    assert f"{missing} files are listed without content" in built.partial
    assert built.partial == map_.note == found.note
