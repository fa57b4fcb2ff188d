"""Modules of Ruby that a class may have besides: `include(plugin::A)`, `a.extend(b)`. Which, only a run would tell."""

from collections.abc import Iterable, Iterator, Set
from typing import NamedTuple

import numpy as np

from fledgling.worker.graph.linking.hierarchy import Hierarchy
from fledgling.worker.graph.tables import NAME, NONE, Flag, Op, ScopeKind, Site, Use, site_columns
from fledgling.worker.graph.unit import Unit
from fledgling.worker.graph.values import CLASS, EXTERNAL

MIXING = {"include": (True, False), "prepend": (True, False), "extend": (True, True)}  # whether objects, and classes
MAX_MIXED = 64  # places, and modules that have one name, which are looked at for each class: a file can have thousands
OF_CLASSES = (ScopeKind.CLASS, ScopeKind.INTERFACE)


class Mixed(NamedTuple):
    """A place where something that is computed is mixed in."""

    last: str  # the name that such a module has, if one is said
    of: int  # the class that gets it, or NONE: any
    by_objects: bool  # whether its objects have the methods
    by_class: bool  # whether it has them itself
    is_first: bool  # whether they come before its own


ANYTHING = Mixed("", NONE, by_objects=True, by_class=True, is_first=True)


