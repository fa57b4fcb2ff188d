"""What the name of an argument means: a field of the class that is called, `A(b=1)`, or a parameter."""

from collections.abc import Sequence
from typing import NamedTuple

from fledgling.worker.graph.linking.vocabulary import is_field
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.rows.callees import callees
from fledgling.worker.graph.solving.calls import made_of
from fledgling.worker.graph.solving.outside.calls import handing_on
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Flag, Op, Site
from fledgling.worker.graph.unit import Unit
from fledgling.worker.graph.values import BOUND, CLASS, EXTERNAL, FUNCTION, METHOD_OF, OBJECT, Value, Values

GIVEN_BACK = "first"  # what something outside does that calls, or copies, what it gets first: `partial(A, b=1)`


class Filled(NamedTuple):
    """The classes of which a field gets an argument, and how sure that is; else whether a parameter gets it."""

    fields: dict[int, int]
    is_parameter: bool


NOTHING = Filled({}, is_parameter=False)


def filled_by(solver: Solver, unit: Unit, site: Site) -> Filled:
    """What gets the argument that is named; nothing where it is none."""
    node, most = unit.base | site.at, int(Reason.BOUND)
    op, *parts = solver.project.expression(node)
    if op == Op.IN_MACRO:
        node, most = solver.child(node, parts[0]), int(Reason.MACRO)
    if solver.op(node) not in (Op.CALL, Op.NEW):
        return NOTHING
    fields: dict[int, int] = {}
    word = unit.names[site.name]
    called = _called(solver, node)
    taken = [_filled(solver, value, word, min(sure, most), fields) for value, sure in called.items()]
    return Filled(fields, not fields and bool(taken) and all(taken))


def _called(solver: Solver, node: int) -> Values:
    """What a call calls, or what it is a copy of."""
    found: Values = {}
    for value, sure in callees(solver, node).items():
        if value[0] == METHOD_OF and value[1][0] == OBJECT:  # a.copy(b = 1)
            found[value[1]] = sure
        elif value[0] == EXTERNAL and handing_on(solver, node, value[1]) == GIVEN_BACK:
            first = made_of(solver, node, solver.project.expression(node)).arguments[:1]
            found |= {of: min(own, sure) for cell, _ in first for of, own in solver.value(cell).items()}
        else:
            found[value] = sure
    return found


def _filled(solver: Solver, value: Value, word: int, sure: int, fields: dict[int, int]) -> bool:
    """Add the class that is made or copied, if a field of it gets the argument; whether a parameter of it does."""
    if value[0] in (FUNCTION, BOUND):
        return _takes(solver, value[1], word)
    if value[0] not in (CLASS, OBJECT):
        return False
    scope, classes = value[1], solver.classes
    written = _constructors(solver, scope) if value[0] == CLASS else []
    taking = [at for at in written if _takes(solver, at, word)]
    if not _has_field(solver, scope, word, written):
        return bool(taking)
    if not written and scope in classes.has_external_base and not solver.project.unit(scope).dialect.own_constructors:
        sure = min(sure, Reason.EXTERNAL_BASE)
    if taking and solver.project.scope(scope).flags & Flag.DERIVES:
        sure = min(sure, Reason.OVERLOAD)
    if value[0] == CLASS and classes.makes_another(scope):
        sure = min(sure, Reason.SEVERAL)
    if value[2] and classes.below(scope):
        sure = min(sure, Reason.OVERRIDDEN)
    fields[scope] = max(fields.get(scope, 0), sure)
    return False


def _constructors(solver: Solver, scope: int) -> list[int]:
    """The functions that somebody has written to make an object of a class."""
    found: list[int] = []
    for own in solver.project.unit(scope).dialect.constructors:
        name = solver.project.number(own)
        owner, _ = solver.classes.of_class(scope, name)
        if owner is not None and solver.classes.gives_constructor(scope, owner, None):
            found += [value[1] for value in solver.value(("name", owner, name)) if value[0] == FUNCTION]
    return found


def _takes(solver: Solver, function: int, word: int) -> bool:
    """Whether a function has a parameter of a name; of PHP its sign is no part of that."""
    text = solver.project.text
    names = solver.named_parameters.get(function)
    if names is None:
        unit, rows = solver.project.unit(function), solver.project.scope(function).parameters
        given = (unit.names[row.name] for row in rows if row.name != NONE and not row.rest)
        names = solver.named_parameters[function] = {text(name).removeprefix(unit.dialect.sigil) for name in given}
    return text(word) in names


def _has_field(solver: Solver, scope: int, word: int, written: Sequence[int]) -> bool:
    """Whether a class has a field that what makes its objects is given: a declared one where nobody has written that,
    or where it stands among the parameters, `function __construct(public int $a)`.
    """
    dialect, flags = solver.project.unit(scope).dialect, solver.project.scope(scope).flags
    owner, _ = solver.classes.of_class(scope, word)
    is_own = owner == scope or not dialect.own_constructors
    is_headless = dialect.says_derived and not flags & Flag.HEADED  # class A { constructor(b: B) }
    if owner is None or not is_own or is_headless:
        return False
    is_derived = not written or bool(flags & Flag.DERIVES)
    is_open = scope in solver.classes.has_external_base
    for binding in solver.project.table(owner).get(word, ()):
        unit, value = solver.project.unit(binding), solver.project.binding(binding).value
        op, *parts = unit.expressions[value]
        held = unit.expressions[parts[1] if op == Op.DECLARED and parts[1] != NONE else value]
        if held[0] == Op.PARAMETER:
            if unit.base | held[1] in written:
                return True
        elif is_derived and (is_field(unit, value) or (op == Op.CALL and is_open)):  # b = Column()
            return True
    return False
