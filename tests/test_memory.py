"""What all processes and memory files of a profile hold together: never more than security/limits.py says."""

import asyncio
import errno
import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import bombs
import psutil
import pytest
from asking import text
from conftest import connected
from mcp import Client
from running import (
    INDEXER,
    LATE,
    Peak,
    Server,
    anonymous_bytes,
    back_processes,
    broker,
    fronted,
    in_time,
    is_alive,
    query_worker,
    until,
)

from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.memory import Memory, held_bytes
from fledgling.broker.terms import Terms, due
from fledgling.messages.answers import Refusal
from fledgling.messages.generations import CODE, EDGES, GRAPH
from fledgling.messages.questions import Explore
from fledgling.security import limits, memory_file

executed = pytest.mark.usefixtures("executed")  # what looks at memory

MEMORY = 128_000_000
PROFILE = "SET tools = 'explore, read, search, symbols, dependencies, query'; SET memory_limit = '{}';"
PROFILE += "SET query_timeout = {};"
FILES_OF_A_TREE = 50
QUICK, MANY = 6, 5000  # bombs
ASKED = [  # of an index that fills memory_limit
    ("explore", {"depth": 3}),
    ("read", {"path": "good.py"}),
    ("symbols", {}),
    ("symbols", {"path": "**/*.json", "name_pattern": "key0*"}),
    ("search", {"query": "key", "kind": "variable"}),
    ("dependencies", {"path": "good.py"}),
    ("query", {"sql": "SELECT path, kind, count(*) FROM symbols GROUP BY ALL ORDER BY 3 DESC"}),
]
TEXT_FILE = 1_000_000  # bytes
KEYS = 4_600  # of a file that defines as much as it may
LOOK_SECONDS = 0.1  # between two looks at what is held, each of milliseconds; the long test looks closely
LONG_LOOK_SECONDS = 0.005
FULL = re.compile(r"Definitions and imports of (\d+) files? are missing: the profile's memory_limit is full\.")
BY_LIMIT = re.compile("memory_limit|query_timeout|query workers?")  # no bomb that the gate takes for something else
NOT_PARSED = re.compile(r"took too long or too much memory: ([^;]+?)(?: and ([\d,]+) more)?;")


def all_held(of: psutil.Process) -> int:
    """What all processes below a broker and their memory files hold together, looked at from outside."""
    with suppress(psutil.NoSuchProcess):
        processes = back_processes(of)
        files = memory_files([of, *processes])
        return files + sum(held_bytes(process.pid, files) for process in processes)
    return 0


def memory_files(processes: list[psutil.Process]) -> int:
    """The bytes of all memory files that processes hold open, each counted once."""
    found: dict[int, int] = {}
    for process in processes:
        with suppress(OSError):  # it has ended
            for number in os.listdir(f"/proc/{process.pid}/fd"):
                opened = f"/proc/{process.pid}/fd/{number}"
                with suppress(OSError):
                    if "memfd:" in os.readlink(opened):
                        seen = os.stat(opened)
                        found[seen.st_ino] = seen.st_blocks * 512
    return sum(found.values())


def write_tree(root: Path, dice: random.Random, files: int) -> Path:
    for number in range(files):
        name, content = bombs.file(dice)
        directory = root / f"d{number}"
        directory.mkdir(parents=True)
        (directory / name).write_bytes(content)
    (root / "good.py").write_text("def good(): pass\n")
    return root


def profile(place: Path, memory_limit: str = "128MB", query_timeout: float = 1) -> str:
    path = place / "bounded.sql"
    path.write_text(PROFILE.format(memory_limit, query_timeout))
    return str(path)


async def answered(client: Client, tool: str, **arguments: str) -> dict[str, Any]:
    """An answer, however long an index and a worker take: under a query_timeout of a second some calls end before."""
    found = await in_time(client.call_tool, tool, arguments, late=f"{LATE}|query_timeout")
    assert not found.is_error, text(found)
    return found.structured_content


