"""What the type parameters of a function stand for in a call: `f<A>()` says it, or the arguments do, `f(a)`.

In the types of the function the call takes the place of a receiver: (CALLED, function, whether its first parameter is
what it is called on, call).
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.delegates import OF_TYPE, name_of
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.type_arguments import CALLED, NAMES, arguments_of, is_generic, with_base
from fledgling.worker.graph.tables import NONE, Flag, Op
from fledgling.worker.graph.values import (
    BOUND,
    CLASS,
    CONTAINER,
    EXTERNAL,
    FUNCTION,
    GIVEN,
    OBJECT,
    Cell,
    Value,
    Values,
    add,
)

MAX_WITHIN = 4  # types within each other in which a type parameter is looked for
MAX_ARGUMENTS = 64  # of one call that are followed
MAX_INFERRING = 8  # arguments of a call that tell a type parameter, the first ones
OF_PROJECT = (OBJECT, CLASS, CONTAINER, FUNCTION, BOUND)
HOLDING = ("elements", "values", "mapped", "keyed")  # types that hold the last one that they are applied to


def names_of(solver: Solver, function: int) -> list[int]:
    """The names of the type parameters that a function has itself, in order."""
    row, names = solver.project.scope(function), solver.project.unit(function).names
    return [names[name] for name in islice(row.every, row.generic)]


def called_with(
    solver: Solver, function: int, node: int, arguments: list[tuple[Cell, bool]], receiver: Value | None
) -> Value | None:
    """What says the type parameters of a function that is called, or of its class; None where nothing does.

    Nor where something else calls it with other arguments: `a.map(f)`.
    """
    if solver.project.unit(function).dialect.converts:  # in C++ a type parameter may be any text or number as well
        return None
    around = receiver if receiver is not None and receiver[0] == OBJECT else None
    if around is not None and not is_generic(solver, solver.classes.owner(function)):
        around = None
    if not solver.project.scope(function).generic:
        return around
    op, *parts = solver.project.expression(node)
    if op != Op.CALL or len(arguments) != min(len(parts[1]), MAX_ARGUMENTS):
        return around
    pairs = zip(arguments, parts[1], strict=False)
    if not all(spread or cell == solver.child(node, part) for (cell, spread), part in pairs):
        return around
    row = solver.project.scope(function)
    on_first = receiver is not None and bool(row.flags & Flag.RECEIVES)
    return (CALLED, function, on_first, node, *([] if around is None else [around[:4]]))


def given_by(solver: Solver, function: int, receiver: Value | None) -> Values | None:
    """What a call gives of a function that declares that by its own type parameters; None where it does not."""
    returns = solver.project.scope(function).returns
    if (
        receiver is None
        or receiver[0] != CALLED
        or returns == NONE
        or not _says_own(solver, function, solver.child(function, returns), 0)
    ):
        return None
    return solver.value(("type", solver.child(function, returns), receiver))


def _says_own(solver: Solver, function: int, type_: int, depth: int) -> bool:
    """Whether a type of a function names a type parameter of that."""
    op, *parts = solver.project.expression(type_)
    if op in NAMES:
        return solver.project.unit(type_).names[parts[0]] in names_of(solver, function)
    return depth < MAX_WITHIN and any(
        _says_own(solver, function, inner, depth + 1) for inner in _within(solver, type_, op, parts)
    )


def _within(solver: Solver, type_: int, op: int, parts: list[Any]) -> Iterator[int]:
    """The types in a type."""
    if op == Op.INDEX:
        yield from arguments_of(solver, type_)
    elif op in (Op.ARRAY, Op.POINTEE):
        yield solver.child(type_, parts[0])
    elif op in (Op.TUPLE, Op.CHOICE):
        yield from (solver.child(type_, part) for part in parts[0] if part >= 0)
    elif op == Op.FUNCTION:
        returns = solver.project.scope(scope := solver.child(type_, parts[0])).returns
        if returns != NONE:
            yield solver.child(scope, returns)


def stands_for(solver: Solver, name: int, receiver: Value) -> tuple[int, Values] | None:
    """The type that a call says a type parameter to be, -1 if none, and what its arguments say; None of other names."""
    function, node = receiver[1], receiver[3]
    number, names = solver.project.unit(name).names[solver.project.expression(name)[1]], names_of(solver, function)
    if number not in names or not _is_in(solver, name, function):
        return None
    types = _said(solver, node)
    if len(types) == len(names):
        return types[names.index(number)], {}
    found: Values = {}
    for type_, values in _handed(solver, function, node, on_first=receiver[2]):
        add(found, _told(solver, type_, values, number, 0), Reason.FLOW)
    return NONE, found


def _is_in(solver: Solver, name: int, function: int) -> bool:
    """Whether a name stands in a function, and in no alias of a type that has a type parameter of the same name."""
    if solver.project.unit(name) is not solver.project.unit(function):
        return False
    _, number, at, *_ = solver.project.expression(name)
    own, scope = solver.project.unit(name).names[number], NONE if at == NONE else solver.child(name, at)
    while scope >= 0 and scope != function and own not in solver.project.table(scope):
        scope = solver.project.outer(scope)
    return scope == function


def receiver_of(receiver: Value | None) -> Value | None:
    """What a function is called on, of which its class says the type parameters; a receiver is that itself."""
    if receiver is None or receiver[0] != CALLED:
        return receiver
    return receiver[4] if len(receiver) > 4 else None


def _said(solver: Solver, node: int) -> list[int]:
    """The types that a call is given: `f<A>()`, `f[A]()`."""
    op, *parts = solver.project.expression(node)
    if op == Op.CALL and len(parts) > 3:
        return arguments_of(solver, solver.child(node, parts[3]))
    is_said = op == Op.CALL and solver.project.unit(node).dialect.instantiates
    return arguments_of(solver, solver.child(node, parts[0])) if is_said else []


def _handed(solver: Solver, function: int, node: int, *, on_first: bool) -> Iterator[tuple[int, Values]]:
    """The types of the parameters of a function that a call hands something to, each with that."""
    op, *parts = solver.project.expression(node)
    parameters = solver.project.scope(function).parameters
    if op != Op.CALL or not parameters:
        return
    callee = solver.child(node, parts[0])
    cells: list[Cell] = []
    if on_first and solver.op(callee) == Op.GET:
        cells.append(solver.child(callee, solver.project.expression(callee)[1]))
    cells += [solver.child(node, part) for part in parts[1][:MAX_INFERRING] if part >= 0]
    is_several = len(cells) == 1 < len(parameters) and solver.project.unit(function).dialect.gives_several
    for place, cell in enumerate(cells):
        given = parameters[min(place, len(parameters) - 1)]
        if given.type == NONE or (place >= len(parameters) and not given.rest):
            continue
        values = dict(solver.value(cell))
        if is_several:  # f(g()), which gives several
            held = [
                value for value in values if value[0] == CONTAINER and solver.may_have_key(value, ("number", place))
            ]
            values = {
                of: sure for value in held for of, sure in solver.value(("element", value, ("number", 0))).items()
            }
        yield solver.child(function, given.type), values


def _told(solver: Solver, type_: int, values: Values, number: int, depth: int) -> Values:
    """What values of a type say that a type parameter is which stands in it: of `T[]`, what an array holds."""
    op, *parts = solver.project.expression(type_)
    if op in NAMES:
        is_own = solver.project.unit(type_).names[parts[0]] == number
        return {value: sure for value, sure in values.items() if value[0] in OF_PROJECT} if is_own else {}
    found: Values = {}
    for inner, said in _parts(solver, type_, op, parts, values) if depth < MAX_WITHIN else ():
        if not (found and op == Op.CHOICE):  # of `A<T> | T` the first tells more
            add(found, _told(solver, inner, said, number, depth + 1))
    return found


def _parts(solver: Solver, type_: int, op: int, parts: list[Any], values: Values) -> Iterator[tuple[int, Values]]:
    """The types within one, each with what values of that say of it."""
    if op == Op.POINTEE:
        yield solver.child(type_, parts[0]), values
    elif op == Op.CHOICE:
        types = [solver.child(type_, part) for part in parts[0]]
        yield from ((at, values) for at in sorted(types, key=lambda at: solver.op(at) in NAMES))
    elif op == Op.ARRAY:
        yield solver.child(type_, parts[0]), _held(solver, values)
    elif op == Op.FUNCTION:
        scope = solver.child(type_, parts[0])
        if (returns := solver.project.scope(scope).returns) != NONE:
            yield solver.child(scope, returns), _returned(solver, values)
    elif op == Op.INDEX:
        yield from _applied(solver, type_, values)


def _applied(solver: Solver, type_: int, values: Values) -> Iterator[tuple[int, Values]]:
    """Likewise of a type that is applied to others: `A<T>`."""
    types = arguments_of(solver, type_)
    name = solver.project.last_name(solver.child(type_, solver.project.expression(type_)[1]))
    dialect = solver.project.unit(type_).dialect
    how = dialect.types.get(name, "")
    if how in HOLDING:
        yield types[-1], _held(solver, values)
    elif how == "same":
        yield types[0], values
    elif dialect.delegates.get(name):
        yield types[-1], _returned(solver, values)
    for value in list(values):
        known: list[int] = []
        if value[0] == OBJECT and len(applied := with_base(solver, value)) > 3:
            known = arguments_of(solver, applied[3])
        elif value[0] == EXTERNAL and value[3:] == (OF_TYPE,) and name_of(value) == name:
            known = arguments_of(solver, value[2])
        if len(known) == len(types):
            around = value[4] if value[0] == OBJECT and len(value) > 4 else None
            yield from ((at, solver.value(("type", said, around))) for at, said in zip(types, known, strict=True))


def _held(solver: Solver, values: Values) -> Values:
    found: Values = {}
    for value in list(values):
        if value[0] == CONTAINER:
            add(found, solver.value(("held", value)))
    return found


def _returned(solver: Solver, values: Values) -> Values:
    found: Values = {}
    for value in list(values):
        if value[0] in (FUNCTION, BOUND):
            add(found, {held: sure for held, sure in solver.value(("returned", value[1])).items() if held[0] != GIVEN})
    return found
