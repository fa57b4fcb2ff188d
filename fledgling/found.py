"""What is found where nobody says it: the root, and the user's own file. Each command needs it: it loads nothing."""

import os
from collections.abc import Mapping

PROJECT_FILE = "fledgling.yaml"  # what a project calls its own file, and a user theirs
PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR"  # Claude Code tells servers so which project is open
WORKING = "the working directory"  # where a root is found that nobody has set
HOMES = ("/home", "/Users")  # what is in these is somebody's home directory


def user_file(environment: Mapping[str, str]) -> str | None:
    """Return where the user's own file would be; None where the environment says nothing that leads there.

    Relative paths are ignored, as the XDG Base Directory Specification says: they would lead into the project.
    """
    bases = (environment.get("XDG_CONFIG_HOME", ""), os.path.join(environment.get("HOME", ""), ".config"))
    return next((os.path.join(base, "fledgling", PROJECT_FILE) for base in bases if os.path.isabs(base)), None)


def root(environment: Mapping[str, str], working: str) -> tuple[str, str]:
    """Return the root of who works in a directory, and how it was found: `("/srv/app", "the nearest .git")`.

    A .git counts where it and the working directory belong to one user: others may plant one above. Raises OSError.
    """
    named = environment.get(PROJECT_VARIABLE, "")
    if os.path.isabs(named):
        return named, f"environment {PROJECT_VARIABLE}"
    owner = os.stat(working).st_uid
    for directory in (working, *_above(working)):
        git = os.path.join(directory, ".git")
        if os.path.lexists(git) and os.lstat(git).st_uid == owner and not is_wide(directory, environment):
            return directory, "the nearest .git"
    return working, WORKING


def is_wide(root: str, environment: Mapping[str, str]) -> bool:
    """Return whether a directory, by its real path, is no project: `/`, a home directory, or one above."""
    home = os.path.realpath(environment.get("HOME") or "/")
    return root in (home, *_above(home), *HOMES) or os.path.dirname(root) in HOMES


def _above(path: str) -> list[str]:
    """Return the directories above one, the nearest first: `_above("/srv/app")` is `["/srv", "/"]`."""
    found = []
    while (parent := os.path.dirname(path)) != path:
        found.append(parent)
        path = parent
    return found
