"""How sure it is that a call runs something else than the member of the type that is declared."""

from fledgling.worker.graph.reasons import CERTAIN, Reason
from fledgling.worker.graph.solving.class_members import MAX_OVERRIDING, has_body
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Flag, Op
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import EXTERNAL, OBJECT, Value

PASSED = (Reason.FLOW, Reason.RETURNED)  # what came from elsewhere, where another one may come as well
CAME = (*PASSED, Reason.ATTRIBUTE, Reason.CONTAINER)  # what is seen to come, whatever brings it
OVERRIDING = (Reason.MAY_OVERRIDE, Reason.MANY_IMPLEMENTATIONS)
Types = list[tuple[Value, int]]  # with a Reason each


def declared_types(solver: Solver, node: int) -> Types:
    """The types of what a member is asked of, as far as they say which: each with those below it, or outside."""
    op, *parts = solver.project.expression(node)
    if op != Op.GET or not solver.project.unit(node).dialect.typed:
        return []
    receivers = solver.value((node & ~MASK) | parts[0])
    if len(receivers) < 2:
        return []
    return [(value, sure) for value, sure in receivers.items() if _is_type(value)]


def _is_type(value: Value) -> bool:
    return bool(value[2]) if value[0] == OBJECT else value[0] == EXTERNAL and value[1].endswith("#")


def made_class(solver: Solver, node: int) -> int:
    """The class of the object that a variable holds of which a member is asked, where it can hold no other; -1 else.

    It is declared to be of another type, `Base a = new Derived(); a.run()`. What C++ holds so becomes of that type.
    """
    op, *parts = solver.project.expression(node)
    if solver.project.unit(node).dialect.pointers:
        return NONE
    bindings = _bindings_of(solver, (node & ~MASK) | parts[0]) if op == Op.GET else []
    value = solver.project.value_of(bindings[0]) if len(bindings) == 1 else NONE
    op, *parts = solver.project.expression(value) if value != NONE else (Op.UNKNOWN,)
    if op != Op.DECLARED or parts[1] == NONE:
        return NONE
    held = list(solver.value(solver.child(value, parts[1])))
    return held[0][1] if len(held) == 1 and held[0][0] == OBJECT and not held[0][2] else NONE


def _bindings_of(solver: Solver, node: int) -> list[int]:
    """The bindings of a variable that reach a use of it, all of them where it is one of a function or module around."""
    op, *parts = solver.project.expression(node)
    if op != Op.NAME:
        return []
    name, scope, reach = parts
    if reach is not None:
        return [(node & ~MASK) | at for at in reach]
    number, scope = solver.project.unit(node).names[name], (node & ~MASK) | scope if scope != NONE else NONE
    is_seen = scope != NONE and solver.project.bound_once(scope, number)
    return solver.project.table(scope).get(number, []) if is_seen else []


def weighed(solver: Solver, types: Types, made: int, function: int, sure: int) -> int:
    """How sure a method may run that takes the place of what a declared type has.

    That has a body of its own, or is outside the project; what takes the place of one without is as sure as it was.
    Of a class that is known to be `made` it is likely, where that has one function of the name.
    """
    owner = solver.classes.owner(function)
    row, dialect = solver.project.scope(function), solver.project.unit(function).dialect
    name = name_of(solver, function)
    if made != NONE and owner is not None and sure in OVERRIDING and _is_of(solver, made, owner, name):
        return Reason.OVERRIDE
    if sure >= CERTAIN and dialect.selects and any(value[0] == EXTERNAL for value, _ in types):
        return Reason.SEVERAL
    if owner is None or sure not in PASSED or row.flags & (Flag.EXTENSION | Flag.STATIC):
        return sure
    above = solver.classes.order(owner)
    surer = [value for value, own in types if own > sure and (value[0] == EXTERNAL or value[1] in above[1:])]
    for value in surer:
        declaring = solver.classes.of_class(value[1], name)[0] if value[0] == OBJECT else None
        if declaring is not None and has_body(solver, declaring, name):
            return Reason.MAY_OVERRIDE
    return Reason.OVERRIDES_OUTSIDE if surer and all(value[0] == EXTERNAL for value in surer) else sure


def crowded(solver: Solver, types: Types, run: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The functions that a call may run, each possible where several come in the place of what is declared."""
    types = [(value, sure) for value, sure in types if sure not in PASSED]
    classes = [value[1] for value, _ in types if value[0] == OBJECT]
    declared = {above for at in classes for above in solver.classes.order(at)}
    came = {at for at, sure in run if sure in CAME and solver.classes.owner(at) not in (None, *declared)}
    if not types or len(came) <= MAX_OVERRIDING:
        return run
    return [(at, int(Reason.MANY_IMPLEMENTATIONS) if at in came and sure in CAME else sure) for at, sure in run]


def without_tests(solver: Solver, types: Types, node: int, run: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The functions that a call may run, which are possible where only tests put them in the place of what is declared.

    If one alone is left that takes the place of what has no body, it is likely.
    """
    project = solver.project
    if len(run) < 2 or not project.unit(node).dialect.typed or project.unit(node).is_of_tests:
        return run
    places = {at for at, sure in run if sure in (*OVERRIDING, Reason.OVERRIDE) or (types and sure in CAME)}
    fakes = {at for at in places if project.unit(at).is_of_tests and solver.classes.owner(at) is not None}
    if not fakes:
        return run
    left = [at for at, sure in run if sure == Reason.MANY_IMPLEMENTATIONS and at not in fakes]
    is_alone = len(left) == 1 and any(solver.classes.is_abstract(at) for at, _ in run)
    known = {**dict.fromkeys(fakes, int(Reason.OF_TESTS)), **dict.fromkeys(left * is_alone, int(Reason.OVERRIDE))}
    return [(at, known.get(at, sure)) for at, sure in run]


def name_of(solver: Solver, function: int) -> int:
    """The number of a function's name."""
    name = solver.project.scope(function).name
    return NONE if name == NONE else solver.project.unit(function).names[name]


def _is_of(solver: Solver, made: int, owner: int, name: int) -> bool:
    """Whether an object of a class has the only function of a name from another class, or from itself."""
    return solver.classes.of_class(made, name)[0] == owner and len(solver.project.table(owner).get(name, ())) == 1
