"""Several projects behind one server: one tree for an agent, and for each project what it has alone."""

import asyncio
import json
import os
import re
import subprocess
import time
from contextlib import AsyncExitStack, asynccontextmanager
from typing import get_args

import psutil
import pytest
from asking import client_of, structured, text
from conftest import connected, serve_command
from running import FOLLOWER, INDEXER, PATIENCE, QUERY_WORKER, Server, back_processes, until
from test_http import client as over_http
from test_http import serving
from test_memory import memory_files
from test_memory import profile as small
from test_monitor import Watching, asked, free_port
from trees import make

from fledgling.broker.front import Front
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.operating import links
from fledgling.broker.projects import projects as projects_module
from fledgling.broker.projects.merging import ProjectTurn, ranked, turn
from fledgling.broker.projects.paths import _changes, parts, within
from fledgling.broker.projects.projects import Projects, Slot
from fledgling.broker.protocol import tools
from fledgling.broker.protocol.http import agents
from fledgling.broker.terms import due
from fledgling.messages.answers import AnyAnswer, Excerpt, Passage, Ranking, Refusal
from fledgling.messages.cursors import PageStart
from fledgling.messages.following import AskRefs
from fledgling.messages.generations import GRAPH
from fledgling.messages.passages import TOKENS
from fledgling.messages.questions import Dependencies, Explore, Question, Read, Search, Symbols
from fledgling.security import profile as profiles
from fledgling.settings import Settings

NAMES = ["api", "web", "a.b"]


@pytest.fixture(scope="module")
def roots(project, tmp_path_factory):
    """Three projects: the small one that all tests know, and two of a few files."""
    found = {"api": project}
    for name, files in {
        "web": {"src/page.py": "def paged():\n    return needle\n", "src/api/x.py": "class Sheet: ...\n"},
        "a.b": {"only.py": "needle = 1\n\n\ndef paged(): ...\n", "needle.txt": "needle\nneedle\n"},
    }.items():
        found[name] = make(tmp_path_factory.mktemp("several") / name, **files)
    return found


@pytest.fixture(scope="module")
async def client(anyio_backend, roots):
    first, *others = [f"{name}={root}" for name, root in roots.items()]
    options = [word for other in others for word in ("--root", other)]
    async with connected(first, *options, "--profile", "fledgling-analyst") as client:
        yield client


@pytest.fixture(scope="module")
async def alone(anyio_backend, project):
    async with connected(project) as client:
        yield client


class Tomorrow(Question, frozen=True):
    """The question of a tool that is still to come; its path is a path."""

    path: str = ""


# A question, and what is asked of whom: the path, filter or not, that each project gets
PARTS = [
    (Read("api/src/x.py"), {"api": "src/x.py"}),
    (Read("./api/src/x.py"), {"api": "src/x.py"}),
    (Read("apis/x.py"), {}),
    (Tomorrow("api"), {"api": ""}),
    (Read("x.py"), {}),
    (Read("../api/x.py"), {}),
    (Read(symbol="f"), dict.fromkeys(NAMES, "")),
    (Dependencies("web/a.py"), {"web": "a.py"}),
    (Explore(), dict.fromkeys(NAMES, "")),
    (Explore("web"), {"web": ""}),
    (Explore("web/"), {"web": ""}),
    (Explore("nowhere"), {}),
    (Search("x"), dict.fromkeys(NAMES)),
    (Search("x", path="api"), {"api": None}),
    (Search("x", path="a.b/src/**"), {"a.b": "src/**"}),
    (Search("x", path="**/x.py"), dict.fromkeys(NAMES, "**/x.py")),
    (Search("x", path="*.py"), dict.fromkeys(NAMES, "*.py")),
    (Search("x", path="a*/x.py"), {"api": "x.py", "a.b": "x.py"}),
    (Search("x", path="*/x.py"), dict.fromkeys(NAMES, "x.py")),
    (Search("x", path="src"), {}),
    (Symbols(path="[aw]*/src"), dict.fromkeys(NAMES, "src")),
]


