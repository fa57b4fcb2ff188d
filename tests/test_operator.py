"""An operator's agents: tasks and tags that outlive a crash, indexes made anew and given up; nobody else has them."""

import asyncio
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import msgspec
import pytest
from asking import client_of, structured, text
from conftest import serve_command
from running import PATIENCE, Server
from test_http import serving
from test_live import live
from test_monitor import asked
from trees import git

from fledgling.broker.audit_log.records import ProcessRecord
from fledgling.broker.front import Front
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.metrics import ALONE
from fledgling.broker.operating import session as sessions
from fledgling.broker.operating import tags as given_tags
from fledgling.broker.operating.indexes import Indexes
from fledgling.broker.operating.operated import Operated, Shared
from fledgling.broker.operating.records import Stored
from fledgling.broker.operating.session import FullError, Session, SessionError, opened
from fledgling.broker.operating.tags import TagList
from fledgling.broker.operating.tasks import MAX_STEPS, TaskList
from fledgling.broker.operating.unfit import OperationError
from fledgling.broker.projects.projects import Projects, Slot
from fledgling.broker.refused import NO_ROOT
from fledgling.messages.control import TagsByHand
from fledgling.messages.following import AskRefs, Refs
from fledgling.messages.operations import MAX_LINKS, Manage, StatusOf
from fledgling.messages.profile import View
from fledgling.messages.questions import Search
from fledgling.security import profile as profiles
from fledgling.settings import Settings
from fledgling.worker.files import refs

OPERATOR = ("--profile", "fledgling-operator")


@asynccontextmanager
async def operating(profile="fledgling-operator", max_file_size=2**20, **roots):
    """A client of a server in this process: of several projects, or of the one root that has no name."""
    profile = profiles.load(str(profile))

    def start(root):
        settings = Settings(root=str(root), max_file_size=max_file_size)
        return Front(profile, Indexing(settings, profile, is_followed=True))

    if [*roots] == ["root"]:
        behind = start(roots["root"])
    else:
        behind = Projects(profile, {name: Slot(str(root), partial(start, root)) for name, root in roots.items()}, 0)
    front = Operated(behind, Shared.of(Session()), ALONE)
    try:
        async with client_of(front) as client:
            yield client
    finally:
        await front.close()


@pytest.fixture(scope="module")
async def client(anyio_backend, project, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "a.py").write_text("def f(): ...\n")
    async with operating(api=project, web=other) as client:
        yield client


# ---- status and manage ----------------------------------------------------------------------------------------------

FIELDS = {  # of a project and of its index, as the founding documents name them; `source_path` is an absolute one
    "name",
    "reference",
    "ingestion_date",
    "content_hash",
    "last_updated",
    "status",
    "progress",
    "current_file",
    "total_files",
    "processed_files",
    "started_at",
    "completed_at",
    "error",
}


@pytest.mark.anyio
async def test_status_of_all_and_of_one(client):
    await structured(client, "explore")
    made = await structured(client, "manage", action="reindex", project="web")
    found = (await structured(client, "status", changes=True))["projects"]
    assert [each["name"] for each in found] == ["api", "web"]
    assert all({*each} >= FIELDS for each in found)
    [web] = (await structured(client, "status", project="web"))["projects"]
    assert (web["status"], web["progress"], web["total_files"], web["processed_files"]) == ("completed", 100, 1, 1)
    assert (web["state"], "changes" in web, "source_path" in web) == ("serving", False, False)
    assert (made["status"], made["files_indexed"], made["definitions"], made["errors"]) == ("success", 1, 1, [])
    assert made["reference"] == web["reference"]
    assert made["duration"] < 60


