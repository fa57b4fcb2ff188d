"""A confined process as the kernel shows it from outside: what it says of itself is compared with that.

Landlock cannot be seen from outside; `fledgling audit` tries it from inside.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from fledgling.wire import Layer

_NONE = "0" * 16
_FILTERED = "2"  # proc(5): seccomp is in filter mode

# Layer -> what /proc/PID/status must say where it holds.
_SHOWN: Mapping[str, Mapping[str, Callable[[str], bool]]] = {
    "user": {"Uid": lambda shown: "0" not in shown.split()},
    "capabilities": dict.fromkeys(("CapEff", "CapPrm", "CapInh", "CapAmb"), _NONE.__eq__),
    "no_new_privs": {"NoNewPrivs": "1".__eq__},
    "seccomp": {"Seccomp": _FILTERED.__eq__},
}


def problem(pid: int, layers: Iterable[Layer]) -> str | None:
    """Return what the kernel says against these layers of a process and each of its threads; None if nothing.

    >>> problem(os.getpid(), [Layer("no_new_privs")])
    'no_new_privs does not hold process 4101: NoNewPrivs is 0'
    """
    if sys.platform != "linux":
        return None
    try:
        threads = [_status(task) for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return f"process {pid} ended before it could be looked at"
    for layer in layers:
        for name, holds in _SHOWN.get(layer.name, {}).items():
            for status in threads:
                if layer.absent is None and not holds(status.get(name, "")):
                    return f"{layer.name} does not hold process {pid}: {name} is {status.get(name)}"
    return None


def _status(task: Path) -> dict[str, str]:
    lines = (task / "status").read_text("utf-8", "replace").splitlines()
    return {name: shown.strip() for name, _, shown in (line.partition(":") for line in lines)}
