"""Functions that extend the class of an object, which a call means where none of the class takes its arguments."""

from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.overloading.fits import Fit, is_sure, taken
from fledgling.worker.graph.solving.seen_extensions import is_seen
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.values import BOUND, OBJECT, Value

MAX_GENERIC = 32  # functions of one name that extend whatever there is, `fun <T> T.a()`; with more, any may be meant


def extending_taking(solver: Solver, fit: dict[Value, Fit], name: int, made: MadeCall) -> list[Value]:
    """The functions that extend a class, and are meant where none of its own of that name takes the arguments.

    There are none if one of those surely does.
    """
    beside, generic = solver.classes.extensions.beside, solver.classes.extensions.beside_any.get(name, [])
    if not (beside or generic):
        return []
    if any(is_sure(solver, own, made) for own in fit.values() if own.takes and not own.against):
        return []
    found = dict[Value, Fit]()
    for receiver in dict.fromkeys(value[2] for value in fit if value[0] == BOUND):
        order = solver.classes.order(receiver[1]) if receiver[0] == OBJECT else ()
        extending = [each for of in order for each in beside.get((of, name), ())] + (
            generic[:MAX_GENERIC] if order else []
        )
        for function in (each for each in extending if _sees(solver, made.node, name, each)):
            value: Value = (BOUND, function, receiver)
            found[value] = taken(solver, value, made)
    is_cut = len(generic) > MAX_GENERIC
    return [value for value, own in found.items() if is_cut or (own.takes and not own.against)]


def _sees(solver: Solver, node: int, name: int, function: int) -> bool:
    """Whether the file of a call sees a function that extends a type."""
    unit = solver.project.unit(node)
    return unit.dialect.spaces != "flat" or is_seen(solver, unit, name, function)