@pytest.mark.anyio
@pytest.mark.parametrize("wide", [False, pytest.param(True, marks=pytest.mark.long)], ids=["some", "all"])
async def test_a_project_is_known_again_and_what_it_holds_is_told_by_a_hash(tmp_path, wide):
    """The same files have the same hash wherever they are; the same directory has one reference under any name.

    The long row makes more of such changes, and takes one back.
    """
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text("def f(): ...\n")
        (tmp_path / name / "large.txt").write_text("0123456789" * 20)
    roots = {"one": tmp_path / "one", "two": tmp_path / "two", "again": tmp_path / "one"}

    async def told(client):
        await structured(client, "explore")
        return (await structured(client, "status"))["projects"]

    async with operating(max_file_size=100, **roots) as client:
        one, two, again = before = await told(client)
        assert one["content_hash"] == two["content_hash"] == again["content_hash"]
        assert one["reference"] == again["reference"] != two["reference"]
        assert one["ingestion_date"] == one["last_updated"] <= one["completed_at"]
        hashes = {one["content_hash"]}
        changes = [("large.txt", "0123456789" * 21), ("a.py", "def g(): ...\n"), ("b.py", "")]
        for file, text_of_file in changes if wide else changes[:1]:
            (tmp_path / "one" / file).write_text(text_of_file)
            await structured(client, "manage", action="reindex", project="one", force=True)
            [now] = (await structured(client, "status", project="one"))["projects"]
            hashes.add(now["content_hash"])
        assert len(hashes) == (4 if wide else 2)
        assert (now["reference"], now["ingestion_date"]) == (one["reference"], one["ingestion_date"])
        (tmp_path / "two" / "a.py").write_text("def h(): ...\n")
        await structured(client, "manage", action="reindex", project="two")
        [now] = (await structured(client, "status", project="two"))["projects"]
        assert now["ingestion_date"] == before[1]["ingestion_date"] < now["last_updated"]
        assert now["content_hash"] is None  # a change is laid over what it was the hash of
        assert text(await client.call_tool("status", {"project": "two"})).count("content hash") == 0
        if wide:
            (tmp_path / "two" / "a.py").write_text("def f(): ...\n")
            await structured(client, "manage", action="reindex", project="two", force=True)
            [now] = (await structured(client, "status", project="two"))["projects"]
            assert now["content_hash"] == two["content_hash"]
        [now] = (await structured(client, "status", project="again"))["projects"]
        shown = text(await client.call_tool("status", {}))
        assert {f"  content hash: {now['content_hash']}", f"  reference: {now['reference']}"} <= {*shown.splitlines()}
        assert str(tmp_path) not in shown


@pytest.mark.anyio
async def test_an_absolute_path_is_told_where_the_profile_tells_them(tmp_path):
    profile, root = tmp_path / "own.sql", tmp_path / "root"
    profile.write_text("SET extends = 'fledgling-operator';\nSET absolute_paths = 'on';\n")
    root.mkdir()
    (root / "a.py").write_text("")
    async with operating(profile, root=root) as client:
        await structured(client, "explore")
        [found] = (await structured(client, "status"))["projects"]
        assert found["source_path"] == str(root)


def test_what_a_profile_hides_is_not_in_a_hash_of_all():
    profile = msgspec.structs.replace(profiles.load("fledgling-operator"), views=(View("content", "SELECT 1", 1),))
    assert (profile.sums_hashes, profiles.load("fledgling-core").sums_hashes) == (False, False)


@pytest.mark.anyio
async def test_who_reindexes_what_is_being_indexed_waits_for_that(tmp_path):
    """And where a project is purged meanwhile, hears so."""
    for number in range(200):
        (tmp_path / f"m{number}.py").write_text("def f(): ...\n" * 50)
    heard = []
    profile = profiles.load("fledgling-operator")

    def start():
        return Front(profile, Indexing(Settings(root=str(tmp_path)), profile, tell=heard.append, is_followed=True))

    projects = Projects(profile, {"it": Slot(str(tmp_path), start)}, total_memory=0)
    indexes, asked_of = Indexes(projects), Manage("reindex", "it", force=True)

    async def asking(count):
        heard.clear()
        found = await asyncio.gather(*(indexes.manage(asked_of, time.monotonic() + PATIENCE) for _ in range(count)))
        begun = [record for record in heard if isinstance(record, ProcessRecord) and record.process == "indexer"]
        return [each.structure["status"] for each in found], len(begun)

    try:
        assert await asking(3) == (["success"] * 3, 1)
        late = await indexes.manage(asked_of, time.monotonic())
        assert late.structure["status"] == "in_progress"
        waiting = asyncio.create_task(indexes.manage(asked_of, time.monotonic() + PATIENCE))
        await asyncio.sleep(0.05)
        await indexes.manage(Manage("purge", "it"), time.monotonic() + PATIENCE)
        given_up = (await waiting).structure
        assert (given_up["status"], given_up["errors"]) == ("failed", ["the index was given up meanwhile"])
        assert await asking(1) == (["success"], 1)
    finally:
        await projects.close()


@pytest.mark.anyio
async def test_reindexing_by_force_and_purging(client):
    await structured(client, "explore")
    [before] = (await structured(client, "status", project="web"))["projects"]
    made = await structured(client, "manage", action="reindex", project="web", force=True)
    assert made["status"] == "success"
    [after] = (await structured(client, "status", project="web"))["projects"]
    assert after["started_at"] > before["started_at"]
    purged = await structured(client, "manage", action="purge", project="web")
    assert (purged["was"], purged["state"]) == ("serving", "unloaded")
    assert (await structured(client, "status", project="web"))["projects"] == [{"name": "web", "state": "unloaded"}]
    assert text(await client.call_tool("read", {"path": "web/a.py"})).endswith("def f(): ...")


