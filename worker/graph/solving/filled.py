"""What fields hold where an object of C is written out: `struct a b = { .c = d }`, `struct a e[] = { { d } }`."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.expected import MAX_INNER
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import Op
from fledgling.worker.graph.values import FUNCTION, OBJECT, Cell, Value, Values, add

WRITTEN = (Op.DICT, Op.LIST)


def fills(solver: Solver, cell: Cell) -> Values:
    """("fills", node, type): what is written out where a type is declared; it stands for nothing itself."""
    fill(solver, cell[1], solver.value(("type", cell[2], None)))
    return {}


def fill(solver: Solver, node: int, said: Values, depth: int = 0) -> None:
    """Let the fields of what a type says take the functions that are written out at an expression."""
    op, *parts = solver.project.expression(node)
    objects = [value for value in said if value[0] == OBJECT]
    if depth > MAX_INNER or not objects or op not in WRITTEN:
        return
    if op == Op.DICT:
        add(solver.written_as.setdefault(node, {}), said)
    inner = parts[0] if op == Op.LIST else [part for _, part in parts[0]]
    if op == Op.LIST and inner and _is_of_array(solver, objects[0], solver.child(node, inner[0])):
        for part in inner:
            fill(solver, solver.child(node, part), said, depth + 1)
        return
    for value in objects:
        names = _fields(solver, value[1]) if op == Op.LIST else [_key(solver, node, key) for key, _ in parts[0]]
        for name, part in zip(names, inner, strict=False):
            _put(solver, value, name, solver.child(node, part), depth)


def _is_of_array(solver: Solver, value: Value, first: int) -> bool:
    """Whether what begins a list is an object of a type itself, and no field of one."""
    op, *parts = solver.project.expression(first)
    if op == Op.DICT:
        return solver.classes.of_class(value[1], _key(solver, first, parts[0][0][0]))[0] is not None
    fields = _fields(solver, value[1])[:1] if op == Op.LIST else []
    return bool(fields) and not any(held[0] == OBJECT for held in solver.value(("name", value[1], fields[0])))


def _key(solver: Solver, node: int, key: int) -> int:
    return solver.project.unit(node).names[solver.project.expression(solver.child(node, key))[1]]


def _fields(solver: Solver, scope: int) -> list[int]:
    """The names of the fields of a class in their order; none where it has a base or a function."""
    found = solver.in_order.get(scope)
    if found is None:
        table = solver.project.table(scope)
        values = (solver.project.value_of(at) for bindings in table.values() for at in bindings)
        is_plain = not solver.project.scope(scope).bases and all(solver.op(value) != Op.FUNCTION for value in values)
        found = solver.in_order[scope] = [*table] if is_plain else []
    return found


def _put(solver: Solver, value: Value, name: int, node: int, depth: int) -> None:
    owner, _ = solver.classes.of_class(value[1], name)
    if owner is None:
        return
    if solver.op(node) in WRITTEN:
        fill(solver, node, solver.value(("name", owner, name)), depth + 1)
    elif any(held[0] == FUNCTION for held in solver.value(node)):
        solver.source(("field", owner, name), node, Reason.ATTRIBUTE)
