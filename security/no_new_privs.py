"""No program that a process starts can have more rights than the process itself. See prctl(2), PR_SET_NO_NEW_PRIVS."""

from fledgling.security.system import prctl

_PR_SET_NO_NEW_PRIVS = 38


def confine() -> None:
    """Give up new privileges, for this process and all it starts. Landlock and seccomp demand it of users."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
