"""What a type has of a trait that a path names with it: `<A as B>::c`."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.members import member
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Op, ScopeKind
from fledgling.worker.graph.values import BOUND, CLASS, FUNCTION, Value, Values, add, capped


def qualified(solver: Solver, node: int) -> int:
    """The QUALIFIED of which a member is asked, `<A as B>::c`; -1 where it is asked of anything else."""
    op, *parts = solver.project.expression(node)
    of = solver.child(node, parts[0]) if op == Op.GET else NONE
    if of != NONE and solver.op(of) == Op.PREFIX:
        of = solver.child(of, solver.project.expression(of)[1])
    return of if of != NONE and solver.op(of) == Op.QUALIFIED else NONE


def of_trait(solver: Solver, path: int, name: int, values: Values) -> Values:
    """Of what a type has of a name, what a trait gives it, as far as that is known; else what that has itself.

    What has the name and is no method of a trait is left out, also where the trait is outside the project.
    """
    held = solver.value(solver.child(path, solver.project.expression(path)[2]))
    traits = [value[1] for value in held if value[0] == CLASS]
    methods = {value: sure for value, sure in values.items() if value[0] in (FUNCTION, BOUND)}
    if not traits:
        most = Reason.BOUND if held else Reason.SEVERAL
        others = {value: sure for value, sure in values.items() if value not in methods}
        return capped({**others, **{value: sure for value, sure in methods.items() if _is_of(solver, value)}}, most)
    found = {value: sure for value, sure in methods.items() if _is_of(solver, value, traits)}
    for trait in () if found else traits:
        is_exact, asked = _is_exactly(solver, path, trait), (CLASS, trait, False)
        add(found, solver.value(("name", trait, name)) if is_exact else member(solver, asked, name, Reason.BOUND))
    return found


def _is_of(solver: Solver, value: Value, traits: list[int] | None = None) -> bool:
    """Whether a function stands in one of some traits, or for one in what it gives a type; for any, if none is said."""
    project = solver.project
    around = project.outer(value[1])
    row = project.scope(around)
    if row.kind == ScopeKind.INTERFACE:
        return traits is None or around in traits
    if row.name != NONE or not row.bases:
        return False
    held = (solver.value(solver.child(around, base)) for base in row.bases)
    return traits is None or any(each[0] == CLASS and each[1] in traits for values in held for each in values)


def _is_exactly(solver: Solver, path: int, trait: int) -> bool:
    """Whether a type is a class that has a trait: what that does not define itself is as the trait says."""
    of = solver.value(path)
    is_class = all(value[0] == CLASS and solver.project.scope(value[1]).kind == ScopeKind.CLASS for value in of)
    return bool(of) and is_class and all(trait in solver.classes.order(value[1]) for value in of)
