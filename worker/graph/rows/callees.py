"""The functions that a call runs: the constructor of a class, what a name was given."""

from fledgling.worker.graph.linking.hierarchy import MAX_BASES
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.rows.operators import run_by_function, run_by_operator
from fledgling.worker.graph.solving.calls import made_by, made_of
from fledgling.worker.graph.solving.class_members import MAX_UNTYPED, of_many
from fledgling.worker.graph.solving.overloading.overloads import called, fitting
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Expression, Op, ScopeKind
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import BOUND, CLASS, FUNCTION, MADE_MEMBERS, OBJECT, SUPER, Value, Values

ITERATED = (Op.ELEMENT, Op.ENTERED)
OPERATING = (Op.INDEX, Op.OPERATED)


def callees(solver: Solver, node: int) -> Values:
    """What a call calls, also through a function outside the project."""
    expression = solver.project.expression(node)
    if expression[0] in OPERATING or (expression[0] == Op.CHOICE and len(expression) > 2):
        return run_by_operator(solver, node, expression)
    if expression[0] in ITERATED:  # of what a loop gives, nothing is called
        return dict(solver.handed.get(node, {}))
    is_call = expression[0] in (Op.CALL, Op.NEW)
    values = solver.value((node & ~MASK) | expression[1] if is_call else node)
    if is_call and solver.project.unit(node).dialect.overloads:
        held, chosen = solver.chosen.get(node, (None, values))
        is_known = held is values and solver.is_final(node)
        values = (
            chosen if is_known else made_by(solver, node, called(solver, values, made_of(solver, node, expression)))
        )
    if is_call and solver.project.unit(node).dialect.sigil:
        values = _of_variable(solver, node, expression, values)
    run = run_by_function(solver, node, values, expression[2]) if is_call else {}
    return {**run, **solver.handed.get(node, {}), **values}


def _of_variable(solver: Solver, node: int, expression: Expression, values: Values) -> Values:
    """The values without methods where a variable or field is called: `$a()`, `($a->b)()`; a field holds none."""
    if solver.op((node & ~MASK) | expression[1]) in (Op.GET, Op.SUPER, Op.NAMED):
        return values
    return {value: sure for value, sure in values.items() if not _is_method(solver, value)}


def _is_method(solver: Solver, value: Value) -> bool:
    """Whether a value is a function with a name of a class."""
    if value[0] not in (BOUND, FUNCTION) or solver.project.scope(value[1]).name == NONE:
        return False
    return solver.classes.owner(value[1]) is not None


def run_by(solver: Solver, value: Value, sure: int, node: int) -> list[tuple[int, int]]:
    """The scopes of the functions that calling a value runs, and of the class that it makes an object of."""
    kind = value[0]
    if kind in (FUNCTION, BOUND):
        if solver.project.scope(value[1]).kind == ScopeKind.SIGNATURE:
            return []
        if solver.project.only_declared(value[1]):
            sure = min(sure, Reason.ONLY_DECLARED)
        return [(value[1], min(sure, Reason.ABSTRACT) if solver.classes.is_abstract(value[1]) else sure)]
    if kind == MADE_MEMBERS:
        return [(at, min(sure, own)) for at, own in solver.made_members[value[1:]].items()]
    if kind == SUPER:
        return _constructors(solver, value[2][1], sure, value[1], node)
    if kind not in (CLASS, OBJECT) or solver.project.scope(value[1]).kind == ScopeKind.NAMESPACE:
        return []
    is_nameless = kind == CLASS and solver.project.scope(value[1]).name == NONE
    if is_nameless and not solver.project.unit(value[1]).dialect.prototypes:  # new A() { ... }
        further = solver.project.scope(value[1]).bases[1:MAX_BASES]  # object : A(), B { }
        above = {of for base in further for of in solver.value(solver.child(value[1], base))}
        made = [((CLASS, base, False), own) for base, own in solver.classes.bases.get(value[1], [])]
        return [pair for of, own in made if of not in above for pair in run_by(solver, of, min(sure, own), node)]
    below = solver.classes.below(value[1])[:MAX_UNTYPED] if kind == CLASS and value[2] else []  # `new this()`
    found = [(value[1], min(sure, Reason.OVERRIDDEN) if below else sure)] if kind == CLASS else []
    over = min(sure, of_many(solver, value[1], below, runs=True))
    found += [(at, over) for at in below]
    reason = min(sure, Reason.SEVERAL) if value[2] else sure
    called_by = (solver.project.unit(value[1]).dialect.called_by,)
    if kind == CLASS:
        reason = min(reason, Reason.SEVERAL) if solver.classes.makes_another(value[1]) else reason
        own = _constructors(solver, value[1], reason, None, node)
        calling = solver.classes.calling(value[1]) if solver.classes.makes_another(value[1]) else []
        own += [pair for at in calling for pair in _methods(solver, at, called_by, reason, None, node)]
        of_below = [pair for at in below for pair in _constructors(solver, at, over, None, node)]
        return found + own + [pair for pair in of_below if pair[0] not in dict(own)]
    return _methods(solver, value[1], called_by, reason, None, node)


def _constructors(solver: Solver, scope: int, sure: int, after: int | None, node: int) -> list[tuple[int, int]]:
    return _methods(solver, scope, solver.project.unit(scope).dialect.constructors, sure, after, node)


def _methods(
    solver: Solver, scope: int, names: tuple[str, ...], sure: int, after: int | None, node: int
) -> list[tuple[int, int]]:
    found = []
    for own in names:
        name = solver.project.number(own)
        owner, may_be_outside = solver.classes.of_class(scope, name, after)
        most = min(sure, Reason.EXTERNAL_BASE) if may_be_outside else sure
        if owner is not None and solver.classes.gives_constructor(scope, owner, after):
            doubt, instead = solver.classes.instead(scope, name, owner, after)
            held = {held: sure for at in (owner, *instead) for held, sure in solver.value(("name", at, name)).items()}
            most = min(most, doubt)
            if node != NONE and solver.project.expression(node)[0] in (Op.CALL, Op.NEW):
                held = fitting(solver, held, made_of(solver, node, solver.project.expression(node)))
            made = {at[1]: own_sure for at, own_sure in held.items() if at[0] == FUNCTION}
            only = {at: Reason.ONLY_DECLARED for at in made if solver.project.only_declared(at)}
            found += [(at, min(most, own_sure, only.get(at, own_sure))) for at, own_sure in made.items()]
    return found
