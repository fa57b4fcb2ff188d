"""A confined process as the kernel shows it from outside: nothing it says of itself is believed where that can be seen.

Landlock cannot be seen from outside, nor in every container the root directory of another user's process; `fledgling
audit` tries both.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from fledgling.messages.control import Confining, Layer
from fledgling.security import user
from fledgling.security.confinement import DEGRADABLE, OPTIONAL, ROLES

_NONE = "0" * 16
_FILTERED = "2"  # proc(5): seccomp is in filter mode

# Layer -> what /proc/PID/status must say where it holds.
_SHOWN: Mapping[str, Mapping[str, Callable[[str], bool]]] = {
    "user": {"Uid": lambda shown: "0" not in shown.split()},
    "capabilities": dict.fromkeys(("CapEff", "CapPrm", "CapInh", "CapAmb"), _NONE.__eq__),
    "no_new_privs": {"NoNewPrivs": "1".__eq__},
    "seccomp": {"Seccomp": _FILTERED.__eq__},
}


def filters() -> int:
    """Return how many filters of seccomp hold this process, and so all that it starts; 0 where the kernel says nothing.

    Linux says so from 5.9 on.
    """
    return int(next(_threads(os.getpid()), {}).get("Seccomp_filters", 0))


def problem(
    role: str, pid: int, layers: Iterable[Layer], confining: Confining, inherited: int | None = None
) -> str | None:
    """Return which layer of its role does not hold a process and each of its threads, and why; None if all do.

    `layers` is what the process says; `confining` what it was allowed to do without; `inherited` how many filters of
    seccomp it had from the start, which do not hold it to its role: those of this process, unless they are given.

    >>> problem("query worker", pid, (), CONFINED)
    'capabilities does not hold the query worker: it says nothing about that'
    """
    if sys.platform != "linux":
        return None
    inherited = filters() if inherited is None else inherited
    said = {layer.name: layer.absent for layer in layers}
    threads = [*_threads(pid)]
    if not threads:
        return f"the {role} ended before it could be looked at"
    for name in ROLES[role]:
        if name in confining.without or name in OPTIONAL:
            continue
        absent = said.get(name, "it says nothing about that")
        if absent is None:
            absent = next((wrong for status in threads if (wrong := _against(name, status, inherited))), None)
        elif (name in DEGRADABLE and confining.allow_degraded) or (name == "user" and _may_stay(role)):
            continue
        if absent:
            return f"{name} does not hold the {role}: {absent}"
    return None


def _may_stay(role: str) -> bool:
    """Return whether a process may be root: an indexer where that owns the project, any where there is nobody else."""
    return role == "indexer" or not user.exists(user.NOBODY, user.NOBODY)


def _against(name: str, status: Mapping[str, str], inherited: int) -> str | None:
    """Return what the kernel says of a thread against a layer."""
    for field, holds in _SHOWN.get(name, {}).items():
        if not holds(status.get(field, "")):
            return f"the kernel says {field} {status.get(field)}"
    if name == "seccomp" and 0 <= int(status.get("Seccomp_filters", -1)) <= inherited:
        return f"the kernel says Seccomp_filters {status['Seccomp_filters']}, and it has inherited {inherited}"
    return None


def _threads(pid: int) -> Iterator[dict[str, str]]:
    """Yield what the kernel says of each thread; one that ends meanwhile holds nothing any more.

    The first one is there for as long as nobody has waited for the process, even when that has ended.
    """
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                lines = (task / "status").read_text("utf-8", "replace").splitlines()
                yield {name: shown.strip() for name, _, shown in (line.partition(":") for line in lines)}
