"""Members by a name that is made: `getattr(a, "visit_" + b)` may be any whose name begins so."""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice, takewhile

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.class_members import MAX_UNTYPED
from fledgling.worker.graph.solving.members import member
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import MAX_KEY, NONE, Expression, Op
from fledgling.worker.graph.unit import SHIFT
from fledgling.worker.graph.values import (
    BOUND,
    CLASS,
    CONSTANT,
    FILLED,
    FUNCTION,
    MADE_MEMBERS,
    MANY,
    MODULE,
    OBJECT,
    SOME_MEMBER,
    SUPER,
    Value,
    Values,
    add,
    capped,
)

MAX_NAMES_MADE = 256  # names of the project that begin and end as a made one, each of which is asked for
MAX_NAMES_ASKED = 20_000  # look-ups of such names in a project, for all classes together
LEAST_ENDS = 2  # characters of them: a single one says too little
MAX_ENDS = 8  # texts that a made name may begin with, or end in
CHANGING = {"lower": str.lower, "upper": str.upper, "casefold": str.lower}
ASKED = (OBJECT, CLASS, MODULE, SUPER)
HAVING = (OBJECT, CLASS, MODULE)


def filled(solver: Solver, node: int, expression: Expression) -> Values:
    """FILLED: a text by its ends; where overloads are told apart, it is also a text, of which nothing is known."""
    unit = solver.project.unit(node)
    found: Values = {(FILLED, unit.facts.names[expression[1]], unit.facts.names[expression[2]]): Reason.BOUND}
    if unit.dialect.overloads:
        found[CONSTANT, "text", solver.project.number("")] = Reason.BOUND
    return found


def added(solver: Solver, ways: list[int]) -> Values:
    """What `a + b` is of texts: where both are known one, else one of which an end is."""
    firsts, lasts = ([*_texts(solver, solver.value(way))] for way in ways)
    firsts, lasts = (texts if len(texts) <= MAX_ENDS else [] for texts in (firsts, lasts))
    found: Values = {}
    for first in firsts or ([("", "", False)] if lasts else []):
        for last in lasts or [("", "", False)]:
            if first[2] and last[2] and len(first[0] + last[0]) <= MAX_KEY:
                found[CONSTANT, "text", solver.project.number(first[0] + last[0])] = Reason.SEVERAL
            elif first[0] or last[1]:  # of a sum that is too long, both ends
                found[FILLED, first[0], last[1]] = Reason.BOUND
    return found


def changed(solver: Solver, function: int) -> Values:
    """`("visit_" + a).lower()`: a text by its ends, where a method of Python has changed that."""
    op, *parts = solver.project.expression(function)
    method = solver.project.unit(function).facts.names[parts[1]] if op == Op.GET else ""
    change = CHANGING.get(method)
    texts = solver.value(solver.child(function, parts[0])).items() if change else ()
    return {(FILLED, change(of[1]), change(of[2])): sure for of, sure in texts if change and of[0] == FILLED}


def _texts(solver: Solver, values: Values) -> Iterator[tuple[str, str, bool]]:
    """Yield how the texts among some values begin and end, and whether that is all of them."""
    for value in values:
        if value[:2] == (CONSTANT, "text"):
            text = solver.project.text(value[2])
            yield text, text, True
        elif value[0] == FILLED:
            yield value[1], value[2], False


def made_members(solver: Solver, node: int, values: Values, names: Values) -> Values:
    """The functions that some values have by names of which only the ends are known, which a call asks for.

    By a name of which nothing is known it may be any: whatever calls that is noted.
    """
    texts = [solver.project.text(name[2]) for name in names if name[:2] == (CONSTANT, "text")]
    if not texts and not any(name[0] == FILLED for name in names):
        return _some_members(values, "", "")
    is_known = bool(values) and all(value[0] in ASKED for value in values)
    for text in texts:
        _note(solver, node, (text, text), is_told=is_known or not text or text not in solver.project.numbers)
    found: Values = {}
    for name in [name for name in names if name[0] == FILLED]:
        if len(name[1]) + len(name[2]) < LEAST_ENDS:
            add(found, _some_members(values, *name[1:]))
            continue
        held: Values = {}
        for value in [value for value in values if value[0] in ASKED]:
            add(held, solver.value(("made member", value, *name[1:])))
        add(found, held)
        is_all = bool(held) and not any(value[0] in (MANY[0], MADE_MEMBERS) for value in held)
        is_sure = is_all and min(held.values()) >= Reason.MADE_NAME
        _note(solver, node, name[1:], is_told=is_known and is_sure)
    return found


def _note(solver: Solver, node: int, ends: tuple[str, str], *, is_told: bool) -> None:
    """Note that a name with such ends, twice all of it where that is known, may mean what no row tells, or does not."""
    if not is_told:
        solver.made_names.setdefault(node, set()).add((*ends, NONE))
    elif node in solver.made_names:
        solver.made_names[node].discard((*ends, NONE))


def _some_members(values: Values, begin: str, end: str) -> Values:
    scopes = [value[1] << SHIFT if value[0] == MODULE else value[1] for value in values if value[0] in HAVING]
    return {(SOME_MEMBER, of, begin, end): Reason.FLOW for of in scopes}


def note_called(solver: Solver, node: int, values: Values) -> None:
    """Note where some member of a class is called, by a name of which nothing is known, or a single letter."""
    for value in values:
        if value[0] == SOME_MEMBER:
            solver.made_names.setdefault(node, set()).add((*value[2:], value[1]))


def made_member_cell(solver: Solver, cell: tuple[str, Value, str, str]) -> Values:
    """("made member", value, beginning, end)"""
    _, value, begin, end = cell
    names = [*islice(_named_so(solver, begin, end), MAX_NAMES_MADE + 1)]
    solver.names_asked += len(names)
    if len(names) > MAX_NAMES_MADE or solver.names_asked > MAX_NAMES_ASKED:
        return {MANY: Reason.MADE_NAME}
    found: Values = {}
    for name in names:
        held = member(solver, value, name, Reason.BOUND)
        add(found, {at: sure for at, sure in held.items() if at[0] in (FUNCTION, BOUND, CLASS)})
    found = capped(found, Reason.MADE_NAME)
    if len(found) <= MAX_UNTYPED:
        return found
    solver.made_members[value, begin, end] = {at[1]: sure for at, sure in found.items()}
    return {(MADE_MEMBERS, value, begin, end): Reason.MADE_NAME}


def _named_so(solver: Solver, begin: str, end: str) -> Iterator[int]:
    """Yield the names of definitions that begin and end so, and have more in between."""
    by_end = len(end) > len(begin)
    ordered = solver.project.vocabulary.names_from_behind if by_end else solver.project.vocabulary.names_in_order
    first = end[::-1] if by_end else begin
    for text in takewhile(lambda text: text.startswith(first), islice(ordered, bisect_left(ordered, first), None)):
        name = text[::-1] if by_end else text
        if len(name) > len(begin) + len(end) and name.startswith(begin) and name.endswith(end):
            yield solver.project.numbers[name]
