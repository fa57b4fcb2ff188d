"""System calls that neither Python nor every C library has a function for."""

import ctypes
import errno
import os

HARDWARE = os.uname().machine  # asked here: who is confined may not
_LIBC = ctypes.CDLL(None, use_errno=True)
_NUMBERS = {
    "seccomp": {"x86_64": 317, "aarch64": 277},
    "capset": {"x86_64": 126, "aarch64": 91},
    "landlock_create_ruleset": {"x86_64": 444, "aarch64": 444},
    "landlock_add_rule": {"x86_64": 445, "aarch64": 445},
    "landlock_restrict_self": {"x86_64": 446, "aarch64": 446},
}

Argument = int | ctypes.Array[ctypes.c_char] | None


def call(name: str, *arguments: Argument) -> int:
    """Make a system call: `call("landlock_create_ruleset", None, 0, 1)` is the ABI of Landlock. Raises OSError."""
    number = _NUMBERS[name].get(HARDWARE)
    if number is None:
        raise OSError(errno.ENOSYS, f"{name} has no known number on {HARDWARE}")
    return _checked(name, _LIBC.syscall(ctypes.c_long(number), *map(_passed, arguments)))


def prctl(option: int, *arguments: int) -> int:
    """Change how the kernel treats this process (man 2 prctl); arguments left out are 0. Raises OSError."""
    given = (*arguments, 0, 0, 0, 0)[:4]
    return _checked("prctl", _LIBC.prctl(option, *map(ctypes.c_ulong, given)))


def _passed(argument: Argument) -> object:
    return ctypes.c_long(argument) if isinstance(argument, int) else argument


def _checked(name: str, result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result
