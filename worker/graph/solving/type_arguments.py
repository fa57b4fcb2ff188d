"""What the type parameters of a class stand for in a type that is applied to others: in `A<u8, B>` V of `A<K, V>` is B.

An object of such a type is of the class, and has the expression of the type besides; and where a class applies another
to its own type parameters, the object that was asked.
"""

from collections.abc import Iterator

from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import CLASSES, MADE, NONE, Op, ScopeKind
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import CLASS, CONTAINER, OBJECT, Cell, Value, Values

ALIAS = "alias"  # what stands for the receiver in the type that another one names, `type A<T> = B<T>`
CALLED = "called"  # likewise in the types of a function that is called (inferred_types.py)
MAX_DEPTH = 4  # types within each other that may say a type parameter
NAMES = (Op.NAME, Op.BARE)
PARAMETERS = (Op.MADE, Op.NAME, Op.BARE, Op.GET, Op.INDEX, Op.EVERY)  # what they are bound to


def arguments_of(solver: Solver, type_: int) -> list[int]:
    """The types that a type is applied to: B and C of `A<B, C>`."""
    op, *parts = solver.project.expression(type_)
    if op != Op.INDEX:
        return []
    key = solver.child(type_, parts[1])
    expression = solver.project.expression(key)
    return [solver.child(type_, part) for part in expression[1] if part >= 0] if expression[0] == Op.TUPLE else [key]


def applied_to(solver: Solver, type_: int, values: Values, receiver: Value | None) -> Values:
    """Objects of a type that is applied to others, with that; and with the receiver that says what these stand for."""
    asks = receiver is not None and any(
        solver.op(at) in NAMES and (receiver[0] == CALLED or argument_for(solver, at, receiver)[0] != NONE)
        for at in arguments_of(solver, type_)
    )
    further = (type_, receiver[: 5 if receiver[0] == CALLED else 4]) if asks and receiver else (_alike(solver, type_),)
    if not asks and solver.project.unit(type_).dialect.applies_bases and not _says_more(solver, type_):
        return values
    return {
        (OBJECT, value[1], True, *further) if value[0] == OBJECT and _is_applied(solver, value[1]) else value: sure
        for value, sure in values.items()
    }


def _alike(solver: Solver, type_: int) -> int:
    """The first type that says the same, where all that it is applied to are classes: objects of both are one value."""
    op, *parts = solver.project.expression(type_)
    names = [solver.child(type_, parts[0]), *arguments_of(solver, type_)] if op == Op.INDEX else []
    said = [tuple(solver.value(at).items()) for at in names if solver.op(at) in NAMES]
    if len(said) < max(len(names), 2) or any([value[0] for value, _ in each] != [CLASS] for each in said):
        return type_
    return solver.alike.setdefault(tuple(said), type_)


def _says_more(solver: Solver, type_: int) -> bool:
    """Whether a type is applied to one that is not only a name from outside, or a type parameter."""
    for at in arguments_of(solver, type_):
        op, *parts = solver.project.expression(at)
        if op in (Op.GET, Op.INDEX, Op.ARRAY, Op.CHOICE, Op.LOOKUP, Op.CLASS, Op.FUNCTION, Op.TUPLE):
            return True
        if op == Op.BARE and any(value[0] == CLASS for value in solver.value(at)):
            return True
        if op == Op.NAME and parts[1] != NONE:
            number, scope = solver.project.unit(at).names[parts[0]], solver.child(at, parts[1])
            reaching = [solver.child(at, each) for each in parts[2] or ()]
            bindings = reaching or solver.project.table(scope).get(number, [])
            if any(solver.project.value_of(each) & MASK > MADE for each in bindings):
                return True
    return False


def associated(solver: Solver, value: Value, word: str) -> list[Cell]:
    """The cells of what a class names a type by a word, `type Target = A`, for an object of it."""
    owner = solver.classes.of_class(value[1], solver.project.number(word))[0] if word and value[0] == OBJECT else None
    bindings = () if owner is None else solver.project.table(owner)[solver.project.number(word)]
    return [("type", solver.project.value_of(at), value if len(value) > 3 else None) for at in bindings]


def in_applied(solver: Solver, cell: Cell, receiver: Value) -> Values:
    """What a member of an object is: of a field what its type says, by what that of the object is applied to."""
    bindings = solver.project.table(cell[1]).get(cell[2], ()) if len(receiver) > 3 and cell[0] == "name" else ()
    value = solver.project.value_of(bindings[0]) if len(bindings) == 1 else NONE
    op, *parts = solver.project.expression(value) if value != NONE else (Op.UNKNOWN,)
    is_declared = op == Op.DECLARED and parts[0] > MADE
    said = solver.value(("type", solver.child(value, parts[0]), receiver)) if is_declared else {}
    return said or solver.value(cell)


