"""What a member becomes where it is taken from a receiver: a function is bound, a property called."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.declared_beside import agrees, objects_in, says_more
from fledgling.worker.graph.solving.overrides import interfaces
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import MADE, NONE, SIGNATURE, Flag, Op, ScopeKind
from fledgling.worker.graph.values import (
    BOUND,
    CLASS,
    CONTAINER,
    DESCRIPTOR,
    EXTERNAL,
    FUNCTION,
    GENERATOR,
    GIVEN,
    OBJECT,
    SUPER,
    UNKNOWN,
    Value,
    Values,
    add,
    capped,
    told,
)

OF_CLASS, OF_NOTHING = "classmethod", "static"  # what a dialect calls decorators, and calls that do the same
KNOWN = (OBJECT, FUNCTION, CLASS, BOUND, GENERATOR)  # what is seen to be given, where this tells more than its type
COMPUTED = Flag.PROPERTY | Flag.SETTER
MAX_SIGNATURES = 64  # ways that a function is declared to be called in; of so many there may be more


def hides(solver: Solver, function: int, scope: int | None) -> bool:
    """Whether a function is called through an interface alone, and not through what it is asked of: `int I.a() {}`."""
    if not solver.project.scope(function).flags & Flag.EXPLICIT:
        return False
    if scope is None or solver.project.scope(scope).kind != ScopeKind.INTERFACE:
        return True
    named = interfaces(solver, function)
    above = solver.classes.order(scope)
    return not any(at in above for at in named) if named else scope not in solver.classes.has_external_base


def bound_to(solver: Solver, receiver: Value, held: Value, sure: int, owner: int | None) -> Values:
    """What a member becomes where it is taken from a receiver: a function is bound, a property called."""
    if held[0] in (OBJECT, DESCRIPTOR) and owner is not None and receiver[0] in (OBJECT, CLASS, SUPER):
        return _described(solver, receiver, held, sure)
    if held[0] != FUNCTION or (owner is None and receiver[0] != CONTAINER):
        return {held: sure}
    flags = solver.project.scope(held[1]).flags
    sure = min(sure, _at_most(solver, receiver, held[1], owner))
    if owner is None:  # { get a() { return b } }
        return capped(returned(solver, held[1], None), sure) if flags & Flag.PROPERTY else {held: sure}
    if receiver[0] == SUPER:
        receiver = receiver[2]
    if solver.project.unit(held[1]).dialect.bare_calls:
        return _called_on(solver, receiver, held, sure, is_static=bool(flags & Flag.STATIC))
    is_extending = flags & Flag.EXTENSION and receiver[0] == OBJECT
    if flags & Flag.STATIC and not (is_extending and solver.classes.whole(solver.project.outer(held[1])) != owner):
        return _static(solver, receiver, held, sure)
    if flags & Flag.CLASSMETHOD:
        return {(BOUND, held[1], (CLASS, *receiver[1:])): sure}
    if receiver[0] == CLASS:
        return {held: sure} if not flags & COMPUTED else {}
    is_hidden = hides(solver, held[1], receiver[1])
    if flags & COMPUTED:
        return {} if is_hidden else capped(_read(solver, held[1], receiver), surely_given(solver, held[1], sure))
    return {} if is_hidden else {(BOUND, held[1], receiver): sure}


def _as_described(solver: Solver, receiver: Value, held: Value, sure: int) -> Values:
    """What a function is taken from a receiver as that a call has made a member: `property(f)`."""
    _, how, function = held
    if how == OF_NOTHING:
        return {(FUNCTION, function): sure}
    if how == OF_CLASS:
        return {(BOUND, function, (CLASS, *receiver[1:])): sure}
    return {} if receiver[0] == CLASS else capped(_read(solver, function, receiver), sure)


def _static(solver: Solver, receiver: Value, held: Value, sure: int) -> Values:
    """What a static function is where it is taken from a class, or what it gives: `static get a() { return b }`."""
    dialect = solver.project.unit(held[1]).dialect
    if (dialect.prototypes or dialect.delegates) and solver.project.scope(held[1]).flags & Flag.PROPERTY:
        return capped(returned(solver, held[1], receiver), sure)
    gives_own = dialect.texts_name_classes and _gives_own(solver, held[1])
    return {(BOUND, held[1], (CLASS, *receiver[1:3])): sure} if gives_own else {held: sure}


def _gives_own(solver: Solver, function: int) -> bool:
    """Whether a function of PHP says that it gives an object of the class that is asked: `function a(): ?static`."""
    row = solver.project.scope(function)
    node = NONE if row.returns == NONE else solver.child(function, row.returns)
    while node != NONE and solver.op(node) == Op.TOLD:
        node = solver.child(node, solver.project.expression(node)[1])
    op, *parts = solver.project.expression(node) if node != NONE else (Op.MADE,)
    return op == Op.THIS or (op == Op.CHOICE and any(solver.op(solver.child(node, at)) == Op.THIS for at in parts[0]))


def _read(solver: Solver, function: int, receiver: Value) -> Values:
    """What a property gives; the object itself, where it returns that."""
    found: Values = {}
    for value, sure in returned(solver, function, receiver).items():
        if value[0] != GIVEN:
            add(found, {value: sure})
        elif value[2] == 0:
            add(found, {receiver: sure}, Reason.RETURNED)
    return found


def _at_most(solver: Solver, receiver: Value, function: int, owner: int | None) -> int:
    """How sure a function is that a class of Python has in a variable: an object may have another, of `@dataclass`.

    So may what has it as any type of a trait of Rust: `impl<T: A> B for T`.
    """
    if (bounded := solver.classes.extensions.of_bounded) and solver.project.outer(function) in bounded:
        return Reason.INTERFACE
    is_elsewhere = solver.project.outer(function) != owner and solver.project.unit(function).dialect.exported
    return Reason.ATTRIBUTE if is_elsewhere and receiver[0] == OBJECT else Reason.BOUND


def _called_on(solver: Solver, receiver: Value, held: Value, sure: int, *, is_static: bool) -> Values:
    """A method of Ruby where it is called: of a class only if it is the class's own, of an object only if not."""
    if not is_static and _extends_itself(solver, receiver, held[1]):
        return {}
    is_own = receiver[0] == CLASS and _is_by_extend(solver, receiver[1], held[1])
    if is_static and receiver[0] == CLASS and _is_of_included(solver, receiver[1], held[1]):
        sure = min(sure, Reason.NAME_ONLY)
    if (receiver[0] == CLASS) == is_static or is_own:
        return {(BOUND, held[1], receiver): sure}
    if not is_static and receiver[0] == CLASS and _may_be_asked_of_class(solver, receiver[1], held[1]):
        return {(BOUND, held[1], (OBJECT, *receiver[1:3])): min(sure, Reason.EXTERNAL_BASE)}
    is_module = solver.project.scope(receiver[1]).kind == ScopeKind.INTERFACE
    return {(BOUND, held[1], receiver): min(sure, Reason.SEVERAL)} if is_module else {}  # extend self


