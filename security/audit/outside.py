"""What /proc shows of a process, compared with what must be there: one function for each check that a row may name."""

import errno
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from fledgling.security.audit.corpus import Expected

Seen = tuple[bool, str]
INDEXER, QUERY_WORKER = "fledgling.worker.indexer", "fledgling.worker.query"
FOLLOWER = "fledgling.worker.follower"
_NETWORK = ("tcp", "tcp6", "udp", "udp6", "raw", "raw6", "udplite", "packet")
_ENDING = 0x4  # PF_EXITING of Linux's sched.h, a flag in proc_pid_stat(5), set before anything of a process goes


def look(pid: int, at: str, expected: Expected) -> Seen:
    """Return whether a process shows what it must, and what it shows.

    Raises OSError for a process that ends or has ended: it shows neither arguments nor descriptors any more.
    """
    seen = CHECKS[at](Path(f"/proc/{pid}"), expected)
    if state(pid)[1]:
        raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
    return seen


def _arguments(process: Path, expected: Expected) -> Seen:
    found = (process / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")[1:-1]
    assert isinstance(expected, list)
    return found[:-1] == expected and found[-1:] in ([INDEXER], [QUERY_WORKER], [FOLLOWER]), " ".join(found)


def _environment(process: Path, _: Expected) -> Seen:
    size = len((process / "environ").read_bytes())
    return size == 0, f"{size} bytes"


def _directory(process: Path, _: Expected) -> Seen:
    found, root = (process / "cwd").readlink(), (process / "root").readlink()
    return found == root, str(found)


def _session(process: Path, _: Expected) -> Seen:
    pid = int(process.name)
    found = os.getsid(pid)
    return found == pid, f"session {found} of process {pid}"


def _descriptors(process: Path, expected: Expected) -> Seen:
    assert isinstance(expected, list)
    found = _opened(process)
    wrong = {where for where in found.values() if not where.startswith(tuple(map(str, expected)))}
    return not wrong, f"{len(found)} descriptors" + (f", among them {', '.join(sorted(wrong))}" if wrong else "")


def _opened(process: Path) -> dict[str, str]:
    found = {}
    for descriptor in (process / "fd").iterdir():
        with suppress(FileNotFoundError):
            found[descriptor.name] = str(descriptor.readlink())
    return found


def _status(process: Path, expected: Expected) -> Seen:
    assert isinstance(expected, dict)
    lines = (process / "status").read_text().splitlines()
    found = {name: value.strip() for name, _, value in (line.partition(":") for line in lines) if name in expected}
    return found == expected, ", ".join(f"{name} {value}" for name, value in found.items())


def _user(process: Path, _: Expected) -> Seen:
    [ids] = re.findall(r"^Uid:\s+(.*)$", (process / "status").read_text(), re.MULTILINE)
    return "0" not in ids.split(), f"user {ids.split()[1]}"


def _limits(process: Path, expected: Expected) -> Seen:
    assert isinstance(expected, dict)
    found = {name: hard for name, (_, hard) in _hard_limits(process).items() if name in expected}
    good = all(found[name] is not None and int(str(found[name])) <= int(most) for name, most in expected.items())
    return good, ", ".join(f"{name} {value}" for name, value in found.items())


def _memory_limit(process: Path, _: Expected) -> Seen:
    soft, hard = _hard_limits(process)["Max data size"]
    return soft is not None and hard is not None, f"{hard} bytes"


def _hard_limits(process: Path) -> dict[str, tuple[int | None, int | None]]:
    found = {}
    for line in (process / "limits").read_text().splitlines()[1:]:
        name, soft, hard = line[:26].strip(), line[26:47].strip(), line[47:68].strip()
        found[name] = (int(soft) if soft.isdigit() else None, int(hard) if hard.isdigit() else None)
    return found


def _mappings(process: Path, _: Expected) -> Seen:
    lines = (process / "maps").read_text("utf-8", "replace").splitlines()
    wrong = [line for line in lines if "w" in line.split()[1] and "x" in line.split()[1]]
    return not wrong, f"{len(lines)} mappings" + (f", {len(wrong)} writable and executable" if wrong else "")


def _network(process: Path, _: Expected) -> Seen:
    sockets = {where[8:-1] for where in _opened(process).values() if where.startswith("socket:[")}
    on_network = set()
    for family in _NETWORK:
        with suppress(FileNotFoundError):
            rows = (process / "net" / family).read_text().splitlines()[1:]
            on_network |= {row.split()[8 if family == "packet" else 9] for row in rows}
    wrong = sockets & on_network
    return not wrong, f"{len(sockets)} sockets, {len(wrong)} of the network"


CHECKS: dict[str, Callable[[Path, Expected], Seen]] = {
    "arguments": _arguments,
    "environment": _environment,
    "directory": _directory,
    "session": _session,
    "descriptors": _descriptors,
    "status": _status,
    "user": _user,
    "limits": _limits,
    "memory limit": _memory_limit,
    "mappings": _mappings,
    "network": _network,
}


# ---- who is there ---------------------------------------------------------------------------------------------------


def children(pid: int) -> list[int]:
    """Return the children of a process, whichever of its threads has started them."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, task.read_text().split())
    return found


def module(pid: int) -> str:
    """Return the module that a process runs, or the whole of its arguments where it is no back process."""
    try:
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")[:-1]
    except OSError:
        return ""
    return arguments[-1] if arguments[-4:-1] == ["-I", "-B", "-m"] else " ".join(arguments)


def running(broker: int, name: str) -> list[int]:
    """Return the children of a broker that run a module."""
    return [child for child in children(broker) if module(child) == name]


def state(pid: int) -> tuple[str, bool]:
    """Return the letter of a process's state, and whether it ends or has ended. Raises OSError if nothing is left."""
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].decode().split()
    return fields[0], bool(int(fields[6]) & _ENDING)


def is_alive(pid: int) -> bool:
    """Return whether a process runs; one that has ended and waits to be reaped does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
