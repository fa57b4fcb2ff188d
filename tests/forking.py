"""Processes of Fledgling that tests start, each forked from one that has loaded what it needs: loading costs the most.

`subprocess` does so by itself where a command begins a process of ours, whoever asks it to, as MCP's client does. The
process is the one that the command would have started: a child of whoever asked, with the same descriptors, directory,
environment, words and exit status. What differs is what it did before: its environment as the kernel shows it is empty,
its limits, umask and ignored signals are those of the first of its kind, with which it shares memory, and that it can
load its modules and start DuckDB, when, and what it does meanwhile cannot be seen; and that it ends without taking its
modules down. The back processes of such a process are forked from itself, with all that confines it and all that it
holds in memory, but while it has other threads: those, as other programs that it starts, are executed. A test of what
differs says so, by the fixture `executed`, or of back processes alone by `executed_behind`; a fixture that tests share,
by `executing`.

Processes of pytest-xdist are forked, too, from the one that has imported all files of tests.
"""

import asyncio
import atexit
import ctypes
import fcntl
import gc
import inspect
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

PATIENCE = 180.0  # seconds for a command that has no bound of its own
LOOK_SECONDS = 0.002  # between two looks at whether a process has ended
MAX_REQUEST = 2**17  # bytes of a command and its environment
MAX_FDS = 64  # descriptors that a process is given
TITLE_BYTES = 4000  # of a command that the kernel shows; the rest of a longer one is cut off
CLEAN = {"PATH": os.environ.get("PATH", ""), "HOME": "/nowhere"}

PYTHON = [sys.executable, "-I", "-B", "-m"]
# Back process -> what it loads before it is confined, which is loaded before any process is forked. The connector is
# executed: its memory is measured.
BACK_PROCESSES: Mapping[str, Sequence[str]] = {
    "fledgling.worker.indexer": (
        *("worker.indexer.run", "worker.indexer.seek", "worker.indexer.relating"),
        *("worker.extractor.replacing", "worker.extractor.resolving"),
    ),
    "fledgling.worker.follower": ("worker.follower.run", "worker.extractor.replacing", "yaml_text"),
    "fledgling.worker.query": ("worker.query.serve", "worker.query.fleet"),
    "fledgling.worker.bundler": ("worker.bundler.run", "worker.bundler.export"),
}
SERVER = ("broker.protocol.server", "broker.protocol.http.serving", "broker.protocol.http.page")  # what `serve` loads
CLI = ("broker.indexing.seeking",)  # what commands load as they run
# What most sessions ask, and what they say beside it, of which MCP's SDK has a class.
METHODS = ("initialize", "server/discover", "tools/list", "tools/call")
MESSAGES = (
    *("ClientCapabilities", "Implementation", "InitializeRequestParams", "PaginatedRequestParams", "RequestParams"),
    *("CallToolResult", "DiscoverResult", "InitializeResult", "ListToolsResult", "TextContent", "Tool"),
    *("CompletionsCapability", "LoggingCapability", "PromptsCapability", "ResourcesCapability", "ServerCapabilities"),
    *("ToolAnnotations", "ToolsCapability"),
)
KINDS = ("fledgling", "fledgling serve", "fledgling.worker")  # of processes that others are forked from
# What few projects of tests are written in, and takes a tenth of a second or more to compile: else it is done before.
DEAR = ("c", "cpp", "csharp", "kotlin", "php", "ruby", "scala", "swift")
# What decides how an interpreter starts: where one of these is asked for by name, a process is executed.
DECIDING = ("LC_", "LANG", "PYTHON", "LD_", "MALLOC_", "GLIBC_", "OPENBLAS_")

PR_SET_CHILD_SUBREAPER = 36  # prctl(2): whose children die becomes the parent of theirs


class Forking:
    """The process that those of one kind are forked from, until it is closed.

    >>> Forking(asking).start(["explore", "--root", "/srv/web"], {"PATH": "/usr/bin"}, "/", {0: 5, 1: 8, 2: 9})
    4711
    """

    def __init__(self, asking: socket.socket) -> None:
        self._asking = asking

    def start(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        directory: str,
        descriptors: Mapping[int, int],
        *,
        leads: bool = False,
    ) -> int:
        """Start a process with descriptors, each by its number there, and return its number: it is our child."""
        forks = not _executing_behind
        request = json.dumps([[*words], {**environment}, directory, [*descriptors], leads, forks]).encode()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours:
            with theirs:
                socket.send_fds(self._asking, [request], [theirs.fileno(), *descriptors.values()])
            said = ours.recv(64)
            if not said:
                raise ChildProcessError("the process that others are forked from has ended")
            pid = int(said)
            adopting(True)
            try:
                ours.send(b"end")
                ours.recv(64)  # it has become ours
            finally:
                adopting(False)
        return pid

    def close(self) -> None:
        """Let it end."""
        self._asking.close()


