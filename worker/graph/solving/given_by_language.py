"""What the language gives a class that nobody writes: `copy` of a `data class`, `values` of an enumeration."""

from itertools import chain

from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.members import member
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import Expression, Flag, Op, ScopeKind
from fledgling.worker.graph.values import CLASS, CONSTANTS, CONTAINER, METHOD_OF, OBJECT, Value, Values, capped

OF_CONSTANTS = ("constant", "entries", "values")  # how an enumeration gives one of its constants, or all


def made_by_language(solver: Solver, node: int, expression: Expression) -> Values:
    """What a name means that nothing declares, where the language gives it to the class around."""
    project, unit = solver.project, solver.project.unit(node)
    scope, word = solver.child(node, expression[2]), unit.facts.names[expression[1]]
    own = solver.classes.around(scope)
    if own is None or not unit.dialect.typed:
        return {}
    name_ = unit.names[expression[1]]
    if word in unit.dialect.derived:
        found = member(solver, (OBJECT, own, True), name_, Reason.OWN_CLASS)
    elif unit.dialect.fields[word] in OF_CONSTANTS and own not in solver.classes.has_external_base:
        found = constants_of(solver, unit.dialect.fields[word], name_, {(CLASS, own, False): Reason.OWN_CLASS}) or {}
    else:
        return {}
    return capped(found, Reason.IMPLICIT) if is_in_lambda(project, scope) else dict(found)


def constants_of(solver: Solver, how: str, name: int, values: Values) -> Values | None:
    """The constants of an enumeration, which has no such member itself: `A.entries`, `A.values()`, `A.valueOf(b)`."""
    found: Values = {}
    for value, sure in values.items():
        if solver.classes.of_class(value[1], name)[0] is not None or not _has_constants(solver, value[1]):
            return None
        if how == "constant":
            found[METHOD_OF, (OBJECT, value[1], True), name] = sure
            continue
        held: Value = (CONTAINER, (CONSTANTS, value[1]))
        solver.key(held, "*", ("just", (OBJECT, value[1], True)))
        found[held if how == "entries" else (METHOD_OF, held, name)] = sure
    return found


def _has_constants(solver: Solver, scope: int) -> bool:
    """Whether a class is an enumeration, by its names: each constant is an object of it."""
    bindings = chain.from_iterable(solver.project.table(scope).values())
    return any(solver.op(solver.project.value_of(at)) in (Op.THIS, Op.CLASS) for at in bindings)


def is_in_lambda(project: GraphProject, scope: int) -> bool:
    """Whether a scope is in a function that is written out where it is handed over, or in one under `context(A)`."""
    while scope >= 0 and (row := project.scope(scope)).kind != ScopeKind.LAMBDA and not row.flags & Flag.IMPLICIT:
        scope = project.outer(scope)
    return scope >= 0
