"""Classes of a project: their bases, what makes their objects, and which of them stand around something."""

from collections.abc import Callable, Iterator
from functools import cached_property

from fledgling.worker.graph.linking.computed_mixins import ComputedMixins
from fledgling.worker.graph.linking.extensions import Extensions
from fledgling.worker.graph.linking.hierarchy import MAX_BASES, Hierarchy
from fledgling.worker.graph.linking.implemented import Implemented
from fledgling.worker.graph.linking.metaclasses import Metaclasses
from fledgling.worker.graph.linking.mixins import Mixins
from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.linking.related_names import RelatedNames
from fledgling.worker.graph.linking.spaces import Spaces
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.tables import NONE, OF_OBJECTS, SPACES, Flag, Op, ScopeKind
from fledgling.worker.graph.unit import MASK, SHIFT
from fledgling.worker.graph.values import CLASS, EXTERNAL, MODULE, OBJECT, Cell, Values

ONE_OF = (Reason.SEVERAL, Reason.REPLACED)  # why what a name means may be something else, too
MAX_NAMESAKES = 16  # classes of one name that a text may mean; of more, none is meant


def beside_each_other(project: GraphProject) -> Iterator[tuple[int, int]]:
    """Yield interfaces of TypeScript, and the class or interface of the same name that each stands beside."""
    for unit in project.units:
        if not (unit.dialect.typed and unit.dialect.prototypes):
            continue
        named: dict[tuple[int, int], list[int]] = {}
        for at, row in enumerate(unit.facts.scopes):
            if row.kind in (ScopeKind.CLASS, ScopeKind.INTERFACE) and row.name != NONE:
                named.setdefault((row.parent, row.name), []).append(unit.base | at)
        for scopes in named.values():
            classes = [at for at in scopes if project.scope(at).kind == ScopeKind.CLASS]
            if len(scopes) > 1 and len(classes) < 2:  # of two classes each is one for itself
                whole = (classes or scopes)[0]
                yield from ((at, whole) for at in scopes if at != whole)