def adopting(on: bool) -> None:
    """Let whoever loses a parent among our descendants become our child, or not."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)


_running: dict[str, Forking] = {}
_loaded: "list[subprocess.Popen[bytes]]" = []  # the process that those of all kinds are forked from
_asking = threading.Lock()
forked: list[int] = []  # the numbers of all processes that were forked for this one
_executing: list[None] = []  # as many as there are blocks of `executing`
_executing_behind: list[None] = []  # likewise


@contextmanager
def executing() -> Iterator[None]:
    """Within, processes are executed."""
    _executing.append(None)
    try:
        yield
    finally:
        _executing.pop()


@contextmanager
def executing_behind() -> Iterator[None]:
    """Within, processes are forked whose back processes are executed."""
    _executing_behind.append(None)
    try:
        yield
    finally:
        _executing_behind.pop()


def fork_instead() -> None:
    """Have `subprocess` fork processes of ours, from now on and in this process, where one can become our child so."""

    def start(words: list[str], environment: dict[str, str], directory: str, given: dict[int, int], leads: bool) -> int:
        with _asking:
            begin()
            forked.append(_running[kind_of(words)].start(words, environment, directory, given, leads=leads))
            return forked[-1]

    if sys.platform == "linux":
        start_instead(start, is_ours)


def fork_workers() -> None:
    """Have processes of pytest-xdist forked from this one as it is now, with all that it has imported."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    gc.freeze()
    if not os.fork():
        try:
            ours.close()
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks says when it is over
            become_each(theirs)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            reopen()
            exec(WORKER, {"__name__": "__main__"})
        except BaseException:  # noqa: BLE001  (of what forked them, nothing is to run here)
            os.write(2, traceback.format_exc().encode())
            os._exit(1)
        os._exit(0)
    theirs.close()
    forking = Forking(ours)

    def start(words: list[str], environment: dict[str, str], directory: str, given: dict[int, int], leads: bool) -> int:
        return forking.start(words, environment, directory, given, leads=leads)

    start_instead(start, lambda asked: [*asked["args"]][-1:] == [WORKER])


def start_instead(start: Callable[..., int], is_meant: Callable[[Mapping[str, Any]], bool]) -> None:
    """Have `subprocess` start the processes that are meant in another way, from now on and in this process."""
    execute = subprocess.Popen._execute_child
    parameters = inspect.signature(execute)

    @wraps(execute)
    def execute_child(process: "subprocess.Popen[bytes]", *arguments: object) -> None:
        asked = parameters.bind(process, *arguments).arguments
        if not is_meant(asked):
            execute(process, *arguments)
            return
        pairs = [(asked["p2cwrite"], asked["p2cread"]), (asked["c2pread"], asked["c2pwrite"])]
        pairs.append((asked["errread"], asked["errwrite"]))
        given = {number: number if theirs == -1 else theirs for number, (_, theirs) in enumerate(pairs)}
        given |= {number: number for number in asked["pass_fds"]}
        environment = os.environ if asked["env"] is None else asked["env"]
        environment = {os.fsdecode(name): os.fsdecode(value) for name, value in environment.items()}
        words = [os.fsdecode(word) for word in asked["args"][len(PYTHON) :]]
        directory = os.fsdecode(asked["cwd"] or os.getcwd())
        process.pid = start(words, environment, directory, given, asked["start_new_session"])
        process._child_created = True
        process._close_pipe_fds(*(asked[name] for name in PIPES))

    subprocess.Popen._execute_child = execute_child


WORKER = "import sys;exec(eval(sys.stdin.readline()))"  # what Python is told for a process of pytest-xdist
PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")


