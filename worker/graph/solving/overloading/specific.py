"""Which of several functions that all take the arguments of a call is the most specific: takes the narrowest types."""

from fledgling.worker.dialect import Dialect
from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.overloading.arrays import of_array
from fledgling.worker.graph.solving.overloading.fits import Fit, parameters_of
from fledgling.worker.graph.solving.overloading.library_types import ANYTHING, ARRAY, NO, PERHAPS, YES, widens_to
from fledgling.worker.graph.solving.overloading.wanted import POINTER, POINTING, TO_ANY, Wanted, wanted_of
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Flag
from fledgling.worker.graph.values import CONSTANT, Value

TEXT = (CONSTANT, "text")
MAX_NARROWED = 16  # functions that fit equally well, of which each is compared with the others and with those below


def narrowest(solver: Solver, chosen: list[Value], count: int) -> list[Value]:
    """Of functions that fit equally well those of which no other one takes narrower types."""
    if len(chosen) > MAX_NARROWED:
        return chosen
    dialect = solver.project.unit(chosen[0][1]).dialect
    types = {value: _wanted_types(solver, value, count) for value in chosen}
    found = [
        at
        for at in chosen
        if not any(_are_narrower(solver, dialect, types[by], types[at]) for by in chosen if by != at)
    ]
    return found or chosen


def without_open(solver: Solver, fit: dict[Value, Fit]) -> dict[Value, Fit]:
    """Without what takes any number of arguments where another function surely takes them: Java asks that last."""
    closed = [own for own in fit.values() if own.takes and not own.against and not own.is_open]
    return {
        value: own
        for value, own in fit.items()
        if not own.is_open or not any(_goes_before(solver, other, own) for other in closed)
    }


def _goes_before(solver: Solver, closed: Fit, other: Fit) -> bool:
    """Whether a function surely takes all arguments, or as surely as the other one does."""
    count = len(closed.each)
    wanted = zip(_wanted_types(solver, closed.of, count), _wanted_types(solver, other.of, count), strict=False)
    return all(
        how > PERHAPS or (own[0] in ANYTHING and not own[1]) or own == others
        for how, (own, others) in zip(closed.each, wanted, strict=False)
    )


def may_beat(solver: Solver, fit: dict[Value, Fit], other: Value, chosen: Value, owner: int | None) -> bool:
    """Whether another function may be meant: it takes one argument better, or is of a class nearer to the one asked."""
    dialect = solver.project.unit(chosen[1]).dialect
    if dialect.selects == "nearest" and owner is not None:
        at, above = solver.classes.owner(other[1]), solver.classes.owner(chosen[1])
        is_nearer = at is not None and at != above and above in solver.classes.order(at)
        if is_nearer and not solver.project.scope(other[1]).flags & Flag.OVERRIDES:
            return True
    count = len(fit[chosen].each)
    types = zip(_wanted_types(solver, other, count), _wanted_types(solver, chosen, count), strict=False)
    pairs = zip(fit[other].each, fit[chosen].each, types, strict=False)
    return any(
        theirs > own
        or (theirs == own < YES and _narrows(solver, dialect, *wanted) == YES)
        or (theirs == PERHAPS and own < YES and dialect.converts and wanted[0] != wanted[1])
        or _may_point(*wanted)
        for theirs, own, wanted in pairs
    )


def may_take_value(solver: Solver, fit: dict[Value, Fit], other: Value, chosen: Value) -> bool:
    """Whether one takes a number where another takes what points to one, of C++: what is an `int` may be either."""
    dialect, count = solver.project.unit(chosen[1]).dialect, len(fit[chosen].each)
    types = zip(
        _wanted_types(solver, other, count), _wanted_types(solver, chosen, count), fit[chosen].each, strict=False
    )
    return dialect.declared and any(
        own[-1:] == "*" and own != POINTER and name[-1:] != "*" and not objects and how == YES
        for (name, objects), (own, _), how in types
    )


def may_take_pointer(solver: Solver, other: Value, chosen: Value, made: MadeCall) -> bool:
    """Whether one takes a bool where another makes an object of a text: of C++, which makes a bool of it first."""
    dialect, count = solver.project.unit(chosen[1]).dialect, len(made.arguments)
    types = zip(_wanted_types(solver, other, count), _wanted_types(solver, chosen, count), strict=False)
    return any(
        theirs == "bool"
        and own[-1:] not in ("", "*")
        and (own in dialect.texts or not dialect.is_plain(own))
        and any(value[:2] == TEXT for value in solver.value(cell))
        for ((theirs, _), (own, _)), (cell, _) in zip(types, made.arguments, strict=False)
    )


def _may_point(other: Wanted, chosen: Wanted) -> bool:
    """Whether one takes any pointer, which what another takes may be: nothing is told from what points to it."""
    if other[0] == POINTING:
        return chosen[0][-1:] != "*"
    return other[0] == TO_ANY and not chosen[1] and chosen[0][-1:] != "*"


def _wanted_types(solver: Solver, value: Value, count: int) -> list[Wanted]:
    """The types of the parameters of a function that so many arguments go to."""
    parameters = parameters_of(solver, value)
    parameters = [*parameters[:count], *parameters[-1:] * (count - len(parameters))]  # the last may take several
    types = (NONE if each.type == NONE else solver.child(value[1], each.type) for each in parameters)
    return [("", []) if type_ == NONE else wanted_of(solver, type_) for type_ in types]


def _are_narrower(solver: Solver, dialect: Dialect, own: list[Wanted], others: list[Wanted]) -> bool:
    """Whether some types are those of others, or narrower, and one of them is."""
    how = [_narrows(solver, dialect, *pair) for pair in zip(own, others, strict=False)]
    return len(own) == len(others) and YES in how and NO not in how


def _narrows(solver: Solver, dialect: Dialect, own: Wanted, other: Wanted) -> int:
    """Whether a type is narrower than another one; PERHAPS where they are the same."""
    (name, objects), (wider, others) = own, other
    if name.endswith(ARRAY) != wider.endswith(ARRAY):
        return YES if name.endswith(ARRAY) and wider in ANYTHING and not others else NO
    (name, more), (wider, further) = of_array(name), of_array(wider)
    if more != further:
        return NO
    if objects and others:
        if objects[0][1] == others[0][1]:
            return PERHAPS
        return YES if others[0][1] in solver.classes.order(objects[0][1]) else NO
    if wider in ANYTHING and not others:
        return PERHAPS if name in ANYTHING and not objects else YES
    if name == wider and not objects and not others:
        return PERHAPS
    is_wider = not (objects or others) and (
        widens_to(dialect, name, wider)
        or dialect.boxes.get(name) == wider
        or ((library := dialect.library) is not None and library.is_below(name, wider))
    )
    return YES if is_wider else NO
