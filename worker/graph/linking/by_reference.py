"""Variables that a call may change: in PHP, what is handed to a parameter that is taken by reference."""

from collections.abc import Iterable, Iterator
from itertools import count

from fledgling.worker.graph.doubts import Variable, doubt_variables, variable_of
from fledgling.worker.graph.tables import NONE, Op, ScopeKind
from fledgling.worker.graph.unit import Unit

NAMED = {Op.NAME: 1, Op.BARE: 1, Op.GET: 2}  # where these have the name of what they mean
CALLING = (Op.CALL, Op.NEW)
NAMELESS = -2  # stands for the name of a function without one, and of a variable that is called
Changing = dict[int, set[int]]  # by the name of a function, the places of parameters; with ~place all from there on


def doubt_changed(units: Iterable[Unit]) -> None:
    """Let variables that calls may change stand for all that they are bound to, and for more.

    Which function a call runs is not known yet: those of its name count, of any class.
    A field without a type is likely anyway, and one with a type keeps to it.
    """
    units = [unit for unit in units if unit.dialect.sigil]
    changing = _changing(units)
    for unit in units:
        _doubt_variables(unit, changing)


def _changing(units: list[Unit]) -> Changing:
    """The functions that change what they are handed, those of the project and of the language."""
    found: Changing = {}
    for unit in units:
        for row in unit.facts.scopes:
            places = {~place if each.rest else place for place, each in enumerate(row.parameters) if each.by_reference}
            if places and row.kind in (ScopeKind.FUNCTION, ScopeKind.LAMBDA):
                found.setdefault(NAMELESS if row.name == NONE else unit.names[row.name], set()).update(places)
    return found


def _doubt_variables(unit: Unit, changing: Changing) -> None:
    """Doubt the variables of a file that are handed over so."""
    expressions, variables = unit.expressions, set[Variable]()
    for argument in _changed(unit, changing):
        expression = expressions[argument]
        if expression[0] == Op.REACH:
            expression = expressions[expression[3]]
        while expression[0] == Op.INDEX:  # f($a["b"]) may make $a another array
            expression = expressions[expression[1]]
        variables.add(variable_of(expression))
    doubt_variables(expressions, variables - {(NONE, NONE)})


def _changed(unit: Unit, changing: Changing) -> Iterator[int]:
    """Yield the arguments of calls that these may change."""
    expressions, changed_outside = unit.expressions, unit.dialect.changes
    makers = [unit.names[at] for at, name in enumerate(unit.facts.names) if name in unit.dialect.constructors]
    for op, *parts in [*expressions]:
        if op not in CALLING:
            continue
        function = expressions[parts[0]]
        local = function[NAMED[function[0]]] if function[0] in NAMED else NONE
        known = [NAMELESS] if local == NONE or function[0] == Op.NAME else [unit.names[local]]
        places = set[int]().union(*(changing.get(name, ()) for name in (makers if op == Op.NEW else known)))
        if op == Op.CALL and local != NONE and (word := unit.facts.names[local].lower()) in changed_outside:
            places.add(changed_outside[word])
        if places:
            first = min((~place for place in places if place < 0), default=len(parts[1]))
            yield from (at for place, at in zip(count(), parts[1]) if at >= 0 and (place in places or place >= first))
            yield from (at for _, at in parts[2] if at >= 0)
