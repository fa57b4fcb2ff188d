"""Whether an argument of C++ is declared to point to a number or character, `char *a`, or to be one, `char a`."""

from collections.abc import Iterator

from fledgling.worker.graph.solving.lookup import bare_places
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Op
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import BOUND, FUNCTION, OBJECT, Cell

Said = bool | None  # None where it is not seen
MAX_SAYING = 8  # functions of a call, or objects that have a field, that are looked at
DECLARING = (Op.DECLARED, Op.CAST)


def points(solver: Solver, cell: Cell) -> Said:
    """Whether an argument points."""
    at = solver.project.meant(cell)[0] if type(cell) is int else cell
    if type(at) is int:
        found = set(_saying(solver, at))
    elif at[0] == "parameter":
        type_ = solver.project.scope(at[1]).parameters[at[2]].type
        found = {None if type_ == NONE else _is_pointee(solver, solver.child(at[1], type_))}
    else:
        found = set(_of_name(solver, at[1], at[2])) if at[0] == "name" else set()
    return found.pop() if len(found) == 1 else None


def _saying(solver: Solver, node: int) -> Iterator[Said]:
    """What is said of an expression, by each of those that say something of it."""
    project = solver.project
    op, *parts = project.expression(node)
    if op in DECLARING:
        yield _is_pointee(solver, solver.child(node, parts[0]))
    elif op == Op.ADDRESSED:
        yield True
    elif op == Op.BARE:
        for cell, _, _ in bare_places(solver, node, (op, *parts))[:MAX_SAYING]:
            yield from _of_name(solver, cell[1], cell[2]) if cell[0] == "name" else (None,)
    elif op == Op.GET:
        own = project.unit(node).names[parts[1]]
        for value in [*solver.value(solver.child(node, parts[0]))][:MAX_SAYING]:
            owner = solver.classes.of_class(value[1], own)[0] if value[0] == OBJECT else None
            yield from (None,) if owner is None else _of_name(solver, owner, own)
    elif op == Op.CALL:
        for value in [*solver.value(solver.child(node, parts[0]))][:MAX_SAYING]:
            returns = project.scope(value[1]).returns if value[0] in (FUNCTION, BOUND) else NONE
            yield None if returns == NONE else _is_pointee(solver, solver.child(value[1], returns))


def _of_name(solver: Solver, scope: int, own: int) -> Iterator[Said]:
    """What each binding of a name says, which a type has to declare."""
    for at in solver.project.bindings_of(scope, own)[:MAX_SAYING]:
        value = solver.project.value_of(at)
        op, *parts = solver.project.expression(value)
        yield _is_pointee(solver, (value & ~MASK) | parts[0]) if op == Op.DECLARED else None


def _is_pointee(solver: Solver, type_: int) -> Said:
    """Whether a type is one that something points to; not, where it is plainly a number of the language's own."""
    op = solver.op(type_)
    is_plain = op in (Op.NAME, Op.BARE) and solver.project.unit(type_).dialect.is_plain(solver.project.last_name(type_))
    return True if op == Op.POINTEE else False if is_plain else None
