"""Which directory is indexed where none is set: CLAUDE_PROJECT_DIR, the nearest upwards with .git, or this one."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path, PurePath

import msgspec

from fledgling.config import ConfigError, Resolved, refuse_relative

MAX_SHOWN_PATH = 200  # characters of a path in a message
PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR"  # Claude Code tells servers so which project is open
WORKING = "the working directory"  # where a root is found that nobody has set
HOMES = (PurePath("/home"), PurePath("/Users"))  # what is in these is somebody's home directory


def with_root(resolved: Resolved, environment: Mapping[str, str]) -> Resolved:
    """Return settings whose root is the directory that was set, or else found; in `sources` how.

    >>> with_root(resolve({}, {}), {"CLAUDE_PROJECT_DIR": "/usr"}).settings.root
    '/usr'

    A .git counts where it and the working directory belong to one user: others may plant one above. Raises ConfigError.
    """
    root, source = Path(resolved.settings.root), resolved.sources["root"]
    if resolved.settings.projects:
        return _with_projects(resolved)
    try:
        if source == "default":
            root, source = _found_root(environment, Path.cwd())
    except (OSError, ValueError) as wrong:  # the working directory is gone
        raise ConfigError(source, f"root {_cut(root)} cannot be found ({wrong})", "give --root") from None
    settings = msgspec.structs.replace(resolved.settings, root=_directory(root, source))
    return msgspec.structs.replace(resolved, settings=settings, sources={**resolved.sources, "root": source})


def _with_projects(resolved: Resolved) -> Resolved:
    """Return settings whose projects are directories, by absolute paths."""
    source = resolved.sources["projects"]
    named = [project.partition("=") for project in resolved.settings.projects]
    for name, _, root in named:
        if [other for other, *_ in named].count(name) > 1:
            raise ConfigError(source, f"{name} names two projects", "give each a name of its own")
        refuse_relative("root", root, {"root": source})
    projects = tuple(f"{name}={_directory(Path(root), source)}" for name, _, root in named)
    return msgspec.structs.replace(resolved, settings=msgspec.structs.replace(resolved.settings, projects=projects))


def _directory(root: Path, source: str) -> str:
    """Return the real path of a directory that can be read. Raises ConfigError."""
    try:
        root = Path(os.path.realpath(root))
    except (OSError, ValueError) as wrong:  # a NUL character
        raise ConfigError(source, f"root {_cut(root)} cannot be found ({wrong})", "give --root") from None
    try:
        kind = root.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise ConfigError(source, f"root {_cut(root)} is not there", "give the directory of the project") from None
    except OSError as wrong:  # too long, a circle of links, or not to be looked at
        problem = f"root {_cut(root)} cannot be found ({wrong.strerror})"
        raise ConfigError(source, problem, "give another directory") from None
    if not stat.S_ISDIR(kind):
        what = "not a directory but a file" if stat.S_ISREG(kind) else "neither a directory nor a file"
        raise ConfigError(source, f"root {_cut(root)} is {what}", "give the directory of the project")
    if not os.access(root, os.R_OK | os.X_OK):
        raise ConfigError(source, f"root {_cut(root)} may not be read by this user", "give a directory that may")
    return str(root)


def _cut(path: Path) -> str:
    """Return a path for a message, whose end is what tells it from others."""
    text = str(path)
    return repr(text if len(text) <= MAX_SHOWN_PATH else f"...{text[-MAX_SHOWN_PATH:]}")


def refuse_wide(resolved: Resolved, environment: Mapping[str, str]) -> None:
    """Raise ConfigError where the root is no project: `/`, a home directory, or one above."""
    source = resolved.sources["projects" if resolved.settings.projects else "root"]
    for root in resolved.settings.roots.values():
        if _is_wide(Path(root), environment):
            raise ConfigError(
                source,
                f"root {root!r} is more than a project: all that is there would be indexed, private files too",
                "start Fledgling in a project, name one with --root, or say --yes-really",
            )


def _found_root(environment: Mapping[str, str], working: Path) -> tuple[Path, str]:
    named = environment.get(PROJECT_VARIABLE, "")
    if PurePath(named).is_absolute():
        return Path(named), f"environment {PROJECT_VARIABLE}"
    owner = working.stat().st_uid
    for directory in (working, *working.parents):
        git = directory / ".git"
        if os.path.lexists(git) and git.lstat().st_uid == owner and not _is_wide(directory, environment):
            return directory, "the nearest .git"
    return working, WORKING


def _is_wide(root: Path, environment: Mapping[str, str]) -> bool:
    home = Path(os.path.realpath(environment.get("HOME") or "/"))
    return root in (home, *home.parents) or root in HOMES or root.parent in HOMES
