"""Source files that are the end of a parser: each costs its time and its own definitions, and is named."""

import mmap
import time
from functools import cache
from itertools import chain, repeat
from types import SimpleNamespace

import pytest
from running import fronted
from tree_sitter import Query

from fledgling.broker.terms import Terms, due
from fledgling.messages.control import CONFINED
from fledgling.messages.generations import CODE
from fledgling.messages.questions import Explore
from fledgling.pipe import HEADER_BYTES, Unpacker, pack
from fledgling.worker.extracting import grammar
from fledgling.worker.extractor import messages, process
from fledgling.worker.extractor import pool as extractors
from fledgling.worker.extractor.messages import Batch, Source, TextFacts, ToExtractor
from fledgling.worker.extractor.pool import LOST_FILES, Extractors
from fledgling.worker.languages.table import load_languages
from fledgling.worker.store.ngram_writer import signed

ENDLESS = "<!--" * 2048 + "\n"  # an ordinary megabyte of C takes a quarter of a second, these 8 KB more than two
GOOD = "int good(void) { return 0; }\n"
REPAIRED = """\
LIB_API(int) first(int a) LIB_PRINTF(1, 2) { return a; }
#if A
int second(int a) {
#else
int third(int a, int b) {
#endif
  return a;
}
"""
DENSE = 60_000  # definitions in one file of a megabyte
HURRIED = 0.1  # seconds


@pytest.fixture
def hurried(request, monkeypatch):
    """Extractors with a twentieth of the time: they are forked, and so they find it changed."""
    monkeypatch.setattr(messages, "FILE_SECONDS", HURRIED)
    running = Extractors(load_languages(), CONFINED, 2_000_000_000, getattr(request, "param", None))
    running.confined()
    yield running
    running.close()


def asked(running: Extractors, texts: dict[str, str]) -> dict[str, TextFacts]:
    """What is said of each text; its symbols are in the outlines and in the columns, whatever was put again."""
    facts: dict[str, TextFacts] = {}
    for batch, found in running.extract(
        (Source(path, "c", (text.encode(),)) for path, text in texts.items()), Batch((), tabled=True)
    ):
        facts |= zip((source.path for source in batch.sources), found.facts, strict=True)
        assert len(found.outlined.parts) == len(batch.sources)
        assert found.outlined.names == found.symbols.name
        assert len(found.symbols.name) == sum(each.symbols for each in found.facts)
    return facts


def test_each_is_lost_alone_and_costs_its_time_once(hurried):
    """Whichever place it has in a batch: the files before and after it are put again, it is not."""
    texts = {f"{number}.c": ENDLESS if number in (0, 3, 4, 9) else GOOD for number in range(10)}
    found = asked(hurried, texts)
    assert list(found) == list(texts)
    assert [path for path, facts in found.items() if facts.engine is None] == ["0.c", "3.c", "4.c", "9.c"]
    assert all(facts.definitions == 1 for path, facts in found.items() if facts.engine)
    assert {facts.seconds for facts in found.values() if not facts.engine} == {HURRIED}


@pytest.mark.parametrize("language", [pytest.param("c", marks=pytest.mark.long), "markdown", "no such language"])
def test_what_prepares_a_language_answers_afterwards(language):
    """Whether there is such a language or not, and though it was told before it was confined."""
    running = Extractors(load_languages(), CONFINED, 2_000_000_000, 1)
    ready = running.prepare(language)
    running.confined()
    ready()
    assert asked(running, {"a.c": GOOD})["a.c"].definitions == 1
    running.close()


def test_what_is_expected_is_compiled_once_for_all_that_parse(monkeypatch):
    """Three processes have signed before, and three others parse."""
    compiled = mmap.mmap(-1, 1)  # how often, by any of them

    @cache
    def counted(*rules):
        compiled[0] += 1
        return Query(*rules)

    monkeypatch.setattr(grammar, "compiled", counted)
    running = Extractors(load_languages(), CONFINED, 2_000_000_000, 3)
    running.confined()
    running.expect(["go", "no such language", "python"])
    signing = [running.sign([b"import os"]) for _ in range(3)]
    assert [wait() for wait in signing] == [signed([b"import os"])] * 3
    texts = {"go": b"package a\n//" + b" a" * 2**17, "python": b"a = 1\n#" + b" a" * 2**17}  # a message each
    sources = [Source("", language, (text,)) for language, text in texts.items()] * 3
    facts = [one for _, found in running.extract(sources, Batch(())) for one in found.facts]
    assert [one.engine for one in facts] == ["tree-sitter"] * 6
    running.close()
    assert compiled[0] == 2


