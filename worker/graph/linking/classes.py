"""Classes of a project: the order in which members are looked up, and what stands below."""

from collections.abc import Callable

from fledgling.worker.graph.linking import c3
from fledgling.worker.graph.linking.computed_mixins import ComputedMixins
from fledgling.worker.graph.linking.extensions import Extensions
from fledgling.worker.graph.linking.implemented import MAX_BELOW, Implemented
from fledgling.worker.graph.linking.mixins import Mixins
from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.linking.spaces import Spaces
from fledgling.worker.graph.tables import NONE, OF_OBJECTS, Flag, Op, ScopeKind
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import CLASS, EXTERNAL, OBJECT, Cell, Values

MAKERS = (ScopeKind.FUNCTION, ScopeKind.LAMBDA)
MAX_BASES = 200  # classes above one; a hostile file can make ten thousand
MAX_HEIGHT = 100  # classes above each other


class Classes:
    """The hierarchy. Bases are settled once, before anything is evaluated that depends on overrides.

    `value` says what an expression stands for.
    """

    def __init__(self, project: GraphProject, spaces: Spaces, value: Callable[[Cell], Values]) -> None:
        self._project = project
        self._spaces = spaces
        self._value = value
        self._orders: dict[int, list[int]] = {}
        self.bases: dict[int, list[tuple[int, int]]] = {}  # a class and how sure, in order
        self.has_external_base: set[int] = set()
        self._before_outside: dict[int, int] = {}  # of classes of Python: how many bases stand before one from outside
        self._sooner: dict[int, set[int]] = {}  # of those: the classes above that surely come before that
        self.has_unknown_base: set[int] = set()  # that may be any class: an argument, what a missing module has
        self._making_another: dict[int, bool] = {}
        self.enumerations: set[int] = set()  # of Python: what their names hold are objects of them
        self._wholes: dict[int, int] = {}  # of a part of a class that several places make up
        self._parts: dict[int, list[int]] = {}
        self._kids: dict[int, list[int]] = {}
        self._below: dict[int, list[int]] = {}
        self._having: dict[tuple[int, int, int | None], tuple[int | None, bool]] = {}  # what of_class() found
        self._outside: dict[int, list[str]] = {}  # the bases of a class that are outside, where methods tell what it is
        self.extensions = Extensions(project, value, self.order, self.has)
        self.mixins = Mixins(project, value, self.whole, self.order, self.of_class)
        self.computed_mixins = ComputedMixins(project, value, self.whole, self.order)
        self.implemented = Implemented(project, self.order, self.of_class)
        self.cut: set[int] = set()  # those with more below than are looked at
        self._virtual: dict[tuple[int, int], bool] = {}
        self.is_settled = False
        self._prepended: dict[int, set[int]] = {}  # the bases of a class whose members come before its own

    def settle(self) -> None:
        """Find the bases of every class, and the members that stand elsewhere."""
        self._join_parts()
        self.extensions.attach_members()
        for (path, name), bindings in self.extensions.of_spaces.items():
            self._spaces.define(path, name, bindings)
        for unit in self._project.units:
            for at, row in enumerate(unit.facts.scopes):
                if row.kind in (ScopeKind.CLASS, ScopeKind.INTERFACE) and unit.base | at not in self._wholes:
                    self._settle(unit.base | at)
        self.mixins.include_further(self.bases)
        self.extensions.add_reopened()
        self._orders.clear()  # of those that were asked for before the bases were known, and so were those below
        self._below.clear()
        self.implemented.settle(self.bases, self._outside)
        self.cut |= self.implemented.cut
        self._kids = {interface: [*classes] for interface, classes in self.implemented.by.items()}
        for scope, bases in self.bases.items():
            for base, _ in bases:
                self._kids.setdefault(base, []).append(scope)
        self.mixins.extend(self._kids, self.below)
        self.has_unknown_base |= self.mixins.cut
        self.has_external_base |= self.mixins.cut
        self.computed_mixins.settle()
        self.extensions.extend_others(self.bases)
        self._spread(self.has_external_base)
        self._spread(self.enumerations)
        self.is_settled = True

    def whole(self, scope: int) -> int:
        """The scope that stands for a class, of all the places that make it up."""
        return self._wholes.get(scope, scope)

    def parts(self, scope: int) -> tuple[int, ...]:
        """The scopes of all the places that make up a whole class."""
        return scope, *self._parts.get(scope, ())

    def _join_parts(self) -> None:
        """Make one of the classes that several places make up, and of what extends one from outside."""
        for parts in self._spaces.parts.values():
            for part in parts[1:]:
                self._join(part, parts[0])
        for part, whole in self.extensions.parts():
            self._join(part, whole)

    def _join(self, part: int, whole: int) -> None:
        """Take what stands in a part of a class as members of the whole."""
        project = self._project
        self._wholes[part] = whole
        self._parts.setdefault(whole, []).append(part)
        for name, bindings in project.table(part).items():
            if project.text(name) != project.unit(part).dialect.self_type:
                for binding in bindings:
                    project.attach(whole, name, binding)

    def _spread(self, found: set[int]) -> None:
        """Add to some classes all that are below them."""
        todo = [*found]
        while todo:
            for kid in self._kids.get(todo.pop(), ()):
                if kid not in found:
                    found.add(kid)
                    todo.append(kid)

    def _settle(self, scope: int) -> None:
        found: list[tuple[int, int]] = []
        nodes = [
            ((at & ~MASK) | base, base in self._project.scope(at).prepended)
            for at in self.parts(scope)
            for base in self._project.scope(at).bases
        ]
        for node, is_first in nodes[:MAX_BASES]:
            values = self._value(node)
            known = [(value[1], sure) for value, sure in values.items() if value[0] == CLASS]
            if not known and self._project.expression(node)[0] == Op.INDEX:  # extends Readonly<A>
                types = self._value(("type", node, None))
                known = [(value[1], sure) for value, sure in types.items() if value[0] == OBJECT]
            known = [pair for pair in known if pair[0] != scope]
            found += [pair for pair in known if pair[0] not in dict(found)]
            if is_first:
                self._prepended.setdefault(scope, set()).update(base for base, _ in known)
            if not known:
                self._add_outside(scope, node, values, len(found))
        self.bases[scope] = found

    def _add_outside(self, scope: int, node: int, values: Values, place: int) -> None:
        """Note that a class has a base that is not of the project, behind so many that are."""
        dialect = self._project.unit(scope).dialect
        names = self._names_outside(node, values)
        if self._is_unknown(node):
            self.has_unknown_base.add(scope)
        if dialect.structural:
            self._outside.setdefault(scope, []).extend(names or [""])
        if any(name in dialect.enumerations for name in names):
            self.enumerations.add(scope)
        if not names or not all(name.rpartition(".")[2] in dialect.plain_bases for name in names):
            self.has_external_base.add(scope)
            if dialect.super_function:
                self._before_outside.setdefault(scope, place)
        if any(name.endswith("Protocol") for name in names):
            self._project.scope(scope).flags |= Flag.PROTOCOL

    def _names_outside(self, node: int, values: Values) -> list[str]:
        """What a base outside is called; of Python also one that is applied to types, `Protocol[T]`."""
        if self._project.unit(node).dialect.receiver_parameter and self._project.expression(node)[0] == Op.INDEX:
            values = self._value((node & ~MASK) | self._project.expression(node)[1])
        return [value[1] for value in values if value[0] == EXTERNAL]

    def _is_unknown(self, node: int) -> bool:
        """Whether a base is neither a class of the project nor seen to be outside: `Generic[A]` is."""
        op, *parts = self._project.expression(node)
        values = self._value((node & ~MASK) | parts[0] if op == Op.INDEX else node)
        return all(value[0] != EXTERNAL or value[1].startswith(".") for value in values)

    def order(self, scope: int, depth: int = 0) -> list[int]:
        """The class and those above it, as members are looked up (C3; where that fails, depth first)."""
        found = self._orders.get(scope)
        if found is None and self._project.unit(scope).dialect.embeds:
            found = self._orders[scope] = self._by_depth(scope)
        if found is None:
            self._orders[scope] = [scope]  # what is its own base
            bases = [base for base, _ in self.bases.get(scope, ())]
            if depth < MAX_HEIGHT:
                above = [self.order(base, depth + 1) for base in bases]
                order = c3.merged([*above, bases], MAX_BASES)
                first = self._prepended.get(scope, set())
                before = [at for at in order if at in first][: MAX_BASES - 1]
                found = [*before, scope, *(at for at in order if at not in first)][:MAX_BASES]
                self._orders[scope] = found
            else:
                found = self._orders[scope]
        return found

    def _by_depth(self, scope: int) -> list[int]:
        """The class and what it embeds, what is embedded less deeply first: in Go that has a member before others."""
        found = [scope]
        for at in found:
            found += [base for base in dict(self.bases.get(at, ())) if base not in found]
            if len(found) >= MAX_BASES:
                break
        return found[:MAX_BASES]

    def below(self, scope: int) -> list[int]:
        """The classes below, at most MAX_BELOW; a class with more is noted in `cut`."""
        found = self._below.get(scope)
        if found is None:
            found = []
            todo, seen = [*self._kids.get(scope, ())], {scope}
            while todo and len(found) < MAX_BELOW:
                kid = todo.pop(0)
                if kid not in seen:
                    seen.add(kid)
                    found.append(kid)
                    todo += self._kids.get(kid, ())
            if not seen.issuperset(todo) or not self.cut.isdisjoint(found):
                self.cut.add(scope)
            self._below[scope] = found
        return found

    def has_more_below(self, scope: int) -> bool:
        """Whether a class has more below than are looked at."""
        self.below(scope)
        return scope in self.cut

    def parent(self, scope: int) -> int | None:
        """The class that one of PHP extends, if it uses traits: `parent` means none of these."""
        if self._project.unit(scope).dialect.spaces != "global":
            return None
        above = [base for base, _ in self.bases.get(scope, ())]
        classes = [base for base in above if self._project.scope(base).kind == ScopeKind.CLASS]
        others = [base for base in classes if not self._project.scope(base).flags & Flag.PARTIAL]
        return others[0] if len(others) < len(classes) and others else None

    def has(self, scope: int, name: int) -> bool:
        """Whether a class itself has a member; what is bound in a function that makes objects is none."""
        return name in self._project.table(scope) and self._project.scope(scope).kind not in MAKERS

    def of_class(self, scope: int, name: int, after: int | None = None) -> tuple[int | None, bool]:
        """The class that has a member, in the order of one; whether a class outside the project may have it first."""
        found = self._having.get((scope, name, after))
        if found is None:
            found = self._of_class(scope, name, after)
            if self.is_settled:
                self._having[scope, name, after] = found
        return found

    def _of_class(self, scope: int, name: int, after: int | None) -> tuple[int | None, bool]:
        if after is None and self.is_settled:
            return self._above(scope, name)
        return self._in_order(scope, name, after)

    def _in_order(self, scope: int, name: int, after: int | None) -> tuple[int | None, bool]:
        order = self.order(scope)
        if after is not None:
            order = order[order.index(after) :] if after in order else self.order(after)
        for place, at in enumerate(order):
            if self.has(at, name) and (place or after is None):
                return at, any(at not in self._before(own) for own in order[:place] if own in self._before_outside)
        return None, scope in self.has_external_base

    def _above(self, scope: int, name: int) -> tuple[int | None, bool]:
        """The first class that has a member, in the order of one; in a chain of single bases each is asked once."""
        passed: dict[int, None] = {}
        at = scope
        known: tuple[int | None, bool] | None = None
        while known is None and at not in passed and not self.has(at, name):
            base = self._only_base(at)
            if base is None:
                break
            passed[at] = None
            at, known = base, self._having.get((base, name, None))
        owner, may_be_outside = self._in_order(at, name, None) if known is None else known
        for below in passed:
            is_open = may_be_outside if owner is not None else below in self.has_external_base
            self._having[below, name, None] = owner, is_open
        return owner, may_be_outside if owner is not None else scope in self.has_external_base

    def _only_base(self, scope: int) -> int | None:
        """The base of a class that has no other one before it, and whose own members come first."""
        bases = self.bases.get(scope, [])
        if len(bases) != 1 or self._before_outside.get(scope) == 0 or scope in self._prepended:
            return None
        return bases[0][0]

    def _before(self, scope: int) -> set[int]:
        """The classes above one that come before the one outside: A of `class C(A, Out, B)`."""
        found = self._sooner.get(scope)
        if found is None:
            bases = [base for base, _ in self.bases[scope]]
            first = self._before_outside[scope]
            found = {at for base in bases[:first] for at in self.order(base)}
            found = self._sooner[scope] = found.difference(*map(self.order, bases[first:]))
        return found

    def with_field(self, scope: int, name: int) -> int | None:
        """The class of which objects of a class of JavaScript have a field, which they have before any method."""
        project = self._project
        if not project.unit(scope).dialect.prototypes:
            return None
        for at in self.order(scope):
            is_there = project.scope(at).kind != ScopeKind.INTERFACE  # which only says what objects have
            bindings = project.table(at).get(name, ()) if is_there else ()
            if any(project.binding(binding).how == OF_OBJECTS for binding in bindings):
                return at
        return None

    def is_virtual(self, scope: int, name: int) -> bool:
        """Whether a class, or one above, may say of a method that others override it, or has it from outside."""
        found = self._virtual.get((scope, name))
        if found is None:
            order = self.order(scope)
            found = any(at in self.has_external_base or self._may_say_virtual(at, name) for at in order)
            self._virtual[scope, name] = found
        return found

    def _may_say_virtual(self, scope: int, name: int) -> bool:
        """Whether a class says that of one of its methods where it declares it, or that is not wholly read."""
        project, unit = self._project, self._project.unit(scope)
        if not unit.dialect.says_virtual or not unit.facts.complete:
            return True
        every = project.scope(scope).every.items()
        declared = [unit.bindings[at].value for own, bindings in every if unit.names[own] == name for at in bindings]
        if not declared:
            return name in project.table(scope)
        functions = [unit.expressions[value] for value in declared]
        return any(op == Op.FUNCTION and unit.facts.scopes[at[0]].flags & Flag.VIRTUAL for op, *at in functions)

    def makes_another(self, scope: int) -> bool:
        """Whether a call of a class may give another object than one of it: `__new__`, `__call__` of a metaclass."""
        found = self._making_another.get(scope)
        if found is None:
            found = self._makes_another(scope)
            if self.is_settled:
                self._making_another[scope] = found
        return found

    def _makes_another(self, scope: int) -> bool:
        new = self._project.numbers.get("__new__")
        if "__new__" not in self._project.unit(scope).dialect.constructors:
            return False
        if new is not None and self.of_class(scope, new)[0] is not None:
            return True
        return bool(self.calling(scope))

    def calling(self, scope: int) -> list[int]:
        """The metaclasses that say by a `__call__` what a call of a class does."""
        call = self._project.numbers.get("__call__")
        said = [(at, self._project.scope(at).metaclass) for at in self.order(scope)] if call is not None else []
        nodes = [(at & ~MASK) | metaclass for at, metaclass in said if metaclass != NONE]
        types = [value[1] for node in nodes for value in self._value(node) if value[0] == CLASS]
        return [type_ for type_ in types if call is not None and self.of_class(type_, call)[0] is not None]

    def computes_members(self, scope: int) -> bool:
        """Whether a class says itself what its members are."""
        asked = self._project.numbers.get("__getattribute__")
        return asked is not None and self.of_class(scope, asked)[0] is not None

    def gives_constructor(self, scope: int, owner: int, after: int | None) -> bool:
        """Whether a class makes its objects with the constructor of an owner, which not all languages inherit."""
        if not self._project.unit(scope).dialect.own_constructors:
            return True
        if after is None:
            return owner == scope
        return owner in (base for base, _ in self.bases.get(after, ()))

    def owner(self, function: int) -> int | None:
        """The class that a function is a method of."""
        if (owner := self.extensions.owners.get(function)) is not None:
            return owner
        outer = self._project.outer(function)
        if outer >= 0 and self._project.scope(outer).kind in (ScopeKind.CLASS, ScopeKind.INTERFACE):
            return self.whole(outer)
        return None

    def all_around(self, scope: int) -> list[int]:
        """The classes around a scope, the innermost first, or that itself."""
        found = []
        while scope >= 0 and scope & MASK != MASK:
            if self._project.scope(scope).kind in (ScopeKind.CLASS, ScopeKind.INTERFACE):
                found.append(self.whole(scope))
            scope = self._project.outer(scope)
        return found

    def outermost(self, scope: int) -> int:
        """The outermost class around a scope, or that itself; -1 where there is none."""
        return ([-1, *self.all_around(scope)[-1:]])[-1]

    def around(self, scope: int) -> int | None:
        """The innermost class around a scope, or that which a function around it extends."""
        while scope >= 0 and scope & MASK != MASK:
            if (of := self.extensions.extended(scope)) is not None:
                return of
            if self._project.scope(scope).kind in (ScopeKind.CLASS, ScopeKind.INTERFACE):
                return self.whole(scope)
            scope = self._project.outer(scope)
        return None

    def is_abstract(self, function: int) -> bool:
        """Whether a function is declared only."""
        row = self._project.scope(function)
        if row.flags & Flag.ABSTRACT:
            return True
        owner = self.owner(function)
        if owner is None:
            return False
        own = self._project.scope(owner)
        return bool(own.flags & Flag.PROTOCOL)
