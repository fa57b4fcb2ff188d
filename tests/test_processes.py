"""The processes as /proc and signals see them: how they start, what they hold, how they end, who replaces them."""

import asyncio
import os
import resource
import signal
import statistics
import time
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import psutil
import pytest
from asking import said, text
from conftest import connected
from forking import CLEAN, executing
from mcp import MCPError
from running import (
    CALLS,
    ENDLESS,
    FOLLOWER,
    INDEXER,
    QUERY_WORKER,
    Server,
    at_work,
    back_processes,
    broker,
    children_of,
    first,
    is_alive,
    opened,
    until,
    words_of,
)
from running import query_worker as worker_of

from fledgling.broker.embedding.connector import MODULE as CONNECTOR
from fledgling.broker.query_worker import LOST
from fledgling.messages.operations import OPERATIONS
from fledgling.security import limits

GB = 1000**3
TIED = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, "end of input"]


def planted(root, count):
    """A project of so many files, each of which defines little: what it defines does not keep an indexer at work."""
    for at in range(count):
        directory = root / f"d{at % 50}"
        directory.mkdir(exist_ok=True)
        body = f"def f{at}_1(x):\n    return x  # timeout\n\n\n"
        (directory / f"m{at}.py").write_text(f"import os\nfrom d{at % 7} import m{at + 1}\n\n\n{body}")
    return root


@pytest.fixture(scope="session")
def large(tmp_path_factory):
    """The indexer is at work for half a second or more: who looks at it there finds it at each of its stages."""
    return planted(tmp_path_factory.mktemp("large"), 3000)


@pytest.fixture(scope="session")
def middling(tmp_path_factory):
    """For whoever looks on until all of it is indexed."""
    return planted(tmp_path_factory.mktemp("middling"), 800)


@pytest.fixture(scope="module")
async def client(anyio_backend, project):
    """A client of an executed server under the default profile, whose worker may be another after each test."""
    async with AsyncExitStack() as stack:
        with executing():
            client = await stack.enter_async_context(connected(project))
        await client.call_tool("explore", {})
        yield client


@pytest.fixture(scope="module")
def forked(project):
    with Server(project) as server:
        yield server


def test_what_was_forked_before_is_not_taken_for_executed(forked, request):
    with pytest.raises(AssertionError, match="'forked'} were forked before"):
        request.getfixturevalue("executed")


def test_a_worker_that_takes_the_place_of_another_is_forked_as_that(forked):
    """The index has another generation then; of one that is forked, the kernel shows words apart by spaces."""
    forked.begin()
    forked.call(2, "symbols", {"symbol": "Engine", "relation": "usages"})
    assert not forked.receive()["result"].get("isError")
    workers = back_processes(psutil.Process(forked.process.pid), QUERY_WORKER)  # the one before may be about to end
    worker = max(workers, key=psutil.Process.create_time)
    assert f" {QUERY_WORKER}".encode() in Path(f"/proc/{worker.pid}/cmdline").read_bytes()


async def answers(client):
    return [said(await client.call_tool(tool, arguments)) for tool, arguments in CALLS]


# ---- how they start, what they hold ---------------------------------------------------------------------------------
# Their environment, limits and memory are looked at, so these are executed.


def is_started_bare(process, module):
    assert process.cmdline()[1:] == ["-I", "-B", "-m", module]
    assert process.cwd() == os.readlink(f"/proc/{process.pid}/root")
    assert process.environ() == {}
    assert os.getsid(process.pid) == process.pid
    assert all(opened(process)[fd].startswith("pipe:") for fd in (0, 1, 2))


SHOWN = {  # limit -> its name in /proc/PID/limits, which anybody may read
    resource.RLIMIT_CORE: "Max core file size",
    resource.RLIMIT_DATA: "Max data size",
    resource.RLIMIT_FSIZE: "Max file size",
    resource.RLIMIT_NOFILE: "Max open files",
    resource.RLIMIT_STACK: "Max stack size",
}


def shown_limits(process):
    with open(f"/proc/{process.pid}/limits") as file:
        return {line[:25].strip(): line[25:67].split() for line in file}


