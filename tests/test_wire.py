"""The pipes between the processes: a frame that lies ends the worker that reads or sent it, and nothing else."""

import asyncio
import os
import random
import subprocess
import sys
import threading
import time
import tracemalloc
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import get_args

import msgspec
import psutil
import pytest
from running import INDEXER, PATIENCE, QUERY_WORKER, answered, back_processes, fronted, opened, until
from test_fitting import ANSWERED, MEANT, UNFIT

from fledgling.broker.audit_log.records import KilledRecord, ProcessRecord
from fledgling.broker.front import Front
from fledgling.broker.indexing import attempt as indexer_attempt
from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.launch import LOGGED_CHARS, LOGGED_TOTAL, BackProcess, receive
from fledgling.broker.spawn import spawn
from fledgling.broker.terms import Terms
from fledgling.messages.answers import Exploration, FileHits, Hits, Refusal, Summary, Table
from fledgling.messages.control import (
    Accepted,
    Begun,
    Call,
    Cancel,
    Confining,
    ExtractorsConfined,
    FromIndexer,
    FromWorker,
    Generation,
    Open,
    Progress,
    Ready,
    Reply,
    Sought,
    ToWorker,
)
from fledgling.messages.generations import CODE, LISTING, WORDS
from fledgling.messages.questions import QUESTIONS, Dependencies, Explore, Query, Read, Search, Symbols
from fledgling.pipe import MAX_FRAME_BYTES, MAX_VALUES, FrameError, Pipe, Unpacker, has_more_values, pack
from fledgling.scope import Scope
from fledgling.security import profile as profiles
from fledgling.security.confinement import LAYERS
from fledgling.settings import Settings

PYTHON = sys.executable
MAX_GROWTH = 16 * 2**20  # bytes of the broker's memory
BARE = Confining(without=tuple(LAYERS))  # the liars are not confined; what they say is what is tried here

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
    """Real processes with this test as their broker, under a profile that ends a call after five seconds."""
    profile = tmp_path_factory.mktemp("profile") / "hasty.sql"
    profile.write_text("SET tools = 'explore'; SET query_timeout = 5;")  # in which a liar starts on a busy machine
    async with fronted(project, profile, confining=BARE) as (front, indexing):
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
    """The next message but for those that a call has begun."""
    length = int.from_bytes(process.stdout.read(4), "big")
    message = Unpacker(FromWorker).message(process.stdout.read(length))
    return hear(process) if isinstance(message, Begun) else message


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
    "name",  # the others meet the same check as the last, and are no message above
    [
        "half a body",
        "an unknown argument",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("a length of 4 GB", "100,000 levels", "a reply")),
    ],
)
async def test_forged_frame_ends_the_query_worker_without_an_answer(front, name):
    with serving(front) as process:
        say(process, pack(Call(1, 20.0, Explore())))
        assert isinstance(hear(process), Reply)
        say(process, FORGED[name])
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(5) == 1


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
@pytest.mark.parametrize(
    "tools",
    [
        ("explore", "read", "search", "symbols", "dependencies"),
        pytest.param(("explore",), marks=pytest.mark.long),
        ("query",),
    ],
)
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
from fledgling.security.confinement import confine
from fledgling.messages.answers import *
from fledgling.messages.bounded import *
from fledgling.messages.control import *
from fledgling.messages.generations import *
from fledgling.messages.questions import *

pipe = Pipe(ToWorker)
opened = pipe.receive()
layers = confine("query worker", opened.confining, parent=opened.broker_pid)
{before}
pipe.send(Ready(layers))
call = pipe.receive()
pipe.send(Begun(call.id))
found = Exploration("", [], [], Summary(total_files=0, total_bytes=0, languages={{}}))
honest = pack(Reply(call.id, found))
found_as_dict = msgspec.msgpack.decode(msgspec.msgpack.encode(found))

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


def script(directory, template, **said):
    """Write an interpreter that runs nothing but a lie, and return its path."""
    liar = directory / "liar"
    liar.write_text(template.format(python=PYTHON, **said))
    liar.chmod(0o700)
    return str(liar)


