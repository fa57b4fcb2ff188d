"""What a name means that no function around binds: members, namespaces, all names of a module.

Each of the places is a cell, how sure it is meant, and the object that it is a member of.
"""

from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.directives import competing, of_directives, or_later, stands_later
from fledgling.worker.graph.solving.member_places import of_space, places
from fledgling.worker.graph.solving.records import is_positional
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.standing_apart import BarePlace, around_class, of_named_space, stands_apart
from fledgling.worker.graph.solving.starred_names import starred
from fledgling.worker.graph.solving.taken_names import all_of
from fledgling.worker.graph.tables import (
    A_FUNCTION,
    A_TYPE,
    A_VALUE,
    CLASSES,
    COMPONENT,
    IN_BRANCH,
    NONE,
    OF_OBJECTS,
    PRIVATE,
    SPACES,
    Expression,
    Flag,
    NameScope,
    Op,
    ScopeKind,
)
from fledgling.worker.graph.unit import MASK, Unit
from fledgling.worker.graph.values import CLASS, OBJECT, Cell, Value


def bare_places(solver: Solver, node: int, expression: Expression) -> list[BarePlace]:
    """The cells that a name may mean which no function around binds, and the object that it is a member of."""
    if not solver.is_over:
        return places_in(solver, node, expression)
    first = solver.project.first_bare(node)
    found = solver.bare.get(first)
    if found is None:
        found = solver.bare[first] = places_in(solver, node, expression)
    return found


def places_in(solver: Solver, node: int, expression: Expression) -> list[BarePlace]:
    """The same, asked for anew."""
    project, outward = solver.project, _Outward(solver, node, expression)
    base = node & ~MASK
    scope = base | expression[2]
    while scope >= 0:
        row = project.scope(scope)
        outward.enter(scope, row)
        if row.kind == ScopeKind.LAMBDA:
            if outward.lacks_receiver(scope, row):
                solver.wait()  # what it runs on may become known, and goes before what is around
                return []
            if outward.ends_with_receiver(scope):
                return outward.found
        if outward.ends_in(scope, row):
            return or_later(outward.found, outward.later) if outward.later else outward.found
        outward.leave(scope, row)
        scope = project.outer(scope)
    if outward.later:
        return [*outward.found, *outward.later]
    if expression[3] != NONE:
        return [*outward.found, (("name", base | expression[3], outward.own), outward.surest, None)]
    further = starred(solver, node, outward.own)
    return [*outward.found, *((cell, min(sure, outward.surest), None) for cell, sure, _ in further)]


