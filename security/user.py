"""A back process started by root becomes a user who owns nothing, or only the project."""

import os
from contextlib import suppress
from pathlib import Path

NOBODY = 65534  # user and group
ALONE = "there is no other user in this user namespace"


def exists(user: int, group: int) -> bool:
    """Return whether a process here could be that user: not in a user namespace of one id, as bubblewrap makes one.

    >>> exists(NOBODY, NOBODY)
    True
    """
    return _is_mapped("uid_map", user) and _is_mapped("gid_map", group)


def _is_mapped(file: str, number: int) -> bool:
    """Look the number up in a map of user_namespaces(7): rows of the first, the first outside, and how many."""
    with suppress(OSError):
        rows = [tuple(map(int, line.split())) for line in Path("/proc/self", file).read_text().splitlines()]
        return any(first <= number < first + count for first, _, count in rows)
    return True  # no namespaces


def become(user: int, group: int) -> None:
    """Where this process is root, become another user for good, without further groups; else nothing.

    >>> become(NOBODY, NOBODY)

    Clears the parent-death signal: lifeline.tie comes later. Raises OSError.
    """
    if os.geteuid() == 0 and user != 0:
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
