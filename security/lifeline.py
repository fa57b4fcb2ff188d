"""A back process ends when the one that started it does, however that ends."""

import fcntl
import os
import select
import signal
import sys

from fledgling.security.system import prctl

_PR_SET_PDEATHSIG = 1  # prctl(2)


def tie(parent: int) -> None:
    """Ask the kernel to kill this process when its parent dies; exit at once if the parent is already gone.

    >>> tie(message.broker_pid)

    Must come after any change of user: setuid clears the setting (prctl(2)). Where the kernel has no such call (not
    Linux), the end of the pipe from the parent does the same a little later.
    """
    if sys.platform == "linux":
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def tie_to_pipe(reader: int) -> None:
    """Ask the kernel to kill this process, stopped or not, once nobody holds the other end of a pipe; nobody writes.

    It is asked by this process for itself, so that it needs no right of whoever ends: under Landlock the broker may
    signal nobody who was there before it was confined, and so not by dying either. See F_SETSIG in fcntl(2).
    """
    if sys.platform == "linux":
        fcntl.fcntl(reader, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(reader, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(reader, fcntl.F_SETFL, os.O_RDONLY | os.O_ASYNC)
    gone = select.poll()
    gone.register(reader, 0)
    if gone.poll(0):
        os._exit(0)
