"""Which system calls a process may make: a seccomp filter from the table system_calls.txt.

The query worker's and the bundler's have no call that names a path, an extractor's none that starts anything; the
indexer's opens for reading only, a keeper removes, and a connector connects. See seccomp(2); the program is classic
BPF, as linux/filter.h has it.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from fledgling.security.system import HARDWARE, call

# The table's columns.
ROLES = (
    "query worker",
    "extractor",
    "extractor's parent",
    "indexer",
    "broker",
    "keeper",
    "connector",
    "embedder",
    "bundler",
)

_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000  # SECCOMP_RET_*; the last one kills the process
_REFUSE, _UNKNOWN = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS
_VERDICTS = {"+": _ALLOW, ".": _REFUSE, "?": _UNKNOWN, "!": _KILL}

_LOAD, _AND, _EQUALS, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06  # BPF_LD|ABS, ALU|AND, JMP|JEQ, JMP|JGE, RET
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_X32 = 0x40000000  # numbers of x86-64's other calling convention begin here

_SET_MODE_FILTER = 1  # seccomp(2)


class Machine(NamedTuple):
    """A processor: its AUDIT_ARCH, its column in the table, and where its numbers end, if others come behind them."""

    audit: int
    column: int
    end: int | None


class Argument(NamedTuple):
    """What one of a call's arguments must be: masked, one of the values; or, `never`, none of them.

    The lower 32 bits are seen, or the upper ones. The kernel itself looks at no more of an int, and of flags.
    """

    number: int  # from 0
    mask: int
    values: tuple[int, ...]
    never: bool = False
    upper: bool = False


_ALL = 0xFFFFFFFF


def _only(number: int, *values: int) -> Argument:
    """The argument is one of the values."""
    return Argument(number, _ALL, values)


def _at_most(number: int, bits: int) -> Argument:
    """The argument has none but these bits."""
    return Argument(number, _ALL & ~bits, (0,))


MACHINES = {"x86_64": Machine(0xC000003E, 1, _X32), "aarch64": Machine(0xC00000B7, 2, None)}

# clone(2), sched.h. What a C library passes, and nothing else: no namespace, no other parent, no signal but SIGCHLD.
_TELLING = 0x01000000 | 0x00200000 | 0x00100000  # CLONE_CHILD_SETTID, CLONE_CHILD_CLEARTID, CLONE_PARENT_SETTID
_DETACHED = 0x00400000  # musl passes it, and the kernel ignores it
_THREAD = Argument(0, _ALL & ~_DETACHED, (0x003D0F00,))
_FORK = Argument(0, _ALL & ~_TELLING, (17,))  # SIGCHLD
_VFORK = Argument(0, _ALL & ~_TELLING, (0x4000 | 0x100 | 17,))  # CLONE_VFORK, CLONE_VM

# open(2). 0o100000 and 0o400000 are O_LARGEFILE on one machine and O_NOFOLLOW on the other.
_OPENING = os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | os.O_DIRECTORY | 0o100000 | 0o400000
_TMPFILE = 0o20000000  # the bit of O_TMPFILE without O_DIRECTORY
_WRITING = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC | os.O_ASYNC | _TMPFILE

# mmap(2): a file is mapped for this process alone, so that nothing written there reaches it.
_EXEC = 0x4
_PRIVATE, _SHARED, _TYPE, _ANONYMOUS = 0x2, 0x1, 0xF, 0x20
_NOT_EXECUTABLE = Argument(2, _EXEC, (0,))

# madvise(2): NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE, DONTDUMP, DODUMP and guards of
# stacks. Not REMOVE, which punches holes into files, nor MERGEABLE, whose timing tells of the pages of others.
_ADVICE = (0, 1, 2, 3, 4, 8, 14, 15, 16, 17, 102, 103)

# futex(2), FUTEX_WAIT, WAKE, REQUEUE, CMP_REQUEUE, WAKE_OP, WAIT_BITSET, WAKE_BITSET: not those that lend priority and
# name a thread of any process.
_WAITS, _FUTEX_FLAGS = (0, 1, 3, 4, 5, 9, 10), 128 | 256  # FUTEX_PRIVATE_FLAG, FUTEX_CLOCK_REALTIME

# fcntl(2). What is not here can have the kernel signal another process (F_SETOWN, F_SETSIG, F_SETLEASE, F_NOTIFY), or
# take memory that no limit counts (F_SETPIPE_SZ).
_DUPFD, _GETFD, _SETFD, _GETFL, _SETFL = 0, 1, 2, 3, 4
_DUPFD_CLOEXEC, _ADD_SEALS, _GET_SEALS = 1030, 1033, 1034
_FD_COMMANDS = (_DUPFD_CLOEXEC, _GETFD, _SETFD, _GETFL, _ADD_SEALS, _GET_SEALS)

# ioctl(2): TCGETS, TIOCGWINSZ and TCGETS2, by which isatty() and the width of a terminal are asked; FIONREAD, FIONBIO,
# FIONCLEX, FIOCLEX. Not TIOCSTI, which types for whoever has the terminal, nor FIOASYNC and FIOSETOWN: see fcntl.
_ASKED_OF_DEVICES = (0x5401, 0x5413, 0x802C542A, 0x541B, 0x5421, 0x5450, 0x5451)

# prctl(2): SET_PDEATHSIG, GET_DUMPABLE, SET_NAME and GET_NAME (of a thread), GET_SECCOMP, CAPBSET_READ, CAPBSET_DROP,
# SET_NO_NEW_PRIVS, GET_NO_NEW_PRIVS, GET_THP_DISABLE, CAP_AMBIENT, SET_VMA (the name of a mapping)
_PDEATHSIG, _SIGKILL = 1, 9
_PROCESS = (_PDEATHSIG, 3, 15, 16, 21, 23, 24, 38, 39, 42, 47, 0x53564D41)

_UNIX, _STREAM = 1, 1  # socketpair(2)
_INTERNET, _TCP = (2, 10), (0, 6)  # socket(2): AF_INET and AF_INET6; the protocol of a stream, said or not
_ALLOCATE = 0  # fallocate(2): room for a file, and nothing of it taken away

# By the word in the table: a call is allowed where every argument of one alternative is as it must be.
CHECKS: Mapping[str, tuple[tuple[Argument, ...], ...]] = {
    "thread": ((_THREAD,),),
    "fork": ((_FORK,),),
    "room": ((_only(1, _ALLOCATE),),),
    "child": ((_THREAD,), (_FORK,), (_VFORK,)),
    "data": ((_NOT_EXECUTABLE,),),
    "mapping": (
        (_NOT_EXECUTABLE, Argument(3, _TYPE, (_PRIVATE,))),
        (_NOT_EXECUTABLE, Argument(3, _TYPE | _ANONYMOUS, (_SHARED | _ANONYMOUS,))),
    ),
    "advice": ((_only(2, *_ADVICE),),),
    "waiting": ((Argument(1, _ALL & ~_FUTEX_FLAGS, _WAITS),),),
    "reading": ((_at_most(2, _OPENING),),),
    "looking": ((Argument(2, _WRITING, (os.O_RDONLY,)),),),  # or at a path alone, with O_PATH
    "opening": ((Argument(1, _WRITING, (os.O_RDONLY,)),),),  # the same, by open(2)
    "sealing": ((_only(1, *_FD_COMMANDS),),),
    "descriptor": (
        (_only(1, _DUPFD, *_FD_COMMANDS),),
        (_only(1, _SETFL), Argument(2, os.O_ASYNC, (0,))),
    ),
    "terminal": ((_only(1, *_ASKED_OF_DEVICES),),),
    "tie": ((_only(0, _PDEATHSIG), _only(1, _SIGKILL)),),
    "process": ((_only(0, *_PROCESS),),),
    "filter": ((_only(0, _SET_MODE_FILTER), _only(1, 0)),),  # and nobody listens to its filter
    # Not a datagram socket: one of a pair can still send to any address.
    "stream": ((_only(0, _UNIX), Argument(1, 0xF, (_STREAM,))),),
    "tcp": ((_only(0, *_INTERNET), Argument(1, 0xF, (_STREAM,)), _only(2, *_TCP)),),
    "connected": ((_only(4, 0), Argument(4, _ALL, (0,), upper=True)),),  # to no address: the peer
    # A process, or a group other than its own: a back process ends with all that it has forked. Not everybody (-1).
    "others": ((Argument(0, _ALL, (0, _ALL), never=True),),),
    "own": ((_only(0, 0),),),  # the limits of this process
    "removing": ((_only(2, 0),),),  # a file, no directory
}


_TABLE = [  # read when this is imported: later no file can be opened
    line.split()
    for line in (Path(__file__).parent / "system_calls.txt").read_text("utf-8").splitlines()
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
    """Return the filter of a role: what runs at each system call, some hundred instructions to the last rule."""
    return b"".join(_instructions(role, machine))


def _instructions(role: str, machine: Machine) -> Iterator[bytes]:
    yield _step(_LOAD, _ARCHITECTURE)
    yield _step(_EQUALS, machine.audit, 1, 0)
    yield _step(_RETURN, _KILL)
    yield _step(_LOAD, _NUMBER)
    if machine.end is not None:
        yield _step(_AT_LEAST, machine.end, 0, 1)
        yield _step(_RETURN, _KILL)
    unlisted = _UNKNOWN if role == "broker" else _REFUSE  # a library that the broker loads falls back to another call
    for rule in rules(role, machine):
        verdict = _VERDICTS.get(rule.verdict)
        if verdict is None:
            checked = [step for alternative in CHECKS[rule.verdict] for step in _checked(alternative)]
            yield _step(_EQUALS, rule.number, 0, len(checked) + 1)
            yield from checked
            yield _step(_RETURN, _REFUSE)
        elif verdict != unlisted:
            yield _step(_EQUALS, rule.number, 0, 1)
            yield _step(_RETURN, verdict)
    yield _step(_RETURN, unlisted)


def _checked(arguments: tuple[Argument, ...]) -> list[bytes]:
    """Return what allows a call where every argument is as it must be, and else goes on behind it."""
    steps = [_step(_RETURN, _ALLOW)]
    for argument in reversed(arguments):
        steps = [
            _step(_LOAD, _ARGUMENTS + 8 * argument.number + 4 * argument.upper),  # both machines are little-endian
            _step(_AND, argument.mask),
            *_compared(argument, len(steps)),
            *steps,
        ]
    return steps


def _compared(argument: Argument, further: int) -> Iterator[bytes]:
    """Yield what goes on where an argument is as it must be, and else skips so many further steps."""
    passed, failed = (further, 0) if argument.never else (0, further)
    last = len(argument.values) - 1
    for at, value in enumerate(argument.values):
        yield _step(_EQUALS, value, last - at + passed, failed if at == last else 0)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def confine(role: str) -> None:
    """Hold this thread, and every one it starts from now on, to the role's calls, for good.

    >>> confine("query worker")

    Needs no_new_privs. Raises OSError where the kernel or the machine has no such filter.
    """
    machine = MACHINES.get(HARDWARE)
    if machine is None:
        raise OSError(errno.ENOSYS, f"no table of system calls for {HARDWARE}")
    code = program(role, machine)
    steps = ctypes.create_string_buffer(code, len(code))
    filtered = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(steps))  # struct sock_fprog
    call("seccomp", _SET_MODE_FILTER, 0, ctypes.create_string_buffer(filtered, len(filtered)))
