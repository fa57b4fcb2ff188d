"""A back process started by root becomes a user who owns nothing, or only the project."""

import os

NOBODY = 65534  # user and group


def become(user: int, group: int) -> None:
    """Where this process is root, become another user for good, without further groups; else nothing.

    >>> become(NOBODY, NOBODY)

    Clears the parent-death signal: lifeline.tie comes later. Raises OSError.
    """
    if os.geteuid() == 0 and user != 0:
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
