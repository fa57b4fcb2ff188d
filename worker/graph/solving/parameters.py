"""What a parameter stands for: its type, what is passed to it, and its default."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.fixtures import given_by_fixtures
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Expression, Flag
from fledgling.worker.graph.values import (
    BOUND,
    CLASS,
    CONTAINER,
    FUNCTION,
    OBJECT,
    Cell,
    Value,
    Values,
    add,
    capped,
    told,
)


def parameter_cell(solver: Solver, cell: Cell) -> Values:
    """("parameter", function, place)"""
    _, function, place = cell
    row = solver.project.scope(function)
    given = row.parameters[place]
    dialect = solver.project.unit(function).dialect
    if given.rest:
        value: Value = (CONTAINER, ("rest" if given.rest == 1 else "words", function))
        if given.type == NONE:
            return {value: Reason.BOUND}
        type_: Cell = ("type", solver.child(function, given.type), None)
        if dialect.typed and dialect.prototypes:  # ...a: A[]
            return add({value: int(Reason.BOUND)}, solver.value(type_))
        solver.key(value, "*", type_)
        return {value: Reason.BOUND}
    owner = solver.classes.owner(function)
    if place == 0 and owner is not None and dialect.receiver_parameter and not row.flags & Flag.STATIC:
        own = solver.project.unit(function).facts.names[row.name]
        is_class = row.flags & Flag.CLASSMETHOD or own in dialect.class_receiving
        return {(CLASS if is_class else OBJECT, owner, True): Reason.OWN_CLASS}
    found: Values = {}
    if given.type != NONE:
        add(found, solver.value(("type", solver.child(function, given.type), None)))
        if any(value[0] in (OBJECT, CLASS, CONTAINER) for value in found):
            taken = solver.taken(cell)
            passed = {} if dialect.typed else _callables(solver, taken)
            return add(add(found, _exact(solver, taken, found)), passed)
    found = found if dialect.typed else capped(found, Reason.FLOW)
    taken = solver.taken(cell)
    if given.told != NONE and (said := solver.value(("type", solver.child(function, given.told), None))):
        return add(told(add(found, taken)), said)
    if dialect.typed and (said := _expected(solver, cell)):
        taken = capped(add(_exact(solver, taken, said), said), Reason.FLOW)
    add(found, taken)
    add(found, given_by_fixtures(solver, function, place))
    if given.default != NONE:
        add(found, solver.value(solver.child(function, given.default)), Reason.FLOW)
    return found


def _expected(solver: Solver, cell: Cell) -> Values:
    """What a parameter without a type gets, by that of the function that is asked for; nothing if it may be any."""
    said = [solver.value(type_) for type_ in solver.expected.get(cell, ())]
    is_known = all(values and all(value[0] in (OBJECT, CLASS) for value in values) for values in said)
    return {value: sure for values in said for value, sure in values.items()} if is_known else {}


def _callables(solver: Solver, taken: Values) -> Values:
    """What is passed that is or holds functions, of which a type may say no more: `dict[str, A | Callable]`.

    As many values as a cell has (MAX_VALUES), of each as many keys as a container has, and again as many values.
    """
    found: Values = {}
    for value, sure in taken.items():
        if value[0] in (FUNCTION, BOUND):
            found[value] = min(sure, Reason.FLOW)
        cells = (("element", value, key) for key in solver.known_keys(value)) if value[0] == CONTAINER else ()
        if any(held[0] in (FUNCTION, BOUND, CLASS) for cell in cells for held in solver.value(cell)):
            found[value] = min(sure, Reason.FLOW)
    return found


def _exact(solver: Solver, taken: Values, declared: Values) -> Values:
    """What is passed where its type is declared: only what is of exactly one class, below that if it is no protocol."""
    wanted = {value[1] for value in declared if value[0] in (OBJECT, CLASS)}
    takes_any = any(solver.project.scope(at).flags & Flag.PROTOCOL for at in wanted)
    return {
        value: min(sure, Reason.FLOW)
        for value, sure in taken.items()
        if value[0] in (OBJECT, CLASS)
        and not value[2]
        and (takes_any or not wanted.isdisjoint(solver.classes.order(value[1])))
    }


def parameter(solver: Solver, node: int, expression: Expression) -> Values:
    """PARAMETER"""
    return dict(solver.value(("parameter", solver.child(node, expression[1]), expression[2])))
