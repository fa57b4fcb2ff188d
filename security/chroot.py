"""The project's root as the root directory of a process: no path leads out of it. See chroot(2).

Only root can have that, with CAP_SYS_CHROOT; a process that has no capability any more cannot leave it again. The usual
ways out need that capability, or an open directory that lies outside.
"""

import os
import sys
from importlib.machinery import BuiltinImporter, FrozenImporter


def confine(root: int) -> None:
    """Make an open directory the root directory and the current one. Before user.become and capabilities.drop.

    >>> confine(root_fd)
    >>> os.stat("/etc/passwd")
    FileNotFoundError: [Errno 2] No such file or directory: '/etc/passwd'

    From then on a path of the system would name a file of the project, which must not be run: nothing is imported by
    path any more. All that the process needs is loaded before. Raises OSError.
    """
    os.fchdir(root)
    try:
        os.chroot(".")
    except OSError:
        os.chdir("/")
        raise
    sys.meta_path[:] = [BuiltinImporter, FrozenImporter]
