"""What types outside say of functions: what they get and give, `Func<A, B, C>`, `Function<A, B>`."""

from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.type_arguments import arguments_of
from fledgling.worker.graph.values import EXTERNAL, Value, Values

# How what is outside comes from a type: it is a `B<A>`, what `b<A>()` gives, a member of these, what calling that gives
OF_TYPE, GIVEN, FIELD, RETURNED = range(4)


def name_of(value: Value) -> str:
    """The last name of a type outside."""
    return str(value[1]).removesuffix("#").rpartition(".")[2]


def returned(solver: Solver, value: Value) -> Values | None:
    """What a function gives of which a type outside says that: C of `Func<A, B, C>`; None of anything else."""
    if len(value) < 4 or value[3] not in (OF_TYPE, FIELD):
        return None
    dialect, of = solver.project.unit(value[2]).dialect, value
    if value[3] == FIELD:  # a.apply(b), of a `Function<B, C>`
        before, _, method = value[1].rpartition(".")
        if method not in dialect.invoking:
            return None
        of = (EXTERNAL, before)
    if not dialect.delegates.get(name_of(of)):
        return None
    return dict(solver.value(("type", arguments_of(solver, value[2])[-1], None)))


def taken(solver: Solver, value: Value) -> list[int]:
    """The types of what a function gets of which a type outside says that: A and B of `Func<A, B, C>`."""
    known = solver.project.unit(value[2]).dialect.delegates.get(name_of(value)) if value[3:] == (OF_TYPE,) else None
    types = [] if known is None else arguments_of(solver, value[2])
    return types[: len(types) - (known or 0)]
