"""Erlang: headers by their paths, modules by the files that have their names."""

from collections.abc import Iterator

from msgspec.structs import replace

from fledgling.worker.language import word_list
from fledgling.worker.resolving.load_path import path_resolver
from fledgling.worker.resolving.project import Project, Resolver, Suffixes, answer, only
from fledgling.worker.rows import ImportRow

STDLIB = word_list("erlang/stdlib.txt")  # modules of OTP, and its applications, whose headers are included


def resolver(project: Project, language: str) -> Resolver:
    """Resolve `-include("a.hrl")`, also in an `include` above, and `-import(a, [f/1])` to `a.erl`."""
    by_path = path_resolver(project, language)
    named = Suffixes(project.written_in(language))

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        directory = path.rpartition("/")[0]
        if not row.module.endswith(".hrl"):
            found = only(named.nearest(f"{row.module}.erl", directory))
            yield answer(row, found, is_stdlib=row.module in STDLIB)
            return
        places = (row.module, f"include/{row.module}")
        headers = [new for place in places for new in by_path(path, replace(row, module=place))]
        best = next((new.resolved_path for new in headers if new.resolved_path), None)
        application, _, below = row.module.partition("/")
        yield answer(row, best, is_stdlib=bool(below) and application in STDLIB)

    return resolved