@pytest.mark.anyio
async def test_an_index_of_a_root_that_is_gone_is_said_to_have_failed(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.py").write_text("def f(): ...\n")
    async with live(root, "fledgling-operator") as front:
        indexes = Indexes(front)
        for force in (False, True):
            made = await indexes.manage(Manage("reindex", force=force), time.monotonic() + PATIENCE)
            assert made.structure["status"] == "success"
        shutil.rmtree(root)
        for force in (False, True):
            made = await indexes.manage(Manage("reindex", force=force), time.monotonic() + PATIENCE)
            assert (made.structure["status"], made.structure["errors"]) == ("failed", [NO_ROOT.reason])
            told = (await indexes.status(StatusOf(changes=True))).structure["projects"][0]
            assert (told["changes"], told["unfollowed"]) == (None, NO_ROOT.reason)


# A call that is refused, and the words of it
REFUSED = [
    ("status", {"project": "nowhere"}, "There is api, web."),
    ("status", {"project": "/etc"}, "There is api, web."),
    ("manage", {"action": "purge"}, "project is missing"),
    ("manage", {"action": "purge", "project": "../web"}, "There is api, web."),
    ("manage", {"action": "drop", "project": "web"}, "Give action as"),
    ("manage", {}, "action"),
    ("tasks", {"action": "create"}, "title is missing"),
    ("tasks", {"action": "create", "title": ""}, "Give title as"),
    ("tasks", {"action": "create", "title": "a" * 201}, "Give title as"),
    ("tasks", {"action": "create", "title": "a\nb"}, "control character"),
    ("tasks", {"action": "create", "title": "a", "commit": "HEAD"}, "Give commit as"),
    ("tasks", {"action": "create", "title": "a", "commit": "a" * 41}, "Give commit as"),
    ("tasks", {"action": "create", "title": "a", "branch": "a..b c"}, "Give branch as"),
    ("tasks", {"action": "create", "title": "a", "status": "done"}, "need to be done"),
    ("tasks", {"action": "create", "title": "a", "planning_references": ["api/none.py"]}, "is not in the index"),
    ("tasks", {"action": "create", "title": "a", "planning_references": ["/etc/passwd"]}, "is not in the index"),
    ("tasks", {"action": "create", "title": "a", "planning_references": ["../x"]}, "is not in the index"),
    ("tasks", {"action": "create", "title": "a", "planning_references": ["x"] * 21}, "Give planning_references as"),
    ("tasks", {"action": "get"}, "id is missing"),
    ("tasks", {"action": "unlink", "branch": "main"}, "id is missing"),
    ("tasks", {"action": "unlink", "id": 99, "branch": "main"}, "there is no task 99"),
    ("tasks", {"action": "unlink", "id": 1, "branch": "main", "title": "a"}, "unlink takes no title"),
    ("tasks", {"title": "a"}, "list takes no title. It takes status, branch, limit."),
    ("tasks", {"action": "get", "id": 1, "status": "complete"}, "get takes no status"),
    ("tasks", {"action": "create", "title": "a", "id": 1}, "create takes no id"),
    ("tasks", {"action": "get", "id": 99}, "there is no task 99"),
    ("tasks", {"action": "update", "id": 0}, "Give id as"),
    ("status", {"since": 2**64}, "Give since as"),
    ("tasks", {"limit": 0}, "Give limit as"),
    ("tasks", {"limit": 101}, "Give limit as"),
    ("tasks", {"path": "/tmp/x"}, "there is no argument 'path'"),
    ("tasks", {"action": "create", "title": "a\u202eb"}, "not seen"),  # or a start could not read it again
    ("tasks", {"action": "create", "title": "a", "branch": "x\u200b"}, "not seen"),
    ("tasks", {"action": "create", "title": "a", "planning_references": [""]}, "is not in the index"),
    ("tasks", {"action": "create", "title": "a", "planning_references": ["api/.git/config"]}, "is not in the index"),
    ("tags", {"action": "add", "paths": ["web/a.py"]}, "tags is missing"),
    ("tags", {"action": "remove", "tags": ["a"]}, "paths is missing"),
    ("tags", {"action": "add", "tags": ["a b"], "paths": ["web/a.py"]}, "Give tags as"),
    ("tags", {"action": "add", "tags": ["a"] * 17, "paths": ["web/a.py"]}, "Give tags as"),
    ("tags", {"action": "add", "tags": ["a"], "paths": ["web/a.py"] * 21}, "Give paths as"),
    ("tags", {"action": "add", "tags": ["a"], "paths": ["/etc/passwd"]}, "is not in the index"),
    ("tags", {"action": "add", "tags": ["a"], "paths": ["web/../api/x"]}, "is not in the index"),
    ("tags", {"action": "add", "tags": ["a"], "paths": ["web/none.py"]}, "is not in the index"),
    ("tags", {"action": "add", "tags": ["a"], "paths": ["web"]}, "web/ is a directory"),
    ("tags", {"action": "add", "tags": ["a"], "paths": ["web/a.py\u200b"]}, "not seen"),
    ("tags", {"action": "add", "tags": ["a"], "paths": ["web/a.py"], "symbol": "g"}, "no definition 'g'"),
    ("tags", {"action": "add", "tags": ["a"], "paths": ["web/a.py", "web/b.py"], "symbol": "f"}, "takes one path"),
    ("tags", {"action": "remove", "tags": ["a"], "paths": ["web/a.py"]}, "no agent gave 'a' to web/a.py"),
    ("tags", {"symbol": "f"}, "list takes no symbol"),
    ("tags", {"limit": 101}, "Give limit as"),
    ("tags", {"action": "sync"}, "Give action as"),
]


@pytest.mark.anyio
@pytest.mark.parametrize("number", range(len(REFUSED)))
async def test_refusals(client, number):
    tool, arguments, words = REFUSED[number]
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    assert words in text(answer)


@pytest.mark.anyio
async def test_a_task_from_its_making_to_its_end(client):
    made = await structured(
        client,
        "tasks",
        action="create",
        title="Split the parser",
        description="in two\nparts",
        planning_references=["api/src/core/engine.py"],
        branch="feature/parser",
        commit="0" * 40,
    )
    assert (made["status"], made["written_by"]) == ("need to be done", "agents")
    for status in ("in-progress", "in-progress", "complete"):
        await structured(client, "tasks", action="update", id=made["id"], status=status)
    found = await structured(client, "tasks", action="get", id=made["id"])
    assert [step["status"] for step in found["history"]] == ["need to be done", "in-progress", "complete"]
    assert found["description"] == "in two\nparts"
    for number in range(3):
        await structured(client, "tasks", action="create", title=f"more {number}")
    for more in ("feature/parser", "main", "main"):
        found = await structured(client, "tasks", action="update", id=made["id"], branch=more, commit="1" * 40)
    assert (found["branches"], found["commits"]) == (["feature/parser", "main"], ["0" * 40, "1" * 40])
    assert {kind: [*of] for kind, of in found["links"].items()} == {
        "branch": ["feature/parser", "main"],
        "commit": ["0" * 40, "1" * 40],
    }
    wrong = await structured(client, "tasks", action="update", id=made["id"], branch="mistaken", commit="2" * 40)
    assert (wrong["branches"][-1], wrong["commits"][-1]) == ("mistaken", "2" * 40)
    for link in ({"branch": "mistaken"}, {"commit": "2" * 40}):
        right = await structured(client, "tasks", action="unlink", id=made["id"], **link)
    assert right == found
    assert (await structured(client, "tasks", branch="main"))["total"] == 1
    assert (await structured(client, "tasks", status="complete"))["total"] == 1
    assert (await structured(client, "tasks", branch="feature/parser"))["total"] == 1
    cut = await structured(client, "tasks", limit=2)
    assert (cut["total"], [task["title"] for task in cut["tasks"]]) == (4, ["more 2", "more 1"])


@pytest.mark.anyio
async def test_tags_by_hand_stand_beside_those_of_rules(client):
    add = {"action": "add", "tags": ["reviewed", "database"]}
    assert (await structured(client, "tags", **add, paths=["web/a.py"], symbol="f"))["changed"] == 2
    assert (await structured(client, "tags", **add, paths=["./web//a.py"], symbol="f"))["changed"] == 0
    found = await structured(client, "tags", tags=["reviewed"])
    assert found["tags"] == [{"tag": "reviewed", "path": "web/a.py", "symbol": "f", "agent": "default"}]
    assert {"auth", "payments"} <= {*found["rules"]}
    [of_file] = (await structured(client, "tags", paths=["web/a.py"]))["all"].values()
    assert of_file == ["database 1.00 (BY HAND f)", "reviewed 1.00 (BY HAND f)"]
    lines = await structured(client, "search", query="def", path="web", tags_all=["reviewed", "database"])
    assert [file["path"] for file in lines["files"]] == ["web/a.py"]
    assert "by hand, by agents: database, reviewed" in lines["note"]
    nothing = await structured(client, "search", query="def", path="api", tags_any=["reviewed"])
    assert nothing["total"] == 0  # nobody gave it in that project
    of_both = await structured(client, "search", query="def", tags_any=["reviewed"])
    assert (of_both["total"], "is not in this answer" in of_both["note"]) == (1, False)
    refused = await client.call_tool("search", {"query": "def", "path": "api", "tags_any": ["unheard"]})
    assert "no rule gives the tag 'unheard'" in text(refused)
    assert "payments, reviewed" in text(refused)
    assert await structured(client, "tags", action="remove", tags=["database"], paths=["web/a.py"], symbol="f")
    again = await structured(client, "search", query="def", path="web", tags_any=["database"])
    assert again["total"] == 0  # which is no mistake
    assert (await structured(client, "tags"))["total"] == 1
    await structured(client, "manage", action="purge", project="web")
    again = await structured(client, "search", query="def", path="web", tags_any=["reviewed"])
    assert again["total"] == 1  # an index that is made anew has them, too


@pytest.mark.anyio
async def test_pages_of_a_search_are_of_the_same_tags(client):
    """What another agent takes away between two pages would make the second leave hits out."""
    places = {"tags": ["paged"], "paths": ["api/src/core/engine.py", "api/src/core/config.py", "web/a.py"]}
    asked = {"query": "e", "tags_any": ["paged"], "max_results": 1}
    for path in ({}, {"path": "api"}):
        await structured(client, "tags", action="add", **places)
        first = await structured(client, "search", **asked, **path)
        assert not (await client.call_tool("search", first["next"]["arguments"])).is_error
        await structured(client, "tags", action="remove", tags=["paged"], paths=places["paths"][1:2])
        second = await client.call_tool("search", first["next"]["arguments"])
        assert "the tags by hand have changed since the first page" in text(second)


# ---- branches and commits -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A repository with loose and packed refs, an annotated tag, and a HEAD that no branch names."""
    root = tmp_path_factory.mktemp("repository")
    git(root, "init", "-q", "-b", "main")
    for key in ("user.name", "user.email"):
        git(root, "config", key, "a")
    (root / "a.py").write_text("def f(): ...\n")
    commits = []
    for name in ("packed/one", "loose/two", "none"):
        git(root, "commit", "-q", "--allow-empty", "-m", name)
        commits.append(git(root, "rev-parse", "HEAD").decode().strip())
        if name != "none":
            git(root, "branch", name)
        if name == "packed/one":
            git(root, "tag", "-a", "-m", "v1", "v1")
            git(root, "update-ref", "refs/remotes/origin/far", "HEAD")
            git(root, "pack-refs", "--all")
    git(root, "checkout", "-q", "--detach")
    git(root, "branch", "-q", "-f", "main", commits[0])
    return root, commits


BRANCHES = {
    "main": True,
    "packed/one": True,
    "loose/two": True,
    "origin/far": True,
    "one": False,
    "loose": False,
    "packed": False,
    "../heads/main": False,
    "../../HEAD": False,
    "loose//two": False,
    "/main": False,
    "main/": False,
    "v1": False,
    "main.lock": False,
    "main/below": False,
}


def test_what_refs_are_said_to_name_is_what_git_has(repository):
    root, commits = repository
    (root / ".git/refs/heads/main.lock").touch()  # as where git is about to write a ref
    fd = os.open(root, os.O_RDONLY)
    assert {name: refs.look(fd, AskRefs(branch=name)).branch for name in BRANCHES} == BRANCHES
    assert [refs.look(fd, AskRefs(commit=commit)).commit for commit in [*commits, "0" * 40]] == [True] * 3 + [False]
    os.close(fd)


# What stands for `.git`, and why nothing is known then
HIDDEN = {
    "nothing": (lambda git: None, "no .git"),
    "a file": (lambda git: git.write_text("gitdir: /elsewhere"), "elsewhere"),
    "a link": (lambda git: git.symlink_to(git.parent.parent), "elsewhere"),
    "a plain directory": (Path.mkdir, "not a repository"),
    "a pipe": (os.mkfifo, "elsewhere"),
    "a table": (lambda git: [(git / name).mkdir(parents=True) for name in ("HEAD", "refs", "reftable")], "table"),
    "what shares another's": (
        lambda git: [(git / n).mkdir(parents=True) for n in ("HEAD", "refs", "commondir")],
        "share",
    ),
    "a HEAD that is a directory": (lambda git: [(git / n).mkdir(parents=True) for n in ("HEAD", "refs")], "cannot"),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_refs_that_are_hidden_are_said_to_be_unchecked(tmp_path, name):
    make, words = HIDDEN[name]
    make(tmp_path / ".git")
    fd = os.open(tmp_path, os.O_RDONLY)
    found = refs.look(fd, AskRefs(branch="main", commit="0" * 40))
    os.close(fd)
    assert (found.branch, found.commit) == (None, None)
    assert words in found.problem


def test_hostile_refs_cost_what_they_may(repository, monkeypatch):
    root, commits = repository
    fd = os.open(root, os.O_RDONLY)
    heads = root / ".git/refs/heads"
    for target, branches in (("/etc/passwd", ["link"]), (".", ["link", "link/main"])):
        (heads / "link").symlink_to(target)
        for branch in branches:
            assert refs.look(fd, AskRefs(branch=branch)) == Refs(problem="a link among its refs is not followed")
        assert "link" in refs.look(fd, AskRefs(commit="0" * 40)).problem
        assert refs.look(fd, AskRefs(commit=commits[0])).commit  # of a ref beside it
        (heads / "link").unlink()
    entries = sum(1 for _ in (root / ".git/refs").rglob("*"))
    deep = max(len(path.relative_to(root / ".git/refs").parents) for path in heads.rglob("*")) - 1
    for name, least, words in (("MAX_REFS", entries, "loose refs"), ("MAX_DEPTH", deep, "directories deep")):
        monkeypatch.setattr(refs, name, least)
        assert refs.look(fd, AskRefs(commit="0" * 40)).commit is False
        monkeypatch.setattr(refs, name, least - 1)
        assert words in refs.look(fd, AskRefs(commit="0" * 40)).problem
        monkeypatch.undo()
    monkeypatch.setattr(refs, "MAX_PACKED", 10)
    assert "packed-refs" in refs.look(fd, AskRefs(branch="nowhere")).problem
    os.close(fd)


def test_refs_that_git_packs_meanwhile_are_found(repository, monkeypatch):
    root, commits = repository
    read_packed = refs._packed

    def packing(*arguments):
        found = read_packed(*arguments)
        git(root, "pack-refs", "--all")
        return found

    fd = os.open(root, os.O_RDONLY)
    for asked_of in (AskRefs(branch="soon"), AskRefs(commit=commits[1])):
        git(root, "branch", "-f", "soon", commits[1])
        git(root, "update-ref", "-d", "refs/heads/loose/two")
        monkeypatch.setattr(refs, "_packed", packing)
        found = refs.look(fd, asked_of)
        assert True in (found.branch, found.commit)
        monkeypatch.undo()
        git(root, "branch", "loose/two", commits[1])
        git(root, "branch", "-D", "soon")
    os.close(fd)


@pytest.fixture(scope="module")
async def of_repository(anyio_backend, repository):
    """A client of a server of the repository alone."""
    root, commits = repository
    async with operating(root=root) as client:
        yield client, root, commits


@pytest.mark.anyio
async def test_links_of_tasks_are_looked_up(of_repository):
    client, _, commits = of_repository
    await structured(client, "explore")
    create = {"action": "create", "title": "a"}
    found = await structured(client, "tasks", **create, branch="loose/two", commit=commits[0])
    assert found["links"] == {"branch": {"loose/two": "found"}, "commit": {commits[0]: "found"}}
    found = await structured(client, "tasks", **create, branch="later", commit="0" * 40)
    assert found["links"] == {"branch": {"later": "not found"}, "commit": {"0" * 40: "not found"}}
    both = await structured(client, "tasks", action="update", id=found["id"], branch="main")
    assert both["links"]["branch"] == {"later": "not found", "main": "found"}
    assert "links" not in await structured(client, "tasks", **create)


@pytest.mark.anyio
async def test_a_tag_goes_with_the_definition_that_it_was_given_to(of_repository):
    client, root, _ = of_repository
    file = root / "b.py"
    file.write_text("class A:\n    def f(self): ...\n\ndef g(): ...\n")
    for tag, name in (("method", "A.f"), ("another-case", "G"), ("function", "g")):
        await structured(client, "tags", action="add", tags=[tag], paths=["b.py"], symbol=name)
    left = {file.read_text(): ["another-case", "function", "method"]}
    left |= {"def g(): ...\n": ["another-case", "function"], "X = 1\n": []}
    for text_of_file, tags in left.items():
        file.write_text(text_of_file)
        [of_file] = (await structured(client, "tags", paths=["b.py"]))["all"].values()
        assert [each.split()[0] for each in of_file] == tags


# ---- who has them ---------------------------------------------------------------------------------------------------


def test_agents_of_one_server_share_tasks_and_say_who_wrote_what(project, tmp_path):
    agents = {"one": "fledgling-operator", "two": "fledgling-operator", "reader": "fledgling-core"}
    with serving(project, tmp_path, agents_of=agents) as server:
        status, _, _ = asked(server, "tasks", agent="one", action="create", title="for all")
        assert status == 200
        _, _, body = asked(server, "tasks", agent="two", action="update", id=1, status="complete")
        task = json.loads(body)["result"]["structuredContent"]
        assert [step["agent"] for step in task["history"]] == ["one", "two"]
        assert b"is not a tool of the profile" in asked(server, "tasks", agent="reader")[2]


# ---- the file of a session ------------------------------------------------------------------------------------------


def stored(file, count):
    """A file with so many tasks, and what the tasks are."""
    session = opened(file, [])
    tasks = TaskList(session)
    for number in range(count):
        tasks.create("a", title=f"task {number}", notes="\u00e9\n")
    os.close(session.fd)
    return [record.task for record in session.records]


@contextmanager
def read(file, roots=()):
    session = opened(file, roots)
    try:
        yield session
    finally:
        os.close(session.fd)


def test_a_file_that_is_cut_at_any_byte_keeps_every_whole_line(tmp_path, caplog):
    file = tmp_path / "session.jsonl"
    tasks = stored(file, 3)
    data = file.read_bytes()
    for size in range(len(data) + 1):
        file.write_bytes(data[:size])
        whole = data[:size].count(b"\n")
        left = size - data[:size].rfind(b"\n") - 1
        caplog.clear()
        with read(file) as session:
            said = [f"session file: {left} bytes of a line that was never finished are cut off"] if left else []
            assert [record.getMessage() for record in caplog.records] == said
            assert [record.task for record in session.records] == tasks[: max(whole - 1, 0)]
            TaskList(session).create("b", title="after it")
        with read(file) as session:
            assert session.records[-1].task.title == "after it"


BROKEN = {
    "no JSON": b"{",
    "another record": b'{"event":"call"}',
    "no UTF-8": b'{"event":"stored","task":"\xff"}',
    "a task without a title": b'{"event":"stored","task":{"id":1,"history":[]}}',
    "a task without a state": b'{"event":"stored","task":{"id":1,"title":"a","history":[]}}',
    "a second beginning": b'{"event":"begun","version":1,"at":"2026-01-01T00:00:00Z"}',
    "an empty line": b"",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_line_that_is_not_the_last_ends_the_start(tmp_path, name):
    file = tmp_path / "session.jsonl"
    stored(file, 1)
    before = file.read_bytes()
    first, second, _ = before.split(b"\n")
    file.write_bytes(b"\n".join([first, BROKEN[name], second, b""]))
    with pytest.raises(SessionError, match="line 2 is"):
        opened(file, [])


@pytest.mark.parametrize("text", [b"notes of mine", b"notes of mine\n", b'{"event":"start"}\n', b'{"event":"stored"'])
def test_a_file_of_something_else_stays_as_it_is(tmp_path, text):
    file = tmp_path / "session.jsonl"
    file.write_bytes(text)
    file.chmod(0o600)
    with pytest.raises(SessionError):
        opened(file, [])
    assert file.read_bytes() == text


def test_which_files_are_taken(tmp_path):
    good = tmp_path / "good.jsonl"
    stored(good, 1)
    (tmp_path / "link").symlink_to(good)
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "directory").mkdir()
    for path in (tmp_path / "link", tmp_path / "pipe", tmp_path / "directory", tmp_path / "none" / "x"):
        with pytest.raises(SessionError):
            opened(path, [])
    with pytest.raises(SessionError, match="inside the root"):
        opened(good, [str(tmp_path)])
    for mode in (0o644, 0o660, 0o604):
        good.chmod(mode)
        with pytest.raises(SessionError, match="chmod 600"):
            opened(good, [])
    good.chmod(0o600)
    os.link(good, tmp_path / "second")
    with pytest.raises(SessionError, match="a single name"):
        opened(good, [])
    (tmp_path / "second").unlink()
    with read(good) as session:
        with pytest.raises(SessionError, match="another process"):
            opened(good, [])
        good.unlink()
        with pytest.raises(SessionError, match="it was removed"):
            TaskList(session).create("a", title="task")
        assert len(session.records) == 1


def test_a_full_session_refuses_and_keeps_what_it_has(tmp_path, monkeypatch):
    monkeypatch.setattr(sessions, "MAX_FILE_BYTES", 2000)
    file = tmp_path / "session.jsonl"
    with read(file) as session:
        tasks = TaskList(session)
        while session.size < 1800:
            tasks.create("a", title="task")
        with pytest.raises(FullError):
            tasks.create("a", title="x" * 200)
        count = len(session.records)
    with read(file) as session:
        assert len(session.records) == count > 3
    monkeypatch.undo()  # a file holds far more than the longest line, which is refused by its own limit
    with pytest.raises(FullError):
        Session().append(Stored(msgspec.structs.replace(session.records[0].task, notes="x" * sessions.MAX_LINE_BYTES)))


FULL_DISK = """
import resource, sys
from pathlib import Path
from fledgling.broker.operating.session import SessionError, opened
from fledgling.broker.operating.tasks import TaskList
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
session = opened(Path(sys.argv[1]), [])
tasks = TaskList(session)
try:
    for number in range(100):
        tasks.create("a", title=f"task {number}")
except SessionError as failed:
    print(number, len(tasks.listed(None, None)), failed)
"""


def test_what_cannot_be_written_is_not_there_later(tmp_path):
    file = tmp_path / "session.jsonl"
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", FULL_DISK, file], capture_output=True, text=True, check=True
    )
    written, listed, *words = done.stdout.split()
    assert written == listed != "0"
    assert " ".join(words) == "the session file cannot be written (File too large)"
    with read(file) as session:
        assert len(session.records) == int(written)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)