@pytest.mark.parametrize("number", range(len(PARTS)))
def test_whose_a_question_is(number):
    question, expected = PARTS[number]
    assert {part.project: getattr(part.question, "path", None) for part in parts(question, NAMES)} == expected


def strings(value):
    """Each text in what a message becomes as JSON."""
    if isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)
    elif isinstance(value, str):
        yield value


@pytest.mark.anyio
async def test_answers_are_those_of_the_project_alone_below_its_name(client, alone):
    """All that a tool says of one project, it says of that among others, but for where it is."""
    paths = {file["path"] for file in (await structured(alone, "explore", depth=20))["files"]}
    for tool, arguments in (
        ("explore", {"path": "", "depth": 20}),
        ("read", {"path": "src/core/engine.py", "end_line": 5}),
        ("search", {"query": "timeout", "path": "src"}),
        ("search", {"query": "run", "kind": "method", "path": "src/core"}),
        ("symbols", {"path": "src/core"}),
        ("dependencies", {"path": "src/core/engine.py", "depth": 2}),
    ):
        mine = await client.call_tool(tool, {**arguments, "path": f"api/{arguments['path']}".rstrip("/")})
        theirs = await alone.call_tool(tool, arguments)
        assert not mine.is_error, text(mine)
        if tool == "read":
            assert text(mine).replace("api/", "") == text(theirs).replace("api/", "")
            continue
        found = [each for each in strings(mine.structured_content) if each.removeprefix("api/") in paths]
        expected = [each for each in strings(theirs.structured_content) if each in paths]
        assert found == [f"api/{path}" for path in expected]
        assert not set(found) & paths


def test_every_path_of_every_answer_is_known():
    """A field that holds a path has the type of one: no tool may hide it in a text."""
    for kind in get_args(AnyAnswer):
        changed = _changes(kind)
        assert "note" in changed
        assert [field for field in kind.__struct_fields__ if "path" in field and field not in changed] == []


@pytest.mark.anyio
async def test_an_agent_is_told_the_same_of_tools_for_one_project_and_for_several(client, alone):
    one, several = [{tool.name: tool for tool in (await of.list_tools()).tools} for of in (alone, client)]
    assert one.items() <= several.items()


@pytest.mark.anyio
async def test_tools_of_twenty_projects_are_byte_for_byte_those_of_one(alone, roots, monkeypatch):
    async with opened(dict.fromkeys(map("p{}".format, range(20)), roots["web"]), monkeypatch) as projects:
        async with client_of(projects) as twenty:
            of_one, of_twenty = [
                [tool.model_dump_json() for tool in (await of.list_tools()).tools] for of in (alone, twenty)
            ]
        assert states(projects) == ["unloaded"] * 20
    assert of_one == of_twenty


@pytest.mark.anyio
async def test_the_tree_above_all(client, alone):
    found = await structured(client, "explore")
    one = (await structured(alone, "explore"))["summary"]
    assert [each["path"] for each in found["directories"]] == ["api/", "web/", "a.b/"]
    assert found["summary"]["total_files"] == one["total_files"] + 4
    assert found["summary"]["total_lines"] == one["total_lines"] + 3 + 6
    deep = await structured(client, "explore", depth=2)
    assert {"api/src/", "web/src/"} <= {each["path"] for each in deep["directories"]}
    assert "a.b/only.py" in {each["path"] for each in deep["files"]}


@pytest.mark.anyio
@pytest.mark.parametrize("size", [1, 2, 3, 50])
async def test_pages_go_from_one_project_to_the_next(client, size):
    arguments, seen, totals = {"query": "needle", "max_results": size, "context": 0}, [], set()
    while True:
        page = await structured(client, "search", **arguments)
        seen += [(file["path"], line) for file in page["files"] for line in file["hits"]]
        totals.add((page["total"], page["total_files"]))
        if "next" not in page:
            break
        arguments = page["next"]["arguments"]
    assert seen == [("web/src/page.py", 2), ("a.b/needle.txt", 1), ("a.b/needle.txt", 2), ("a.b/only.py", 1)]
    assert totals == {(4, 3)}


