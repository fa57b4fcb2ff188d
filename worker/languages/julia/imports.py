"""Julia: files that `include` names, and packages of the project by the file that has their name."""

from collections.abc import Iterator

from msgspec.structs import replace

from fledgling.worker.language import word_list
from fledgling.worker.resolving.load_path import path_resolver
from fledgling.worker.resolving.project import Project, Resolver
from fledgling.worker.rows import ImportRow

STDLIB = word_list("julia/stdlib.txt")


def resolver(project: Project, language: str) -> Resolver:
    """Resolve `include("a.jl")` beside the file, and `using A` to the `A.jl` of a `src`."""
    by_path = path_resolver(project, language)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        if row.module.endswith(".jl"):
            yield from by_path(path, row)
            return
        first = row.module.strip(".").partition(".")[0]
        for found in by_path(path, replace(row, module=f"src/{first}.jl")):
            is_stdlib = first in STDLIB and found.resolved_path is None
            yield replace(found, module=row.module, is_stdlib=is_stdlib)

    return resolved
