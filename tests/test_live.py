"""Answers follow the project: they are those of an index built now, and what is older says so."""

import asyncio
import mmap
import os
import shutil
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, get_args

import msgspec
import psutil
import pytest
from changing import ASKED, GRAPHED, WORDS, edit, plant, question
from running import (
    FOLLOWER,
    INDEXER,
    PATIENCE,
    QUERY_WORKER,
    answered,
    back_processes,
    first,
    fronted,
    indexed,
    is_alive,
    until,
)

from fledgling.broker import following
from fledgling.broker import front as front_module
from fledgling.broker.basis import Basis
from fledgling.broker.following import RESTART_SECONDS, RESTARTS
from fledgling.broker.front import UNFOLLOWED, UNSEEN, Front, with_note
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.status import status
from fledgling.broker.terms import Terms, due
from fledgling.found import PROJECT_FILE
from fledgling.messages.answers import AnyAnswer, Exploration, Refusal, RefusalKind, Relations
from fledgling.messages.cursors import place as cursor_at
from fledgling.messages.generations import GRAPH
from fledgling.messages.questions import AnyQuestion, Dependencies, Explore, Query, Read, Search, Survey, Symbols
from fledgling.security import memory_file
from fledgling.security import profile as profiles
from fledgling.settings import Freshness, Settings
from fledgling.worker.follower.differences import MAX_FILES
from fledgling.worker.follower.reading import MOST_BYTES

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def live(
    root: Path, profile: object = "fledgling-core", freshness: Freshness = "strict", **settings: int
) -> AsyncIterator[Front]:
    """A front that follows the project."""
    indexing = Indexing(
        Settings(root=str(root), **settings), profiles.load(str(profile)), is_followed=freshness != "off"
    )
    front = Front(indexing.profile, indexing, freshness)
    try:
        await indexing.built()
        yield front
    finally:
        await front.close()


async def pages(front: Front, question: AnyQuestion, most: int = 3) -> list[AnyAnswer | Refusal]:
    """The first pages of an answer, each with the cursor that it would have without changes."""
    found = []
    following: AnyQuestion | None = question
    while following and len(found) < most:
        page, following = await front.ask(following), None
        if following_call := getattr(page, "next", None):
            arguments = following_call.arguments
            following = msgspec.convert({**arguments, "tool": following_call.tool}, type(question))
            if "cursor" in arguments:
                plain = cursor_at(str(arguments["cursor"]))._replace(changes=0).cursor
                again = msgspec.structs.replace(following_call, arguments={**arguments, "cursor": plain})
                page = msgspec.structs.replace(page, next=again)
        found.append(page)
    return found


async def settled(front: Front, question: AnyQuestion) -> list[AnyAnswer | Refusal]:
    """The first pages, once none is of an index that is being built anew: what uses a name waits for that."""
    end = time.monotonic() + PATIENCE
    while "changed since this was indexed" in str(found := await pages(front, question)):
        assert time.monotonic() < end, found
        await asyncio.sleep(0.05)
    return found


async def current(front: Front, question: AnyQuestion) -> AnyAnswer:
    """The answer, once it is not of an index that is being built anew: a busy machine takes long for that."""
    end = time.monotonic() + PATIENCE
    while "changed since this was indexed" in str(found := await answered(front, question)):
        assert time.monotonic() < end, found
        await asyncio.sleep(0.05)
    return found


def paths_in(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if ".git" not in path.parts)


async def check(root: Path, profile: str, seed: int, *, files: int, edits: list[int], count: int) -> None:
    """Edit a tree in steps, and compare every answer with one of an index built at that step."""
    random = Random(seed)
    plant(root, random, files)
    async with live(root, profile) as front:
        known = paths_in(root)
        for some in edits:
            edit(root, random, some)
            known = sorted({*known, *paths_in(root)})
            async with fronted(root, profile) as (fresh, indexing):
                await indexing.built()
                for _ in range(count):
                    asked = question(random, known)
                    if not isinstance(asked, Survey) and type(asked).__name__.lower() in front.profile.tools:
                        assert await settled(front, asked) == await pages(fresh, asked), asked


@pytest.mark.parametrize(
    "profile",  # every change is put to a server of the core below
    [pytest.param("fledgling-core", marks=pytest.mark.long), "fledgling-analyst"],
)
async def test_answers_are_those_of_an_index_built_now(tmp_path: Path, profile: str) -> None:
    await check(tmp_path, profile, 1, files=25, edits=[9], count=15)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 22))
