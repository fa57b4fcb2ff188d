"""R: files that `source` names; a word is a package, of the project where a DESCRIPTION has that name."""

import re
from collections.abc import Iterator

from fledgling.worker.deferred import deferred
from fledgling.worker.language import word_list
from fledgling.worker.resolving.load_path import path_resolver
from fledgling.worker.resolving.project import Project, Resolver, answer, join
from fledgling.worker.rows import ImportRow

STDLIB = word_list("r/stdlib.txt")
BUILT_IN = deferred(rf"(?:{'|'.join(sorted(STDLIB))})$")
PACKAGE = re.compile(r"^Package:[ \t]*+([\w.]++)", re.MULTILINE)  # https://cran.r-project.org/doc/manuals/R-exts.html


def resolver(project: Project, language: str) -> Resolver:
    """Resolve `library(own)` to the first file of that package, others as paths."""
    by_path = path_resolver(project, language, stdlib=BUILT_IN)
    first: dict[str, str] = {}  # file of the package in a directory
    for path in project.written_in(language):
        directory, _, _ = path.rpartition("/")
        first.setdefault(directory, path)
    own: dict[str, str] = {}
    for directory, text in project.manifests_named("DESCRIPTION"):
        if (named := PACKAGE.search(text)) and (found := first.get(join(directory, "R") or "")):
            own[named[1]] = found

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        if found := own.get(row.module):
            yield answer(row, found)
        else:
            yield from by_path(path, row)

    return resolved
