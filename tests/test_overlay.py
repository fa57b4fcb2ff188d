"""Changes laid over a sealed index: every answer is that of an index built anew from the changed tree."""

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest
from changing import SHORT, Facts, Index, changes, edit, facts, following, indexed, plant, question, update
from msgspec.structs import astuple, replace

from fledgling.broker.launch import BackProcess
from fledgling.broker.spawn import spawn
from fledgling.messages.answers import Table
from fledgling.messages.control import Begun, Call, FromWorker, Ready, Reply, Updated
from fledgling.messages.questions import Asked, Dependencies, Explore, Query, Read, Search, Symbols, asks_graph
from fledgling.pipe import Unpacker
from fledgling.worker.ranking.sections import READ_BLOCKS
from fledgling.worker.rows import SymbolColumns
from fledgling.worker.store.ngram_writer import signed
from fledgling.worker.store.overlay import tables
from fledgling.worker.store.overlay.changed import MAX_CHANGED
from fledgling.worker.store.overlay.snapshots import KEPT, Snapshots
from fledgling.worker.store.parts import Changes, Part
from fledgling.worker.store.symbol_writer import outlined

WHOLE = "fledgling-analyst"


def compare(random: Random, live: Index, fresh: Index, paths: list[str], count: int) -> None:
    """Ask both the same; no change is laid over a graph."""
    for _ in range(count):
        asked = question(random, paths)
        if asks_graph(asked):
            continue
        assert live.pages(asked) == fresh.pages(asked), asked


def paths_of(*known: Facts) -> list[str]:
    return sorted({path for some in known for path in some.parts})


def check(root: Path, seed: int, *, files: int, edits: list[int], count: int) -> None:
    """Build an index, change the tree in steps, and compare what is laid over the index with a new one at each."""
    random = Random(seed)
    plant(root, random, files)
    short = root.with_name(f"{root.name}.sql")
    short.write_text(SHORT)
    profiles = [WHOLE, "fledgling-core" if seed % 2 else str(short)]
    base = [indexed(root, profile) for profile in profiles]
    old = facts(base[0])
    for generation, some in enumerate(edits, 1):
        edit(root, random, some)
        fresh = [indexed(root, profile) for profile in profiles]
        new = facts(fresh[0])
        for live, anew in zip(base, fresh, strict=True):
            said = changes(old, new, whole=live.gate is not None)
            assert live.snapshots.add(update(generation, said))
            compare(random, live, anew, paths_of(old, new), count)
            anew.close()
        old = new
    for live in base:
        live.close()


# ---- one state after the other ---------------------------------------------------------------------------------------


@pytest.mark.long  # with a follower and processes around it, one is in tests/test_live.py
def test_answers_are_those_of_an_index_built_anew(tmp_path: Path) -> None:
    check(tmp_path, 0, files=25, edits=[2, 12], count=25)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 26))
def test_answers_are_those_of_an_index_built_anew_whatever_changes(tmp_path: Path, seed: int) -> None:
    check(tmp_path, seed, files=60, edits=[1, 3, 20, 40], count=100)


def test_of_sections_that_say_the_same_those_are_found_that_come_first(tmp_path: Path) -> None:
    """There are more than are looked at, and one that comes first has changed."""
    for number in range(READ_BLOCKS + 2):
        (tmp_path / f"f{number:03}.md").write_text(f"# Needle\n\nThe needle of {number:03}.\n")
    live = indexed(tmp_path, WHOLE)
    old = facts(live)
    (tmp_path / "f000.md").write_text("# Needle\n\nThe needle of all.\n")
    fresh = indexed(tmp_path, WHOLE)
    assert live.snapshots.add(update(1, changes(old, facts(fresh))))
    asked = Search("needle", mode="docs", max_results=READ_BLOCKS)
    assert live.pages(asked) == fresh.pages(asked)
    for each in (live, fresh):
        each.close()


# ---- snapshots and their cursors -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose every file says what it is out of date by."""
    root = tmp_path_factory.mktemp("tree")
    for number in range(12):
        text = f"import outdated_module\n\n# outdated\n\n\ndef outdated_{number}():\n    return 1\n"
        (root / f"f{number:02}.py").write_text(text)
    return root


@pytest.fixture(scope="module")
def known(tree: Path) -> Iterator[tuple[Index, Facts, Facts]]:
    """An index of it, and what there is before and after all of it was changed."""
    index = indexed(tree, WHOLE)
    before = facts(index)
    for number in range(12):
        (tree / f"f{number:02}.py").write_text(f"import os\n\n\ndef current_{number}():\n    return 2\n")
    (tree / "f11.py").unlink()
    (tree / "g.py").write_text("class Current:\n    pass\n")
    fresh = indexed(tree, WHOLE)
    after = facts(fresh)
    fresh.close()
    yield index, before, after
    index.close()


