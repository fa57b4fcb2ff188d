"""System calls tried from inside a confined process: `python -I -B -m fledgling.security.audit.probes "query worker"`.

Each is made in a process of its own, which has confined itself by the very call that the role's program uses. One line
of JSON for each says what the kernel did. Two roles are not confined, and prove that the calls are real: `nobody` is
that user, and `anybody` whoever runs the program.
"""

import ctypes
import errno
import mmap
import os
import platform
import select
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from fledgling.security import interpreter, limits, memory_file, user
from fledgling.security.audit import corpus
from fledgling.security.confinement import confine
from fledgling.wire import Confining

MADE = Path("/tmp/fledgling-probe")  # noqa: S108  (what an unconfined probe has made)
UNCONFINED = ("nobody", "anybody")
SECONDS = 20.0  # for one call, from a fork on; one that hangs has not been refused
NOTHING_LESS = Confining()
MEMORY = 256_000_000  # bytes of memory_limit, as a profile would say
_X32 = 0x40000000
# getpid by the 32-bit door: rdi, rsi, rdx, rcx -> eax, ebx, ecx, edx; int 0x80
_INT80 = bytes.fromhex("5389f889f387cacd8048985bc3")
_FORKS = ("fork", "clone", "clone3")
_REFUSED = {errno.EPERM, errno.EACCES, errno.ENOSYS}


Outcome = Literal["killed", "refused", "through", "not run", "broken"]


class Tried(Struct, frozen=True):
    """What became of one call, and how: the error, the signal, or how far it came."""

    name: str
    outcome: Outcome
    detail: str


class Held(NamedTuple):
    """What a probe may name with @."""

    values: Mapping[str, object]
    root: int


def main() -> None:
    """Run all probes of a role and print what was seen."""
    role = sys.argv[1]
    numbers = corpus.numbers(platform.machine())
    victim = _forked(signal.pause)
    held = _held(victim)
    try:
        for attack in corpus.attacks(["syscalls"]):
            if isinstance(attack.act, corpus.Probe) and attack.act.role == (
                corpus.ROLES[0] if role in UNCONFINED else role
            ):
                outcome, detail = _tried(role, attack.act, numbers, held)
                sys.stdout.write(msgspec.json.encode(Tried(attack.name, outcome, detail)).decode() + "\n")
    finally:
        os.kill(victim, signal.SIGKILL)
        with suppress(OSError):
            MADE.unlink()


def _held(victim: int) -> Held:
    image = memory_file.create()
    os.write(image, bytes(8192))
    memory_file.seal(image)
    reading, writing = os.pipe()
    os.write(writing, b"x")
    program = os.open("/bin/true", os.O_RDONLY)
    buffer = ctypes.create_string_buffer(b"x", 8)
    vector = ctypes.create_string_buffer(bytes((ctypes.c_size_t * 2)(ctypes.addressof(buffer), 1)), 16)
    with tempfile.TemporaryDirectory(prefix="fledgling-probe-") as empty:
        root = os.open(empty, os.O_RDONLY | os.O_DIRECTORY)
    values = {"cwd": -100, "victim": victim, "image": image, "program": program, "input": reading, "pipe": writing}
    return Held({**values, "vector": vector, "buffer": buffer}, root)


def _forked(run: Callable[[], object]) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            run()
        except Exception as problem:  # noqa: BLE001  (a probe that cannot be made is said to be broken)
            os.write(2, f"{type(problem).__name__}: {problem}\n".encode())
        os._exit(1)
    return pid


def _tried(role: str, probe: corpus.Probe, numbers: Mapping[str, int], held: Held) -> tuple[Outcome, str]:
    """Make one call in a process of its own, and say what became of it."""
    report, answer = os.pipe()
    parent = os.getpid()

    def run() -> None:
        _let_go(probe, held)
        made = _call(probe, numbers, held)
        if made is None:
            os.write(answer, b"n")
            return
        _confine(role, parent, held)
        os.write(answer, b"c")
        result = made()
        code = ctypes.get_errno() if result == -1 else -result if -4096 < result < 0 else 0
        os.write(answer, code.to_bytes(2, "big"))

    pid = _forked(run)
    os.close(answer)
    said = _said(report, pid)
    os.close(report)
    _, status = os.waitpid(pid, 0)
    return _judged(said, status, probe)


def _let_go(probe: corpus.Probe, held: Held) -> None:
    """Close what this call does not name: a confined process has room for a few descriptors."""
    os.close(0)
    for name in ("image", "program", "input", "pipe"):
        if f"@{name}" not in probe.call:
            os.close(int(str(held.values[name])))


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
        return "through", f"the kernel looked at it: {name}" if code else "it succeeded"
    ended = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
    if ended == "SIGSYS":
        return "killed", ended
    if ended == "SIGSEGV" and probe.call and str(probe.call[0]).startswith("int80:"):
        return "refused", "this kernel has no 32-bit calls"
    return "through", f"the process ended: {ended}"


def _confine(role: str, parent: int, held: Held) -> None:
    """Confine this process as the program of a role does."""
    match role:
        case "nobody":
            user.become(user.NOBODY, user.NOBODY)
        case "query worker":
            confine(role, NOTHING_LESS, parent=parent, lowered=limits.with_memory(limits.QUERY_WORKER, MEMORY))
        case "extractor" | "extractor's parent":
            lowered = limits.with_memory(limits.EXTRACTOR, limits.EXTRACTOR_MEMORY)
            confine("extractor's parent", NOTHING_LESS, parent=parent, lowered=lowered)
            if role == "extractor":
                confine(role, NOTHING_LESS, parent=parent)
        case "indexer":
            lowered = limits.with_memory(limits.INDEXER, MEMORY)
            confine(role, NOTHING_LESS, parent=parent, lowered=lowered, readable=[held.root])
        case "broker":
            needed = interpreter.opened(interpreter.readable()), interpreter.opened(interpreter.executable())
            with needed[0] as reading, needed[1] as starting:
                confine(role, NOTHING_LESS, lowered=limits.BROKER, readable=[held.root, *reading], executable=starting)


def _call(probe: corpus.Probe, numbers: Mapping[str, int], held: Held) -> Callable[[], int] | None:
    """Return the call, ready to be made: nothing is loaded or allocated by it that the confined process may not."""
    if probe.code:
        return _machine_code(bytes.fromhex(probe.code), []) if platform.machine() == "x86_64" else None
    name, *arguments = probe.call
    passed = [_passed(argument, held) for argument in arguments]
    door, _, rest = str(name).rpartition(":")
    number = int(rest) if rest.isdigit() else numbers.get(rest)
    if number is None or (door and platform.machine() != "x86_64"):
        return None
    if door == "int80":
        return _machine_code(_INT80, [number, *passed])
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    values = [ctypes.c_long(number | _X32 if door == "x32" else number), *passed]

    me = os.getpid()

    def made() -> int:
        result = int(libc.syscall(*values))
        if result == 0 and rest in _FORKS and os.getpid() != me:
            os._exit(0)  # there are two of us now, and this one has no more to say
        return result

    return made


def _passed(argument: Any, held: Held) -> object:
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
        value = held.values[argument[1:]]
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
