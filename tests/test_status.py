"""How an index stands, as it is told: while it is built, as the project changes, and after who follows it has died."""

import asyncio
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest
from conftest import STAGED
from running import FOLLOWER, building, first, fronted
from test_live import live, write

from fledgling.broker.front import Front
from fledgling.broker.refused import NO_ROOT
from fledgling.broker.status import lines, status
from fledgling.messages.generations import GRAPH
from fledgling.messages.status import MAX_TOLD, Changed, Listed, Status
from fledgling.worker.follower.journal import MAX_EVENTS, Journal

pytestmark = pytest.mark.anyio


async def changed(front: Front, since: int | None = None) -> dict[str, tuple[str, ...]] | None:
    """What a status says has changed, by kind, without kinds of which there is none."""
    found = (await status(front, since, looks=True)).changes
    kinds = {kind: getattr(found, kind).paths for kind in ("added", "modified", "deleted")} if found else {}
    return found and {kind: paths for kind, paths in kinds.items() if paths}


async def test_a_build_is_told_from_its_begin_to_its_end(staged: Path) -> None:
    seen: list[Status] = []
    before = datetime.now(UTC)
    async with building(staged, "fledgling-core") as (front, indexing):
        seen.append(await status(front, looks=False))
        while not indexing.is_over:
            await asyncio.sleep(0.02)
            seen.append(await status(front, looks=True))
        seen.append(await status(front, looks=False))
        whole = STAGED
        assert seen[0].state == "pending"
        assert [said.state for said in seen[1:-1] if said.state not in ("pending", "in_progress")] in (
            [],
            ["completed"],
        )
        assert [said.progress for said in seen] == sorted(said.progress for said in seen)
        at_work = [said for said in seen if said.current_file]
        assert at_work
        for said in at_work:
            assert (staged / said.current_file).is_file()
            assert 0 <= said.processed_files <= said.total_files == whole
        last = seen[-1]
        assert (last.state, last.progress, last.total_files, last.processed_files) == ("completed", 100, whole, whole)
        assert before <= last.started_at < last.completed_at <= datetime.now(UTC)
        assert last.changes is None
        assert not any(str(staged) in line for said in seen for line in lines(said))


async def test_it_says_how_far_the_graph_is_behind_an_index_that_is_served(tmp_path: Path) -> None:
    for number in range(60):
        text = "".join(f"def f{number}_{n}(a):\n    return f{number}_{n + 1}(a)\n" for n in range(50))
        (tmp_path / f"m{number}.py").write_text(text)
    async with building(tmp_path, "fledgling-core") as (front, indexing):
        await indexing.built()
        asked = asyncio.create_task(indexing.sealed(GRAPH))
        seen = []
        while not asked.done():
            seen += [line for line in lines(await status(front, looks=False)) if line.startswith("at work: ")]
            await asyncio.sleep(0.01)
        await asked
        assert not [line for line in lines(await status(front, looks=False)) if line.startswith("at work: ")]
    counts = [
        re.fullmatch(r"at work: uses of definitions are being resolved, (\d+) of 60 files", line) for line in seen
    ]
    done = [int(count[1]) for count in counts if count]
    assert len(done) == len(seen)
    assert done == sorted(done)
    assert {*done} & {*range(21, 60)}  # parsing is a third of it


async def test_a_view_that_hides_files_hides_how_many_there_are_and_which(staged: Path, tmp_path: Path) -> None:
    view = tmp_path / "narrow.sql"
    view.write_text(
        "SET tools = 'explore';\nCREATE VIEW visible_files AS SELECT * FROM files WHERE path LIKE 'd1/%';\n"
    )
    async with fronted(staged, view) as (front, indexing):
        while not indexing.is_over:
            await asyncio.sleep(0.02)
            said = await status(front, looks=False)
            assert (said.total_files or 0) <= 60
            assert said.current_file is None or said.current_file.startswith("d1/")


async def test_changes_are_told_since_any_generation(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "c.py"):
        write(tmp_path, name, "needle = 1\n")
    async with live(tmp_path) as front:
        assert await changed(front) == {}
        write(tmp_path, "a.py", "needle = 2\n")
        (tmp_path / "b.py").unlink()
        write(tmp_path, "d/new.py", "needle = 1\n")
        one = {"added": ("d/new.py",), "modified": ("a.py",), "deleted": ("b.py",)}
        assert await changed(front) == one
        assert (await status(front, looks=False)).generation == 1
        write(tmp_path, "b.py", "needle = 3\n")
        write(tmp_path, "d/new.py", "needle = 3\n")
        two = {"added": ("d/new.py",), "modified": ("a.py", "b.py")}
        assert await changed(front, 0) == two
        assert await changed(front, 1) == {"added": ("b.py",), "modified": ("d/new.py",)}
        assert await changed(front, 2) == await changed(front, 99) == {}
        (await first(psutil.Process(), FOLLOWER)).kill()
        assert await changed(front, 0) == two
        assert await changed(front, 1) == two  # since the index was built: what came between is not known any more
        said = (await status(front, 1, looks=False)).changes
        assert said.since == 0
        (tmp_path / "c.py").unlink()
        assert await changed(front, said.generation) == {"deleted": ("c.py",)}


async def test_what_has_changed_in_a_root_that_is_gone_is_not_known(tmp_path: Path) -> None:
    """It was moved away, and another directory has its name; it is back; it is deleted; and it is indexed once more."""
    root, moved = tmp_path / "root", tmp_path / "moved"
    write(root, "a.py", "needle = 1\n")
    async with live(root) as front:
        assert await changed(front) == {}
        root.rename(moved)
        write(root, "other.py", "other = 1\n")
        assert await unknown(front)
        shutil.rmtree(root)
        moved.rename(root)
        assert await changed(front) == {}
        shutil.rmtree(root)
        assert await unknown(front)
        front.indexing.renew(afresh=True)
        assert await unknown(front)


async def unknown(front: Front) -> bool:
    """Whether a status says, with a look and without, that nobody knows what has changed, since the root is gone."""
    for looks in (True, False):
        found = await status(front, looks=looks)
        assert (found.changes, found.unfollowed) == (None, NO_ROOT.reason)
        assert f"changes: not known ({NO_ROOT.reason})" in lines(found)
    return True


def test_of_many_changes_the_first_are_told_and_the_others_counted() -> None:
    journal = Journal(0, 0)
    for number in range(MAX_EVENTS + 5):
        journal.note(number + 1, f"{number % 200:03}.py", "modified")
    found = journal.since(5, MAX_EVENTS + 5, {})
    assert (found.since, found.modified.count, len(found.modified.paths)) == (5, 200, MAX_TOLD)
    assert journal.since(4, MAX_EVENTS + 5, {"a.py": "added"}) == Changed(0, MAX_EVENTS + 5, Listed(1, ("a.py",)))