PAGED: list[Asked] = [
    Search("outdated", max_results=5),
    Search("outdated", kind="function", max_results=5),
    Symbols(name_pattern="outdated*", max_results=5),
]


@pytest.mark.parametrize("asked", PAGED)
def test_pages_go_on_in_the_snapshot_they_were_begun_in(known: tuple[Index, Facts, Facts], asked: Asked) -> None:
    index, before, after = known
    index.snapshots = Snapshots(index.base, index.db.cursor, {})
    expected = index.pages(asked, most=9)
    first = index.ask(asked)
    assert index.snapshots.add(update(1, changes(before, after)))
    assert [first, *index.pages(following(first), most=9)] == expected
    assert index.pages(asked)[0].total == 0


def test_a_cursor_of_a_snapshot_that_is_gone_is_refused(known: tuple[Index, Facts, Facts]) -> None:
    index, before, after = known
    index.snapshots = Snapshots(index.base, index.db.cursor, {})
    base = index.ask(Search("def", max_results=5))
    cursors = [base.next.arguments["cursor"]]
    for generation in range(1, KEPT + 2):
        said = changes(before, after) if generation == 1 else Changes()
        assert index.snapshots.add(update(generation, said))
        page = index.ask(Search("def", max_results=5))
        cursors.append(page.next.arguments["cursor"])
    assert cursors == ["5", *(f"{generation}:5" for generation in range(1, KEPT + 2))]
    pages = [index.ask(Search("def", max_results=5, cursor=cursor)) for cursor in cursors]
    gone, kept = pages[1 : len(pages) - KEPT], pages[len(pages) - KEPT :]  # the index itself stays
    assert pages[0].total == base.total
    assert {(page.kind, page.reason, page.next_step) for page in gone} == {
        ("invalid", "the project has changed since the first page", "Ask again without `cursor`.")
    }
    assert {page.total for page in kept} == {11}
    assert index.ask(Search("def", cursor="99:5")) == gone[0]


def test_a_snapshot_takes_its_database_with_it(known: tuple[Index, Facts, Facts]) -> None:
    index, before, after = known
    index.snapshots = Snapshots(index.base, index.db.cursor, {})
    for generation in range(1, 30):
        said = changes(before, after) if generation == 1 else Changes()
        assert index.snapshots.add(update(generation, said))
        assert index.ask(Query("SELECT count(*) FROM content")).rows == [[11 * 5 + 2]]
    names = [name for name, *_ in index.db.execute("SELECT database_name FROM duckdb_databases()").fetchall()]
    assert sum(name.startswith("changes_") for name in names) == KEPT


# ---- no room ---------------------------------------------------------------------------------------------------------


def grown(part: Part, number: int, text: bytes = b"x") -> Part:
    row = replace(part.row, path=f"new/{number}.py")
    return Part(row, "none", True, [(1, text)], signed([text]), outlined([[]]), SymbolColumns(), [[]], None)


@pytest.mark.parametrize(
    ("files", "text"),
    [(MAX_CHANGED + 1, b"x"), (17, b"x" * 2**20)],
    ids=["too many files", "too much text"],
)
def test_where_there_is_no_room_nothing_is_taken_any_more(
    known: tuple[Index, Facts, Facts], files: int, text: bytes
) -> None:
    index, _, after = known
    index.snapshots = Snapshots(index.base, index.db.cursor, {})
    parts = [grown(after.parts["g.py"], number, text) for number in range(files)]
    assert index.snapshots.add(update(1, Changes(parts[:-1])))
    assert index.ask(Explore()).summary.total_files == 12 + files - 1
    assert not index.snapshots.add(update(2, Changes(parts[-1:])))
    assert not index.snapshots.add(update(3, Changes()))
    assert index.snapshots.newest.changes == 1


def test_what_comes_in_several_messages_is_seen_at_once(known: tuple[Index, Facts, Facts]) -> None:
    index, before, after = known
    index.snapshots = Snapshots(index.base, index.db.cursor, {})
    said = changes(before, after)
    assert index.snapshots.add(update(1, Changes(said.parts), is_last=False))
    assert index.ask(Search("outdated")).total == 36
    assert index.snapshots.add(update(1, replace(said, parts=[])))
    assert index.ask(Search("outdated")).total == 0
    assert index.snapshots.add(update(2, Changes(afresh=True), is_last=False))
    assert index.snapshots.add(update(2, Changes(removed=["f00.py"])))
    assert index.ask(Search("outdated")).total == 33


