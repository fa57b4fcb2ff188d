"""What a program puts into objects where they may have had it, or nobody looks for it: `window.a = b`, `a[b()] = c`.

It is asked for when all is solved, of languages where functions make objects, and everything may be changed.
"""

from collections.abc import Iterator
from functools import cached_property

from fledgling.worker.graph.solving.containers import constants
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Flag, Op, ScopeKind
from fledgling.worker.graph.unit import Target, Unit
from fledgling.worker.graph.values import CLASS, OBJECT

OWN = (CLASS, OBJECT)
Member = tuple[int, bool, int]  # the scope of a class, whether it is of the class itself, a name or -1 for any


class Rewritten:
    """What is put into objects of some languages, by a name that is known or not."""

    def __init__(self, solver: Solver) -> None:
        self._solver, self._project = solver, solver.project
        self._units = [unit for unit in solver.project.units if unit.dialect.prototypes]

    def may_be_outside(self, name: int, *, is_global: bool) -> bool:
        """Whether the project puts something under a name into what is outside: `String.prototype.a = b`.

        A global variable may be what is put into an object of which nothing is known.
        """
        return name in self._solver.put_outside or (is_global and name in self._into_unknown)

    @cached_property
    def _into_unknown(self) -> set[int]:
        return {
            unit.names[write.name]
            for unit in self._units
            for write in unit.facts.writes
            if write.name != NONE and unit.names[write.name] in self._project.vocabulary.definitions
            if not self._solver.value(unit.base | write.of)
        }

    @cached_property
    def members(self) -> set[Target]:
        """The functions in classes that may be others when they are called: something is put over them."""
        scopes: set[Member] = set()
        for unit in self._units:
            for of, is_own, name in self._put(unit):
                scopes.update((at, is_own, name) for at in self._solver.classes.order(of))
        return {target for at, is_own, name in scopes for target in self._members(at, name, is_own=is_own)}

    def _put(self, unit: Unit) -> set[Member]:
        """What is put behind keys into objects of classes, and classes that make other objects than their own."""
        found: set[Member] = set()
        for of in self._other_prototypes(unit):
            found.update((*own, NONE) for own in self._own(unit, of))
        for write in unit.facts.writes:
            held = self._own(unit, write.of) if write.name == NONE else []
            for key in constants(self._solver, unit.base | write.key) if held else ():
                if key == "*" or key[0] == "text":
                    found.update((*own, NONE if key == "*" else key[1]) for own in held)
        for number, row in enumerate(unit.facts.scopes):
            is_constructor = row.name != NONE and unit.facts.names[row.name] in unit.dialect.constructors
            if is_constructor and any(unit.expressions[at][0] != Op.THIS for at in row.returned):
                owner = self._solver.classes.owner(unit.base | number)
                if owner is not None:
                    found.add((owner, False, NONE))
        return found

    def _own(self, unit: Unit, at: int) -> list[tuple[int, bool]]:
        """The classes of the project that an expression may be, or of whose objects it may be one: and which."""
        values = self._solver.value(unit.base | at)
        return [(value[1], value[0] == CLASS) for value in values if value[0] in OWN]

    def _other_prototypes(self, unit: Unit) -> Iterator[int]:
        """Yield what gets another prototype: `a.__proto__ = b`, `Object.setPrototypeOf(a, b)`."""
        names = unit.facts.names
        yield from (write.of for write in unit.facts.writes if write.name != NONE and names[write.name] == "__proto__")
        for op, *parts in unit.expressions if "setPrototypeOf" in names else ():
            if op == Op.CALL and parts[1] and parts[1][0] >= 0:
                how, *called = unit.expressions[parts[0]]
                yield from parts[1][:1] if how == Op.GET and names[called[1]] == "setPrototypeOf" else ()

    def _members(self, scope: int, name: int, *, is_own: bool) -> set[Target]:
        if self._project.scope(scope).kind != ScopeKind.CLASS:
            return set()
        table = self._project.table(scope)
        found: set[Target] = set()
        for at in table if name == NONE else table.keys() & {name, self._project.own_of(name)}:
            if name == NONE and self._project.text(at) in self._project.unit(scope).dialect.constructors:
                continue
            for binding in table[at]:
                target, function = self._project.defined(binding)
                if function >= 0 and bool(self._project.scope(function).flags & Flag.STATIC) == is_own:
                    found.add(target)
        return found