def test_tags_of_a_session_are_there_at_the_next_start_and_of_one_profile(tmp_path, monkeypatch):
    file = tmp_path / "session.jsonl"
    asked = Search("f", tags_any=("later", "done"))
    with read(file) as session:
        tags = TagList(session)
        tags.change("a", "wide", ["later", "done"], ["api/a.py", "apis/b.py"])
        tags.change("b", "wide", ["done"], ["apis/b.py"], is_removed=True)
        tags.change("b", "narrow", ["later"], ["api/a.py"], "A.run")
    with read(file) as session:
        tags = TagList(session)
        assert [(each.path, each.tag) for each in tags.listed("wide")] == [
            ("api/a.py", "done"),
            ("api/a.py", "later"),
            ("apis/b.py", "later"),
        ]
        assert {(each.path, each.name) for each in tags.told("wide", "api/", asked).given} == {
            ("a.py", "later"),
            ("a.py", "done"),
        }
        assert [each.symbol for each in tags.told("narrow", "api/", asked).given] == ["A.run"]
        assert tags.told("wide", "", Search("f")) == tags.told("core", "", asked) == TagsByHand()
        monkeypatch.setattr(given_tags, "MAX_TAGS", 4)
        with pytest.raises(OperationError, match="holds 4 tags"):
            tags.change("a", "wide", ["more"], ["api/a.py"])
        monkeypatch.undo()
        with pytest.raises(SessionError, match="could not be read again"):
            tags.change("a", "wide", ["done"], ["../b.py"])


