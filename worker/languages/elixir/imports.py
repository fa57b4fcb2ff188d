"""Elixir: modules by the files that define them."""

from collections.abc import Iterator
from functools import cache
from posixpath import dirname

from fledgling.worker.resolving.packages import Names
from fledgling.worker.resolving.project import Project, Resolver, answer
from fledgling.worker.rows import ImportRow


def resolver(project: Project, language: str) -> Resolver:
    """Resolve `alias A.B` to the file that defines the module `A.B`, and `alias A.{B, C}` name by name."""
    modules = Names(project, (language,))

    @cache
    def locate(directory: str, module: str) -> str | None:
        return next(iter(modules.package(module, directory)), None)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        yield answer(row, locate(dirname(path), row.module))

    return resolved
