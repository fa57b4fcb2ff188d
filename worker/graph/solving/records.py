"""What a record of C# takes behind its name, which is no property of its own where it inherits one of that type."""

from fledgling.worker.graph.solving.overrides import NO, PERHAPS, of_one_type
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, POSITIONAL, Flag, Op, ScopeKind


def in_place_of(solver: Solver, owner: int, name: int) -> tuple[int, list[int]]:
    """The class whose member is meant by what a record takes, and those of which it may be meant as well.

    `record B(C D) : A`, of a class A with a `C D`, has that one, and none of its own.
    """
    for _ in solver.classes.order(owner):
        if not is_positional(solver, owner, name):
            break
        above = solver.classes.of_class(owner, name, owner)[0]
        sameness = NO if above is None else _of_one_type(solver, owner, above, name)
        if above is None or sameness == NO:
            break
        if sameness == PERHAPS:
            return owner, [above]
        owner = above
    return owner, []


def is_positional(solver: Solver, owner: int, name: int) -> bool:
    """Whether a class has a name only by what it takes behind its own."""
    bindings = solver.project.table(owner).get(name, ()) if name in solver.project.positional else ()
    return bool(bindings) and all(solver.project.binding(at).how == POSITIONAL for at in bindings)


def _of_one_type(solver: Solver, owner: int, above: int, name: int) -> int:
    """Whether what a record takes is of the type of what a class above has of that name, which is not abstract."""
    own, other = _type_of(solver, owner, name), _type_of(solver, above, name)
    return NO if NONE in (own, other) else of_one_type(solver, own, other)


def _type_of(solver: Solver, scope: int, name: int) -> int:
    """The type of a property or field of a class; -1 where it has none that is inherited."""
    project = solver.project
    bindings = project.table(scope).get(name, ())
    if project.scope(scope).kind != ScopeKind.CLASS or len(bindings) != 1:
        return NONE
    node = project.value_of(bindings[0])
    op, *parts = project.expression(node)
    if op == Op.DECLARED:
        return solver.child(node, parts[0])
    row = project.scope(solver.child(node, parts[0])) if op == Op.FUNCTION else None
    if row is None or not row.flags & Flag.PROPERTY or row.flags & (Flag.ABSTRACT | Flag.HIDDEN | Flag.STATIC):
        return NONE
    return NONE if row.returns == NONE else solver.child(node, row.returns)
