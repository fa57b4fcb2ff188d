"""System calls tried from inside a confined process: `python -I -B -m fledgling.security.audit.probes "query worker"`.

Each is made in a process of its own, which has confined itself by the very call that the role's program uses. One line
of JSON for each says what the kernel did. Two roles are not confined, and prove that the calls are real: `nobody` is
that user, and `anybody` whoever runs the program. `bundler` makes the probes of the indexer.

What a signal goes to is a process of the same account; files and sockets are of that account, too. A second argument,
a list of `Confining` in JSON, takes layers away: the probes that name a threat are then made with each of them.
"""

import ctypes
import errno
import mmap
import os
import platform
import select
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from fledgling.messages.control import CONFINED, Confining
from fledgling.security import interpreter, limits, user
from fledgling.security.audit import corpus
from fledgling.security.audit.reachable import SECONDS, Reachable, forked
from fledgling.security.confinement import confine

MADE = Path("/tmp/fledgling-probe")  # noqa: S108  (what an unconfined probe has made)
PROBES_OF = {"nobody": corpus.ROLES[0], "anybody": corpus.ROLES[0], "bundler": "indexer"}  # makes those of which role
SUCCEEDED, STARTED = "it succeeded", "the process ended: exit"
MEMORY = 256_000_000  # bytes of memory_limit, as a profile would say
_X32 = 0x40000000
# getpid by the 32-bit door: rdi, rsi, rdx, rcx -> eax, ebx, ecx, edx; int 0x80
_INT80 = bytes.fromhex("5389f889f387cacd8048985bc3")
_FORKS = ("fork", "clone", "clone3")
_REFUSED = {errno.EPERM, errno.EACCES, errno.ENOSYS}


_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long

Outcome = Literal["killed", "refused", "through", "not run", "broken"]


class Tried(Struct, frozen=True):
    """What became of one call, and how: the error, the signal, or how far it came."""

    name: str
    outcome: Outcome
    detail: str
    harmed: bool = False  # whether the threat that it names was carried out
    taken: int = 0  # with which of the layers taken away


class Earlier(NamedTuple):
    """An argument that is what an earlier call of the sequence has returned, from 0."""

    of: int


def main() -> None:
    """Run all probes of a role and print what was seen."""
    role, *taken = sys.argv[1:]
    numbers = corpus.numbers(platform.machine())
    named = PROBES_OF.get(role, role)
    probes = [
        (attack.name, attack.act) for attack in corpus.attacks(["syscalls"]) if isinstance(attack.act, corpus.Probe)
    ]
    held = Reachable(role)
    os.fchdir(held.root)  # its files have the same names wherever the root directory is
    try:
        for at, confining in enumerate(msgspec.json.decode(taken[0], type=list[Confining]) if taken else [CONFINED]):
            for name, probe in probes:
                if probe.role == named and (probe.does or not taken):
                    outcome, detail, harmed = _tried(role, probe, confining, numbers, held)
                    tried = Tried(name, outcome, detail, harmed, at)
                    sys.stdout.write(msgspec.json.encode(tried).decode() + "\n")
    finally:
        held.close()
        with suppress(OSError):
            MADE.unlink()


def _tried(
    role: str, probe: corpus.Probe, confining: Confining, numbers: Mapping[str, int], held: Reachable
) -> tuple[Outcome, str, bool]:
    """Make the calls in a process of their own; say what became of them, and whether that did what they are for."""
    held.prepare(sealed="seals" not in confining.without)
    report, answer = os.pipe()
    parent = os.getpid()

    def run() -> None:
        _let_go(probe, held)
        made = _prepared(probe, numbers, held)
        if made is None:
            os.write(answer, b"n")
            return
        _confine(role, confining, parent, held)
        os.write(answer, b"c")
        result = made()
        code = ctypes.get_errno() if result == -1 else -result if -4096 < result < 0 else 0
        os.write(answer, code.to_bytes(2, "big"))

    pid = forked(run)
    os.close(answer)
    said = _said(report, pid)
    os.close(report)
    _, status = os.waitpid(pid, 0)
    outcome, detail = _judged(said, status, probe)
    held.is_used = bool(probe.does) and (outcome == "through" or len(probe.calls) > 1)
    if probe.does == "signal":
        return outcome, detail, held.is_hit()
    return (
        outcome,
        detail,
        bool(probe.does) and outcome == "through" and detail.startswith((SUCCEEDED, STARTED)),
    )


def _let_go(probe: corpus.Probe, held: Reachable) -> None:
    """Close what this call does not name: a confined process has room for a few descriptors."""
    os.close(0)
    named = {argument for call in probe.calls for argument in call if isinstance(argument, str)}
    for name, fd in held.descriptors():
        if f"@{name}" not in named:
            os.close(fd)


def _said(report: int, pid: int) -> bytes:
    """Read what the process reports until it ends; one that hangs is killed."""
    said = b""
    while True:
        ready, _, _ = select.select([report], [], [], SECONDS)
        if not ready:
            os.kill(pid, signal.SIGKILL)
            return said + b"hung"
        data = os.read(report, 16)
        if not data:
            return said
        said += data


