"""What files of JavaScript and TypeScript declare for all others: scripts, which are no modules; `declare global`."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from fledgling.worker.graph.linking.brought_names import BroughtNames
from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.tables import NONE, Flag, NameScope, ScopeKind
from fledgling.worker.graph.unit import SHIFT, Unit

OF_MODULES = frozenset(["exports", "require", "define"])  # names that a module of CommonJS or AMD has
MAX_DECLARED = 8  # places that declare one global name; of more, the first are possible


class GlobalNames:
    """The scopes whose names all files see."""

    def __init__(self, project: GraphProject) -> None:
        self._project = project
        self._brought = BroughtNames(project)
        self._beside: dict[tuple[int, int], list[int]] = {}  # what _in_namespaces() found

    def places(self, unit: Unit, own: int) -> list[Any]:
        """The places of a name that no scope of its file binds.

        What types declare is global. What another script declares is so where the file is a script too and no other
        one declares it; else it may be.
        """
        declared, others = self._declaring
        if found := self._in_namespaces(unit, own) or declared.get(own):
            most = Reason.UNDECLARED if len(found) <= MAX_DECLARED else Reason.NAME_ONLY
            return [(("name", at, own), most, None) for at in found[:MAX_DECLARED]]
        scopes = others.get(own, ())
        most = Reason.UNDECLARED if len(scopes) == 1 and unit.number in self._scripts else Reason.NAME_ONLY
        others_have = [(("name", at, own), most, None) for at in scopes[:2] if at >> SHIFT != unit.number]
        return others_have or self._brought_to(unit, own)

    def _brought_to(self, unit: Unit, own: int) -> list[Any]:
        """The places of what others export that a build brings to a file."""
        brought = self._brought.places(unit, own)
        most = Reason.UNDECLARED if len(brought) == 1 else Reason.NAME_ONLY
        return [(("name", *place), most, None) for place in brought[:MAX_DECLARED]]

    def declares(self, name: int) -> bool:
        """Whether a name is one of the object that holds what is global: `window.a`."""
        return any(name in found for found in self._declaring)

    def members(self, of: str, name: int) -> list[Any]:
        """The places of a member of the object that holds what is global: `window.a`, `globalThis.a`."""
        scopes = self._of_window.get(name) or self._declaring[0].get(name)
        if not scopes or of.rpartition(".")[2] not in self._objects:
            return []
        most = Reason.UNDECLARED if len(scopes) <= MAX_DECLARED else Reason.NAME_ONLY
        return [(("name", at, name), most, at) for at in scopes[:MAX_DECLARED]]

    @cached_property
    def _objects(self) -> set[str]:
        computing = (unit.dialect.computing for unit in self._project.units if unit.dialect.prototypes)
        return {name for each in computing for name, how in each.items() if how == "global"}

    @cached_property
    def _of_window(self) -> dict[int, list[int]]:
        """The interfaces that add each name to what `window` has: `declare global { interface Window { a: A } }`."""
        found: dict[int, list[int]] = {}
        for scope in self._adding:
            said = self._project.scope(scope).name
            if said != NONE and self._project.unit(scope).facts.names[said].lower() in self._objects:
                for name in self._project.table(scope):
                    found.setdefault(name, []).append(scope)
        return found

    @cached_property
    def added(self) -> set[int]:
        """The names of what interfaces add to those outside: `declare global { interface Window { a: A } }`."""
        return {name for scope in self._adding for name in self._project.table(scope)}

    @cached_property
    def _adding(self) -> list[int]:
        """The interfaces that add to those outside."""
        return [
            unit.base | at
            for unit in self._project.units
            for at, row in enumerate(unit.facts.scopes if unit.dialect.typed and unit.dialect.prototypes else ())
            if row.kind == ScopeKind.INTERFACE and _adds(unit, row)
        ]

    def module(self, name: str, own: int) -> list[Any]:
        """The place of a name that a module outside has as it is declared: `declare module "m" { function a(): A }`."""
        names = [each for each in (own, self._project.export_of(own)) if (name, each) in self._modules]
        return [(("name", self._modules[name, each], each), Reason.ONLY_DECLARED, None) for each in names[:1]]

    def _in_namespaces(self, unit: Unit, own: int) -> list[int]:
        """The namespaces of other scripts that have a name, of those that a file adds to: `namespace A {}` in both."""
        found = self._beside.get((unit.number, own))
        if found is None:
            names, having = self._namespaces
            beside = having.get(own, {})
            both = names.get(unit.number, set()) & beside.keys() if beside else ()
            found = [at for name in both for at in beside[name]][: MAX_DECLARED + 1]
            self._beside[unit.number, own] = found
        return found

    @cached_property
    def _namespaces(self) -> tuple[dict[int, set[int]], dict[int, dict[int, list[int]]]]:
        """The names of the namespaces of scripts, by their files; these by what they have, and by their names."""
        names, having = dict[int, set[int]](), dict[int, dict[int, list[int]]]()
        for unit in self._project.units:
            for at, row in enumerate(unit.facts.scopes if unit.dialect.typed and unit.dialect.prototypes else ()):
                if row.kind == ScopeKind.NAMESPACE and row.name != NONE and unit.number in self._scripts:
                    own = unit.names[row.name]
                    names.setdefault(unit.number, set()).add(own)
                    for name in self._project.table(unit.base | at):
                        having.setdefault(name, {}).setdefault(own, []).append(unit.base | at)
        return names, having

    @cached_property
    def _modules(self) -> dict[tuple[str, int], int]:
        """The first scope that declares each name of each module outside."""
        found: dict[tuple[str, int], int] = {}
        for unit in self._project.units:
            for at, row in enumerate(unit.facts.scopes if unit.dialect.typed and unit.dialect.prototypes else ()):
                if _is_open(row) and row.name != NONE:
                    for name in self._project.table(unit.base | at):
                        found.setdefault((unit.facts.names[row.name], name), unit.base | at)
        return found

    @cached_property
    def _scripts(self) -> frozenset[int]:
        """The files that are no modules: their names are those of all scripts."""
        return frozenset(unit.number for unit in self._project.units if _is_script(unit))

    @cached_property
    def _declaring(self) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """The scopes that bind each global name: those of TypeScript, and the others."""
        found: tuple[dict[int, list[int]], dict[int, list[int]]] = ({}, {})
        for unit in self._project.units:
            for scope in self._global_scopes(unit):
                for name in self._project.table(scope):
                    found[not unit.dialect.typed].setdefault(name, []).append(scope)
        return found

    def _global_scopes(self, unit: Unit) -> Iterator[int]:
        if unit.number in self._scripts:
            yield unit.base
        for at, row in enumerate(unit.facts.scopes if unit.dialect.typed and unit.dialect.prototypes else ()):
            if _is_open(row) and row.name == NONE:
                yield unit.base | at


def _is_script(unit: Unit) -> bool:
    is_module = not unit.dialect.prototypes or unit.facts.scopes[0].flags & Flag.HIDDEN or unit.facts.imports
    return not is_module and OF_MODULES.isdisjoint(unit.facts.names)


def _adds(unit: Unit, row: NameScope) -> bool:
    """Whether an interface stands in a block for others, or has the name of one of the language."""
    around = unit.facts.scopes[row.parent]
    if _is_open(around):
        return True
    name = "" if row.name == NONE else unit.facts.names[row.name]
    return row.parent == 0 and (name.lower() in unit.dialect.computing or name in unit.dialect.types)


def _is_open(row: NameScope) -> bool:
    """Whether a block declares names for others: `declare global {}`, `declare module "m" {}`."""
    return row.kind == ScopeKind.NAMESPACE and bool(row.flags & Flag.OPEN)