# what the worker does when it is asked, and what the caller gets
LIES = [
    ("a length of 4 GB", 'say(b"\\xff\\xff\\xff\\xff")', "unavailable"),
    ("16 MB too long, without end", 'say(b"\\x01\\0\\0\\1")\nwhile True: say(bytes(65536))', "unavailable"),
    ("16 MB of zeros", 'say(b"\\x01\\0\\0\\0" + bytes(16 * 2**20))', "unavailable"),
    ("6 MB of zeros", 'say(b"\\0\\x60\\0\\0" + bytes(6 * 2**20))', "unavailable"),
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
    ("four million empty lists", 'say(pack(Reply(call.id, Table(["x"], [[[]] * 2**22], 1))))', "unavailable"),
    ("an id that nobody waits for", "say(altered(id=call.id + 1))", "unavailable"),
    ("an answer of another tool", 'say(pack(Reply(call.id, Table(["x"], [], 0))))', "unavailable"),
    ("ready once more", "say(pack(Ready()))", "unavailable"),
    ("an unknown field", "say(altered(junk=1))", "unavailable"),
    ("an unknown field of the answer", 'say(altered(answer={**found_as_dict, "junk": 1}))', "unavailable"),
    ("a missing field", 'say(altered(answer={"type": "exploration"}))', "unavailable"),
    ("a negative id", "say(altered(id=-1))", "unavailable"),
    ("an id of 64 bits", "say(altered(id=2**64 - 1))", "unavailable"),
    ("an empty frame", "say(framed(b''))", "unavailable"),
    ("an array of 4 billion", 'say(framed(b"\\xdd\\xff\\xff\\xff\\xff"))', "unavailable"),
    (
        "files, 4 billion of them",
        'say(framed(honest[4:].replace(b"\\xa5files\\x90", b"\\xa5files\\xdd" + b"\\xff" * 4)))',
        "unavailable",
    ),
    (
        "a text of 4 GB",
        'say(framed(honest[4:].replace(b"\\xa4path\\xa0", b"\\xa4path\\xdb" + b"\\xff" * 4)))',
        "unavailable",
    ),
    ("bytes for a text", 'say(framed(honest[4:].replace(b"\\xa4path\\xa0", b"\\xa4path\\xc4\\x00")))', "unavailable"),
    ("an extension type", 'say(framed(b"\\xc7\\x04\\x01abcd"))', "unavailable"),
    ("a key twice", 'say(framed(b"\\x84\\xa4type\\xa5reply\\xa4type\\xa5ready" + honest[12:]))', "unavailable"),
    ("its standard output closed", "os.close(1)", "unavailable"),
    ("a stopped process", "os.kill(os.getpid(), 19)", "timeout"),
    ("the answer twice", "say(honest + honest)", "answer"),
    ("the answer, then a flood", "say(honest)\nwhile True: say(bytes(65536))", "answer"),
    ("20 MB on standard error, then the answer", 'os.write(2, b"\\x1b[2J" * 5 * 2**20); say(honest)', "answer"),
]


# Lies that meet the same check as a plain one, by that; each costs a second or two.
ALIKE = {
    "text": "16 MB too long, without end",
    "a length of 4 GB": "16 MB too long, without end",
    "16 MB of zeros": "6 MB of zeros",
    "half a header, then the end": "half a body, then the end",
    "a header, then the end": "half a body, then the end",
    "the end": "its standard output closed",
    "a crash": "its standard output closed",
    "ready once more": "its standard output closed",  # neither is one of the messages that are read on
    "half a body, then nothing": "nothing",
    "a stopped process": "nothing",
    "one byte at a time": "nothing",
    "a negative id": "an id that nobody waits for",
    "an id of 64 bits": "an id that nobody waits for",
    "the answer twice": "the answer, then a flood",
} | dict.fromkeys(
    (  # no message that decodes
        "bad UTF-8",
        "100,000 levels",
        "an unknown tag",
        "an answer of an unknown type",
        "a text for a number",
        "NaN for a number",
        "a refusal of an unknown kind",
        "a message of the other direction",
        "bytes behind the message",
        "an unknown field of the answer",
        "an unknown field",
        "a missing field",
        "an empty frame",
        "an array of 4 billion",
        "files, 4 billion of them",
        "a text of 4 GB",
        "bytes for a text",
        "an extension type",
        "a key twice",
    ),
    "four million empty lists",
)


