"""Starting a back process: all that decides how is here. Little is imported, since a command waits for it."""

import subprocess
import sys
from collections.abc import Sequence


def spawn(module: str, fds: Sequence[int]) -> "subprocess.Popen[bytes]":
    """Start a process in `/` with an empty environment and no descriptors but its three pipes and `fds`."""
    return subprocess.Popen(
        [sys.executable, "-I", "-B", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,  # what a process that has ended did not take is not tried again
        cwd="/",
        env={},
        pass_fds=fds,
        start_new_session=True,  # a Ctrl-C at the terminal is for the broker, which then ends the whole group
    )


def run_once(module: str) -> bytes:
    """Run a module that is told nothing, sees no project, and says one thing; return that."""
    done = subprocess.run([sys.executable, "-I", "-B", "-m", module], cwd="/", env={}, capture_output=True, check=True)
    return done.stdout
