"""Which layers of the kernel confine which process, in the order that they need; one mechanism a file.

    layers = confine("query worker", order.confining, parent=order.broker_pid, limits=QUERY_WORKER)

A layer that the kernel refuses is fatal, unless the operator allowed to serve without it. Whatever is absent is said:
to the broker in the process's first message, and from there to the log, the audit and `fledgling doctor`.
"""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from fledgling.messages.control import Confining, Layer
from fledgling.security import capabilities, chroot, landlock, lifeline, limits, no_new_privs, system_calls, user

# What it means where a layer is absent.
LAYERS: Mapping[str, str] = {
    "chroot": "it can ask which paths exist outside the project, and Landlock alone keeps it from reading them",
    "user": "it has the rights of root on files of root, as far as the layers below let it",
    "capabilities": "it keeps what the account that started it may do beyond files",
    "no_new_privs": "a set-user-ID program that it starts has that user's rights",
    "lifeline": "it may outlive the broker until it next reads its pipe",
    "landlock": "a fault in DuckDB or in a grammar can read what the account can read",
    "limits": "its memory, its descriptors and the size of its files are bounded by the account's own limits only",
    "seccomp": "a fault in DuckDB or in a grammar can open files and sockets and start programs",
}
DEGRADABLE = ("landlock", "seccomp")  # kernels and containers lack these; the others are everywhere
OPTIONAL = ("chroot",)  # root alone can have it, and not in every container: no server needs it
_SERVING = tuple(name for name in LAYERS if name != "chroot")  # of those who open nothing below the root

# The broker stays who it is: it starts and ends processes of other users. An extractor inherits what holds its parent,
# and an embedder what holds the connector.
ROLES: Mapping[str, tuple[str, ...]] = {
    "broker": ("no_new_privs", "landlock", "limits", "seccomp"),
    "indexer": tuple(LAYERS),
    "extractor's parent": _SERVING,
    "extractor": ("lifeline", "limits", "seccomp"),
    "query worker": _SERVING,
    "keeper": ("capabilities", "no_new_privs", "landlock", "limits", "seccomp"),  # it outlives the broker, as its user
    "connector": tuple(name for name in _SERVING if name != "lifeline"),  # a pipe ties it
    "embedder": ("lifeline", "limits", "seccomp"),
    "bundler": _SERVING,
}


class ConfinementError(Exception):
    """A layer cannot be had here: which, and why."""


def confine(
    role: str,
    confining: Confining,
    *,
    parent: int = 0,
    lowered: Mapping[int, int] = {},
    owner: tuple[int, int] = (user.NOBODY, user.NOBODY),
    root: int | None = None,
    readable: Iterable[int] = (),
    executable: Iterable[int] = (),
    removable: Iterable[int] = (),
    connectable: Iterable[int] = (),
) -> tuple[Layer, ...]:
    """Confine this process, for good, and say what holds it. Call it before the first thread is started.

    `parent` is the process to end with; `lowered` are resource limits; `owner` is who root becomes; `root` is the
    open directory that becomes the root directory, where root has started the server; `readable`, `executable` and
    `removable` are open files and directories, to be closed by the caller; `connectable` are ports of TCP. Raises
    ConfinementError.
    """
    stays_root = os.geteuid() == 0 and owner[0] == 0
    is_alone = os.geteuid() == 0 and not user.exists(*owner)
    if "landlock" in ROLES[role] and sys.platform == "linux" and len([*Path("/proc/self/task").iterdir()]) > 1:
        raise ConfinementError("landlock cannot be enforced: a thread was started before it, and would not be bound")
    steps: list[tuple[str, Callable[[], None]]] = [
        ("capabilities", capabilities.bound),
        *([] if root is None or os.geteuid() != 0 else [("chroot", lambda: chroot.confine(root))]),
        ("user", lambda: None if is_alone else user.become(*owner)),
        ("capabilities", capabilities.drop),
        ("no_new_privs", no_new_privs.confine),
        ("lifeline", lambda: lifeline.tie(parent)),
        (
            "landlock",
            lambda: landlock.confine(
                readable, executable, removable, connectable=connectable, latest=confining.landlock_abi
            ),
        ),
        # Behind Landlock, whose ruleset is a descriptor: there may be none more.
        ("limits", lambda: limits.confine(lowered)),
        ("seccomp", lambda: system_calls.confine(role)),
    ]
    absent = {name: _absent(name, step, confining) for name, step in steps if name in ROLES[role]}
    if "user" in absent and stays_root:
        absent["user"] = "the project belongs to root"
    elif "user" in absent and is_alone:
        absent["user"] = user.ALONE
    return tuple(Layer(name, why) for name, why in absent.items())


def _absent(name: str, step: Callable[[], None], confining: Confining) -> str | None:
    """Take one step; return why the layer is absent, or None where it holds."""
    if name in confining.without:
        return "switched off for a test"
    may_lack = (*OPTIONAL, *DEGRADABLE) if confining.allow_degraded else OPTIONAL
    try:
        step()
    except OSError as refused:
        if sys.platform == "linux" and name not in may_lack:
            raise ConfinementError(f"{name} cannot be enforced here: {refused.strerror}") from refused
        return refused.strerror
    return None
