"""What a parameter of a test gets from the fixture of its name, and which that is: the nearest, as pytest looks for it.

Never certain: a plugin outside, or an argument of the command, may put another one in its place.
"""

from fledgling.worker.graph.linking.fixtures import MAX_ABOVE
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.bound_members import returned
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Expression, Op, ScopeKind
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import FUNCTION, GENERATOR, GIVEN, OBJECT, Values, add, capped


def fixtures_of(solver: Solver, function: int, place: int) -> list[int]:
    """The fixtures that a parameter of a function may get its value from."""
    project, known = solver.project, solver.fixtures
    if not known.functions or not known.takes(function, place):
        return []
    given = project.unit(function).names[project.scope(function).parameters[place].name]
    if given not in known.names and given not in project.given.handed_on:
        return []
    around = project.outer(function)
    if function not in known.functions and _is_of_test_case(solver, around):
        return []
    return _nearest(solver, around, given, function)


def _is_of_test_case(solver: Solver, scope: int) -> bool:
    """Whether a class runs its tests itself, and gives them nothing: one below `unittest.TestCase`."""
    project = solver.project
    end = project.unit(scope).dialect.without_fixtures
    above = solver.classes.order(scope) if end and project.scope(scope).kind == ScopeKind.CLASS else ()
    return any(project.last_name((at & ~MASK) | base).endswith(end) for at in above for base in project.scope(at).bases)


def fixture(solver: Solver, node: int, expression: Expression) -> Values:
    """FIXTURE: what a text names where it is asked for by `usefixtures` or `getfixturevalue`."""
    scope, name = solver.child(node, expression[2]), solver.project.unit(node).names[expression[1]]
    return {(FUNCTION, at): Reason.FIXTURE for at in _nearest(solver, scope, name, NONE)}


def given_by_fixtures(solver: Solver, function: int, place: int) -> Values:
    """What a parameter gets from the fixture of its name: what that returns or yields."""
    found: Values = {}
    for at in fixtures_of(solver, function, place):
        owner = solver.classes.owner(at)
        for value, sure in returned(solver, at, None if owner is None else (OBJECT, owner, True)).items():
            if value[0] == GENERATOR:
                add(found, solver.value(("yielded", value[1])))
            elif value[0] == GIVEN:
                add(found, solver.value(("parameter", value[1], value[2])))
            else:
                found[value] = max(sure, found.get(value, 0))
    return capped(found, Reason.FLOW)


def _nearest(solver: Solver, scope: int, name: int, but: int) -> list[int]:
    """The fixtures of a name that are seen from a scope, but the one that asks for another of its own name."""
    project, known = solver.project, solver.fixtures
    while scope != NONE and project.scope(scope).kind != ScopeKind.MODULE:
        for at in solver.classes.order(scope) if project.scope(scope).kind == ScopeKind.CLASS else ():
            if found := [each for each in known.defined.get((at, name), ()) if each != but]:
                return found
        scope = project.outer(scope)
    modules = known.seen_from(project.unit(scope)) if scope != NONE else ()
    for module in modules:
        if found := [each for each in _of_module(solver, module, name) if each != but]:
            return found
    if len(modules) > MAX_ABOVE:  # one further up may have it
        return []
    plugins = [each for each in known.of_plugins.get(name, ()) if each != but]
    return plugins if len(plugins) == 1 else []


def _of_module(solver: Solver, module: int, name: int) -> list[int]:
    """The fixtures of a name that a module defines or takes from another one."""
    if found := solver.fixtures.defined.get((module, name)):
        return found
    bindings = solver.project.table(module).get(name, ())
    is_taken = bool(solver.project.scope(module).stars) or any(
        solver.op(solver.project.value_of(at)) in (Op.IMPORT, Op.ALIAS) for at in bindings
    )
    values = solver.value(("name", module, name)) if is_taken else {}
    return [value[1] for value in values if value[0] == FUNCTION and value[1] in solver.fixtures.functions]
