"""Which files a process may open: a Landlock domain with rights to some directories, and to nothing else.

No process may write, create, rename or remove anything, connect or bind a TCP socket, or signal what it did not start;
but for a keeper, which removes, and a connector, which connects to one port.
A domain binds the calling thread and those it starts afterwards, and can only be narrowed. See landlock(7).
"""

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

from fledgling.security.system import call

EXECUTE, READ_FILE, READ_DIR, REMOVE_FILE = 1 << 0, 1 << 2, 1 << 3, 1 << 5  # linux/landlock.h, LANDLOCK_ACCESS_FS_*
_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}  # all on files, by the ABI they came with
_TCP, _SCOPES = 0b11, 0b11  # bind and connect; abstract Unix sockets and signals
_TCP_ABI, _SCOPES_ABI = 4, 6
_CONNECT = 0b10
_GET_VERSION, _PATH_BENEATH, _NET_PORT = 1, 1, 2


def abi() -> int:
    """Return the kernel's version of Landlock, from 1. Raises OSError where it has none, or it is turned off."""
    return call("landlock_create_ruleset", None, 0, _GET_VERSION)


def confine(
    readable: Iterable[int] = (),
    executable: Iterable[int] = (),
    removable: Iterable[int] = (),
    *,
    connectable: Iterable[int] = (),
    latest: int | None = None,
) -> None:
    """Leave this thread the right to read below the open directories and files, and to start the executable ones.

    Below the removable ones files may be removed, and nothing read. `connectable` are ports of TCP, at any address.

    `latest` is for tests: do no more than a kernel with that version can.

    >>> confine([root_fd])
    >>> open("/etc/passwd")
    PermissionError: [Errno 13] Permission denied: '/etc/passwd'

    Needs no_new_privs. Raises OSError where the kernel has no Landlock.
    """
    version = abi() if latest is None else min(abi(), latest)
    handled = sum(rights for since, rights in _RIGHTS.items() if since <= version)
    attributes = struct.pack("=Q", handled)
    if version >= _TCP_ABI:
        attributes += struct.pack("=Q", _TCP)
    if version >= _SCOPES_ABI:
        attributes += struct.pack("=Q", _SCOPES)
    ruleset = call("landlock_create_ruleset", _buffer(attributes), len(attributes), 0)
    try:
        for fd in readable:
            _allow(ruleset, fd, READ_FILE | READ_DIR)
        for fd in executable:
            _allow(ruleset, fd, READ_FILE | EXECUTE)
        for fd in removable:
            _allow(ruleset, fd, REMOVE_FILE)
        for port in connectable if version >= _TCP_ABI else ():
            call("landlock_add_rule", ruleset, _NET_PORT, _buffer(struct.pack("=QQ", _CONNECT, port)), 0)
        call("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, fd: int, rights: int) -> None:
    if not stat.S_ISDIR(os.fstat(fd).st_mode):
        rights &= ~READ_DIR
    call("landlock_add_rule", ruleset, _PATH_BENEATH, _buffer(struct.pack("=Qi", rights, fd)), 0)


def _buffer(data: bytes) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(data, len(data))