def has_limits(process, expected):
    shown = shown_limits(process)
    return all(shown[SHOWN[limit]] == [str(value), str(value)] for limit, value in expected.items())


@pytest.mark.anyio
async def test_query_worker_holds_three_pipes_and_the_image(client):
    worker = worker_of(broker())
    is_started_bare(worker, QUERY_WORKER)
    assert has_limits(worker, {**limits.BROKER, **limits.QUERY_WORKER})
    # What it may take yet: what the files of a small index leave of memory_limit, but for the graph that may come among
    # them, and what its engine takes beside buffers; some of that, and of its stacks, is taken.
    left = limits.data_limit(worker.pid) - limits.data_bytes(worker.pid)
    beside = limits.BESIDE_BUFFERS + limits.CALL_STACKS
    assert -limits.graph(2 * GB, 0) - 2**25 < left - 2 * GB < beside
    for tool, arguments in CALLS:
        await client.call_tool(tool, arguments)
        others = {where for fd, where in opened(worker).items() if fd > 2}
        assert others == {"/memfd:fledgling-image (deleted)"}


@pytest.mark.anyio
async def test_follower_holds_three_pipes_the_root_its_files_and_its_extractors(client, project):
    [follower] = [child for child in children_of(broker()) if words_of(child)[-1:] == [FOLLOWER]]
    is_started_bare(follower, FOLLOWER)
    assert has_limits(follower, limits.of_indexer(2 * GB))
    await client.call_tool("explore", {})
    others = {where for fd, where in opened(follower).items() if fd > 2}
    others = {where for where in others if not where.startswith("socket:")}
    assert others == {str(project), "/memfd:fledgling-image (deleted)"}
    [above] = follower.children()
    await until(lambda: not above.children())  # an extractor ends where there is nothing to parse


@pytest.mark.anyio
async def test_indexer_holds_three_pipes_the_images_its_extractors_and_what_is_below_the_root(middling):
    with executing(), Server(middling) as server:
        indexer = await first(server.seen, INDEXER)
        await until(lambda: has_limits(indexer, limits.of_indexer(2 * GB)))
        is_started_bare(indexer, INDEXER)
        assert os.readlink(f"/proc/{indexer.pid}/root") == (str(middling) if os.geteuid() == 0 else "/")
        samples = []
        while is_alive(indexer):
            samples.append({where for fd, where in opened(indexer).items() if fd > 2})
            await asyncio.sleep(0.003)
        seen = set().union(*samples)
        assert {str(middling), "/memfd:fledgling-image (deleted)"} <= seen
        assert any(where.startswith(f"{middling}/d") for where in seen)
        ours = ("/memfd:fledgling-image", "socket:", "anon_inode:[landlock-ruleset]", str(middling))
        assert not {where for where in seen if not where.startswith(ours)}


def children_of_children(process):
    """How many children each child has; None where one ends meanwhile."""
    with suppress(psutil.NoSuchProcess):
        return [len(child.children()) for child in process.children()]


def left(process):
    """How many bytes a process may reserve yet."""
    return limits.data_limit(process.pid) - limits.data_bytes(process.pid)


@pytest.mark.anyio
async def test_extractors_hold_one_socket_and_end_with_the_indexer(large):
    """One for each core, and one process above them all; none can open what the indexer can."""
    count = limits.extractors(2 * GB)
    with executing(), Server(large) as server:
        indexer = await first(server.seen, INDEXER)
        await until(lambda: children_of_children(indexer) == [count])  # the lister is gone
        indexer.suspend()
        forked = indexer.children(recursive=True)
        [above] = indexer.children()
        for process in forked:
            share = (limits.resolver_share if process == above else limits.extractor_share)(2 * GB)
            await until(lambda process=process, share=share: 0 <= share - left(process) < 2**26)  # at work on source
            assert has_limits(process, limits.EXTRACTOR)
            # What it forks serves one each, the last one what resolves, and by the pipe those share work who make rows.
            kinds = ["pipe"] * 2 + ["socket"] * (count + 1) if process == above else ["socket"]
            await until(lambda process=process, kinds=kinds: len(opened(process)) == 1 + len(kinds))
            held = opened(process)
            assert held.pop(2).startswith("pipe:")
            assert sorted(where.partition(":")[0] for where in held.values()) == kinds
        indexer.kill()
        await until(lambda: not any(map(is_alive, forked)))


