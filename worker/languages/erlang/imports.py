"""Erlang: headers by their paths, modules by the files that have their names."""

from collections.abc import Iterator

from msgspec.structs import replace

from fledgling.worker.resolving.load_path import path_resolver
from fledgling.worker.resolving.project import Project, Resolver, Suffixes, answer, only
from fledgling.worker.rows import ImportRow


def resolver(project: Project, language: str) -> Resolver:
    """Resolve `-include("a.hrl")`, also in an `include` above, and `-import(a, [f/1])` to `a.erl`."""
    by_path = path_resolver(project, language)
    named = Suffixes(project.written_in(language))

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        directory = path.rpartition("/")[0]
        if not row.module.endswith(".hrl"):
            yield answer(row, only(named.nearest(f"{row.module}.erl", directory)))
            return
        found = [
            new for place in (row.module, f"include/{row.module}") for new in by_path(path, replace(row, module=place))
        ]
        best = next((new for new in found if new.resolved_path), found[0])
        yield replace(best, module=row.module)

    return resolved
