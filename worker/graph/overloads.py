"""Which of several functions of one name a call means, by the number and the types of its arguments."""

from typing import NamedTuple

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
    "Double": 2, "Short": 2, "Byte": 2, "Integer": 2, "Number": 2, "uint": 2, "ulong": 2, "ushort": 2, "sbyte": 2,
}  # fmt: skip
TEXTS = {"String": 4, "CharSequence": 3, "string": 4}
SAME = {"bool": "boolean", "Boolean": "boolean", "Char": "char", "Character": "char"}
WIDTHS = {  # of what is taken where something wider is wanted
    "byte": 0, "sbyte": 0, "short": 1, "ushort": 1, "char": 1, "int": 2, "uint": 2, "long": 3, "ulong": 3, "float": 4,
    "double": 5, "decimal": 5,
}  # fmt: skip
ANYTHING = ("Object", "object", "T", "E", "K", "V", "Comparable", "Serializable", "")
UNFIT = -1000  # of a function that takes another number of arguments
AGAINST = -100  # an argument of a type that does not fit
DOUBTFUL = AGAINST // 2  # below this one of the arguments does not fit
MAX_INHERITED = 64  # functions of one name in the classes above; of more, those of the nearest count
MAX_FITTING = 2  # overloads that fit equally well; of more, each is only possible
NO, PERHAPS, WIDER, YES, LITERAL = -1, 1, 3, 4, 5  # how well an argument fits


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
    """The functions among values that a call may mean; where several fit equally, each is one of several overloads.

    Where none of a class takes the arguments, those of the classes above it are meant; where none does at all, the
    arguments are not what they seem, and each is possible.
    """
    groups: dict[tuple[int | None, int], list[Value]] = {}
    for value in values:
        if value[0] in (FUNCTION, BOUND):
            row = solver.project.scope(value[1])
            unit = solver.project.unit(value[1])
            if unit.dialect.overloads and row.name != NONE:
                groups.setdefault((solver.classes.owner(value[1]), unit.names[row.name]), []).append(value)
    found = dict(values)
    for (owner, name), group in groups.items():
        if len(group) < 2 and not solver.project.unit(group[0][1]).dialect.selects:
            continue
        chosen, reason = _chosen(solver, group, owner, name, made)
        surest = max(found.pop(value) for value in group)
        found.update((value, min(values.get(value, surest), reason)) for value in chosen)
    return found


def _chosen(solver: Solver, group: list[Value], owner: int | None, name: int, made: Call) -> tuple[list[Value], int]:
    """The functions of one name and class that a call may mean, or of the classes above it, and how sure they are."""
    selects = solver.project.unit(group[0][1]).dialect.selects
    fit = {value: taken(solver, value, made) for value in group}
    best = max(fit.values())
    if selects and best.score < DOUBTFUL and owner is not None:
        fit |= {value: taken(solver, value, made) for value in _inherited(solver, group, owner, name)}
        best = max(fit.values())
    if selects and best.score <= UNFIT:
        return group, Reason.NAME_ONLY
    chosen = [value for value, own in fit.items() if own.score == best.score]
    if len(chosen) > 1:
        return chosen, Reason.OVERLOAD if len(chosen) <= MAX_FITTING else Reason.MANY_IMPLEMENTATIONS
    if best.score < DOUBTFUL:  # what converts one type to another is not looked at
        is_doubtful = len(fit) > 1 or owner in solver.classes.has_external_base
    else:
        is_doubtful = not best.is_sure and sum(own.score >= DOUBTFUL for own in fit.values()) > 1
    return chosen, Reason.OVERLOAD if selects and is_doubtful else Reason.BOUND


def _inherited(solver: Solver, group: list[Value], owner: int, name: int) -> list[Value]:
    """The functions of that name in the classes above an owner, which are called on the same object."""
    found: list[Value] = []
    above, _ = solver.classes.of_class(owner, name, owner)
    while above is not None and len(found) < MAX_INHERITED:
        held = [value for value in solver.value(("name", above, name)) if value[0] == FUNCTION]
        found += [(BOUND, value[1], group[0][2]) if group[0][0] == BOUND else value for value in held]
        above, _ = solver.classes.of_class(owner, name, above)
    return found


class Fit(NamedTuple):
    """How well a function takes the arguments of a call, and whether that is known of each of them."""

    score: int
    is_sure: bool


def taken(solver: Solver, value: Value, made: Call) -> Fit:
    """How well the parameters of a function take the arguments of a call; UNFIT where their number is another."""
    function = value[1]
    skip = 1 if value[0] == BOUND and takes_receiver(solver, function) else 0
    parameters = solver.project.scope(function).parameters[skip:]
    has_rest = bool(parameters) and parameters[-1].rest == 1
    needed = sum(parameter.default == NONE and not parameter.rest for parameter in parameters)
    count = len(made.arguments)
    if needed > count + len(made.words) or not (has_rest or count + len(made.words) <= len(parameters)):
        return Fit(UNFIT, is_sure=True)
    total = -1 if has_rest else count - len(parameters)
    is_sure = True
    for place, (cell, _) in enumerate(made.arguments):
        parameter = parameters[min(place, len(parameters) - 1)]
        fit = fits(solver, function, parameter, cell)
        total += fit if fit != NO else AGAINST
        is_sure = is_sure and fit > PERHAPS
    return Fit(total, is_sure)


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
    """How well an object of a type outside the project, `a.B#`, fits what is declared to be of a type of that name."""
    if not full.endswith("#"):
        return PERHAPS
    last = full[:-1].rpartition(".")[2]
    last, name = SAME.get(last, last), SAME.get(name, name)
    if last == name:
        return YES
    if name in ANYTHING:
        return PERHAPS
    if last in TEXTS and name in TEXTS:
        return TEXTS[name]
    if last in WIDTHS and name in WIDTHS:
        return WIDER if WIDTHS[last] < WIDTHS[name] else NO
    is_plain = any(each in NUMBERS or each in TEXTS or each in ("boolean", "char") for each in (last, name))
    return NO if is_own or is_plain else PERHAPS