class _Outward:
    """The way from a name through the scopes around it, the innermost first: `found` is what it may mean on it."""

    __slots__ = (
        "_below",
        "_expression",
        "_function",
        "_has_head",
        "_in_method",
        "_is_apart",
        "_made",
        "_node",
        "_of_class",
        "_of_head",
        "_of_outside",
        "_of_single",
        "_solver",
        "_taking",
        "_unit",
        "found",
        "later",
        "own",
        "surest",
    )

    def __init__(self, solver: Solver, node: int, expression: Expression) -> None:
        self._solver, self._node, self._expression = solver, node, expression
        self._unit = solver.project.unit(node)
        self.own = self._unit.names[expression[1]]
        self.found: list[BarePlace] = []  # what is further out may be meant instead of it
        self.surest = int(Reason.BOUND)  # that something further out is meant
        self._of_class, self._in_method = self._unit.dialect.bare_calls, False  # outside of methods, self is the class
        self._of_outside = False  # whether self is of a type from outside, which may have the name
        self._is_apart = False  # there is no object of the classes further out
        self._of_head = solver.project.of_heads.get(self.own, NONE)
        self._function: NameScope | None = None  # of the next class, that around the name
        self._made = False  # whether one of the next class is being made: `constructor() : this(a)`
        self._has_head = False  # whether that is done in its head: `class A(b: B) : C(b)`
        self._of_single = False  # whether it is a single object that is made: `companion object : C(b())`
        self._taking: list[int] = []  # scopes of C++ that take all names of a namespace
        self._below: NameScope | None = None  # the last scope on the way
        self.later: list[BarePlace] = []  # what a namespace of C++ has further down than the name stands

    def enter(self, scope: int, row: NameScope) -> None:
        """See what self is in a scope, and whether something else than what is around may be asked first."""
        project, dialect = self._solver.project, self._unit.dialect
        if row.kind == ScopeKind.FUNCTION and dialect.bare_calls and not self._in_method:
            self._of_class, self._in_method = bool(row.flags & Flag.STATIC), True
        if scope in self._solver.classes.extensions.types and not row.flags & Flag.RECEIVES:
            self._of_outside = True
        if row.kind != ScopeKind.LAMBDA and not row.flags & Flag.IMPLICIT:
            return
        if dialect.implicit_parameter or (self._of_class and not self._in_method):
            self._of_class = False
            self.surest = Reason.BOUND if project.text(self.own)[:1].isupper() else Reason.IMPLICIT
        elif _may_be_before(project, project.outer(scope), self._unit, self._expression):
            is_told = scope in self._solver.classes.extensions.macro_made
            self.surest = min(self.surest, Reason.MACRO if is_told else Reason.NAME_ONLY)

    def lacks_receiver(self, scope: int, row: NameScope) -> bool:
        """Whether a lambda runs on an object, and it is not known yet on which."""
        runs_on = row.flags & (Flag.RUNS_ON | Flag.IMPLICIT) and not self._solver.is_settled
        return bool(runs_on) and not self._solver.value(("receiver", scope))

    def ends_with_receiver(self, scope: int) -> bool:
        """Find what the object has that a lambda runs on, and tell whether that goes before all that is around."""
        project, dialect = self._solver.project, self._unit.dialect
        if not dialect.scope_functions and not (dialect.bare_calls and self.own in project.vocabulary.definitions):
            return False
        of_object = of_receiver(self._solver, scope, self.own)
        self.found += of_object  # what extends its type goes before what is nearer only if it fits
        return bool(of_object) and not all(_extends(project, cell) for cell, _, _ in of_object)

    def ends_in(self, scope: int, row: NameScope) -> bool:
        """Find what a scope has, and tell whether nothing further out may be meant then."""
        solver, expression = self._solver, self._expression
        most = self.surest
        if self._of_outside and row.kind in CLASSES and not means_type(expression):
            most = min(most, Reason.SEVERAL)
        held = of_scope(solver, self._unit, scope, self.own, is_of_class=self._of_class)
        held = self._or_of_head(scope, held)
        is_space = row.kind in SPACES and scope in solver.spaces.paths and self._unit.dialect.declared
        if is_space:
            held = self._or_of_directives(scope, held)
        held = _meant(solver.project, expression, [(cell, min(sure, most), receiver) for cell, sure, receiver in held])
        if self._is_apart or self._made:
            held = [place for place in held if self._is_there(scope, place[0])]
        self.found += held
        if is_space and held and self._below and stands_later(solver, self._unit, scope, expression, held, self._below):
            self.later = self.later or held
            self.found = self.found[: len(self.found) - len(held)]
            return False
        if held and scope in solver.classes.extensions.macro_made:  # which may make no member of that class
            self.surest = min(self.surest, Reason.NAME_ONLY)
            return False
        if not held or not self._unit.dialect.bare_calls or any(sure > Reason.OVERRIDE for _, sure, _ in held):
            return bool(held)
        self.surest = min(self.surest, Reason.SEVERAL)  # only classes below have it: self may lack it
        return False

    def _or_of_directives(self, scope: int, held: list[BarePlace]) -> list[BarePlace]:
        """The same, and in C++ what is there as if it stood in a namespace, of those that all names are taken of."""
        self._taking += self._solver.spaces.directives(self._unit, scope)
        taken = of_directives(self._solver, self._taking, scope, self.own)
        return competing(self._solver, held, taken) if held and taken else held or taken

    def _or_of_head(self, scope: int, held: list[BarePlace]) -> list[BarePlace]:
        """The same, or what a class of C# takes behind its name: before that in what fields begin as, else after it."""
        whole = self._solver.classes.whole(scope)
        if held and is_positional(self._solver, whole, self.own):
            return self._or_of_record(whole, held)
        if self._of_head == NONE or self._of_head not in self._solver.project.table(whole):
            return held
        given: BarePlace = (("name", whole, self._of_head), Reason.BOUND, None)
        if held and self._function is not None:
            bindings = self._solver.project.table(held[0][0][1]).get(self.own, ())
            is_own = held[0][0][1] == whole
            is_field = all(self._solver.project.defined(at)[1] < 0 for at in bindings)
            if not is_own and any(self._solver.project.binding(at).how == PRIVATE for at in bindings):
                return [given]
            if (is_own or is_field) and not self._function.flags & Flag.PROPERTY:
                return held
            held = [given, *held]  # of `A b { get; } = c` and `A b => c`, or what a class above may keep to itself
            return [(cell, min(sure, Reason.SEVERAL), receiver) for cell, sure, receiver in held]
        return [given]

    def _or_of_record(self, whole: int, held: list[BarePlace]) -> list[BarePlace]:
        """The same, or what a record takes behind its name, which is meant where its base or a field begins as that."""
        given: BarePlace = (("name", whole, self.own), Reason.BOUND, None)
        if self._function is None:
            return [given]
        if held[0][0] == given[0] or not self._function.flags & Flag.PROPERTY:
            return held
        return [(cell, min(sure, Reason.SEVERAL), receiver) for cell, sure, receiver in (given, *held)]

    def _is_there(self, scope: int, cell: Cell) -> bool:
        """Whether what a class has needs no object of it: in its head the parameters of its constructor do not."""
        project = self._solver.project
        if not self._made:
            return not _needs_object(project, scope, cell)
        if self._has_head and cell[1] == scope and _is_given_before(project, self._node, cell):
            return True
        bindings = project.table(cell[1]).get(cell[2], ()) if cell[0] == "name" else ()
        return not bindings or not all(_is_of_objects(project, at, is_single=self._of_single) for at in bindings)

    def leave(self, scope: int, row: NameScope) -> None:
        """See what a scope lets of those further out."""
        if row.stars and self._unit.dialect.declared and row.kind not in (*SPACES, *CLASSES):
            self._taking.append(scope)
        self._below = row
        if row.kind in (ScopeKind.BLOCK, ScopeKind.LAMBDA) and row.flags & Flag.SINGLE:
            self._made, self._has_head = True, bool(row.flags & Flag.HEADED)
            self._of_single = bool(row.flags & Flag.STATIC)
        else:
            self._made = self._made and row.kind not in CLASSES
            is_apart = self._unit.dialect.says_inner and _is_apart(self._solver.project, scope)
            self._is_apart = self._is_apart or is_apart
        if row.kind in CLASSES or row.kind == ScopeKind.FUNCTION:
            self._function = row if row.kind == ScopeKind.FUNCTION else None
        self.surest = min(self.surest, _most_around(self._solver, scope, self.own, self._expression))


