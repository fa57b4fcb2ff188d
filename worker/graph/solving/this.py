"""What `this` and `super` are."""

from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.prototypes import makes_objects
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.type_arguments import arguments_of
from fledgling.worker.graph.tables import NONE, Expression, Flag, ScopeKind
from fledgling.worker.graph.values import CLASS, OBJECT, SUPER, Value, Values, add, capped


def super_(solver: Solver, node: int, expression: Expression) -> Values:
    """SUPER"""
    scope = solver.child(node, expression[1])
    own = solver.classes.around(scope)
    if own is None:
        return {}
    row = solver.project.scope(scope)
    dialect = solver.project.unit(node).dialect
    is_of_class = row.flags & Flag.CLASSMETHOD or (dialect.prototypes and row.flags & Flag.STATIC)
    receiver: Value = (CLASS if is_of_class else OBJECT, own, True)
    if expression[2] == NONE:
        return {(SUPER, own, receiver, *expression[3:]): Reason.SUPER}
    named = [value for value in solver.value(solver.child(node, expression[2])) if value[0] == CLASS]
    sure = Reason.SUPER if named == [(CLASS, own, False)] else Reason.SEVERAL  # of another, or of one that is computed
    return {(SUPER, of, receiver): sure for _, of, _ in named if of in solver.classes.order(own)}


def this(solver: Solver, node: int, expression: Expression) -> Values:
    """An object of the class around; the class itself in a method of its own, where that is so: THIS."""
    scope = solver.child(node, expression[1])
    if lambdas := lambdas_around(solver.project, scope):
        return _this_in_lambda(solver, lambdas)
    own = solver.classes.around(scope)
    if makes_objects(solver, scope):
        return dict(solver.value(("this", scope)))
    if own is None:
        return {}
    function, kind, dialect = scope, OBJECT, solver.project.unit(node).dialect
    if dialect.bare_calls and solver.project.scope(scope).kind in (ScopeKind.CLASS, ScopeKind.INTERFACE):
        kind = CLASS  # what stands in a class itself: `self.a = b`
    while (dialect.bare_calls or dialect.prototypes) and scope >= 0 and scope != own:
        row = solver.project.scope(scope)
        kind = CLASS if row.flags & Flag.STATIC else kind
        if dialect.bare_calls and row.kind == ScopeKind.FUNCTION:  # `def self.a; define_method(b) { c } end`
            break
        scope = solver.project.outer(scope)
    applied = extended_type(solver, function) if dialect.behind else ()
    found: Values = {(kind, own, True, *applied): Reason.OWN_CLASS}
    return add(found, solver.value(("called on", function)), Reason.FLOW) if dialect.prototypes else found


def extended_type(solver: Solver, scope: int) -> tuple[int, ...]:
    """The type that the extension around extends, if that is applied to others: `impl<K> A<K>` says what K of A is."""
    extended = solver.classes.extensions.extended_by
    while scope >= 0 and scope not in extended:
        scope = solver.project.outer(scope)
    return (extended[scope],) if scope >= 0 and arguments_of(solver, extended[scope]) else ()


def lambdas_around(project: GraphProject, scope: int) -> list[int]:
    """The lambdas around, the innermost first, that may each run on another object than what is around it."""
    found = []
    while scope >= 0 and (row := project.scope(scope)).kind not in (ScopeKind.CLASS, ScopeKind.INTERFACE):
        if row.flags & Flag.EXTENSION:
            break
        if row.flags & Flag.IMPLICIT:
            found.append(scope)
        scope = project.outer(scope)
    return found


def _this_in_lambda(solver: Solver, lambdas: list[int]) -> Values:
    """What the innermost of some lambdas runs on of which that is known; else an object of the class around."""
    for scope in lambdas:
        if held := solver.value(("receiver", scope)):
            return capped(held, Reason.FLOW)
    if not solver.is_settled:  # it may become known
        solver.wait()
        return {}
    own = solver.classes.around(lambdas[-1])
    is_of_macro = lambdas[-1] in solver.classes.extensions.macro_made
    return {} if own is None else {(OBJECT, own, True): Reason.MACRO if is_of_macro else Reason.IMPLICIT}