@pytest.mark.anyio
async def test_the_best_by_meaning_of_all(client):
    """Where no line of any project holds it, and where it is asked for."""
    for arguments in ({"query": "pages with needles"}, {"query": "page needle", "mode": "meaning"}):
        found = await structured(client, "search", **arguments)
        assert found["mode_used"] == "meaning"
        assert found["files"][0]["path"] == "web/src/page.py"
        assert len({passage["path"] for passage in found["files"]}) == len(found["files"])
        scores = [passage["score"] for passage in found["files"]]
        assert scores == sorted(scores, reverse=True)
    text_alone = await structured(client, "search", query="needle")
    assert text_alone["mode_used"] == "text"
    assert text_alone["total"] == 4
    assert (await structured(client, "search", query="need.e", regex=True))["mode_used"] == "regex"
    nothing = await structured(client, "search", query="unicorns graze quietly")
    assert (nothing["mode_used"], nothing["files"]) == ("text", [])
    assert nothing["note"] == (
        "api/: Nothing found in 17 files. Not looked into: 1 symlink, 1 binary, 1 secret. Not indexed: 2 ignored. "
        "Search by meaning finds nothing, either. "
        "web/, a.b/: Nothing found in 2 files. Search by meaning finds nothing, either."
    )


def _ranking(project: str, files: int, note: str | None = None) -> Ranking:
    """What a project answers by meaning: files of long names, the first with their lines, each with definitions."""
    return Ranking(
        [
            Passage(
                f"{'deep/' * 20}{project}_{number}.py",
                (1, 9),
                round(0.9 - number / 20, 2),
                signature=f"def send_{project}_{number}(address, weight, sender)",
                best=[(line, "parcel = weigh(address, weight, sender)") for line in (2, 3)] if number < 3 else [],
                others=[(line, f"send_parcel_{line}") for line in range(10, 20 if number < 3 else 11)],
            )
            for number in range(files)
        ],
        files,
        "meaning",
        note,
    )


def test_an_answer_of_several_projects_by_meaning_has_the_tokens_of_one():
    found = {name: _ranking(name, 9) for name in ("api", "web", "a.b")}
    assert all(len(tools.text(each)) <= TOKENS * 4 for each in found.values())
    merged = ranked(Search("send a parcel", mode="meaning"), found)
    assert isinstance(merged, Ranking)
    assert TOKENS * 4 - 400 < len(tools.text(merged)) <= TOKENS * 4
    assert [bool(each.best) for each in merged.files] == [True] * 3 + [False] * (len(merged.files) - 3)
    assert len(merged.files) > 5
    assert merged.total == 27
    asked = ranked(Search("send a parcel", mode="meaning", max_results=9), found)
    assert isinstance(asked, Ranking)
    assert len(asked.files) == 9


def test_what_is_said_of_one_project_is_not_said_of_all():
    lacks, part = "No file of code has zebra.", "Only 2 of 4 files are indexed."
    found = {"api": _ranking("api", 1, lacks), "web": _ranking("web", 1), "a.b": _ranking("ab", 1, lacks)}
    assert ranked(Search("zebra", mode="meaning"), found).note == f"api/, a.b/: {lacks}"
    found = {name: _ranking("x", 1, part) for name in NAMES}
    assert ranked(Search("zebra", mode="meaning"), found).note == part


async def test_definitions_of_all(client):
    found = await structured(client, "symbols", name_pattern="paged", kind="function")
    assert [file["path"] for file in found["files"]] == ["web/src/page.py", "a.b/only.py"]
    several = await client.call_tool("read", {"symbol": "paged"})
    assert text(several).startswith("several projects define it: web/src/page.py, a.b/only.py.")
    assert "class Sheet" in text(await client.call_tool("read", {"symbol": "Sheet"}))