def _may_be_before(project: GraphProject, outer: int, unit: Unit, expression: Expression) -> bool:
    """Whether the class that a macro makes a function of may have a name, before what is declared in other files."""
    own = unit.names[expression[1]]
    if not unit.dialect.declared or means_type(expression) or project.scope(outer).kind not in SPACES:
        return False
    scopes = unit.facts.scopes
    at = outer - unit.base if own in project.vocabulary.members else NONE
    while at > 0 and expression[1] not in scopes[at].every:
        at = scopes[at].parent
    return at == 0 and expression[1] not in scopes[0].every


def may_be_of_macro(project: GraphProject, node: int, expression: Expression) -> bool:
    """Whether a BARE may mean a member of the class that a macro makes a function of: `TEST_F(A, b) { c(); }`."""
    unit = project.unit(node)
    is_value = expression[4:5] == (A_VALUE,)  # which the macro may declare itself
    if not unit.dialect.declared or not (is_value or unit.names[expression[1]] in project.vocabulary.definitions):
        return False
    scope = (node & ~MASK) | expression[2]
    while scope >= 0 and not project.scope(scope).flags & Flag.IMPLICIT:
        scope = project.outer(scope)
    return scope >= 0 and project.scope(project.outer(scope)).kind in SPACES


def _are_classes(solver: Solver, cell: Cell) -> bool:
    """Whether a namespace has a name for nothing but classes."""
    return cell[0] == "name" and solver.spaces.says(cell[1], cell[2])[1] <= {Op.CLASS, Op.ALIAS}