def _may_be_asked_of_class(solver: Solver, scope: int, function: int) -> bool:
    """Whether a class outside may have the class asked for a method of its objects: `Mailer.welcome(a)`."""
    unit, row = solver.project.unit(function), solver.project.scope(function)
    is_class = solver.project.scope(scope).kind == ScopeKind.CLASS
    if row.name == NONE or not is_class or scope not in solver.classes.has_external_base:
        return False
    name, dialect = unit.facts.names[row.name], unit.dialect
    is_common = name in dialect.common or name in dialect.universal
    return not is_common and not solver.classes.has_itself(scope, unit.names[row.name])


def _is_of_included(solver: Solver, scope: int, function: int) -> bool:
    """Whether a function is one that a module has itself, which what includes that does not have: `def self.a`."""
    owner = solver.classes.owner(function)
    return owner not in (None, scope) and solver.project.scope(owner).kind == ScopeKind.INTERFACE


def _extends_itself(solver: Solver, receiver: Value, function: int) -> bool:
    """Whether an object is of a module by which the class of a method extends itself: the object is that class then."""
    classes = solver.classes
    if receiver[0] != OBJECT or receiver[1] not in classes.mixins.classes:
        return False
    owner = classes.owner(function)
    if owner is None or solver.project.scope(owner).kind != ScopeKind.CLASS:
        return False
    return receiver[1] not in classes.order(owner)


