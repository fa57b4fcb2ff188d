"""Perl: a module is a file below a directory of @INC, `Foo::Bar` is `Foo/Bar.pm`."""

from collections.abc import Iterator

from msgspec.structs import replace

from fledgling.worker.deferred import deferred
from fledgling.worker.language import word_list
from fledgling.worker.resolving.load_path import path_resolver
from fledgling.worker.resolving.project import Project, Resolver
from fledgling.worker.rows import ImportRow

STDLIB = word_list("perl/stdlib.txt")
PRAGMA = deferred(r"[a-z]")
FOLDERS = ("", "lib/", "t/lib/")


def resolver(project: Project, language: str) -> Resolver:
    """Resolve modules below `lib` and `t/lib` of what is above the file, or where there is one of that name."""
    by_path = path_resolver(project, language)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        file = row.module.replace("::", "/") + ".pm"
        found = [new for up in FOLDERS for new in by_path(path, replace(row, module=up + file))]
        best = next((new for new in found if new.resolved_path), found[0])
        is_stdlib = best.resolved_path is None and (row.module in STDLIB or PRAGMA.match(row.module) is not None)
        yield replace(best, module=row.module, is_stdlib=is_stdlib)

    return resolved