def _is_in_branch(project: GraphProject, scope: int, own: int) -> bool:
    """Whether a scope binds a name in a branch: `if (!class_exists('A')) { class A {} }` leaves it to others."""
    return any(project.binding(at).how == IN_BRANCH for at in project.table(scope).get(own, ()))


def _is_apart(project: GraphProject, scope: int) -> bool:
    """Whether what stands in a scope has no object of the class around: in `class A { class B { } }` B has none."""
    row, outer = project.scope(scope), project.outer(scope)
    if outer < 0 or project.scope(outer).kind not in CLASSES:
        return False
    is_nested = row.kind in CLASSES and row.name != NONE and not row.flags & Flag.INNER
    return is_nested or bool(row.flags & Flag.SINGLE)


def _needs_object(project: GraphProject, scope: int, cell: Cell) -> bool:
    """Whether what a class has of a name, or inherits, is there for an object of it alone."""
    bindings = project.table(cell[1]).get(cell[2], ()) if cell[0] == "name" else ()
    is_given = cell[1] != scope and project.scope(scope).flags & Flag.SINGLE
    return bool(bindings) and not is_given and all(_is_of_objects(project, at) for at in bindings)


def _is_given_before(project: GraphProject, node: int, cell: Cell) -> bool:
    """Whether what a class has of a name is said before another one in its head: a parameter of its constructor."""
    bindings = project.table(cell[1]).get(cell[2], ()) if cell[0] == "name" else ()
    return any(node & ~MASK <= project.value_of(at) < node for at in bindings)


def _is_of_objects(project: GraphProject, binding: int, *, is_single: bool = False) -> bool:
    """Whether a member of a class is a function or field of its objects: none of a companion, and no class.

    Of a single object it is all but a class.
    """
    at = project.defined(binding)[1]
    if at < 0:
        return is_single or project.binding(binding).how == OF_OBJECTS
    row = project.scope(at)
    return row.kind == ScopeKind.FUNCTION and (is_single or not row.flags & (Flag.STATIC | Flag.SINGLE))


def _most_around(solver: Solver, scope: int, own: int, expression: Expression) -> int:
    """How sure what stands around a class is at most, which may have a method from outside with a common name."""
    classes, dialect = solver.classes, solver.project.unit(scope).dialect
    is_common = dialect.bare_members and dialect.typed and solver.project.text(own) in dialect.common
    may_have = is_common and not means_type(expression) and classes.whole(scope) in classes.has_external_base
    return Reason.EXTERNAL_BASE if may_have else Reason.BOUND


def _extends(project: GraphProject, cell: Cell) -> bool:
    """Whether a name is that of functions that extend a type from outside."""
    scopes = [project.defined(at)[1] for at in project.table(cell[1]).get(cell[2], ())]
    return all(at >= 0 and project.scope(at).flags & Flag.EXTENSION for at in scopes)


def of_receiver(solver: Solver, scope: int, own: int) -> list[BarePlace]:
    """The cells of a name that the object has which a lambda runs on: `a.apply { b() }`."""
    held = solver.value(("receiver", scope))
    return [
        (cell, reason, value)
        for value, sure in held.items()
        if value[0] in (OBJECT, CLASS)
        for cell, reason, _ in places(solver, value, own, min(sure, Reason.FLOW))
        if cell[0] == "name"
    ]


def _meant(project: GraphProject, expression: Expression, found: list[BarePlace]) -> list[BarePlace]:
    """The places without those of variables where a type is meant, or of what is no function where one is."""
    if means_type(expression):
        return [place for place in found if not is_variable(project, place[0])]
    is_called = expression[4:] == (A_FUNCTION,)
    return [place for place in found if not is_no_function(project, place[0])] if is_called else found


def means_type(expression: Expression) -> bool:
    """Whether a BARE stands where only a type may."""
    return expression[4:5] == (A_TYPE,)