@pytest.mark.anyio
async def test_no_descriptor_or_variable_of_the_client_reaches_a_back_process(project, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("canary")
    environment = {
        **os.environ,
        "SECRET": "canary",
        "PYTHONPATH": str(tmp_path),
        "LD_LIBRARY_PATH": str(tmp_path),
        "MALLOC_ARENA_MAX": "1",
    }
    with executing(), secret.open() as held, Server(project, pass_fds=[held.fileno()], env=environment) as server:
        assert str(secret) in opened(server.seen).values()
        server.begin()
        server.call(2, "explore", {})
        server.receive()
        worker = worker_of(server.seen)
        is_started_bare(worker, QUERY_WORKER)
        assert str(secret) not in opened(worker).values()


@pytest.mark.anyio
async def test_modules_in_the_project_are_never_imported(tmp_path):
    for name in ("duckdb.py", "json.py", "sitecustomize.py", "worker/__init__.py", "fledgling/__init__.py"):
        module = tmp_path / "tree" / name
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text(f"open({str(tmp_path / 'imported')!r}, 'w')")
    with executing(), Server(tmp_path / "tree", cwd=tmp_path / "tree") as server:
        server.begin()
        server.call(2, "explore", {})
        assert server.receive()["result"]["structuredContent"]["summary"]["total_files"] == 5
    assert not (tmp_path / "imported").exists()


# ---- how they end ---------------------------------------------------------------------------------------------------


async def ends(server, way):
    """End a server, and wait until nothing of it is left: a tenth of a second where nothing else is at work."""
    left = back_processes(server.seen)
    assert left
    if way == "end of input":
        server.process.stdin.close()
    else:
        server.process.send_signal(way)
    await until(lambda: not any(map(is_alive, left)))
    await until(lambda: server.process.poll() is not None)
    assert server.process.returncode == (0 if way == "end of input" else -way)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "way",  # it is killed while an extractor is at work further below
    [pytest.param(signal.SIGKILL, marks=pytest.mark.long), "end of input"],
    ids=str,
)
async def test_nothing_is_left_when_the_broker_ends_while_indexing(large, way):
    with Server(large) as server:
        indexer = await first(server.seen, INDEXER)
        await at_work(server.seen)
        assert is_alive(indexer)
        await ends(server, way)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "way",  # when it is killed, even a worker that stands still ends: below
    [pytest.param(way, marks=[pytest.mark.long] if way in (signal.SIGKILL, signal.SIGTERM) else []) for way in TIED],
    ids=str,
)
async def test_nothing_is_left_when_the_broker_ends_with_a_call_at_work(project, way):
    """SIGTERM ends it by the kernel's default, as SIGKILL does; that SIGINT does so too, is a line of ours."""
    with Server(project, "--profile", "fledgling-analyst") as server:
        server.begin()
        server.call(2, "explore", {})
        server.receive()
        server.call(3, "query", {"sql": ENDLESS})
        await at_work(server.seen)
        await ends(server, way)


@pytest.mark.anyio
async def test_a_stopped_worker_ends_with_the_broker_too(project):
    with Server(project) as server:
        server.begin()
        server.call(2, "explore", {})
        server.receive()
        worker_of(server.seen).suspend()
        await ends(server, signal.SIGKILL)


def is_listing(indexer):
    """Whether its first child, the lister, is there and confined."""
    with suppress(ValueError, FileNotFoundError, ProcessLookupError, KeyError):
        return has_limits(min(indexer.children(), key=lambda child: child.pid), limits.of_indexer(2 * GB))


def is_extracting(indexer):
    return children_of_children(indexer) == [limits.extractors(2 * GB)]  # the lister is gone


