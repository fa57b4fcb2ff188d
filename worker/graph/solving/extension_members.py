"""The members that functions of the project give to types outside, and to any type."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.extensions import ARRAY
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.values import (
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
)
from fledgling.worker.graph.tables import Flag

MAX_OF_ANY = 3  # functions that any type may have, `impl<T> A for T`, which are likely; of more, each is possible
MAX_EXTENDING = 256  # functions of one name that extend types outside, each of which is asked for each value


def of_any(solver: Solver, value: Value, name: int, sure: int) -> Values:
    """The functions that any type may have; on what is outside or has a base there, they are no more than possible."""
    functions = solver.classes.extensions.of_any.get(name, ())
    if not functions or value[0] not in (CLASS, OBJECT):
        return {(BOUND, at, value): int(Reason.NAME_ONLY) for at in functions}
    is_open = value[1] in solver.classes.has_external_base or len(functions) > MAX_OF_ANY
    sure = min(sure, Reason.NAME_ONLY if is_open else Reason.INTERFACE)
    return {(FUNCTION, at) if value[0] == CLASS else (BOUND, at, value): sure for at in functions}


def of_outside(solver: Solver, value: Value, name: int) -> Values:
    """The functions of the project that extend a type outside, where a value is of that type or of one not known."""
    every, extending = solver.classes.extensions.of_any.get(name, []), solver.classes.extensions.by_name.get(name, [])
    if len(every) + len(extending) > MAX_EXTENDING:
        return {MANY: Reason.NAME_ONLY}
    is_common = any(solver.project.text(name) in solver.project.unit(at).dialect.common for at in every[:1])
    found: Values = {} if is_common else of_any(solver, value, name, Reason.NAME_ONLY)
    for of, function in extending:
        if value[0] == CONSTANT:
            dialect = solver.project.unit(function).dialect
            if of in (dialect.texts if value[1] == "text" else dialect.numbers) or of in dialect.of_all:
                found[BOUND, function, value] = Reason.EXTENSION
            elif dialect.crates or solver.project.numbers.get(of) in solver.project.table(function):  # fun <T> T.f()
                found[BOUND, function, value] = Reason.NAME_ONLY
            continue
        if value[0] in (CONTAINER, GENERATOR):  # of which type is not known
            dialect = solver.project.unit(function).dialect
            is_likely = of in (ARRAY, *dialect.types) and solver.project.text(name) not in dialect.common
            if not dialect.is_plain(dialect.type_aliases.get(of, of)):
                found[BOUND, function, value] = Reason.EXTENSION if is_likely else Reason.NAME_ONLY
            continue
        is_object = value[1].endswith("#") or not solver.project.scope(function).flags & Flag.RECEIVES  # String::words
        is_that = is_object and value[1].removesuffix("#").rpartition(".")[2] == of
        found[BOUND, function, value] = Reason.EXTENSION if is_that else Reason.NAME_ONLY
    return found


def perhaps(solver: Solver, value: Value, name: int) -> Values:
    """The functions that extend types outside, for a value that may be of one of those: its base is not seen."""
    extending = solver.classes.extensions.by_name.get(name, ())
    if len(extending) > MAX_EXTENDING:
        return {MANY: Reason.NAME_ONLY}
    return {(BOUND, at, value): Reason.NAME_ONLY for _, at in extending}
