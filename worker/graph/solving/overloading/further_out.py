"""What a call means where no function of the class around takes its arguments: one of further out."""

from fledgling.worker.graph.reasons import CERTAIN, Reason
from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.bound_members import bound_to
from fledgling.worker.graph.solving.lookup import bare_places, places_in
from fledgling.worker.graph.solving.overloading.fits import taken
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import CLASSES, Expression, Op
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import BOUND, FUNCTION, Values, add


def further_out(solver: Solver, values: Values, made: MadeCall) -> Values:
    """The values, or those of the first place further out that has functions which take the arguments of a call."""
    functions = [value for value in values if value[0] in (FUNCTION, BOUND)]
    if len(functions) != len(values) or any(sure >= CERTAIN for sure in values.values()):
        return values
    op, *parts = solver.project.expression(made.node)
    callee = solver.child(made.node, parts[0]) if op == Op.CALL else made.node
    expression = solver.project.expression(callee)
    if expression[0] != Op.BARE or any(
        (fit := taken(solver, value, made)).takes and not fit.against for value in functions
    ):
        return values
    if not _are_of_classes(solver, callee, expression):
        return values
    scope = solver.child(callee, expression[2])
    while (scope := _outside_class(solver, scope)) >= 0:
        found: Values = {}
        for cell, sure, receiver in places_in(solver, callee, (*expression[:2], scope & MASK, *expression[3:])):
            for value, own in list(solver.value(cell).items()) if cell[0] == "name" else ():
                most = min(own, sure)
                add(found, {value: most} if receiver is None else bound_to(solver, receiver, value, most, receiver[1]))
        fitting = {
            value: sure
            for value, sure in found.items()
            if value[0] in (FUNCTION, BOUND)
            and (fit := taken(solver, value, made)).takes
            and not fit.against
            and value not in values
        }
        if fitting:
            most = Reason.BOUND if len(fitting) == 1 else Reason.OVERLOAD
            return {value: min(sure, most) for value, sure in fitting.items()}
    return values


def _outside_class(solver: Solver, scope: int) -> int:
    """The scope around the nearest class around one; below 0 if there is none."""
    while scope >= 0 and solver.project.scope(scope).kind not in CLASSES:
        scope = solver.project.outer(scope)
    return solver.project.outer(scope) if scope >= 0 else scope


def _are_of_classes(solver: Solver, callee: int, expression: Expression) -> bool:
    """Whether a name is that of members of a class around."""
    places = bare_places(solver, callee, expression)
    return bool(places) and all(receiver is not None for _, _, receiver in places)
