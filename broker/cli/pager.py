"""A pager for what is longer than a screen: `PAGER`, or less, on a terminal alone.

It is started before this process is confined, which may start no program afterwards, or once what a server has rendered
is here and checked (quick.py). It reads a pipe: what is written there was made visible, so a pager obeys no more of it
than a terminal does.
"""

import contextlib
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

LESS = "FRX"  # ends where one screen is enough, shows colour, and leaves what it has shown


def _started() -> "subprocess.Popen[bytes] | None":
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout)):
        return None
    try:
        name, *options = shlex.split(os.environ.get("PAGER", "less")) or [""]
    except ValueError:  # a quote that does not end
        return None
    import shutil  # noqa: PLC0415  (programs that read what is printed need no pager)
    import subprocess  # noqa: PLC0415

    program = shutil.which(name) if name != "cat" else None
    if not program:
        return None
    environment = {name: value for name, value in os.environ.items() if name not in ("LESSOPEN", "LESSCLOSE")}
    environment = {"LESS": LESS, **environment, "LESSSECURE": "1"}
    return subprocess.Popen([program, *options], stdin=subprocess.PIPE, env=environment)


@contextlib.contextmanager
def paged(*, wanted: bool) -> Iterator[None]:
    """Let standard output go through a pager while the block runs, and wait until whoever reads has seen enough."""
    process = _started() if wanted else None
    if process is None:
        yield
        return
    assert process.stdin
    sys.stdout.flush()
    terminal = os.dup(1)
    os.dup2(process.stdin.fileno(), 1)
    process.stdin.close()
    try:
        yield
    finally:
        with contextlib.suppress(BrokenPipeError):  # who has seen enough has left
            sys.stdout.flush()
        os.dup2(terminal, 1)
        os.close(terminal)
        interrupting = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pager's
        process.wait()
        signal.signal(signal.SIGINT, interrupting)
