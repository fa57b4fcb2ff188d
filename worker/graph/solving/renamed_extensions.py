"""Functions of Kotlin that extend a type, behind a dot by the name that a file gives them: `import a.b as c; d.c()`."""

from fledgling.worker.graph.solving.members import member
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import Flag, Op
from fledgling.worker.graph.values import BOUND, FUNCTION, Value, Values


def with_renamed(solver: Solver, node: int, name: int, value: Value, sure: int, values: Values) -> Values:
    """The values of a member; where it has none of its own, those of what the file calls so."""
    unit = solver.project.unit(node)
    own = unit.renamed.get(unit.names[name])
    if own is None or any(held[0] in (BOUND, FUNCTION) for held in values):
        return values
    imported = _extending(solver, node, name)
    found = member(solver, value, own, sure)
    if not any(held[0] == BOUND and held[1] in imported for held in found):
        return values
    return {held: own_sure for held, own_sure in found.items() if held[0] != BOUND or held[1] in imported}


def renamed(solver: Solver, node: int) -> set[int]:
    """The functions that a call behind a dot may mean of an object that is not known: what the file calls so."""
    op, *parts = solver.project.expression(node)
    function = solver.child(node, parts[0]) if op == Op.CALL else node
    op, *parts = solver.project.expression(function)
    unit = solver.project.unit(node)
    is_unknown = op == Op.GET and unit.dialect.implicit_parameter and not solver.value(solver.child(function, parts[0]))
    return _extending(solver, node, parts[1]) if is_unknown and unit.names[parts[1]] in unit.renamed else set()


def _extending(solver: Solver, node: int, name: int) -> set[int]:
    unit = solver.project.unit(node)
    imported = solver.value(("name", unit.base, unit.names[name]))
    functions = {held[1] for held in imported if held[0] == FUNCTION}
    return {at for at in functions if solver.project.scope(at).flags & Flag.EXTENSION}