def _is_by_extend(solver: Solver, scope: int, function: int) -> bool:
    """Whether a class of Ruby, or one above, has a function itself from a module: `extend A`."""
    owner = solver.classes.owner(function)
    if owner in solver.classes.computed_mixins.of_classes:
        return True
    modules = (module for at in solver.classes.order(scope) for module in solver.classes.mixins.modules.get(at, ()))
    return any(owner in solver.classes.order(module) for module in modules) if solver.classes.mixins.modules else False


def _described(solver: Solver, receiver: Value, held: Value, sure: int) -> Values:
    """What a descriptor gives: itself, what it is asked of, or another value; anything else is what it is."""
    if receiver[0] == SUPER:
        receiver = receiver[2]
    if held[0] == DESCRIPTOR:
        return _as_described(solver, receiver, held, sure)
    name = solver.project.number("__get__")
    owner, _ = solver.classes.of_class(held[1], name)
    if owner is None:
        return {held: sure}
    of = {0: held, 2: (CLASS, *receiver[1:])}  # __get__(self, object, class)
    if receiver[0] != CLASS:  # for which the object is None
        of[1] = receiver
    found: Values = {}
    for got in list(solver.value(("name", owner, name))):
        if got[0] == FUNCTION:
            add(found, _got(solver, got[1], held, of), min(sure, Reason.SEVERAL))
    return found


def _got(solver: Solver, function: int, held: Value, of: dict[int, Value]) -> Values:
    """What a `__get__` returns for some arguments, and UNKNOWN where it may return more.

    Itself is taken to be for the class alone then: `if object is None: return self`.
    """
    row = solver.project.scope(function)
    for place in of if solver.budget.follows_arguments else ():
        if 0 < place < len(row.parameters):
            solver.source(("parameter", function, place), ("just", of[place]), Reason.FLOW)
    values = returned(solver, function, held)
    places = {value[2]: value for value in values if value[0] == GIVEN}
    found = {value: sure for value, sure in values.items() if value[0] != GIVEN}
    found.update({of[place]: values[value] for place, value in places.items() if place in of})
    is_declared = row.returns != NONE and solver.value(("type", solver.child(function, row.returns), held))
    if is_declared or all(node == MADE or solver.value(solver.child(function, node)) for node in row.returned):
        return found
    if not solver.is_settled:
        solver.wait()
    if 0 not in places or 1 in of:
        found.pop(held, None)
        if solver.is_settled:
            found[UNKNOWN] = Reason.FLOW
    return found


def signatures(solver: Solver, function: int) -> list[int]:
    """A function, or what is declared that it may be called as instead: `f(a: A): B;` before `f(a: any) {}`."""
    row, unit = solver.project.scope(function), solver.project.unit(function)
    if row.name == NONE or not (unit.dialect.typed and unit.dialect.prototypes):
        return [function]
    around = solver.project.outer(function)
    name = solver.project.number(SIGNATURE + unit.facts.names[row.name])
    bindings = solver.project.table(around).get(name, ()) if around >= 0 else ()
    if around >= 0 and row.flags & Flag.ABSTRACT:  # interface A { b(c: C): D; b(c: E): F }
        bindings = bindings or solver.project.bindings_of(around, unit.names[row.name])
    nodes = [solver.project.value_of(binding) for binding in bindings[:MAX_SIGNATURES]]
    nodes = [node for node in nodes if solver.op(node) == Op.FUNCTION]
    return [solver.child(node, solver.project.expression(node)[1]) for node in nodes] or [function]