def test_a_plain_lie_stands_for_each_that_is_long() -> None:
    for told, alike in ((LIES, ALIKE), (INDEXER_LIES, INDEXER_ALIKE)):
        lies = {name for name, *_ in told}
        assert alike.keys() <= lies
        assert {*alike.values()} <= lies - alike.keys()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "lie", "heard"),
    [pytest.param(*row, id=row[0], marks=[pytest.mark.long] if row[0] in ALIKE else []) for row in LIES],
)
async def test_lying_worker_is_killed_and_the_next_call_answered(front, tmp_path, monkeypatch, name, lie, heard):
    me = psutil.Process()
    assert (await answered(front)).summary.total_files == 20
    descriptors, memory = len(opened(me)), me.memory_info().rss
    with monkeypatch.context() as replaced:
        replaced.setattr(sys, "executable", script(tmp_path, LIAR, before="", lie=lie))
        [honest] = back_processes(me, QUERY_WORKER)
        honest.kill()
        await until(lambda: not psutil.pid_exists(honest.pid))
        # The lie alone ends the call, however long it takes to be told.
        answer = await front.ask(Explore(), None if heard == "timeout" else Terms(time.monotonic() + PATIENCE))
        assert (answer.kind if isinstance(answer, Refusal) else "answer") == heard
    if heard == "answer":
        assert answer == Exploration("", [], [], answer.summary)
        for process in back_processes(me, QUERY_WORKER):
            process.kill()
    assert (await answered(front)).summary.total_files == 20
    await until(lambda: len(back_processes(me)) == 1)  # an indexer may be at uses of names yet
    await until(lambda: len(opened(me)) <= descriptors)
    assert me.memory_info().rss - memory <= MAX_GROWTH


# what a worker does instead of getting ready; a caller hears that there is none, and the next one gets one
UNREADY = [
    ("dies at once", "os._exit(3)"),
    ("dies at import", "raise ImportError"),
    ("dies in a header", 'os.write(1, b"\\0\\0"); os._exit(0)'),
    ("dies between header and body", "os.write(1, pack(Ready())[:4]); os._exit(0)"),
    ("dies in a body", "os.write(1, pack(Ready())[:-1]); os._exit(0)"),
    ("replies before any call", 'pipe.send(Reply(1, Refusal("failed", "", "")))'),
    ("says what the broker says", "pipe.send(Cancel(1))"),
    ("says what an indexer says", 'pipe.send(Progress("walk", 1, 2))'),
    ("says anything", 'os.write(1, b"ready\\n")'),
    ("floods", "while True: os.write(1, bytes(65536))"),
    ("is killed by the kernel", "os.kill(os.getpid(), 11)"),
]


UNREADY_ALIKE = {"dies in a header", "dies between header and body", "dies at import", "is killed by the kernel"}
UNREADY_ALIKE |= {"says what an indexer says", "says what the broker says"}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "before"),
    [pytest.param(*row, id=row[0], marks=[pytest.mark.long] if row[0] in UNREADY_ALIKE else []) for row in UNREADY],
)
async def test_worker_that_does_not_get_ready_is_given_up(front, tmp_path, monkeypatch, name, before):
    me = psutil.Process()
    assert isinstance(await answered(front), Exploration)
    descriptors, memory = len(opened(me)), me.memory_info().rss
    [honest] = back_processes(me, QUERY_WORKER)
    honest.kill()
    with monkeypatch.context() as replaced:
        replaced.setattr(sys, "executable", script(tmp_path, LIAR, before=before, lie=""))
        await until(lambda: not psutil.pid_exists(honest.pid))
        answer = await front.ask(Explore(), Terms(time.monotonic() + PATIENCE))
        assert (answer.kind, answer.reason) == ("unavailable", "the query worker does not start")
    assert isinstance(await answered(front), Exploration)
    await until(lambda: len(opened(me)) <= descriptors)
    assert me.memory_info().rss - memory <= MAX_GROWTH


@pytest.fixture(scope="module")
async def whole_front(anyio_backend, project):
    """Real processes under a profile that allows every tool, and what is told of them."""
    told = []
    async with fronted(project, "fledgling-analyst", confining=BARE, tell=told.append) as (front, _):
        front.told = told
        yield front


