"""Processes of Fledgling that tests start, each forked from one that has loaded what it needs: loading costs the most.

`subprocess` does so by itself where a command begins a process of ours, whoever asks it to, as MCP's client does. The
process is the one that the command would have started: a child of whoever asked, with the same descriptors, directory,
environment, words and exit status. What differs is what it did before: its environment as the kernel shows it is empty,
its limits, umask and ignored signals are those of the first of its kind, with which it shares memory, and that it can
load its modules, when, and what it does meanwhile cannot be seen. A test of that says so, by the fixture
`executed`; what such processes start themselves is executed as ever.
"""

import ctypes
import fcntl
import gc
import inspect
import json
import os
import runpy
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

PATIENCE = 180.0  # seconds for a command that has no bound of its own
MAX_REQUEST = 2**17  # bytes of a command and its environment
MAX_FDS = 64  # descriptors that a process is given
TITLE_BYTES = 4000  # of a command that the kernel shows; the rest of a longer one is cut off
CLEAN = {"PATH": os.environ.get("PATH", ""), "HOME": "/nowhere"}

PYTHON = [sys.executable, "-I", "-B", "-m"]
# Kind of process -> what is loaded before one is forked: what each of them loads before it is confined.
LOADED: Mapping[str, Sequence[str]] = {
    "fledgling": (),  # each command
    "fledgling serve": ("broker.protocol.server", "broker.protocol.http.serving", "broker.protocol.http.page"),
    "fledgling.worker.indexer": ("worker.indexer.run", "worker.extractor.process"),
    "fledgling.worker.follower": ("worker.follower.run", "worker.extractor.process"),
    "fledgling.worker.query": ("worker.query.serve",),
    "fledgling.worker.bundler": ("worker.bundler.run", "worker.bundler.export"),
}
# What decides how an interpreter starts: where one of these is asked for by name, a process is executed.
DECIDING = ("LC_", "LANG", "PYTHON", "LD_", "MALLOC_", "GLIBC_", "OPENBLAS_")

PR_SET_CHILD_SUBREAPER = 36  # prctl(2): whose children die becomes the parent of theirs


class Forking:
    """The process that those of one kind are forked from, until it is closed.

    >>> Forking("fledgling").start(["explore", "--root", "/srv/web"], {"PATH": "/usr/bin"}, "/", {0: 5, 1: 8, 2: 9})
    4711
    """

    def __init__(self, kind: str) -> None:
        self._asking, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # The long last word is room for what the kernel shows as the command of a process.
        command = [*PYTHON[:3], __file__, kind, str(theirs.fileno()), " " * TITLE_BYTES]
        with theirs, executing():
            self._process = subprocess.Popen(
                command, cwd="/", env={}, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()]
            )

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
        request = json.dumps([[*words], {**environment}, directory, [*descriptors], leads]).encode()
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
        """Let it end, and wait for that."""
        self._asking.close()
        self._process.wait()


