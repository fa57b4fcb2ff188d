"""Containers that are written out, `[a, b]`, `{ a: b }`, and what is copied into them."""

from collections.abc import Collection

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.containers import constants
from fledgling.worker.graph.solving.prototypes import becomes_member, exported_objects
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import EXPORT, NONE, Expression, Flag, Op
from fledgling.worker.graph.unit import SHIFT
from fledgling.worker.graph.values import CONTAINER, MODULE, Value, Values

WRITTEN_OUT = (Op.TEXT, Op.NUMBER)
MAX_PLACE = 32  # elements of a list that are told apart


def container(solver: Solver, node: int, expression: Expression) -> Values:
    """LIST, TUPLE: a container of what is written down."""
    value: Value = (CONTAINER, node)
    places_known = expression[0] == Op.TUPLE or expression[2]
    for place, part in enumerate(expression[1]):
        if part < 0:
            places_known = False
            solver.key(value, "*", ("elements of", solver.child(node, ~part)))
        else:
            key = ("number", place) if places_known and place < MAX_PLACE else "*"
            solver.key(value, key, solver.child(node, part))
    return {value: Reason.BOUND}


def dictionary(solver: Solver, node: int, expression: Expression) -> Values:
    """DICT: of what stands before a key that is written out, or surely spread, that key counts no more."""
    value: Value = (CONTAINER, node)
    behind: set[object] = set()
    for key, part in reversed(expression[1]):
        held = solver.child(node, part)
        if key == NONE:
            copied(solver, value, solver.value(held), behind)
            behind |= _written_keys(solver, held)
            continue
        own = solver.child(node, key)
        for known in constants(solver, own):
            if known not in behind or _is_accessor(solver, held):
                solver.key(value, known, held)
            if solver.op(own) in WRITTEN_OUT:
                behind.add(known)
        becomes_member(solver, value, held)
    return {value: Reason.BOUND}


def _written_keys(solver: Solver, node: int) -> set[object]:
    """The keys that an object surely has which is written out, here or where a name gets it: `{ a: b }`."""
    cell, _ = solver.project.meant(node)
    if type(cell) is tuple:
        bindings = solver.project.bindings_of(cell[1], cell[2]) if cell[0] == "name" else []
        cell = solver.project.value_of(bindings[0]) if len(bindings) == 1 else NONE
    if cell == NONE or solver.op(cell) != Op.DICT:
        return set()
    keys = [solver.child(cell, key) for key, _ in solver.project.expression(cell)[1] if key != NONE]
    found = {known for key in keys if solver.op(key) in WRITTEN_OUT for known in constants(solver, key)}
    language, removed = solver.project.unit(cell).language, solver.project.vocabulary.replaced
    return {known for known in found if known[0] != "text" or (language, known[1]) not in removed}


def _is_accessor(solver: Solver, node: int) -> bool:
    """Whether a member is a getter or setter, of which a key may have both."""
    op, *parts = solver.project.expression(node)
    return op == Op.FUNCTION and bool(
        solver.project.scope(solver.child(node, parts[0])).flags & (Flag.PROPERTY | Flag.SETTER)
    )


def copied(solver: Solver, value: Value, values: Values, without: Collection[object] = ()) -> None:
    """Let a container hold all that others hold, but for some keys."""
    for other in list(values):
        if other[0] == CONTAINER and other != value:
            for key in solver.new_keys(other, (value, bool(without))):  # in turn, what is left out grows only
                if key not in without:
                    solver.key(value, key, ("element", other, key))
        elif other[0] == MODULE:  # { ...require("a") }
            _exported(solver, value, other[1], without)


def _exported(solver: Solver, value: Value, module: int, without: Collection[object]) -> None:
    """Let a container hold what a module of JavaScript exports."""
    project, scope = solver.project, module << SHIFT
    for name in project.table(scope):
        if (text := project.text(name)).startswith(EXPORT):
            key = ("text", project.number(text.removeprefix(EXPORT)))
            if key not in without:
                solver.key(value, key, ("name", scope, name))
    objects = {held: Reason.BOUND for held in exported_objects(solver, module) if held[0] == CONTAINER}
    copied(solver, value, objects, without)