def test_files_that_could_not_be_read_yet_are_named(known: tuple[Index, Facts, Facts]) -> None:
    index, *_ = known
    index.snapshots = Snapshots(index.base, index.db.cursor, {})
    assert index.snapshots.add(update(1, Changes(pending=["f03.py"])))
    for asked in (Search("outdated"), Search("zzz"), Symbols(), Explore(), Dependencies("f01.py"), Read("f03.py")):
        assert "Changed and not read yet: f03.py." in (index.ask(asked).note or ""), asked
    assert index.snapshots.add(update(2, Changes()))
    assert index.ask(Search("outdated")).note is None


# ---- a process of its own --------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_a_confined_worker_takes_changes_between_calls(known: tuple[Index, Facts, Facts]) -> None:
    index, before, after = known
    opened = replace(index.opened, broker_pid=os.getpid())
    process = spawn("fledgling.worker.query", astuple(opened.images))
    worker = BackProcess(process, opened, Unpacker(FromWorker))
    try:
        assert isinstance(await worker.receive(), Ready)
        questions = [Search("outdated"), Symbols(name_pattern="outdated*"), Query("SELECT count(*) FROM files")]
        for generation in range(2):
            for number, asked in enumerate(questions):
                worker.tell(Call(number, 60.0, asked))
                assert await worker.receive() == Begun(number)
                assert await worker.receive() == Reply(number, index.ask(asked), generation)
            index.snapshots = Snapshots(index.base, index.db.cursor, {})
            for said in (update(1, Changes(), is_last=False), update(1, changes(before, after))):
                worker.tell(said)
                assert index.snapshots.add(said)
            assert await worker.receive() == Updated(1)
            if generation:
                worker.tell(update(2, Changes([grown(after.parts["g.py"], n) for n in range(MAX_CHANGED)])))
                assert await worker.receive() == Updated(2, has_room=False)
    finally:
        worker.kill()
        await worker.ended()


# ---- SQL sees no more than that --------------------------------------------------------------------------------------

HERE = Path(__file__).parent
ADMITTED = [
    sql for named in tomllib.loads((HERE / "queries/admitted.toml").read_text()).values() for sql in named.values()
]
ATTACKS = [row["sql"] for row in tomllib.loads((HERE / "attacks/sql.toml").read_text())["statement"]]
BEHIND = [
    f"SELECT * FROM {catalog}{table}"
    for catalog in ("", "main.", "code.", "code.main.", "text.", "text.main.", "CHANGES.", "CHANGES.main.", "temp.")
    for table in (
        "files",
        "content",
        "symbols",
        "imports",
        "blocks",
        "names",
        "hidden",
        "own_files",
        "own_blocks",
        "numbered",
    )
]


def databases(index: Index) -> set[str]:
    return {name for (name,) in index.db.execute("SELECT database_name FROM duckdb_databases()").fetchall()}


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.long)])
def test_no_statement_sees_what_is_out_of_date(known: tuple[Index, Facts, Facts], every: int) -> None:
    """None of those that look behind, and of every so many of the others."""
    index, before, after = known
    index.snapshots = Snapshots(index.base, index.db.cursor, {})
    assert b"outdated" in msgspec.msgpack.encode(index.ask(Query("SELECT * FROM content")))
    others = databases(index)  # one of an earlier snapshot may be there until Python has looked for cycles
    assert index.snapshots.add(update(1, changes(before, after)))
    index.ask(Query("FROM files"))
    seen = 0
    [made] = databases(index) - others
    for sql in (*ADMITTED[::every], *ATTACKS[::every], *(sql.replace("CHANGES", made) for sql in BEHIND)):
        answer = index.ask(Query(sql)) if "\0" not in sql else None
        if isinstance(answer, Table):
            seen += bool(answer.rows)
            assert "outdated" not in repr(answer.rows), sql
    assert seen > 100 // every, "most of what is admitted finds something"


def test_rows_of_a_large_index_come_in_any_order(
    known: tuple[Index, Facts, Facts], monkeypatch: pytest.MonkeyPatch
) -> None:
    index, before, after = known
    found = []
    for most in (tables.ORDERED_ROWS, 0):
        monkeypatch.setattr(tables, "ORDERED_ROWS", most)
        index.snapshots = Snapshots(index.base, index.db.cursor, {})
        assert index.snapshots.add(update(1, changes(before, after)))
        found.append([index.ask(Query(f"SELECT path FROM {table}")).rows for table in ("files", "symbols")])
    ordered, others = found
    assert [sorted(rows) for rows in ordered] == ordered
    assert [sorted(rows) for rows in others] == ordered
