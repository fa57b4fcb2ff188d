"""Running processes seen from outside: whose children they are, what they hold, and whether they are gone."""

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import forking
import psutil
from conftest import serve_command

from fledgling.broker.front import Front
from fledgling.broker.indexing.indexing import Indexing
from fledgling.messages.answers import AnyAnswer, Refusal
from fledgling.messages.questions import AnyQuestion, Explore
from fledgling.security import profile as profiles
from fledgling.settings import Settings

INDEXER, QUERY_WORKER = "fledgling.worker.indexer", "fledgling.worker.query"
FOLLOWER = "fledgling.worker.follower"

PATIENCE = 180.0  # seconds for what has no bound of its own: other tests and other work may hold the processors
GONE_SECONDS = 30.0  # for processes to end where that is the test: longer, and an orphan may have done its work instead

STILL_SECONDS = 0.1  # without running: fewer are of a busy machine, more of one that is frozen or lends processors
LOOK_SECONDS = 0.01  # between two looks at what is awaited: psutil takes 2 ms to look through all processes

EXPLORE = Explore()

# What a call is told that came too early, or for which the machine had no time: it was put to nobody.
LATE = "no query worker was ready|not checked for changes|was not ready within"

# A statement that never ends by itself: the project's content six times over, compared.
ENDLESS = (
    "SELECT count(*) FROM content a, content b, content c, content d, content e, content f "
    "WHERE a.line_text || b.line_text || c.line_text < d.line_text || e.line_text || f.line_text"
)

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("explore", {}),
    ("explore", {"path": "src", "depth": 3}),
    ("read", {"path": "src/core/engine.py"}),
    ("read", {"path": "src/core/engine.py", "symbol": "Engine"}),
    ("search", {"query": "timeout"}),
    ("search", {"query": "(?i)time.*", "regex": True, "path": "src/**"}),
    ("search", {"query": "process", "kind": "function"}),
    ("symbols", {"path": "**/*.py"}),
    ("symbols", {"kind": "class"}),
    ("dependencies", {"path": "src/core/engine.py"}),
    ("dependencies", {"path": "src/utils/validation.py", "direction": "imported_by", "depth": 3}),
]


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def broker() -> psutil.Process:
    """The server that this test has started last."""
    servers = [child for child in psutil.Process().children() if is_alive(child) and "serve" in words_of(child)]
    # Two may start in one of the hundredths of a second that the kernel counts.
    return max(servers, key=lambda server: (server.create_time(), server.pid))


def words_of(process: psutil.Process) -> list[str]:
    """The command line of a process, empty where it has ended: anybody may end between two looks."""
    with suppress(psutil.NoSuchProcess):
        return process.cmdline()
    return []


def children_of(process: psutil.Process) -> list[psutil.Process]:
    """Whose parent a process is; nobody's where it has ended."""
    with suppress(psutil.NoSuchProcess):
        return process.children()
    return []


def back_processes(of: psutil.Process, module: str | None = None) -> list[psutil.Process]:
    """The processes below a broker; those that run `module`, or all but those that others are forked from."""
    found = []
    for child in of.children(recursive=True):
        words = words_of(child)
        if is_alive(child) and forking.__file__ not in words and (module is None or words[-1:] == [module]):
            found.append(child)
    return found


def query_worker(of: psutil.Process) -> psutil.Process:
    [found] = back_processes(of, QUERY_WORKER)
    return found


def opened(process: psutil.Process) -> dict[int, str]:
    """Descriptor -> what it is open on."""
    found = {}
    directory = Path(f"/proc/{process.pid}/fd")
    for name in os.listdir(directory):
        with suppress(FileNotFoundError):
            found[int(name)] = os.readlink(directory / name)
    return found


def anonymous_bytes(process: psutil.Process) -> int:
    """What a process holds that is of no file, a memory file included (proc_pid_status(5), RssAnon)."""
    status = dict(line.split(":") for line in Path(f"/proc/{process.pid}/status").read_text().splitlines())
    return int(status["RssAnon"].split()[0]) * 1024


async def until(holds: Callable[[], object], seconds: float = PATIENCE) -> float:
    """Wait until something holds and return how long that took; it must within `seconds`."""
    begun = time.monotonic()
    while not holds():
        assert time.monotonic() - begun < seconds, "this does not come about"
        await asyncio.sleep(LOOK_SECONDS)
    return time.monotonic() - begun


def spent(of: psutil.Process, module: str | None = None) -> dict[psutil.Process, float]:
    """The CPU seconds of each process below a broker, or of each of a module's."""
    found = {}
    for process in back_processes(of, module):
        with suppress(psutil.NoSuchProcess):
            found[process] = sum(process.cpu_times()[:2])
    return found


def spent_since(before: dict[psutil.Process, float], of: psutil.Process, module: str | None = None) -> float:
    """The CPU seconds that those of `spent` that are still there, and those that came, have taken since `before`."""
    return sum(seconds - before.get(process, 0.0) for process, seconds in spent(of, module).items())


async def at_work(of: psutil.Process, seconds: float = 0.1) -> None:
    """Wait until the processes below a broker have worked for so many seconds of CPU more than until now."""
    before = spent(of)
    await until(lambda: spent_since(before, of) >= seconds)


async def first(of: psutil.Process, module: str) -> psutil.Process:
    """The first process below a broker that runs `module`, as soon as there is one."""
    found: list[psutil.Process] = []

    def is_there() -> bool:
        found[:] = back_processes(of, module)
        return bool(found)

    await until(is_there)
    return found[0]


