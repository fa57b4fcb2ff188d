"""What something outside calls of what it gets."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.named_callables import named_callables
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.values import BOUND, CLASS, FUNCTION, MADE_MEMBERS, METHOD_OF, Values, add

CALLABLE = (FUNCTION, BOUND, CLASS, METHOD_OF)


def called_outside(solver: Solver, values: Values, made: MadeCall, reason: int = Reason.FLOW) -> Values:
    """What values give that something outside calls, or a text that is called; the call at which it does runs them."""
    found: Values = {}
    for value, sure in [*values.items(), *named_callables(solver, values, made.node).items()]:
        if value[0] in (*CALLABLE, MADE_MEMBERS):
            add(solver.handed.setdefault(made.node, {}), {value: min(sure, reason)})
            add(found, solver.invoke(solver, value, made, min(sure, reason)))
    return found