TRIED = {"an excerpt of another file"}  # the others are no answers above; what is none ends a worker, as other lies do


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "question", "answer"),
    [pytest.param(*row, id=row[0], marks=[] if row[0] in TRIED else [pytest.mark.long]) for row in UNFIT],
)
async def test_worker_that_answers_something_else_is_killed(whole_front, tmp_path, monkeypatch, name, question, answer):
    front = whole_front
    question = question.replace('Query("x")', f"Query({name!r})")  # SQL that has ended two workers is not asked again
    assert isinstance(await front.ask(Explore()), Exploration)
    lie = f"{ANSWERED}\nsay(pack(Reply(call.id, {answer})))"
    with monkeypatch.context() as replaced:
        replaced.setattr(sys, "executable", script(tmp_path, LIAR, before="", lie=lie))
        honest = [
            told.pid for told in front.told if isinstance(told, ProcessRecord) and told.process == "query worker"
        ][-1]
        psutil.Process(honest).kill()
        await until(lambda: not psutil.pid_exists(honest))
        front.told.clear()
        heard = await front.ask(eval(question, MEANT))
    assert heard.kind == "unavailable"
    reasons = [record.reason for record in front.told if isinstance(record, KilledRecord)]
    lies = ("it sent a message that was not asked for", "it broke the protocol")
    assert [why for why in reasons if why.startswith(lies)]
    assert isinstance(await front.ask(Explore()), Exploration)


# ---- what an indexer says -------------------------------------------------------------------------------------------

# What the lies of an indexer are made of: an expression over these, here and in the process that lies.
SAID = """
accepted = Accepted(scope)
built = Built(1, 1, 0, 0, 1, {}, (), {}, {}, ())
progress = Progress("walk", 1, 2)
FILES = TEXT_FILES = ("listing", "text", "blocks", "signatures")
FILES += ("code", "outlines", "words")
HUGE = b"defined\\xdd" + b"\\xff" * 4

def generation(number):
    return Generation(number, (), True)

def framed(body):
    return len(body).to_bytes(4, "big") + body

def changed(message, **fields):
    return framed(msgspec.msgpack.encode({**msgspec.msgpack.decode(pack(message)[4:]), **fields}))
"""

LYING_INDEXER = (
    """#!{python} -I
import fcntl, os, sys, time
import msgspec
from fledgling.pipe import Pipe, pack
from fledgling.security import memory_file
from fledgling.messages.answers import *
from fledgling.messages.bounded import *
from fledgling.messages.control import *
from fledgling.messages.generations import *
from fledgling.messages.questions import *

pipe = Pipe(Build)
order = pipe.receive()
scope = order.scope

def say(data):
    view = memoryview(data)
    while view:
        view = view[os.write(1, view):]

def seal(*names):
    for name in names:
        memory_file.seal(getattr(order.images, name))

def seal_growth():
    for fd in msgspec.structs.astuple(order.images):
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW)
"""
    + SAID.replace("{", "{{").replace("}", "}}")
    + """
{lie}
time.sleep(60)
"""
)

UNSEALED, ENDED = "the indexer left an image unsealed", "the indexer ended before the index was complete"
EXITED = f"{ENDED}: it exited with status 0"
TWICE = f"the index could not be built, and is not tried again: {EXITED}; the second time {EXITED}"