async def bombed(place: Path, dice: random.Random, count: int, look: float, record) -> None:
    """Serve trees of hostile files, and put hostile statements to each: half of the bombs are files."""
    most, ended, undefined = 0, 0, 0
    half = count // 2
    trees = [min(FILES_OF_A_TREE, half - begin) for begin in range(0, half, FILES_OF_A_TREE)]
    for number, files in enumerate(trees):
        root = write_tree(place / f"tree{number}", dice, files)
        async with connected(root, "--profile", profile(place)) as client:
            with Peak(partial(all_held, broker()), look) as whole:
                explored = await answered(client, "explore")
                assert explored["summary"]["total_files"] == files + 1
                for _ in range(files):
                    answer = await client.call_tool("query", {"sql": bombs.statement(dice)})
                    ended += answer.is_error
                    assert not answer.is_error or BY_LIMIT.search(text(answer)), text(answer)
                answer = await answered(client, "symbols", path="good.py")
                assert answer["total"] == 1
            note = (await answered(client, "explore")).get("note", "")
            for named, more in NOT_PARSED.findall(note):
                undefined += len(named.split(", ")) + int(more.replace(",", "") or 0)
        most = max(most, whole.bytes)
        assert whole.bytes <= limits.whole(MEMORY), number
    record("hostile files, statements, refused, not parsed", [half, half, ended, undefined])
    record("most held together, MB, of", [round(most / 1e6), round(limits.whole(MEMORY) / 1e6)])


@executed
@pytest.mark.anyio
async def test_some_bombs_stay_within_memory_limit(tmp_path, record_testsuite_property):
    await bombed(tmp_path, random.Random(1), QUICK, LOOK_SECONDS, record_testsuite_property)


@executed
@pytest.mark.anyio
@pytest.mark.long
async def test_thousands_of_bombs_stay_within_memory_limit(tmp_path, record_testsuite_property):
    await bombed(tmp_path, random.Random(2), MANY, LONG_LOOK_SECONDS, record_testsuite_property)


# Of these texts of some megabytes each an engine counts nothing.
UNCOUNTED = "SELECT max(length(s)) FROM (SELECT repeat(repeat(path, 1000), 1000) || range AS s FROM files, range(60))"


@executed
@pytest.mark.anyio
async def test_while_nobody_looks_a_worker_takes_no_more_than_its_share(project, tmp_path):
    """Beside what it holds at rest, and BESIDE_BUFFERS: nobody looks while this loop, its broker's, is busy."""
    async with fronted(project, profile(tmp_path, query_timeout=5)) as (front, indexing):
        await indexing.sealed(EDGES)
        await front.call("query", {"sql": "SELECT 1"})
        worker = query_worker(psutil.Process())
        at_rest = anonymous_bytes(worker)
        call = asyncio.create_task(front.call("query", {"sql": UNCOUNTED}))
        await until(lambda: anonymous_bytes(worker) > at_rest + 2**20, seconds=20)
        with Peak(partial(anonymous_bytes, worker)) as peak:
            time.sleep(1)  # noqa: ASYNC251  (it is what keeps the loop busy)
        assert isinstance(await call, Refusal)
        share = limits.worker_share(MEMORY, indexing.memory.files_bytes())
        assert peak.bytes < at_rest + share + limits.BESIDE_BUFFERS


@pytest.mark.anyio
async def test_an_index_that_is_closed_holds_no_file(project):
    """Whoever counts it then looks at no descriptor: it may be another's by now."""
    async with fronted(project) as (_, indexing):
        await indexing.built()
        assert indexing.memory.files_bytes()
    assert not indexing.memory.files_bytes()


@pytest.mark.anyio
async def test_where_memory_is_full_a_build_beside_an_index_ends_and_not_the_worker_that_serves(project, monkeypatch):
    """Another is tried once there is room."""
    monkeypatch.setattr(limits, "worker_share", lambda *_: 2**20)  # little, as over an index that fills memory_limit
    async with fronted(project, is_followed=True) as (front, indexing):
        await indexing.sealed(GRAPH)
        before = await front.call("search", {"query": "timeout"})
        worker = query_worker(psutil.Process())
        await until(lambda: not back_processes(psutil.Process(), INDEXER))
        most = indexing.memory.held() + limits.kept_free() + 2**20
        with monkeypatch.context() as full:
            full.setattr(limits, "whole", lambda _: most)
            indexing.renew(afresh=True)
            with pytest.raises(IndexingError, match="memory_limit"):
                await indexing.built()
            assert await front.call("search", {"query": "timeout"}) == before
            assert query_worker(psutil.Process()) == worker
        indexing.renew(afresh=True)
        await indexing.built()
        assert await front.call("search", {"query": "timeout"}) == before


