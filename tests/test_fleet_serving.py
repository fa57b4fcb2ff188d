"""A server of shards: what it answers is what a server answers that has indexed the repositories itself."""

import asyncio
import json
import os
import re
import shutil
import signal
import struct
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
from forking import fledgling
from running import PATIENCE, QUERY_WORKER, Server, back_processes, is_alive, opened, until
from test_fleet import damage, manifest
from test_fleet_bundles import write_part

from fledgling.broker import query_worker
from fledgling.broker.fleet import live, shard, verified
from fledgling.broker.fleet.bundle import BUNDLE
from fledgling.broker.fleet.fleet import Fleet
from fledgling.broker.fleet.pack import PackIndex, packed
from fledgling.broker.fleet.verified import ShardError
from fledgling.broker.front import Front
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.projects.projects import Projects, Slot
from fledgling.broker.terms import Terms
from fledgling.messages.answers import AnyAnswer, Exploration, Hits, Ranking, Refusal, SymbolList
from fledgling.messages.control import CONFINED
from fledgling.messages.profile import Profile
from fledgling.messages.questions import AnyQuestion, Dependencies, Explore, Query, Read, Search, Symbols
from fledgling.security import limits
from fledgling.security import profile as profiles
from fledgling.settings import Settings
from fledgling.worker.store.sections import contents
from fledgling.worker.store.shelf import stored_in

pytestmark = pytest.mark.anyio
CORE = "fledgling-core"


@pytest.fixture(scope="module")
def roots(project: Path, repositories_and_shards: tuple[Path, Path]) -> dict[str, Path]:
    """The project that all tests know, and three of a few files, in the order of names."""
    above = repositories_and_shards[0]
    return {"api": above / "api", "big": project, "lib": above / "lib", "web": above / "web"}