@pytest.mark.anyio
async def test_a_project_without_uses_refuses_what_it_defines_and_nothing_else(roots, tmp_path, monkeypatch):
    schema = make(tmp_path / "db", **{"schema.sql": "CREATE TABLE users (id INT);\n"})
    async with opened({"db": schema, "web": roots["web"]}, monkeypatch) as projects:
        asked = {
            name: await projects.call("symbols", {"symbol": name, "relation": "callers"})
            for name in ("users", "paged", "nowhere")
        }
    assert asked["users"].reason == "db/: Uses of definitions are resolved in no language of this project"
    assert asked["paged"].total == 0
    assert asked["nowhere"].reason == "no definition 'nowhere' in the index"


# A call that is refused, and the words of it
REFUSED = [
    ("read", {"path": "src/core/engine.py"}, "Begin a path with a project: api/, web/, a.b/."),
    ("read", {"path": "web/../api/x.py"}, "web/"),
    ("read", {"path": "../x.py"}, "Begin a path with a project"),
    ("read", {"path": "/etc/passwd"}, "Begin a path with a project"),
    ("explore", {"path": "nowhere"}, "Begin a path with a project"),
    ("search", {"query": "x", "path": "nowhere"}, "Begin a path with a project"),
    ("read", {"path": "web/none.py"}, "web/"),
    ("read", {"path": "web/src/page.py", "symbol": "none"}, 'symbols(path="web/src/page.py") lists them all'),
    ("query", {"sql": "SELECT 1"}, "SQL is asked of one project, and 3 are served here"),
    (
        "explore",
        {"detail": "architecture"},
        "architecture is asked of one project, and 3 are served here. Give path: one of api",
    ),
    ("nothing", {}, "is not a tool of the profile"),
]


@pytest.mark.anyio
@pytest.mark.parametrize("number", range(len(REFUSED)))
async def test_refusals(client, roots, number):
    tool, arguments, words = REFUSED[number]
    try:
        answer = await client.call_tool(tool, arguments)
        assert answer.is_error
        said = text(answer)
    except Exception as denied:  # noqa: BLE001  (an unknown tool is an error of the protocol)
        said = str(denied)
    assert words in said
    assert not any(str(root) in said for root in roots.values())


@pytest.mark.anyio
async def test_an_absolute_path_is_taken_for_that_of_its_project(client, roots):
    answer = await client.call_tool("read", {"path": str(roots["web"] / "src" / "page.py")})
    assert text(answer).startswith("[web/src/page.py")


@pytest.mark.anyio
async def test_an_agent_is_told_where_paths_begin(client, alone):
    assert "index of several projects. Prefer" in client.instructions
    assert "Paths begin with a project's name." in client.instructions
    assert "index of one project, which follows its changes. Prefer" in alone.instructions
    read = await client.call_tool("read", {"path": "web/SRC/page.py"})
    assert text(read).startswith('[taken: web/ path "SRC/page.py" as "src/page.py"]')
    around = await client.call_tool("read", {"path": "web/src/page.py", "symbol": "paged", "budget_tokens": 500})
    assert "[Paths in the text are relative to web/." in text(around)


@pytest.mark.anyio
async def test_a_cursor_of_several_is_refused_by_one(alone):
    answer = await alone.call_tool("search", {"query": "timeout", "cursor": "1:0:0"})
    assert text(answer).startswith("the cursor is of a server with several projects")


def test_cursors():
    assert turn(None) == ProjectTurn(0, PageStart(0))
    assert turn("2:17:500") == ProjectTurn(2, PageStart(500, changes=17))
    assert turn("2:17:500").cursor == "2:17:500"


@pytest.mark.anyio
async def test_an_edit_is_in_the_next_answer(client, roots):
    page = roots["web"] / "src" / "page.py"
    before = page.read_text()
    try:
        page.write_text(before + "freshly = 1\n")
        assert (await structured(client, "search", query="freshly"))["total"] == 1
    finally:
        page.write_text(before)


