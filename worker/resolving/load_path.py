"""Names that are paths below one of several directories, a load path: in Ruby, Lua and shell."""

import posixpath
import re
from collections.abc import Iterator
from functools import cache

from fledgling.worker.resolving.project import Project, Resolver, Suffixes, ancestors, answer, join, only
from fledgling.worker.rows import ImportRow

NONE = re.compile("(?!)")


def below(project: Project, path: str, folders: tuple[str, ...], name: str) -> str | None:
    """A file by its name below the folders of the directories above a path, the nearest first."""
    places = (join(posixpath.join(up, folder), name) for up in ancestors(path) for folder in folders)
    return next((place for place in places if place in project.files), None)


def path_resolver(project: Project, language: str, *, stdlib: re.Pattern[str] = NONE) -> Resolver:
    """Resolve what is written as the path of a file: from the importing file, below what is above it, or anywhere.

    Only what begins with a dot leads nowhere else than it says. What `stdlib` matches is the language's own.
    """
    anywhere = Suffixes(project.written_in(language))

    @cache
    def locate(directory: str, module: str) -> str | None:
        beside = join(directory, module)
        if beside in project.files:
            return beside
        if module.startswith("."):
            return None
        above = below(project, posixpath.join(directory, "x"), ("",), module)
        return above or (only(anywhere.nearest(module, directory)) if "/" in module else None)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        yield answer(row, locate(posixpath.dirname(path), row.module), is_stdlib=stdlib.match(row.module) is not None)

    return resolved
