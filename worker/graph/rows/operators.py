"""The methods that operators, keys and functions of the language call: `a + b`, `a[b]`, `len(a)`."""

from collections.abc import Sequence

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.members import member
from fledgling.worker.graph.solving.operations import changing, is_reflected, reflected
from fledgling.worker.graph.solving.overloading.overloads import fitting
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.traits import by_trait, run_by_trait
from fledgling.worker.graph.tables import Expression, Op
from fledgling.worker.graph.values import (
    BOUND,
    CLASS,
    CONSTANT,
    CONTAINER,
    EXTERNAL,
    FUNCTION,
    OBJECT,
    Cell,
    Value,
    Values,
    capped,
)


def run_by_operator(solver: Solver, node: int, expression: Expression) -> Values:
    """What an operator or a key calls: a method of what stands before it, or else of what stands behind it."""
    dialect = solver.project.unit(node).dialect
    if expression[0] == Op.INDEX:
        method = dialect.operators.get("[]", "[]")
        return _taking(solver, node, _methods(solver, solver.child(node, expression[1]), method), expression[2:3])
    name = solver.project.unit(node).facts.names[expression[2]]
    first, *others = (solver.child(node, part) for part in expression[1])
    if len(expression) > 3 and (found := _methods(solver, first, changing(name))):  # a += b
        return found
    values = solver.value(first)
    if dialect.signs:
        return _methods(solver, first, name)
    if not values or any(value[0] == OBJECT for value in values):  # what is not known may have the method itself
        return _taking(solver, node, _methods(solver, first, name), expression[1][1:])
    found = _methods(solver, others[0], reflected(name)) if others and is_reflected(name) else {}
    is_written = all(value[0] in (CONSTANT, CONTAINER) for value in values)  # `1 + a`; else what is outside may have it
    return found if is_written else capped(found, Reason.ABSENT)


def _taking(solver: Solver, node: int, methods: Values, operands: Sequence[int]) -> Values:
    """Of methods those that take the operands behind the first, where overloads are told apart."""
    is_told = solver.project.unit(node).dialect.selects and len(operands) == 1 and methods
    if not is_told or solver.op(operand := solver.child(node, operands[0])) == Op.TUPLE:
        return methods
    return capped(fitting(solver, methods, MadeCall(node, [(operand, False)], [])), Reason.TYPES)


def run_by_function(solver: Solver, node: int, values: Values, arguments: list[int]) -> Values:
    """What a call of a function of the language calls of its first argument."""
    runs = solver.project.unit(node).dialect.runs
    if not runs or not arguments or arguments[0] < 0:
        return {}
    names = (runs[value[1]] for value in values if value[0] == EXTERNAL and value[1] in runs)
    name = next(names, None)
    return _methods(solver, solver.child(node, arguments[0]), name) if name else {}


def _methods(solver: Solver, of: Cell, name: str) -> Values:
    """The methods of a name that an operand has; none where it may be anything else than an object of the project."""
    values = solver.value(of)
    kinds = (OBJECT, CLASS) if solver.project.unit(of).dialect.signs else (OBJECT,)
    if not all(value[0] in kinds for value in values):
        return {}
    number, found = solver.project.number(name), Values()
    of_class = not any(solver.project.unit(value[1]).dialect.crates for value in values)
    for value, sure in list(values.items()):
        held = member(solver, value, number, sure) if of_class else _of_traits(solver, value, name, sure)
        found.update((at, own) for at, own in held.items() if at[0] in (BOUND, FUNCTION) and own > found.get(at, 0))
    is_told = is_reflected(name) or solver.project.unit(of).dialect.signs
    if of_class and not is_told:  # which of several, and whether nothing else extends the type
        selects = solver.project.unit(of).dialect.selects
        return capped(found, Reason.OVERLOAD if len(found) > 1 and not selects else Reason.TYPES)
    return found


def _of_traits(solver: Solver, value: Value, name: str, sure: int) -> Values:
    """What an operator of Rust runs on an object."""
    own = run_by_trait(solver, value, name)
    return capped(by_trait(solver, value, own), sure) if own else {}
