"""What an occurrence of a name asks, and of what: `a.b` of the objects that a may be."""

from msgspec.structs import replace

from fledgling.worker.graph.solving.lookup import bare_places
from fledgling.worker.graph.solving.names import no_member, not_callable
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import CLASSES, NONE, Op, Site, Use
from fledgling.worker.graph.unit import MASK, Unit
from fledgling.worker.graph.values import Value, Values

EITHER = {Op.CASE: no_member, Op.CALLED: not_callable}  # mean their first part, or the second
LITERALS = (Op.DECLARED, Op.ELEMENT, Op.PAYLOAD)  # what keys of an object are asked of that is of a known type
STANDING = (Op.UNSURE, Op.ANNOTATION, *EITHER)  # for a part of them


def behind_call(solver: Solver, node: int) -> int:
    """The callee of a call, and what stands behind what was put there before."""
    expression = solver.project.expression(node)
    if expression[0] == Op.IN_MACRO:
        node = (node & ~MASK) | expression[1]
        expression = solver.project.expression(node)
    if expression[0] in (Op.CALL, Op.NEW):
        node = (node & ~MASK) | expression[1]
        expression = solver.project.expression(node)
    while expression[0] in STANDING or (expression[0] == Op.REACH and expression[2] != NONE):
        is_first = expression[0] in EITHER and not EITHER[expression[0]](solver, node, expression)
        node = (node & ~MASK) | expression[1 if is_first else -1]
        expression = solver.project.expression(node)
    return node


def outside_macro(unit: Unit, site: Site) -> Site:
    """An occurrence in what a macro gets, as if it stood anywhere else."""
    return replace(site, at=unit.expressions[site.at][1])


def receivers_of(solver: Solver, node: int) -> list[Value | None]:
    """The objects that a name is asked of."""
    expression = solver.project.expression(node)
    if expression[0] == Op.GET:
        return [*solver.value((node & ~MASK) | expression[1])]
    if expression[0] == Op.BARE:
        return [receiver for _, _, receiver in bare_places(solver, node, expression)]
    return []


def key_of(unit: Unit, site: Site) -> int:
    """The expression of the key of an object that is written out, which may be an argument of a macro."""
    return outside_macro(unit, site).at if unit.expressions[site.at][0] == Op.IN_MACRO else site.at


def written_as(solver: Solver, unit: Unit, site: Site) -> Values:
    """What an object may be that is written out, of which an occurrence is a key: `A{b: c}`."""
    at = key_of(unit, site)
    if unit.expressions[at][0] not in LITERALS:
        return solver.written_as.get(unit.base | at, {})
    op, *parts = unit.expressions[at]
    return solver.value(unit.base | (parts[1] if op == Op.PAYLOAD else at))


def is_of(solver: Solver, node: int, kinds: tuple[str, ...]) -> bool:
    """Whether an expression may be a value of some kinds."""
    return any(value[0] in kinds for value in solver.value(node))


def is_constant(solver: Solver, unit: Unit, site: Site) -> bool:
    """Whether a name is only read, where such a name is that of a constant, of a field or of a class."""
    if not unit.dialect.functions_apart or site.use not in (Use.READ, Use.WRITE):
        return False
    op = solver.project.expression(unit.base | site.at)[0]
    in_class = unit.facts.scopes[site.scope].kind in CLASSES
    is_of_trait = in_class and unit.dialect.in_any_case  # `use A { b as c; }` in PHP names methods
    return bool(op == Op.BARE or (op == Op.GET and not is_of_trait))
