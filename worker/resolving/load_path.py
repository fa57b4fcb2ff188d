"""Names that are paths below one of several directories, a load path: in Ruby, Lua and shell."""

import posixpath

from fledgling.worker.resolving.project import Project, ancestors, join


def below(project: Project, path: str, folders: tuple[str, ...], name: str) -> str | None:
    """A file by its name below the folders of the directories above a path, the nearest first."""
    places = (join(posixpath.join(up, folder), name) for up in ancestors(path) for folder in folders)
    return next((place for place in places if place in project.files), None)