def is_ours(asked: Mapping[str, Any]) -> bool:
    """Whether a process is one that can be forked, and nobody asks for more than a forked one has."""
    command, environment = asked["args"], asked["env"]
    return (
        not _executing
        and isinstance(command, list | tuple)
        and [*command[: len(PYTHON)]] == PYTHON
        and command[len(PYTHON)] in ("fledgling", *BACK_PROCESSES)
        and all(asked[name] is None for name in ("executable", "preexec_fn", "uid", "gid", "gids"))
        and (asked["close_fds"], asked["shell"], asked["umask"], asked["process_group"]) == (True, False, -1, -1)
        and not any(os.fsdecode(name).startswith(DECIDING) for name in environment or ())
    )


def is_back_process(asked: Mapping[str, Any]) -> bool:
    """Whether a process is a back process that can be forked: another thread could hold a lock, which nobody undoes."""
    return is_ours(asked) and asked["args"][len(PYTHON)] in BACK_PROCESSES and threading.active_count() == 1


def kind_of(words: Sequence[str]) -> str:
    """The kind of process that runs a module with its words."""
    if words[0] in BACK_PROCESSES:
        return "fledgling.worker"
    return "fledgling serve" if "serve" in words[1:3] else "fledgling"


def fledgling(*arguments: str, timeout: float = PATIENCE, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run one command away from any project, with no settings of the user who runs the tests."""
    command = [*PYTHON, "fledgling", *arguments]
    clean = {**CLEAN, **environment}
    return subprocess.run(command, cwd="/", env=clean, capture_output=True, text=True, timeout=timeout, check=False)


def started(*arguments: str, timeout: float = PATIENCE, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run one command as `fledgling` does, by a Python of its own."""
    with executing():
        return fledgling(*arguments, timeout=timeout, **environment)


def begin() -> None:
    """Start the processes that others are forked from, of all kinds: a test may count what this process has open."""
    if sys.platform != "linux" or _running:
        return
    pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in KINDS]
    numbers = [theirs.fileno() for _, theirs in pairs]
    # The long last word is room for what the kernel shows as the command of a process.
    command = [*PYTHON[:3], __file__, *map(str, numbers), " " * TITLE_BYTES]
    with executing():
        _loaded.append(subprocess.Popen(command, cwd="/", env={}, stdin=subprocess.DEVNULL, pass_fds=numbers))
    for kind, (ours, theirs) in zip(KINDS, pairs, strict=True):
        theirs.close()
        _running[kind] = Forking(ours)


def end() -> None:
    """Let go of the processes that others were forked from, and wait for the last."""
    while _running:
        _running.popitem()[1].close()
    while _loaded:
        _loaded.pop().wait()


def become_each(asked: socket.socket) -> tuple[Sequence[str], bool]:
    """Return in a new process for each request, as that, with its words and whether it forks its back processes.

    Exit once nobody is there who asks.
    """
    while True:
        request, fds, *_ = socket.recv_fds(asked, MAX_REQUEST, MAX_FDS)
        if not request:
            os._exit(0)
        between = os.fork()
        if not between:
            break
        for fd in fds:
            os.close(fd)
        os.waitpid(between, 0)
    asked.close()
    telling, *fds = fds
    words, environment, directory, numbers, leads, forks = json.loads(request)
    between = os.getpid()
    told = socket.socket(fileno=telling)
    if child := os.fork():  # with the end of the one between, its child becomes one of whoever asks
        told.send(str(child).encode())
        told.recv(64)
        os._exit(0)
    while os.getppid() == between:
        time.sleep(0.0005)
    if leads:
        os.setsid()  # before anybody ends its group
    told.send(b"there")
    told.close()
    become(words, environment, directory, dict(zip(numbers, fds, strict=True)))
    return list(words), forks


def become(words: Sequence[str], environment: Mapping[str, str], directory: str, given: Mapping[int, int]) -> None:
    """Take the words, the environment, the directory and the descriptors of a process."""
    show([*PYTHON, *words])
    place(given)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update({**environment, **_set})  # what a module has set, it would have set now


def fork_back_processes() -> None:
    """Have `subprocess` fork back processes from this one from now on, while it has one thread."""
    start_instead(fork, is_back_process)
    end_threads()


def end_threads() -> None:
    """Have each thread that an event loop takes end with its work: one that stands idle would let nothing be forked.

    One that waits for a process would not let that be forked which takes its place: an event loop looks at it instead.
    """
    run = asyncio.BaseEventLoop.run_in_executor

    def run_alone(
        loop: asyncio.BaseEventLoop, executor: ThreadPoolExecutor | None, function: Callable[..., Any], *given: object
    ) -> "asyncio.Future[Any]":
        if executor:
            return run(loop, executor, function, *given)
        if process := waited_for(function):
            return loop.create_task(end_of(process))
        alone = ThreadPoolExecutor(1)
        try:
            return run(loop, alone, function, *given)
        finally:
            alone.shutdown(wait=False)

    asyncio.BaseEventLoop.run_in_executor = run_alone


