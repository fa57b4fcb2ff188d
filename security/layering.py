"""Which layers stop which attack of code inside a back process, on which kernel. What is said of that, comes from here.

Each threat is tried with one layer and another gone: tests/test_ablation.py compares what gets through with this table.
"""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

Kind = Literal["read", "write", "network", "signal", "mutation", "program"]

_EXTRACTING = ("extractor", "extractor's parent")
_WALKING = ("indexer",)  # the lister and the follower are held as the indexer is
_SERVING = ("query worker", *_EXTRACTING)
SERVER = (*_SERVING, *_WALKING)  # what every server has
BACK = (*SERVER, "bundler", "connector", "embedder")

_NAMELESS = (*_SERVING, "bundler", "connector", "embedder")  # no call that names a path
_FULL = (*_SERVING, "bundler", "embedder")  # may open no descriptor more
_NOBODY = _NAMELESS  # who sees no path of the project need not be its owner
_UNCONNECTED = (*SERVER, "bundler", "embedder")


class Threat(NamedTuple):
    """What code inside a process may try, and what stops it where: layers by the roles in which they do.

    `landlock` is the version (ABI) from which Landlock stops it, in every role; None: none does.
    """

    kind: Kind
    what: str
    landlock: int | None
    seccomp: tuple[str, ...] = BACK
    limits: tuple[str, ...] = ()  # no descriptor to do it with
    chroot: tuple[str, ...] = ()  # started by root: no path leads outside the root
    user: tuple[str, ...] = ()  # started by root: `nobody` has neither files nor processes
    seals: tuple[str, ...] = ()
    roles: tuple[str, ...] = BACK


THREATS: Mapping[str, Threat] = {
    "read": Threat("read", "a file outside the root is read", 1, seccomp=_NAMELESS, limits=_FULL, chroot=_WALKING),
    "existence": Threat(
        "read", "it is asked which paths exist outside the root", None, seccomp=_NAMELESS, chroot=_WALKING
    ),
    "memory": Threat("read", "the memory of a process of the account is read or written", 1, user=_NOBODY),
    "write": Threat("write", "a path is created, written, renamed or removed", 1),
    "truncate": Threat("write", "a file is cut short without being opened to write", 3, user=_NOBODY),
    "attributes": Threat("write", "mode, owner, times or attributes of a file are changed", None, user=_NOBODY),
    "keys": Threat("write", "keys and objects of System V are made, which the kernel keeps", None),
    "tcp": Threat("network", "a TCP port is bound or connected", 4, seccomp=_UNCONNECTED, limits=_FULL),
    "abstract": Threat("network", "an abstract Unix socket is connected", 6, limits=_FULL),
    "sockets": Threat("network", "another socket is used: UDP, Unix by path, netlink", None, limits=_FULL),
    "signal": Threat("signal", "a process of the account is signalled", 6, user=_NOBODY),
    "neighbour": Threat("signal", "limits, priority or cores of a process of the account change", None, user=_NOBODY),
    "mutation": Threat("mutation", "the index is changed", None, seals=_SERVING, roles=_SERVING),
    "program": Threat("program", "a program is started", 1),
}
LINUX: Mapping[int, str] = {1: "5.13", 2: "5.19", 3: "6.2", 4: "6.7", 5: "6.10", 6: "6.12"}  # since when, by ABI


def holding(threat: Threat, role: str, abi: int, *, as_root: bool = False) -> tuple[str, ...]:
    """Return the layers that stop a threat in a process, with a version of Landlock; 0 is none.

    >>> holding(THREATS["signal"], "query worker", abi=5)
    ('seccomp',)

    `as_root` is whether root has started the server.
    """
    layers = {
        "seccomp": role in threat.seccomp,
        "landlock": threat.landlock is not None and threat.landlock <= abi,
        "limits": role in threat.limits,
        "chroot": as_root and role in threat.chroot,
        "user": as_root and role in threat.user,
        "seals": role in threat.seals,
    }
    return tuple(name for name, holds in layers.items() if holds)


def thin(abi: int, *, as_root: bool, absent: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield what one layer alone stops, and what none does, with a version of Landlock and without `absent` layers.

    It is said of the processes that every server has.

    >>> next(thin(5, as_root=False))
    'a file outside the root is read: landlock alone, in indexer'
    """
    for threat in THREATS.values():
        found: dict[str, list[str]] = {}
        for role in (role for role in threat.roles if role in SERVER):
            layers = [name for name in holding(threat, role, abi, as_root=as_root) if name not in absent]
            if len(layers) < 2:
                found.setdefault(f"{layers[0]} alone" if layers else "NOTHING stops it", []).append(role)
        for by, roles in found.items():
            yield f"{threat.what}: {by}, in {'each back process' if roles == [*SERVER] else ', '.join(roles)}"


def lacks(abi: int) -> Iterator[str]:
    """Yield what a version of Landlock does not stop and a later one does: "... (from ABI 4, Linux 6.7)"."""
    for threat in THREATS.values():
        if threat.landlock is not None and threat.landlock > abi:
            yield f"{threat.what} (from ABI {threat.landlock}, Linux {LINUX[threat.landlock]})"
