"""Zig: files beside the importing one; a word is a module that `build.zig` adds, a package, or `std`."""

from collections.abc import Iterator

from fledgling.worker.deferred import deferred
from fledgling.worker.resolving.load_path import path_resolver
from fledgling.worker.resolving.project import Project, Resolver, ancestors, answer, join
from fledgling.worker.rows import ImportRow

MANIFEST = "build.zig"
STDLIB = deferred("(?:std|builtin|root)$")
MODULE = deferred(
    r"\.addModule\(\s*+\"(?P<name>[^\"\n]++)\"[^;]{0,400}?\.root_source_file\s*+=\s*+\w++\.path\(\s*+\"(?P<path>[^\"\n]++)\""
)


def resolver(project: Project, language: str) -> Resolver:
    """Resolve paths, and names of modules by the nearest `build.zig` above that adds one: `b.addModule("a", ...)`."""
    by_path = path_resolver(project, language, stdlib=STDLIB)
    added = {
        (directory, module["name"]): join(directory, module["path"])
        for directory, text in project.manifests_named(MANIFEST)
        for module in MODULE.finditer(text)
    }

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        places = (added.get((up, row.module)) for up in ancestors(path)) if added else ()
        place = next((place for place in places if place in project.files), None)
        yield from [answer(row, place)] if place else by_path(path, row)

    return resolved