def waited_for(function: Callable[..., Any]) -> "subprocess.Popen[bytes] | None":
    """The process that `asyncio.to_thread` is to wait for, if that is what it is to do."""
    called, *_ = *getattr(function, "args", ()), None  # `to_thread` has Context.run call it
    return called.__self__ if getattr(called, "__func__", None) is subprocess.Popen.wait else None


async def end_of(process: "subprocess.Popen[bytes]") -> int:
    """Wait until a process has ended, and return its exit status."""
    while (status := process.poll()) is None:  # noqa: ASYNC110  (nobody tells)
        await asyncio.sleep(LOOK_SECONDS)
    return status


def fork(words: list[str], environment: dict[str, str], directory: str, given: dict[int, int], leads: bool) -> int:
    """Fork a back process from this one; return its number once it has its descriptors."""
    waiting, telling = os.pipe()
    if not (child := os.fork()):
        try:
            be_back_process(words, environment, directory, given, telling, leads=leads)
        except BaseException:  # noqa: BLE001  (of whoever asked, nothing is to run here)
            os.write(2, traceback.format_exc().encode())
            os._exit(1)
    os.close(telling)
    os.read(waiting, 1)
    os.close(waiting)
    return child


def be_back_process(
    words: Sequence[str],
    environment: Mapping[str, str],
    directory: str,
    given: Mapping[int, int],
    telling: int,
    *,
    leads: bool,
) -> NoReturn:
    """Be a back process from here on, and end with it."""
    if leads:
        os.setsid()
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.write(telling, b".")
    become(words, environment, directory, given)
    reopen()
    sys.modules.update(_standing_in)
    sys.argv[1:] = words[1:]
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    os._exit(0)


def reopen() -> None:
    """Read and print by the descriptors that a process was given."""
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(fd, mode, 1, closefd=False) for fd, mode in enumerate("rww"))


def place(descriptors: Mapping[int, int]) -> None:
    """Put each descriptor at its number, and close all others."""
    above = max(*descriptors, *descriptors.values()) + 1
    held = {number: fcntl.fcntl(fd, fcntl.F_DUPFD, above) for number, fd in descriptors.items()}
    for number, fd in held.items():
        os.dup2(fd, number)
    numbers = sorted(descriptors)
    for below, following in zip(numbers, [*numbers[1:], os.sysconf("SC_OPEN_MAX")], strict=True):
        os.closerange(below + 1, following)


def show(command: Sequence[str]) -> None:
    """Have the kernel show a command as this process's, in the room that its own has, words apart by spaces.

    It looks for no further words where the last byte of that room is none of theirs (proc_pid_cmdline(5)).
    """
    begin, end = _room
    if not end:  # it was not begun for this
        return
    text = os.fsencode(" ".join(command))[: end - begin - 2]
    ctypes.memmove(begin, text.ljust(end - begin - 1, b"\0") + b".", end - begin)


