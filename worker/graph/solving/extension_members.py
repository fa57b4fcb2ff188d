"""The members that functions of the project give to types outside, and to any type."""

from fledgling.worker.graph.linking.extensions import ARRAY
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.bound_members import returned
from fledgling.worker.graph.solving.outside_types import is_under, known_type
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import Flag
from fledgling.worker.graph.values import (
    BOUND,
    CLASS,
    CONSTANT,
    CONTAINER,
    FUNCTION,
    GENERATOR,
    MANY,
    OBJECT,
    Value,
    Values,
    add,
    capped,
)

MAX_OF_ANY = 3  # functions that any type may have, `impl<T> A for T`, which are likely; of more, each is possible
MAX_EXTENDING = 256  # functions of one name that extend types outside, each of which is asked for each value


def of_any(solver: Solver, value: Value, name: int, sure: int) -> Values:
    """The functions that any type may have; on what is outside or has a base there, they are no more than possible."""
    extensions = solver.classes.extensions
    functions = extensions.of_any.get(name, ())
    if len(functions) > MAX_EXTENDING:
        return {MANY: Reason.NAME_ONLY}
    if functions and value[0] != CLASS and not extensions.of_classes.isdisjoint(functions):
        functions = [at for at in functions if at not in extensions.of_classes]
    if not functions or value[0] not in (CLASS, OBJECT):
        return {(BOUND, at, value): int(Reason.NAME_ONLY) for at in functions}
    is_open = value[1] in solver.classes.has_external_base or len(functions) > MAX_OF_ANY
    reopens = solver.project.unit(functions[0]).dialect.bare_calls
    sure = min(sure, Reason.EXTENSION if reopens else Reason.NAME_ONLY if is_open else Reason.INTERFACE)
    return {(FUNCTION, at) if value[0] == CLASS else (BOUND, at, value): sure for at in functions}


def of_outside(solver: Solver, value: Value, name: int) -> Values:
    """The functions of the project that extend a type outside, where a value is of that type or of one not known."""
    every, extending = solver.classes.extensions.of_any.get(name, ()), solver.classes.extensions.by_name.get(name, ())
    if not every and not extending:
        return {}
    if len(every) + len(extending) > MAX_EXTENDING:
        return {MANY: Reason.NAME_ONLY}
    is_common = any(solver.project.text(name) in solver.project.unit(at).dialect.common for at in every[:1])
    found: Values = {} if is_common else of_any(solver, value, name, Reason.NAME_ONLY)
    for of, function in extending:
        dialect = solver.project.unit(function).dialect
        type_ = known_type(solver, dialect, value)
        is_of_any = solver.project.numbers.get(of) in solver.project.table(function)  # fun <T> T.f()
        if type_ and not is_of_any and is_under(dialect, type_, of) is False:
            continue
        found[BOUND, function, value] = _how_sure(solver, value, name, of, function, is_of_any=is_of_any)
    found = {at: sure for at, sure in found.items() if sure}
    for held, sure in [*found.items()]:
        if held[0] == BOUND and solver.project.scope(held[1]).flags & Flag.PROPERTY:  # what it gives, too
            add(found, capped(returned(solver, held[1], value), sure))
    return found


def _how_sure(solver: Solver, value: Value, name: int, of: str, function: int, *, is_of_any: bool) -> int:
    """How sure a function that extends a type of a name outside is a member of a value; 0 if it is none."""
    dialect = solver.project.unit(function).dialect
    if value[0] == CONSTANT:
        if of in (dialect.texts if value[1] == "text" else dialect.numbers) or of in dialect.of_all:
            return Reason.EXTENSION
        is_like = value[1] == "text" and of in dialect.like_texts
        return Reason.NAME_ONLY if dialect.crates or is_of_any or is_like else 0
    if value[0] in (CONTAINER, GENERATOR):
        is_that = of == known_type(solver, dialect, value) != ""
        is_likely = is_that or (of in (ARRAY, *dialect.types) and solver.project.text(name) not in dialect.common)
        if dialect.is_plain(dialect.type_aliases.get(of, of)):
            return 0
        return Reason.EXTENSION if is_likely else Reason.NAME_ONLY
    is_object = value[1].endswith("#") or not solver.project.scope(function).flags & Flag.RECEIVES  # String::words
    is_that = is_object and value[1].removesuffix("#").rpartition(".")[2] == of
    return Reason.EXTENSION if is_that else Reason.NAME_ONLY


def perhaps(solver: Solver, value: Value, name: int) -> Values:
    """The functions that extend types outside, for a value that may be of one of those: its base is not seen."""
    extending = solver.classes.extensions.by_name.get(name, ())
    if len(extending) > MAX_EXTENDING:
        return {MANY: Reason.NAME_ONLY}
    return {(BOUND, at, value): Reason.NAME_ONLY for _, at in extending}
