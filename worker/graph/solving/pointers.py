"""What pointers lead to, and what has the address of a thing."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.containers import called_member, element_of
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import Expression, Op
from fledgling.worker.graph.values import CONTAINER, FUNCTION, OBJECT, POINTING, Value, Values, add, capped


def pointed(solver: Solver, node: int, expression: Expression) -> Values:
    """POINTED: of a class that has the operator, what that gives, or an object of it, to which there is a pointer."""
    found: Values = {}
    operator = solver.project.unit(node).names[expression[2]]
    for value, sure in list(solver.value(solver.child(node, expression[1])).items()):
        if is_pointer(solver, value):
            add(found, element_of(solver, value), sure)
        elif value[0] == OBJECT and has_operator(solver, value, operator):
            given = called_member(solver, value, solver.project.text(operator), sure)
            add(found, capped({value: sure, **given}, Reason.SEVERAL))
        else:
            found[value] = max(sure, found.get(value, 0))
    return found


def addressed(solver: Solver, node: int, expression: Expression) -> Values:
    """ADDRESSED"""
    found: Values = {}
    for value, sure in list(solver.value(solver.child(node, expression[1])).items()):
        held: Value = (CONTAINER, node) if is_pointer(solver, value) else value
        if held != value:
            solver.key(held, "*", solver.child(node, expression[1]))
        found[held] = max(sure, found.get(held, 0))
    return found


def has_operator(solver: Solver, value: Value, operator: int) -> bool:
    """Whether the class of an object has an operator that takes nothing else: `A& operator*()`."""
    owner, _ = solver.classes.of_class(value[1], operator)
    given = {} if owner is None else solver.value(("name", owner, operator))
    return any(held[0] == FUNCTION and not solver.project.scope(held[1]).parameters for held in given)


def is_pointer(solver: Solver, value: Value) -> bool:
    """Whether a value is declared to be a pointer of a library, `std::unique_ptr<A>`, or one to such a pointer.

    So is an iterator of a container.
    """
    if value[0] != CONTAINER or type(value[1]) is not int:
        return value[0] == CONTAINER and bool(value[1][0] == POINTING)
    op, *parts = solver.project.expression(value[1])
    pointers = solver.project.unit(value[1]).dialect.pointers
    if op in (Op.ARRAY, Op.POINTEE, Op.ADDRESSED):
        return bool(pointers)
    return op == Op.INDEX and solver.project.last_name(solver.child(value[1], parts[0])) in pointers