def returned(solver: Solver, function: int, receiver: Value | None) -> Values:
    """What a call of a function gives; `("given", ...)` stands for an argument."""
    row = solver.project.scope(function)
    if row.flags & Flag.GENERATOR:
        return {(GENERATOR, function): Reason.BOUND}
    declared = _declared(solver, function, receiver) if row.returns != NONE else {}
    is_told = declared and solver.op(solver.child(function, row.returns)) == Op.TOLD
    if (
        not is_told
        and solver.project.unit(function).dialect.typed
        and any(value[0] in (OBJECT, CONTAINER, FUNCTION) for value in declared)
    ):
        return declared
    held = solver.value(("returned", function))
    found = {value: sure if value[0] == GIVEN else min(sure, Reason.RETURNED) for value, sure in held.items()}
    is_converted = solver.project.unit(function).dialect.converts and any(value[0] == EXTERNAL for value in declared)
    if is_converted:  # `std::string f() { return ""; }`
        found = objects_in(found)
    if is_told:
        return found if _tells(solver, function, found) else add(told(found), declared)
    if row.returns != NONE:
        if declared:
            dialect = solver.project.unit(function).dialect
            selects = dialect.selects or dialect.structural  # what is meant is told by the type alone
            known = [value for value in found if value[0] in KNOWN or (value[0] == GIVEN and not is_converted)]
            if (
                not known
                or selects
                or (any(value[0] == OBJECT for value in declared) and not any(value[0] == OBJECT for value in found))
                or (not dialect.typed and agrees(declared, found))
                or says_more(solver, declared, found)
            ):
                add(found, declared)
        elif _may_be_any(solver, function):
            return {value: sure for value, sure in found.items() if value[0] != EXTERNAL}
    return found


def read_by_base(solver: Solver, value: Value) -> Values:
    """What holds others that a method of PHP gives which is read as a property: a class outside calls it then.

    `$post->comments`, where `comments()` tells what the model has.
    """
    if not solver.project.unit(value[1]).dialect.absent_properties or value[2][0] != OBJECT:
        return {}
    if value[2][1] not in solver.classes.has_external_base:
        return {}
    given = returned(solver, value[1], value[2])
    return {held: min(sure, Reason.RETURNED) for held, sure in given.items() if held[0] == CONTAINER}


def surely_given(solver: Solver, function: int, sure: int) -> int:
    """How sure what a function gives is, where what runs is so sure: what overrides it gives what is declared, too.

    What is not declared is inferred, and no surer for it.
    """
    row = solver.project.scope(function)
    is_declared = row.returns != NONE and not row.flags & Flag.GENERATOR and solver.project.unit(function).dialect.typed
    return Reason.DECLARED if is_declared and sure >= Reason.OVERRIDDEN else sure


def _may_be_any(solver: Solver, function: int) -> bool:
    """Whether a function of Python says that what it gives may be anything: `-> Any`."""
    unit, node = solver.project.unit(function), solver.child(function, solver.project.scope(function).returns)
    if unit.dialect.typed or solver.op(node) not in (Op.NAME, Op.GET):
        return False
    return unit.dialect.types.get(solver.project.last_name(node)) == "unknown"


def _tells(solver: Solver, function: int, found: Values) -> bool:
    """Whether what a function is seen to give goes before what a comment says, which only fills gaps in JavaScript."""
    return bool(solver.project.unit(function).dialect.told_in) and any(
        value[0] in (OBJECT, FUNCTION, CLASS, BOUND, GENERATOR) for value in found
    )


def _declared(solver: Solver, function: int, receiver: Value | None) -> Values:
    """What a function is declared to give, or each of what it may be called as."""
    said = signatures(solver, function)
    if said == [function]:
        return solver.value(("type", solver.child(function, solver.project.scope(function).returns), receiver))
    types = (solver.project.scope(scope).returns for scope in said)
    found = of_any(
        [
            {} if of == NONE else solver.value(("type", solver.child(scope, of), receiver))
            for scope, of in zip(said, types, strict=True)
        ]
    )
    return capped(found, Reason.OVERLOAD) if len(said) >= MAX_SIGNATURES else found


def of_any(given: list[Values]) -> Values:
    """What one of several ways to call something gives, of which nobody tells which is meant."""
    found: Values = {}
    for values in given:
        add(found, values)
    return found if all(values.keys() == found.keys() for values in given) else capped(found, Reason.OVERLOAD)
