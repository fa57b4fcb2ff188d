"""Constants of an enumeration of Python: `class A(Enum): b = 1`."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import Op
from fledgling.worker.graph.values import (
    BOUND,
    CLASS,
    EXTERNAL,
    FUNCTION,
    METHOD_OF,
    OBJECT,
    SHARED,
    Value,
    Values,
)

LITERALS = (Op.MADE, Op.TEXT, Op.FILLED, Op.NUMBER, Op.TUPLE, Op.LIST, Op.DICT)
DESCRIBING = ("__get__", "__set__", "__delete__")  # the methods of which a descriptor has one
AUTO = "enum.auto()"


def constant(solver: Solver, value: Value, name: int, sure: int) -> Values:
    """A constant of an enumeration of Python, which is an object of it: `class A(Enum): b = 1`."""
    if value[0] != CLASS or value[1] not in solver.classes.enumerations:
        return {}
    owner, _ = solver.classes.of_class(value[1], name)
    if owner not in solver.classes.enumerations or solver.project.text(name).startswith("_"):
        return {}
    bindings = solver.project.table(owner)[name]
    if any(solver.project.defined(at)[1] >= 0 for at in bindings):
        return {}
    reason = min(_of_enumeration(solver, owner, solver.project.value_of(at)) for at in bindings)
    if len(bindings) > 1:
        reason = min(reason, Reason.SEVERAL)
    return {(OBJECT, owner, False): min(sure, reason)} if reason else {}


def _of_enumeration(solver: Solver, scope: int, node: int) -> int:
    """How sure a value makes a constant of an enumeration; 0 for a function, a nested class, a descriptor."""
    if solver.op(node) in LITERALS:
        return Reason.DECLARED
    held = solver.value(node)
    if not held and not solver.is_settled:  # it may become a function
        solver.wait()
        return 0
    if any(_stays_itself(solver, scope, value) for value in held):
        return 0
    is_known = bool(held) and all(value[0] != EXTERNAL or value[1] == AUTO for value in held)
    return Reason.DECLARED if is_known else Reason.ATTRIBUTE


def _stays_itself(solver: Solver, scope: int, value: Value) -> bool:
    """Whether a class of Python makes no constant of a value where it is an enumeration."""
    if value[0] not in SHARED:
        return value[0] in (FUNCTION, BOUND, METHOD_OF)
    if value[0] == CLASS and solver.project.outer(value[1]) == scope:
        return True
    numbers = [solver.project.numbers.get(name) for name in DESCRIBING]
    return any(at is not None and solver.classes.of_class(value[1], at)[0] is not None for at in numbers)
