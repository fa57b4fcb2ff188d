"""Which of several functions that extend types outside a call means, by the type that it asks."""

from fledgling.worker.dialect import Dialect
from fledgling.worker.graph.linking.extensions import extended_name
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.outside_types import is_under, known_type
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.this import lambdas_around
from fledgling.worker.graph.tables import NONE, Flag, Op, ScopeKind
from fledgling.worker.graph.values import BOUND, EXTERNAL, FUNCTION, Value, Values


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
    dialect = solver.project.unit(node).dialect
    asked = {value: _asked(solver, dialect, value, around) for value in extending}
    out = {value for value, of in extending.items() if _is_of_other(solver, dialect, value, asked[value], of)}
    out = out if len(out) < len(functions) else set()
    found = {asked[value] for value, of in extending.items() if of and asked[value] == of}
    meant = [
        value
        for value in functions
        if value not in out and (asked.get(value) not in found or asked[value] == extending[value])
    ]
    library = dialect.library
    above = {up for value in meant if library and asked.get(value) for up in library.above(extending[value])}
    return [value for value in meant if not asked.get(value) or extending[value] not in above]


def of_another_type(solver: Solver, values: Values, node: int) -> Values:
    """Values, of whose functions without an object none is certain that extends a type outside other than `this` is.

    One is no more than possible if it is known that `this` is of no such type, or of no such class.
    """
    types = solver.classes.extensions.types
    without = {
        value: min(sure, Reason.NAME_ONLY) for value, sure in values.items() if lacks_object(solver, value, node)
    }
    values = {**values, **without} if without else values
    extending = [value for value in values if value[0] == FUNCTION and value[1] in types]
    extending = [value for value in extending if not solver.project.scope(value[1]).flags & Flag.RECEIVES]
    around = _extended_around(solver, solver.project.scope_of_call(node)) if extending else None
    others = {value: of for value in extending if (of := extended_name(solver.project, types[value[1]])) != around}
    if not others:
        return values
    dialect = solver.project.unit(node).dialect
    return {
        **values,
        **{
            value: min(
                values[value],
                Reason.NAME_ONLY if _is_of_other(solver, dialect, value, around, of) else Reason.EXTENSION,
            )
            for value, of in others.items()
        },
    }


def lacks_object(solver: Solver, value: Value, node: int) -> bool:
    """Whether a call of a function alone stands where `this` is known to be of no class that the function extends."""
    of = solver.classes.extensions.extended(value[1]) if value[0] == FUNCTION else None
    if of is None or not solver.project.unit(node).dialect.implicit_parameter:
        return False
    op, *parts = solver.project.expression(node)
    scope = (
        solver.project.scope_of_call(node)
        if op == Op.CALL and solver.op(solver.child(node, parts[0])) == Op.BARE
        else NONE
    )
    if scope == NONE or lambdas_around(solver.project, scope) or not is_in_function(solver, scope):
        return False
    while (around := solver.classes.around(scope)) is not None:
        if of in solver.classes.order(around) or around in solver.classes.has_external_base:
            return False
        scope = solver.project.outer(scope)
    return True


def is_in_function(solver: Solver, scope: int) -> bool:
    """Whether a function or lambda is around; what `val A.b get() = c()` extends is not seen."""
    while scope >= 0 and solver.project.scope(scope).kind == ScopeKind.BLOCK:
        scope = solver.project.outer(scope)
    return scope >= 0 and solver.project.scope(scope).kind in (ScopeKind.FUNCTION, ScopeKind.LAMBDA)


def _is_of_other(solver: Solver, dialect: Dialect, value: Value, asked: str | None, of: str) -> bool:
    """Whether a function extends a type of a name of which what is asked is known not to be."""
    if not asked or solver.project.numbers.get(of) in solver.project.table(value[1]):
        return False
    return is_under(dialect, asked, of) is False


def full_names(solver: Solver, function: int) -> set[str]:
    """The full names of the type outside that a function extends, if it does: `import a.B as C` is a.B."""
    type_ = solver.classes.extensions.types.get(function)
    return set() if type_ is None else {value[1] for value in solver.value(type_) if value[0] == EXTERNAL}


def _is_of_that(solver: Solver, value: Value) -> bool:
    """Whether a function is asked of an object of the very type that it extends."""
    if value[0] != BOUND or value[2][0] != EXTERNAL or not value[2][1].endswith("#"):
        return False
    return value[2][1].removesuffix("#") in full_names(solver, value[1])


def _asked(solver: Solver, dialect: Dialect, value: Value, around: str | None) -> str | None:
    """The last name of the type that a function is asked of, where that is outside; without an object, `this`."""
    if value[0] != BOUND:
        return around
    kind, of = value[2][:2]
    return of.removesuffix("#").rpartition(".")[2] if kind == EXTERNAL else known_type(solver, dialect, value[2])


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
