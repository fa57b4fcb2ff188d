"""On what functions of JavaScript run: `a.call(b)`, `a.apply(b, c)`, `a.bind(b)`, or as a member of something else.

A function that makes objects takes what it is called on as `this`. In a method of a class `this` is of that class,
and what is asked of it is in doubt if the method may be called on anything else.
"""

from fledgling.worker.graph.linking.project import MAX_NAMES
from fledgling.worker.graph.reasons import CERTAIN, Reason
from fledgling.worker.graph.solving.arguments import MadeCall, hand_over
from fledgling.worker.graph.solving.prototypes import has_prototype, receives
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import Expression, Op
from fledgling.worker.graph.unit import MASK, Unit
from fledgling.worker.graph.values import (
    BOUND,
    CLASS,
    FUNCTION,
    MADE_MEMBERS,
    METHOD_OF,
    OBJECT,
    SOME_MEMBER,
    Cell,
    Value,
    Values,
    add,
    capped,
)

CALLING = ("call", "apply", "bind")  # the methods of a function that call it, or make another one that does
FUNCTIONS = (FUNCTION, BOUND)


def method_of_function(solver: Solver, value: Value, name: int, sure: int) -> Values:
    """What a method of a function is that says on what to call it."""
    if value[0] in (SOME_MEMBER, MADE_MEMBERS):  # which is then called
        return {value: sure} if solver.project.text(name) in CALLING else {}
    if value[0] not in FUNCTIONS or not has_prototype(solver, value[1]) or solver.project.text(name) not in CALLING:
        return {}
    return {(METHOD_OF, value, name): sure}


def called_on(solver: Solver, value: Value, made: MadeCall, sure: int) -> Values:
    """What a call of such a method gives, or of what `a.bind(b)` gives: METHOD_OF a, and for a name ~ of that call."""
    function, name = value[1:]
    how = "" if name < 0 else solver.project.text(name)
    arguments = made.arguments if how else solver.bound_arguments.get(~name, []) + made.arguments
    if how:
        for cell, spread in arguments[:1]:
            receives(solver, function[1], ("elements of", cell) if spread else cell)
        arguments = arguments[1:]
    if how == "bind":
        solver.bound_arguments[made.node] = arguments
        hand_over(solver, function[1], MadeCall(made.node, arguments, []), None)  # whoever calls it
        return {(METHOD_OF, function, ~made.node): sure}
    if how == "apply":
        arguments = [(cell, True) for cell, _ in arguments[:1]]
    add(solver.handed.setdefault(made.node, {}), {function: sure})
    return capped(solver.invoke(solver, function, MadeCall(made.node, arguments, []), sure), Reason.FLOW)


def is_such_call(unit: Unit, expression: Expression) -> bool:
    """Whether an expression calls a method of that name."""
    how, *parts = unit.expressions[expression[1]] if expression[0] == Op.CALL else (Op.UNKNOWN,)
    return how == Op.GET and unit.facts.names[parts[1]] in CALLING


def called_on_others(solver: Solver) -> set[int]:
    """The methods of classes that may be called on anything but their objects, when all is solved."""
    receiving = {
        cell[1]: cells for cell, cells in solver.sources.items() if type(cell) is tuple and cell[0] == "called on"
    }
    return {function for function, cells in receiving.items() if _has_others(solver, function, [*cells])}


def _has_others(solver: Solver, function: int, cells: list[Cell]) -> bool:
    owner = solver.classes.owner(function)
    if owner is None:
        return False
    for cell in cells:
        values = solver.value(cell)
        if not values or any(sure < CERTAIN or value[0] not in (OBJECT, CLASS) for value, sure in values.items()):
            return True
        if any(owner not in solver.classes.order(value[1]) for value in values):
            return True
    return False


def asks_this_of(solver: Solver, node: int, functions: set[int]) -> bool:
    """Whether an expression is a member of what `this` is in one of some functions, or of what that has."""
    for _ in range(MAX_NAMES if functions else 0):
        op, *parts = solver.project.expression(node)
        if op == Op.THIS:
            return solver.child(node, parts[0]) in functions
        if op in (Op.GET, Op.CALL, Op.NEW, Op.INDEX):
            node = (node & ~MASK) | parts[0]
            continue
        at, _ = solver.project.meant(node)
        if type(at) is tuple and at[0] == "name":
            bindings = solver.project.table(at[1]).get(at[2], ())
            at = solver.project.value_of(bindings[0]) if len(bindings) == 1 else node
        if type(at) is not int or at == node:
            return False
        node = at
    return bool(functions)
