"""A back process ends when the one that started it does, however that ends."""

import os
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