# ---- starting, resting, unloading -----------------------------------------------------------------------------------


@asynccontextmanager
async def opened(roots, monkeypatch, *, profile="fledgling-core", total_memory=0, **seconds):
    """Projects in this process, whose times are such as a test can wait for."""
    for name, value in seconds.items():
        monkeypatch.setattr(projects_module, name, value)
    profile = profiles.load(profile)

    def start(root):
        return lambda: Front(profile, Indexing(Settings(root=str(root)), profile, is_followed=True))

    projects = Projects(profile, {name: Slot(str(root), start(root)) for name, root in roots.items()}, total_memory)
    try:
        yield projects
    finally:
        await projects.close()


@pytest.fixture(scope="module")
def two(roots):
    """The two small ones: each project that is opened costs a build."""
    return {name: roots[name] for name in ("web", "a.b")}


def own_processes(*modules):
    """The processes of this very process that run such a module; its query workers and followers if none is named."""
    me = psutil.Process()
    running = [process for module in modules or (QUERY_WORKER, FOLLOWER) for process in back_processes(me, module)]
    return [process for process in running if process in me.children()]


def states(projects):
    return [slot.state for slot in projects.slots.values()]


@pytest.mark.anyio
async def test_projects_start_when_they_are_asked_for_rest_and_are_unloaded(roots, monkeypatch):
    times = {"LOOK_SECONDS": 0.05, "REST_SECONDS": 0.5, "UNLOAD_SECONDS": 4.0}
    async with opened(roots, monkeypatch, **times) as projects:
        assert states(projects) == ["unloaded"] * 3
        assert own_processes() == []
        first = await projects.call("read", {"path": "web/src/page.py"})
        assert states(projects) == ["unloaded", "serving", "unloaded"]
        await until(lambda: states(projects)[1] == "resting")
        await until(lambda: own_processes() == [])
        await projects.slots["web"].front.look()  # as where a generation comes late: it needs a worker, and nobody asks
        await until(lambda: own_processes() == [])
        assert await projects.call("read", {"path": "web/src/page.py"}) == first
        assert states(projects) == ["unloaded", "serving", "unloaded"]
        await until(lambda: states(projects) == ["unloaded"] * 3)
        assert await projects.call("read", {"path": "web/src/page.py"}) == first


BESIDE = [  # calls that find nothing in one project, and may find it in others
    ("search", {"query": "Sheet", "path": "a.b"}),
    ("symbols", {"name_pattern": "Sheet", "path": "a.b"}),
    ("read", {"path": "a.b/only.py", "symbol": "Sheet"}),
    ("read", {"path": "/a.b/nowhere.py"}),
]


@pytest.mark.anyio
async def test_what_one_project_lacks_starts_no_other(two, monkeypatch):
    """Where the others are there already, an answer says that they have it."""
    async with opened(two, monkeypatch) as projects:
        for tool, arguments in BESIDE:
            await projects.call(tool, arguments)
            assert states(projects) == ["unloaded", "serving"], (tool, arguments)
        await projects.call("explore", {})
        assert "ithout path: 1 hit" in (await projects.call(*BESIDE[0])).note


@pytest.mark.anyio
@pytest.mark.parametrize("waits", [(0.02,), pytest.param((0, 0.1, 0.3), marks=pytest.mark.long)], ids=["early", "more"])
async def test_a_project_is_given_up_behind_its_calls(roots, monkeypatch, waits):
    """What a call starts must not be handed descriptors that are closed, or by then of another project."""
    async with opened(roots, monkeypatch) as projects:
        expected = await projects.call("read", {"path": "web/src/page.py"})
        for wait in waits:
            front = projects.slots["web"].open()
            asking = [asyncio.create_task(projects.call("read", {"path": "web/src/page.py"})) for _ in range(4)]
            await asyncio.sleep(wait)
            await projects.slots["web"].unload()
            assert [await each for each in asking] == [expected] * 4
            assert await front.refs(AskRefs(branch="main"), due(front.profile)) is None
            assert (await front.ask(Explore())).reason == "the index was given up meanwhile"