# what an indexer says once it has accepted, and why there is no index
INDEXER_LIES = [
    ("all is sealed, and nothing is", "pipe.send(generation(2))", UNSEALED),
    ("the text is sealed, and nothing is", "pipe.send(generation(1))", UNSEALED),
    ("there is a listing, and it is not sealed", "pipe.send(generation(0))", UNSEALED),
    ("there is a listing, and all else is sealed", "seal(*FILES[1:]); pipe.send(generation(0))", UNSEALED),
    ("the text is sealed, but the signatures", "seal('listing', 'text', 'blocks'); pipe.send(generation(1))", UNSEALED),
    ("the text is sealed, but the blocks", "seal('listing', 'text', 'signatures'); pipe.send(generation(1))", UNSEALED),
    ("all is sealed, but the code", "seal('outlines', 'words', *TEXT_FILES); pipe.send(generation(2))", UNSEALED),
    ("all is sealed, but the outlines", "seal('code', 'words', *TEXT_FILES); pipe.send(generation(2))", UNSEALED),
    ("all is sealed, but the words", "seal('code', 'outlines', *TEXT_FILES); pipe.send(generation(3))", UNSEALED),
    ("all is sealed, against growth alone", "seal_growth(); pipe.send(generation(2))", UNSEALED),
    ("built, and nothing is sealed", "pipe.send(built)", ENDED),
    ("built, and only the text is sealed", "seal(*TEXT_FILES); pipe.send(generation(1)); pipe.send(built)", ENDED),
    ("built, and only the listing is sealed", "seal('listing'); pipe.send(generation(0)); pipe.send(built)", ENDED),
    ("a listing after the text", "seal(*FILES); pipe.send(generation(1)); pipe.send(generation(0))", ENDED),
    ("the same generation twice", "seal(*FILES); pipe.send(generation(1)); pipe.send(generation(1))", ENDED),
    ("built, and the words are not told", "seal(*FILES); pipe.send(generation(2)); pipe.send(built)", ENDED),
    ("a sixth generation", "seal(*FILES); say(changed(generation(2), number=6))", ENDED),
    ("accepted twice", "pipe.send(accepted)", ENDED),
    ("what a worker says", "pipe.send(Ready())", ENDED),
    ("what the broker says", "pipe.send(order)", ENDED),
    ("nothing, and ends", "os._exit(0)", ENDED),
    ("half a header", "say(b'\\0\\0'); os._exit(0)", ENDED),
    ("a header without a body", "say(pack(built)[:4]); os._exit(0)", ENDED),
    ("half a body", "say(pack(built)[:-3]); os._exit(0)", ENDED),
    ("a length of 4 GB", "say(b'\\xff' * 4)", ENDED),
    ("2 MB and more of zeros", "say(b'\\0\\x20\\0\\1' + bytes(2**21 + 1))", ENDED),
    ("an unknown stage", "say(changed(progress, stage='talk'))", ENDED),
    ("progress below nothing", "pipe.send(Progress('walk', -1, 2))", ENDED),
    ("a line break in a notice", "pipe.send(Accepted(scope, notices=('a\\nb',)))", ENDED),
    ("ESC in what is partial", "pipe.send(Generation(1, (), True, '\\x1b[2J'))", ENDED),
    ("an absolute path among the slowest", "say(changed(built, slowest=(('/etc/passwd', 1.0),)))", ENDED),
    ("a refusal of two lines", "pipe.send(Refusal('failed', 'a\\nb', ''))", ENDED),
    ("an unknown tag", "say(changed(progress, type='obey'))", ENDED),
    ("an unknown field", "say(changed(progress, junk=1))", ENDED),
    ("a text for a number", "say(changed(progress, done='1'))", ENDED),
    ("NaN for a number", "say(changed(progress, done=float('nan')))", ENDED),
    ("bad UTF-8", "say(pack(progress).replace(b'stage', b'sta\\xffe'))", ENDED),
    ("100,000 levels", "say(framed(b'\\x81\\xa4junk' + b'\\x91' * 100000 + b'\\xc0'))", ENDED),
    ("bytes behind the message", "say(framed(pack(built)[4:] + b'\\0'))", ENDED),
    ("an array of 4 billion", "say(framed(pack(generation(2))[4:].replace(b'defined\\x90', HUGE)))", ENDED),
    ("text", "say(b'Traceback (most recent call last):\\n')", ENDED),
    (
        "30,000 reports that make no sense",
        "for n in range(30000): say(changed(progress, done=2**52 - n))\nos._exit(0)",
        ENDED,
    ),
    ("20 MB on standard error", "os.write(2, b'\\x1b[2J' * 5 * 2**20); os._exit(0)", ENDED),
]
HASTY = [  # before it has accepted
    ("progress", "pipe.send(progress)"),
    ("a generation", "pipe.send(generation(2))"),
    ("built", "pipe.send(built)"),
    ("text", "say(b'Traceback (most recent call last):\\n')"),
    ("half of what it accepts", "say(pack(accepted)[:-2]); os._exit(0)"),
    ("nothing, and ends", "os._exit(0)"),
]
# What is no message, whoever reads it, and what meets the same check as a plain one, by that.
NO_MESSAGE = {"an unknown stage", "progress below nothing", "a line break in a notice", "ESC in what is partial"}
NO_MESSAGE |= {"an absolute path among the slowest", "a refusal of two lines", "what a worker says"}
NO_MESSAGE |= {"an unknown tag", "an unknown field", "a text for a number", "NaN for a number", "bad UTF-8"}
NO_MESSAGE |= {"100,000 levels", "bytes behind the message", "an array of 4 billion"}
INDEXER_ALIKE = dict.fromkeys(NO_MESSAGE - {"a refusal of two lines"}, "a refusal of two lines") | {
    "the text is sealed, and nothing is": "all is sealed, and nothing is",
    "there is a listing, and all else is sealed": "there is a listing, and it is not sealed",
    "the text is sealed, but the signatures": "the text is sealed, but the blocks",
    "all is sealed, but the outlines": "all is sealed, but the words",
    "built, and only the text is sealed": "built, and only the listing is sealed",
    "what the broker says": "a refusal of two lines",
    "half a header": "half of what it accepts, before it has accepted",
    "a header without a body": "half of what it accepts, before it has accepted",
    "half a body": "half of what it accepts, before it has accepted",
    "a length of 4 GB": "2 MB and more of zeros",
    "text": "2 MB and more of zeros",
    "progress, before it has accepted": "a generation, before it has accepted",
    "built, before it has accepted": "a generation, before it has accepted",
    "text, before it has accepted": "2 MB and more of zeros",
    "nothing, and ends, before it has accepted": "nothing, and ends",
}
INDEXER_LIES = [(name, f"pipe.send(accepted)\n{lie}", why) for name, lie, why in INDEXER_LIES]
INDEXER_LIES += [(f"{name}, before it has accepted", lie, ENDED) for name, lie in HASTY]


