"""OCaml: `open A.B` is the file `a.ml`, whose name is its module's, nearest to the one that opens it."""

from collections.abc import Iterator

from fledgling.worker.language import word_list
from fledgling.worker.resolving.project import Project, Resolver, Suffixes, answer, only
from fledgling.worker.rows import ImportRow

STDLIB = word_list("ocaml/stdlib.txt")


def resolver(project: Project, language: str) -> Resolver:
    """Resolve the first name of a module's path; one that a file defines within itself leads nowhere."""
    files = Suffixes(project.written_in(language))

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        first = row.module.partition(".")[0]
        name = first[:1].lower() + first[1:]
        found = only(files.nearest(f"{name}.ml", path.rpartition("/")[0]))
        yield answer(row, found if found != path else None, is_stdlib=first in STDLIB)

    return resolved