@pytest.mark.anyio
async def test_a_task_waits_for_no_project_longer_than_it_may(roots, monkeypatch):
    async with opened(roots, monkeypatch) as projects:
        projects.slots["web"].open()
        others = len(projects.slots) - 1
        monkeypatch.setattr(links, "LOOK_SECONDS", 0.0)
        said = await links.linked(projects, ["main"], [], time.monotonic() + 30)
        unloaded = f"not in memory: {others} project{'' if others == 1 else 's'}"
        assert said == {"branch": {"main": f"not checked ({links.UNFOLLOWED}; {unloaded})"}}


@pytest.mark.anyio
async def test_total_memory_unloads_those_asked_longest_ago(two, monkeypatch):
    async with opened(two, monkeypatch, total_memory=1, LOOK_SECONDS=0.3) as projects:
        await projects.call("explore", {"path": "web"})
        await until(lambda: states(projects) == ["unloaded"] * 2)


@pytest.mark.anyio
@pytest.mark.long
async def test_twenty_projects_at_rest_hold_what_was_promised(tmp_path, monkeypatch):
    """All that is no broker's are their memory files; and of those given up nothing is left."""
    text = "".join(f"def f{number}(value):\n    return value + {number}  # as is usual\n\n\n" for number in range(100))
    files = {f"src/m{number}.py": text for number in range(90)}  # as large as Flask
    roots = {f"p{number}": make(tmp_path / f"p{number}", **files) for number in range(20)}
    me = psutil.Process()
    before = me.memory_full_info().uss
    async with opened(roots, monkeypatch, LOOK_SECONDS=0.1, REST_SECONDS=2.0) as projects:
        for name in roots:
            assert (await projects.call("search", {"query": "f7(", "path": name})).total == 90
        await until(lambda: states(projects) == ["resting"] * 20)
        await until(lambda: own_processes(INDEXER, QUERY_WORKER, FOLLOWER) == [])
        assert me.memory_full_info().uss - before + memory_files([me]) <= (60 + 20 * 35) * 10**6
        each = memory_files([me]) // 20
        for name in list(roots)[1:]:
            await projects.slots[name].unload()
        assert memory_files([me]) <= each + 5 * 10**6


# What may be opened -> how many of three projects, of 20 descriptors each, can be asked
OPEN_FILES = {"-Sn 64": 3, "-n 64": 2}


@pytest.mark.parametrize(
    "limit",  # that the soft one is raised, tests/test_environments.py shows
    [pytest.param(limit, marks=[pytest.mark.long] if limit.startswith("-S") else []) for limit in OPEN_FILES],
)
def test_a_project_for_which_no_file_can_be_opened_takes_no_other_down(roots, limit, tmp_path):
    """A server has as many descriptors as it may; where they are too few, it answers of what is there and says so."""
    names = [f"p{number}" for number in range(3)]
    first, *others = [f"{name}={roots['web']}" for name in names]
    options = [word for other in others for word in ("--root", other)]
    command = serve_command(first, *options, "--profile", "fledgling-operator")
    shell = ["bash", "-c", f'ulimit {limit}; exec "$@"', "bash", *command]
    errors = tmp_path / "errors"
    with errors.open("w") as stderr, Server(roots["web"], command=shell, stderr=stderr) as server:
        server.begin()

        def said(tool, **arguments):
            server.call(2, tool, arguments)
            return server.receive()["result"]["content"][0]["text"]

        can = OPEN_FILES[limit]
        asks = [said("search", query="needle", path=name) for name in (*names, *names)]
        assert [text.startswith("1 hit") for text in asks] == [number < can for number in (*range(3), *range(3))]
        assert all(": the project cannot be opened" in text for text in asks[can:3])
        held = set()
        for _ in range(3):
            said("read", path="p2/src/page.py")
            held.add(len(os.listdir(f"/proc/{server.process.pid}/fd")))
        assert len(held) == 1
        made = said("manage", action="reindex", project="p2", force=True)
        assert made.startswith("reindex p2: success" if can == 3 else "the project cannot be opened")
    assert "Traceback" not in errors.read_text()
    assert ("allow more open files (ulimit -n)" in errors.read_text()) == (can < 3)