@pytest.mark.parametrize("hurried", [1], indirect=True)
def test_where_many_are_lost_each_gets_a_small_multiple_of_what_ordinary_source_takes(hurried, monkeypatch):
    monkeypatch.setattr(extractors, "LOST_FILES", 2)
    texts = {f"{number}.c": ENDLESS if number % 2 else GOOD for number in range(30)}
    found = asked(hurried, texts)
    lost = [facts.seconds for facts in found.values() if facts.engine is None]
    assert len(lost) == 15
    assert lost.count(HURRIED) <= 2 + extractors.AHEAD
    assert max(lost[-5:]) < 0.04
    assert all(facts.definitions == 1 for facts in found.values() if facts.engine)


@pytest.mark.parametrize(
    ("lost", "took", "definitions", "complete"),
    [(LOST_FILES, 0.019, 3, True), (0, 0.99, 3, True), (0, 1.01, 2, False)],
    ids=["hurried", "in time", "late"],
)
def test_a_file_is_repaired_for_a_second_or_all_of_a_shorter_time(lost, took, definitions, complete, monkeypatch):
    """Its clock is put forward, the kernel's is not. One that is late has what was found before, and says so."""
    clock = chain([0.0], repeat(took))
    monkeypatch.setattr(process, "time", SimpleNamespace(process_time=lambda: next(clock), sleep=time.sleep))
    running = Extractors(load_languages(), CONFINED, 2_000_000_000, 1)
    monkeypatch.setattr(running, "_lost", lost)
    running.confined()
    found = asked(running, {"a.c": REPAIRED})["a.c"]
    running.close()
    assert (found.engine, found.definitions, found.complete) == ("tree-sitter", definitions, complete)


def test_files_that_took_no_time_hurry_no_others(hurried, monkeypatch):
    monkeypatch.setattr(hurried, "_longest", 100_000)
    texts = {f"{number}.c": GOOD * 4000 for number in range(2 * LOST_FILES)} | {"slow.c": ENDLESS}
    found = asked(hurried, texts)
    assert [facts.engine for facts in found.values()] == [None] * len(texts)
    assert [facts.seconds for facts in found.values()] == [0.0] * (len(texts) - 1) + [HURRIED]


@pytest.mark.anyio
@pytest.mark.long  # one takes its two seconds; one that does not fit a frame, below, is named likewise
async def test_a_file_that_cannot_be_parsed_is_named_and_its_text_found(tmp_path):
    (tmp_path / "poison.c").write_text("needle();\n" + ENDLESS)
    (tmp_path / "good.c").write_text(GOOD)
    async with fronted(tmp_path) as (front, indexing):
        await indexing.built()
        explored = await front.ask(Explore(), Terms(due(front.profile), least=CODE))
        assert explored.note == (
            "Not parsed, as that took too long or too much memory: poison.c; definitions may be missing."
        )
        assert (await front.call("explore", {"pattern": "good*"})).note is None
        assert [file.path for file in (await front.call("search", {"query": "needle"})).files] == ["poison.c"]
        assert [file.path for file in (await front.call("symbols", {})).files] == ["good.c"]


@pytest.mark.anyio
async def test_a_file_may_define_as_much_as_it_has_room_for(tmp_path):
    """No row of a register header is lost, nor is any other file for its sake."""
    (tmp_path / "registers.h").write_text("".join(f"#define R{number:06}\n" for number in range(DENSE)))
    (tmp_path / "good.c").write_text(GOOD)
    async with fronted(tmp_path) as (front, indexing):
        await indexing.built()
        assert (await front.call("symbols", {"path": "*.h"})).total == DENSE
        assert (await front.call("symbols", {"path": "*.c"})).total == 1


LARGE = {"line.js": "needle = " + "1 + " * 5 * 2**20, "lines.c": "int needle;\n" + "int other(void);\n" * 2**20}


@pytest.mark.anyio
@pytest.mark.parametrize("names", [["line.js"], pytest.param([*LARGE], marks=pytest.mark.long)])  # a line is no block
async def test_a_file_larger_than_a_frame_costs_its_own_definitions_and_no_others(tmp_path, names):
    for name in names:
        (tmp_path / name).write_text(LARGE[name])
    (tmp_path / "good.c").write_text(GOOD)
    async with fronted(tmp_path, settings={"max_file_size": 64 * 2**20}) as (front, indexing):
        await indexing.built()
        found = await front.call("search", {"query": "needle"})
        assert [file.path for file in found.files] == names
        assert [file.path for file in (await front.call("symbols", {})).files] == ["good.c"]
        explored = await front.ask(Explore(), Terms(due(front.profile), least=CODE))
        assert f"too much memory: {', '.join(names)};" in explored.note


def test_a_tree_of_tiny_files_is_put_to_extractors_in_messages_that_they_take():
    """A frame of too many values would be the end of the process that reads it, and of the whole index."""
    tiny = [Source(f"{number}.py", "python", (b"a = 1",)) for number in range(50_000)]
    taking: Unpacker[ToExtractor] = Unpacker(ToExtractor)
    taken = [taking.message(pack(batch)[HEADER_BYTES:]) for batch in extractors.batches(tiny, Batch((), tabled=True))]
    assert [source for batch in taken for source in batch.sources] == tiny
