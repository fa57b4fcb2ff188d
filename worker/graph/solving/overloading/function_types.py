"""How well functions that are written out fit the types of functions: `(A) -> B`, `Func<A, B>`."""

from fledgling.worker.graph.solving.overloading.library_types import NO, PERHAPS, YES
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Flag, Op, ScopeKind
from fledgling.worker.graph.values import BOUND, CONSTANT, CONTAINER, FUNCTION, Values


def of_function_type(solver: Solver, type_: int, values: Values) -> int:
    """How well values fit the type of a function; 0 if it is none, or nothing of that is known."""
    if (signature := _signature(solver, type_)) != NONE:
        return _into_function(solver, signature, values)
    count = _parameters_of_delegate(solver, type_)
    scopes = [solver.project.scope(value[1]) for value in values if value[0] == FUNCTION]
    if count == NONE or len(scopes) < len(values) or any(row.kind != ScopeKind.LAMBDA for row in scopes):
        return 0
    return YES if any(len(row.parameters) == count for row in scopes) else NO


def _signature(solver: Solver, type_: int) -> int:
    """The scope of the type of a function, `(A) -> B`, also behind another name of that; else NONE."""
    op, *parts = solver.project.expression(type_)
    if op == Op.FUNCTION:
        return solver.child(type_, parts[0])
    if op not in (Op.NAME, Op.BARE, Op.INDEX):
        return NONE
    found = [value[1] for value in solver.value(("type", type_, None)) if value[0] == FUNCTION]
    is_one = len(found) == 1 and solver.project.scope(found[0]).kind == ScopeKind.SIGNATURE
    return found[0] if is_one else NONE


def _parameters_of_delegate(solver: Solver, type_: int) -> int:
    """How many parameters the functions of a type outside have, by its type arguments: `Func<A, B>`; else NONE."""
    op, *parts = solver.project.expression(type_)
    if op != Op.INDEX:
        return NONE
    known = solver.project.unit(type_).dialect.delegates.get(solver.project.last_name(solver.child(type_, parts[0])))
    given, *types = solver.project.expression(solver.child(type_, parts[1]))
    return NONE if known is None else (len(types[0]) if given == Op.TUPLE else 1) - known


def _into_function(solver: Solver, signature: int, values: Values) -> int:
    """How well a value fits the type of a function, `(A) -> B`: one that is written out does, if it takes as many."""
    kinds = {value[0] for value in values}
    if kinds <= {FUNCTION, BOUND}:
        return YES if any(_takes_as_many(solver, value[1], signature) for value in values) else NO
    return NO if kinds <= {CONTAINER, CONSTANT} else PERHAPS


def _takes_as_many(solver: Solver, function: int, signature: int) -> bool:
    """Whether a lambda has as many parameters as the type of a function; what is no lambda may."""
    row = solver.project.scope(function)
    if row.kind != ScopeKind.LAMBDA or not row.flags & Flag.IMPLICIT:
        return True
    return len(solver.project.scope(signature).parameters) in counts_of(solver, function)


def counts_of(solver: Solver, function: int) -> tuple[int, ...]:
    """How many parameters a function that is written out may have: `{ a() }` of Kotlin may have one, `it`."""
    row, unit = solver.project.scope(function), solver.project.unit(function)
    names = [unit.facts.names[each.name] for each in row.parameters if each.name != NONE]
    is_open = row.flags & Flag.IMPLICIT and names == [unit.dialect.implicit_parameter]
    return (0, 1) if is_open else (len(row.parameters),)
