"""What a type has of a trait: by a path that names it, `<A as B>::c`, or by an operator."""

from fledgling.worker.graph.linking.project import GraphProject
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


def is_of_trait(project: GraphProject, function: int) -> bool:
    """Whether a type has a method by a trait, `impl A for B`: operators ask for no other."""
    around = project.outer(function)
    return around != NONE and bool(project.scope(around).bases)


def run_by_trait(solver: Solver, value: Value, method: str) -> str:
    """The method of a trait that an operator runs on an object, or the one which that calls: `eq` for `a != b`.

    Empty where the object has neither.
    """
    names = (method, solver.project.unit(value[1]).dialect.calling.get(method, ""))
    return next((own for own in names if own and by_trait(solver, value, own)), "")


def by_trait(solver: Solver, value: Value, method: str) -> Values:
    """The methods of a name that an object has by a trait: never certain, as macros may make others.

    They may be for another operand, for a reference, `&B`, or for other arguments of a type, `B<i32>`.
    """
    held = member(solver, value, solver.project.number(method), Reason.BOUND)
    found = {at: sure for at, sure in held.items() if at[0] in (BOUND, FUNCTION) and is_of_trait(solver.project, at[1])}
    return capped(found, Reason.OVERLOAD if len(found) > 1 else Reason.TYPES)