class Classes(Hierarchy):
    """The hierarchy as it is settled: once, before anything is evaluated that depends on overrides."""

    def __init__(self, project: GraphProject, spaces: Spaces, value: Callable[[Cell], Values]) -> None:
        super().__init__(project, value)
        self._spaces = spaces
        self.has_unknown_base: set[int] = set()  # that may be any class: an argument, what a missing module has
        self._making_another: dict[int, bool] = {}
        self._owners: dict[int, int | None] = {}
        self.enumerations: set[int] = set()  # of Python: what their names hold are objects of them
        self._outside: dict[int, list[str]] = {}  # the bases of a class that are outside, where methods tell what it is
        self.extensions = Extensions(self)
        self.metaclasses = Metaclasses(self)
        self.mixins = Mixins(self)
        self.computed_mixins = ComputedMixins(self)
        self.implemented = Implemented(self)
        self.related_names = RelatedNames(project)
        self._bound_in: dict[int, set[int]] = {}
        self._virtual: dict[tuple[int, int], bool] = {}
        self._of_itself: dict[tuple[int, int], bool] = {}

    def settle(self) -> None:
        """Find the bases of every class, and the members that stand elsewhere."""
        self._join_parts()
        self.extensions.attach_members()
        for (path, name), bindings in self.extensions.of_spaces.items():
            self._spaces.define(path, name, bindings)
        for unit in self.project.units:
            for at, row in enumerate(unit.facts.scopes):
                if row.kind in (ScopeKind.CLASS, ScopeKind.INTERFACE) and unit.base | at not in self._wholes:
                    self._settle(unit.base | at)
        self.mixins.include_further()
        self._orders.clear()  # of those that were asked for before the bases were known, and so were those below
        self.extensions.add_reopened()
        self._below.clear()
        self.implemented.settle(self._outside)
        self.cut |= self.implemented.cut
        self.kids = {interface: [*classes] for interface, classes in self.implemented.by.items()}
        for scope, bases in self.bases.items():
            for base, _ in bases:
                self.kids.setdefault(base, []).append(scope)
        for scope in self.kids:
            self.below(scope)
        self.mixins.extend()
        self.has_unknown_base |= self.mixins.cut
        self.has_external_base |= self.mixins.cut
        self.computed_mixins.settle()
        self.extensions.extend_others()
        self._spread(self.has_external_base)
        self._spread(self.enumerations)
        self.below_either.update(self.either)
        self._spread(self.below_either)
        self.below_replaced.update(scope for scope, _ in self.replaced)
        self._spread(self.below_replaced)
        self.is_settled = True

    @cached_property
    def named(self) -> dict[int, list[int]]:
        """The classes in no other scope than a module or namespace, by their names; none of a name that many have."""
        found: dict[int, list[int]] = {}
        for unit in self.project.units:
            for at, row in enumerate(unit.facts.scopes):
                is_outer = row.parent != NONE and unit.facts.scopes[row.parent].kind in SPACES
                if row.kind == ScopeKind.CLASS and row.name != NONE and is_outer:
                    alike = found.setdefault(unit.names[row.name], [])
                    alike += [unit.base | at] if len(alike) <= MAX_NAMESAKES else []
        return {name: alike for name, alike in found.items() if len(alike) <= MAX_NAMESAKES}

    @cached_property
    def names_of_methods(self) -> set[int]:
        """The names of functions of Ruby."""
        units = [unit for unit in self.project.units if unit.dialect.bare_calls]
        rows = ((unit, row) for unit in units for row in unit.facts.scopes)
        return {unit.names[row.name] for unit, row in rows if row.kind == ScopeKind.FUNCTION and row.name != NONE}

    def has_itself(self, scope: int, name: int) -> bool:
        """Whether a class of Ruby itself, and not its objects, has a function of a name: `def self.a`, `scope :a`."""
        return any(self._has_itself(above, name) for above in self.order(scope))

    def _has_itself(self, scope: int, name: int) -> bool:
        found = self._of_itself.get((scope, name))
        if found is None:
            bindings = self.project.table(scope).get(name, ())
            found = self._of_itself[scope, name] = any(map(self._is_of_itself, bindings))
        return found

    def _is_of_itself(self, binding: int) -> bool:
        node = self.project.value_of(binding)
        op, *parts = self.project.expression(node)
        if op == Op.UNSURE:
            op, *parts = self.project.expression((node & ~MASK) | parts[0])
        return bool(op == Op.FUNCTION and self.project.scope((node & ~MASK) | parts[0]).flags & Flag.STATIC)

    def _join_parts(self) -> None:
        """Make one of the classes that several places make up, and of what extends one from outside."""
        for parts in self._spaces.parts.values():
            for part in parts[1:]:
                self.join(part, parts[0])
        for part, whole in self.extensions.parts():
            self.join(part, whole)
        for part, whole in beside_each_other(self.project):
            self.join(part, whole)

    def _spread(self, found: set[int]) -> None:
        """Add to some classes all that are below them."""
        todo = [*found]
        while todo:
            for kid in self.kids.get(todo.pop(), ()):
                if kid not in found:
                    found.add(kid)
                    todo.append(kid)

    def _settle(self, scope: int) -> None:
        found: list[tuple[int, int]] = []
        nodes = [
            ((at & ~MASK) | base, base in self.project.scope(at).prepended)
            for at in self.parts(scope)
            for base in self.project.scope(at).bases
        ]
        for node, is_first in nodes[:MAX_BASES]:
            values = self.value(node)
            known = [(value[1], sure) for value, sure in values.items() if value[0] == CLASS]
            if not known:
                known = self._known_types(node, values)
            known = [pair for pair in known if pair[0] != scope]
            if known and (len(known) > 1 or known[0][1] in ONE_OF or any(value[0] == EXTERNAL for value in values)):
                self._add_either(scope, node, known, values, len(found))
            found += [pair for pair in known if pair[0] not in dict(found)]
            if is_first:
                self._prepended.setdefault(scope, set()).update(base for base, _ in known)
            if not known:
                self._add_outside(scope, node, values, len(found))
        self.bases[scope] = found

    def _add_either(self, scope: int, node: int, known: list[tuple[int, int]], values: Values, place: int) -> None:
        """Note that a base is one of several classes, one that a branch gives, or perhaps one from outside."""
        most = Reason.SEVERAL if len(known) > 1 else Reason.BOUND
        if len(values) == 1 and [sure for _, sure in known] == [Reason.REPLACED]:
            self.replaced[scope, known[0][0]] = node
        self.either.setdefault(scope, {}).update((base, min(sure, most)) for base, sure in known)
        if any(value[0] == EXTERNAL for value in values) or (len(known) == 1 and known[0][1] == Reason.SEVERAL):
            self._add_outside(scope, node, values, place)

    def _known_types(self, node: int, values: Values) -> list[tuple[int, int]]:
        """The classes and modules that the type of a base is: `Readonly<A>`, A where `type A = typeof module`."""
        is_alias = not values and self.project.unit(node).dialect.prototypes
        types = self.value(("type", node, None)) if is_alias or self.project.expression(node)[0] == Op.INDEX else {}
        known = [(value[1], sure) for value, sure in types.items() if value[0] == OBJECT]
        return known + [(value[1] << SHIFT, sure) for value, sure in types.items() if value[0] == MODULE]

    def _add_outside(self, scope: int, node: int, values: Values, place: int) -> None:
        """Note that a class has a base that is not of the project, behind so many that are."""
        dialect = self.project.unit(scope).dialect
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
        if any(name.rpartition(".")[2] in dialect.structural_bases for name in names):
            self.project.scope(scope).flags |= Flag.PROTOCOL

    def _names_outside(self, node: int, values: Values) -> list[str]:
        """What a base outside is called; of Python also one that is applied to types, `Protocol[T]`."""
        if self.project.unit(node).dialect.receiver_parameter and self.project.expression(node)[0] == Op.INDEX:
            values = self.value((node & ~MASK) | self.project.expression(node)[1])
        return [value[1] for value in values if value[0] == EXTERNAL]

    def _is_unknown(self, node: int) -> bool:
        """Whether a base is neither a class of the project nor seen to be outside: `Generic[A]` is."""
        op, *parts = self.project.expression(node)
        values = self.value((node & ~MASK) | parts[0] if op == Op.INDEX else node)
        return all(value[0] != EXTERNAL or value[1].startswith(".") for value in values)

    def parent(self, scope: int) -> int | None:
        """The class that one of PHP extends, if it uses traits: `parent` means none of these."""
        if self.project.unit(scope).dialect.spaces != "global":
            return None
        above = [base for base, _ in self.bases.get(scope, ())]
        classes = [base for base in above if self.project.scope(base).kind == ScopeKind.CLASS]
        others = [base for base in classes if not self.project.scope(base).flags & Flag.PARTIAL]
        return others[0] if len(others) < len(classes) and others else None

    def with_field(self, scope: int, name: int) -> int | None:
        """The class of which objects of a class of JavaScript have a field, which they have before any method."""
        project = self.project
        having = self._with_fields.get(name, ()) if project.unit(scope).dialect.prototypes else ()
        for at in self.order(scope) if having else ():
            if at in having and any(project.binding(own).how == OF_OBJECTS for own in project.table(at).get(name, ())):
                return at
        return None

    @cached_property
    def _with_fields(self) -> dict[int, set[int]]:
        """The classes of JavaScript of which objects may have a field of a name; interfaces only say what they have."""
        found: dict[int, set[int]] = {}
        for unit in self.project.units:
            for row in unit.bindings if unit.dialect.prototypes else ():
                whole = self.whole(unit.base | row.scope)
                if row.how == OF_OBJECTS and self.project.scope(whole).kind != ScopeKind.INTERFACE:
                    found.setdefault(unit.names[row.name], set()).add(whole)
        return found

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
        project, unit = self.project, self.project.unit(scope)
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
        new = self.project.numbers.get("__new__")
        if "__new__" not in self.project.unit(scope).dialect.constructors:
            return False
        if new is not None and self.of_class(scope, new)[0] is not None:
            return True
        return bool(self.calling(scope))

    def calling(self, scope: int) -> list[int]:
        """The metaclasses that say by a method, `__call__`, what a call of a class does."""
        call = self.project.numbers.get(self.project.unit(scope).dialect.called_by)
        types = self.metaclasses.of(scope) if call is not None else []
        return [type_ for type_ in types if call is not None and self.of_class(type_, call)[0] is not None]

    def computes_members(self, scope: int, name: int) -> bool:
        """Whether a class says itself what its members are, or its metaclass what this one is."""
        asked = self.project.numbers.get("__getattribute__")
        if asked is not None and self.of_class(scope, asked)[0] is not None:
            return True
        put = self.metaclasses.put(scope)
        return name in put or NONE in put

    def gives_constructor(self, scope: int, owner: int, after: int | None) -> bool:
        """Whether a class makes its objects with the constructor of an owner, which not all languages inherit."""
        if not self.project.unit(scope).dialect.own_constructors:
            return True
        if after is None:
            return owner == scope
        return owner in (base for base, _ in self.bases.get(after, ()))

    def owner(self, function: int) -> int | None:
        """The class that a function is a method of."""
        if not self.is_settled:
            return self._owner(function)
        owner = self._owners.get(function, NONE)
        if owner == NONE:
            owner = self._owners[function] = self._owner(function)
        return owner

    def _owner(self, function: int) -> int | None:
        if (owner := self.extensions.owners.get(function)) is not None:
            return owner
        outer = self.project.outer(function)
        if self.project.unit(function).dialect.bare_calls and self.project.scope(function).kind == ScopeKind.FUNCTION:
            while outer >= 0 and self.project.scope(outer).kind == ScopeKind.LAMBDA:  # `[:a].each { define_method }`
                outer = self.project.outer(outer)
        if outer < 0 or self.project.scope(outer).kind not in (ScopeKind.CLASS, ScopeKind.INTERFACE):
            return None
        is_lambda = self.project.scope(function).kind == ScopeKind.LAMBDA
        if is_lambda and self.project.unit(function).dialect.receiver_parameter and function not in self._bound(outer):
            return None  # it is an argument, or in a container
        return self.whole(outer)

    def _bound(self, scope: int) -> set[int]:
        """The functions that names of a class may be given: `a = lambda self: self.b`, or an arm of `a if b else c`."""
        found = self._bound_in.get(scope)
        if found is None:
            unit, every = self.project.unit(scope), self.project.scope(scope).every.values()
            found = self._bound_in[scope] = set()
            todo = [unit.bindings[at].value for bindings in every for at in bindings]
            while todo:
                op, *of = unit.expressions[todo.pop()]
                if op == Op.FUNCTION:
                    found.add(unit.base | of[0])
                elif op == Op.DECLARED and of[1] != NONE:
                    todo.append(of[1])
                elif op == Op.CHOICE:
                    todo += of[0]
        return found

    def all_around(self, scope: int) -> list[int]:
        """The classes around a scope, the innermost first, or that itself."""
        found = []
        while scope >= 0 and scope & MASK != MASK:
            if self.project.scope(scope).kind in (ScopeKind.CLASS, ScopeKind.INTERFACE):
                found.append(self.whole(scope))
            scope = self.project.outer(scope)
        return found

    def outermost(self, scope: int) -> int:
        """The outermost class around a scope, or that itself; -1 where there is none."""
        return ([-1, *self.all_around(scope)[-1:]])[-1]

    def around(self, scope: int) -> int | None:
        """The innermost class around a scope, or that which a function around it extends."""
        while scope >= 0 and scope & MASK != MASK:
            if (of := self.extensions.extended(scope)) is not None:
                return of
            if self.project.scope(scope).kind in (ScopeKind.CLASS, ScopeKind.INTERFACE):
                return self.whole(scope)
            scope = self.project.outer(scope)
        return None

    def is_abstract(self, function: int) -> bool:
        """Whether a function is declared only."""
        row = self.project.scope(function)
        if row.flags & Flag.ABSTRACT:
            return True
        owner = self.owner(function)
        if owner is None:
            return False
        own = self.project.scope(owner)
        return bool(own.flags & Flag.PROTOCOL)