async def test_answers_are_those_of_an_index_built_now_whatever_changes(tmp_path: Path, seed: int) -> None:
    profile = ["fledgling-core", "fledgling-analyst"][seed % 2]
    await check(tmp_path, profile, seed, files=60, edits=[1, 2, 1, 5, 40, 1], count=60)


@pytest.mark.long
async def test_answers_are_those_of_an_index_built_now_until_too_much_has_changed(tmp_path: Path) -> None:
    """One file, a hundred, and as many as are laid over an index; and one more, for which it is built anew."""
    random, known = Random(500), [f"d{number % 20}/m{number}.py" for number in range(MAX_FILES + 20)]
    for name in known:
        write(tmp_path, name, f"import os\n\n\ndef {random.choice(WORDS)}_1():\n    return run('{name}')\n")
    async with live(tmp_path, "fledgling-analyst") as front:
        begun = front.indexing.begun
        for count in (1, 100, MAX_FILES, MAX_FILES + 1):
            for name in known[:count]:
                with (tmp_path / name).open("a") as file:
                    file.write(f"\n\nclass C1:\n    def {random.choice(WORDS)}(self):\n        return {count}\n")
            if count <= MAX_FILES:
                assert (await answered(front, Search(f"return {count}", max_results=1))).total == count
                assert (front.indexing.changes, front.indexing.begun) == (0, begun)
            async with fronted(tmp_path, "fledgling-analyst") as (fresh, indexing):
                await indexing.built()
                for _ in range(40):
                    asked = question(random, known, kinds=[kind for kind in ASKED if kind not in GRAPHED])
                    if not isinstance(asked, Survey):
                        assert await settled(front, asked) == await pages(fresh, asked), (count, asked)
        assert front.indexing.begun > begun


# ---- what happens to a tree ------------------------------------------------------------------------------------------


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True, stdout=-3)


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


def same_size(root: Path) -> None:
    """A rewrite with another content of the same size, whose times are set back."""
    before = (root / "a.py").stat()
    write(root, "a.py", "def one(): return 2\n")
    os.utime(root / "a.py", ns=(before.st_atime_ns, before.st_mtime_ns))


def replaced(root: Path) -> None:
    write(root, "a.py.new", "needle = 1\n")
    os.replace(root / "a.py.new", root / "a.py")


def swapped(root: Path) -> None:
    (root / "a.py").unlink()
    write(root, "a.py/b.py", "needle = 1\n")


def linked(root: Path) -> None:
    shutil.rmtree(root / "pkg")
    (root / "pkg").symlink_to("/etc")


def unlisted(root: Path) -> None:
    write(root, ".gitignore", "a.py\nignored.py\n")
    git(root, "rm", "-q", "--cached", "a.py")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file is written to": lambda root: write(root, "a.py", "def needle(): pass\n"),
    "a file is rewritten with the same size and time": same_size,
    "a file is replaced by a rename": replaced,
    "a file is new": lambda root: write(root, "new/deep/needle.py", "import pkg.m\n"),
    "a file is deleted": lambda root: (root / "pkg/m.py").unlink(),
    "a directory is deleted": lambda root: shutil.rmtree(root / "pkg"),
    "a directory is renamed": lambda root: (root / "pkg").rename(root / "needle"),
    "a directory takes the place of a file": swapped,
    "a link takes the place of a directory": linked,
    "an ignore file is new": lambda root: write(root, "pkg/.gitignore", "m.py\n"),
    "an ignore file says less": lambda root: write(root, ".gitignore", ""),
    "git's own exclude file": lambda root: write(root, ".git/info/exclude", "untracked.py\n"),
    "an ignored file becomes tracked": lambda root: git(root, "add", "-f", "ignored.py"),
    "a tracked file becomes ignored": unlisted,
    "git is asked for its status": lambda root: git(root, "status"),
    "a commit": lambda root: git(root, "commit", "-q", "--allow-empty", "-m", "x"),
    "a repository inside": lambda root: git(root, "init", "-q", "pkg"),
    "a file becomes binary": lambda root: (root / "a.py").write_bytes(b"\0needle"),
    "a file grows too large": lambda root: write(root, "a.py", "# needle\n" * 200_000),
    "a file loses its language": lambda root: (root / "a.py").rename(root / "a"),
    "a text shows another language": lambda root: write(root, "level.m", "% needle\nlevel = 1;\n"),
    "what others import is renamed": lambda root: (root / "pkg/m.py").rename(root / "pkg/n.py"),
}


