"""Julia: files that `include` names, packages by the file that has their name, and names of the modules around."""

from collections.abc import Iterator
from posixpath import basename, dirname

from msgspec.structs import replace

from fledgling.worker.language import word_list
from fledgling.worker.resolving.load_path import path_resolver
from fledgling.worker.resolving.packages import Names
from fledgling.worker.resolving.project import Declared, Project, Resolver, answer, holding
from fledgling.worker.rows import ImportRow

STDLIB = word_list("julia/stdlib.txt")


def resolver(project: Project, language: str) -> Resolver:
    """Resolve `include("a.jl")` beside the file, `using A` to the `A.jl` of a `src`, `using ..A` to what defines `A`.

    A module is in all files that it includes, so such a name is that of any of them; if none defines it, the module
    itself has it from elsewhere.
    """
    by_path = path_resolver(project, language)
    names = Names(project, (language,))
    modules = {  # by directory, the file that is a module of its own name, `src/A.jl`
        dirname(path): path
        for path in project.written_in(language)
        if basename(path)[: -len(".jl")] in project.declared.get(path, Declared()).packages
    }

    def around(path: str, name: str) -> str | None:
        directory = dirname(path)
        defining = [found for found in (*names.package(name, directory), *names.name(name, directory)) if found != path]
        module = modules.get(holding(path, modules) or "")
        return next(iter(defining), module if module != path else None)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        if row.module.endswith(".jl"):
            yield from by_path(path, row)
            return
        first = row.module.strip(".").partition(".")[0]
        if row.module.startswith(".") and (found := around(path, first)):
            yield answer(row, found)
            return
        for found_row in by_path(path, replace(row, module=f"src/{first}.jl")):
            is_stdlib = first in STDLIB and found_row.resolved_path is None
            yield replace(found_row, module=row.module, is_stdlib=is_stdlib)

    return resolved
