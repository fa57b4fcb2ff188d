"""Functions that stand outside the class they belong to, and those that extend types the project does not define."""

from collections.abc import Iterator
from itertools import chain

from fledgling.worker.graph.linking.hierarchy import Hierarchy
from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.tables import CLASSES, NONE, Flag, Op, ScopeKind
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import BUILTIN, CLASS, EXTERNAL, SPACE

MAX_PATH = 50  # names of a path, one behind the other, that are counted
ARRAY = "[]"  # the name of a type that is written as an array


class Extensions:
    """Methods of Go, `void A::b() {}` of C++, extensions of Kotlin, C# and Swift, what `impl` gives in Rust."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy
        self._project = hierarchy.project
        self.extended_by: dict[int, int] = {}  # of what extends a class of the project: the expression of that
        self.by_name: dict[int, list[tuple[str, int]]] = {}  # what extends types outside: a name, functions by type
        self.types: dict[int, int] = {}  # of a function that extends a type outside: the expression of that
        self.of_any: dict[int, list[int]] = {}  # functions that any type may have: `impl<T> A for T`, `class Object`
        self.of_classes: set[int] = set()  # those of these that only classes have: `class Module`
        self.of_bounded: set[int] = set()  # what gives functions to any type of a trait: `impl<T: B> A for T`
        self.of_outside: set[int] = set()  # what is given to a type outside, which may have such a function itself
        self.for_outside: dict[int, int] = {}  # the types that are no classes, by what extends them
        self.beside: dict[tuple[int, int], list[int]] = {}  # functions that extend a class which has that name itself
        self.beside_any: dict[int, list[int]] = {}  # by name, functions that extend whatever there is: `fun <T> T.a()`
        self.owners: dict[int, int] = {}  # the classes of functions that do not stand in them
        self._classes: dict[int, int] = {}  # the classes that functions extend
        self.of_own: dict[int, list[int]] = {}  # by name, the functions that extend classes of the project
        self._attached: set[tuple[int, int]] = set()  # classes, and the names of such functions
        self.macro_made: dict[int, int] = {}  # the class of a function that a macro makes, which it names
        self.of_spaces: dict[tuple[str, int], list[int]] = {}  # functions that stand outside their namespace, by name
        # By what no file defines and a name, where that is bound which is put there, and the first class of it.
        self._in_unknown: dict[tuple[str, int], tuple[int, int]] = {}
        self._first_in_unknown: dict[tuple[str, int], int] = {}
        self.spaces: dict[int, str] = {}  # the namespaces of these functions, and of classes that stand so
        self.around: dict[int, int] = {}  # the classes around those that stand outside them: `class A::B {}`

    def parts(self) -> Iterator[tuple[int, int]]:
        """What extends classes of the project, with the class, whose part it is."""
        for unit in self._project.units:
            for type_, scope in unit.facts.extensions:
                known = [value[1] for value in self._hierarchy.value(unit.base | type_) if value[0] == CLASS]
                if len(known) > 1:  # `#[cfg(a)] use b::A; #[cfg(not(a))] struct A;`
                    known = [at for at in known if self._project.unit(at) is unit] or known
                if known and self._is_own_parameter(unit.base | type_, unit.base | scope):
                    self.of_bounded.add(unit.base | scope)
                for at in known:
                    yield unit.base | scope, at
                    self.extended_by[unit.base | scope] = unit.base | type_
                if not known:
                    self.for_outside[unit.base | scope] = unit.base | type_

    def attach_members(self) -> None:
        """Add functions to the classes that their receivers are objects of."""
        nested = list[tuple[int, int, int]]()  # of Ruby: `class A::B` before `class A::B::C`, wherever it stands
        for unit in self._project.units:
            for type_, binding in unit.facts.members:
                if unit.dialect.bare_calls:
                    nested.append((self._names_before(unit.base | type_), unit.base | type_, unit.base | binding))
                else:
                    self._attach(unit.base | type_, unit.base | binding)
                if unit.dialect.declared:
                    self._put_apart(unit.base | type_, unit.base | binding)
            for type_, scope in unit.facts.macro_made:
                named = [value[1] for value in self._hierarchy.value(unit.base | type_) if value[0] == CLASS]
                if len(named) == 1:
                    self.macro_made.setdefault(unit.base | scope, named[0])
        for _, of, at in sorted(nested):
            self._attach(of, at)
            self._add_to_unknown(of, at)

    def _names_before(self, node: int) -> int:
        """How many names a path has behind its first."""
        for count in range(MAX_PATH):
            op, *parts = self._project.expression(node)
            if op != Op.GET:
                return count
            node = (node & ~MASK) | parts[0]
        return MAX_PATH

    def _attach(self, type_: int, binding: int) -> None:
        project = self._project
        name = project.unit(binding).names[project.binding(binding).name]
        function = project.expression(project.value_of(binding))
        scope = (binding & ~MASK) | function[1] if function[0] == Op.FUNCTION else -1
        extends = scope >= 0 and project.scope(scope).flags & Flag.EXTENSION
        if extends and (bound := self._bound(scope, type_)):
            type_ = bound
        values = self._hierarchy.value(type_)
        known = [value[1] for value in values if value[0] == CLASS]
        dialect = project.unit(binding).dialect
        declares = dialect.declared  # void A::b() {}
        for path in [value[1] for value in values if value[0] == SPACE] if declares else ():
            self.of_spaces.setdefault((path, name), []).append(binding)
            self.spaces[scope] = path
        for own in known:
            # a member of the class goes before; but C++ only declares it there, and in Ruby the later one replaces it
            is_first = (own, name) not in self._attached
            if extends:
                self._classes[scope] = own
                self.of_own.setdefault(name, []).append(scope)
            if extends and is_first and self._hierarchy.has(own, name) and not (declares or dialect.bare_calls):
                if dialect.selects and scope >= 0:
                    self.beside.setdefault((own, name), []).append(scope)
                continue
            self._attached.add((own, name))
            project.attach(own, name, binding)
            if scope >= 0:
                self.owners[scope] = own
        if extends and not known and not declares:
            self._extend_outside(name, scope, type_)

    def _extend_outside(self, name: int, scope: int, type_: int) -> None:
        """Note a function that extends a type outside, or whatever there is."""
        project, of = self._project, extended_name(self._project, type_)
        dialect = project.unit(scope).dialect
        self.by_name.setdefault(name, []).append((of, scope))
        self.types[scope] = type_
        if dialect.selects and (of in dialect.of_all or project.numbers.get(of) in project.table(scope)):
            self.beside_any.setdefault(name, []).append(scope)

    def _add_to_unknown(self, type_: int, binding: int) -> None:
        """Add a class of Ruby to a module that no file defines, as folders make one: `class Users::Register`."""
        project, within = self._project, binding & ~MASK
        op, *of = project.expression(project.value_of(binding))
        values = self._hierarchy.value(type_)
        if op != Op.CLASS or any(value[0] == CLASS for value in values):
            return
        scope, name = within | of[0], project.unit(binding).names[project.binding(binding).name]
        for path in [_from_root(value[1]) for value in values if value[0] == EXTERNAL]:
            if (path, name) in self._in_unknown:
                self._hierarchy.join(scope, self._first_in_unknown[path, name])
                continue
            self._first_in_unknown[path, name] = scope
            self._in_unknown[path, name] = place = within, project.number(f"{path}.{project.text(name)}")
            project.attach(*place, binding)
            self._hierarchy.has_external_base.add(scope)  # it may add to one outside: `class ActiveRecord::Base`

    def in_unknown(self, path: str, name: int) -> tuple[int, int] | None:
        """Where a class of Ruby is bound, and under which name, that stands in a module that no file defines."""
        return self._in_unknown.get((_from_root(path), name)) if self._in_unknown else None

    def _put_apart(self, type_: int, binding: int) -> None:
        """Note what a class of C++ is in that stands outside of that: `class A::B {}`."""
        op, *of = self._project.expression(self._project.value_of(binding))
        for value in self._hierarchy.value(type_) if op == Op.CLASS else ():
            if value[0] == CLASS:
                self.around[(binding & ~MASK) | of[0]] = value[1]
            elif value[0] == SPACE:
                self.spaces[(binding & ~MASK) | of[0]] = value[1]

    def _bound(self, function: int, type_: int) -> int | None:
        """What is said of a type parameter that a function extends: A of `fun <T : A> T.f()`."""
        op, *parts = self._project.expression(type_)
        if op not in (Op.NAME, Op.BARE):
            return None
        bindings = self._project.table(function).get(self._project.unit(type_).names[parts[0]], ())
        bounds = [self._project.value_of(at) for at in bindings]
        return next((at for at in bounds if any(value[0] == CLASS for value in self._hierarchy.value(at))), None)

    def add_reopened(self) -> None:
        """Let the methods of a class of Ruby that is one of its own, `class String`, and of its modules extend that."""
        for unit in self._project.units:
            dialect = unit.dialect
            any_has = {*dialect.of_all, *dialect.of_classes}
            known = (
                {*dialect.texts, *dialect.like_texts, *dialect.numbers, *dialect.types, *any_has}
                if dialect.bare_calls
                else ()
            )
            for at, row in enumerate(unit.facts.scopes if known else ()):
                of = unit.facts.names[row.name] if row.name != NONE and row.kind in CLASSES and not row.parent else ""
                for name, bindings in self._inherited(unit.base | at) if of in known else ():
                    functions = [self._project.defined(binding)[1] for binding in bindings]
                    functions = [scope for scope in functions if scope >= 0 and self._is_of_objects(scope)]
                    if of in any_has:
                        self.of_any.setdefault(name, []).extend(functions)
                        self.of_classes.update(functions if of in dialect.of_classes else ())
                    else:
                        self.by_name.setdefault(name, []).extend((of, scope) for scope in functions)

    def _inherited(self, scope: int) -> Iterator[tuple[int, list[int]]]:
        """The names of a place that makes up a class, and of what stands above the whole."""
        above = self._hierarchy.order(scope) if self._hierarchy.whole(scope) == scope else [scope]
        return chain.from_iterable(self._project.table(at).items() for at in above)

    def _is_of_objects(self, function: int) -> bool:
        row = self._project.scope(function)
        return row.kind == ScopeKind.FUNCTION and not row.flags & Flag.STATIC

    def extend_others(self) -> None:
        """Find what a trait gives to any type, `impl<T> A for T`, or to one outside: its functions, and what A says."""
        for scope, type_ in self.for_outside.items():
            is_any = self._is_own_parameter(type_, scope)
            order = self._hierarchy.order(scope) if self._hierarchy.bases.get(scope) else ()
            common = self._project.unit(scope).dialect.common
            self.of_outside |= set() if is_any else {scope}
            for at, name in [(each, name) for each in order for name in self._project.table(each)]:
                functions = [self._project.defined(binding)[1] for binding in self._project.table(at)[name]]
                has_own = at != scope and self._hierarchy.has(scope, name)
                functions = [each for each in functions if each >= 0 and not has_own]
                if is_any:
                    self.of_any.setdefault(name, []).extend(functions)
                elif functions and self._project.text(name) not in common:
                    of = extended_name(self._project, type_)
                    self.by_name.setdefault(name, []).extend((of, each) for each in functions)

    def _is_own_parameter(self, type_: int, scope: int) -> bool:
        """Whether a type is a type parameter of what extends it: `impl<T> A for T`."""
        op, *parts = self._project.expression(type_)
        return bool(op == Op.NAME and (type_ & ~MASK) | parts[1] == scope)

    def extended(self, function: int) -> int | None:
        """The class whose member a function is from outside, without a parameter for the object."""
        if (own := self.macro_made.get(function)) is not None:
            return own
        flags = self._project.scope(function).flags
        return self._classes.get(function) if flags & Flag.EXTENSION and not flags & Flag.RECEIVES else None


def extended_name(project: GraphProject, type_: int) -> str:
    """The last name of a type that a function extends, or ARRAY; empty where it has none."""
    expression = project.expression(type_)
    if expression[0] == Op.ARRAY:
        return ARRAY
    return project.last_name((type_ & ~MASK) | expression[1] if expression[0] == Op.INDEX else type_)


def _from_root(path: str) -> str:
    """The names of a path to something outside, which begins there or where no scope binds its first name."""
    return path.removeprefix(BUILTIN).removeprefix(".")