STOPPED = {  # who is stopped, as who was taken over may ignore its closed socket: when, and which of the indexer's
    "lister": (is_listing, lambda indexer: min(indexer.children(), key=lambda child: child.pid)),
    "extractors' parent": (is_extracting, lambda indexer: indexer.children()[0]),
    "extractor": (is_extracting, lambda indexer: indexer.children()[0].children()[0]),
}


async def are_gone(left):
    """Wait until processes have ended; a test that fails leaves none behind either."""
    try:
        await until(lambda: not any(map(is_alive, left)), seconds=20)
    finally:
        for process in filter(is_alive, left):
            process.kill()


@pytest.mark.anyio
@pytest.mark.parametrize(
    "name",  # of those below the indexer, who is furthest from it
    [pytest.param(name, marks=[] if name == "extractor" else [pytest.mark.long]) for name in STOPPED],
)
async def test_a_stopped_child_of_the_indexer_ends_with_it(large, name):
    """The kernel passes no death signal on between siblings of Landlock, so the broker ends the whole group."""
    is_there, stopped = STOPPED[name]
    with Server(large) as server:
        indexer = await first(server.seen, INDEXER)
        await until(lambda: is_there(indexer))
        stopped(indexer).suspend()
        await until(lambda: has_limits(indexer, limits.of_indexer(2 * GB)))  # it is confined too
        indexer.suspend()
        left = [indexer, *indexer.children(recursive=True)]
        indexer.kill()
        await are_gone(left)


@pytest.mark.anyio
async def test_a_stopped_extractor_ends_with_the_broker(large):
    """The process above it hears that the indexer is gone, and its own end is the kernel's signal to extractors."""
    is_there, stopped = STOPPED["extractor"]
    with Server(large) as server:
        indexer = await first(server.seen, INDEXER)
        await until(lambda: is_there(indexer))
        stopped(indexer).suspend()
        left = [indexer, *indexer.children(recursive=True)]
        server.seen.kill()
        await are_gone(left)


def keeper_of(server):
    """The first of its children: it starts no program of its own."""
    forked = [child for child in server.children() if words_of(child) == server.cmdline()]
    return min(forked, key=psutil.Process.create_time)


EMBEDDING = ["--embedding-endpoint", "http://127.0.0.1:9/api/embed", "--embedding-model", "m", "--profile"]
UNTIED = {  # who stays where it was stopped when the broker is killed: the options that start it, and where it is found
    "an indexer before it ties itself": ([], lambda server: back_processes(server, INDEXER)[0]),
    "a keeper": (["--control"], keeper_of),
}


@pytest.mark.anyio
@pytest.mark.parametrize("way", [signal.SIGKILL, pytest.param("end of input", marks=pytest.mark.long)], ids=str)
async def test_a_stopped_connector_ends_with_the_broker(project, tmp_path, way):
    """Under Landlock the broker may not end it; a pipe does."""
    (tmp_path / "mine.sql").write_text("SET extends = 'fledgling-core';\nSET embedding = 'loopback';\n")
    with Server(project, *EMBEDDING, str(tmp_path / "mine.sql")) as server:
        server.begin()
        [connector] = back_processes(server.seen, CONNECTOR)
        await until(lambda: has_limits(connector, limits.CONNECTOR))  # it is confined, and tied
        connector.suspend()
        await ends(server, way)


@pytest.mark.anyio
@pytest.mark.parametrize("name", UNTIED)
async def test_who_was_stopped_and_is_not_tied_ends_when_it_goes_on(project, tmp_path, name):
    options, found = UNTIED[name]
    tmp_path.chmod(0o700)
    for _ in range(10):  # an indexer, which takes a while to load, may have tied itself before it was stopped
        with executing(), Server(project, *options, env={**CLEAN, "XDG_RUNTIME_DIR": str(tmp_path)}) as server:
            await first(server.seen, INDEXER)
            stopped = found(server.seen)
            stopped.suspend()
            server.process.kill()
            server.process.wait()
        await asyncio.sleep(0.1)  # where the kernel ends it, that is done by then
        if is_alive(stopped):
            break
    else:
        pytest.fail("it was tied each time")
    stopped.resume()
    await are_gone([stopped])


