"""Which directory is indexed where none is set: CLAUDE_PROJECT_DIR, the nearest upwards with .git, or this one."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

import msgspec

from fledgling import found
from fledgling.config import ConfigError, Resolved, refuse_relative

MAX_SHOWN_PATH = 200  # characters of a path in a message


def with_root(resolved: Resolved, environment: Mapping[str, str]) -> Resolved:
    """Return settings whose root is the directory that was set, or else found; in `sources` how.

    >>> with_root(resolve({}, {}), {"CLAUDE_PROJECT_DIR": "/usr"}).settings.root
    '/usr'

    Raises ConfigError.
    """
    root, source = Path(resolved.settings.root), resolved.sources["root"]
    if resolved.settings.projects:
        return _with_projects(resolved)
    try:
        if source == "default":
            path, source = found.root(environment, str(Path.cwd()))
            root = Path(path)
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
        if found.is_wide(root, environment):
            raise ConfigError(
                source,
                f"root {root!r} is more than a project: all that is there would be indexed, private files too",
                "start Fledgling in a project, name one with --root, or say --yes-really",
            )
