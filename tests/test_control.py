"""The control socket: who reaches it, what it answers, what is left of it, and what one does who means no good."""

import asyncio
import fcntl
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import msgspec
import psutil
import pytest
from forking import fledgling
from running import PATIENCE, Server, words_of

from fledgling import __version__
from fledgling.broker.cli import quick
from fledgling.broker.control import answering, asking
from fledgling.broker.control import place as control_place
from fledgling.broker.protocol.http.agents import add
from fledgling.messages.operating import (
    AskCommand,
    AskStatus,
    AskTool,
    FromOperator,
    Greeting,
    Printed,
    Reindex,
    ToOperator,
)
from fledgling.messages.questions import MAX_SQL_CHARS, QUESTIONS, Query, Read
from fledgling.messages.status import Status
from fledgling.pipe import FrameError, Pipe, pack
from fledgling.security import profile as profiles

UNANSWERED = "no server of this root takes commands. Start one with `fledgling serve --control`"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of this user's alone; the name of a socket in it is longer than the kernel takes."""
    directory = tmp_path_factory.mktemp("runtime" + "x" * 90)
    directory.chmod(0o700)
    return directory


def until(holds: Callable[[], object], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "this does not come about"
        time.sleep(0.01)


@contextmanager
def serving(root: Path, place: Path, *options: str, **started: object) -> Iterator[Server]:
    environment = {"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(place)}
    with Server(root, "--control", *options, env=environment, **started) as server:
        server.begin()
        yield server


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("served")
    (root / "a.py").write_text("def needle():\n    return 1\n")
    return root


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("log") / "audit.jsonl"


@pytest.fixture(scope="module")
def served(root: Path, place: Path, log: Path) -> Iterator[Server]:
    with serving(root, place, "--audit-log", str(log)) as server:
        until(lambda: "state: completed" in fledgling("status", "--root", str(root), XDG_RUNTIME_DIR=str(place)).stdout)
        yield server


def logged(log: Path) -> list[tuple[str, str, str, str]]:
    records = [json.loads(line) for line in log.read_bytes().splitlines()]
    return [(r["agent"], r["tool"], r["verdict"], r["layer"]) for r in records if r["event"] == "call"]


def files(place: Path) -> list[str]:
    return sorted(os.listdir(place))


def at_terminal(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run one command whose standard error is a terminal."""
    above, below = os.openpty()
    command = [sys.executable, "-I", "-B", "-m", "fledgling", *arguments]
    clean = {"PATH": os.environ["PATH"], "HOME": "/nowhere", **environment}
    done = subprocess.run(
        command, cwd="/", env=clean, stdout=subprocess.PIPE, stderr=below, timeout=PATIENCE, check=False
    )
    os.close(below)
    said = b""
    with suppress(OSError):  # EIO, where all is read and nobody can write any more
        while data := os.read(above, 1 << 16):
            said += data
    os.close(above)
    return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), said.decode())


# ---- what an operator asks -------------------------------------------------------------------------------------------


def test_an_operator_sees_how_the_index_stands_and_what_has_changed(served, root, place, log):
    def ask(*arguments):
        return fledgling(*arguments, "--root", str(root), XDG_RUNTIME_DIR=str(place))

    one = ask("status")
    assert one.returncode == 0
    assert f"server {served.process.pid}, profile fledgling-core\n  state: completed\n" in one.stdout
    none = ask("check-updates")
    assert none.returncode == 0
    assert "0 added, 0 modified, 0 deleted" in none.stdout
    (root / "new.py").write_text("needle = 2\n")
    some = ask("check-updates")
    assert some.returncode == 0
    assert "    added: new.py\n" in some.stdout
    [said] = json.loads(ask("status", "--json").stdout)["indexes"]
    assert (said["state"], said["generation"], said["changes"]["added"]["paths"]) == ("completed", 1, ["new.py"])
    assert "0 added, 0 modified, 0 deleted" in ask("check-updates", "--since", "1").stdout
    anew = ask("reindex")
    assert (anew.returncode, anew.stderr) == (0, "")
    assert "  files: 2 of 2\n" in anew.stdout
    assert "changes since generation 2: 0 added, 0 modified, 0 deleted" in anew.stdout
    assert str(root) not in one.stdout + some.stdout + anew.stdout
    for what in ("status", "reindex"):
        assert ("control", f"control/{what}", "allowed", "broker") in logged(log)


@pytest.mark.parametrize("wide", [False, pytest.param(True, marks=pytest.mark.long)], ids=["some", "all"])
def test_a_command_asks_a_server_of_the_same_profile_and_settings(served, root, place, log, wide):
    """What it prints is what it would without; the log of the server shows who was asked."""
    before = len(logged(log))
    commands = {  # and what is asked for each
        ("search", "needle"): ["search"],
        ("read", "none.py"): ["read"] * 3,  # what may be meant by a path that is not there, too
        ("search", "-l", "needle"): ["search"],
        ("symbols",): ["symbols"],
    }
    commands = dict([*commands.items()][: None if wide else 2])
    for command in commands:
        asked = fledgling(*command, "--root", str(root), XDG_RUNTIME_DIR=str(place))
        alone = fledgling(*command, "--fresh", "--root", str(root), XDG_RUNTIME_DIR=str(place))
        assert (asked.stdout, asked.stderr, asked.returncode) == (alone.stdout, alone.stderr, alone.returncode)
    asked_of = [("control", tool) for tools in commands.values() for tool in tools]
    assert [(agent, tool) for agent, tool, *_ in logged(log)[before:]] == asked_of
    others = (
        ["search", "needle", "--max-files", "9"],  # for a search nothing is built
        ["search", "needle", "--allow-degraded"],
        ["query", "FROM files", "--profile", "fledgling-analyst"],
    )
    for command in others if wide else others[:2]:
        assert fledgling(*command, "--root", str(root), XDG_RUNTIME_DIR=str(place)).returncode == 0
    assert len(logged(log)) == before + len(asked_of)


# Asks a server for what is printed, and runs no command where that has doubts.
QUICKLY = """
import os, sys
from fledgling.broker.cli import quick
quick.SECONDS = float(os.environ.get("SECONDS", quick.SECONDS))
code = quick.answered(sys.argv[1:], os.environ)
sys.exit("left" if code is None else code)
"""
QUICK = (
    "search needle",
    "search needle --color always -w -m 1",
    "search -l needle --json",
    "search -e needl. -t py --no-pager",
    "search -i -F -- -x",
    "search -e (",
    "explore -L 1",
    "read a.py -s needl",
    "read none.py --json",
    "read ../a.py",
    "symbols --symbol needle --relation callers",
    "dependencies a.py --profile fledgling-core",
    "read blob.bin --json",
    "symbols --symbol b --relation callers",
)
LEFT = (
    "status",
    "search --help",
    "search --help-all",
    "search",
    "search needle --nope",
    "search needle -m x",
    "search needle --fresh",
    "search needle --max-files 9",
    "search needle --allow-degraded",
    "search needle --log-level debug",
    "search needle --config /none.yaml",
    "search needle -e --root",
    "search needle --root=",
    "query FROM\u00a0files",
    "search needle --profile ./fledgling-core.sql",
)


def quickly(place: Path, root: Path, *words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    clean = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "XDG_RUNTIME_DIR": str(place), **environment}
    command = [sys.executable, "-I", "-B", "-c", QUICKLY, *words]
    return subprocess.run(
        command,
        cwd=root,
        env=clean,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_what_a_server_prints_for_a_command_is_what_the_command_prints(served, root, place):
    hostile = root / "\x1b]0;b\x07.md"
    hostile.write_text("needle \x1b[2J \u202e\n")
    for name in ("blob.bin", "b.scm"):
        (root / name).write_bytes(b"(define (b) 1)\0" if name == "blob.bin" else b"(define (b) 1)\n")
    for row in QUICK:
        tool, *words = row.split()
        words = [tool, "--root", str(root), *words]
        # With a variable of ours the command is not answered quickly, whatever that says.
        whole = fledgling(*words, XDG_RUNTIME_DIR=str(place), _FLEDGLING_NOTHING="x")
        done = quickly(place, root, *words)
        assert (done.stdout, done.stderr, done.returncode) == (whole.stdout, whole.stderr, whole.returncode), row
        assert "always" in words or "\x1b" not in done.stdout, row
    for file in (hostile, root / "blob.bin", root / "b.scm"):
        file.unlink()
    command = [sys.executable, "-I", "-B", "-X", "importtime", "-m", "fledgling", "search", "needle"]
    clean = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "XDG_RUNTIME_DIR": str(place)}
    loading = subprocess.run(command, cwd=root, env=clean, capture_output=True, text=True, check=True).stderr
    assert "| fledgling.broker.cli.quick\n" in loading
    assert "click" not in loading


def test_a_command_that_does_more_than_ask_is_left_to_the_command_line(served, root, place, tmp_path, log):
    before = len(logged(log))
    rows = [(row.split(" "), {}) for row in LEFT]
    rows += [(["search", "needle"], {name: "x"}) for name in ("FLEDGLING_PROFILE", "_FLEDGLING_COMPLETE")]
    rows += [(["search", "needle"], {"HOME": str(root)})]
    (tmp_path / "fledgling").mkdir()
    (tmp_path / "fledgling/fledgling.yaml").write_text("max_files: 9\n")
    rows += [(["search", "needle"], {"XDG_CONFIG_HOME": str(tmp_path)})]
    for words, environment in rows:
        done = quickly(place, root, *words, **environment)  # the root is where it is run
        assert (done.stdout, done.stderr, done.returncode) == ("", "left\n", 1), (words, environment)
    assert len(logged(log)) == before
    assert {*quick.TOOLS} == {*QUESTIONS}
    longest = max(profiles.load(name).query_timeout for name in profiles.shipped())
    assert longest + asking.REPLY_SECONDS == quick.SECONDS


def test_what_is_asked_is_held_to_the_profile(served, root, place, log):
    """The broker's own check, whatever a command of another make asks."""
    from fledgling.messages.operating import AskTool  # noqa: PLC0415
    from fledgling.messages.questions import Query  # noqa: PLC0415

    with connected(place) as pipe:
        assert isinstance(pipe.receive(), Greeting)
        pipe.send(AskTool(0, Query("SELECT 1")))
        answer = pipe.receive().answer
        assert (answer.kind, "is not a tool of the profile fledgling-core" in answer.reason) == ("denied", True)
        pipe.send(AskStatus(1))
        assert pipe.receive().kind == "invalid"
    assert ("control", "query", "denied", "profile") in logged(log)


OTHERS = ("check-updates", "reindex", "ingest-delta", "purge")


@pytest.fixture(scope="module")
def unasked(
    tmp_path_factory: pytest.TempPathFactory, place: Path
) -> Iterator[tuple[Path, list[str], list[psutil.Process]]]:
    """A server that takes no commands: its root, the sockets that it has made, and those who keep them."""
    root = tmp_path_factory.mktemp("unasked")
    (root / "a.py").write_text("x = 1\n")
    before = files(place)
    with Server(root, env={"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(place)}) as server:
        server.begin()
        made = sorted({*files(place)} - {*before})
        kept = [child for child in server.seen.children() if "serve" in words_of(child)]
        yield root, made, kept


@pytest.mark.parametrize(
    "command",  # all look for it in one way
    ["status", "ingest", *(pytest.param(name, marks=pytest.mark.long) for name in OTHERS)],
)
def test_without_a_server_that_takes_commands_it_is_said(unasked, place, command):
    environments = ({"XDG_RUNTIME_DIR": str(place)}, {}, {"XDG_RUNTIME_DIR": "/none"})
    for environment in environments if command == "status" else environments[:1]:
        done = fledgling(command, "--root", str(unasked[0]), **environment)
        assert (done.returncode, done.stdout) == (1, "")
        assert UNANSWERED in done.stderr


def test_a_server_that_is_not_told_to_makes_no_socket(unasked):
    assert unasked[1:] == ([], [])


def test_where_another_directory_has_the_name_of_the_root_nothing_is_said_to_be_taken_in(tmp_path, place):
    root = tmp_path / "root"
    root.mkdir()
    with serving(root, place):
        until(lambda: fledgling("status", str(root), XDG_RUNTIME_DIR=str(place)).returncode == 0)
        root.rename(tmp_path / "moved")
        root.mkdir()
        for command, code in {"status": 0, "check-updates": 1, "ingest-delta": 1, "reindex": 1}.items():
            done = fledgling(command, str(root), XDG_RUNTIME_DIR=str(place))
            assert done.returncode == code, done
            assert "changes: not known (the root has been deleted" in done.stdout


@pytest.mark.parametrize("wide", [False, pytest.param(True, marks=pytest.mark.long)], ids=["some", "all"])
def test_a_server_that_does_not_follow_is_not_asked_and_builds_nothing_anew(tmp_path, place, wide):
    """The long row has another server beside it, which does."""
    (tmp_path / "a.py").write_text("needle = 1\n")
    with serving(tmp_path, place, "--freshness", "off") as server:
        until(lambda: fledgling("status", "--root", str(tmp_path), XDG_RUNTIME_DIR=str(place)).returncode == 0)
        refused = fledgling("reindex", "--root", str(tmp_path), XDG_RUNTIME_DIR=str(place))
        assert refused.returncode == 1
        assert "does not follow the project" in refused.stderr
        untold = fledgling("check-updates", "--root", str(tmp_path), XDG_RUNTIME_DIR=str(place))
        assert (untold.returncode, untold.stdout.count("changes: not known (the server does not follow")) == (1, 1)
        assert fledgling("ingest-delta", "--root", str(tmp_path), XDG_RUNTIME_DIR=str(place)).returncode == 1
        if wide:
            others = {"XDG_RUNTIME_DIR": str(place)}
            with serving(tmp_path, place):
                until(lambda: len(json.loads(fledgling("list", "--json", **others).stdout)["served"]) > 1)
                of_one = fledgling("check-updates", "--root", str(tmp_path), XDG_RUNTIME_DIR=str(place))
            assert (of_one.returncode, of_one.stdout.count("changes: not known")) == (2, 1)
            assert "0 added, 0 modified, 0 deleted" in of_one.stdout
        (tmp_path / "a.py").write_text("other = 1\n")
        found = fledgling("search", "needle", "--root", str(tmp_path), XDG_RUNTIME_DIR=str(place))
        assert found.returncode == 1  # an index built for it knows
        assert server.process.poll() is None


BUSY = "takes commands and does not answer: it is starting, busy with others, or stopped. Ask again in 5 s"


def test_a_server_that_stands_still_is_passed_over(served, root, place):
    def ask(*arguments):
        return fledgling(*arguments, XDG_RUNTIME_DIR=str(place))

    served.process.send_signal(signal.SIGSTOP)
    waiting, directory = [], os.open(place, os.O_PATH)
    try:
        found = ask("search", "needle", "--root", str(root))
        unheard = ask("status", "--root", str(root))
        [name] = place.glob("fledgling-*")
        with suppress(BlockingIOError):  # until nobody else may wait
            while True:
                waiting.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK))
                waiting[-1].connect(f"/proc/self/fd/{directory}/{name.name}")  # its path is too long
        unseen = ask("search", "needle", "--root", str(root))
        refused = [unheard, ask("status", "--root", str(root)), ask("list")]
    finally:
        served.process.send_signal(signal.SIGCONT)
        for connection in waiting:
            connection.close()
        os.close(directory)
    assert (found.returncode, unseen.returncode) == (0, 0)
    assert "a server of this root does not answer" in found.stderr
    assert [(done.returncode, BUSY in done.stderr) for done in refused] == [(1, True)] * 3
    why = ["does not answer: nothing came in time\n", "does not answer: too many wait for it already\n"]
    assert [[each for each in why if each in done.stderr] for done in (found, unseen)] == [[each] for each in why]


def test_a_wait_that_a_signal_ends_is_no_connection(tmp_path):
    """As that of a command which is stopped and goes on: nothing says then that nobody listens."""
    directory = os.open(tmp_path, os.O_PATH)
    address = control_place.address(directory, "fledgling-1")
    signalled = signal.signal(signal.SIGALRM, lambda *_: None)
    with ExitStack() as stack:
        stack.callback(os.close, directory)
        stack.callback(signal.signal, signal.SIGALRM, signalled)
        listening, waiting = (stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(2))
        listening.bind(address)
        listening.listen(0)
        waiting.connect(address)  # and nobody else may wait
        stack.callback(signal.setitimer, signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        with pytest.raises(BlockingIOError, match="too many wait"):
            control_place.connection(directory, "fledgling-1", PATIENCE)


def test_there_may_be_more_sockets_than_a_process_can_hold(served, root, place):
    """Who is behind them has nothing to say; one after the other is heard, and the server among them too."""
    others = [socket.socket(socket.AF_UNIX) for _ in range(100)]
    directory = os.open(place, os.O_PATH)
    for number, other in enumerate(others):
        other.bind(f"/proc/self/fd/{directory}/fledgling-{number:016}-0")
        other.listen()

    ended = threading.Event()

    def hang_up() -> None:
        while not ended.is_set():
            for other in select.select(others, [], [], 0.1)[0]:
                other.accept()[0].close()

    thread = threading.Thread(target=hang_up)
    thread.start()
    done = subprocess.run(
        ["/bin/sh", "-c", 'ulimit -n 64; exec "$0" -I -B -m fledgling list', sys.executable],
        env={"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(place)},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    ended.set()
    thread.join()
    for name in place.glob("fledgling-0*-0"):
        name.unlink()
    for other in others:
        other.close()
    os.close(directory)
    assert (done.returncode, str(served.process.pid) in done.stdout) == (0, True), done.stderr


def test_servers_that_are_silent_are_waited_for_together(tmp_path):
    """So many at once, each connected once, and by no thread: who asks may be confined next, which a thread forbids."""
    environment, seconds = {"XDG_RUNTIME_DIR": str(tmp_path)}, control_place.GREETING_SECONDS
    tmp_path.chmod(0o700)
    open_fds = Path("/proc/self/fd")
    with ExitStack() as stack:
        directory = stack.enter_context(control_place.opened(environment))
        ended, *silent = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(3 + asking.AT_ONCE)]
        ended.bind(control_place.address(directory, "fledgling-2"))
        for number, each in enumerate(silent):
            each.bind(control_place.address(directory, f"fledgling-1{number}"))
            each.listen()
            each.setblocking(False)
        pool = stack.enter_context(ThreadPoolExecutor(1))
        before, most, begun = len([*open_fds.iterdir()]), 0, time.monotonic()
        found = pool.submit(asking.served, environment, None)
        threads = threading.active_count()
        while not found.done():
            most = max(most, len([*open_fds.iterdir()]))
            assert threading.active_count() == threads
            time.sleep(0.01)
        assert found.result() == ([], len(silent))
        assert 2 * seconds <= time.monotonic() - begun < 3 * seconds
        assert most - before == 1 + asking.AT_ONCE  # the directory, and a connection to each
        for each in silent:
            each.accept()[0].close()
            with pytest.raises(BlockingIOError):
                each.accept()


def test_every_agent_over_http_has_its_own(tmp_path, place):
    root, agents = tmp_path / "root", tmp_path / "agents"
    root.mkdir()
    (root / "a.py").write_text("needle = 1\n")
    for name, profile in (("reviewer", "fledgling-core"), ("analyst", "fledgling-analyst")):
        add(agents, name, profile)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    log = tmp_path / "log"
    options = ["--transport", "http", "--port", port, "--agents", str(agents), "--audit-log", str(log)]
    environment = {"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(place)}
    with Server(root, "--control", *options, env=environment):
        until(lambda: "state: completed" in fledgling("status", "--root", str(root), XDG_RUNTIME_DIR=str(place)).stdout)
        said = fledgling("status", "--root", str(root), "--json", XDG_RUNTIME_DIR=str(place))
        assert [(each["agent"], each["profile"]) for each in json.loads(said.stdout)["indexes"]] == [
            ("reviewer", "fledgling-core"),
            ("analyst", "fledgling-analyst"),
        ]
        query = ["query", "SELECT count(*) FROM files", "--profile", "fledgling-analyst", "--root", str(root)]
        assert fledgling(*query, XDG_RUNTIME_DIR=str(place)).returncode == 0
        assert ("analyst/control", "query", "allowed", "worker") in logged(log)
        named = fledgling("status", "--root", str(root), "--profile", "fledgling-core", XDG_RUNTIME_DIR=str(place))
        assert "agent reviewer" in named.stdout
        assert "agent analyst" not in named.stdout


# ---- who reaches it, and what is left of it --------------------------------------------------------------------------

WRONG_PLACES: dict[str, Callable[[Path], str]] = {
    "none is named": lambda _: "",
    "a relative one": lambda _: "runtime",
    "it is not there": lambda directory: str(directory / "none"),
    "it is a file": lambda directory: str(directory / "file"),
    "others may read it": lambda directory: str(directory / "shown"),
    "others may enter it": lambda directory: str(directory / "entered"),
}


@pytest.mark.parametrize("wrong", WRONG_PLACES)
def test_no_socket_is_made_where_others_could_reach_it(tmp_path, root, wrong):
    (tmp_path / "file").write_text("")
    for name, mode in (("shown", 0o740), ("entered", 0o711)):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
    done = fledgling("serve", "--control", "--root", str(root), XDG_RUNTIME_DIR=WRONG_PLACES[wrong](tmp_path))
    assert done.returncode == 2
    assert "set XDG_RUNTIME_DIR to a directory that you own and nobody else may enter (mode 0700)" in done.stderr
    assert not [name for path in tmp_path.iterdir() if path.is_dir() for name in os.listdir(path)]


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed, and only root can become one")
def test_another_user_hears_nothing(served, place):
    """Not through the directory; nor, were that opened, by the socket: it closes without a word, and is not stopped."""
    code = "import os,socket,sys; os.setgid(65534); os.setuid(65534); s=socket.socket(socket.AF_UNIX)\n"
    code += "s.connect(f'/proc/self/fd/{sys.argv[1]}/{sys.argv[2]}'); print(s.recv(9))"
    for mode, heard in ((0o700, "PermissionError"), (0o711, "b''")):
        place.chmod(mode)
        (place / files(place)[0]).chmod(0o777)
        directory = os.open(place, os.O_PATH)
        command = [sys.executable, "-I", "-c", code, str(directory), files(place)[0]]
        done = subprocess.run(command, pass_fds=[directory], capture_output=True, text=True, check=False)
        os.close(directory)
        assert heard in done.stdout + done.stderr
    place.chmod(0o700)
    with connected(place) as pipe:
        assert isinstance(pipe.receive(), Greeting)


ENDINGS = ["the client closes", "SIGKILL"]
# The kernel ends it as by SIGKILL; that who removes it is of no group of the server's, is said below.
ALIKE = [pytest.param(name, marks=pytest.mark.long) for name in ("SIGINT", "SIGTERM", "SIGHUP", "all of its group")]


@pytest.mark.parametrize("ending", [*ENDINGS, *ALIKE])
def test_nothing_is_left_of_it_after_any_end(root, tmp_path, ending):
    tmp_path.chmod(0o700)
    with serving(root, tmp_path, start_new_session=True) as server:
        until(lambda: files(tmp_path))
        left = [server.seen, *server.seen.children(recursive=True)]
        if ending == "the client closes":
            server.process.stdin.close()
        elif ending == "all of its group":
            os.killpg(server.process.pid, signal.SIGKILL)
        else:
            server.process.send_signal(getattr(signal, ending))
        until(lambda: not files(tmp_path))
        server.process.wait(PATIENCE)
        until(lambda: not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in left))


def test_what_is_left_where_all_are_killed_is_known_and_removed(root, tmp_path):
    tmp_path.chmod(0o700)
    with serving(root, tmp_path) as server:
        until(lambda: files(tmp_path))
        for process in [*server.seen.children(recursive=True), server.seen]:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        server.process.wait(PATIENCE)
        [stale] = files(tmp_path)
        kept = re.sub("-[0-9a-f]+$", "-kept", stale)
        (tmp_path / kept).write_text("no socket")
        done = fledgling("status", "--root", str(root), XDG_RUNTIME_DIR=str(tmp_path))
        assert UNANSWERED in done.stderr
        assert files(tmp_path) == [kept]


def test_the_process_that_removes_it_holds_nothing_and_may_do_nothing_else(served, place):
    [keeper] = [child for child in served.seen.children() if "serve" in child.cmdline()]
    opened = {os.readlink(f"/proc/{keeper.pid}/fd/{number}") for number in os.listdir(f"/proc/{keeper.pid}/fd")}
    assert {name.partition(":")[0] for name in opened} == {"pipe", str(place)}
    shown = Path(f"/proc/{keeper.pid}/status").read_text()
    assert {"NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000"} <= {*shown.splitlines()}
    assert os.getsid(keeper.pid) == keeper.pid


@pytest.mark.parametrize("wide", [False, pytest.param(True, marks=pytest.mark.long)], ids=["some", "all"])
def test_projects_of_one_server_are_listed_ingested_and_given_up_each_by_itself(tmp_path, wide):
    """The long row asks for what is served between these, and each command of an index in part."""
    place, api, web = tmp_path / "run", tmp_path / "api", tmp_path / "web"
    place.mkdir(mode=0o700)
    for root in (api, web):
        root.mkdir()
        (root / "a.py").write_text(f"def of_{root.name}(): pass\n")
    (web / "large.py").write_text("x = 1\n" * 50_000)

    def ask(*arguments):
        return fledgling(*arguments, XDG_RUNTIME_DIR=str(place))

    def listed():
        return [(of["project"], of["state"], of["root"]) for of in json.loads(ask("list", "--json").stdout)["served"]]

    environment = {"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(place)}
    settings = ["--max-file-size", "100000", "--max-files", "3"]
    with Server(f"api={api}", "--control", "--root", f"web={web}", *settings, env=environment) as server:
        server.begin()
        assert len(files(place)) == 2
        assert listed() == [("api", "unloaded", str(api)), ("web", "unloaded", str(web))]
        assert "state: unloaded" in ask("status", str(api)).stdout
        unready = quickly(place, api, "search", "of_api", *settings)  # the command itself waits for the index
        assert (unready.stdout, unready.stderr, unready.returncode) == ("", "left\n", 1)
        assert listed() == [("api", "unloaded", str(api)), ("web", "unloaded", str(web))]
        if wide:
            assert ask("search", "of_api", "--root", str(api), *settings).stdout.startswith("1 hit")
            assert [state for _, state, _ in listed()] == ["completed", "unloaded"]
        first = "completed" if wide else "unloaded"
        made = ask("ingest", "--name", "web")
        assert (made.returncode, made.stderr) == (0, "")
        assert "project web, profile fledgling-core\n  state: completed" in made.stdout
        (web / "new.py").write_text("def new(): pass\n")
        delta = ask("ingest-delta", str(web))
        assert (delta.returncode, "added: new.py" in delta.stdout) == (0, True)
        assert [state for _, state, _ in listed()] == [first, "completed"]
        assert ask("purge", "--name", "web").returncode == 0
        assert [state for _, state, _ in listed()] == [first, "unloaded"]
        if wide:
            assert "of_web" in ask("search", "of_web", "--root", str(web), *settings).stdout
        (web / "one_too_many.py").touch()
        in_part = at_terminal("ingest", "--name", "web", XDG_RUNTIME_DIR=str(place))
        assert in_part.returncode == 2
        assert re.search(r"indexing: [\d.]+ %[^\r]* \(\d+ s\)", in_part.stderr), in_part.stderr
        commands = ("status", "ingest-delta", "reindex") if wide else ("status",)
        assert {ask(command, "--name", "web").returncode for command in commands} == {2}
        assert ask("check-updates", "--name", "web").returncode == 0  # it tells all the same
        if wide:
            assert ask("index", "--root", str(web), *settings).returncode == 3
            assert ask("ingest", str(api), "--name", "api").returncode == 0
        assert ask("ingest", str(api), "--name", "web").returncode == 1  # that is another directory's name
        nowhere = ask("ingest", "--name", "none")
        assert (nowhere.returncode, "no server of project 'none' takes commands" in nowhere.stderr) == (1, True)
    until(lambda: not files(place))
    assert ask("list").returncode == 1


def test_the_only_project_of_a_server_is_not_given_up(served, root, place):
    done = fledgling("purge", str(root), XDG_RUNTIME_DIR=str(place))
    assert (done.returncode, "the only project of a server cannot be given up" in done.stderr) == (1, True)
    assert fledgling("status", str(root), XDG_RUNTIME_DIR=str(place)).returncode == 0


# ---- who means no good -----------------------------------------------------------------------------------------------


@contextmanager
def dialled(place: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", int(PATIENCE), 0))
        directory = os.open(place, os.O_PATH)
        connection.connect(f"/proc/self/fd/{directory}/{files(place)[0]}")
        os.close(directory)
        yield connection


@contextmanager
def connected(place: Path) -> Iterator[Pipe[ToOperator]]:
    with dialled(place) as connection:
        yield Pipe(ToOperator, connection.fileno(), connection.fileno())


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


HOSTILE: dict[str, bytes] = {
    "no frame": b"GET / HTTP/1.1\r\n\r\n",
    "a length of 4 GB": b"\xff\xff\xff\xff",
    "a length past the limit": (answering.MAX_REQUEST_BYTES + 1).to_bytes(4, "big"),
    "a request past the limit": pack(AskTool(0, Query("\N{GRINNING FACE}" * MAX_SQL_CHARS))),
    "nothing of a message": framed(b"\x00" * 9),
    "a message of the other side": pack(Greeting(__version__, 1, "/", ())),
    "a number below zero": pack(AskStatus(-1)),
    "more values than a request has": framed(b"\xde\x02\x59\xa4type\xaaask_status" + b"\xa6number\x00" * 600),
    "a command of no words": pack(AskCommand(__version__, "/", None, False, ())),
    "many values": framed(b"\xdd\x00\x00\xea\x5e" + b"\x90" * 59_998),
}


@pytest.mark.parametrize("sent", HOSTILE)
def test_what_is_no_request_ends_the_connection_and_nothing_else(served, place, sent):
    with connected(place) as pipe:
        assert isinstance(pipe.receive(), Greeting)
        pipe.write(HOSTILE[sent])
        with suppress(ConnectionResetError, FrameError):
            assert pipe.receive() is None
    with connected(place) as pipe:
        assert pipe.receive().version == __version__
        pipe.send(AskStatus(0))
        assert isinstance(pipe.receive(), Status)


def told(out: bytes, err: bytes = b"", **fields: object) -> bytes:
    return msgspec.msgpack.encode({"type": "printed", "code": 0, "is_paged": False, "out": out, "err": err, **fields})


SAID: dict[str, bytes | None] = {  # by what answers as a server of ours would; None: bytes, one after the other
    "a title and a cleared screen": told(b"\x1b]0;owned\x07\x1b[2J"),
    "the same beside what is printed": told(b"a\n", b"\x1b]0;owned\x07"),
    "a sequence that is cut by a colour": told(b"\x1b[\x1b[0m2J"),
    "a carriage return": told(b"a\rb"),
    "what turns text around": told("\u202e".encode()),
    "no text": told(b"\xff"),
    "a code that is none": told(b"a", code="abc"),
    "a flag for a code": told(b"a", code=True),
    "a number for a text": told(b"a", err=7),
    "a field too many": told(b"a", more=1),
    "bytes that are no value": told(b"a")[:14] + b"\xc1\xc1\xc1",
    "a text that is cut": told(b"abc")[:-4],
    "more behind it": told(b"a") + b"\0",
    "nothing": b"",
    "a length past MAX_REPLY_BYTES": b"",
    "a reply that does not end within SECONDS": None,
}


@pytest.mark.parametrize("said", ["what is printed", *SAID])
def test_nothing_is_printed_of_what_no_server_of_ours_says(tmp_path, root, said):
    """Neither is it waited for, nor obeyed by a terminal: the command runs itself."""
    tmp_path.chmod(0o700)
    kept = "\x1b[35ma.py\x1b[0m\n\u3000é\t\N{NO-BREAK SPACE}1\n"
    body = SAID.get(said, told(kept.encode()))
    size = quick.MAX_REPLY_BYTES + 1 if "MAX_REPLY_BYTES" in said else 1000 if body is None else len(body)

    def answer() -> None:
        with suppress(OSError):
            connection, _ = listening.accept()
            with connection:
                connection.sendall(framed(b"\x80") + size.to_bytes(4, "big") + (body or b""))
                while body is None:
                    time.sleep(0.1)
                    connection.sendall(b"\x85")
                connection.recv(1 << 16)
                connection.recv(1)

    with socket.socket(socket.AF_UNIX) as listening:
        directory = os.open(tmp_path, os.O_PATH)
        listening.bind(control_place.address(directory, f"{control_place.prefix_of(root)}fake"))
        os.close(directory)
        listening.listen()
        answering_it = threading.Thread(target=answer, daemon=True)
        answering_it.start()
        begun = time.monotonic()
        done = quickly(tmp_path, root, "search", "needle", SECONDS="0.5")
        assert time.monotonic() - begun < 50, "each byte has the time of all"
        answering_it.join(PATIENCE)
    wanted = ("", "left\n", 1) if said in SAID else (kept, "", 0)
    assert (done.stdout, done.stderr, done.returncode) == wanted


def test_a_request_that_fails_ends_its_connection_and_nothing_else(tmp_path):
    """Whatever it fails with: the socket is one for all operators."""

    async def fails(*_: object) -> Printed | None:
        raise LookupError

    async def heard(address: str) -> bytes:
        reader, writer = await asyncio.open_unix_connection(address)
        writer.write(pack(AskCommand(__version__, "/", None, has_color=False, words=("read",))))
        greeting = await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
        with suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()
        return greeting

    async def served() -> None:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(tmp_path / "s"))
            listening.listen()
            listening.setblocking(False)
            serving = asyncio.create_task(answering.serve(listening, "/", [], fails))
            async with asyncio.timeout(10):
                assert await heard(str(tmp_path / "s")) == await heard(str(tmp_path / "s"))
            assert not serving.done()
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)

    asyncio.run(served())


def test_a_command_is_printed_only_as_this_version_prints_it_of_this_root(served, root, place, log):
    before = len(logged(log))
    asked = {"version": __version__, "root": str(root), "named": None, "has_color": False, "words": ("read", "a.py")}
    rows = ({"version": "0.0"}, {"root": "/"}, {"named": "/"}, {"words": ("none",)}, {"words": ("",)})
    with connected(place) as pipe:
        assert isinstance(pipe.receive(), Greeting)
        for row in rows:
            pipe.send(AskCommand(**asked | row))
            assert pipe.receive() == answering.UNPRINTED, row
        assert len(logged(log)) == before
        pipe.send(AskCommand(**asked))
        assert isinstance(pipe.receive(), Printed)


def test_who_connects_and_is_silent_makes_room(served, place):
    """So many at once are answered; others wait until these have been silent for too long."""
    silent = [connected(place) for _ in range(answering.MAX_OPERATORS)]
    for each in silent:
        each.__enter__()
    begun = time.monotonic()
    with connected(place) as pipe:
        assert isinstance(pipe.receive(), Greeting)
    assert 1 < time.monotonic() - begun < control_place.REQUEST_SECONDS + PATIENCE
    for each in silent:
        each.__exit__(None, None, None)


def test_who_sends_more_while_it_takes_no_replies_holds_up_nobody(served, place):
    with connected(place) as deaf:
        flood = pack(AskStatus(0)) * 2_000
        writing = threading.Thread(target=lambda: _written(deaf, flood), daemon=True)
        writing.start()
        with connected(place) as pipe:
            assert isinstance(pipe.receive(), Greeting)
            pipe.send(AskStatus(0))
            assert isinstance(pipe.receive(), Status)
    assert served.process.poll() is None


def test_who_takes_no_replies_is_hung_up(served, root, place):
    """It asks for more as it is replied to, until there is no room for another reply, and keeps its end open."""
    # Characters of four bytes: what a reply has no room for is more than the 64 KB that the server sends behind it.
    (root / "long.txt").write_text(("\N{GRINNING FACE}" * 99 + "\n") * 1000)
    with dialled(place) as deaf:
        ended, held, end = select.poll(), 0, time.monotonic() + PATIENCE
        ended.register(deaf, 0)
        while not ended.poll(1):
            assert time.monotonic() < end, "it is waited for without end"
            if (waiting := _waiting(deaf)) > held:  # not sooner: who sends before it has its reply is taken to be gone
                held = waiting
                with suppress(BrokenPipeError):
                    deaf.sendall(pack(AskTool(0, Read("long.txt"))))
        assert _waiting(deaf) > 100_000, "it was hung up for something else"


def _waiting(connection: socket.socket) -> int:
    """How many bytes were sent to who has not taken them."""
    waiting = array("i", [0])
    fcntl.ioctl(connection, termios.FIONREAD, waiting)
    return waiting[0]


def _written(pipe: Pipe[ToOperator], data: bytes) -> None:
    with suppress(OSError):
        pipe.write(data)


def test_every_request_is_of_a_kind_that_is_known() -> None:
    assert {kind.__name__ for kind in FromOperator.__args__} == {
        "AskStatus",
        "Reindex",
        "Purge",
        "AskTool",
        "AskCommand",
    }
    assert Reindex(0).__struct_config__.forbid_unknown_fields
