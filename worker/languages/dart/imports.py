"""Dart: files beside the importing one, and `package:a/b.dart`, the file `lib/b.dart` of the package `a`."""

from collections.abc import Iterator

from msgspec.structs import replace

from fledgling.worker.deferred import deferred
from fledgling.worker.resolving.load_path import path_resolver
from fledgling.worker.resolving.project import Project, Resolver
from fledgling.worker.rows import ImportRow

DART = deferred("dart:")
PACKAGE = "package:"


def resolver(project: Project, language: str) -> Resolver:
    """Resolve a path or the URI of a package; a package's directory bears its name."""
    by_path = path_resolver(project, language, stdlib=DART)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        package, _, rest = row.module.removeprefix(PACKAGE).partition("/")
        is_package = row.module.startswith(PACKAGE) and rest
        places = (f"{package}/lib/{rest}", f"lib/{rest}") if is_package else (row.module,)
        found = [new for place in places for new in by_path(path, replace(row, module=place))]
        best = next((new for new in found if new.resolved_path), found[0])
        yield replace(best, module=row.module)

    return resolved
