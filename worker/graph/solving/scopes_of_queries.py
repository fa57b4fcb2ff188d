"""Methods of Laravel that a query runs by the rest of their names: `A::recent()`, `$a->recent()` of `scopeRecent`."""

from fledgling.worker.graph.linking.vocabulary import MAX_SCOPES
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.containers import element_of
from fledgling.worker.graph.solving.members import member
from fledgling.worker.graph.solving.outside.called_outside import called_outside
from fledgling.worker.graph.solving.outside.collecting import of_these
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Op
from fledgling.worker.graph.values import BOUND, CLASS, CONTAINER, EXTERNAL, FUNCTION, OBJECT, Value, Values, add


def by_scope(solver: Solver, made: MadeCall, function: int) -> Values:
    """What a call of a member gives that is the end of the name of such a method: more of what is asked."""
    op, *parts = solver.project.expression(function)
    unit = solver.project.unit(function)
    text = unit.facts.names[parts[1]] if op == Op.GET else ""
    own = solver.project.numbers.get(f"{unit.dialect.query_scope}{text[:1].upper()}{text[1:]}", NONE)
    if not text or own not in solver.project.vocabulary.scopes_of_queries:
        return {}
    held, name = solver.value(solver.child(function, parts[0])), unit.names[parts[1]]
    found: Values = {}
    for value in list(held):
        for scope in _models(solver, value, name):
            [asked] = [value] if value[0] == CONTAINER else of_these(solver, made, {_of(scope): Reason.RETURNED})
            methods = member(solver, _of(scope), own, Reason.ABSENT)
            methods = {at: min(sure, Reason.ABSENT) for at, sure in methods.items() if at[0] in (FUNCTION, BOUND)}
            given = [(("just", asked), False), *made.arguments]
            called_outside(solver, methods, MadeCall(made.node, given, made.words), Reason.ABSENT)
            add(found, {asked: Reason.CONTAINER} if methods else {})
    is_unknown = not found and all(value[0] == EXTERNAL for value in held) and text not in unit.dialect.common
    scopes = solver.project.vocabulary.scopes_of_queries[own] if is_unknown else []
    if 0 < len(scopes) <= MAX_SCOPES:
        add(solver.handed.setdefault(made.node, {}), {(FUNCTION, at): int(Reason.NAME_ONLY) for at in scopes})
    return found


def _of(scope: int) -> Value:
    return (OBJECT, scope, True)


def _models(solver: Solver, value: Value, name: int) -> list[int]:
    """The classes below one outside, and without a method of a name themselves, that a query asks for objects of."""
    held = element_of(solver, value) if value[0] == CONTAINER else {value: Reason.BOUND}
    classes = dict.fromkeys(of[1] for of in held if of[0] in (CLASS, OBJECT))
    lacking = [at for at in classes if solver.classes.of_class(at, name)[0] is None]
    return [at for at in lacking if at in solver.classes.has_external_base]