@pytest.fixture(scope="module")
def built(project: Path, repositories_and_shards: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("shards")
    for made in repositories_and_shards[1].glob("*.shard"):
        shutil.copy(made, out)
    done = fledgling("fleet", "shard", f"big={project}", "--out", str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    assert bundled(out).startswith("1 bundle, 1 of them made\n")
    return out


def bundled(shards: Path) -> str:
    done = fledgling("fleet", "bundle", str(shards))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def shards(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "shards"))


@asynccontextmanager
async def serving(shards: Path, profile: object = CORE) -> AsyncIterator[Fleet]:
    """A fleet with this test as its broker, under a profile or one that is named."""
    loaded = profile if isinstance(profile, Profile) else profiles.load(str(profile))
    fleet = Fleet(PackIndex(packed(str(shards), loaded), loaded, CONFINED, lambda _: None))
    try:
        yield fleet
    finally:
        await fleet.close()


@pytest.fixture(scope="module")
async def fleet(anyio_backend: str, built: Path) -> AsyncIterator[Fleet]:
    async with serving(built) as fleet:
        yield fleet


@pytest.fixture(scope="module")
async def projects(anyio_backend: str, roots: dict[str, Path]) -> AsyncIterator[Projects]:
    """The same repositories, indexed by a server of several projects."""
    profile = profiles.load(CORE)

    def start(root: str) -> Front:
        return Front(profile, Indexing(Settings(root=root), profile), "off")

    slots = {name: Slot(str(root), partial(start, str(root))) for name, root in roots.items()}
    found = Projects(profile, slots, total_memory=0)
    try:
        yield found
    finally:
        await found.close()


QUESTIONS: list[AnyQuestion] = [
    Explore("big"),
    Explore("big/src", depth=3),
    Explore(depth=2),
    Explore("web", pattern="*.md"),
    Read("api/src/main.py"),
    Read("big/src/core/engine.py", symbol="Engine"),
    Read("big/src/core/engine.py", symbol="run", budget_tokens=2000),
    Read("lib/src/nothing.py"),
    Read(symbol="run_web"),
    Read(symbol="NoSuchThing"),
    Search("needle"),
    Search("needle", max_results=2),
    Search("needle", max_results=2, cursor="2:0:0"),
    Search("needle lib"),
    Search("timeout", path="big/src"),
    Search("timeout", path="*/src"),
    Search("(?i)NEED.E web", regex=True),
    Search("ne"),
    Search("run", kind="function"),
    Search("Web", kind="class"),
    Symbols(kind="class"),
    Symbols(kind="function", max_results=3),
    Symbols(name_pattern="run_*"),
    Symbols("big/src/core/engine.py"),
    Symbols(symbol="run_web", relation="usages"),
    Symbols("big/src/core/engine.py", symbol="Engine", relation="usages"),
    Dependencies("big/src/core/engine.py", depth=2),
    Dependencies("web/src/main.py"),
    Search("what does the engine run", mode="meaning", path="big"),
]


@pytest.mark.parametrize("number", range(len(QUESTIONS)))
async def test_answers_are_those_of_a_server_that_indexed_itself(fleet: Fleet, projects: Projects, number: int) -> None:
    question = QUESTIONS[number]
    found, expected = [
        await each.ask(question, Terms(time.monotonic() + PATIENCE, least=3)) for each in (fleet, projects)
    ]
    if isinstance(found, Refusal) and isinstance(expected, Refusal):
        assert found.kind == expected.kind
        return
    assert _without_note(found) == _without_note(expected)


def _without_note(found: AnyAnswer | Refusal) -> dict[str, Any]:
    """An answer but for what it says of itself: who are many are spoken of together. Texts have no mode in a page."""
    values = json.loads(msgspec.json.encode(found))
    return {name: value for name, value in values.items() if name not in ("note", "mode_used")}


@pytest.mark.parametrize("size", [1, 2, 5])
async def test_pages_go_from_one_repository_to_the_next(fleet: Fleet, size: int) -> None:
    seen, totals, cursor = [], set(), None
    while True:
        page = await fleet.ask(Search("needle", max_results=size, context=0, cursor=cursor))
        assert isinstance(page, Hits)
        seen += [(file.path, line) for file in page.files for line in file.hits]
        totals.add(page.total)
        if not page.next:
            break
        cursor = str(page.next.arguments["cursor"])
    assert {len(seen), len(set(seen))} == totals == {6}


async def test_empty_answer_says_how_many_were_asked(fleet: Fleet) -> None:
    found = await fleet.ask(Search("nowhere to be found 17"))
    assert isinstance(found, Hits)
    assert found.note == "Nothing found in 4 repositories."
    none = await fleet.ask(Read(symbol="NoSuchThing"))
    assert isinstance(none, Refusal)
    assert "none of 4 repositories defines 'NoSuchThing'" in none.reason


@pytest.mark.parametrize("has_bundle", [True, False])
async def test_of_many_those_are_ranked_that_say_most_of_a_question(
    shards: Path, monkeypatch: pytest.MonkeyPatch, *, has_bundle: bool
) -> None:
    if not has_bundle:
        (shards / "00000.bundle").unlink()
    monkeypatch.setattr("fledgling.broker.fleet.fleet.RANKED_TOGETHER", 1)
    async with serving(shards) as fleet:
        for query, path, best in (("who runs the web", None, "web/"), ("who runs the web", "[al]*/**", "api/")):
            found = await fleet.ask(Search(query, mode="meaning", path=path))
            assert isinstance(found, Ranking)
            assert {each.path[:4] for each in found.files} == {best}
            assert found.note
            assert re.match(r"Ranked are 1 of \d repositories that may have a word of this: ", found.note)
        none = await fleet.ask(Search("where zebras quarrel", mode="meaning"))
        assert none == Ranking([], 0, "meaning", "Nothing says this: none of 4 repositories has a word of it.")


UNREAD = [  # what is asked, of whom what is broken is, and what is said of it
    ("where zebras quarrel", ["api"], None, None, "Nothing says this: none of 3 repositories has a word of it."),
    ("who runs the web", ["api"], None, "web/", "Ranked are 1 of 3 repositories that may have a word of this: "),
    ("who runs the web", ["api"], "[lw]*/**", "web/", None),  # which leaves out the one that cannot be read
    ("who runs the web", ["api", "big"], "[ab]*/**", None, "its index cannot be read"),
]
IN_TURN = [  # each once plainly, every second one with a bundle
    pytest.param(*row, has_bundle, marks=[] if has_bundle == bool(number % 2) else pytest.mark.long)
    for number, row in enumerate(UNREAD)
    for has_bundle in (True, False)
]


@pytest.mark.parametrize(("query", "broken", "path", "best", "said", "has_bundle"), IN_TURN)
async def test_of_many_those_that_cannot_be_read_are_named(
    shards: Path,
    monkeypatch: pytest.MonkeyPatch,
    query: str,
    broken: list[str],
    path: str | None,
    best: str | None,
    said: str | None,
    has_bundle: bool,
) -> None:
    break_index(shards, *((name, "blocks") for name in broken))
    if has_bundle:
        bundled(shards)  # without those
    else:
        (shards / "00000.bundle").unlink()
    monkeypatch.setattr("fledgling.broker.fleet.fleet.RANKED_TOGETHER", 1)
    async with serving(shards) as fleet:
        found = await fleet.ask(Search(query, mode="meaning", path=path))
        if isinstance(found, Refusal):  # where it is about no other
            assert found.reason == said
            return
        assert isinstance(found, Ranking)
        assert {each.path[:4] for each in found.files} == ({best} if best else set())
        assert found.note
        assert said is None or found.note.startswith(said)
        assert ("api/ is not in this answer: its index cannot be read." in found.note) == (path is None)


async def test_sql_is_refused(fleet: Fleet) -> None:
    found = await fleet.ask(Query("SELECT 1"))
    assert isinstance(found, Refusal)
    assert "SQL is asked of one project" in found.reason


def renamed(whole: bytes, name: str) -> bytes:
    """A shard under another name, as if its repository had that."""
    return remade(whole, lambda written: {**written, "repository": name})


def remade(whole: bytes, change: Any) -> bytes:
    """A shard with another manifest, as somebody makes it who knows the format."""
    [start] = struct.unpack("<Q", whole[-40:-32])
    encoded = json.dumps(change(json.loads(whole[start:-40]))).encode()
    return whole[:start] + encoded + verified.END.pack(start, verified.digest(encoded))


@pytest.mark.parametrize("count", [24, pytest.param(120, marks=pytest.mark.long)])
async def test_answers_of_many_repositories_come_in_pages(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    shards = tmp_path / "shards"
    shards.mkdir(mode=0o700)
    whole = (built / "web.shard").read_bytes()
    for number in range(count):
        (shards / f"r{number:03}.shard").write_bytes(renamed(whole, f"r{number:03}"))
    profile = msgspec.structs.replace(profiles.load(CORE), max_result_bytes=1200)
    shown, pages, cursor = [], 0, None
    async with serving(shards, profile) as fleet:
        while True:
            page = await fleet.ask(Explore(cursor=cursor))
            assert isinstance(page, Exploration)
            assert len(msgspec.json.encode(page)) < 1500
            assert page.summary.total_files == 2 * count
            shown += [each.path for each in page.directories]
            pages += 1
            if not page.next:
                break
            cursor = str(page.next.arguments["cursor"])
        assert shown == [f"r{number:03}/" for number in range(count)]
        assert pages > 2
        past = await fleet.ask(Explore(cursor=str(count)))
        assert isinstance(past, Refusal)
        some = await fleet.ask(Search("run_web", max_results=3))
        assert isinstance(some, Hits)
        assert (some.total, some.total_files, some.total_is_lower_bound) == (count, count, False)
        monkeypatch.setattr("fledgling.broker.fleet.fleet.COUNTED_TOGETHER", 10)
        seen, cursor = [], None
        while True:  # where nobody counts to the end, pages still come to it
            some = await fleet.ask(Search("needle", max_results=7, context=0, cursor=cursor))
            assert isinstance(some, Hits)
            seen += [(file.path, line) for file in some.files for line in file.hits]
            assert some.total_is_lower_bound or some.total == 2 * count
            if not some.next:
                break
            cursor = str(some.next.arguments["cursor"])
        assert len(seen) == len(set(seen)) == 2 * count
        defined, totals, cursor = [], set(), None
        while True:
            of_kind = await fleet.ask(Symbols(kind="function", max_results=7, cursor=cursor))
            assert isinstance(of_kind, SymbolList)
            defined += [(file.path, each.name) for file in of_kind.files for each in file.symbols]
            totals.add(of_kind.total)
            assert of_kind.total_is_lower_bound == (of_kind.total < count)
            if not of_kind.next:
                break
            cursor = str(of_kind.next.arguments["cursor"])
        assert len(defined) == len(set(defined)) == max(totals) == count
        assert len(totals) > 1
        monkeypatch.undo()
        for _ in range(2):  # the tables of each are attached, on two threads
            defined = await fleet.ask(Search("run_web", kind="function"))
            assert isinstance(defined, SymbolList)
            assert (defined.total, defined.note) == (count, None)
        elsewhere = await fleet.ask(Read("s000/src/main.py"))
        assert isinstance(elsewhere, Refusal)
        assert f"and {count - 20} more" in elsewhere.next_step


async def test_call_about_many_ends_in_its_time(built: Path, tmp_path: Path) -> None:
    shards = tmp_path / "shards"
    shards.mkdir(mode=0o700)
    whole = (built / "big.shard").read_bytes()
    for number in range(150):
        (shards / f"r{number:03}.shard").write_bytes(renamed(whole, f"r{number:03}"))
    profile = tmp_path / "hasty.sql"
    profile.write_text("SET extends = 'fledgling-core';\nSET query_timeout = 0.3;\n")
    async with serving(shards, profile) as fleet:
        assert not isinstance(await fleet.ask(Explore("r000"), Terms(time.monotonic() + PATIENCE)), Refusal)
        for attempt in range(5):  # a machine may stand still for a second in each but one
            begun = time.monotonic()
            found = await fleet.ask(Symbols(kind="class"))
            if time.monotonic() - begun < 0.3 + 0.3 + 1.0:  # a busy machine may take the rest
                break
            assert attempt < 4, "it does not end in its time"
        if isinstance(found, Refusal):
            assert found.kind in ("timeout", "unavailable"), found
        else:
            assert found.note
            assert "is not in this answer: " in found.note
            assert "more are not in it." in found.note


# ---- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eighths", [(3,), pytest.param((0, 7), marks=pytest.mark.long)], ids=["in", "at the ends"])
def test_flipped_bit_in_any_shard_is_refused_before_it_is_opened(shards: Path, eighths: tuple[int, ...]) -> None:
    profile = profiles.load(CORE)
    (shards / "00000.bundle").unlink()
    seen: set[str] = set()
    for number, path in enumerate(sorted(shards.iterdir())):
        whole, parts = path.read_bytes(), manifest(path).parts
        own = [part for part in parts if part.digest not in seen]  # of what another has as well nothing is copied
        seen.update(part.digest for part in parts)
        places = [part.start + part.size * eighth // 8 for part in own for eighth in eighths]
        if not number:  # beside the parts all are alike
            places += [3, 15, *(len(whole) - end for end in (1, 36, 200))]
        for place in places:
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
            pack = packed(str(shards), profile)
            os.close(pack.fd)
            assert list(pack.refused) == [path.stem], place
            assert path.stem not in {each.repository for each in pack.manifests}
        path.write_bytes(whole)


def test_flipped_bit_in_a_bundle_leaves_its_members_to_themselves(shards: Path, caplog: Any) -> None:
    path = shards / "00000.bundle"
    whole = path.read_bytes()
    with path.open("rb") as file:
        parts = verified.read(file.fileno(), BUNDLE).parts
    web = (shards / "web.shard").read_bytes()
    (shards / "web.shard").write_bytes(b"")  # so that it is looked at whether a shard is refused for its own sake
    for place in [*(part.start + part.size * eighth // 8 for part in parts for eighth in (0, 3, 7)), 3, len(whole) - 1]:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        pack = packed(str(shards), profiles.load(CORE))
        os.close(pack.fd)
        assert (pack.bundles, [*pack.refused]) == (0, ["web"]), place
        assert "the bundle 00000 is not used: " in caplog.text
        caplog.clear()
    path.write_bytes(whole)
    assert bundles_of(shards) == 0, "a member is not what it was"
    (shards / "web.shard").write_bytes(web)
    assert bundles_of(shards) == 1


def bundles_of(shards: Path, profile: str = CORE) -> int:
    pack = packed(str(shards), profiles.load(profile))
    os.close(pack.fd)
    return pack.bundles


HIDDEN = b"src/core/engine.py"


def test_no_row_of_a_shard_that_is_refused_comes_in_with_a_bundle(shards: Path, tmp_path: Path) -> None:
    """All but one were made under the views of the profile; the bundle is over all of them."""
    profile = tmp_path / "hides.sql"
    profile.write_text(
        "SET extends = 'fledgling-core';\n"
        "CREATE VIEW visible_files AS SELECT * FROM visible_files WHERE path NOT LIKE 'src/core/%';\n"
    )
    hides = profiles.load(str(profile))
    under = msgspec.to_builtins(shard.MadeUnder.of(hides))
    identities = {"big": manifest_hash(shards / "big.shard")}
    for name in ("api", "lib", "web"):
        path = shards / f"{name}.shard"
        path.write_bytes(remade(path.read_bytes(), lambda of: {**of, "under": under}))
        identities[name] = manifest_hash(path)
    path = shards / "00000.bundle"
    members = [{"repository": name, "identity": of} for name, of in sorted(identities.items())]
    path.write_bytes(remade(path.read_bytes(), lambda of: {**of, "members": members}))
    assert bundles_of(shards) == 1
    pack = packed(str(shards), hides)
    try:
        assert [*pack.refused] == ["big"]
        assert pack.bundles == 0
        assert HIDDEN not in os.pread(pack.fd, 2**28, 0)
    finally:
        os.close(pack.fd)


def manifest_hash(path: Path) -> str:
    return path.read_bytes()[-verified.DIGEST_BYTES :].hex()


def test_bundle_without_a_part_is_not_used(shards: Path, caplog: Any) -> None:
    path = shards / "00000.bundle"
    whole = path.read_bytes()
    with path.open("rb") as file:
        level, tables = verified.read(file.fileno(), BUNDLE).parts
    alone = whole[: level.start] + whole[tables.start : tables.start + tables.size]
    written = json.loads(whole[tables.start + tables.size : -verified.END.size])
    written["parts"] = [{**written["parts"][1], "start": level.start}]
    encoded = json.dumps(written).encode()
    path.write_bytes(alone + encoded + verified.END.pack(len(alone), verified.digest(encoded)))
    assert bundles_of(shards) == 0
    assert "the bundle 00000 is not used: it lacks a part" in caplog.text


async def test_refused_repository_is_said_wherever_it_could_have_been_in_an_answer(shards: Path) -> None:
    damage(shards / "lib.shard")
    async with serving(shards) as fleet:
        for question in (
            Search("needle"),
            Search("nowhere at all 17"),
            Symbols(kind="class"),
            Explore(),
            Explore(depth=2),
        ):
            found = await fleet.ask(question)
            assert not isinstance(found, Refusal)
            assert found.note
            assert "Not served, since their shards were refused: lib/." in found.note
        named = await fleet.ask(Read("lib/src/main.py"))
        assert isinstance(named, Refusal)
        assert named.reason == "lib/ is not served: its manifest is not what was written"
        assert "lib/: not served, its manifest is not what was written" in fleet.stands()


def break_index(shards: Path, *broken: tuple[str, str]) -> None:
    """Write parts of shards that are no parts of an index, though all hashes hold."""
    for name, part in broken:
        path = shards / f"{name}.shard"
        whole = path.read_bytes()
        [of] = [each for each in manifest(path).parts if each.name == part]
        garbage = b"\xff" * of.size
        digest = verified.blake2b(garbage, digest_size=32).hexdigest()

        def change(written: dict[str, Any], part: str = part, digest: str = digest) -> dict[str, Any]:
            parts = [{**each, "digest": digest} if each["name"] == part else each for each in written["parts"]]
            return {**written, "parts": parts}

        path.write_bytes(remade(whole[: of.start] + garbage + whole[of.start + of.size :], change))


async def test_index_that_cannot_be_read_costs_its_own_repository_alone(shards: Path) -> None:
    """One out of an indexer that was taken over: it is read once the worker is confined."""
    break_index(shards, ("api", "blocks"), ("lib", "words"))
    async with serving(shards) as fleet:
        found = await fleet.ask(Search("needle"))
        assert isinstance(found, Hits)
        assert {file.path.partition("/")[0] for file in found.files} == {"web"}
        assert found.note
        assert "api/ is not in this answer: its index cannot be read." in found.note
        named = await fleet.ask(Read("lib/src/main.py"))
        assert isinstance(named, Refusal)
        assert "its index cannot be read" in named.reason


async def test_index_that_says_what_no_answer_may_hold_costs_its_own_repository_alone(
    shards: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Of a language, a line of two: a worker that says so is ended, and with it calls about other repositories."""
    path = shards / "api.shard"
    whole = path.read_bytes()
    [of] = [each for each in manifest(path).parts if each.name == "blocks"]
    blocks = whole[of.start : of.start + of.size]
    assert blocks.count(b"\xa6python") == 1
    blocks = blocks.replace(b"\xa6python", b"\xa6pyth\nn")
    digest = verified.blake2b(blocks, digest_size=32).hexdigest()

    def change(written: dict[str, Any]) -> dict[str, Any]:
        parts = [{**each, "digest": digest} if each["name"] == "blocks" else each for each in written["parts"]]
        return {**written, "parts": parts}

    path.write_bytes(remade(whole[: of.start] + blocks + whole[of.start + of.size :], change))
    async with serving(shards) as fleet:
        found = await fleet.ask(Symbols(name_pattern="run_*"))
        assert "api/" in str(found)
        assert isinstance(found, SymbolList), found
        assert {file.path.partition("/")[0] for file in found.files} == {"lib", "web"}
    assert "broke the protocol" not in caplog.text


async def test_index_whose_answers_do_not_fit_costs_one_worker(shards: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It has two files of one name: a worker that finds something in both is ended, and nobody asks it again."""
    path = shards / "api.shard"
    [of] = [each for each in manifest(path).parts if each.name == "blocks"]
    blocks = bytearray(path.read_bytes()[of.start : of.start + of.size])
    place = {each.name: slice(each.start, each.start + each.size) for each in contents(memoryview(blocks), "text")}
    assert blocks[place["paths"]] == b"README.mdsrc/main.py"
    blocks[place["paths"]], blocks[place["path_ends"]] = b"src/a.py.." * 2, struct.pack("=3Q", 0, 10, 20)
    write_part(path, "blocks", bytes(blocks))
    async with serving(shards) as fleet:
        ended = await fleet.ask(Search("needle", path="api"))
        assert isinstance(ended, Refusal)
        assert ended.reason == "api/: the query worker ended while it worked on this call"
        for _ in range(2):
            named = await fleet.ask(Read("api/README.md"))
            assert isinstance(named, Refusal)
            assert named.reason == "api/: its index cannot be read"
            found = await fleet.ask(Search("needle"))
            assert isinstance(found, Hits)
            assert found.note
            assert "api/ is not in this answer: its index cannot be read." in found.note
        assert "api/: not served, its index cannot be read" in fleet.stands()
    assert caplog.text.count("it sent a message that was not asked for") == 1


def test_shard_of_another_release_is_refused(shards: Path) -> None:
    path = shards / "lib.shard"
    path.write_bytes(remade(path.read_bytes(), lambda of: {**of, "extractors": f"{shard.RELEASE}9 0"}))
    assert held(shards)[1] == {"lib": "it was made by another release of Fledgling; make it again"}


async def test_shard_under_another_name_is_refused(shards: Path) -> None:
    (shards / "lib.shard").rename(shards / "other.shard")
    async with serving(shards) as fleet:
        assert "other/: not served, it is the shard of lib, and is to be called lib.shard" in fleet.stands()


def test_profile_that_hides_more_than_the_shards_is_not_served(shards: Path, tmp_path: Path) -> None:
    profile = tmp_path / "hides.sql"
    profile.write_text(
        "SET extends = 'fledgling-core';\n"
        "CREATE VIEW visible_files AS SELECT * FROM visible_files WHERE path NOT LIKE 'README%';\n"
    )
    with pytest.raises(
        ShardError, match="under other views than those of the profile hides; make it under that profile"
    ):
        packed(str(shards), profiles.load(str(profile)))


def held(shards: Path, memory_limit: int = 10**9) -> tuple[bytes, dict[str, str]]:
    """The memory file of a pack, and what was refused."""
    pack = packed(str(shards), msgspec.structs.replace(profiles.load(CORE), memory_limit=memory_limit))
    try:
        return os.pread(pack.fd, 2**26, 0), pack.refused
    finally:
        os.close(pack.fd)


def test_shards_that_do_not_fit_memory_limit_are_refused(shards: Path) -> None:
    whole, _ = held(shards)
    pages = sum(any(whole[at : at + 4096]) for at in range(0, len(whole), 4096))
    assert pages * 4096 < len(whole) / 2, "what is zeros takes no memory"
    assert held(shards, int(pages * 4096 / 0.875) + 4096)[1] == {}
    refused = held(shards, int(pages * 4096 * 0.9 / 0.875))[1]
    assert {*refused.values()} == {"there is no room for it in the memory_limit of the profile"}


def test_what_several_indexes_know_is_held_once(built: Path) -> None:
    pack = packed(str(built), profiles.load(CORE))
    stored = stored_in(pack.fd, pack.table_bytes)
    os.close(pack.fd)
    known = [stored.generations[each.generation] for each in stored.indexes]
    assert known == [each.generation for each in pack.manifests]
    assert len(stored.generations) == len({id(each.generation) for each in pack.manifests}) == 2, (
        "big has more languages"
    )


def test_nothing_is_left_of_a_shard_that_is_refused_at_its_end(shards: Path) -> None:
    (shards / "00000.bundle").unlink()
    path = shards / "api.shard"
    last = manifest(path).parts[-1]
    damage(path, last.start + last.size - 1)
    without, refused = held(shards)
    assert refused == {"api": "its part graph is not what was written"}
    path.unlink()
    assert held(shards) == (without, {})


def test_directory_without_a_shard_is_no_fleet(tmp_path: Path) -> None:
    done = fledgling("fleet", "serve", str(tmp_path))
    assert done.returncode == 2
    assert "no shard in the directory can be served" in done.stderr


# ---- a build that is new ---------------------------------------------------------------------------------------------


def memory_files() -> int:
    """How many this process has open."""
    return sum("memfd:" in name for name in opened(psutil.Process()).values())


async def test_new_build_is_served_between_two_calls(
    roots: dict[str, Path], shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setattr(live, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(live, "QUIET_SECONDS", 0.05)
    others = set(back_processes(psutil.Process(), QUERY_WORKER))  # of the fleet that all tests of this file ask
    monkeypatch.setattr(live, "RETRY_SECONDS", 0.1)
    profile, before = profiles.load(CORE), memory_files()
    directory = live.ShardDirectory(str(shards), profile, None)
    fleet = live.LiveFleet(directory, PackIndex(directory.packed(), profile, CONFINED, lambda _: None))
    needle = {"query": "needle", "max_results": 2, "context": 0}

    async def until_read(holds: Callable[[str], bool]) -> None:
        """Ask until a new build is there: who asks has it looked for."""
        end = time.monotonic() + PATIENCE
        while not holds(str(await fleet.call("read", {"path": "web/README.md"}))):
            assert time.monotonic() < end
            await asyncio.sleep(0.1)

    try:
        page = await fleet.call("search", needle)
        assert isinstance(page, Hits)
        assert page.next
        changed = Path(shutil.copytree(roots["web"], tmp_path / "web"))
        (changed / "README.md").write_text("# Other\n")
        await asyncio.to_thread(fledgling, "fleet", "shard", str(changed), "--out", str(shards))
        with monkeypatch.context() as broken:
            broken.setattr(sys, "executable", str(tmp_path / "nothing"))  # what workers are started with
            await until_read(lambda _: "the old one stays: the query worker does not start" in caplog.text)
        await until_read(lambda found: "Other" in found)
        respelled = {**needle, "next_cursor": page.next.arguments["cursor"]}
        assert "built anew" in str(await fleet.call("search", respelled))
        assert "built anew" not in str(await fleet.call("search", {**needle, "cursor": "none"}))
        old = await fleet.call("search", page.next.arguments)
        assert isinstance(old, Refusal)
        assert "built anew" in old.reason
        rows, cursor = [], None
        while True:
            page = await fleet.call("search", {**needle, **({"cursor": cursor} if cursor else {})})
            assert isinstance(page, Hits)
            rows += [(file.path, line) for file in page.files for line in file.hits]
            if not page.next:
                break
            cursor = str(page.next.arguments["cursor"])
            assert re.fullmatch(r"\d:1:\d+", cursor)
        assert len(rows) == len(set(rows)) == page.total == 5
        for name in roots:
            (shards / f"{name}.shard").rename(shards / f"{name}.kept")
        await until_read(lambda found: "the old one stays: no shard" in caplog.text and "Other" in found)
        for name in roots.keys() - {"web"}:
            (shards / f"{name}.kept").rename(shards / f"{name}.shard")
        await until_read(lambda found: "there is no 'web" in found)
        (shards / "web.kept").rename(shards / "web.shard")
        await asyncio.sleep(0.1)
        await fleet.call("read", {"path": "api/README.md"})  # which has the new build looked for as it is closed
    finally:
        await fleet.close()
    await asyncio.to_thread(time.sleep, 1)
    assert memory_files() == before
    await until(lambda: set(back_processes(psutil.Process(), QUERY_WORKER)) <= others)


async def test_other_directory_in_the_place_of_the_first_is_said_once_and_not_served(
    shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    """A confined server may read none but that which it has begun with, whatever its path comes to lead to."""
    monkeypatch.setattr(live, "QUIET_SECONDS", 0.0)
    (tmp_path / "link").symlink_to(shards)
    directory = live.ShardDirectory(str(tmp_path / "link"), profiles.load(CORE), None)
    os.close(directory.packed().fd)
    shutil.copytree(shards, tmp_path / "other")
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(tmp_path / "other")
    assert [directory.packed_again() for _ in range(3)] == [None] * 3
    (tmp_path / "link").unlink()
    assert [directory.packed_again() for _ in range(3)] == [None] * 3
    stays = "the new build is not served, and the old one stays"
    assert [record.getMessage() for record in caplog.records] == [
        f"{stays}: another directory is at its path, which this server may not read; start the server again",
        f"{stays}: the directory cannot be opened (No such file or directory)",
    ]


@pytest.mark.long
def test_confined_server_takes_over_a_new_build(roots: dict[str, Path], shards: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-B", "-m", "fledgling", "fleet", "serve", str(shards)]
    with Server(shards, command=command) as server:
        server.begin()
        changed = Path(shutil.copytree(roots["web"], tmp_path / "web"))
        (changed / "README.md").write_text("# Other\n")
        assert fledgling("fleet", "shard", str(changed), "--out", str(shards)).returncode == 0
        for number in range(2, 60):
            server.call(number, "read", {"path": "web/README.md"})
            if "Other" in json.dumps(server.receive()):
                return
            time.sleep(1)
    pytest.fail("the new build is not served")


# ---- the process that answers ----------------------------------------------------------------------------------------


def status_of(process: psutil.Process) -> str:
    return Path(f"/proc/{process.pid}/status").read_text()


async def test_worker_holds_one_memory_file_and_is_replaced(built: Path) -> None:
    async with serving(built) as fleet:
        assert isinstance(await fleet.ask(Search("needle")), Hits)
        worker = max(back_processes(psutil.Process(), QUERY_WORKER), key=psutil.Process.create_time)
        held = opened(worker)
        assert [name.partition(":")[0] for name in held.values()].count("pipe") == 3
        assert {name for name in held.values() if not name.startswith("pipe")} == {"/memfd:fledgling-image (deleted)"}
        assert len(held) <= 5  # a mapping keeps a descriptor of its own
        status = status_of(worker)
        assert "Seccomp:\t2" in status
        left = limits.data_limit(worker.pid) - limits.data_bytes(worker.pid)
        assert left < fleet.profile.memory_limit + limits.BESIDE_BUFFERS + limits.CALL_STACKS
        worker.send_signal(signal.SIGKILL)
        await until(lambda: not is_alive(worker))
        found = await fleet.ask(Search("needle"))
        assert isinstance(found, Hits)
        assert found.total == 6


async def test_worker_has_more_time_to_open_many(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_worker, "READY_SECONDS", 0.0)
    monkeypatch.setattr(query_worker, "OPENED_SECONDS", 0.0)
    async with serving(built) as fleet:
        assert isinstance(await fleet.ask(Search("needle")), Refusal)
    monkeypatch.setattr(query_worker, "OPENED_SECONDS", 15.0)
    async with serving(built) as fleet:
        assert isinstance(await fleet.ask(Search("needle")), Hits)


async def test_server_answers_as_any_other(built: Path) -> None:
    command = [sys.executable, "-I", "-B", "-m", "fledgling", "fleet", "serve", str(built)]
    with Server(built, command=command) as server:
        server.begin()
        server.call(2, "search", {"query": "run_lib", "context": 0})
        answer = server.receive()
        assert "lib/src/main.py" in answer["result"]["content"][0]["text"]
        server.call(3, "query", {"sql": "SELECT 1"})
        assert "is not a tool of the profile" in json.dumps(server.receive())
