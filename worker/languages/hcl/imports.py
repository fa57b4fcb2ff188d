"""HCL: the directory that a module of Terraform is in."""

import posixpath
from collections.abc import Iterator

from fledgling.worker.resolving.project import Project, Resolver, answer, join
from fledgling.worker.rows import ImportRow

MAIN = "main.tf"


def resolver(project: Project, language: str) -> Resolver:
    """Resolve `source = "../vpc"` to the `main.tf` of that directory, or the first of its `.tf` files."""
    first: dict[str, str] = {}
    for path in project.written_in(language):
        directory, _, name = path.rpartition("/")
        if name == MAIN or (name.endswith(".tf") and directory not in first):
            first[directory] = path

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        place = join(posixpath.dirname(path), row.module) if row.module.startswith(("./", "../")) else None
        yield answer(row, None if place is None else first.get(place))

    return resolved