@pytest.mark.parametrize("name", sorted(NO_MESSAGE))
def test_what_an_indexer_may_not_say_is_no_message(name):
    frames = []
    [lie] = [lie for of, lie, _ in INDEXER_LIES if of == name]
    pipe = SimpleNamespace(send=lambda message: frames.append(pack(message)))
    exec(f"{SAID}\n{lie}", {**MEANT, "pack": pack, "scope": Scope(), "pipe": pipe, "say": frames.append})
    accepted, said = (frame[4:] for frame in frames)
    assert isinstance(Unpacker(FromIndexer).message(accepted), Accepted)
    with pytest.raises(FrameError):
        Unpacker(FromIndexer).message(said)


FLOOD = """#!{python} -I
import os, select, time
os.write(1, {ready!r})
os.set_blocking(1, False)
while select.select([], [1], [], 1)[1]:  # until nobody has read for a second: a pipe and the reader behind it are full
    os.write(1, bytes(4096))
open({told!r}, "w").close()
time.sleep(60)
"""


@pytest.mark.anyio
async def test_a_pipe_with_more_than_anybody_reads_is_closed_with_its_process(tmp_path, monkeypatch):
    told, descriptors = tmp_path / "told", len(opened(psutil.Process()))
    monkeypatch.setattr(sys, "executable", script(tmp_path, FLOOD, ready=pack(Ready(())), told=str(told)))
    process = BackProcess(spawn(QUERY_WORKER, []), Ready(()), Unpacker(FromWorker))
    try:
        assert isinstance(await process.receive(), Ready)
        await until(told.exists)
    finally:
        process.kill()
        await process.ended()
    await until(lambda: len(opened(psutil.Process())) <= descriptors, 5)


@pytest.mark.anyio
async def test_of_what_a_process_complains_the_first_is_logged_as_text(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(sys, "executable", script(tmp_path, "#!{python}\nimport os\nos.write(2, b'\\x1b' * 2**20)\n"))
    process = BackProcess(spawn(QUERY_WORKER, []), Ready(()), Unpacker(FromWorker))
    assert await process.receive() is None
    await process.ended()
    said = "".join(caplog.messages)
    assert LOGGED_TOTAL <= said.count(r"\x1b") < LOGGED_TOTAL + LOGGED_CHARS
    assert "\x1b" not in said


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "lie", "why"),
    [
        pytest.param(*row, id=row[0], marks=[pytest.mark.long] if row[0] in INDEXER_ALIKE else [])
        for row in INDEXER_LIES
    ],
)
async def test_lying_indexer_is_killed_and_there_is_no_index(project, tmp_path, monkeypatch, name, lie, why):
    me = psutil.Process()
    already = {child.pid for child in back_processes(me)}
    descriptors, memory = len(opened(me)), me.memory_info().rss
    monkeypatch.setattr(sys, "executable", script(tmp_path, LYING_INDEXER, lie=lie))
    with pytest.raises(IndexingError) as failed:  # noqa: PT012
        async with fronted(project, confining=BARE) as (_, indexing):
            await indexing.sealed(WORDS)
            pytest.fail("there is an index")
    assert failed.value.refusal.reason == (TWICE if "os._exit" in lie else why)
    assert not [child for child in back_processes(me) if child.pid not in already]
    await until(lambda: len(opened(me)) <= descriptors)
    assert me.memory_info().rss - memory <= MAX_GROWTH