def items_of(solver: Solver, value: Value) -> Value | None:
    """A container of what going over an object gives, as its class names the type of that; None where it does not."""
    cells = associated(solver, value, solver.project.unit(value[1]).dialect.items)
    items: Value = (CONTAINER, ("items", value))
    for cell in cells:
        solver.key(items, "*", cell)
    return items if cells else None


def container_of(type_: int, receiver: Value | None) -> Value:
    """What is of a type that holds others, which may depend on what a class is applied to: `Vec<T>` of an `A<B>`."""
    return (CONTAINER, type_, *receiver[3:]) if receiver and len(receiver) > 3 else (CONTAINER, type_)


def argument_for(solver: Solver, name: int, receiver: Value | None) -> tuple[int, Value | None]:
    """The type that the name of a type parameter stands for in the class of a receiver, -1 where that is not known.

    And what says what type parameters in that stand for.
    """
    own, around = solver.project.expression(name)[1], declaring(solver, name)
    if around == NONE or receiver is None or receiver[0] not in (OBJECT, ALIAS):
        return NONE, None
    number = solver.project.unit(name).names[own]
    is_own = solver.classes.whole(around) == receiver[1] or _is_method(solver, around, receiver[1])
    if receiver[0] == OBJECT and not is_own:
        return _argument_above(solver, name, number, solver.classes.whole(around), receiver)
    if len(receiver) < 4 or (receiver[0] == ALIAS and around != receiver[1]):
        return NONE, None
    return _given(solver, around, number, receiver)


def _given(solver: Solver, around: int, number: int, receiver: Value) -> tuple[int, Value | None]:
    """What a type parameter of the class of a receiver itself stands for."""
    type_ = solver.classes.extensions.extended_by.get(around, NONE)
    named = _names(solver, arguments_of(solver, type_)) if type_ != NONE else _parameters(solver, around)
    given = arguments_of(solver, receiver[3])
    place = named.index(number) if number in named else len(given)
    return given[place] if place < len(given) else NONE, receiver[4] if len(receiver) > 4 else None


def _is_method(solver: Solver, function: int, of: int) -> bool:
    """Whether a function is a method of a class, whose type parameters it names itself: `func (a *A[T]) b() T`."""
    is_function = solver.project.scope(function).kind == ScopeKind.FUNCTION
    return is_function and solver.project.unit(function).dialect.structural and solver.classes.owner(function) == of


def declaring(solver: Solver, name: int) -> int:
    """The scope that binds a name of a type; of one that may be a member's only a class, whose type parameter it is."""
    op, own, at, *_ = solver.project.expression(name)
    scope = (name & ~MASK) | at if at != NONE else NONE
    if op == Op.NAME or scope == NONE:
        return scope
    number = solver.project.unit(name).names[own]
    if number not in names_of_parameters(solver):
        return NONE
    while scope >= 0 and number not in solver.project.table(scope):
        scope = solver.project.outer(scope)
    is_parameter = scope >= 0 and solver.project.scope(scope).kind in CLASSES and number in _parameters(solver, scope)
    return scope if is_parameter else NONE


def _argument_above(solver: Solver, name: int, number: int, above: int, receiver: Value) -> tuple[int, Value | None]:
    """What a type parameter of a class above stands for, where one says it: `class A extends B<C>`; -1 elsewhere."""
    if not solver.project.unit(name).dialect.applies_bases:
        return NONE, None
    if solver.project.scope(above).kind not in CLASSES:
        above, number = _of_embedded(solver, above, number)
    if above == NONE:
        return NONE, None
    for _ in range(MAX_DEPTH):
        base, of = _applied_bases(solver, receiver[1]).get(above, (NONE, NONE))
        named, given = _parameters(solver, above), [] if base == NONE else arguments_of(solver, base)
        place = named.index(number) if number in named else len(given)
        if place >= len(given):
            break
        [said] = _names(solver, [given[place]])
        if said == NONE or said not in _parameters(solver, of):
            return given[place], None
        if of == receiver[1]:
            return _given(solver, of, said, receiver) if len(receiver) > 3 else (NONE, None)
        above, number = of, said  # class A extends B<C>, class B<D> extends E<D>
    return NONE, None


def _of_embedded(solver: Solver, function: int, number: int) -> tuple[int, int]:
    """The class of a method of Go, and the type parameter of that which the method names; -1 where it names none."""
    owner = solver.classes.owner(function) if solver.project.unit(function).dialect.structural else None
    named, own = _parameters(solver, function), [] if owner is None else _parameters(solver, owner)
    place = named.index(number) if number in named else len(own)
    return (owner, own[place]) if owner is not None and place < len(own) else (NONE, NONE)


