"""Solidity: files beside the importing one, or below a directory or package that the build names, or what it remaps."""

import re
from collections.abc import Iterator
from functools import cache

from fledgling.worker.deferred import deferred
from fledgling.worker.resolving.load_path import path_resolver
from fledgling.worker.resolving.project import Project, Resolver, ancestors, answer, join
from fledgling.worker.rows import ImportRow

LISTS = ("remappings.txt", "foundry.toml")
REMAPPING = deferred(
    r"(?m)^[\s\"']*+(?>(?:[^\s:=\"']++:)?)(?P<prefix>[^\s:=\"']++)=(?P<target>[^\s=\"',]++)[\"', \t\r]*+$"
)


def remappings(project: Project) -> dict[str, dict[str, str]]:
    """Return what manifests remap, by their directories and prefixes, of one prefix the last: `@oz/=lib/oz/`.

    See https://docs.soliditylang.org/en/latest/path-resolution.html#import-remapping.
    """
    found: dict[str, dict[str, str]] = {}
    for directory, text in project.manifests_named(*LISTS):
        listed = text if "remappings" not in text else text.partition("remappings")[2].partition("]")[0]
        listed = re.sub(r"[\[,]", "\n", listed)
        found.setdefault(directory, {}).update((row["prefix"], row["target"]) for row in REMAPPING.finditer(listed))
    return found


def resolver(project: Project, language: str) -> Resolver:
    """Resolve paths, by the longest prefix that the nearest manifest above remaps first."""
    by_path = path_resolver(project, language)
    remapped = remappings(project)

    @cache
    def locate(directory: str, module: str) -> str | None:
        rows, ends = remapped.get(directory, {}), range(len(module), 0, -1)
        end = next((end for end in ends if module[:end] in rows), 0) if rows else 0
        return join(directory, rows[module[:end]] + module[end:]) if end else None

    def resolved(path: str, row: ImportRow) -> Iterator[ImportRow]:
        ups = ancestors(path) if remapped and not row.is_relative else ()
        place = next((place for up in ups if (place := locate(up, row.module)) in project.files), None)
        yield from [answer(row, place)] if place else by_path(path, row)

    return resolved
