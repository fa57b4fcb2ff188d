"""The tables `tags` and `summaries`: they say what a summary says, and no more than a profile shows."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from changing import Index, indexed
from running import fronted
from test_tags import FILES, write
from trees import make

from fledgling.broker.front import Front
from fledgling.messages.answers import Summaries, Table
from fledgling.messages.control import TagByHand, TagsByHand
from fledgling.messages.questions import Explore, Query
from fledgling.worker.tools import made_tables
from fledgling.worker.tools.summaries import definitions

pytestmark = pytest.mark.anyio

SAYING = {
    "README.md": "# Uploads\n\nSends files again.\n",
    "src/up/__init__.py": '"""What sends files."""\n',
    "src/up/retry.py": (
        '"""Sends a file again."""\n\n\nclass Retry:\n    """Counts the times."""\n\n'
        "    # Says how often it was tried.\n    def tries(self): ...\n"
    ),
    "src/up/silent.py": "a = 1\n",
}


@pytest.fixture(scope="module")
async def front(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Front]:
    root = make(write(tmp_path_factory.mktemp("made")), **SAYING)
    async with fronted(root, "fledgling-analyst") as (front, indexing):
        await indexing.built()
        yield front


async def table(front: Front, sql: str) -> Table:
    found = await front.ask(Query(sql))
    assert isinstance(found, Table), found
    return found


async def rows(front: Front, sql: str) -> list[list[object]]:
    return (await table(front, sql)).rows


async def test_a_tag_has_a_row_for_each_rule_that_says_so(front: Front) -> None:
    assert await rows(front, "FROM tags WHERE path LIKE 'pay/%' OR path = 'src/store.py' ORDER BY ALL") == [
        ["pay/Checkout.java", None, "payments", 1.0, "IMPORT", 0.95, 1, "com.stripe"],
        ["pay/Checkout.java", None, "payments", 1.0, "PATH", 0.85, None, None],
        ["pay/Checkout.java", None, "payments", 1.0, "SYMBOL", 0.51, 3, "Checkout"],
        ["src/store.py", None, "database", 0.95, "IMPORT", 0.9, 1, "sqlite3"],
        ["src/store.py", None, "database", 0.95, "REGEX", 0.49, 5, None],
    ]


async def test_the_tags_are_those_of_all_files(front: Front) -> None:
    found = await rows(front, "SELECT DISTINCT path, tag, confidence FROM main.tags")
    expected = [[path, *each.split(" (")[0].split(" ")] for path, (_, tags) in FILES.items() for each in tags]
    assert sorted([path, tag, f"{confidence:.2f}"] for path, tag, confidence in found) == sorted(expected)


async def test_what_agents_say_stands_beside_it(front: Front) -> None:
    given = TagsByHand((TagByHand("mine", "src/users.py", "User"), TagByHand("mine", "src/gone.py", None)), ("mine",))
    before, front.by_hand = front.by_hand, lambda _: given
    try:
        found = await rows(front, "FROM tags WHERE tag = 'mine'")
    finally:
        front.by_hand = before
    assert found == [["src/users.py", "User", "mine", 1.0, "BY HAND", 1.0, None, "User"]]


async def test_summaries_are_what_directories_files_and_definitions_say(front: Front) -> None:
    assert await rows(front, "FROM summaries WHERE path LIKE 'src/up/%' OR path = 'README.md' ORDER BY ALL") == [
        ["README.md", None, "file", None, "Uploads: Sends files again.", "heading", []],
        ["src/up/", None, "directory", None, "What sends files.", "__init__.py", ["Retry"]],
        ["src/up/__init__.py", None, "file", None, "What sends files.", "docstring", []],
        ["src/up/retry.py", "Retry", "class", 4, "Counts the times.", "docstring", []],
        ["src/up/retry.py", "Retry.tries", "method", 8, "Says how often it was tried.", "comment", []],
        ["src/up/retry.py", None, "file", None, "Sends a file again.", "docstring", ["Retry"]],
    ]


@pytest.mark.parametrize("path", ["", "src/", "src/up/retry.py", "pay/Checkout.java"])
async def test_they_are_those_that_explore_shows(front: Front, path: str) -> None:
    shown = await front.ask(Explore(path, detail="summary"))
    assert isinstance(shown, Summaries)
    found = await rows(front, "SELECT path, symbol, text, source, defines FROM summaries")
    for each in shown.summaries:
        row = [each.path, each.name, each.says, each.source, [*each.defines]]
        assert (row in found) == bool(each.says or each.defines), row


async def test_they_can_be_joined_with_what_uses_what(front: Front) -> None:
    sql = "SELECT DISTINCT tag FROM tags JOIN summaries USING (path) LEFT JOIN hubs USING (path) ORDER BY 1"
    assert [tag for [tag] in await rows(front, sql)] == ["api/http", "auth", "database", "payments"]


async def test_a_name_of_the_statement_is_its_own(front: Front) -> None:
    assert await rows(front, "WITH tags AS (SELECT 1 AS summaries) FROM tags") == [[1]]


async def test_nothing_is_left_of_them_after_a_call(front: Front) -> None:
    for _ in range(3):
        assert (await rows(front, "SELECT count(*) > 0 FROM tags, summaries")) == [[True]]


# What a view leaves out is in neither table: the view, and the rows about one file that there are then.
NARROWED = {
    "files": ("CREATE VIEW files AS SELECT * FROM files WHERE path NOT LIKE 'src/%';", [], []),
    "visible files": ("CREATE VIEW visible_files AS SELECT * FROM files WHERE path NOT LIKE 'src/%';", [], []),
    "imports": (
        "CREATE VIEW imports AS SELECT * FROM imports WHERE module <> 'sqlite3';",
        [],
        [["src/store.py", None, None, ["load"]], ["src/store.py", "load", "Loads all of it.", []]],
    ),
    "lines": (
        "CREATE VIEW content AS SELECT * FROM content WHERE NOT regexp_matches(line_text, 'Loads|SELECT');",
        [["database", "IMPORT", "sqlite3"]],
        [["src/store.py", None, None, ["load"]]],
    ),
    "definitions": (
        "CREATE VIEW symbols AS SELECT * FROM symbols WHERE name <> 'load';",
        [["database", "IMPORT", "sqlite3"], ["database", "REGEX", None]],
        [],
    ),
}
ALIKE = ("files", "visible files", "imports")


@pytest.mark.parametrize(  # of views of other tables, those of lines and definitions say the same
    "name", ["lines", "definitions", *(pytest.param(name, marks=pytest.mark.long) for name in ALIKE)]
)
async def test_what_a_profile_hides_is_in_neither(tmp_path: Path, name: str) -> None:
    view, tags, summaries = NARROWED[name]
    (tmp_path / "mine.sql").write_text(f"SET extends = 'fledgling-analyst';\n{view}")
    (tmp_path / "tree").mkdir()
    text = 'import sqlite3\n\n\ndef load(db):\n    """Loads all of it."""\n    return db.execute("SELECT a FROM b")\n'
    root = make(tmp_path / "tree", **{"src/store.py": text, "other.py": "a = 1\n"})
    async with fronted(root, tmp_path / "mine.sql") as (front, indexing):
        await indexing.built()
        assert await rows(front, "SELECT tag, rule, evidence FROM tags ORDER BY ALL") == tags
        found = await rows(front, "SELECT path, symbol, text, defines FROM summaries WHERE kind <> 'directory'")
        assert found == summaries
        if not summaries:
            assert await rows(front, "FROM summaries") == []


async def test_a_change_is_in_the_next_answer(tmp_path: Path) -> None:
    root = make(tmp_path, **{"a.py": "a = 1\n"})
    async with fronted(root, "fledgling-analyst", is_followed=True) as (front, indexing):
        await indexing.built()
        assert await rows(front, "SELECT path FROM tags UNION ALL SELECT path FROM summaries") == []
        (root / "a.py").write_text('"""Says what it is."""\nimport sqlite3\n')
        assert await rows(front, "SELECT tag FROM tags") == [["database"]]
        assert await rows(front, "SELECT path, text FROM summaries") == [["a.py", "Says what it is."]]


# ---- limits ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    index = indexed(make(write(tmp_path_factory.mktemp("limits")), **SAYING), "fledgling-analyst")
    yield index
    index.close()


def counted(index: Index, sql: str) -> tuple[list[object], str]:
    found = index.ask(Query(sql))
    assert isinstance(found, Table), found
    return [cell for [cell] in found.rows], found.note or ""


def test_of_more_definitions_than_may_be_there_are_no_summaries(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds, there = "SELECT DISTINCT kind FROM summaries ORDER BY 1", definitions(index.request())
    monkeypatch.setattr(made_tables, "MAX_DEFINITIONS", there)
    assert counted(index, kinds) == (["class", "directory", "file", "method"], "")
    monkeypatch.setattr(made_tables, "MAX_DEFINITIONS", there - 1)
    expected = f"summaries has only files and directories: {there} definitions are more than {there - 1}."
    assert counted(index, kinds) == (["directory", "file"], expected)


@pytest.mark.parametrize("name", sorted(made_tables.TABLES))
def test_of_more_bytes_than_may_be_the_first_rows_are_there(
    index: Index, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    count, size = f"SELECT count(*) FROM {name}", len(made_tables.rows_of(index.request(), name).json) - 1
    [there], _ = counted(index, count)
    assert isinstance(there, int)
    for most, kept in {size: there, size - 1: there - 1, 0: 0}.items():
        monkeypatch.setattr(made_tables, "MAX_BYTES", most)
        left_out = f"{name} has its first {kept} rows only: more would be larger than {most:,} bytes."
        assert counted(index, count) == ([kept], "" if kept == there else left_out)


def test_what_merely_holds_their_names_makes_none(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made_tables, "MAX_BYTES", 0)  # then an answer says of each that is made that it has no row
    sql = "SELECT path AS tags FROM files WHERE path <> 'summaries' AND path LIKE 'README%' /* FROM summaries */"
    assert counted(index, sql) == (["README.md"], "")
    assert "tags has its first 0 rows" in counted(index, 'SELECT count(*) FROM main."Tags"')[1]


def test_the_table_of_summaries_makes_no_tags(index: Index) -> None:
    request = index.request()
    made_tables.rows_of(request, "summaries")
    assert request.tags_found is None