@pytest.mark.anyio
@pytest.mark.parametrize("lie", ["", "pipe.send(accepted)"], ids=["from the beginning", "after it has accepted"])
async def test_silent_indexer_is_given_up(project, tmp_path, monkeypatch, lie):
    monkeypatch.setattr(indexer_attempt, "SILENT_SECONDS", 1.0)
    monkeypatch.setattr(sys, "executable", script(tmp_path, LYING_INDEXER, lie=f"{lie}\ntime.sleep(60)"))
    with pytest.raises(IndexingError) as failed:
        async with fronted(project, confining=BARE) as (_, indexing):
            await indexing.sealed(CODE)
    assert failed.value.refusal.reason == "the indexer has said nothing for 1 s and was ended"


GARBAGE = {"nothing": "b''", "text": "b'x' * 10**6", "zeros": "bytes(10**6)"}
# Each generation stays once, and so do nothing and what is no index.
GARBAGE_ALIKE = {("text", LISTING), ("nothing", CODE), ("zeros", LISTING), ("zeros", CODE)}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("content", "number"),
    [
        pytest.param(
            text, number, id=f"{name}-{number}", marks=[pytest.mark.long] if (name, number) in GARBAGE_ALIKE else []
        )
        for name, text in GARBAGE.items()
        for number in (LISTING, CODE)
    ],
)
async def test_sealed_garbage_is_no_index(project, tmp_path, monkeypatch, content, number):
    """The worker that would open it ends; whoever asks is told, and the broker goes on."""
    lie = f"[os.write(fd, {content}) for fd in msgspec.structs.astuple(order.images)]; "
    lie += f"seal(*FILES); pipe.send(accepted); pipe.send(generation({number}))"
    with monkeypatch.context() as lying:
        lying.setattr(sys, "executable", script(tmp_path, LYING_INDEXER, lie=lie))
        indexing = Indexing(Settings(root=str(project)), profiles.load("fledgling-core"), confining=BARE)
    front = Front(indexing.profile, indexing)
    try:
        await indexing.accepted()
        answer = await front.ask(Explore(), Terms(time.monotonic() + PATIENCE))
        assert (answer.kind, answer.reason) == ("unavailable", "the query worker does not start")
    finally:
        await front.close()


# ---- any bytes ------------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_a_frame_cut_anywhere_is_a_fault_and_only_nothing_is_the_end():
    frame = pack(Reply(1, Exploration("", [], [], Summary(total_files=0, total_bytes=0, languages={}))))
    for cut in range(len(frame)):
        reader = asyncio.StreamReader()
        reader.feed_data(frame[:cut])
        reader.feed_eof()
        if cut:
            with pytest.raises(FrameError):
                await receive(reader, Unpacker(FromWorker))
        else:
            assert await receive(reader, Unpacker(FromWorker)) is None


# One value in a frame, as many times as a frame has room for: a byte of most of them is 80 bytes of memory.
SMALL = {
    "lists": b"\x90",
    "lists in lists": b"\x91\x90",
    "maps": b"\x80",
    "maps in maps": b"\x81\x00\x80",
    "texts": b"\xa2ab",
    "wide texts": b"\xa4\xf0\x9f\x98\x80",
}


def a_row_of(element, count):
    head, rows, tail = msgspec.msgpack.encode(Reply(1, Table(["x"], [], 0))).partition(b"\xa4rows\x90")
    return head + rows[:-1] + b"\x91\xdd" + count.to_bytes(4, "big") + element * count + tail


