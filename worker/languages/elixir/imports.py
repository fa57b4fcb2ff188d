"""Elixir: modules by the files that define them."""

from collections.abc import Iterator
from functools import cache
from posixpath import dirname

from msgspec.structs import replace

from fledgling.worker.language import word_list
from fledgling.worker.resolving.packages import Names
from fledgling.worker.resolving.project import Project, Resolver, answer
from fledgling.worker.rows import ImportRow

STDLIB = word_list("elixir/stdlib.txt")  # of Elixir 1.14 and what came since: ExUnit, IEx, Logger and Mix, too


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
            yield answer(row, locate(directory, row.module), is_stdlib=row.module in STDLIB)
            return
        full = {name: f"{row.module}.{name}" for name in row.imported_names}
        ends = {name: (locate(directory, module), module in STDLIB) for name, module in full.items()}
        for found, is_stdlib in dict.fromkeys(ends.values()):
            names = tuple(name for name in row.imported_names if ends[name] == (found, is_stdlib))
            yield answer(replace(row, imported_names=names), found, is_stdlib=is_stdlib)

    return resolved
