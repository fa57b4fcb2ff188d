"""Names that a build brings to files which do not import them: what other files export, below one that sets that up.

As Nuxt and unplugin-auto-import do: `useUser()` is what `composables/user.ts` exports.
"""

import posixpath
from functools import cached_property

from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.tables import EXPORT, EXPORTED
from fledgling.worker.graph.unit import Unit
from fledgling.worker.resolving.project import holding


class BroughtNames:
    """The exports of files below one that has names brought."""

    def __init__(self, project: GraphProject) -> None:
        self._project = project

    def places(self, unit: Unit, own: int) -> list[tuple[int, int]]:
        """The scopes of modules, with what binds it there, whose export a name may be that no scope of a file binds."""
        return self._exports.get(own, []) if unit.number in self._below else []

    @cached_property
    def _below(self) -> frozenset[int]:
        """The files below those that have names brought."""
        units = self._project.units
        folders = {posixpath.dirname(unit.path) for unit in units if _has_names_brought(unit)}
        below = (unit.number for unit in units if holding(unit.path, folders) is not None)
        return frozenset(below if folders else ())

    @cached_property
    def _exports(self) -> dict[int, list[tuple[int, int]]]:
        """By name, the scopes and names that bind it in modules below those folders that export it."""
        found: dict[int, list[tuple[int, int]]] = {}
        for unit in self._project.units:
            every = unit.facts.scopes[0].every if unit.number in self._below and unit.dialect.brings_names else {}
            for own, bindings in every.items():
                text = unit.facts.names[own]
                if text.startswith(EXPORT):
                    name = self._project.number(text.removeprefix(EXPORT))
                    found.setdefault(name, []).append((unit.base, unit.names[own]))
                elif any(unit.bindings[at].how == EXPORTED for at in bindings):
                    found.setdefault(unit.names[own], []).append((unit.base, unit.names[own]))
        return found


def _has_names_brought(unit: Unit) -> bool:
    """Whether a file is one that sets that up, by its name or by what it imports."""
    ways = unit.dialect.brings_names
    said = [posixpath.basename(unit.path), *(row.module for row in unit.facts.imports)] if ways else []
    return any(each.startswith(ways) for each in said)
