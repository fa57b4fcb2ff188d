"""The pipes between the processes: a frame that lies ends the worker that reads or sent it, and nothing else."""

import os
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress

import msgspec
import psutil
import pytest
from running import INDEXER, QUERY_WORKER, back_processes, fronted, opened, until

from fledgling.pipe import MAX_FRAME_BYTES, FrameError, Pipe, Unpacker, pack
from fledgling.wire import (
    CODE,
    QUESTIONS,
    Call,
    Cancel,
    Dependencies,
    Exploration,
    Explore,
    FromWorker,
    Open,
    Query,
    Read,
    Ready,
    Refusal,
    Reply,
    Search,
    Symbols,
    ToWorker,
)

ASKED = [
    Explore(),
    Read("README.md"),
    Search("timeout"),
    Symbols(),
    Dependencies("src/core/engine.py"),
    Query("FROM files"),
]


@pytest.fixture(scope="module")
async def front(anyio_backend, project, tmp_path_factory):
    """Real processes with this test as their broker, under a profile that ends a call after half a second."""
    profile = tmp_path_factory.mktemp("profile") / "hasty.sql"
    profile.write_text("SET tools = 'explore'; SET query_timeout = 0.5;")
    async with fronted(project, profile) as (front, indexing):
        front.images, front.generation = indexing.images, await indexing.sealed(CODE)
        yield front


# ---- what a worker reads --------------------------------------------------------------------------------------------