def asked_in(place: str) -> list[AnyQuestion]:
    return [
        Explore(place, depth=9),
        Search("needle", place),
        Search("def", place),
        Symbols(place),
        Read(f"{place}/a.py"),
        Read(f"{place}/pkg/m.py"),
        Dependencies(f"{place}/use.py"),
        Dependencies(f"{place}/pkg/m.py", "imported_by"),
    ]


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("untouched")
    write(root, "a.py", "def one(): return 1\n")
    write(root, "pkg/__init__.py", "")
    write(root, "pkg/m.py", "class M:\n    def run(self): ...\n")
    write(root, "use.py", "from pkg import m\nimport a\n")
    write(root, "level.m", "int level = 1;\n")
    write(root, ".gitignore", "ignored.py\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "all")
    write(root, "ignored.py", "needle = 'ignored'\n")
    write(root, "untracked.py", "needle = 'untracked'\n")
    return root


@pytest.mark.parametrize("is_compared", [False, pytest.param(True, marks=pytest.mark.long)])
async def test_every_change_is_in_the_next_answer(untouched: Path, tmp_path: Path, is_compared: bool) -> None:
    """Each change is looked at by itself; then all is compared with an index built now.

    Once a setting has restricted what is indexed, it is seen in an answer, or all is compared once more.
    """
    places = {f"p{number}": name for number, name in enumerate(CHANGES)}
    for place in places:
        shutil.copytree(untouched, tmp_path / place, symlinks=True)
    async with live(tmp_path) as front:
        for place, name in places.items():
            await answered(front)
            CHANGES[name](tmp_path / place)
        for settings in (None, "exclude_patterns: [pkg]\n"):
            if settings:
                write(tmp_path, PROJECT_FILE, settings)
                left = (await current(front, Search("class M", context=0))).files
                assert [file.path for file in left] == [f"p{[*CHANGES].index('a directory is renamed')}/needle/m.py"]
                if not is_compared:
                    break
            async with fronted(tmp_path) as (fresh, indexing):
                await indexing.built()
                for place, name in places.items():
                    for asked in asked_in(place):
                        assert await pages(front, asked) == await pages(fresh, asked), (name, asked)


async def test_what_a_root_is_called_that_is_a_package_goes_with_what_files_import(tmp_path: Path) -> None:
    for name in ("__init__.py", "a/__init__.py", "a/b.py", "c.py", "d.py"):
        write(tmp_path, name, "")
    write(tmp_path, "use.py", "import own.a\nimport own.a.b\n")
    write(tmp_path, "e.js", 'import "own/e/f"\n')  # says nothing of packages of Python
    asked = Dependencies("use.py")
    async with live(tmp_path) as front:
        before = await pages(front, asked)
        write(tmp_path, "d.py", "import own.c\n")
        found = await pages(front, asked)
        async with fronted(tmp_path) as (fresh, indexing):
            await indexing.built()
            assert found == await pages(fresh, asked) != before
        write(tmp_path, "d.py", "import own.e\n")
        assert await pages(front, asked) == before


@pytest.mark.long
async def test_an_index_that_a_view_narrows_is_built_anew(tmp_path: Path) -> None:
    """Whether a change hides other files, only the view can say; a write within one tick of a build shows the same."""
    view = tmp_path / "narrow.sql"
    view.write_text(
        "SET tools = 'explore, read, search';\n"
        "CREATE VIEW visible_files AS SELECT * FROM files WHERE path NOT LIKE '%secret%';\n"
    )
    root = tmp_path / "root"
    write(root, "a.py", "x = 1\n")
    write(root, "secret.py", "needle = 1\n")
    async with live(root, view) as front:
        assert (await answered(front, Search("needle"))).total == 0
        write(root, "a.py", "needle = 2\n")
        assert (await current(front, Search("needle"))).total == 1


@pytest.mark.parametrize("name", ["a.py", pytest.param("secret.py", marks=pytest.mark.long)])
async def test_a_write_within_one_tick_of_a_build_is_seen_under_a_view(tmp_path: Path, name: str) -> None:
    """By a page that is mapped and written to already: the kernel gives a file no other times for a write to it."""
    view = tmp_path / "seen.sql"
    view.write_text(
        "SET tools = 'read, search';\nCREATE VIEW visible_files AS SELECT * FROM files WHERE path <> 'secret.py';\n"
    )
    root = tmp_path / "root"
    write(root, "a.py", "needle = 1\n")
    write(root, "secret.py", "needle = 1\n")
    with (root / name).open("r+b") as file, mmap.mmap(file.fileno(), 0) as page:
        indexing = Indexing(Settings(root=str(root)), profiles.load(str(view)), is_followed=True)
        page[9:10] = b"2"  # after the build has begun, and before it reads
        before, front = (root / name).stat(), Front(indexing.profile, indexing, "strict")
        try:
            await indexing.built()
            page[9:10] = b"3"
            after, begun_at = (root / name).stat(), indexing.begun_at
            found = await current(front, Search("needle = 3"))
            assert found.total == (name == "a.py")
            assert (before.st_mtime_ns, before.st_ctime_ns) == (after.st_mtime_ns, after.st_ctime_ns)
            assert indexing.begun_at > begun_at
        finally:
            await front.close()


async def test_a_call_waits_so_long_for_an_index_that_is_built_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it is answered from the one before, and says so."""
    monkeypatch.setattr(front_module, "PATIENCE_SECONDS", 2.0)
    view = tmp_path / "narrow.sql"
    view.write_text("SET tools = 'search';\nCREATE VIEW visible_files AS SELECT * FROM files WHERE path <> 'b.py';\n")
    root = tmp_path / "root"
    write(root, "a.py", "x = 1\n")
    async with live(root, view) as front:
        await until(lambda: not back_processes(psutil.Process(), INDEXER))
        assert (await answered(front, Search("needle"))).total == 0
        write(root, "a.py", "needle = 2\n")
        asking = asyncio.create_task(answered(front, Search("needle")))
        (builder := await first(psutil.Process(), INDEXER)).suspend()
        begun = time.monotonic()
        before = await asking
        assert 1 < time.monotonic() - begun < profiles.load("fledgling-core").query_timeout / 2
        assert (before.total, "changed since this was indexed" in before.note) == (0, True)
        builder.resume()
        assert (await current(front, Search("needle"))).total == 1


async def test_what_is_too_much_for_messages_is_in_an_index_built_anew(tmp_path: Path) -> None:
    """Many changes, and then a large file; of what changes after that, its status tells."""
    write(tmp_path, "a.py", "x = 1\n")
    async with live(tmp_path, max_file_size=2 * MOST_BYTES) as front:
        await answered(front, Search("needle"))
        follower = await first(psutil.Process(), FOLLOWER)
        for number in range(600):
            write(tmp_path, f"d/m{number}.py", f"needle = {number}\n")
        assert (await status(front, looks=True)).state in ("in_progress", "completed")
        if isinstance(refused := await front.ask(Read("d/m1.py")), Refusal):
            assert "changed since this was indexed" in refused.next_step
        assert (await current(front, Search("needle", max_results=1000, context=0))).total == 600
        assert await first(psutil.Process(), FOLLOWER) != follower  # what has met so much ends with the old index
        said = await status(front, 0, looks=True)
        assert (said.state, said.total_files) == ("completed", 601)
        assert said.changes.since == said.generation > 0
        write(tmp_path, "a.py", "# needle\n" * (MOST_BYTES // 9 + 1))
        assert (await current(front, Search("needle", "a.py", max_results=1))).total > 1
        again = await status(front, looks=True)
        assert again.changes.since == again.generation > said.generation
        write(tmp_path, "a.py", "needle = 2\n")
        assert (await status(front, again.generation, looks=True)).changes.modified.paths == ("a.py",)


MAPPED = ("blocks", "signatures", "outlines", "words")  # what an index holds of every file
GATHERING = "gathering/__init__.py"  # exports what it imports, so its words are others under this name
PARSED = {"new.py", GATHERING}
ANEW = ((False, PARSED), (False, set[str]()), (True, PARSED))  # whether afresh, and what is parsed: then more


@pytest.mark.parametrize(
    ("profile", "count"),  # that nothing else is parsed, or all, is decided where it is decided what is
    [
        ("fledgling-analyst", 1),
        pytest.param("fledgling-analyst", len(ANEW), marks=pytest.mark.long),
        pytest.param("fledgling-core", len(ANEW), marks=pytest.mark.long),
    ],
)
async def test_an_index_built_anew_parses_what_has_changed_alone(tmp_path: Path, profile: str, count: int) -> None:
    """And is, byte for byte, the one that is built of everything. A new name alone is no reason to parse."""
    plant(tmp_path, Random(4), 40)
    write(tmp_path, "gone.py", "import os\n")
    write(tmp_path, "moved.py", "def moved(): ...\n" * 999)
    write(tmp_path, "same.py", "def moved(): ...\n" * 999)
    write(tmp_path, "gathered.py", "import needle\n" * 999)
    async with live(tmp_path, profile) as front:
        (tmp_path / "gone.py").unlink()
        (tmp_path / "moved.py").rename(tmp_path / "to.py")
        (tmp_path / "gathering").mkdir()
        (tmp_path / "gathered.py").rename(tmp_path / GATHERING)
        write(tmp_path, "new.py", "def new(): ...\n" * 999)
        async with indexed(tmp_path, profile) as fresh:
            anew = await fresh.built()
            whole = {name: bytes(memory_file.mapped(getattr(fresh.images, name))) for name in MAPPED}
        for afresh, expected in ANEW[:count]:
            front.indexing.renew(afresh=afresh)
            again = await front.indexing.built()
            parsed = {path for path, seconds in again.slowest if seconds}
            assert parsed == expected if not afresh else parsed > {"to.py", "same.py", *expected}
            assert (again.files, again.symbols, again.imports) == (anew.files, anew.symbols, anew.imports)
            for name in MAPPED:
                assert bytes(memory_file.mapped(getattr(front.indexing.images, name))) == whole[name], name


async def test_an_index_built_anew_holds_of_definitions_what_the_settings_of_now_let_it_hold(tmp_path: Path) -> None:
    """Their hashes are of the text: an index without that has none, whatever the one before it had."""
    write(tmp_path, "a.py", "def needle(): ...\n")
    asked = Query("SELECT count(*), count(content_hash) FROM symbols WHERE path = 'a.py'")
    async with live(tmp_path, "fledgling-analyst") as front:
        for settings, hashes in (("", 1), ("index_content: false\n", 0), ("", 1)):
            write(tmp_path, PROJECT_FILE, settings)
            assert (await current(front, asked)).rows == [[1, hashes]]


async def test_the_root_that_is_gone_is_answered_by_a_refusal(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root, "a.py", "needle = 1\n")
    async with live(root) as front:
        await answered(front, Search("needle"))
        shutil.rmtree(root)
        write(root, "a.py", "other = 1\n")
        refused = await front.ask(Search("needle"))
        assert isinstance(refused, Refusal)
        assert "deleted" in refused.reason


async def test_a_root_whose_name_another_directory_has_is_answered_by_a_refusal(tmp_path: Path) -> None:
    """As long as nothing has its name, and once it has that again, it is answered from."""
    root, moved = tmp_path / "root", tmp_path / "moved"
    write(root, "a.py", "needle = 1\n")
    async with live(root) as front:
        root.rename(moved)
        assert (await answered(front, Search("needle"))).total == 1
        write(root, "a.py", "other = 1\n")
        refused = await front.ask(Search("needle"))
        assert isinstance(refused, Refusal)
        assert "another directory has taken its place" in refused.reason
        shutil.rmtree(root)
        moved.rename(root)
        assert (await answered(front, Search("needle"))).total == 1


@pytest.mark.parametrize("is_each", [False, pytest.param(True, marks=pytest.mark.long)], ids=["some", "each"])
async def test_what_cannot_be_read_for_a_while_is_left_out_that_long(tmp_path: Path, is_each: bool) -> None:
    """A directory is said to be unreadable; of a root nothing is answered."""
    root = tmp_path / "root"
    write(root, "a.py", "needle = 1\n")
    write(root, "pkg/deep/m.py", "needle = 2\n")
    modes = [("pkg/deep", 0), ("pkg", 0o444), ("pkg", 0o755), ("pkg", 0), ("pkg", 0o755), ("pkg/deep", 0o755)]
    compared = {1, 4}  # what may be listed and not entered, and what is open again around something closed
    async with live(root) as front:
        for number, (name, mode) in enumerate(modes):
            (root / name).chmod(mode)
            if not is_each and number not in compared:
                await front.ask(Search("needle"))
                continue
            async with fronted(root) as (fresh, indexing):
                await indexing.built()
                for asked in (Explore(depth=3), Search("needle"), Read("pkg/deep/m.py")):
                    assert await front.ask(asked) == await fresh.ask(asked), (name, mode)
        root.chmod(0)
        refused = [await front.ask(Search("needle"))]
        for follower in back_processes(psutil.Process(), FOLLOWER):
            follower.kill()
        refused.append(await front.ask(Search("needle")))  # another has begun over a root that is closed
        followers = back_processes(psutil.Process(), FOLLOWER)
        root.chmod(0o755)
        (root / "a.py").unlink()
        assert ["cannot be read" in found.reason for found in refused if isinstance(found, Refusal)] == [True, True]
        assert (await answered(front, Search("needle"))).total == 1
        assert followers
        assert all(map(is_alive, followers))


@pytest.mark.parametrize("is_each", [False, pytest.param(True, marks=pytest.mark.long)], ids=["some", "each"])
async def test_answers_say_how_many_files_are_indexed_now(tmp_path: Path, is_each: bool) -> None:
    """As those of an index built now do, and so does the status."""
    write(tmp_path, "a.py", "one = 1\n")
    write(tmp_path, "d/b.py", "two = 2\n")
    few = {"max_files": 2}
    changes = [
        lambda: write(tmp_path, "d/c.py", "needle = 3\n"),
        lambda: write(tmp_path, "d/e.py", "needle = 4\n"),
        (tmp_path / "d/e.py").unlink,
        (tmp_path / "d/b.py").unlink,
    ]
    async with live(tmp_path, **few) as front:
        notes = []
        for change in changes:
            change()
            found = [await front.ask(asked) for asked in (Search("needle"), Explore(depth=2))]
            if is_each or change is changes[1]:
                async with fronted(tmp_path, settings=few) as (fresh, indexing):
                    await indexing.built()
                    assert found == [await fresh.ask(asked) for asked in (Search("needle"), Explore(depth=2))]
            notes.append(found[1].note)
            assert (await status(front, looks=True)).partial == notes[-1]
        assert [note and note[:16] for note in notes] == [*(f"Only 2 of {n} file" for n in (3, 4, 3)), None]


async def test_a_file_that_is_being_written_is_named_or_read_whole(tmp_path: Path) -> None:
    """Each line is written at once: what is read of the file in between are the first of its lines."""
    write(tmp_path, "a.py", "needle = 0\n")
    stop = threading.Event()

    def scribble() -> None:
        with (tmp_path / "a.py").open("a", buffering=1) as file:
            while not stop.is_set() and file.tell() < 20_000:
                file.write(f"needle = {file.tell()}\n")

    async with live(tmp_path) as front:
        await answered(front, Search("needle"))
        thread = threading.Thread(target=scribble)
        thread.start()
        try:
            for _ in range(20):
                least = (tmp_path / "a.py").read_text().count("needle")
                found = await answered(front, Search("needle", max_results=1))
                assert found.total >= least or "a.py" in (found.note or "")
        finally:
            stop.set()
            thread.join()
        count = (tmp_path / "a.py").read_text().count("\n")
        assert (await answered(front, Read("a.py"))).total_lines == count


async def test_an_answer_says_of_which_generation_it_is_and_of_when(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "needle = 1\n" * 9)
    async with live(tmp_path) as front:
        first, second, third, page, refused = (Basis() for _ in range(5))
        cut = await front.call("search", {"query": "needle", "max_results": 3}, Terms(due(front.profile), basis=first))
        moment = datetime.now(UTC)
        write(tmp_path, "a.py", "needle = 2\n" * 9)
        await front.call("search", {"query": "needle"}, Terms(due(front.profile), basis=second))
        await front.call("search", {"query": "needle"}, Terms(due(front.profile), basis=third))
        await front.call("search", cut.next.arguments, Terms(due(front.profile), basis=page))
        await front.call("read", {"path": 1}, Terms(due(front.profile), basis=refused))
        assert [basis.generation for basis in (first, second, third, page, refused)] == [0, 1, 1, 0, None]
        assert first.as_of == page.as_of < moment < second.as_of < third.as_of <= datetime.now(UTC)
        assert third.meta() == {"generation": 1, "as_of": third.as_of.isoformat(timespec="milliseconds")}
        assert refused.meta() is None


async def test_a_refusal_that_comes_of_an_older_index_says_so() -> None:
    kinds = {kind: with_note(Refusal(kind, "why", "Do this."), UNSEEN).next_step for kind in get_args(RefusalKind)}
    of_index = ("not_found", "ambiguous", "not_indexed")
    assert {kind for kind, step in kinds.items() if UNSEEN in step} == {*of_index}


async def test_what_changes_while_the_first_index_is_built_is_in_the_first_answer_after_it(tmp_path: Path) -> None:
    """And answers of before say that they may be older."""
    for number in range(400):
        write(tmp_path, f"d/m{number}.py", f"def old_{number}():\n    return 1\n\n\n" * 60)
    indexing = Indexing(Settings(root=str(tmp_path)), profiles.load("fledgling-core"), is_followed=True)
    front = Front(indexing.profile, indexing, "strict")
    try:
        early = await answered(front, Search("old_7", max_results=1))
        write(tmp_path, "d/m7.py", "def needle():\n    return 2\n")
        write(tmp_path, "new.py", "import needle\n")
        (tmp_path / "d/m8.py").unlink()
        if not indexing.is_over:
            assert UNSEEN in early.note
        await indexing.built()
        found = await answered(front, Search("needle"))
        assert (found.total, found.note) == (2, None)
        assert (await answered(front, Search("old_7(", context=0))).total == 0
        assert isinstance(await front.ask(Read("d/m8.py")), Refusal)
    finally:
        await front.close()


@pytest.mark.parametrize(
    ("freshness", "share", "total"), [("strict", 10**6, 2), ("burst", 10**6, 1), ("burst", 0, 2), ("off", 0, 1)]
)
async def test_a_look_is_shared_for_so_many_times_what_it_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, freshness: Freshness, share: int, total: int
) -> None:
    monkeypatch.setattr(following, "SHARE", share)
    write(tmp_path, "a.py", "needle = 1\n")
    async with live(tmp_path, freshness=freshness) as front:
        assert await front.indexing.is_sealed(GRAPH, PATIENCE)  # what takes over from a worker has looked at nothing
        assert (await answered(front, Search("needle"))).total == 1
        write(tmp_path, "b.py", "needle = 2\n")
        assert (await answered(front, Search("needle"))).total == total
        write(tmp_path, "a.py", "needle = 1\n" * 2)  # which the answer names: it is looked at
        assert (await answered(front, Search("needle"))).total == (1 if freshness == "off" else 3)
        assert bool(back_processes(psutil.Process(), FOLLOWER)) == (freshness != "off")


async def test_an_empty_file_is_parsed_by_nobody(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "")
    async with live(tmp_path, "fledgling-analyst") as front:
        before = await answered(front, Query("SELECT path, engine, is_parsed, line_count FROM files ORDER BY path"))
        write(tmp_path, "b.py", "")
        after = await answered(front, Query("SELECT path, engine, is_parsed, line_count FROM files ORDER BY path"))
        assert after.rows == [*before.rows, ["b.py", *before.rows[0][1:]]]


# ---- who dies --------------------------------------------------------------------------------------------------------


async def test_a_process_that_is_killed_between_two_edits_costs_no_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the one that follows has ended so often that no other is started, answers say so; for RESTART_SECONDS."""
    write(tmp_path, "a.py", "needle = 1\n")
    async with live(tmp_path) as front:
        assert (await answered(front, Search("needle"))).total == 1
        write(tmp_path, "b.py", "needle = 2\n")
        assert (await answered(front, Search("needle"))).total == 2
        for number, module in enumerate([QUERY_WORKER, QUERY_WORKER, *[FOLLOWER] * (RESTARTS - 1)]):
            (await first(psutil.Process(), module)).kill()
            write(tmp_path, f"c{number}.py", "needle = 3\n")
            (tmp_path / "b.py").unlink(missing_ok=True)
            found = await answered(front, Search("needle"))
            assert (found.total, found.note) == (2 + number, None)
        (await first(psutil.Process(), FOLLOWER)).kill()
        last = await answered(front, Search("needle"))
        assert (last.total, last.note) == (found.total, UNFOLLOWED)
        later = SimpleNamespace(monotonic=lambda: time.monotonic() + RESTART_SECONDS)
        monkeypatch.setattr(following, "time", later)
        write(tmp_path, "d.py", "needle = 4\n")
        last = await answered(front, Search("needle"))
        assert (last.total, last.note) == (found.total + 1, None)


@pytest.mark.long  # as when a broker ends with a call at work: tests/test_processes.py
async def test_nothing_is_left_of_a_server_that_is_gone(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "needle = 1\n")
    async with live(tmp_path) as front:
        await answered(front, Search("needle"))
        write(tmp_path, "a.py", "needle = 2\n")
        await answered(front, Search("needle"))
        seen = back_processes(psutil.Process())
        assert any(FOLLOWER in process.cmdline() for process in seen)
    await until(lambda: not any(map(is_alive, seen)))


# ---- trials ----------------------------------------------------------------------------------------------------------


async def trials(root: Path, freshness: Freshness, count: int) -> None:
    """Edit, then ask any tool: the answer shows the edit, and nothing of what the file said before."""
    random, names = Random(7), [f"value_{number}" for number in range(20)]
    for number, name in enumerate(names):
        write(root, f"m{number}.py", f"{name} = 0\n")
    async with live(root, "fledgling-analyst", freshness=freshness) as front:
        for trial in range(count):
            number, name, imported = random.randrange(20), f"word{trial}x", random.randrange(20)
            path, was, names[number] = f"m{number}.py", names[number], name
            write(root, path, f"import m{imported}\ndef {name}():\n    return {trial}\n" + "\n" * (trial % 50))
            of_path = f"SELECT name FROM symbols WHERE path = '{path}' AND kind = 'function'"
            asks: list[tuple[AnyQuestion, Callable[[Any], object], object]] = [
                (Search(name), lambda found: found.total, 1),
                (Search(was), lambda found: found.total, 0),
                (Symbols(name_pattern=was), lambda found: found.total, 0),
                (Symbols(name_pattern=name), lambda found: [file.path for file in found.files], [path]),
                (Read(path), lambda found: found.lines[1], f"def {name}():"),
                (Read(path, symbol=name), lambda found: found.lines[1], f"    return {trial}"),
                (Dependencies(path), lambda found: [each.resolved for each in found.imports], [f"m{imported}.py"]),
                (Explore(pattern=path), lambda found: [file.lines for file in found.files], [3 + trial % 50]),
                (Query(of_path), lambda found: found.rows, [[name]]),
            ]
            asked, told, expected = random.choice(asks)
            assert told(await answered(front, asked)) == expected, asked


@pytest.mark.parametrize("freshness", ["strict", "burst"])
async def test_an_edit_is_in_the_next_answer(tmp_path: Path, freshness: Freshness) -> None:
    await trials(tmp_path, freshness, 20)


@pytest.mark.long
async def test_ten_thousand_edits_are_in_the_next_answers(tmp_path: Path) -> None:
    await trials(tmp_path, "strict", 10_000)


@pytest.mark.parametrize("count", [1, pytest.param(4, marks=pytest.mark.long)])
async def test_an_edit_is_in_the_next_answer_about_uses(tmp_path: Path, count: int) -> None:
    """Whatever the edit did to the lines of a definition and of its uses, they are those of an index built now."""
    write(tmp_path, "a.py", "def needle(): ...\n")
    write(tmp_path, "b.py", "from a import needle\nneedle()\n")
    asked = Symbols(symbol="needle", relation="usages")

    def moved() -> None:
        write(tmp_path, "a.py", "# a line more\n\ndef needle(): ...\n")
        write(tmp_path, "c.py", "import a\n\ndef use():\n    a.needle()\n")

    edits: list[tuple[Callable[[], object], list[tuple[str, int]]]] = [  # and the uses after it
        (moved, [("b.py", 1), ("b.py", 2), ("c.py", 4)]),
        ((tmp_path / "c.py").unlink, [("b.py", 1), ("b.py", 2)]),
        (lambda: write(tmp_path, "a.py", "# a line else\n\ndef needle(): ...\n"), [("b.py", 1), ("b.py", 2)]),
        (lambda: write(tmp_path, "b.py", "from a import other\n"), []),
    ]
    async with live(tmp_path) as front:
        for edit_once, uses in edits[:count]:
            assert isinstance(await front.ask(asked), Relations)
            edit_once()
            assert isinstance(await front.ask(Explore()), Exploration)  # the worker hears of it
            found = await current(front, asked)
            assert [each.lines[0] for each in found.definitions] == [3]
            assert [(file.path, each.line) for file in found.files for each in file.related] == uses
            if edit_once is edits[count - 1][0]:
                async with fronted(tmp_path) as (fresh, _):
                    assert found == await fresh.ask(asked)
