"""Elixir: modules by the files that define them."""

from collections.abc import Iterator
from functools import cache
from posixpath import dirname

from msgspec.structs import replace

from fledgling.worker.resolving.packages import Names
from fledgling.worker.resolving.project import Project, Resolver, answer
from fledgling.worker.rows import ImportRow


def resolver(project: Project, language: str) -> Resolver:
    """Resolve `alias A.B` to the file that defines the module `A.B`, and `alias A.{B, C}` name by name."""
    modules = Names(project, (language,))

    @cache
    def locate(directory: str, module: str) -> str | None:
        # a protocol is a name, and what implements it elsewhere a module of that name
        return next(iter(modules.name(module, directory) or modules.package(module, directory)), None)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        directory = dirname(path)
        if not row.imported_names:
            yield answer(row, locate(directory, row.module))
            return
        places = {name: locate(directory, f"{row.module}.{name}") for name in row.imported_names}
        for found in dict.fromkeys(places.values()):
            names = tuple(name for name in row.imported_names if places[name] == found)
            yield answer(replace(row, imported_names=names), found)

    return resolved
