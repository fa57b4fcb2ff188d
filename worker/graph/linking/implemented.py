"""Interfaces that a class implements without naming them: in Go it has only to have their methods."""

from collections.abc import Iterator, Mapping, Sequence

from fledgling.worker.graph.columns import EXTENDS, IMPLEMENTS, MAY_IMPLEMENT
from fledgling.worker.graph.linking.hierarchy import MAX_BELOW, Hierarchy
from fledgling.worker.graph.linking.method_types import MethodTypes
from fledgling.worker.graph.tables import NONE, Op, ScopeKind
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import CLASS

BLANK = "_"


class Implemented:
    """Which classes are `by` that below the interfaces that they implement."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy
        self._project = hierarchy.project
        self._method_types = MethodTypes(hierarchy.project, hierarchy.value)
        self._outside: Mapping[int, Sequence[str]] = {}
        self.by: dict[int, list[int]] = {}  # the classes of each interface
        self.doubted: set[tuple[int, int]] = set()  # interfaces, and classes that may lack a method of theirs
        self.asserted: set[tuple[int, int]] = set()  # interfaces, and classes that a compiler has checked to be such
        self.cut: set[int] = set()  # those that more classes may implement than are looked at
        # by the rarest method of those of `cut`: who was looked at, and for which methods
        self._looked_at: dict[int, tuple[set[int], set[int]]] = {}

    def settle(self, outside: Mapping[int, Sequence[str]]) -> None:
        """Find the classes by all bases; `outside` are the names of those that the project does not have."""
        self._outside = outside
        project = self._project
        having: dict[int, list[int]] = {}  # what has a method itself, classes first
        embedding: dict[int, list[int]] = {}
        interfaces: list[int] = []
        classes: list[int] = []
        for scope, own in self._hierarchy.bases.items():
            if project.unit(scope).dialect.structural:
                (interfaces if project.scope(scope).kind == ScopeKind.INTERFACE else classes).append(scope)
                for base, _ in own:
                    embedding.setdefault(base, []).append(scope)
        for scope in (*classes, *interfaces):
            for name in project.table(scope):
                having.setdefault(name, []).append(scope)
        of_classes = set(classes)
        for scope in interfaces:
            methods = self._methods(scope)
            rarest = min(methods, key=lambda name: len(having[name]), default=None)
            others = [at for at in having[rarest] if at != scope] if rarest is not None else []
            candidates = _with_embedding(others, embedding)
            if len(candidates) > MAX_BELOW and rarest is not None:
                self.cut.add(scope)
                asked = set(candidates[:MAX_BELOW])
                before, for_methods = self._looked_at.get(rarest, (asked, set()))
                self._looked_at[rarest] = before & asked, for_methods.union(methods)
            self._add(scope, methods, [at for at in candidates[:MAX_BELOW] if at in of_classes])
        self._add_asserted()

    def kind(self, interface: int, scope: int) -> str:
        """How a class is below an interface: surely where the program says so."""
        if (interface, scope) in self.asserted:
            return EXTENDS
        return MAY_IMPLEMENT if (interface, scope) in self.doubted else IMPLEMENTS

    def not_asked(self, scope: int) -> set[int]:
        """The methods of a class for which it may implement an interface that has more below than are looked at."""
        order = self._hierarchy.order(scope) if self._looked_at else ()
        names = {name for at in order for name in self._project.table(at)}
        found = (self._looked_at[name] for name in names if name in self._looked_at)
        return {method for asked, methods in found if scope not in asked for method in methods}

    def _add(self, interface: int, methods: list[int], candidates: list[int]) -> None:
        for at in candidates:
            if (is_sure := self._implements(at, interface, methods)) is not None:
                self.by.setdefault(interface, []).append(at)
                if not is_sure:
                    self.doubted.add((interface, at))

    def _add_asserted(self) -> None:
        """Let be sure what a compiler has checked: `var _ A = B{}`, `= &B{}`, `= (*B)(nil)`, `= new(B)`."""
        found: dict[int, dict[int, None]] = {}
        for type_, made in self._asserting():
            op, *parts = self._project.expression(made)
            if op not in (Op.NEW, Op.CALL):
                continue
            of = [each for node in (parts[0], *parts[1][:1]) for each in self._types((made & ~MASK) | node)]
            classes = [at for at in of if self._project.scope(at).kind == ScopeKind.CLASS]
            for interface in self._types(type_):
                found.setdefault(interface, {}).update(dict.fromkeys(classes))
        for interface, asserted in found.items():
            self.by[interface] = [*dict.fromkeys([*self.by.get(interface, ()), *asserted])]
            self.asserted.update((interface, at) for at in asserted)
        self.doubted -= self.asserted

    def _asserting(self) -> Iterator[tuple[int, int]]:
        """Yield the type and the value of each variable that nobody can use."""
        for unit in self._project.units:
            names = unit.facts.names
            if not (unit.dialect.structural and BLANK in names):
                continue
            blank = names.index(BLANK)
            for row in unit.facts.bindings:
                if row.name == blank and not row.scope:
                    op, *parts = self._project.expression(unit.base | row.value)
                    if op == Op.DECLARED and parts[1] != NONE:
                        yield unit.base | parts[0], unit.base | parts[1]

    def _types(self, node: int) -> list[int]:
        """The classes and interfaces that an expression names."""
        return [value[1] for value in self._hierarchy.value(node) if value[0] == CLASS]

    def _methods(self, interface: int) -> list[int]:
        """The names of the methods of an interface; what it embeds is none of them."""
        return [
            name
            for at in self._hierarchy.order(interface)
            for name, bindings in self._project.table(at).items()
            if any(self._project.defined(binding)[1] >= 0 for binding in bindings)
        ]

    def _implements(self, scope: int, interface: int, methods: list[int]) -> bool | None:
        """Whether a class surely has the methods of an interface, those from outside too; None if it lacks one."""
        known = self._project.unit(interface).dialect.outside_methods
        asked = {name for at in self._hierarchy.order(interface) for name in self._outside.get(at, ())}
        had = {name for at in self._hierarchy.order(scope) for name in self._outside.get(at, ())}
        is_sure = all(name in known for name in asked)
        given = {method for name in had for method in known.get(name, ())}
        wanted = {self._project.text(name): name for name in methods}
        for method in (*wanted, *(method for name in asked for method in known.get(name, ()))):
            number = wanted.get(method, self._project.numbers.get(method))
            if method in given:
                continue
            owner = None if number is None else self._hierarchy.of_class(scope, number)[0]
            if owner is not None and number is not None:
                if method in wanted and not self._is_alike(owner, interface, number):
                    return None
            elif all(name in known for name in had):
                return None
            else:
                is_sure = False
        return is_sure

    def _is_alike(self, owner: int, interface: int, name: int) -> bool:
        """Whether what a class has of a name may be the method that an interface has of it."""
        of, _ = self._hierarchy.of_class(interface, name)
        own, wanted = (self._functions(at, name) for at in (owner, interface if of is None else of))
        return any(not self._method_types.differ(mine, other) for mine in own for other in wanted)

    def _functions(self, scope: int, name: int) -> list[int]:
        """The methods that a class or interface itself has of a name; none if that is a field."""
        found = (self._project.defined(binding)[1] for binding in self._project.table(scope).get(name, ()))
        return [function for function in found if function >= 0]


def _with_embedding(scopes: list[int], embedding: Mapping[int, list[int]]) -> list[int]:
    """Some classes and what embeds them, which has their methods too: at most one more than MAX_BELOW."""
    found = dict.fromkeys(scopes[: MAX_BELOW + 1])
    todo = [*found]
    for scope in todo:
        for at in embedding.get(scope, ()):
            if len(found) > MAX_BELOW:
                return todo
            if at not in found:
                found[at] = None
                todo.append(at)
    return todo
