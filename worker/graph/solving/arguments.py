"""How the arguments of a call get to the parameters of a function, and back from it."""

from typing import NamedTuple

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.declared_beside import objects_in
from fledgling.worker.graph.solving.expected import hand_expected
from fledgling.worker.graph.solving.inferred_types import called_with
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import BLOCK, NONE, Flag, Op
from fledgling.worker.graph.values import CONTAINER, EXTERNAL, GIVEN, Cell, Value, Values, add


class MadeCall(NamedTuple):
    """A call: the number of its expression, cells of arguments (with whether each is spread), cells by name."""

    node: int
    arguments: list[tuple[Cell, bool]]
    words: list[tuple[int, Cell]]  # -1: all of a dictionary


def takes_receiver(solver: Solver, function: int) -> bool:
    """Whether the first parameter of a function is the object that it is called on."""
    flags = solver.project.scope(function).flags
    return solver.project.unit(function).dialect.receiver_parameter or bool(flags & Flag.RECEIVES)


def hand_over(solver: Solver, function: int, made: MadeCall, receiver: Value | None, most: int = Reason.FLOW) -> None:
    """Let the parameters of a function take the arguments of a call, none surer than the call allows."""
    row = solver.project.scope(function)
    skip = 1 if receiver is not None and takes_receiver(solver, function) else 0
    block = block_place(solver, function, made)
    types = called_with(solver, function, made.node, made.arguments, receiver)
    for at, (cell, spread) in enumerate(made.arguments, skip):
        if row.parameters and not spread:
            is_behind = block != NONE and at - skip == len(made.arguments) - 1
            hand_expected(solver, function, block if is_behind else at, cell, types)
    if not solver.budget.follows_arguments:
        return
    if skip and solver.classes.owner(function) is None:  # what a decorator has put in the place of a method
        solver.source(("parameter", function, 0), ("just", receiver), most)
    if made.arguments:
        plain = [place for place, given in enumerate(row.parameters) if not given.rest and not given.by_name]
        has_rest = any(given.rest == 1 for given in row.parameters)
        in_order = made if block == NONE else made._replace(arguments=made.arguments[:-1])
        _hand_over_in_order(solver, function, in_order, skip, plain, most, has_rest=has_rest)
        if block != NONE:
            solver.source(("parameter", function, block), made.arguments[-1][0], most)
    if made.words:
        _hand_over_by_name(solver, function, made, most)


def block_place(solver: Solver, function: int, made: MadeCall) -> int:
    """The place of the parameter that gets the last argument, if that is a block: the last one; NONE if it is none.

    In Ruby it is the one for blocks, which also gets `&a`.
    """
    parameters, unit = solver.project.scope(function).parameters, solver.project.unit(function)
    if not parameters or not made.arguments or made.arguments[-1][1]:
        return NONE
    last = len(parameters) - 1
    name = parameters[last].name
    if name != NONE and unit.facts.names[name] == BLOCK:
        is_further = len(made.arguments) > last and not any(each.rest == 1 for each in parameters)
        return last if is_further or is_block(solver, made.arguments[-1][0]) else NONE
    return last if unit.dialect.typed and is_block(solver, made.arguments[-1][0]) else NONE


def is_block(solver: Solver, cell: Cell) -> bool:
    """Whether an argument is a block that stands behind a call: `a { b }`."""
    if type(cell) is not int or solver.op(cell) != Op.FUNCTION:
        return False
    return bool(solver.project.scope(solver.child(cell, solver.project.expression(cell)[1])).flags & Flag.IS_BLOCK)


def _hand_over_by_name(solver: Solver, function: int, made: MadeCall, most: int) -> None:
    """`f(a=b, **c)`"""
    row, names = solver.project.scope(function), solver.project.unit(function).names
    rest_words = next((place for place, given in enumerate(row.parameters) if given.rest == 2), NONE)
    by_name = {
        names[given.name]: place for place, given in enumerate(row.parameters) if given.name != NONE and not given.rest
    }
    for word, cell in made.words:
        if word == NONE:
            _hand_over_words(solver, function, cell, by_name, rest_words, most)
        elif word in by_name:
            solver.source(("parameter", function, by_name[word]), cell, most)
        elif rest_words != NONE:
            solver.key((CONTAINER, ("words", function)), ("text", word), cell, most)


def _hand_over_in_order(
    solver: Solver, function: int, made: MadeCall, skip: int, plain: list[int], most: int, *, has_rest: bool
) -> None:
    """`f(a, *b)`, where `plain` are the places of the parameters that are taken in order."""
    for at, (cell, spread) in enumerate(made.arguments, skip):
        if spread:
            for place in plain[at:]:
                solver.source(("parameter", function, place), ("element at", cell, place - at), most)
            if has_rest:
                solver.key((CONTAINER, ("rest", function)), "*", ("elements of", cell), most)
        elif at < len(plain):
            solver.source(("parameter", function, plain[at]), cell, most)
        elif has_rest:
            solver.key((CONTAINER, ("rest", function)), ("number", at - len(plain)), cell, most)


def _hand_over_words(
    solver: Solver, function: int, cell: Cell, by_name: dict[int, int], rest_words: int, most: int
) -> None:
    """`f(**a)`"""
    for value in list(solver.value(cell)):
        if value[0] != CONTAINER:
            continue
        for key in solver.known_keys(value):
            word = key[1] if isinstance(key, tuple) and key[0] == "text" else None
            if word in by_name:
                solver.source(("parameter", function, by_name[word]), ("element", value, key), most)
            elif rest_words != NONE:
                solver.key((CONTAINER, ("words", function)), key, ("element", value, key), most)


def substituted(solver: Solver, function: int, values: Values, made: MadeCall, receiver: Value | None) -> Values:
    """Put this call's own arguments in the place of those that a function returns."""
    given = [value for value in values if value[0] == GIVEN]
    if not given:
        return values
    found = {value: sure for value, sure in values.items() if value[0] != GIVEN}
    row = solver.project.scope(function)
    names = solver.project.unit(function).names
    skip = 1 if receiver is not None and takes_receiver(solver, function) else 0
    handed: Values = {}
    for value in given:
        if value[1] != function:
            continue
        place, sure = value[2], min(values[value], Reason.RETURNED)
        word = names[row.parameters[place].name]
        by_name = [cell for own, cell in made.words if own == word]
        if by_name:
            add(handed, solver.value(by_name[0]), sure)
        elif place < skip:
            if receiver:
                handed[receiver] = max(handed.get(receiver, 0), sure)
        elif place - skip < len(made.arguments):
            add(handed, solver.value(made.arguments[place - skip][0]), sure)
        elif row.parameters[place].default != NONE:
            add(handed, solver.value(solver.child(function, row.parameters[place].default)), sure)
    if solver.project.unit(function).dialect.converts and any(value[0] == EXTERNAL for value in found):
        handed = objects_in(handed)  # `std::string f(const char *a) { return a; }`
    return add(found, handed)