@pytest.mark.anyio
async def test_neither_a_project_that_is_gone_nor_the_death_of_workers_takes_another_down(two, monkeypatch, tmp_path):
    async with opened({**two, "gone": tmp_path / "gone"}, monkeypatch) as projects:
        expected = await projects.call("search", {"query": "needle"})
        assert (expected.total, "gone/ is not in this answer" in expected.note) == (4, True)
        refused = await projects.call("read", {"path": "gone/x.py"})
        assert isinstance(refused, Refusal)
        assert str(tmp_path) not in f"{refused.reason} {refused.next_step}"
        for worker in own_processes():
            worker.kill()
        assert await projects.call("search", {"query": "needle"}) == expected


@pytest.mark.anyio
@pytest.mark.long  # what a project without room answers, tests/test_limits.py shows; that each is alone, the test above
@pytest.mark.usefixtures("executed")  # for what they hold in memory
async def test_a_project_that_outgrows_its_memory_takes_no_other_down(two, monkeypatch, tmp_path):
    """It answers of what there is room for and says what is left out; the workers of the others stay the same."""
    (place := tmp_path / "profile").mkdir()
    root = make(tmp_path / "big", **{"first.py": "needle = 0\n"})
    text = "grown\n" + ("".join(f"{number:x} " for number in range(40)) + "\n") * 8_000
    async with opened({**two, "big": root}, monkeypatch, profile=small(place, query_timeout=60)) as projects:

        async def asked(name):
            return await projects.call("search", {"query": "needle", "path": name})

        for name in two:
            await asked(name)
            await projects.slots[name].front.indexing.sealed(GRAPH)
            await asked(name)
        workers = {*own_processes(QUERY_WORKER)}
        assert (await asked("big")).total == 1
        before = [await asked(name) for name in two]
        for number in range(80):
            (root / f"more{number:02}.txt").write_text(text)
        for _ in range(int(PATIENCE)):
            grown = await projects.call("search", {"query": "grown", "path": "big"})
            assert [await asked(name) for name in two] == before
            if not isinstance(grown, Refusal) and "memory_limit" in (grown.note or ""):
                break
        left_out = int(re.search(r"(\d+) files listed without content", grown.note)[1])
        assert 0 < left_out == 80 - grown.total
        assert workers <= {*own_processes(QUERY_WORKER)}


def test_agents_over_http_share_nothing_but_the_names(roots, tmp_path):
    """Each agent has its own index of each project, and who watches sees which there are."""
    port = free_port()
    _, first, second = [f"{name}={root}" for name, root in roots.items()]
    with serving(first, tmp_path, ["--root", second, "--monitor", f"127.0.0.1:{port}"]) as server:
        watching = Watching(port)
        assert watching.get("/readyz")[::2] == (200, "")  # nothing is there until it is asked for
        status, _, body = asked(server, "search", query="needle", path="web")
        assert (status, b"src/page.py" in body) == (200, True)
        assert watching.get("/readyz")[2] == "reviewer/web: generation 2\n"
        assert asked(server, "explore", agent="analyst")[0] == 200
        states = watching.get("/readyz")[2]
        assert [line.partition(":")[0] for line in states.splitlines()] == [
            "reviewer/web",
            "analyst/web",
            "analyst/a.b",
        ]


