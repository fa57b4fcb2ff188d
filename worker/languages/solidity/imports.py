"""Solidity: files beside the importing one, or below a directory or package that the build names, or what it remaps."""

import re
from collections.abc import Iterator

from msgspec.structs import replace

from fledgling.worker.deferred import deferred
from fledgling.worker.resolving.load_path import path_resolver
from fledgling.worker.resolving.project import MAX_PLACES, Project, Resolver, ancestors, answer, join
from fledgling.worker.rows import ImportRow

LISTS = ("remappings.txt", "foundry.toml")
REMAPPING = deferred(
    r"(?m)^[\s\"']*+(?>(?:[^\s:=\"']++:)?)(?P<prefix>[^\s:=\"']++)=(?P<target>[^\s=\"',]++)[\"', \t\r]*+$"
)


def remappings(project: Project) -> dict[str, list[tuple[str, str]]]:
    """Return what manifests remap, by their directories, the longest prefixes first: `@oz/=lib/oz/`.

    See https://docs.soliditylang.org/en/latest/path-resolution.html#import-remapping.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for directory, text in project.manifests_named(*LISTS):
        listed = text if "remappings" not in text else text.partition("remappings")[2].partition("]")[0]
        listed = re.sub(r"[\[,]", "\n", listed)
        found.setdefault(directory, []).extend((row["prefix"], row["target"]) for row in REMAPPING.finditer(listed))
    return {directory: sorted(rows, key=lambda row: -len(row[0])) for directory, rows in found.items()}


def resolver(project: Project, language: str) -> Resolver:
    """Resolve paths, by the remappings of the nearest manifest above first."""
    by_path = path_resolver(project, language)
    remapped = remappings(project)

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        for up in ancestors(path) if remapped and not row.is_relative else ():
            fitting = (rest for rest in remapped.get(up, ()) if row.module.startswith(rest[0]))
            for prefix, target in [*fitting][:MAX_PLACES]:
                place = join(up, target + row.module.removeprefix(prefix))
                if place in project.files:
                    yield answer(row, place)
                    return
        for found in by_path(path, row):
            yield replace(found, module=row.module)

    return resolved