class ComputedMixins:
    """Where modules are mixed in that are computed, and which modules may be."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy
        self._project = hierarchy.project
        self._places: list[Mixed] = []
        self._having: dict[int, list[int]] = {}  # by the names of methods, the modules that may be mixed in
        self.of_classes: set[int] = set()  # the modules that classes may have extended themselves by

    def settle(self) -> None:
        """Find where modules are mixed in that are computed, and what these may have."""
        ruby = [unit for unit in self._project.units if unit.dialect.bare_calls]
        places = [*dict.fromkeys(place for unit in ruby for place in self._mixed_in(unit))]
        self._places = places if len(places) <= MAX_MIXED else [ANYTHING]
        lasts = {place.last for place in self._places}
        of_classes = {place.last for place in self._places if place.by_class}
        for unit in ruby if lasts else ():
            for at, row in enumerate(unit.facts.scopes):
                if row.kind == ScopeKind.INTERFACE and self._hierarchy.whole(unit.base | at) == unit.base | at:
                    self._add(unit.base | at, lasts, of_classes)

    def _add(self, module: int, lasts: Set[str], of_classes: Set[str]) -> None:
        if self._is_named(module, of_classes):
            self.of_classes.add(module)
        if not self._is_named(module, lasts):
            return
        for name, bindings in self._project.table(module).items():
            having = self._having.setdefault(name, [])
            if len(having) < MAX_MIXED and any(map(self._is_method, bindings)):
                having.append(module)

    def _is_method(self, binding: int) -> bool:
        _, scope = self._project.defined(binding)
        row = self._project.scope(scope) if scope >= 0 else None
        return row is not None and row.kind == ScopeKind.FUNCTION and not row.flags & Flag.STATIC

    def over(self, scope: int, name: int, owner: int | None, below: Iterable[int], *, by_class: bool) -> list[int]:
        """The modules that may come before the owner of what a class, or what is below it, has of a name."""
        modules = self._having.get(name)
        if not modules:
            return []
        asked = [scope, *below]
        known = {at for each in asked for at in self._hierarchy.order(each)}
        meant = [place for place in self._places if self._is_before(place, asked, owner, by_class=by_class)]
        lasts = {place.last for place in meant if place.last or owner is not None}  # what nobody has need not be there
        return [at for at in modules if at not in known and self._is_named(at, lasts)]

    def _is_named(self, module: int, lasts: Set[str]) -> bool:
        """Whether a module may have one of some last names, of which an empty one is any."""
        row = self._project.scope(module)
        is_any = "" in lasts or (bool(lasts) and row.name == NONE)
        return is_any or self._project.unit(module).facts.names[row.name] in lasts

    def _is_before(self, place: Mixed, asked: list[int], owner: int | None, *, by_class: bool) -> bool:
        """Whether what is mixed in at a place may come before what has a method."""
        if not (place.by_class if by_class else place.by_objects):
            return False
        if self._project.scope(asked[0]).kind == ScopeKind.INTERFACE and place.of == NONE:
            return True  # whose objects are of a class that is not known
        if place.of == NONE and not place.last and place is not ANYTHING:
            return False  # of which nothing is known: it would be said of every class
        for at in asked:
            order = self._hierarchy.order(at)
            own = order.index(owner) if owner in order else len(order)
            got = 0 if place.of == NONE else order.index(place.of) if place.of in order else len(order)
            if got < own or (got == own < len(order) and place.is_first and not by_class):
                return True
        return False

    def _mixed_in(self, unit: Unit) -> Iterator[Mixed]:
        """Yield where a file mixes in what is computed."""
        for at, row in enumerate(unit.facts.scopes):
            for base in row.bases:
                if self._is_computed(unit, base):
                    last, of = self._named(unit, base), self._hierarchy.whole(unit.base | at)
                    yield Mixed(last, of, by_objects=True, by_class=False, is_first=base in row.prepended)
        wanted = [name in MIXING or unit.dialect.sending.get(name) == "calls" for name in unit.facts.names]
        sites = site_columns(unit.facts) if any(wanted) else None
        if sites is None:
            return
        for row in sites.T[np.array(wanted, np.bool_)[sites[NAME]]].tolist():
            site = Site(*row)
            if site.use == Use.CALL and unit.expressions[site.at][0] == Op.CALL:
                yield from self._by_call(unit, site)

    def _by_call(self, unit: Unit, site: Site) -> Iterator[Mixed]:
        """Yield what a call mixes in: `include(a)`, `a.extend(b)`, `a.send(:include, b)`."""
        _, function, arguments, *_ = unit.expressions[site.at]
        how, given = unit.facts.names[site.name], [each if each >= 0 else ~each for each in arguments]
        if how not in MIXING:
            op, *parts = unit.expressions[given[0]] if given else (Op.UNKNOWN,)
            how, given = unit.facts.names[parts[0]] if op == Op.TEXT else "", given[1:]
        if how not in MIXING or self._is_outside(unit, function):
            return
        of, (by_objects, by_class) = self._target(unit, site.scope, function, how)
        is_first = how == "prepend" or (how == "extend" and of != NONE and by_objects)
        for each in given:
            if self._is_computed(unit, each):
                yield Mixed(self._named(unit, each), of, by_objects, by_class, is_first)

    def _is_outside(self, unit: Unit, function: int) -> bool:
        """Whether what gets a module is outside: `Object.new.extend(a)`."""
        op, *parts = unit.expressions[function]
        held = self._hierarchy.value(unit.base | parts[0]) if op == Op.GET else {}
        return bool(held) and all(value[0] == EXTERNAL for value in held)

    def _target(self, unit: Unit, scope: int, function: int, how: str) -> tuple[int, tuple[bool, bool]]:
        """The class that gets a module, or NONE, and whether its objects and it itself have the methods then."""
        op, *parts = unit.expressions[function]
        if op == Op.GET and unit.expressions[parts[0]][0] != Op.THIS:
            maker = unit.expressions[parts[0]]
            called = unit.expressions[maker[1]] if maker[0] == Op.CALL else maker
            names = called[2] if called[0] == Op.GET else called[1] if called[0] == Op.BARE else NONE
            is_own = names != NONE and unit.facts.names[names] == "singleton_class"
            named = [value[1] for value in self._hierarchy.value(unit.base | parts[0]) if value[0] == CLASS]
            if len(named) == 1:  # A.include(b)
                return named[0], (how != "extend", how == "extend")
            return NONE, (True, True) if is_own else MIXING[how]
        row, is_static = unit.facts.scopes[scope], True
        if row.kind == ScopeKind.FUNCTION:
            is_static, scope = bool(row.flags & Flag.STATIC), row.parent
            row = unit.facts.scopes[scope]
        if row.kind not in OF_CLASSES or (row.kind == ScopeKind.INTERFACE and not is_static):
            return NONE, MIXING[how]
        of = self._hierarchy.whole(unit.base | scope)
        return (of, (how != "extend", how == "extend")) if is_static else (of, MIXING[how])

    def _is_computed(self, unit: Unit, at: int) -> bool:
        """Whether a module is not named by its path: `a`, `a::B`, `A.b`, where A is of the project."""
        op, *parts = unit.expressions[at]
        is_called = False
        while op in (Op.GET, Op.CALL):
            is_called, at = is_called or op == Op.CALL, parts[0]
            op, *parts = unit.expressions[at]
        if op not in (Op.BARE, Op.NAME):
            return op not in (Op.CLASS, Op.ROOT, Op.TEXT, Op.UNKNOWN, Op.MADE, Op.FUNCTION)
        is_constant = unit.facts.names[parts[0]][:1].isupper()
        held = self._hierarchy.value(unit.base | at) if is_called else {}
        return not is_constant or any(value[0] == CLASS for value in held)

    def _named(self, unit: Unit, at: int) -> str:
        """The last name of what is computed, if that is said: B of `a::B`."""
        op, *parts = unit.expressions[at]
        last = unit.facts.names[parts[1]] if op == Op.GET else ""
        return last if last[:1].isupper() else ""
