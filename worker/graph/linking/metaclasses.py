"""What the metaclasses of Python put into the classes that they make: `namespace["a"] = b`."""

from collections.abc import Iterator, Set

from fledgling.worker.graph.linking.hierarchy import Hierarchy
from fledgling.worker.graph.tables import NONE, Op
from fledgling.worker.graph.unit import MASK, Unit
from fledgling.worker.graph.values import CLASS

MAKERS = ("__new__", "__init__")  # the methods of a metaclass that run when a class of it is made
NOTHING: frozenset[int] = frozenset()


class Metaclasses:
    """The classes that other classes are of."""

    def __init__(self, classes: Hierarchy) -> None:
        self._classes, self._project = classes, classes.project
        self._puts: dict[int, Set[int]] = {}  # by classes
        self._by: dict[int, Set[int]] = {}  # by metaclasses
        self._keyed: dict[int, dict[int, list[tuple[int, int]]]] = {}  # of files, by their numbers

    def of(self, scope: int) -> list[int]:
        """Those of the project that a class, or one above it, is of; the nearest is derived from the others."""
        said = [(at, self._project.scope(at).metaclass) for at in self._classes.order(scope)]
        nodes = [(at & ~MASK) | metaclass for at, metaclass in said if metaclass != NONE]
        return [value[1] for node in nodes for value in self._classes.value(node) if value[0] == CLASS]

    def put(self, scope: int) -> Set[int]:
        """The names behind which a class gets something from its metaclass when it is made, -1 for any."""
        found = self._puts.get(scope)
        if found is None:
            found = next(map(self._put_by, self.of(scope)), NOTHING)
            if self._classes.is_settled:
                self._puts[scope] = found
        return found

    def _put_by(self, metaclass: int) -> Set[int]:
        """The same by one metaclass, found once: many classes may be of one that puts much into each."""
        found = self._by.get(metaclass)
        if found is None:
            found = frozenset(name for function in self._making(metaclass) for name in self._put_in(function))
            if self._classes.is_settled:
                self._by[metaclass] = found
        return found

    def _making(self, metaclass: int) -> Iterator[int]:
        """Yield the functions that run when a class is made."""
        project = self._project
        names = [project.numbers[name] for name in MAKERS if name in project.numbers]
        for up in self._classes.order(metaclass):
            bindings = [binding for name in names for binding in project.table(up).get(name, ())]
            yield from (function for _, function in map(project.defined, bindings) if function >= 0)

    def _put_in(self, function: int) -> Iterator[int]:
        """Yield the names behind which a function puts something into a dictionary of its own."""
        unit = self._project.unit(function)
        own, parameters = function & MASK, {each.name for each in self._project.scope(function).parameters}
        for of, key in self._keyed_writes(unit).get(own, ()):
            op, *parts = unit.expressions[of]
            if op == Op.NAME and parts[1] == own:
                key_op, *text = unit.expressions[key]
                if key_op == Op.TEXT:
                    yield unit.names[text[0]]
                elif parts[0] in parameters:
                    yield NONE

    def _keyed_writes(self, unit: Unit) -> dict[int, list[tuple[int, int]]]:
        """Into what each function of a file puts something, and behind which key."""
        found = self._keyed.get(unit.number)
        if found is None:
            found = self._keyed[unit.number] = {}
            for write in unit.facts.writes:
                if write.name == NONE:
                    found.setdefault(write.scope, []).append((write.of, write.key))
        return found
