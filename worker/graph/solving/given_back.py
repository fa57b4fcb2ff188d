"""What a call gives a variable that it declares: `a.TryGetValue(b, out var c)`."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.arguments import takes_receiver
from fledgling.worker.graph.solving.calls import made_of
from fledgling.worker.graph.solving.containers import element_of, in_container
from fledgling.worker.graph.solving.overloading.overloads import called
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Expression
from fledgling.worker.graph.values import BOUND, CONTAINER, FUNCTION, METHOD_OF, Value, Values, add


def given_back(solver: Solver, node: int, expression: Expression) -> Values:
    """GIVEN_BACK: what the parameter is declared to be, or an element of a container."""
    call, place = solver.child(node, expression[1]), expression[2]
    parts = solver.project.expression(call)
    held = solver.value(solver.child(node, parts[1]))
    found: Values = {}
    for value, sure in called(solver, held, made_of(solver, call, parts)).items():
        if value[0] in (FUNCTION, BOUND):
            add(found, _declared(solver, value, place), sure)
        elif value[0] == METHOD_OF and value[1][0] == CONTAINER:
            tries = solver.project.unit(node).dialect.methods.get(solver.project.text(value[2])) == "tries"
            reason = min(sure, in_container(solver, value[1]))
            add(found, element_of(solver, value[1]) if tries else {}, reason)
    return found


def _declared(solver: Solver, function: Value, place: int) -> Values:
    """What a parameter is declared to be, that of a place among the arguments."""
    parameters = solver.project.scope(function[1]).parameters
    place += function[0] == BOUND and takes_receiver(solver, function[1])
    type_ = parameters[place].type if place < len(parameters) else NONE
    held = {} if type_ == NONE else solver.value(("type", solver.child(function[1], type_), None))
    return {value: min(sure, Reason.DECLARED) for value, sure in held.items()}