# What an agent that has web alone asks of api: the answer is that of a project that is not there
NOT_ITS_OWN = [
    ("reader", "read", {"path": "api/README.md"}),
    ("narrow", "read", {"path": "api"}),
    ("narrow", "search", {"query": "timeout", "path": "api"}),
    ("narrow", "status", {"project": "api"}),
    ("narrow", "manage", {"action": "purge", "project": "api"}),
    ("narrow", "tasks", {"action": "create", "title": "a", "planning_references": ["api/README.md"]}),
    ("narrow", "tags", {"paths": ["api/README.md"]}),
    ("narrow", "tags", {"action": "add", "tags": ["seen"], "paths": ["api/README.md"]}),
    ("narrow", "tags", {"action": "remove", "tags": ["seen"], "paths": ["api/README.md"]}),
]


@pytest.mark.anyio
async def test_an_agent_that_has_one_project_hears_nothing_of_others(roots, tmp_path):
    """Neither its name nor that it is there; nor by tags or references of an agent that has it. Prose is everyone's."""
    agents_of = {
        "wide": ("fledgling-operator",),
        "narrow": ("fledgling-operator", None, ("web",)),
        "reader": ("fledgling-core", None, ("web",)),
    }
    options = ["--root", f"web={roots['web']}"]
    references = ["api/README.md", "web/src/page.py"]
    api = make(tmp_path / "api", **{"README.md": "# Needles\n"})
    with serving(f"api={api}", tmp_path, options, agents_of=agents_of) as server:
        async with AsyncExitStack() as stack:
            wide, narrow, reader = [await stack.enter_async_context(over_http(server, name)) for name in agents_of]
            await structured(wide, "tasks", action="create", title="for all", planning_references=references)
            await structured(wide, "tags", action="add", tags=["seen"], paths=references)
            for agent in (narrow, reader):
                assert [each["path"] for each in (await structured(agent, "explore"))["directories"]] == ["web/"]
                assert (await structured(agent, "search", query="needle"))["total"] == 1
            for agent, tool, arguments in NOT_ITS_OWN:
                refused, absent = [
                    await {"narrow": narrow, "reader": reader}[agent].call_tool(tool, given)
                    for given in (arguments, json.loads(json.dumps(arguments).replace("api", "nowhere")))
                ]
                assert (refused.is_error, absent.is_error) == (True, True)
                assert text(refused).replace("api", "nowhere") == text(absent)
            for tool in ("status", "tasks", "tags"):
                assert "api" not in text(await narrow.call_tool(tool, {})).replace("api/http", "")  # a tag of rules
            task = await structured(narrow, "tasks", action="get", id=1)
            assert task["planning_references"] == ["web/src/page.py"]
            await structured(narrow, "tasks", action="update", id=1, planning_references=[], notes="of api: none")
            assert (await structured(wide, "tasks", action="get", id=1))["planning_references"] == ["api/README.md"]
            given = {"action": "update", "id": 1, "planning_references": ["web/src/page.py"] * 20}
            assert "up to 20 planning_references" in text(await narrow.call_tool("tasks", given))
            await structured(narrow, "tasks", **{**given, "planning_references": ["web/src/page.py"]})
            assert (await structured(wide, "tasks", action="get", id=1))["planning_references"] == references
            made = await structured(wide, "tasks", action="create", title="Rotate api/key", branch="api/hole")
            seen = await structured(narrow, "tasks", action="get", id=made["id"])
            assert (seen["title"], seen["branches"]) == (made["title"], made["branches"])  # what is said is everyone's
            assert [each["path"] for each in (await structured(narrow, "tags"))["tags"]] == ["web/src/page.py"]
            assert (await structured(wide, "tags"))["total"] == 2


def test_a_server_without_an_agents_project_does_not_start(roots, tmp_path):
    file = tmp_path / "agents.yaml"
    agents.add(file, "a", "fledgling-core", None, ("web",))
    command = serve_command(roots["web"], "--transport", "http", "--agents", str(file))
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2
    assert "a has the project 'web', which this server has not" in done.stderr


def test_within_changes_no_text():
    found = within(Excerpt("a.py", "python", 1, ["a.py"], 1, note="It is cut."), "api")
    assert (found.path, found.lines, found.note) == ("api/a.py", ["a.py"], "api/ It is cut.")
