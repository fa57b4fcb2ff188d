"""Commands of Fledgling, each in a process of its own that is forked from one that has loaded the command line.

Loading it is most of what a command costs. That a command has loaded all it needs before it is confined cannot be seen
so: the long rows of test_cli.py start each by itself.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from select import select

PATIENCE = 180.0  # seconds for a command that has no bound of its own
MAX_REQUEST = 2**17  # bytes of a command and its environment
CLEAN = {"PATH": os.environ.get("PATH", ""), "HOME": "/nowhere"}


class Forking:
    """The process that commands are forked from, until it is closed.

    >>> Forking().run(["explore", "--root", "/srv/web"], {"PATH": "/usr/bin"}, timeout=60)
    CompletedProcess(...)
    """

    def __init__(self) -> None:
        self._asking, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-I", "-B", str(Path(__file__)), str(theirs.fileno())]
        with theirs:
            self.process = subprocess.Popen(
                command, cwd="/", env={}, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()]
            )

    def run(
        self, words: Sequence[str], environment: Mapping[str, str], timeout: float
    ) -> "subprocess.CompletedProcess[str]":
        """What a command says, and how it ends."""
        ended, end = os.pipe()
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err, open(ended) as told:
            request = json.dumps([[*words], {**environment}]).encode()
            socket.send_fds(self._asking, [request], [out.fileno(), err.fileno(), end])
            os.close(end)
            pid = int(told.readline())
            if not select([told], [], [], timeout)[0]:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired([*words], timeout)
            code = int(told.readline())
            for said in (out, err):
                said.seek(0)
            return subprocess.CompletedProcess([*words], code, out.read(), err.read())

    def close(self) -> None:
        """Let it end, and wait for that."""
        self._asking.close()
        self.process.wait()


_running: list[Forking] = []


def fledgling(*arguments: str, timeout: float = PATIENCE, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run one command away from any project, with no settings of the user who runs the tests."""
    if not _running:
        _running.append(Forking())
    return _running[0].run(arguments, {**CLEAN, **environment}, timeout)


def started(*arguments: str, timeout: float = PATIENCE, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run one command as `fledgling` does, by a Python of its own: a child of this very process."""
    command = [sys.executable, "-I", "-B", "-m", "fledgling", *arguments]
    clean = {**CLEAN, **environment}
    return subprocess.run(command, cwd="/", env=clean, capture_output=True, text=True, timeout=timeout, check=False)


def end() -> None:
    """Let go of the process that commands were forked from, if there is one."""
    while _running:
        _running.pop().close()


def become_each(asked: socket.socket) -> None:
    """Return in a new process for each command, as that; otherwise once nobody is there who asks."""
    while True:
        request, fds, *_ = socket.recv_fds(asked, MAX_REQUEST, 3)
        if not request:
            sys.exit()
        if not os.fork():
            break
        for fd in fds:
            os.close(fd)
        with suppress(ChildProcessError):  # all that were there are waited for
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    asked.close()
    out, err, end = fds
    if command := os.fork():  # the process between waits for it, and says how it ended
        os.write(end, f"{command}\n".encode())
        os.write(end, f"{os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])}\n".encode())
        os._exit(0)
    os.close(end)
    for to, fd in enumerate((out, err), 1):
        os.dup2(fd, to)
        os.close(fd)
    sys.argv[1:], environment = json.loads(request)
    os.environ.clear()
    os.environ.update(environment)


if __name__ == "__main__":
    import gc

    gc.disable()
    from fledgling.__main__ import main
    from fledgling.standing_in import standing_in

    with standing_in("typing_extensions", None):
        from fledgling.broker.cli.main import cli
    for name in cli.list_commands(None):
        cli.get_command(None, name)
    become_each(socket.socket(fileno=int(sys.argv[1])))
    main()
