"""Haskell: a module is the file that its name says, `A.B` is `A/B.hs`, or `A/B.lhs`, below some directory."""

from collections.abc import Iterator

from msgspec.structs import replace

from fledgling.worker.language import word_list
from fledgling.worker.resolving.load_path import path_resolver
from fledgling.worker.resolving.project import Project, Resolver
from fledgling.worker.rows import ImportRow

STDLIB = word_list("haskell/stdlib.txt")  # modules of GHC's `base`; other libraries are packages to be named
FOLDERS = ("", "src/", "lib/", "app/", "test/", "tests/")


def resolver(project: Project, language: str) -> Resolver:
    """Resolve modules below the source directories of what is above the file, or where there is one of that name."""
    by_path = path_resolver(project, language)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        files = [row.module.replace(".", "/") + end for end in (".hs", ".lhs")]
        found = [new for file in files for up in FOLDERS for new in by_path(path, replace(row, module=up + file))]
        best = next((new for new in found if new.resolved_path), found[0])
        is_stdlib = best.resolved_path is None and row.module in STDLIB
        yield replace(best, module=row.module, is_stdlib=is_stdlib)

    return resolved
