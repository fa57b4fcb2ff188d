"""Names: what they are given, and what of that reaches a use."""

from collections.abc import Sequence

from fledgling.worker.dialect import Dialect
from fledgling.worker.graph.reading.flow import MAX_REACHING, as_many_as_count
from fledgling.worker.graph.reading.labels import BITS, IS_ALIASED
from fledgling.worker.graph.reading.open_scopes import LOCAL, OpenScopes
from fledgling.worker.graph.reading.reduced import Reduced
from fledgling.worker.graph.tables import (
    A_TYPE,
    A_VALUE,
    ASSIGNED,
    EXPORT,
    HOLDING,
    IN_BRANCH,
    NONE,
    OF_CLASS,
    OF_HEAD,
    OF_OBJECTS,
    ONLY_TYPE,
    OWN,
    VARIABLE,
    Binding,
    Flag,
    Op,
    ScopeKind,
    Use,
    Write,
)

IN_ORDER = {"": (), "variables": LOCAL, "members": (ScopeKind.CLASS,)}  # scopes whose names are there once bound


class BoundNames(OpenScopes):
    """What the names of a file are bound to, while it is read."""

    def __init__(
        self, tree: Reduced, dialect: Dialect, starts: Sequence[int], unseen: Sequence[tuple[int, int]]
    ) -> None:
        super().__init__(tree, dialect, starts, unseen)
        self.bindings: list[Binding] = []
        self.writes: list[Write] = []
        self.is_type = False  # whether one of a type of TypeScript is
        self.variables: set[int] = set()  # of Rust: bindings that a function further inside does not see
        self.seen_within: list[tuple[int, int, int]] = []  # expressions of names there, and what scopes and names
        self.within = 0  # objects around whose members come before all names
        self.doubted: set[tuple[int, int]] = set()  # scopes and names whose last binding need not be the one that holds
        self.aliased: set[tuple[int, int]] = set()  # scopes and variables that `&$a` may change; NONE, for all: `$$a`
        self.constness: list[tuple[int, int]] = []  # what is said of what bindings hold
        self.singleton = NONE  # the body of `class << self` that is read: it sees no variables around it
        self.opened = NONE  # the class that this stands in, of whose methods none is called by their names alone there
        self._variables: dict[tuple[int, int, int], int] = {}  # by scopes, such bodies, names: under which one
        self._types: dict[tuple[int, int], int] = {}  # those that names were declared with

    def export(self, name: str, value: int, node: int, scope: int = 0) -> int:
        """Give an export its value; return the binding."""
        number = self.named(EXPORT + name)
        self.bindings.append(Binding(scope, number, value, self.line(node)))
        self.scopes[scope].every.setdefault(number, []).append(len(self.bindings) - 1)
        return len(self.bindings) - 1

    # ---- what names are given

    def bind(self, node: int, value: int, use: int = Use.WRITE, *, counts: bool = True) -> int:
        """Give the name at a node a value; return the binding."""
        name = self.name(node)
        scope = self.binder(self.key(node))
        if use == Use.WRITE and self.dialect.declares_variables and not self.tree.labels[node] & BITS["bind"]:
            scope = self._bound_before(scope, name)
        if scope == NONE and self.dialect.declares_variables and use == Use.WRITE:
            at = self.use_name(name)  # it is a variable of another file, or a field of a base class
            self.site(node, use, at)
            if self.expressions[at][0] == Op.NAME:
                self.writes.append(Write(at, name, at, value, self.line(node)))
            return NONE
        return self.bind_name(name, max(scope, 0), value, node, use, counts=counts)

    def bind_name(
        self, name: int, scope: int, value: int, node: int, use: int, *, counts: bool = True, how: int = 0
    ) -> int:
        """Give a name of a scope a value, which a node says; it may keep the type that it was declared with."""
        if self.dialect.typed:
            value = self._as_declared(scope, name, value, use)
        self.note_alias(node)
        self.only_types.discard((scope, name))
        binding = len(self.bindings)
        is_inner = use == Use.WRITE and self.frames[scope] != self.frame and self.scopes[scope].kind in HOLDING
        is_in_branch = len(self.flow.layers) > 1 and self._counts_branches(scope, value)
        is_of_head = bool(self.tree.labels[node] & BITS["of_head"])
        how = OF_OBJECTS if is_of_head or self.tree.labels[node] & BITS["of_objects"] else how
        how = ASSIGNED if is_inner else IN_BRANCH if is_in_branch else ONLY_TYPE if self._is_alias(node) else how
        self.bindings.append(Binding(scope, name, value, self.first_line(node), how))
        if self.dialect.crates and use == Use.WRITE and not self.tree.labels[node] & BITS["constant"]:
            self.variables.add(binding)
        if self.first_line(node) != self.line(node):  # a variable is otherwise defined where its name stands
            use = Use.DEFINITION
        is_own = how == OF_CLASS or self._is_static(scope, value)
        key = self.named((OF_HEAD if is_of_head else OWN) + self.tree.text(node)) if is_of_head or is_own else name
        key = self.key(node) if self.tree.labels[node] & BITS["tag"] else self._key_of(scope, key, node, use)
        if how != OF_OBJECTS and self._is_behind_field(scope, key):
            counts = False
        elif self.frames[scope] == self.frame:
            before = self.flow.reaching((scope, key)) if self._merges(node, value) else ()
            self.flow.hold((scope, key), binding)
            if any(at != NONE for at in before):
                merged = (*(at for at in before if at != NONE), binding)
                self.flow.layers[-1][scope, key] = as_many_as_count((scope, key), merged)
        if counts:
            self._note_doubted(scope, key, value, use)
            self.scopes[scope].every.setdefault(key, []).append(binding)
        else:
            self.uncounted.setdefault(scope, {}).setdefault(key, []).append(binding)
        self.site(node, use, value, binding)
        return binding

    def _as_declared(self, scope: int, name: int, value: int, use: int) -> int:
        """What a name gets, of the type that it was declared with."""
        if self.expressions[value][0] == Op.DECLARED:
            self._types[scope, name] = self.expressions[value][1]
        elif use == Use.WRITE and (scope, name) in self._types:
            return self.add(Op.DECLARED, self._types[scope, name], value)
        elif use == Use.WRITE and self.dialect.functions_apart and self.expressions[value][0] == Op.ALIAS:
            return self.add(Op.CHOICE, [value])  # what holds `::a` is no other name of it
        return value

    def bind_silently(self, name: int, scope: int, value: int, node: int, how: int = 0) -> int:
        """Give a name of a scope a value where the name itself is not written: a package that is imported."""
        return self.bind_at(name, scope, value, self.line(node), how)

    def bind_at(self, name: int, scope: int, value: int, line: int, how: int = 0) -> int:
        """The same, on a line."""
        self.bindings.append(Binding(scope, name, value, line, how))
        binding = len(self.bindings) - 1
        self.show(scope, name)
        self.scopes[scope].every.setdefault(name, []).append(binding)
        return binding

    def note_alias(self, node: int) -> None:
        """Note that a variable gets another name where one does."""
        if self.tree.labels[node] & IS_ALIASED:
            self.aliased.add((self.binder(self.name(node)), self.name(node)))

    def _counts_branches(self, scope: int, value: int) -> bool:
        """Whether it matters that a branch gives a name a value: another file may, or in PHP another class."""
        is_class = self.dialect.spaces == "global" and self.expressions[value][0] == Op.CLASS
        return is_class or (bool(self.dialect.exported) and scope == 0)

    def _is_static(self, scope: int, value: int) -> bool:
        """Whether a value is a method that a class of JavaScript has itself: its objects may have another one."""
        op, *of = self.expressions[value]
        if op == Op.DECORATED:
            op, *of = self.expressions[of[0]]
        is_member = self.dialect.prototypes and op == Op.FUNCTION and self.scopes[scope].kind == ScopeKind.CLASS
        return is_member and bool(self.scopes[of[0]].flags & Flag.STATIC)

    def _merges(self, node: int, value: int) -> bool:
        """Whether what else has the name of a definition is left: `type A = B; namespace A {}` of TypeScript.

        In Rust two functions of one name in one place are for different builds.
        """
        if self.dialect.crates:
            held = self.flow.reaching((self.binder(self.name(node)), self.name(node)))
            each = [value, *(self.bindings[at].value for at in held if at != NONE)]
            functions = [self.expressions[at][1] for at in each if self.expressions[at][0] == Op.FUNCTION]
            kinds = [self.scopes[at].kind for at in functions]
            return len(kinds) == len(each) and ScopeKind.LAMBDA not in kinds
        if not (self.dialect.typed and self.dialect.prototypes):
            return False
        op, *of = self.expressions[value]
        is_type = op == Op.CLASS and self.scopes[of[0]].kind in (ScopeKind.INTERFACE, ScopeKind.NAMESPACE)
        return is_type or self._is_alias(node)

    def _is_alias(self, node: int) -> bool:
        """Whether a name is that of a type of TypeScript, `type A = B`."""
        return self.dialect.prototypes and bool(self.tree.labels[node] & BITS["declaration"])

    def _is_behind_field(self, scope: int, key: int) -> bool:
        """Whether a class of JavaScript has a field of a name: its objects have that before any method."""
        held = self.flow.layers[-1].get((scope, key), ()) if self.dialect.prototypes else ()
        return any(self.bindings[at].how == OF_OBJECTS for at in held[:1])

    def _note_doubted(self, scope: int, name: int, value: int, use: int) -> None:
        """Note that a function changes a name further out, or a function or namespace has the name of another one."""
        op, *of = self.expressions[value]
        is_other = op == Op.FUNCTION or (op == Op.CLASS and self.scopes[of[0]].kind == ScopeKind.NAMESPACE)
        is_hoisted = self.dialect.prototypes and use == Use.DEFINITION and is_other
        if self.frames[scope] != self.frame or (is_hoisted and name in self.scopes[scope].every):
            self.doubted.add((scope, name))

    def _is_declaration(self, binding: int) -> bool:
        """Whether a binding only declares a function, which is defined further down, or elsewhere."""
        op, *parts = self.expressions[self.bindings[binding].value] if binding != NONE else (Op.UNKNOWN,)
        return op == Op.FUNCTION and bool(self.scopes[parts[0]].flags & Flag.DECLARATION)

    def forget(self, node: int) -> None:
        """Begin names anew that are declared once more, in the same scope: they have no type yet."""
        todo = [node]
        while todo:
            at = todo.pop()
            if self.tree.labels[at] & BITS["bind"]:
                name = self.name(at)
                self._types.pop((self.binder(name), name), None)
            todo += self.tree.kids[at]

    # ---- what a name is here

    def use_name(self, name: int) -> int:
        """The expression of a name used here."""
        at = self._bound_name(name)
        return self.add(Op.UNSURE, at) if self.within else at

    def use_names(self, names: Sequence[str]) -> int:
        """The expression of a path used here, `A::B`, by its names."""
        at = self.use_name(self.named(names[0]))
        for name in names[1:]:
            at = self.add(Op.GET, at, self.named(name))
        return at

    def _bound_name(self, own: int) -> int:
        """The expression of a name that a scope binds."""
        name = own
        scope = self.binder(name)
        while self.dialect.prototypes and scope != NONE and self._is_member(scope, name):  # class A { B = B }
            scope = self.binder(name, scope)
        if scope == NONE and (of := self.namespace(name)) != NONE:
            outer = self.namespace(of)
            own = self._bound_name(of) if outer in (NONE, of) else self.add(Op.GET, self._bound_name(outer), of)
            return self.add(Op.GET, own, name)
        scope = self._bound_before(scope, name)
        name = self.key_there(scope, name)
        is_parameter = (scope, name) in self.type_parameters and not self.dialect.bare_members
        looks_around = not is_parameter and (self.dialect.bare_members or self.dialect.spaces)
        is_variable = scope != NONE and (self.scopes[scope].kind in LOCAL or name != own)
        if looks_around and not is_variable:
            return self.add(Op.BARE, name, self.asked_from(name), scope if scope == 0 else NONE)
        is_followed = scope != NONE and self.frames[scope] == self.frame
        found = self.flow.reaching((scope, name)) if is_followed else None
        found = self._types_of(scope, name, found) if found and self.is_type else found
        found = None if found and self.dialect.declared and all(map(self._is_declaration, found)) else found
        is_within = scope != NONE and not is_followed and self._is_beyond_function(scope)
        at = None if is_within else self.flow.named.get((scope, name, found))
        if at is None:
            reach = tuple(binding for binding in found or () if binding != NONE)
            at = self.add(Op.NAME, name, scope, reach if 0 < len(reach) <= MAX_REACHING else None)
            if is_within:
                self.seen_within.append((at, scope, name))
            else:
                self.flow.named[scope, name, found] = at
            if found is not None:
                self.flow.uses.append((at, (scope, name), found))
        return at

    def asked_from(self, name: int) -> int:
        """The innermost scope that may have the member that a name means: no class around `class << self; a; end`."""
        is_opened = self.scope == self.opened and not self.text_of(name)[:1].isupper()
        return self.scopes[self.scope].parent if is_opened else self.scope

    def _key_of(self, scope: int, name: int, node: int, use: int) -> int:
        """The name under which a scope has what a node gives a name: a variable of a class of Ruby is no member."""
        is_ruby = self.dialect.bare_calls and use == Use.WRITE
        if not is_ruby or self.scopes[scope].kind not in HOLDING or self.tree.labels[node] & BITS["constant"]:
            return name
        where = "" if self.singleton == NONE else f"{self.singleton}:"
        key = self._variables[scope, self.singleton, name] = self.named(VARIABLE + where + self.tree.text(node))
        return key

    def key_there(self, scope: int, name: int) -> int:
        """The name under which a scope has what one means here: in a class or file of Ruby perhaps a variable's."""
        key = self._variables.get((scope, self.singleton, name), name)
        at = self.scope if key != name else scope
        while at not in (scope, NONE) and at not in self.shut:
            at = self.scopes[at].parent
        return key if at == scope else name

    def _bound_before(self, scope: int, name: int) -> int:
        """The scope that a name here means of one that binds it and those around: `let a = a();` means an outer one.

        In Python so does `a = a()` in a class.
        """
        while scope > 0 and self.scopes[scope].kind in IN_ORDER[self.dialect.binds_in_order]:
            is_item = self.dialect.crates and name in self.items[scope]  # `return a(); fn a() {}` of Rust
            if is_item or not self._is_ahead(scope, name):
                break
            scope = self.binder(name, scope)
        return scope

    def _is_ahead(self, scope: int, name: int) -> bool:
        """Whether nothing before what is read here has given a name of a scope a value."""
        if self.frames[scope] == self.frame:
            return self.flow.reaching((scope, name)) == (NONE,)
        return name not in self.scopes[scope].every

    def _types_of(self, scope: int, name: int, found: tuple[int, ...]) -> tuple[int, ...]:
        """What of the bindings of a name a type means in TypeScript: no value, `interface A {} const A = b;`."""
        types = self.names_type(scope, name)
        return types if types and not all(at != NONE and self._may_be_type(at) for at in found) else found

    def names_type(self, scope: int, name: int) -> tuple[int, ...]:
        """The bindings of a name of TypeScript that may be types."""
        every = self.scopes[scope].every.get(name, ())
        return tuple(at for at in every[:MAX_REACHING] if self._may_be_type(at))

    def _may_be_type(self, binding: int) -> bool:
        row = self.bindings[binding]
        return row.how == ONLY_TYPE or self.expressions[row.value][0] in (Op.CLASS, Op.DECORATED, Op.IMPORT)

    def _is_member(self, scope: int, name: int) -> bool:
        """Whether a scope is of a class, and a name that of a member: no type parameter."""
        is_class = self.scopes[scope].kind in (ScopeKind.CLASS, ScopeKind.INTERFACE)
        return is_class and (scope, name) not in self.type_parameters

    def is_field_around(self, name: int) -> bool:
        """Whether a name is one of a class around that nothing nearer has, and no function or class there."""
        scope = self.binder(name)
        if scope == NONE or self.scopes[scope].kind not in (ScopeKind.CLASS, ScopeKind.INTERFACE):
            return False
        return name not in self.definitions[scope]

    def _is_beyond_function(self, scope: int) -> bool:
        """Whether the function that is read stands, in Rust, in the one that a scope is of."""
        at = self.scope if self.dialect.crates and self.scopes[scope].kind in LOCAL else scope
        while at != scope and self.scopes[at].kind != ScopeKind.FUNCTION:
            at = self.scopes[at].parent
        return at != scope

    def mean_type(self, at: int) -> None:
        """Let a name mean a type alone, though a field may have it as well: `URI URI = new URI(a)`."""
        op, *parts = self.expressions[at]
        if op == Op.BARE:
            self.expressions[at] = (Op.BARE, *parts[:2], 0 if parts[0] in self.own[0] else parts[2], A_TYPE)

    def mean_value(self, at: int) -> None:
        """Let a name of C++ mean no namespace: `a.b`."""
        if self.expressions[at][0] == Op.BARE and len(self.expressions[at]) == 4:
            self.expressions[at] = (*self.expressions[at], A_VALUE)

    def apply(self, at: int, count: int = 0) -> None:
        """Let the name of a type mean the class that has so many type parameters: in C# `A<B>` is no `A`."""
        is_type = self.expressions[at][0] == Op.BARE and self.expressions[at][4:] == (A_TYPE,)
        if count and self.dialect.selects and is_type:
            self.expressions[at] = (*self.expressions[at], count)

    def use_path(self, of: int, part: object, at: int) -> int:
        """What `a.b` is here, where `at` is what it is in general."""
        key = self.flow.path(of, part)
        if key is None:
            return at
        found = self.flow.reaching(key)
        if found != (NONE,):
            reach = tuple(binding for binding in found if binding != NONE)
            at = self.add(Op.REACH, reach, at if NONE in found else NONE, at)
            self.flow.uses.append((at, key, found))
        if len(key) == 4:
            self.flow.paths[at] = key
        return at

    def bind_path(self, of: int, part: object, value: int, node: int) -> None:
        """Note that `a.b` is given a value."""
        key = self.flow.path(of, part)
        if key:
            self.bindings.append(Binding(NONE, NONE, value, self.line(node)))
            self.flow.hold(key, len(self.bindings) - 1)
