"""Root's rights, one by one: a confined process has none of them. See capabilities(7)."""

import ctypes
import struct
from contextlib import suppress

from fledgling.security.system import call, prctl

_PR_CAPBSET_DROP, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 24, 47, 4
_VERSION = 0x20080522  # _LINUX_CAPABILITY_VERSION_3
_MOST = 64  # bits in a set


def bound() -> None:
    """Empty the bounding set, where this process is root: no program can get a capability back. Before user.become."""
    with suppress(OSError):  # not root, or past the kernel's last one
        for capability in range(_MOST):
            prctl(_PR_CAPBSET_DROP, capability)


def drop() -> None:
    """Empty the sets that count: effective, permitted, inheritable, ambient. Raises OSError."""
    prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header = ctypes.create_string_buffer(struct.pack("=Ii", _VERSION, 0), 8)
    call("capset", header, ctypes.create_string_buffer(bytes(24), 24))