@contextmanager
def started(module, *fds):
    process = subprocess.Popen(
        [sys.executable, "-I", "-B", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=fds,
        env={},
        cwd="/",
    )
    with process:
        yield process
        process.kill()


def say(process, data):
    process.stdin.write(data)
    process.stdin.flush()


def hear(process):
    length = int.from_bytes(process.stdout.read(4), "big")
    return Unpacker(FromWorker).message(process.stdout.read(length))


@contextmanager
def serving(front, tools=tuple(QUESTIONS)):
    """A query worker of our own, ready for whatever we say to it."""
    profile = msgspec.structs.replace(front.profile, tools=tools, query_timeout=30)
    opening = Open(os.getpid(), front.images, profile, front.generation)
    with started(QUERY_WORKER, *msgspec.structs.astuple(front.images)) as process:
        say(process, pack(opening))
        assert isinstance(hear(process), Ready)
        yield process


def framed(body):
    return len(body).to_bytes(4, "big") + body


def message(**fields):
    return framed(msgspec.msgpack.encode(fields))


def call(**question):
    return message(type="call", id=1, seconds=1.0, question=question)


EXPLORE = msgspec.msgpack.encode(Call(1, 1.0, Explore()))
NESTED = b"\x83\xa4type\xa4call\xa2id\x01\xa4junk" + b"\x91" * 100_000 + b"\xc0"

FORGED = {
    "a length of 4 GB": b"\xff\xff\xff\xff",
    "a length one over the limit": (MAX_FRAME_BYTES + 1).to_bytes(4, "big") + EXPLORE,
    "half a header": b"\0\0",
    "a header without a body": b"\0\0\0\x10",
    "half a body": framed(EXPLORE)[:-9],
    "an empty body": framed(b""),
    "text": b"GET / HTTP/1.1\r\n\r\n",
    "no MessagePack": framed(b"\xc1" * 40),
    "a number": framed(b"\x07"),
    "a list": framed(msgspec.msgpack.encode([1, 2, 3])),
    "an array of 4 billion": framed(b"\xdd\xff\xff\xff\xff"),
    "a text of 4 GB": framed(b"\xdb\xff\xff\xff\xffx"),
    "no tag": message(id=1, seconds=1.0, question={"tool": "explore"}),
    "an unknown tag": message(type="obey", id=1),
    "a message of the other direction": pack(Ready()),
    "a reply": pack(Reply(1, Refusal("failed", "", ""))),
    "a text for a number": message(type="call", id="1", seconds=1.0, question={"tool": "explore"}),
    "a missing field": message(type="call", id=1, question={"tool": "explore"}),
    "a tool that does not exist": call(tool="execute", command="id"),
    "a tool in capitals": call(tool="Explore"),
    "an unknown argument": call(tool="explore", root="/etc"),
    "an argument out of bounds": call(tool="explore", depth=10**9),
    "a fraction for a number": message(type="call", id=1.5, seconds=1.0, question={"tool": "explore"}),
    "a line break in a path": call(tool="explore", path="a\nb"),
    "a text too long": call(tool="explore", path="a" * 5000),
    "bad UTF-8": framed(EXPLORE.replace(b"explore", b"expl\xffre")),
    "100,000 levels": framed(NESTED),
    "bytes behind the message": framed(EXPLORE + b"\0"),
    "two messages in one frame": framed(EXPLORE * 2),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_frame_is_never_a_message(name):
    source, sink = os.pipe()
    writing = threading.Thread(target=write_all, args=[sink, FORGED[name]])
    writing.start()
    with open(source, "rb", buffering=0) as reading, pytest.raises(FrameError):
        pytest.fail(f"taken for {Pipe(ToWorker, source=reading.fileno()).receive()}")
    writing.join()


def write_all(sink, data):
    with open(sink, "wb") as writing, suppress(BrokenPipeError):
        writing.write(data)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "name", ["a length of 4 GB", "half a body", "an unknown argument", "100,000 levels", "a reply"]
)
async def test_forged_frame_ends_the_query_worker_without_an_answer(front, name):
    with serving(front) as process:
        say(process, pack(Call(1, 20.0, Explore())))
        assert isinstance(hear(process), Reply)
        say(process, FORGED[name])
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(5) != 0


@pytest.mark.anyio
async def test_second_open_ends_the_query_worker(front):
    with serving(front) as process:
        say(process, pack(Open(os.getpid(), front.images, front.profile, front.generation)))
        assert process.stdout.read() == b""
        process.wait(5)


@pytest.mark.anyio
async def test_honest_frames_are_answered_once_each(front):
    with serving(front) as process:
        for number, question in enumerate(ASKED):
            say(process, pack(Cancel(number)) + pack(Call(number, 20.0, question)) + pack(Cancel(number + 100)))
            reply = hear(process)
            assert reply.id == number
            assert not isinstance(reply.answer, Refusal)
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(5) == 0


@pytest.mark.parametrize("module", [INDEXER, QUERY_WORKER])
@pytest.mark.parametrize("name", ["half a body", "an unknown tag"])
def test_forged_first_frame_ends_the_process(module, name):
    with started(module) as process:
        say(process, FORGED[name])
        process.stdin.close()
        assert process.stdout.read() == b""
        process.wait(5)


@pytest.mark.anyio
@pytest.mark.parametrize("tools", [("explore", "read", "search", "symbols", "dependencies"), ("explore",), ("query",)])
async def test_worker_refuses_a_tool_outside_the_profile_though_the_broker_asks(front, tools):
    with serving(front, tools) as process:
        for number, question in enumerate(ASKED):
            say(process, pack(Call(number, 20.0, question)))
            answer = hear(process).answer
            tool = type(question).__name__.lower()
            assert (isinstance(answer, Refusal) and answer.kind == "denied") == (tool not in tools), tool


# ---- what a worker says ---------------------------------------------------------------------------------------------

LIAR = """#!{python} -I
import os, sys, time
import msgspec
from fledgling.pipe import Pipe, pack
from fledgling.wire import *

pipe = Pipe(ToWorker)
pipe.receive()
{before}
pipe.send(Ready())
call = pipe.receive()
found = Exploration("", [], [], Summary(0, 0, 0, {{}}))
honest = pack(Reply(call.id, found))

def say(data):
    view = memoryview(data)
    while view:
        view = view[os.write(1, view):]

def framed(body):
    return len(body).to_bytes(4, "big") + body

def altered(**fields):
    return framed(msgspec.msgpack.encode({{**msgspec.msgpack.decode(honest[4:]), **fields}}))

{lie}
time.sleep(60)
"""

# what the worker does when it is asked, and what the caller gets
LIES = [
    ("a length of 4 GB", 'say(b"\\xff\\xff\\xff\\xff")', "unavailable"),
    ("16 MB too long, without end", 'say(b"\\x01\\0\\0\\1")\nwhile True: say(bytes(65536))', "unavailable"),
    ("16 MB of zeros", 'say(b"\\x01\\0\\0\\0" + bytes(16 * 2**20))', "unavailable"),
    ("half a header, then the end", 'say(b"\\0\\0"); os._exit(0)', "unavailable"),
    ("a header, then the end", "say(honest[:4]); os._exit(0)", "unavailable"),
    ("half a body, then the end", "say(honest[:-5]); os._exit(0)", "unavailable"),
    ("half a body, then nothing", "say(honest[:-5])", "timeout"),
    ("one byte at a time", "for byte in honest: say(bytes([byte])); time.sleep(0.05)", "timeout"),
    ("nothing", "", "timeout"),
    ("the end", "os._exit(0)", "unavailable"),
    ("a crash", "os.abort()", "unavailable"),
    ("text", 'say(b"Traceback (most recent call last):\\n")', "unavailable"),
    ("bad UTF-8", 'say(framed(honest[4:].replace(b"exploration", b"explorati\\xffn")))', "unavailable"),
    ("100,000 levels", 'say(framed(b"\\x81\\xa4junk" + b"\\x91" * 100000 + b"\\xc0"))', "unavailable"),
    ("an unknown tag", 'say(altered(type="obey"))', "unavailable"),
    ("an answer of an unknown type", 'say(altered(answer={"type": "secret"}))', "unavailable"),
    ("a text for a number", 'say(altered(id="1"))', "unavailable"),
    ("NaN for a number", 'say(altered(id=float("nan")))', "unavailable"),
    ("a refusal of an unknown kind", 'say(altered(answer={"type": "refusal", "kind": "obey"}))', "unavailable"),
    ("a message of the other direction", "say(pack(Cancel(call.id)))", "unavailable"),
    ("bytes behind the message", 'say(framed(honest[4:] + b"\\0"))', "unavailable"),
    ("an id that nobody waits for", "say(altered(id=call.id + 1))", "unavailable"),
    ("an answer of another tool", 'say(pack(Reply(call.id, Table(["x"], [], 0))))', "unavailable"),
    ("ready once more", "say(pack(Ready()))", "unavailable"),
    ("the answer twice", "say(honest + honest)", "answer"),
    ("the answer, then a flood", "say(honest)\nwhile True: say(bytes(65536))", "answer"),
    ("20 MB on standard error, then the answer", 'os.write(2, b"\\x1b[2J" * 5 * 2**20); say(honest)', "answer"),
]


# These meet the same check as a lie beside them, and each costs a second or two.
ALIKE = {
    "half a header, then the end",
    "a header, then the end",
    "a crash",
    "text",
    "an unknown tag",
    "NaN for a number",
}
ALIKE |= {"a text for a number", "a refusal of an unknown kind", "half a body, then nothing", "ready once more"}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "lie", "heard"),
    [pytest.param(*row, id=row[0], marks=[pytest.mark.long] if row[0] in ALIKE else []) for row in LIES],
)
async def test_lying_worker_is_killed_and_the_next_call_answered(front, tmp_path, monkeypatch, name, lie, heard):
    liar = tmp_path / "liar"
    liar.write_text(LIAR.format(python=sys.executable, before="", lie=lie))
    liar.chmod(0o700)
    me = psutil.Process()
    assert (await front.ask(Explore())).summary.total_files == 20
    descriptors, memory = len(opened(me)), me.memory_info().rss
    with monkeypatch.context() as replaced:
        replaced.setattr(sys, "executable", str(liar))
        [honest] = back_processes(me, QUERY_WORKER)
        honest.kill()
        await until(lambda: not psutil.pid_exists(honest.pid))
        answer = await front.ask(Explore())
        assert (answer.kind if isinstance(answer, Refusal) else "answer") == heard
    if heard == "answer":
        assert answer == Exploration("", [], [], answer.summary)
        for process in back_processes(me, QUERY_WORKER):
            process.kill()
    after = await front.ask(Explore())
    assert isinstance(after, Exploration)
    assert after.summary.total_files == 20
    assert len(back_processes(me)) == 1
    await until(lambda: len(opened(me)) <= descriptors)
    assert me.memory_info().rss - memory < 3 * MAX_FRAME_BYTES


@pytest.mark.anyio
async def test_worker_that_never_gets_ready_is_given_up(front, tmp_path, monkeypatch):
    liar = tmp_path / "liar"
    liar.write_text(LIAR.format(python=sys.executable, before="os._exit(3)", lie=""))
    liar.chmod(0o700)
    [honest] = back_processes(psutil.Process(), QUERY_WORKER)
    honest.kill()
    with monkeypatch.context() as replaced:
        replaced.setattr(sys, "executable", str(liar))
        await until(lambda: not psutil.pid_exists(honest.pid))
        answer = await front.ask(Explore())
        assert (answer.kind, answer.reason) == ("unavailable", "the query worker does not start")
    assert isinstance(await front.ask(Explore()), Exploration)
