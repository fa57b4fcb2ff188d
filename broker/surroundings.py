"""What this process needs before it opens anything: three descriptors, room for more, and /proc. A lack is one line."""

import errno
import os
import resource
import sys
from collections.abc import Mapping
from pathlib import Path

from fledgling.config import ConfigError

LEAST_FILES = 64  # descriptors: some 45 at once while it is confined, and six for each process that it starts
MOST_FILES = 65_536  # descriptors that are taken where they may be had: some 20 for each project of each agent
LEAST_FILE_BYTES = 2**30  # of one file: a memory file is as long as what an index holds
LEAST_ADDRESS_SPACE = 640 * 2**20  # bytes; libraries and stacks of threads, most of it never touched

# What a failure of the system means to whoever starts a program, as far as that is known.
_FIXES: Mapping[int, str] = {
    errno.EMFILE: "allow more open files (ulimit -n)",
    errno.ENFILE: "the machine has too many open files",
    errno.EAGAIN: "allow more processes (ulimit -u)",
    errno.ENOMEM: "allow more memory (ulimit -v)",
    errno.ENOSPC: "there is no room where the output goes",
}


def hold_standard_descriptors() -> None:
    """Open what is closed of the descriptors 0 to 2 on /dev/null, or the next file would be taken for one of them.

    Python has no stream for one that was closed: it gets one, so that everybody may ask whether it is a terminal.
    """
    for descriptor, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest that is free
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8", closefd=False))


def check() -> None:
    """Raise ConfigError where no server can be started; have as many descriptors be allowed as one can use.

    So are files as long as may be had: memory files are some.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < LEAST_FILES:
        raise ConfigError("ulimit -n", f"{hard} open files are too few", f"allow {LEAST_FILES} or more")
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    _, longest = resource.getrlimit(resource.RLIMIT_FSIZE)
    if longest != resource.RLIM_INFINITY and longest < LEAST_FILE_BYTES:
        problem = f"{longest // 1024} KiB in a file are too few"
        raise ConfigError("ulimit -f", problem, f"allow {LEAST_FILE_BYTES // 1024} or more")
    resource.setrlimit(resource.RLIMIT_FSIZE, (longest, longest))
    space, _ = resource.getrlimit(resource.RLIMIT_AS)
    if space != resource.RLIM_INFINITY and space < LEAST_ADDRESS_SPACE:
        problem = f"{space // 1024} KiB of address space are too few"
        raise ConfigError("ulimit -v", problem, f"allow {LEAST_ADDRESS_SPACE // 1024} or more")
    if sys.platform == "linux" and not Path("/proc/self/task").is_dir():
        raise ConfigError("/proc", "it is not mounted, and what confines a process is seen there", "mount it")


def failure(problem: BaseException) -> str:
    """Return a failure of the system as a line: `Too many open files (indexing.py:80); allow more (ulimit -n)`."""
    trace = problem.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    place = f" ({Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})" if trace else ""
    number = problem.errno if isinstance(problem, OSError) else errno.ENOMEM
    what = (problem.strerror if isinstance(problem, OSError) else None) or str(problem) or "there is not enough memory"
    return f"{what}{place}; {_FIXES.get(number or 0, 'nothing is served')}"
