"""Writing where somebody else reads, as standard error is: one who does not read holds up nobody.

Without O_NONBLOCK, which would hold for whoever shares the terminal.
"""

import errno
import os
import select

STILL_SECONDS = 0.1  # that a reader may leave its pipe full, which holds 64 KiB, until it is one who does not read


def write(descriptor: int, data: bytes) -> int:
    """Write some of it and return how much, as os.write does. Raises OSError, also where nobody reads."""
    ready = select.poll()
    ready.register(descriptor, select.POLLOUT)
    if not ready.poll(1000 * STILL_SECONDS):
        raise TimeoutError(errno.ETIMEDOUT, "nobody reads it")
    return os.write(descriptor, data[: select.PIPE_BUF])  # for which a pipe that is ready has room