@executed
@pytest.mark.anyio
async def test_definitions_for_which_there_is_no_room_are_said_to_be_missing(tmp_path):
    """Their text can be read and searched, and so can all of what had room."""
    for number in range(16):
        (tmp_path / f"a{number:02}.txt").write_text(f"needle {number}\n" * (TEXT_FILE // 10))
    keys = "{" + ",".join(f'"key{number:06}{"x" * 185}":[1]' for number in range(KEYS)) + "}"  # long ones: few fill it
    for number in range(16):  # of which some thirteen have room
        (tmp_path / f"b{number:02}.json").write_text(keys)
    (tmp_path / "good.py").write_text("def good(): pass\n")
    place = tmp_path / "elsewhere"
    place.mkdir()
    async with fronted(tmp_path, profile(place, query_timeout=10)) as (front, indexing):
        with Peak(partial(all_held, psutil.Process()), LOOK_SECONDS) as whole:
            built = await indexing.built()
            explored = await front.ask(Explore(), Terms(due(front.profile), least=CODE))
        missing = FULL.search(built.partial)
        assert missing, built.partial
        assert 0 < int(missing[1]) <= 16
        assert missing[0] in explored.note
        assert whole.bytes <= limits.whole(MEMORY)
        assert indexing.memory.files_bytes() <= limits.files(MEMORY)
        assert (await front.call("search", {"query": f"key{KEYS - 1:06}"})).total_files == 16
        assert (await front.call("query", {"sql": "SELECT count(*) FROM symbols"})).rows[0][0] > 8 * KEYS
        for tool, arguments in ASKED:
            assert not isinstance(await front.call(tool, arguments), Refusal), tool


# ---- each holds to its share, and all to the whole -----------------------------------------------------------------

WRITES = {  # what an indexer that is no longer ours may try with a memory file that it was handed
    "longer than any": "os.ftruncate(fd, 2**40)",
    "a byte far away": "os.pwrite(fd, b'x', 2**40)",
    "one byte too many": f"os.pwrite(fd, b'x', {limits.files(MEMORY)})",
    "on and on": "[os.write(fd, bytes(2**20)) for _ in range(2**11)]",
    "room kept": "os.posix_fallocate(fd, 0, 2**31)",
}
CONFINED = f"""
import os, sys
from fledgling.security import limits
limits.confine(limits.of_indexer({MEMORY}))
fd = int(sys.argv[1])
try:
    {{}}
except OSError as refused:
    print(refused.errno, os.fstat(fd).st_size)
"""


@pytest.mark.parametrize("name", WRITES)
def test_no_memory_file_grows_past_its_share(name):
    fd = memory_file.create()
    command = [sys.executable, "-I", "-c", CONFINED.format(WRITES[name]), str(fd)]
    found = subprocess.run(command, pass_fds=[fd], stdout=subprocess.PIPE, check=True).stdout
    os.close(fd)
    number, size = map(int, found.split())
    assert number == errno.EFBIG
    assert size <= limits.files(MEMORY)


HOGS = {  # what grows by `step` bytes
    "its own memory": "held += bytes(step)",
    "memory that it shares": "held.append(mmap.mmap(-1, step)); held[-1].write(b'x' * step)",
    "memory files": "[os.write(int(fd), bytes(step // 3)) for fd in sys.argv[1:]]",
}
HOG = """
import mmap, os, sys, time
held, step = {}, 2**22
for _ in range(180):  # it takes no more than some 750 MB, whoever looks on
    {}
    time.sleep(0.002)
time.sleep(60)
"""


class Hog:
    """A process that takes more and more memory, in itself or in one that it forks."""

    def __init__(self, name: str, fds: list[int], forked: bool) -> None:
        code = HOG.format("bytearray()" if name == "its own memory" else "[]", HOGS[name])
        if forked:
            code = f"import os, time\nif os.fork(): time.sleep(60)\n{code}"
        command = [sys.executable, "-c", code, *map(str, fds)]
        self.process = subprocess.Popen(command, pass_fds=fds, start_new_session=True)
        self.over_memory = False

    @property
    def pid(self) -> int:
        return self.process.pid

    is_busy = True

    def end_for_memory(self) -> None:
        self.over_memory = True
        self.process.kill()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "forked"),  # of a child it matters that it is seen, and not what it holds
    [
        *((name, False) for name in HOGS),
        ("its own memory", True),
        *(pytest.param(name, True, marks=pytest.mark.long) for name in HOGS if name != "its own memory"),
    ],
)
async def test_what_takes_too_much_is_ended(name, forked, monkeypatch):
    monkeypatch.setattr(limits, "MEMORY_HEADROOM", 2**26)  # less to fill
    fds = [memory_file.create() for _ in range(3)]
    watched = Memory(MEMORY, lambda: fds)
    hog = Hog(name, fds, forked)
    seen = psutil.Process(hog.pid)
    watched.watch(hog, int(MEMORY * limits.INDEXING))
    try:
        if forked:
            [child] = await children_of(seen)
            await until(lambda: hog.over_memory or not is_alive(child))
            assert hog.over_memory == (name == "memory files")  # who has written those cannot be told
        else:
            await until(lambda: hog.over_memory and not is_alive(seen))
    finally:
        watched.forget(hog)
        os.killpg(hog.pid, signal.SIGKILL)  # what it has forked, too
        hog.process.wait()
        for fd in fds:
            os.close(fd)