def _applied_bases(solver: Solver, scope: int) -> dict[int, tuple[int, int]]:
    """The classes above one that it or another one of them applies to types, each with that, `B<C>`, and which does."""
    if scope in solver.applied_bases:
        return solver.applied_bases[scope]
    found: dict[int, tuple[int, int]] = {}
    for at in solver.classes.order(scope):
        for base in solver.project.scope(at).bases:
            node = solver.child(at, base)
            if arguments_of(solver, node):
                of = solver.value(solver.child(node, solver.project.expression(node)[1]))
                found.update({value[1]: (node, at) for value in of if value[0] == CLASS and value[1] not in found})
    if solver.classes.is_settled:
        solver.applied_bases[scope] = found
    return found


def names_in_generic(solver: Solver) -> set[int]:
    """The names of members of classes that have type parameters, where `applies_bases`: few of those that are asked."""
    if solver.names_in_generic is None:
        tables = (solver.project.table(scope) for scope in _generic_classes(solver))
        solver.names_in_generic = {name for table in tables for name in table}
    return solver.names_in_generic


def names_of_parameters(solver: Solver) -> set[int]:
    """The names of the type parameters of all classes, where `applies_bases`."""
    if solver.names_of_parameters is None:
        named = (_parameters(solver, scope) for scope in _generic_classes(solver))
        solver.names_of_parameters = {name for names in named for name in names}
    return solver.names_of_parameters


def _generic_classes(solver: Solver) -> Iterator[int]:
    """Yield the classes that have type parameters, where `applies_bases`."""
    for unit in solver.project.units:
        for at, row in enumerate(unit.facts.scopes if unit.dialect.applies_bases else ()):
            if row.kind in CLASSES and _parameters(solver, unit.base | at):
                yield unit.base | at


def generic_field(solver: Solver, scope: int, name: int) -> int:
    """The type of a field of a class that says a type parameter of the class; -1 of any other member."""
    found = solver.generic_fields.get((scope, name))
    if found is None:
        bindings = solver.project.table(scope).get(name, ())
        at = solver.project.value_of(bindings[0]) if len(bindings) == 1 else NONE
        is_field = at != NONE and solver.op(at) == Op.DECLARED
        found = solver.child(at, solver.project.expression(at)[1]) if is_field else NONE
        if found != NONE and not _says_parameter(solver, found, scope, MAX_DEPTH):
            found = NONE
        solver.generic_fields[scope, name] = found
    return found


def _says_parameter(solver: Solver, type_: int, scope: int, depth: int) -> bool:
    """Whether a type is a type parameter of a class, or is applied to one."""
    op, *parts = solver.project.expression(type_)
    if op in NAMES:
        return declaring(solver, type_) == scope
    within = (
        parts if op == Op.INDEX else parts[:1] if op == Op.ARRAY else parts[0] if op in (Op.TUPLE, Op.CHOICE) else ()
    )
    return depth > 0 and any(_says_parameter(solver, solver.child(type_, part), scope, depth - 1) for part in within)


def with_base(solver: Solver, value: Value) -> Value:
    """An object, with what its class applies one above to, where it has no type parameters: `class A extends B<C>`."""
    if len(value) > 3 or _parameters(solver, value[1]):
        return value
    bases = (solver.child(value[1], base) for base in solver.project.scope(value[1]).bases)
    applied = next((base for base in bases if solver.op(base) == Op.INDEX), None)
    return value if applied is None else (*value, applied)


def is_generic(solver: Solver, scope: int | None) -> bool:
    """Whether a class has type parameters that what it is applied to says."""
    if scope is None or not solver.project.unit(scope).dialect.applies_bases:
        return False
    return bool(_parameters(solver, scope))


def _names(solver: Solver, types: list[int]) -> list[int]:
    """The names of some types, where they are names alone."""
    expressions = ((at, solver.project.expression(at)) for at in types)
    return [solver.project.unit(at).names[each[1]] if each[0] in NAMES else NONE for at, each in expressions]


def _parameters(solver: Solver, scope: int) -> list[int]:
    """The names of the type parameters of a class, in order."""
    found = solver.type_parameters.get(scope)
    if found is None:
        found = solver.type_parameters[scope] = _type_parameters(solver, scope)
    return found


def _type_parameters(solver: Solver, scope: int) -> list[int]:
    unit, row = solver.project.unit(scope), solver.project.scope(scope)
    every = row.every
    most = row.generic if unit.dialect.selects else len(every)  # behind them stand its fields
    return [
        unit.names[name]
        for name, bindings in every.items()
        if (value := unit.bindings[bindings[0]].value) == MADE or unit.facts.expressions[value][0] in PARAMETERS
    ][:most]


def _is_applied(solver: Solver, scope: int) -> bool:
    """Whether the language has what is asked of a type parameter found by what that stands for."""
    dialect = solver.project.unit(scope).dialect
    return bool(dialect.behind) or (dialect.applies_bases and bool(_parameters(solver, scope)))