def room_of_command() -> tuple[int, int]:
    """Where the kernel finds what it shows as the command of this process: the first address, and that behind it."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return int(fields[45]), int(fields[46])


_room = (0, 0)
_set: dict[str, str] = {}  # variables of the environment that modules have set
_standing_in: dict[str, Any] = {}  # modules that are others in back processes
_status: list[int] = []  # with which this process is about to end


def load_back_processes() -> None:
    """Load what back processes need, which processes of all kinds may fork."""
    from fledgling.standing_in import standing_in  # noqa: PLC0415  (whoever asks needs none of this)

    with standing_in("typing_extensions", None):
        for names in BACK_PROCESSES.values():
            for name in names:
                import_module(f"fledgling.{name}")
        load_what_is_of_languages()
        start_duckdb()
    _standing_in["fsspec"] = sys.modules.pop("fsspec")


def load(kind: str) -> None:
    """Load what else processes of a kind need."""
    from fledgling.standing_in import standing_in  # noqa: PLC0415  (as above)

    if kind == "fledgling.worker":
        sys.modules.update(_standing_in)
        return
    with standing_in("typing_extensions", None):
        from fledgling.broker.cli.main import cli  # noqa: PLC0415
    if kind == "fledgling":
        for name in CLI:
            import_module(f"fledgling.{name}")
        for name in cli.list_commands(None):
            cli.get_command(None, name)
    else:
        from fledgling.broker.cli import fleet_serve, serve  # noqa: F401, PLC0415
        from fledgling.broker.protocol import sdk  # noqa: PLC0415

        with sdk.lean():
            for name in SERVER:
                import_module(f"fledgling.{name}")
            make_what_calls_need()
        import_module("anyio._backends._asyncio")
        gc.disable()


def make_what_calls_need() -> None:
    """Make what a server makes when first asked: validators of messages, schemas of tools, the rows of spellings."""
    from mcp import types  # noqa: PLC0415  (whoever asks needs none of this)
    from mcp.server.models import InitializationOptions  # noqa: PLC0415  (as above)
    from mcp_types import jsonrpc, methods  # noqa: PLC0415  (as above)
    from pydantic import ValidationError  # noqa: PLC0415  (as above)

    from fledgling.broker.spelling import arguments  # noqa: PLC0415  (as above)
    from fledgling.messages.questions import QUESTIONS  # noqa: PLC0415  (as above)

    for model in (InitializationOptions, jsonrpc.JSONRPCResponse, *(getattr(types, name) for name in MESSAGES)):
        model.model_rebuild()
    for method, version in methods.CLIENT_REQUESTS:
        if method in METHODS:
            with suppress(ValidationError):  # of a message that says nothing
                methods.validate_client_request(method, version, None)
            with suppress(ValidationError):
                methods.serialize_server_result(method, version, {})
    for tool in QUESTIONS:
        arguments.properties(tool)
        arguments.optional(tool)
    arguments.taken("symbols", {"names": "a"}, "/")


def load_what_is_of_languages() -> None:
    """Load the modules and grammars of all languages, which builds and extractors do before they are confined.

    What they compile when they first look at a name is compiled, too.
    """
    from fledgling.security.secret_files import is_secret  # noqa: PLC0415  (whoever asks needs none of this)
    from fledgling.worker.extracting.extract import Extractor  # noqa: PLC0415
    from fledgling.worker.graph.reading.facts import FactsExtractor  # noqa: PLC0415
    from fledgling.worker.languages import table  # noqa: PLC0415
    from fledgling.worker.resolving.resolve import load_resolvers  # noqa: PLC0415

    table._table = cache(table._table)  # each build reads the files of all languages: they are parsed here, once
    table.own_text = cache(table.own_text)
    table.load_languages(for_graph=False)
    languages = table.load_languages()
    definitions, uses = Extractor(languages), FactsExtractor(languages)
    for name in (name for name in definitions.rows if name not in DEAR):
        definitions.prepare(name)
        uses.facts_of(name, b"\n")
    load_resolvers(languages)
    is_secret("a~")
    languages.is_manifest("a")


def start_duckdb() -> None:
    """Start DuckDB as back processes do, which each does once: that takes it 20 ms, a tenth of what a command takes."""
    from fledgling.worker.store import database  # noqa: PLC0415  (as above)

    started = [database.start()]
    database.start = started.pop


def main() -> None:
    """Load what processes need, fork one for each kind, and become each that is asked for."""
    gc.disable()
    atexit.register(end_at_once)
    global _room  # noqa: PLW0603
    asking = dict(zip(KINDS, map(int, sys.argv[1:-1]), strict=True))
    _room = room_of_command()
    os.environ.clear()
    load_back_processes()
    *others, kind = KINDS
    for other in others:
        if os.fork() == 0:
            kind = other
            break
    for other in {*KINDS} - {kind}:
        os.close(asking[other])
    load(kind)
    _set.update(os.environ)
    assert len(os.listdir("/proc/self/task")) == 1, "a process with threads cannot be forked"
    (module, *words), forks = become_each(socket.socket(fileno=asking[kind]))
    if forks:
        fork_back_processes()
    sys.argv[1:] = words
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if isinstance(end.code, int | None):
            _status.append(end.code or 0)
        raise


def end_at_once() -> None:
    """End as the interpreter is about to, but take nothing down, which would touch, and so copy, all that forks share.

    It is registered before what our modules register, and so called after that. Return where what was printed cannot
    be written, or with an error: the interpreter says so.
    """
    if _status:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(_status[0])


if __name__ == "__main__":
    main()