async def children_of(process: psutil.Process) -> list[psutil.Process]:
    """The processes below a process, as soon as there are any."""
    await until(process.children)
    return process.children()


SHARES = {  # memory_limit, cores -> extractors, bytes of one, bytes of all processes and memory files
    (128_000_000, 1): (1, 64_000_000, 530_653_184),
    (128_000_000, 8): (1, 64_000_000, 530_653_184),
    (256_000_000, 8): (2, 64_000_000, 694_304_768),
    (2_000_000_000, 2): (2, 500_000_000, 2_438_304_768),
    (2_000_000_000, 8): (8, 125_000_000, 2_652_214_272),
    (4_000_000_000, 64): (8, 250_000_000, 4_652_214_272),
    (64_000_000_000, 2): (2, 536_870_912, 64_438_304_768),
}


@pytest.mark.parametrize(("given", "expected"), SHARES.items())
def test_shares_of_memory_limit(given, expected, monkeypatch):
    memory_limit, cores = given
    monkeypatch.setattr(limits, "cores", lambda: cores)
    assert expected == (
        limits.extractors(memory_limit),
        limits.extractor_share(memory_limit),
        limits.whole(memory_limit),
    )
    for of_files in (None, 0, limits.files(memory_limit) // 2, limits.files(memory_limit)):
        worker = limits.worker_share(memory_limit, of_files)
        assert worker + (of_files or 0) <= memory_limit
        assert worker >= memory_limit // 8


@pytest.mark.parametrize(
    ("room", "seconds"), [(2**40, limits.LOOK_SECONDS), (2**20, limits.LOOK_LEAST), (-1, limits.LOOK_LEAST)]
)
def test_the_less_room_is_left_the_sooner_it_is_looked_at_again(room, seconds):
    assert limits.look_again(room) == seconds


def test_the_documented_bounds_are_those_that_hold(monkeypatch):
    """The table of security/README.md, row by row: memory_limit, and the whole with one core, two and eight."""
    documented = (Path(__file__).parent.parent / "security" / "README.md").read_text()
    rows = re.findall(r"^\| (\d+) ([MG])B[^|]*" + r"\| ([\d,]+) " * 3 + r"\|$", documented, re.MULTILINE)
    assert len(rows) == 4
    for number, unit, *wholes in rows:
        memory_limit = int(number) * {"M": 10**6, "G": 10**9}[unit]
        for cores, whole in zip((1, 2, 8), wholes, strict=True):
            monkeypatch.setattr(limits, "cores", lambda cores=cores: cores)
            assert limits.whole(memory_limit) == int(whole.replace(",", ""))


# ---- the broker ----------------------------------------------------------------------------------------------------

LARGE = "SELECT repeat('x', 60), range FROM range(90000)"  # rows of seven megabytes, the most that a profile may allow
LEFT_BYTES = 28 * 2**20  # of the three answers below in the broker; 17 to 20 MB were measured


@executed
def test_large_answers_leave_little_in_the_broker(project, tmp_path):
    place = tmp_path / "large.sql"
    place.write_text("SET tools = 'explore, query'; SET max_rows = 100000; SET max_result_bytes = '7MB';")
    with Server(project, "--profile", str(place)) as server:
        server.begin()
        number = count(2)

        def ask(sql: str) -> dict[str, Any]:
            asked = next(number)
            server.call(asked, "query", {"sql": sql})
            while (answer := server.receive()).get("id") != asked:
                pass
            return answer["result"]["structuredContent"]

        ask("SELECT 1")
        before = anonymous_bytes(server.seen)
        for _ in range(2):
            assert ask(LARGE)["row_count"] > 80_000
        for _ in range(10):
            ask("SELECT 1")
        assert anonymous_bytes(server.seen) - before < LEFT_BYTES
