"""Which of several functions that extend types outside a call means, by the type that it asks."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.extensions import extended_name
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.this import lambdas_around
from fledgling.worker.graph.solving.values import BOUND, EXTERNAL, FUNCTION, Value, Values
from fledgling.worker.graph.tables import NONE, Flag


def of_type_asked(solver: Solver, functions: list[Value], node: int) -> list[Value]:
    """Functions, without those that extend other types than the one a call asks, where one of them extends that.

    `fun A.a() = b()` means `fun A.b()`, and no `fun C.b()`.
    """
    types = solver.classes.extensions.types
    extending = {value: extended_name(solver.project, types[value[1]]) for value in functions if value[1] in types}
    if len(extending) < 2:
        return functions
    if exact := [value for value in extending if _is_of_that(solver, value)]:
        return [value for value in functions if value not in extending or value in exact]
    around = _extended_around(solver, solver.project.scope_of_call(node))
    asked = {value: _asked(value, around) for value in extending}
    found = {asked[value] for value, of in extending.items() if of and asked[value] == of}
    return [value for value in functions if asked.get(value) not in found or asked[value] == extending[value]]


def of_another_type(solver: Solver, values: Values, node: int) -> Values:
    """Values, of whose functions without an object none is certain that extends a type outside other than `this` is."""
    types = solver.classes.extensions.types
    extending = [value for value in values if value[0] == FUNCTION and value[1] in types]
    extending = [value for value in extending if not solver.project.scope(value[1]).flags & Flag.RECEIVES]
    around = _extended_around(solver, solver.project.scope_of_call(node)) if extending else None
    others = [value for value in extending if extended_name(solver.project, types[value[1]]) != around]
    return {**values, **{value: min(values[value], Reason.EXTENSION) for value in others}} if others else values


def full_names(solver: Solver, function: int) -> set[str]:
    """The full names of the type outside that a function extends, if it does: `import a.B as C` is a.B."""
    type_ = solver.classes.extensions.types.get(function)
    return set() if type_ is None else {value[1] for value in solver.value(type_) if value[0] == EXTERNAL}


def _is_of_that(solver: Solver, value: Value) -> bool:
    """Whether a function is asked of an object of the very type that it extends."""
    if value[0] != BOUND or value[2][0] != EXTERNAL or not value[2][1].endswith("#"):
        return False
    return value[2][1].removesuffix("#") in full_names(solver, value[1])


def _asked(value: Value, around: str | None) -> str | None:
    """The last name of the type that a function is asked of, where that is outside; without an object, `this`."""
    if value[0] != BOUND:
        return around
    kind, of = value[2][:2]
    return of.removesuffix("#").rpartition(".")[2] if kind == EXTERNAL else None


def _extended_around(solver: Solver, scope: int) -> str | None:
    """The last name of the type outside that the function around a scope extends; None where `this` may be another."""
    types = solver.classes.extensions.types
    if scope == NONE or lambdas_around(solver.project, scope):
        return None
    while scope >= 0 and scope not in types:
        scope = solver.project.outer(scope)
    if scope < 0 or solver.project.scope(scope).flags & Flag.RECEIVES:
        return None
    return extended_name(solver.project, types[scope])