def adopting(on: bool) -> None:
    """Let whoever loses a parent among our descendants become our child, or not."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)


_running: dict[str, Forking] = {}
_asking = threading.Lock()
_executing: list[None] = []  # as many as there are blocks of `executing`


@contextmanager
def executing() -> Iterator[None]:
    """Within, processes are executed."""
    _executing.append(None)
    try:
        yield
    finally:
        _executing.pop()


def fork_instead() -> None:
    """Have `subprocess` fork processes of ours, from now on and in this process, where one can become our child so."""
    if sys.platform != "linux":
        return
    execute = subprocess.Popen._execute_child
    parameters = inspect.signature(execute)

    def execute_child(process: "subprocess.Popen[bytes]", *arguments: object) -> None:
        asked = parameters.bind(process, *arguments).arguments
        if not is_ours(asked):
            execute(process, *arguments)
            return
        pairs = [(asked["p2cwrite"], asked["p2cread"]), (asked["c2pread"], asked["c2pwrite"])]
        pairs.append((asked["errread"], asked["errwrite"]))
        given = {number: number if theirs == -1 else theirs for number, (_, theirs) in enumerate(pairs)}
        given |= {number: number for number in asked["pass_fds"]}
        environment = os.environ if asked["env"] is None else asked["env"]
        environment = {os.fsdecode(name): os.fsdecode(value) for name, value in environment.items()}
        words = [os.fsdecode(word) for word in asked["args"][len(PYTHON) :]]
        kind = kind_of(words)
        with _asking:
            begin()
            process.pid = _running[kind].start(
                words, environment, os.fsdecode(asked["cwd"] or os.getcwd()), given, leads=asked["start_new_session"]
            )
        process._child_created = True
        process._close_pipe_fds(*(asked[name] for name in PIPES))

    subprocess.Popen._execute_child = execute_child


PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")


def is_ours(asked: Mapping[str, object]) -> bool:
    """Whether a process is one that can be forked, and nobody asks for more than a forked one has."""
    command, environment = asked["args"], asked["env"]
    return (
        not _executing
        and isinstance(command, list | tuple)
        and [*command[: len(PYTHON)]] == PYTHON
        and command[len(PYTHON)] in LOADED
        and all(asked[name] is None for name in ("executable", "preexec_fn", "uid", "gid", "gids"))
        and (asked["close_fds"], asked["shell"], asked["umask"], asked["process_group"]) == (True, False, -1, -1)
        and not any(os.fsdecode(name).startswith(DECIDING) for name in environment or ())
    )


def kind_of(words: Sequence[str]) -> str:
    """The kind of process that runs a module with its words."""
    return "fledgling serve" if "serve" in words[1:3] else words[0]


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
    if sys.platform == "linux" and not _running:
        _running.update((kind, Forking(kind)) for kind in LOADED)


def end() -> None:
    """Let go of the processes that others were forked from."""
    while _running:
        _running.popitem()[1].close()


def become_each(asked: socket.socket) -> Sequence[str]:
    """Return in a new process for each request, as that, with its words; exit once nobody is there who asks."""
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
    words, environment, directory, numbers, leads = json.loads(request)
    between = os.getpid()
    told = socket.socket(fileno=telling)
    if child := os.fork():  # with the end of the one between, its child becomes one of whoever asks
        told.send(str(child).encode())
        told.recv(64)
        os._exit(0)
    show([*PYTHON, *words])
    while os.getppid() == between:
        time.sleep(0.0005)
    if leads:
        os.setsid()  # before anybody ends its group
    told.send(b"there")
    told.close()
    place(dict(zip(numbers, fds, strict=True)))
    os.chdir(directory)
    os.environ.update(environment | os.environ)  # what a module has set, it would have set now
    return list(words)


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
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    begin, end = int(fields[45]), int(fields[46])
    text = os.fsencode(" ".join(command))[: end - begin - 2]
    ctypes.memmove(begin, text.ljust(end - begin - 1, b"\0") + b".", end - begin)


def load(kind: str) -> None:
    """Load what processes of a kind need, as they do."""
    if kind.startswith("fledgling.worker."):
        sys.modules["typing_extensions"] = None
        for name in LOADED[kind]:
            import_module(f"fledgling.{name}")
        return
    from fledgling.standing_in import standing_in  # noqa: PLC0415  (whoever asks needs none of this)

    with standing_in("typing_extensions", None):
        from fledgling.broker.cli.main import cli  # noqa: PLC0415
    if kind == "fledgling":
        for name in cli.list_commands(None):
            cli.get_command(None, name)
        return
    from fledgling.broker.cli import fleet_serve, serve  # noqa: F401, PLC0415
    from fledgling.broker.protocol import sdk  # noqa: PLC0415

    with sdk.lean():
        for name in LOADED[kind]:
            import_module(f"fledgling.{name}")
    gc.disable()


def main() -> None:
    """Load what a kind of process needs, and become each that is asked for."""
    gc.disable()
    _, kind, asked, *_ = sys.argv
    os.environ.clear()
    load(kind)
    assert len(os.listdir("/proc/self/task")) == 1, "a process with threads cannot be forked"
    module, *words = become_each(socket.socket(fileno=int(asked)))
    sys.argv[1:] = words
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