# The others are counted as these are, of which there are more in a frame, or more bytes in each.
MANY = {"lists", "maps in maps", "wide texts"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in MANY else [pytest.mark.long]) for name in SMALL]
)
def test_a_frame_of_many_small_values_costs_no_memory(name):
    element = SMALL[name]
    body = a_row_of(element, (MAX_FRAME_BYTES - 99) // len(element))
    allowed = a_row_of(element, MAX_VALUES // len(element) - 99)
    tracemalloc.start()
    try:
        with pytest.raises(FrameError, match="values"):
            Unpacker(FromWorker).message(body)
        assert tracemalloc.get_traced_memory()[1] < MAX_GROWTH / 16
        Unpacker(FromWorker).message(allowed)
        assert tracemalloc.get_traced_memory()[1] < MAX_GROWTH
    finally:
        tracemalloc.stop()


def values_of(value):
    match value:
        case list():
            return 1 + sum(map(values_of, value))
        case dict():
            return 1 + sum(map(values_of, value)) + sum(map(values_of, value.values()))
    return 1


def test_values_are_counted_as_they_are():
    """Of each kind and width that MessagePack has."""
    edges = [2**bits + off for bits in (0, 4, 5, 7, 8, 15, 16) for off in (-1, 0)]
    kinds = [None, True, 0.5, *edges, 2**32 - 1, 2**32, 2**63, *(-edge - 1 for edge in edges), -(2**31) - 1]
    kinds += ["x" * length for length in edges] + [b"x" * length for length in edges]
    kinds += [msgspec.msgpack.Ext(5, b"x" * length) for length in (0, 1, 2, 3, 4, 8, 16, 17, 256, 65536)]
    kinds += [[None] * length for length in edges] + [
        {str(key): [] for key in range(length)} for length in (15, 16, 65536)
    ]
    for kind in kinds:
        body, count = msgspec.msgpack.encode([kind, *[0] * 9]), values_of([kind, *[0] * 9])
        assert not has_more_values(body, count)
        assert has_more_values(body, count - 1) or len(body) < count, kind


SOUGHT = Sought(
    Hits([FileHits("a.py", [7], [(7, "x")], "python", {"f": [7]})], 1, 1, "text"), Search("x", path="src/a.py")
)
HONEST = {
    "to a worker": (ToWorker, [Call(n, 1.0, question) for n, question in enumerate(ASKED)] + [Cancel(7)]),
    "from a worker": (
        FromWorker,
        [
            Ready(),
            Reply(1, Refusal("busy", "32 calls", "Wait.")),
            Reply(2, Exploration("", [], [], Summary(total_files=3, total_bytes=0, languages={"python": 3}))),
            Reply(3, Table(["a", "b"], [[1, "x"], [None, 2.5], [[1, {"k": [True]}], -1]], 3)),
        ],
    ),
    "from an indexer": (
        FromIndexer,
        [
            Accepted(Scope()),
            ExtractorsConfined(()),
            Progress("walk", 1, 2),
            Generation(2, ("python",), has_content=True),
            SOUGHT,
        ],
    ),
}


@pytest.mark.parametrize("count", [15_000, pytest.param(10_000_000, marks=pytest.mark.long)], ids=["15K", "10M"])
@pytest.mark.parametrize("direction", HONEST)
def test_fuzzed_frame_is_a_fault_or_a_message_of_its_type(direction, count):
    """Bytes are changed, put in, taken out, or the end is cut; what still decodes can be packed as it is."""
    expected, messages = HONEST[direction]
    unpacker, dice = Unpacker(expected), random.Random(direction)
    bodies = [pack(message)[4:] for message in messages]
    faults = 0
    for _ in range(count):
        body = bytearray(dice.choice(bodies))
        for _ in range(dice.randrange(1, 4)):
            at = int(dice.random() * len(body))
            match dice.randrange(4):
                case 0:
                    body[at : at + 1] = dice.randbytes(1)
                case 1:
                    body[at:at] = dice.randbytes(2)
                case 2:
                    del body[at : at + 2]
                case 3:
                    del body[at + 1 :]
            if not body:
                break
        try:
            message = unpacker.message(bytes(body))
        except FrameError:
            faults += 1
        else:
            assert isinstance(message, get_args(expected))
            pack(message)
    assert count / 2 < faults < count
