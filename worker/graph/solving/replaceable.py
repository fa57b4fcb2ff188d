"""Whether a member may be another one by the time it is asked for: code may remove or set it, or put one over it."""

from fledgling.worker.graph.linking.project import MAX_NAMES
from fledgling.worker.graph.reasons import CERTAIN, Reason
from fledgling.worker.graph.solving.prototypes import PROTOTYPE
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Op, ScopeKind
from fledgling.worker.graph.unit import MASK, SHIFT
from fledgling.worker.graph.values import (
    CLASS,
    FUNCTION,
    MODULE,
    OBJECT,
)

DEFINITIONS = (Op.FUNCTION, Op.CLASS, Op.DECORATED, Op.IMPORT, Op.ALIAS)
MAX_REPLACED = 64  # places that remove or set members of one name: each is looked at for each class


def may_be_another(solver: Solver, scope: int, name: int) -> bool:
    """Whether a member of a class may be another one when it is asked for: `delete a.b`, if a may be of the class.

    Where more than MAX_REPLACED places do so with one name, it may be one of any class.
    """
    if solver.classes.computes_members(scope, name):
        return True
    return _is_set_by_name(solver, scope, name)


def may_be_put_over(solver: Solver, scope: int, name: int) -> bool:
    """Whether something may be put over what a module binds, from outside: `module.a = b`, `setattr(module, "a", b)`.

    A module of CommonJS puts what it binds itself into what it exports: `exports.a = a`.
    """
    project = solver.project
    if project.scope(scope).kind != ScopeKind.MODULE:
        return False
    if scope in project.updated or (scope, name) in project.vocabulary.deleted:
        return True
    own = scope & ~MASK if project.unit(scope).dialect.prototypes else NONE
    if name in project.vocabulary.written:
        sources = solver.sources.get(("field", scope, name), ())
        if any(type(of) is not int or of & ~MASK != own for of in sources):
            return True
        if not solver.is_settled:  # it may yet be
            solver.wait()
            return True
    return _is_set_by_name(solver, scope, name, own)


def is_another(solver: Solver, scope: int, name: int) -> bool:
    """Whether a function, class or import of a module may be another one; a variable is the same, whatever it holds."""
    defined = (
        solver.op(solver.project.value_of(at)) in DEFINITIONS for at in solver.project.table(scope).get(name, ())
    )
    return any(defined) and may_be_put_over(solver, scope, name)


def _is_set_by_name(solver: Solver, scope: int, name: int, but: int = NONE) -> bool:
    """Whether a member of what a scope makes may be set or removed by its name, in any file but one."""
    replaced = solver.project.vocabulary.replaced.get((solver.project.unit(scope).language, name), ())
    if len(replaced) > MAX_REPLACED:
        return True
    return any(node == NONE or (node & ~MASK != but and _may_be_of(solver, node, scope)) for node in replaced)


def _may_be_of(solver: Solver, node: int, scope: int) -> bool:
    """Whether an expression may be a module or class, an object of it, or one above or below; not where all is sure."""
    expression = solver.project.expression(node)
    if expression[0] == Op.GET and solver.project.unit(node).facts.names[expression[2]] == PROTOTYPE:
        node = solver.child(node, expression[1])
    if not solver.is_settled:  # what it is may not be known yet
        solver.wait()
        return True
    values = solver.value(node)
    if not values or _may_hold_another(solver, node):
        return True
    if solver.project.scope(scope).kind == ScopeKind.MODULE:
        return (MODULE, scope >> SHIFT) in values or any(sure < CERTAIN for sure in values.values())
    sure = {own for own in values.values() if own != Reason.UNDECLARED}  # that says what it is
    if any(own < CERTAIN or own == Reason.OWN_CLASS for own in sure):  # `this` is what it is called on
        return True
    order = solver.classes.order
    of_project = [value[1] for value in values if value[0] in (OBJECT, CLASS, FUNCTION)]
    return any(of in order(scope) or scope in order(of) for of in of_project)


def _may_hold_another(solver: Solver, node: int) -> bool:
    """Whether an expression is a variable that is assigned in several places: a function that is called may be one."""
    project = solver.project
    for _ in range(MAX_NAMES):
        op, *parts = project.expression(node)
        if op != Op.NAME or parts[1] == NONE:
            return False
        name, scope, _ = parts
        bindings = project.bindings_of((node & ~MASK) | scope, project.unit(node).names[name])
        values = [*map(project.value_of, bindings)]
        if len(values) != 1:
            return any(solver.op(value) != Op.CLASS for value in values)  # one that is reopened is the same
        node = values[0]
    return True
