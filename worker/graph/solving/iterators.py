"""Functions of Go that a loop goes over: `func(yield func(A, B) bool)`, `iter.Seq2[A, B]`."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.delegates import OF_TYPE, name_of
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.type_arguments import arguments_of
from fledgling.worker.graph.tables import NONE, Op
from fledgling.worker.graph.values import BOUND, EXTERNAL, FUNCTION, Value, Values, add


def handed_to_loop(solver: Solver, value: Value, place: int) -> Values:
    """What such a function hands to the loop: the first thing of that, or the second."""
    types = _types(solver, value)
    return dict(solver.value(("type", types[place], None))) if place < len(types) else {}


def handed_by_any(solver: Solver, values: Values, place: int) -> Values:
    """Likewise of some values, those among them that a loop calls."""
    found: Values = {}
    for value, sure in list(values.items()):
        if value[0] in (EXTERNAL, FUNCTION, BOUND):
            add(found, handed_to_loop(solver, value, place), min(sure, Reason.DECLARED))
    return found


def _types(solver: Solver, value: Value) -> list[int]:
    if value[0] == EXTERNAL:
        is_iterator = value[3:] == (OF_TYPE,) and solver.project.unit(value[2]).dialect.types.get(name_of(value))
        return arguments_of(solver, value[2]) if is_iterator == "yields" else []
    parameters = solver.project.scope(value[1]).parameters if value[0] in (FUNCTION, BOUND) else []
    taken = solver.child(value[1], parameters[-1].type) if parameters and parameters[-1].type != NONE else NONE
    op, *parts = solver.project.expression(taken) if taken != NONE else (Op.UNKNOWN,)
    if op != Op.FUNCTION:
        return []
    handing = solver.child(taken, parts[0])
    types = [each.type for each in solver.project.scope(handing).parameters]
    return [] if NONE in types else [solver.child(handing, each) for each in types]