def is_no_function(project: GraphProject, cell: Cell) -> bool:
    """Whether a class has something of a name that is no function: a call of Java means one further out then."""
    bindings = project.table(cell[1]).get(cell[2], ()) if cell[0] == "name" else ()
    if any(project.binding(at).how == COMPONENT for at in bindings):
        return False
    scopes = (project.defined(at)[1] for at in bindings)
    return bool(bindings) and all(at < 0 or project.scope(at).kind in CLASSES for at in scopes)


def is_variable(project: GraphProject, cell: Cell) -> bool:
    """Whether a name is that of a field or function alone, which is no type."""
    bindings = project.holding(project.table(cell[1]).get(cell[2], [])) if cell[0] == "name" else []
    no_types = (Op.DECLARED, Op.FUNCTION)
    return bool(bindings) and all(project.expression(project.value_of(at))[0] in no_types for at in bindings)


def of_scope(solver: Solver, unit: Unit, scope: int, own: int, *, is_of_class: bool) -> list[BarePlace]:
    """The cells of a name that is a member of a class, or of the class that a function extends, or of a namespace."""
    project, dialect = solver.project, unit.dialect
    is_class = project.scope(scope).kind in CLASSES
    if is_class and project.text(own) == dialect.self_type and own in project.table(scope):
        return [(("name", scope, own), Reason.BOUND, None)]
    if dialect.spaces and not is_class and scope in solver.spaces.paths:
        return in_space(solver, unit, scope, own)
    if not is_class and (space := solver.classes.extensions.spaces.get(scope)) is not None:  # void n::f() {}
        return of_named_space(solver, unit, scope, space, own)
    if dialect.crates and not is_class and (found := all_of(solver, unit, scope, own)):  # `use a::*` in a function
        return found
    at = solver.classes.whole(scope) if is_class else solver.classes.extensions.extended(scope)
    if not dialect.bare_members or at is None:
        return []
    receiver: Value = (CLASS if is_of_class else OBJECT, at, True)
    most = Reason.MACRO if scope in solver.classes.extensions.macro_made else Reason.OWN_CLASS
    held = [place for place in places(solver, receiver, own, most) if place[0][0] == "name"]
    if is_of_class and project.text(own) == "new":  # one that objects have is none of the class
        return [(("member", receiver, own) if held else ("just", receiver), Reason.OWN_CLASS, None)]
    if not held and dialect.declared and (not is_class or stands_apart(solver, scope)):
        return around_class(solver, unit, scope, at, own)
    return [(cell, sure, receiver) for cell, sure, _ in held]


def in_space(solver: Solver, unit: Unit, scope: int, own: int) -> list[BarePlace]:
    """What a name means in the namespace of a scope, and in those around it that no scope of the file stands for."""
    project = solver.project
    space = solver.spaces.paths[scope]
    inner = solver.spaces.inner(space, project.text(own))
    namespace: list[BarePlace] = [(("space", inner), Reason.BOUND, None)] if inner is not None else []
    if namespace and not solver.spaces.are_beside_names:
        return namespace
    defines, given = solver.spaces.says(scope, own) if own in project.table(scope) else (False, frozenset())
    if defines:
        kinds = {Op.FUNCTION, Op.CLASS} if unit.dialect.types_apart else {Op.FUNCTION}  # A and A<B> of C#
        is_one_of = (unit.dialect.overloads and kinds & given) or _is_in_branch(project, scope, own)
        others = [*solver.spaces.kept(unit, space, own), *solver.spaces.binding(space, own)] if is_one_of else []
        names = [(("name", at, own), int(Reason.BOUND), None) for at in (others if scope in others else [scope])]
        return [*names, *([] if Op.ALIAS in given else namespace)]
    outer = project.outer(scope)
    ends = None if outer < 0 else solver.spaces.paths.get(outer)
    for path in (space, "") if unit.dialect.spaces == "global" else solver.spaces.around(scope):
        if path == ends:
            break
        found = of_space(solver, path, own, Reason.BOUND, unit)
        if path != space and unit.dialect.spaces == "global":  # a class is of its namespace alone
            found = [place for place in found if not _are_classes(solver, place[0])]
        if found:
            return [(cell, sure, None) for cell, sure, _ in found]
        if unit.dialect.spaces == "flat":
            break
    return [] if unit.dialect.declared else all_of(solver, unit, scope, own)
