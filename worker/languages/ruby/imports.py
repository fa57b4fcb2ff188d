"""Ruby: files beside the importing one, and below the directories of a load path."""

import posixpath
from collections.abc import Iterator
from functools import cache

from fledgling.worker.language import word_list
from fledgling.worker.resolving.load_path import below
from fledgling.worker.resolving.packages import prefixes
from fledgling.worker.resolving.project import Project, Resolver, Suffixes, answer, join, only
from fledgling.worker.rows import ImportRow

STDLIB = word_list("ruby/stdlib.txt")
FOLDERS = ("lib", "test", "spec")


def resolver(project: Project, _language: str) -> Resolver:
    """Resolve `require_relative "x"` beside the file, `require "x"` below `lib`, `test` and `spec`."""
    libraries = Suffixes(project.written_in("ruby"))

    @cache
    def locate(directory: str, module: str) -> str | None:
        name = module if module.endswith(".rb") else f"{module}.rb"
        found = below(project, posixpath.join(directory, "x"), FOLDERS, name)
        if found or name.removesuffix(".rb") in STDLIB:
            return found
        return only(libraries.nearest(f"lib/{name}", directory))

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        directory = posixpath.dirname(path)
        if row.is_relative:
            place = join(directory, row.module) or ""
            yield answer(row, next((at for at in (place + ".rb", place) if at in project.files), None))
        else:
            parts = prefixes(row.module.removesuffix(".rb").replace("/", "."))
            is_stdlib = any(part.replace(".", "/") in STDLIB for part in parts)
            yield answer(row, locate(directory, row.module), is_stdlib=is_stdlib)

    return resolved