def test_a_task_is_linked_to_so_many_branches_and_commits():
    tasks = TaskList(Session())
    tasks.create("a", title="t")
    for number in range(MAX_LINKS):
        tasks.update(1, "a", branch=f"b{number}", commit=f"{number:040x}")
    assert len(tasks.update(1, "a", branch="b0", commit=f"{0:040x}").branches) == MAX_LINKS
    for link in ({"branch": "more"}, {"commit": "f" * 40}):
        with pytest.raises(OperationError, match="up to 20 branches"):
            tasks.update(1, "a", **link)
        with pytest.raises(OperationError, match="task 1 has no"):
            tasks.unlink(1, **link)
    with pytest.raises(OperationError, match="branch is missing"):
        tasks.unlink(1)
    assert (len(tasks.unlink(1, branch="b7").branches), len(tasks.get(1).commits)) == (MAX_LINKS - 1, MAX_LINKS)
    assert tasks.update(1, "a", branch="more").branches[-1] == "more"


def test_a_task_that_changes_for_ever_is_refused():
    tasks = TaskList(Session())
    tasks.create("a", title="t")
    for number in range(MAX_STEPS - 1):
        tasks.update(1, "a", status=("complete", "in-progress")[number % 2])
    with pytest.raises(OperationError, match="changed its status 100 times"):
        tasks.update(1, "a", status="need to be done")


