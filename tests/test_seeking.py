"""A search of a command that needs no index answers what an index would; where it cannot tell, one is built."""

import asyncio
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from conftest import write_project
from running import INDEXER, PATIENCE, back_processes, fronted
from test_poison import ENDLESS
from test_wire import BARE, LYING_INDEXER, script

from fledgling.broker.audit_log.records import AnyRecord, ProcessRecord, Tell
from fledgling.broker.indexing.attempt import Attempt
from fledgling.broker.indexing.files import TakenOver
from fledgling.broker.indexing.seeker_answer import answer_of
from fledgling.broker.indexing.seeking import may_need_no_index, start_seeker
from fledgling.broker.memory import Memory
from fledgling.broker.terms import Terms, due
from fledgling.messages.control import CONFINED, Built, Confining, ExtractorsConfined, Progress, Sought
from fledgling.messages.generations import CODE
from fledgling.messages.questions import AnyQuestion, Explore, Search
from fledgling.security import memory_file
from fledgling.security import profile as profiles
from fledgling.settings import Settings
from fledgling.worker.extracting.source_text import line_starts

CORE = "fledgling-core"
FOUND = (
    Search("timeout"),
    Search("timeout", context=0, max_results=1),
    Search(r"def \w+", regex=True),
    Search("class", language="python", path="src/**"),
    Search("process", path="engine.py"),  # the end of one path alone
    Search("été"),  # of a file that is not UTF-8
    Search("printed"),  # beside outputs of a notebook, which are not searched
    Search("whole_b"),  # of a file that is parsed in part
    Search("!keep.log"),  # of the first file
)
LIKEWISE = (  # they take the same ways
    Search("TIMEOUT", case_sensitive=True),
    Search("count", whole_word=True, context=0),
    Search("a", mode="text"),
    Search("k"),
)
NOT_FOUND = (
    Search("no such text at all"),
    Search("where uploads are retried"),
    Search("(", regex=True),
    Search("timeout", path="nowhere/**"),
)
NOT_SOUGHT = (
    Explore(),
    Search("process", kind="function"),
    Search("timeout", mode="meaning"),
    Search("timeout", also=("deadline",)),
    Search("timeout", tags_any=("database",)),
    Search("timeout", cursor="1"),
)
CELL = {"cell_type": "code", "source": ["print('printed')"], "outputs": [{"text": ["printed"]}], "metadata": {}}


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project, and files in it of which an answer says something."""
    root = write_project(tmp_path_factory.mktemp("odd"))
    (root / "latin.txt").write_bytes("un été\n".encode("latin-1"))
    (root / "steps.ipynb").write_text(json.dumps({"cells": [CELL], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    (root / "large.txt").write_text("timeout\n" * 200_000)
    (root / "part.py").write_text("def whole_a():\n    return 1\n\n)))) = (((\n\ndef whole_b():\n    return 2\n")
    return root


@pytest.fixture(scope="module")
def whole(odd: Path) -> tuple[list[Any], Built]:
    """What an index answers."""

    async def asking() -> tuple[list[Any], Built]:
        async with fronted(odd) as (front, indexing):
            terms = Terms(due(front.profile) + PATIENCE, least=CODE)
            answers = [await front.ask(question, terms) for question in FOUND + LIKEWISE]
            return answers, await indexing.built()

    return asyncio.run(asking())


def seek(
    root: Path,
    question: Search,
    profile: str = CORE,
    confining: Confining = CONFINED,
    tell: Tell = lambda _: None,
    **settings: Any,
) -> Sought | None:
    async def report(_: Progress) -> None:
        pass

    given = Settings(root=str(root), **settings)
    seeker = start_seeker(given, profiles.load(profile), question, confining)
    return asyncio.run(answer_of(seeker, tell, report))


@pytest.mark.parametrize(
    "question",
    [*FOUND, *(pytest.param(each, marks=pytest.mark.long) for each in LIKEWISE)],
    ids=range(len(FOUND + LIKEWISE)),
)
def test_what_is_found_is_what_an_index_finds(odd: Path, whole: tuple[list[Any], Built], question: Search) -> None:
    told: list[AnyRecord] = []
    found, (answers, built) = seek(odd, question, tell=told.append), whole
    assert found
    confined = [record.process for record in told if isinstance(record, ProcessRecord) and record.confinement]
    assert confined == ["indexer", "lister", "extractors"]
    assert found.answer == answers[(FOUND + LIKEWISE).index(question)]
    assert found.partial == built.partial
    assert found.notices == built.notices


@pytest.mark.anyio
async def test_confinement_is_told_before_text_is_read(odd: Path) -> None:
    told: list[AnyRecord] = []
    order, files, process = start_seeker(Settings(root=str(odd)), profiles.load(CORE), Search("timeout"), CONFINED)
    attempt = Attempt(process, order, files, TakenOver(), tell=told.append)
    await attempt.accepted(Memory(order.profile.memory_limit, files.all), is_first=True)
    assert [record.process for record in told if isinstance(record, ProcessRecord)] == ["indexer", "lister"]
    assert isinstance(await attempt.report(), ExtractorsConfined)
    assert memory_file.is_sealed(files.images.blocks), "all text has been read by then"
    await attempt.end()
    files.close()
    os.close(order.root_fd)


def test_what_is_found_in_a_part_says_so(odd: Path) -> None:
    found = seek(odd, Search("timeout"), max_files=5)
    assert found
    assert found.partial
    assert found.partial.startswith("Only 5 of ")
    assert found.answer.note == found.partial


@pytest.mark.parametrize("question", NOT_FOUND, ids=range(len(NOT_FOUND)))
def test_what_is_not_found_takes_an_index(odd: Path, question: Search) -> None:
    assert seek(odd, question) is None


@pytest.mark.parametrize(
    ("settings", "profile"),
    [
        ({"index_content": False}, "SET tools = 'search';\n"),
        ({}, "SET tools = 'search, query';\nSET memory_limit = '128MB';\n"),
    ],
    ids=["no text", "no room"],
)
def test_text_that_is_not_there_takes_an_index(tmp_path: Path, settings: dict[str, Any], profile: str) -> None:
    (tmp_path / "p.sql").write_text(profile)
    tree = tmp_path / "tree"
    tree.mkdir()
    for number in range(40 if "128MB" in profile else 1):
        (tree / f"{number}.txt").write_text("timeout and more\n" * 60_000)
    assert seek(tree, Search("timeout"), str(tmp_path / "p.sql"), **settings) is None


def test_text_takes_all_the_room_that_it_has_in_an_index(tmp_path: Path) -> None:
    """A profile without SQL holds no second copy of it."""
    (tmp_path / "p.sql").write_text("SET tools = 'search';\nSET memory_limit = '128MB';\n")
    for number in range(40):
        (tmp_path / f"{number}.txt").write_text("timeout and more\n" * 60_000)
    assert seek(tmp_path, Search("timeout", path="*.txt"), str(tmp_path / "p.sql"))


@pytest.mark.parametrize("question", NOT_SOUGHT, ids=range(len(NOT_SOUGHT)))
def test_other_questions_take_an_index(question: AnyQuestion) -> None:
    assert not may_need_no_index(question, profiles.load(CORE))


def test_under_a_profile_with_views_every_question_takes_an_index() -> None:
    narrow = [profile for profile in map(profiles.load, profiles.shipped()) if profile.views]
    assert narrow
    assert not any(may_need_no_index(Search("timeout"), profile) for profile in narrow)
    assert may_need_no_index(Search("timeout"), profiles.load(CORE))


def test_where_it_dies_an_index_is_built_and_nothing_stays(odd: Path) -> None:
    before = psutil.Process().num_fds()
    killing = threading.Thread(target=_kill_one)
    killing.start()
    assert seek(odd, Search("timeout")) is None
    killing.join()
    assert back_processes(psutil.Process(), INDEXER) == []
    assert psutil.Process().num_fds() == before


def test_one_that_takes_longer_than_query_timeout_takes_an_index(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(f"// timeout\n{ENDLESS[:3200]}\n")  # which takes half a second
    for seconds in (0.1, 60):
        (tmp_path / "p.sql").write_text(f"SET tools = 'search';\nSET query_timeout = {seconds};\n")
        assert (seek(tmp_path, Search("timeout"), str(tmp_path / "p.sql")) is None) == (seconds < 1)


@pytest.mark.anyio
async def test_nothing_is_waited_for_any_more_where_who_waits_has_gone(
    odd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def report(_: Progress) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("fledgling.broker.indexing.seeker_answer.TOLD_SECONDS", 0.0)
    seeker = start_seeker(Settings(root=str(odd)), profiles.load(CORE), Search("timeout"), CONFINED)
    with pytest.raises(BrokenPipeError):
        await answer_of(seeker, lambda _: None, report)
    assert "_told" not in [getattr(task.get_coro(), "__name__", "") for task in asyncio.all_tasks()]
    assert back_processes(psutil.Process(), INDEXER) == []


ONE = 'Hits([FileHits("README.md", [1], [(1, "timeout")], "markdown", {})], 1, 1, "text")'
LIES = {  # what an indexer says that was asked for lines of README.md with "timeout"
    "another path": 'Sought(Hits([FileHits("src/a.py", [1], [(1, "timeout")], "python", {})], 1, 1, "text"))',
    "less in all than it shows": ONE.replace("1, 1,", "0, 1,").join(["Sought(", ")"]),
    "another way": ONE.replace('"text")', '"symbols")').join(["Sought(", ")"]),
    "a page that nobody asked for": f'Sought({ONE[:-1]}, next=Next("read", {{"path": "/etc/passwd"}})))',
    "another question": f'Sought({ONE}, Search("password", path="README.md"))',
    "another place": f'Sought({ONE}, Search("timeout", path="src/a.py"))',
    "lines of a terminal": f'Sought({ONE}, notices=("\\x1b[2J",))',
    "a sentence of two lines": f'Sought({ONE}, partial="one\\ntwo")',
    "an index": "Generation(2, (), has_content=True)",
    "nothing": None,
}


# As another path, a sentence of two lines, and an index.
ALIKE = {"less in all than it shows", "another place", "another question", "another way", "lines of a terminal"}


@pytest.mark.parametrize(
    "lie",
    [
        pytest.param(ONE.join(["Sought(", ")"]), id="what is true"),
        *(pytest.param(lie, id=name, marks=[pytest.mark.long] if name in ALIKE else []) for name, lie in LIES.items()),
    ],
)
def test_what_an_indexer_says_is_looked_at_as_what_a_worker_says(
    odd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lie: str | None
) -> None:
    """What does not fit costs an index, and is never shown."""
    says = f"pipe.send({lie})" if lie else "sys.exit()"
    monkeypatch.setattr(sys, "executable", script(tmp_path, LYING_INDEXER, lie=f"pipe.send(accepted)\n{says}"))
    found = seek(odd, Search("timeout", path="README.md"), confining=BARE)
    assert (found is not None) == (lie not in LIES.values())
    assert back_processes(psutil.Process(), INDEXER) == []


def _kill_one() -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        for process in back_processes(psutil.Process(), INDEXER):
            process.kill()
            return


@pytest.mark.parametrize("source", [b"", b"a", b"a\n", b"\n\n", b"a\r\nb\rc\x0b\nd"])
def test_lines_begin_where_they_do_without_numpy(source: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy  # noqa: F401, PLC0415  (other tests may have loaded it, or not)

    with_numpy = line_starts(source)
    monkeypatch.delitem(sys.modules, "numpy")
    assert line_starts(source) == with_numpy == [0, *(at + 1 for at, byte in enumerate(source) if byte == 10)]
