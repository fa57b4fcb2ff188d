"""What `using namespace a;` lets a name of C++ mean, and what a namespace has too far down for it."""

from collections.abc import Sequence
from itertools import takewhile

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.standing_apart import BarePlace
from fledgling.worker.graph.solving.taken_names import all_of
from fledgling.worker.graph.tables import Expression, NameScope, Op
from fledgling.worker.graph.unit import Unit
from fledgling.worker.graph.values import Cell

UNSEEN = (Reason.UNDECLARED, Reason.NAME_ONLY)  # of what a file does not include


def of_directives(solver: Solver, taking: Sequence[int], scope: int, own: int) -> list[BarePlace]:
    """What some scopes within a namespace take from others that is there as if it stood in that, or further in.

    That is the innermost one around both what takes it and what has it.
    """
    outer = _space_of(solver, solver.project.outer(scope))
    found: dict[BarePlace, None] = {}
    for at in taking:
        space = _space_of(solver, at) or ""
        for place in all_of(solver, solver.project.unit(at), at, own):
            has = solver.spaces.paths.get(place[0][1], "") if place[0][0] == "name" else ""
            if outer is None or not _is_within(outer, _around_both(space, has)):
                found[place] = None
    return [*found]


def competing(solver: Solver, held: list[BarePlace], taken: list[BarePlace]) -> list[BarePlace]:
    """What a namespace has, and what it takes from others: functions compete, and of what is none there is but one."""
    both = [*dict.fromkeys([*held, *taken])]
    if any(sure not in UNSEEN for _, sure, _ in both):
        both = [place for place in both if place[1] not in UNSEEN]
    given = set[int]().union(*(_given(solver, cell) for cell, _, _ in both))
    if given <= {Op.FUNCTION, Op.ALIAS}:
        return both
    if Op.FUNCTION in given:
        return [(cell, min(sure, Reason.SEVERAL), receiver) for cell, sure, receiver in both]
    return [place for place in both if place in held] or both


def or_later(found: list[BarePlace], later: list[BarePlace]) -> list[BarePlace]:
    """What stands around a namespace, or what that has further down, which a macro may have said before."""
    return [(cell, min(sure, Reason.SEVERAL), receiver) for cell, sure, receiver in dict.fromkeys([*found, *later])]


def _given(solver: Solver, cell: Cell) -> frozenset[int]:
    """What a namespace has for a name, as operations."""
    return solver.spaces.says(cell[1], cell[2])[1] if cell[0] == "name" else frozenset()


def stands_later(
    solver: Solver, unit: Unit, scope: int, expression: Expression, held: list[BarePlace], below: NameScope
) -> bool:
    """Whether a namespace says all that it has of a name further down than where one stands, which means one around."""
    if not solver.spaces.paths[scope]:
        return False
    own = unit.names[expression[1]]
    for cell, _, _ in held:
        if cell[0] != "name" or solver.project.unit(cell[1]) is not unit or cell[1] not in solver.spaces.paths:
            return False
    spaces = {solver.spaces.paths[cell[1]] for cell, _, _ in held}
    return not any(solver.spaces.is_said(unit, space, own, expression[1], below.line) for space in spaces)


def _space_of(solver: Solver, scope: int) -> str | None:
    """The path of the namespace that a scope is, or stands in; None outside of all."""
    while scope >= 0 and scope not in solver.spaces.paths:
        scope = solver.project.outer(scope)
    return solver.spaces.paths[scope] if scope >= 0 else None


def _around_both(first: str, second: str) -> str:
    """The path of the innermost namespace around two.

    >>> _around_both("a.b.c", "a.b.d"), _around_both("a", "a.b"), _around_both("a", "ab")
    ('a.b', 'a', '')
    """
    pairs = zip(first.split("."), second.split("."), strict=False)
    return ".".join(name for name, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _is_within(space: str, outer: str) -> bool:
    """Whether a namespace is another one or stands in it."""
    return not outer or space == outer or space.startswith(f"{outer}.")