def _judged(said: bytes, status: int, probe: corpus.Probe) -> tuple[Outcome, str]:
    if said == b"n":
        return "not run", f"there is no such call on {platform.machine()}"
    if not said.startswith(b"c"):
        return "broken", f"the process did not get as far as the call (status {status})"
    if said[1:] == b"hung":
        return "through", "it went on for longer than a call may"
    if len(said) == 3:
        code = int.from_bytes(said[1:], "big")
        name = errno.errorcode.get(code, str(code))
        if code in _REFUSED or name in probe.refused:
            return "refused", name
        return "through", f"the kernel looked at it: {name}" if code else SUCCEEDED
    ended = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
    if ended == "SIGSYS":
        return "killed", ended
    if ended == "SIGSEGV" and probe.calls and str(probe.calls[0][0]).startswith("int80:"):
        return "refused", "this kernel has no 32-bit calls"
    return "through", f"the process ended: {ended}"


def _confine(role: str, confining: Confining, parent: int, held: Reachable) -> None:
    """Confine this process as the program of a role does."""
    match role:
        case "nobody":
            user.become(user.NOBODY, user.NOBODY)
        case "query worker" | "bundler":
            lowered = limits.of_query_worker(MEMORY) if role == "query worker" else limits.of_bundler(MEMORY)
            confine(role, confining, parent=parent, lowered=lowered)
        case "extractor" | "extractor's parent":
            lowered = limits.of_extractor(MEMORY)
            confine("extractor's parent", confining, parent=parent, lowered=limits.above_extractors(MEMORY))
            if role == "extractor":
                confine(role, confining, parent=parent, lowered=lowered)
        case "indexer":
            lowered = limits.of_indexer(MEMORY)
            confine(role, confining, parent=parent, lowered=lowered, root=held.root, readable=[held.root])
        case "keeper":
            confine(role, confining, lowered=limits.KEEPER, removable=[held.root])
        case "connector" | "embedder":
            confine("connector", confining, lowered=limits.CONNECTOR, connectable=[1])
            if role == "embedder":
                confine(role, confining, parent=parent, lowered=limits.EMBEDDER)
        case "broker":
            needed = interpreter.opened(interpreter.readable()), interpreter.opened(interpreter.executable())
            with needed[0] as reading, needed[1] as starting:
                confine(role, confining, lowered=limits.BROKER, readable=[held.root, *reading], executable=starting)


def _prepared(probe: corpus.Probe, numbers: Mapping[str, int], held: Reachable) -> Callable[[], int] | None:
    """Return the calls, ready to be made one after the other, or None where this machine lacks one.

    Nothing is loaded or allocated by them that the confined process may not.
    """
    on_x86 = platform.machine() == "x86_64"
    if probe.code:
        return _machine_code(bytes.fromhex(probe.code), []) if on_x86 else None
    door, _, name = str(probe.calls[0][0]).rpartition(":")
    if door and not on_x86:
        return None
    if door == "int80":
        return _machine_code(_INT80, [int(name), *(_passed(argument, held) for argument in probe.calls[0][1:])])
    calls: list[list[object]] = []
    for call in probe.calls:
        name = str(call[0]).rpartition(":")[2]
        number = int(name) if name.isdigit() else numbers.get(name)
        if number is None:
            return None
        calls.append(
            [ctypes.c_long(number | _X32 if door == "x32" else number), *(_passed(one, held) for one in call[1:])]
        )
    return lambda: _made(calls, forks=name in _FORKS)


def _made(calls: Sequence[Sequence[object]], *, forks: bool) -> int:
    """Make the calls, up to the first that fails; return what the last one has."""
    me = os.getpid()
    results: list[int] = []
    for call in calls:
        values = [ctypes.c_long(results[value.of]) if isinstance(value, Earlier) else value for value in call]
        results.append(int(_LIBC.syscall(*values)))
        if forks and results[-1] == 0 and os.getpid() != me:
            os._exit(0)  # there are two of us now, and this one has no more to say
        if results[-1] == -1:
            break
    return results[-1]


def _passed(argument: Any, held: Reachable) -> object:
    """Return an argument as ctypes passes it."""
    match argument:
        case int():
            return ctypes.c_long(argument)
        case list():
            return (ctypes.c_char_p * (len(argument) + 1))(*(text.encode() for text in argument), None)
        case "@self":
            return ctypes.c_long(os.getpid())
        case "@parent":
            return ctypes.c_long(os.getppid())
    if argument.startswith("@"):
        if argument[1:].isdigit():
            return Earlier(int(argument[1:]) - 1)
        value = held.value(argument[1:])
        return ctypes.c_long(value) if isinstance(value, int) else value
    if argument.startswith("#"):
        return ctypes.create_string_buffer(int(argument[1:]))
    if argument.startswith("="):
        data = bytes.fromhex(argument[1:])
        return ctypes.create_string_buffer(data, len(data))
    return ctypes.c_char_p(argument.encode())


def _machine_code(code: bytes, arguments: list[Any]) -> Callable[[], int]:
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    function = ctypes.CFUNCTYPE(ctypes.c_int)(address)

    def made() -> int:
        return int(function(*arguments)) if page else -1  # the page must live as long as the call can be made

    return made


if __name__ == "__main__":
    main()
