"""Nix: paths from the importing file; a directory is its `default.nix`."""

import posixpath
from collections.abc import Iterator

from fledgling.worker.resolving.project import Project, Resolver, answer, join
from fledgling.worker.rows import ImportRow

END = ".nix"


def resolver(project: Project, _language: str) -> Resolver:
    """Resolve `./a.nix`, and `./a` to `a/default.nix`; other paths, `./a.patch`, import nothing, and are left out."""

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        place = join(posixpath.dirname(path), row.module)
        is_file = row.module.endswith(END)
        file = place if is_file or place is None else posixpath.join(place, f"default{END}")
        found = file if file in project.files else None
        if is_file or found:
            yield answer(row, found)

    return resolved
