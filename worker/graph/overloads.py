"""Which of several functions of one name a call means, by the number and the types of its arguments."""

from fledgling.worker.graph.arguments import Call, takes_receiver
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solver import Solver
from fledgling.worker.graph.tables import NONE, Op, Parameter
from fledgling.worker.graph.values import (
    BOUND,
    CLASS,
    CONSTANT,
    CONTAINER,
    EXTERNAL,
    FUNCTION,
    OBJECT,
    Cell,
    Value,
    Values,
)

NUMBERS = {
    "int": 4, "Int": 4, "long": 3, "float": 3, "double": 3, "short": 3, "byte": 3, "decimal": 3, "Long": 2, "Float": 2,
    "Double": 2, "Short": 2, "Byte": 2, "Integer": 2, "Number": 2,
}  # fmt: skip
TEXTS = {"String": 4, "CharSequence": 3, "char": 2, "string": 4}
ANYTHING = ("Object", "T", "E", "K", "V", "Comparable", "Serializable", "")
MAX_FITTING = 2  # overloads that fit equally well; of more, each is only possible
NO, PERHAPS, YES, LITERAL = -1, 1, 4, 5  # how well an argument fits


def called(solver: Solver, values: Values, made: Call) -> Values:
    """What a call means whose function has several values: those that fit, and in C++ those of other namespaces.

    `f(a)` finds functions beside the type of a too, which are not told apart from what f means without that.
    """
    found = fitting(solver, values, made)
    others = _beside_arguments(solver, values, made)
    if not others:
        return found
    return {value: min(sure, Reason.OVERLOAD) for value, sure in {**others, **found}.items()}


def _beside_arguments(solver: Solver, values: Values, made: Call) -> Values:
    """The functions of other namespaces with the name of a call, where an argument may be an object."""
    project = solver.project
    unit = project.unit(made.node)
    if not (unit.dialect.declared and unit.dialect.overloads) or any(
        value[0] not in (FUNCTION, EXTERNAL) for value in values
    ):
        return {}
    callee = project.expression(solver.child(made.node, project.expression(made.node)[1]))
    if callee[0] != Op.BARE or all(solver.op(cell) in (Op.NUMBER, Op.TEXT) for cell, _ in made.arguments):
        return {}
    own = unit.names[callee[1]]
    found: Values = {}
    for scope in solver.spaces.anywhere(unit, own):
        held = solver.value(("name", scope, own))
        found.update((value, sure) for value, sure in held.items() if value[0] == FUNCTION and value not in values)
    return found


def fitting(solver: Solver, values: Values, made: Call) -> Values:
    """The functions among values that a call may mean; where several fit equally, each is one of several overloads."""
    groups: dict[tuple[int | None, int], list[tuple[Value, int]]] = {}
    for value in values:
        if value[0] in (FUNCTION, BOUND):
            row = solver.project.scope(value[1])
            unit = solver.project.unit(value[1])
            if unit.dialect.overloads and row.name != NONE:
                groups.setdefault((solver.classes.owner(value[1]), unit.names[row.name]), []).append((value, value[1]))
    found = dict(values)
    for group in groups.values():
        if len(group) < 2:
            continue
        scores = {value: score(solver, value, made) for value, _ in group}
        best = max(scores.values())
        chosen = [value for value, own in scores.items() if own == best]
        for value, _ in group:
            if value not in chosen:
                found.pop(value)
            elif len(chosen) > 1:
                reason = Reason.OVERLOAD if len(chosen) <= MAX_FITTING else Reason.MANY_IMPLEMENTATIONS
                found[value] = min(found[value], reason)
    return found


def score(solver: Solver, value: Value, made: Call) -> int:
    """How well the parameters of a function take the arguments of a call; below 0 where they cannot."""
    function = value[1]
    skip = 1 if value[0] == BOUND and takes_receiver(solver, function) else 0
    parameters = solver.project.scope(function).parameters[skip:]
    has_rest = bool(parameters) and parameters[-1].rest == 1
    needed = sum(parameter.default == NONE and not parameter.rest for parameter in parameters)
    count = len(made.arguments)
    fits_count = needed <= count + len(made.words) and (has_rest or count + len(made.words) <= len(parameters))
    if not fits_count:
        return -1000
    total = -1 if has_rest else count - len(parameters)
    for place, (cell, _) in enumerate(made.arguments):
        parameter = parameters[min(place, len(parameters) - 1)]
        fit = fits(solver, function, parameter, cell)
        total += fit if fit != NO else -100
    return total


def fits(solver: Solver, function: int, parameter: Parameter, cell: Cell) -> int:
    """How well one argument fits a parameter."""
    values = solver.value(cell)
    if parameter.type == NONE or not values:
        return PERHAPS
    type_ = solver.child(function, parameter.type)
    name = solver.project.last_name(type_)
    wanted = [value for value in solver.value(("type", type_, None)) if value[0] == OBJECT]
    best = NO
    for value in values:
        if value[0] == OBJECT:
            order = solver.classes.order(value[1])
            if wanted:
                place = min((order.index(at[1]) for at in wanted if at[1] in order), default=NO)
                own = NO if place == NO else max(YES - place, 2)
            else:
                own = PERHAPS if name in ANYTHING or value[1] in solver.classes.has_external_base else NO
        elif value[0] == CONSTANT:
            own = (NUMBERS if value[1] == "number" else TEXTS).get(name, PERHAPS if name in ANYTHING else NO)
            if name == "char" and value[1] == "text" and solver.project.unit(function).dialect.declared:
                own = LITERAL  # char * is what a literal is
        elif value[0] == EXTERNAL:
            own = _of_external(value[1], name, is_own=bool(wanted))
        elif value[0] == FUNCTION:
            own = NO if name in TEXTS or name in NUMBERS else PERHAPS
        elif value[0] in (CONTAINER, CLASS):
            own = NO if wanted or name in NUMBERS or name in TEXTS else PERHAPS
        else:
            own = PERHAPS
        best = max(best, own)
    return best


def _of_external(full: str, name: str, *, is_own: bool) -> int:
    if full.endswith("#"):  # an object of that type
        last = full[:-1].rpartition(".")[2]
        if last == name:
            return YES
        if name in ANYTHING:
            return PERHAPS
        return NO if is_own or name in NUMBERS or name in TEXTS or last in NUMBERS else PERHAPS
    return PERHAPS