@contextmanager
def starved(*processes: psutil.Process) -> Iterator[None]:
    """Leave processes and those below them a hundredth of one processor, or less where others use that, too."""
    core = {max(os.sched_getaffinity(0))}
    hog = subprocess.Popen([sys.executable, "-I", "-c", "while True: pass"])
    try:
        os.sched_setaffinity(hog.pid, core)
        for process in processes:
            for each in (process, *process.children(recursive=True)):
                with suppress(FileNotFoundError, ProcessLookupError):  # it has ended, or a thread of it
                    for thread in map(int, os.listdir(f"/proc/{each.pid}/task")):
                        os.setpriority(os.PRIO_PROCESS, thread, 19)
                        os.sched_setaffinity(thread, core)
        yield
    finally:
        hog.kill()
        hog.wait()


@asynccontextmanager
async def fronted(
    root: Path, profile: object = "fledgling-core", settings: Mapping[str, Any] | None = None, **options: Any
) -> AsyncIterator[tuple[Front, Indexing]]:
    """An indexer and a query worker with this test as their broker: all but MCP, which takes a second to import.

    Where it `is_followed`, each call looks if `settings` say nothing else: what a test has written is in an answer.
    """
    chosen = Settings(root=str(root), **{"freshness": "strict", **(settings or {})})
    indexing = Indexing(chosen, profiles.load(str(profile)), **options)
    front = Front(indexing.profile, indexing, chosen.freshness)
    try:
        await indexing.accepted()
        yield front, indexing
    finally:
        await front.close()


@asynccontextmanager
async def building(root: Path, profile: object) -> AsyncIterator[tuple[Front, Indexing]]:
    """A front over an index that has not begun."""
    indexing = Indexing(Settings(root=str(root)), profiles.load(str(profile)))
    front = Front(indexing.profile, indexing)
    try:
        yield front, indexing
    finally:
        await front.close()


@asynccontextmanager
async def indexed(root: Path, profile: object = "fledgling-core") -> AsyncIterator[Indexing]:
    """An index that nobody asks anything: without a query worker."""
    indexing = Indexing(Settings(root=str(root)), profiles.load(str(profile)))
    try:
        await indexing.accepted()
        yield indexing
    finally:
        await indexing.close()


async def answered(
    front: Front, question: AnyQuestion = EXPLORE, until: Sequence[str] = ("unavailable", "timeout")
) -> AnyAnswer:
    """The answer, as soon as there is one, and refusals `until` then: a busy machine takes longer than a call may."""
    until_then = time.monotonic() + PATIENCE
    while isinstance(found := await front.ask(question), Refusal):
        assert found.kind in until, found
        assert time.monotonic() < until_then, found
        await asyncio.sleep(0.05)
    return found


async def in_time(ask: Callable[..., Awaitable[Any]], *arguments: Any, late: str = LATE) -> Any:
    """What a call is told; one that was too `late` is put again, as a busy machine takes more than its time.

    >>> await in_time(client.call_tool, "explore", {})
    CallToolResult(...)
    """
    until_then = time.monotonic() + PATIENCE
    while is_refusal(found := await ask(*arguments)) and re.search(late, str(found)):
        assert time.monotonic() < until_then, found
        await asyncio.sleep(0.05)
    return found


def is_refusal(found: Any) -> bool:
    """Whether a front or a client was told no."""
    return isinstance(found, Refusal) or getattr(found, "is_error", False)


class Server:
    """A server on two bare pipes: for what a client library does not show, its exit status and its bytes."""

    def __init__(self, root: Path, *options: str, command: list[str] | None = None, **started: Any) -> None:
        self.process = subprocess.Popen(
            command or serve_command(root, *options),
            **{
                "cwd": "/",
                "stdin": subprocess.PIPE,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.DEVNULL,
                **started,
            },
        )
        self.seen = psutil.Process(self.process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in filter(None, (self.process.stdin, self.process.stdout, self.process.stderr)):
            pipe.close()

    def begin(self) -> None:
        """Shake hands, as clients do before anything else."""
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        self.send({"id": 1, "method": "initialize", "params": client})
        self.receive()
        self.send({"method": "notifications/initialized"})

    def call(self, number: int, tool: str, arguments: dict[str, Any]) -> None:
        self.send({"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})

    def send(self, message: dict[str, Any]) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        return json.loads(self.process.stdout.readline())


class Looking:
    """A thread that looks on, `_look`, until it is `_over`."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._looking = threading.Thread(target=self._look)

    def _look(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._looking.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._looking.join()


class Peak(Looking):
    """The most that was held while this looked on, in bytes: `held` is asked every so many seconds.

    >>> with Peak(partial(largest, broker(), QUERY_WORKER)) as peak: ...
    """

    def __init__(self, held: Callable[[], int], every: float = 0.01) -> None:
        super().__init__()
        self._held, self._every = held, every
        self.bytes = 0

    def _look(self) -> None:
        while not self._over.wait(self._every):
            self.bytes = max(self.bytes, self._held())


class StoodStill(Looking):
    """For how many seconds after a moment this process did not run, a tenth or more at once: nor did any, if frozen.

    >>> with StoodStill(time.monotonic() + 1.0) as still: ...
    """

    def __init__(self, since: float) -> None:
        super().__init__()
        self._seen = since
        self.seconds = 0.0

    def _look(self) -> None:
        is_over = False
        while not is_over:
            is_over = self._over.wait(LOOK_SECONDS)
            now = time.monotonic()
            if now - self._seen > STILL_SECONDS:
                self.seconds += now - self._seen
            self._seen = max(self._seen, now)


def largest(of: psutil.Process, module: str) -> int:
    """The memory that the largest process of a kind below a broker holds."""
    sizes = [0]
    for process in back_processes(of, module):
        with suppress(psutil.NoSuchProcess):
            sizes.append(process.memory_info().rss)
    return max(sizes)
