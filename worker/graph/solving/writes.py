"""What is put into fields and behind keys: `a.b = c`, `a["b"] = c`."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.containers import constants
from fledgling.worker.graph.solving.prototypes import becomes_member, put
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.starred_names import starred
from fledgling.worker.graph.tables import NONE, Op, ScopeKind
from fledgling.worker.graph.unit import SHIFT
from fledgling.worker.graph.values import BUILTIN, CONTAINER, EXTERNAL, MODULE, Cell, Values


def write_cell(solver: Solver, cell: Cell) -> Values:
    """("write", file, place): what is put into a field or behind a key; it stands for nothing itself."""
    unit = solver.project.units[cell[1]]
    write = unit.facts.writes[cell[2]]
    value = unit.base | write.value
    if write.name != NONE and write.key != NONE:
        own = unit.names[write.name]
        for place, _, _ in starred(solver, unit.base | write.of, own):
            if place[0] == "name" and solver.project.scope(place[1]).kind == ScopeKind.MODULE:
                solver.source(("field", place[1], own), value, Reason.BOUND)
        return {}
    by_text = write.name == NONE and write.key != NONE and unit.expressions[write.key][0] == Op.TEXT
    for held in _whose_variables(solver, unit.base | write.of) if by_text else ():
        put(solver, held, unit.names[unit.expressions[write.key][1]], value)
    for held in list(solver.value(unit.base | write.of)):
        becomes_member(solver, held, value)
        if write.name == NONE:
            if held[0] == CONTAINER:
                most = Reason.CONTAINER if unit.dialect.typed else Reason.BOUND  # its type says what it may hold
                for key in constants(solver, unit.base | write.key):
                    solver.key(held, key, value, most)
            continue
        put(solver, held, unit.names[write.name], value)
    return {}


def _whose_variables(solver: Solver, node: int) -> Values:
    """What has behind its keys the members of an object or module gives that: `vars(a)`, `a.__dict__`, `globals()`."""
    at, _ = solver.project.meant(node)
    variables = solver.project.unit(node).dialect.variables
    if not variables or type(at) is not int:
        return {}
    op, *parts = solver.project.expression(at)
    if op == Op.GET:
        is_of = solver.project.unit(at).facts.names[parts[1]] in variables
        return solver.value(solver.child(at, parts[0])) if is_of else {}
    if op != Op.CALL or not any(
        (EXTERNAL, BUILTIN + name) in solver.value(solver.child(at, parts[0])) for name in variables
    ):
        return {}
    return solver.value(solver.child(at, parts[1][0])) if parts[1] else {(MODULE, at >> SHIFT): Reason.BOUND}