@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.long)])
def test_a_killed_server_loses_nothing_that_was_answered(project, tmp_path, times):
    file, dice, answered = tmp_path / "session.jsonl", random.Random(7), set()
    for round_ in range(times):
        with Server(project, *OPERATOR, "--session", str(file)) as server:
            server.begin()
            for number in range(20):  # of which some are not answered when it dies
                server.call(number + 2, "tasks", {"action": "create", "title": f"{round_} {number}"})
            for _ in range(dice.randrange(1, 20)):
                reply = server.receive()
                assert not reply["result"].get("isError")
                answered.add(f"{round_} {reply['id'] - 2}")
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
    with read(file) as session:
        titles = [record.task.title for record in session.records]
        counts = [sum(title.startswith(f"{round_} ") for title in titles) for round_ in range(times)]
        assert titles == [f"{round_} {number}" for round_ in range(times) for number in range(counts[round_])]
        assert answered <= {*titles}
        assert [record.task.id for record in session.records] == [*range(1, len(titles) + 1)]


def test_a_server_does_not_start_with_a_session_inside_the_root(project):
    command = serve_command(project, *OPERATOR, "--session", str(project / "session.jsonl"))
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2
    assert "it is inside the root; give another file" in done.stderr
    assert not (project / "session.jsonl").exists()
