"""What the type parameters of a class stand for in a type that is applied to others: in `A<u8, B>` V of `A<K, V>` is B.

An object of such a type is of the class, and has the expression of the type besides; and where a class applies another
to its own type parameters, the object that was asked.
"""

from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.values import CONTAINER, OBJECT, Cell, Value, Values
from fledgling.worker.graph.tables import MADE, NONE, Op
from fledgling.worker.graph.unit import MASK

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
        solver.op(at) == Op.NAME and argument_for(solver, at, receiver) != NONE for at in arguments_of(solver, type_)
    )
    further = (type_, receiver[:4]) if asks and receiver else (type_,)
    return {
        (OBJECT, value[1], True, *further) if value[0] == OBJECT and _is_applied(solver, value[1]) else value: sure
        for value, sure in values.items()
    }


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


def argument_for(solver: Solver, name: int, receiver: Value) -> int:
    """The type that a NAME of a type parameter stands for in the class of a receiver; -1 where that is not known."""
    _, own, scope, _ = solver.project.expression(name)
    around = (name & ~MASK) | scope if scope != NONE else NONE
    if len(receiver) < 4 or around == NONE or solver.classes.whole(around) != receiver[1]:
        return NONE
    number = solver.project.unit(name).names[own]
    type_ = solver.classes.extensions.extended_by.get(around, NONE)
    named = _names(solver, arguments_of(solver, type_)) if type_ != NONE else _parameters(solver, around)
    given = arguments_of(solver, receiver[3])
    place = named.index(number) if number in named else len(given)
    return given[place] if place < len(given) else NONE


def _names(solver: Solver, types: list[int]) -> list[int]:
    """The names of some types, where they are names alone."""
    expressions = ((at, solver.project.expression(at)) for at in types)
    return [solver.project.unit(at).names[each[1]] if each[0] == Op.NAME else NONE for at, each in expressions]


def _parameters(solver: Solver, scope: int) -> list[int]:
    """The names of the type parameters of a class, in order."""
    unit = solver.project.unit(scope)
    every = solver.project.scope(scope).every
    return [
        unit.names[name]
        for name, bindings in every.items()
        if (value := unit.bindings[bindings[0]].value) == MADE or unit.facts.expressions[value][0] in PARAMETERS
    ]


def _is_applied(solver: Solver, scope: int) -> bool:
    """Whether the language has what is asked of a type parameter found by what that stands for."""
    return bool(solver.project.unit(scope).dialect.behind)
