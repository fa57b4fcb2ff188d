"""Functions of C++ that a call finds by the class of an argument: friends, and those of other namespaces."""

from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Op, ScopeKind
from fledgling.worker.graph.values import EXTERNAL, FUNCTION, OBJECT, Values


def of_friends(solver: Solver, values: Values, made: MadeCall) -> Values:
    """The values, of which a friend that a class defines is certain only where an argument is an object of that class.

    By its name alone no call finds it, but beside the class of an argument ([namespace.memdef], [basic.lookup.argdep]):
    `struct A { friend int f(A a) {} };`.
    """
    project = solver.project
    friends = {
        value: project.outer(value[1]) for value in values if value[0] == FUNCTION and _is_friend(project, value[1])
    }
    if not friends:
        return values
    objects = {at[1] for cell, _ in made.arguments for at in solver.value(cell) if at[0] == OBJECT}
    given = {above for at in objects for above in solver.classes.order(at)}
    return {
        at: min(sure, Reason.TYPES) if friends.get(at, NONE) not in (NONE, *given) else sure
        for at, sure in values.items()
    }


def _is_friend(project: GraphProject, function: int) -> bool:
    """Whether a function stands in a class that does not have it: it is one of the namespace around that."""
    around, row, unit = project.outer(function), project.scope(function), project.unit(function)
    if not unit.dialect.declared or around < 0 or row.name == NONE or project.scope(around).kind != ScopeKind.CLASS:
        return False
    own = project.table(around).get(unit.names[row.name], ())
    return all(project.defined(at)[1] != function for at in own)


def beside_arguments(solver: Solver, values: Values, made: MadeCall) -> Values:
    """The functions of other namespaces with the name of a call, where an argument may be an object."""
    project = solver.project
    unit = project.unit(made.node)
    if not (unit.dialect.declared and unit.dialect.overloads) or any(
        value[0] not in (FUNCTION, EXTERNAL) for value in values
    ):
        return {}
    callee = project.expression(solver.child(made.node, project.expression(made.node)[1]))
    if callee[0] != Op.BARE or all(solver.op(cell) in (Op.NUMBER, Op.TEXT) for cell, _ in made.arguments):
        return {}
    own = unit.names[callee[1]]
    found: Values = {}
    for scope in solver.spaces.anywhere(unit, own):
        held = solver.value(("name", scope, own))
        found.update((value, sure) for value, sure in held.items() if value[0] == FUNCTION and value not in values)
    return found
