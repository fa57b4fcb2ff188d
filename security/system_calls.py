"""Which system calls a process may make: a seccomp filter from the table system_calls.txt.

The query worker's has no call that names a path, an extractor's none that starts anything; the indexer's opens for
reading only. See seccomp(2); the program is classic BPF, as linux/filter.h has it.
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from fledgling.security.system import call

ROLES = ("query worker", "extractor", "extractor's parent", "indexer", "broker")  # the table's columns

_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000  # SECCOMP_RET_*; the last one kills the process
_REFUSE, _UNKNOWN = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS
_VERDICTS = {"+": _ALLOW, ".": _REFUSE, "?": _UNKNOWN, "!": _KILL}

_LOAD, _AND, _EQUALS, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06  # BPF_LD|ABS, ALU|AND, JMP|JEQ, JMP|JGE, RET
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_X32 = 0x40000000  # numbers of x86-64's other calling convention begin here

_SET_MODE_FILTER = 1  # seccomp(2)
_CLONE_VM, _CLONE_THREAD, _CLONE_NEW = 0x100, 0x10000, 0x7E020080  # sched.h; the last: any new namespace
_TMPFILE, _PATH = 0o20000000, 0o10000000  # fcntl.h; Landlock does not ask about the second, a handle without content


class Machine(NamedTuple):
    """A processor: its AUDIT_ARCH, its column in the table, and where its numbers end, if others come behind them."""

    audit: int
    column: int
    end: int | None


class Check(NamedTuple):
    """Allowed where the argument, masked, equals the value. Only the lower half is seen: all of these are ints."""

    argument: int
    mask: int
    value: int


MACHINES = {"x86_64": Machine(0xC000003E, 1, _X32), "aarch64": Machine(0xC00000B7, 2, None)}
CHECKS: Mapping[str, Check] = {
    "thread": Check(0, _CLONE_VM | _CLONE_THREAD, _CLONE_VM | _CLONE_THREAD),
    "fork": Check(0, _CLONE_NEW, 0),
    "data": Check(2, 0x4, 0),  # PROT_EXEC
    "reading": Check(2, os.O_ACCMODE | os.O_CREAT | os.O_TRUNC | _TMPFILE | _PATH, os.O_RDONLY),
    "tie": Check(0, 0xFFFFFFFF, 1),  # PR_SET_PDEATHSIG
}


_TABLE = [  # read when this is imported: later no file can be opened
    line.split()
    for line in (Path(__file__).parent / "system_calls.txt").read_text("ascii").splitlines()
    if line and not line.startswith("#")
]


class Rule(NamedTuple):
    """One line of the table for one machine and role."""

    name: str
    number: int
    verdict: str


def rules(role: str, machine: Machine) -> list[Rule]:
    """Return what the table says, in its order: `rules("indexer", MACHINES["x86_64"])[0]` is ("read", 0, "+")."""
    verdict = 3 + ROLES.index(role)
    return [Rule(row[0], int(row[machine.column]), row[verdict]) for row in _TABLE if row[machine.column] != "-"]


def program(role: str, machine: Machine) -> bytes:
    """Return the filter of a role: what runs at each system call, some 80 instructions to the last rule."""
    return b"".join(_instructions(role, machine))


def _instructions(role: str, machine: Machine) -> Iterator[bytes]:
    yield _step(_LOAD, _ARCHITECTURE)
    yield _step(_EQUALS, machine.audit, 1, 0)
    yield _step(_RETURN, _KILL)
    yield _step(_LOAD, _NUMBER)
    if machine.end is not None:
        yield _step(_AT_LEAST, machine.end, 0, 1)
        yield _step(_RETURN, _KILL)
    unlisted = _ALLOW if role == "broker" else _REFUSE
    for rule in rules(role, machine):
        verdict = _VERDICTS.get(rule.verdict)
        if verdict is None:
            check = CHECKS[rule.verdict]
            yield _step(_EQUALS, rule.number, 0, 5)
            yield _step(_LOAD, _ARGUMENTS + 8 * check.argument)
            yield _step(_AND, check.mask)
            yield _step(_EQUALS, check.value, 0, 1)
            yield _step(_RETURN, _ALLOW)
            yield _step(_RETURN, _REFUSE)
        elif verdict != unlisted:
            yield _step(_EQUALS, rule.number, 0, 1)
            yield _step(_RETURN, verdict)
    yield _step(_RETURN, unlisted)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def confine(role: str) -> None:
    """Hold this thread, and every one it starts from now on, to the role's calls, for good.

    >>> confine("query worker")

    Needs no_new_privs. Raises OSError where the kernel or the machine has no such filter.
    """
    machine = MACHINES.get(platform.machine())
    if machine is None:
        raise OSError(errno.ENOSYS, f"no table of system calls for {platform.machine()}")
    code = program(role, machine)
    steps = ctypes.create_string_buffer(code, len(code))
    filtered = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(steps))  # struct sock_fprog
    call("seccomp", _SET_MODE_FILTER, 0, ctypes.create_string_buffer(filtered, len(filtered)))
