"""Shell: paths that are written out, whole or behind something computed."""

import posixpath
from collections.abc import Iterator

from fledgling.worker.resolving.load_path import below
from fledgling.worker.resolving.project import Project, Resolver, answer, join
from fledgling.worker.rows import ImportRow


def resolver(project: Project, _language: str) -> Resolver:
    """Resolve a path that is written out: beside the file; behind a variable (`. "$HERE/x.sh"`) also further up."""

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        directory = posixpath.dirname(path)
        computed, rest = behind_expansion(row.module)
        if computed:
            found = below(project, path, ("",), rest)
        else:
            place = join(directory, row.module)
            found = place if place in project.files else None
        yield answer(row, found)

    return resolved


def behind_expansion(path: str) -> tuple[str, str]:
    """A shell's path as what is computed and what is written out: `$(dirname "$0")/lib/x.sh` ends in `lib/x.sh`."""
    cut = max(path.rfind(end) for end in ")}`") + 1
    if not cut and path.startswith(("$", '"$')):
        cut = max(path.find("/"), 0)
    rest = path[cut:].removeprefix('"')
    return path[:cut], posixpath.normpath(rest[1:]) if rest.startswith("/") and "$" not in rest else ""
