"""How sure it is that a call runs something else than the member of the type that is declared."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.class_members import has_body
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.values import EXTERNAL, OBJECT, Value
from fledgling.worker.graph.tables import Flag, Op
from fledgling.worker.graph.unit import MASK

PASSED = (Reason.FLOW, Reason.RETURNED)  # what came from elsewhere, where another one may come as well
Types = list[tuple[Value, int]]  # with a Reason each


def declared_types(solver: Solver, node: int) -> Types:
    """The types of what a member is asked of, as far as they say which: each with those below it, or outside."""
    op, *parts = solver.project.expression(node)
    if op != Op.GET or not solver.project.unit(node).dialect.typed:
        return []
    receivers = solver.value((node & ~MASK) | parts[0])
    if len(receivers) < 2:
        return []
    return [(value, sure) for value, sure in receivers.items() if _is_type(value)]


def _is_type(value: Value) -> bool:
    return bool(value[2]) if value[0] == OBJECT else value[0] == EXTERNAL and value[1].endswith("#")


def weighed(solver: Solver, types: Types, function: int, sure: int) -> int:
    """How sure a method may run that takes the place of what a declared type has.

    That has a body of its own, or is outside the project; what takes the place of one without is as sure as it was.
    """
    owner = solver.classes.owner(function)
    row = solver.project.scope(function)
    if owner is None or sure not in PASSED or row.flags & (Flag.EXTENSION | Flag.STATIC):
        return sure
    above = solver.classes.order(owner)
    surer = [value for value, own in types if own > sure and (value[0] == EXTERNAL or value[1] in above[1:])]
    name = solver.project.unit(function).names[row.name]
    for value in surer:
        declaring = solver.classes.of_class(value[1], name)[0] if value[0] == OBJECT else None
        if declaring is not None and has_body(solver, declaring, name):
            return Reason.MAY_OVERRIDE
    return Reason.OVERRIDES_OUTSIDE if surer and all(value[0] == EXTERNAL for value in surer) else sure