# ---- who replaces them ----------------------------------------------------------------------------------------------


@pytest.mark.anyio
@pytest.mark.parametrize("kills", [2, pytest.param(100, marks=pytest.mark.long)])
async def test_worker_killed_while_idle_is_replaced_over_the_same_image(client, kills, record_testsuite_property):
    """Half of the kills right before the next call, to the cost of one clear error; nothing is indexed again."""
    expected = await answers(client)
    image = [where for where in opened(broker()).values() if "memfd" in where]
    seconds = []
    for kill in range(kills):
        worker = worker_of(broker())
        worker.kill()
        if kill % 2:
            await until(lambda worker=worker: not is_alive(worker))
        begun = time.monotonic()
        tool, arguments = CALLS[kill % len(CALLS)]
        answer = await client.call_tool(tool, arguments)
        if answer.is_error and not kill % 2:  # it was asked before the death was known
            assert LOST.next_step in text(answer)
            answer = await client.call_tool(tool, arguments)
        seconds.append(time.monotonic() - begun)
        assert said(answer) == expected[kill % len(CALLS)]
        assert len(back_processes(broker(), QUERY_WORKER)) == 1
    assert await answers(client) == expected
    assert [where for where in opened(broker()).values() if "memfd" in where] == image
    record_testsuite_property("recovery median ms", round(1000 * statistics.median(seconds)))
    record_testsuite_property("recovery worst ms", round(1000 * max(seconds)))


@pytest.mark.anyio
@pytest.mark.long  # to others than a client it is said in tests/test_limits.py, where calls are blamed for it
async def test_worker_killed_at_work_costs_that_call_one_clear_error(project):
    async with connected(project, "--profile", "fledgling-analyst") as client:
        expected = await answers(client)
        worker = worker_of(broker())
        call = asyncio.create_task(client.call_tool("query", {"sql": ENDLESS}))
        await at_work(broker())
        worker.kill()
        lost = await call
        assert lost.is_error
        assert text(lost) == (
            "the query worker ended while it worked on this call. Ask again: a new worker answers from the same index. "
            "If that ends too, ask for less at once."
        )
        assert await answers(client) == expected
        assert worker_of(broker()).pid != worker.pid


# ---- default deny, at the door --------------------------------------------------------------------------------------

NOT_TOOLS = {
    "a tool of another profile": "query",
    "its name in capitals": "QUERY",
    "an allowed tool in capitals": "Search",
    "a space behind": "search ",
    "a Cyrillic letter": "s\u0435arch",
    "full-width letters": "\uff53earch",
    "a zero-width space": "search\u200b",
    "a NUL": "search\0",
    "a combining mark": "search\u0301",
    "nothing": "",
    "a method of the protocol": "tools/list",
    "a method of the front": "__init__",
    "a message of the wire": "open",
    "a very long name": "search" * 100_000,
    **{f"an operator's: {name}": name for name in (*OPERATIONS, "Manage", "manage ", "admin.manage")},
}


@pytest.mark.anyio
async def test_tool_outside_the_profile_is_not_listed_and_refused_without_asking_the_worker(client):
    assert [tool.name for tool in (await client.list_tools()).tools] == [
        "explore",
        "read",
        "search",
        "symbols",
        "dependencies",
    ]
    worker = worker_of(broker())
    worker.suspend()  # who is asked while it stands still, does not answer
    for why, name in NOT_TOOLS.items():
        with pytest.raises(MCPError) as denied:
            await client.call_tool(name, {"sql": "SELECT 1"}, read_timeout_seconds=5)
        assert denied.value.error.code == -32602, why
        assert "is not a tool of the profile fledgling-core" in denied.value.error.message, why
        assert len(denied.value.error.message) < 300
    worker.resume()
    assert not (await client.call_tool("explore", {})).is_error
    assert psutil.pid_exists(worker.pid)
