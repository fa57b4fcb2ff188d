"""How well a function takes the arguments of a call: by their number, names and types."""

from typing import NamedTuple

from fledgling.worker.graph.linking.project import MAX_DECLARED
from fledgling.worker.graph.solving.arguments import MadeCall, is_block, takes_receiver
from fledgling.worker.graph.solving.overloading.argument_types import fits, is_declared, must_be_small
from fledgling.worker.graph.solving.overloading.arrays import takes_whole
from fledgling.worker.graph.solving.overloading.library_types import NO, PERHAPS
from fledgling.worker.graph.solving.overrides import alike, parameter_types
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Flag, Op, Parameter
from fledgling.worker.graph.values import BOUND, Value


class Fit(NamedTuple):
    """How well a function takes the arguments of a call."""

    of: Value
    takes: bool  # as many as there are
    against: int = 0  # arguments of types that do not fit
    score: int = 0
    in_order: bool = True  # each argument goes to a parameter whose type it has to be of
    each: tuple[int, ...] = ()  # how well it takes each of them
    is_open: bool = False  # a parameter that takes several takes any number of them
    spared: int = 0  # less where parameters get nothing, or one takes all further ones: of those that fit equally well

    @property
    def worth(self) -> tuple[bool, int, int]:
        """What is more for the function that fits better."""
        return self.takes, -self.against, self.score


def taken(solver: Solver, value: Value, made: MadeCall) -> Fit:
    """How well the parameters of a function take the arguments of a call."""
    function, parameters, arguments = value[1], parameters_of(solver, value), made.arguments
    last = rest = len(parameters)
    needed = -len(_given_elsewhere(solver, function))
    for place, parameter in enumerate(parameters):
        if parameter.rest == 1 and rest == last:
            rest = place
        needed += parameter.default == NONE and not parameter.rest
    has_rest = rest < last
    count = len(arguments)
    is_another = not _takes_types(solver, function, made) or not _takes_words(solver, function, made)
    if is_another or needed > count + len(made.words) or not (has_rest or count + len(made.words) <= last):
        return Fit(value, takes=False)
    given = ((parameters[min(at, rest)], *argument) for at, argument in enumerate(arguments))
    each = [fits(solver, function, parameter, cell, is_spread=is_spread) for parameter, cell, is_spread in given]
    is_behind = made.words or count < last or rest + 1 < last
    if each and is_behind and is_block(solver, arguments[-1][0]):  # a lambda behind a call is the last one
        behind = fits(solver, function, parameters[-1], arguments[-1][0], is_spread=False)
        each[-1] = behind if behind != PERHAPS else max(each[-1], PERHAPS)
    dialect = solver.project.unit(function).dialect
    left = 0 if made.words or dialect.declared else count - last  # C++ counts none, and by name is not compared
    against = each.count(NO)
    is_last = has_rest and rest + 1 == last == count and not made.words
    is_array = is_last and (arguments[-1][1] or not dialect.spreads_arrays)
    is_whole = is_array and takes_whole(solver, function, parameters[rest], arguments[-1][0]) > NO
    is_open = has_rest and not is_whole
    takes_any = is_open and parameters[rest].name == NONE and parameters[rest].type == NONE  # `...` of C
    asked_last = dialect.rest_is_last and is_open and count > rest  # what goes before it does so in any case
    spared = 0 if asked_last else -1 if is_open and not takes_any else left
    score = sum(each) - against * NO
    in_order = not (is_open or made.words)
    if dialect.selects == "nearest":
        in_order = not made.words and (not has_rest or rest + 1 == last <= count)
    else:
        score, spared = score + spared, 0
    return Fit(value, True, against, score, in_order, tuple(each), is_open, spared)


def _given_elsewhere(solver: Solver, function: int) -> set[int]:
    """The parameters of a function of which a declaration in C++ says what they are where nothing is given."""
    row, unit = solver.project.scope(function), solver.project.unit(function)
    if not unit.dialect.declared or row.name == NONE or row.flags & Flag.DECLARATION:
        return set()
    owner = solver.classes.owner(function)
    key = (NONE if owner is None else owner, unit.names[row.name], len(row.parameters))
    said = solver.project.defaulted.get(key, ())[:MAX_DECLARED]
    own = parameter_types(solver, function) if said else ()
    places = (enumerate(solver.project.scope(at).parameters) for at in said if alike(parameter_types(solver, at), own))
    return {at for each in places for at, parameter in each if parameter.default != NONE}


def is_told(solver: Solver, fit: Fit, made: MadeCall) -> bool:
    """Whether the types of all arguments are known that a function takes, or it takes another number of them."""
    if not fit.takes:
        return True
    return (
        fit.in_order
        and all(how > PERHAPS for how in fit.each)
        and all(is_declared(solver, fit.of[1], cell) for cell, _ in made.arguments)
    )


def is_sure(solver: Solver, fit: Fit, made: MadeCall) -> bool:
    """Whether these are known, and no number has to be small enough."""
    if not fit.takes or not is_told(solver, fit, made):
        return not fit.takes
    arguments = zip(parameters_of(solver, fit.of), made.arguments, strict=False)
    return not any(must_be_small(solver, fit.of[1], parameter, cell) for parameter, (cell, _) in arguments)


def parameters_of(solver: Solver, value: Value) -> list[Parameter]:
    """The parameters of a function that the arguments of a call go to."""
    parameters = solver.project.scope(value[1]).parameters
    return parameters[1:] if value[0] == BOUND and takes_receiver(solver, value[1]) else parameters


def _takes_types(solver: Solver, function: int, made: MadeCall) -> bool:
    """Whether a function takes as many types as a call gives it, `f<A>()`, or can do without; of C++, takes any."""
    unit, row = solver.project.unit(function), solver.project.scope(function)
    op, *parts = solver.project.expression(made.node)
    if unit.dialect.converts and op == Op.CALL and len(parts) > 3:
        return bool(row.flags & Flag.TEMPLATED)
    if not unit.dialect.types_apart or op != Op.CALL:
        return True
    if len(parts) < 4:
        return not row.flags & Flag.TYPES_NEEDED
    _, _, types = solver.project.expression(solver.child(made.node, parts[3]))
    key, *some = solver.project.expression(solver.child(made.node, types))
    return row.generic == (len(some[0]) if key == Op.TUPLE else 1)


def _takes_words(solver: Solver, function: int, made: MadeCall) -> bool:
    """Whether a function has a parameter of each name that a call gives a value: `f(a: b)`."""
    unit = solver.project.unit(function)
    if not unit.dialect.selects or not made.words:
        return True
    known = {unit.names[each.name] for each in solver.project.scope(function).parameters if each.name != NONE}
    return all(word == NONE or word in known for word, _ in made.words)
