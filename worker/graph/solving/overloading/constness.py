"""Which of `a()` and `a() const`, or of `a() &` and `a() &&`, a call of C++ means: by what it is asked of."""

from collections.abc import Iterable, Iterator

from fledgling.worker.graph.solving.lookup import bare_places
from fledgling.worker.graph.solving.pointers import is_pointer
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import KEPT, NONE, Flag, Op, ScopeKind
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import BOUND, CLASS, CONTAINER, EXTERNAL, FUNCTION, OBJECT, Value

Said = bool | None  # None where it is not seen
MAX_STEPS = 8  # from `a.b().c()` back to where a begins
MAX_HOLDING = 8  # bindings of a name, or functions of a call, that are looked at
STANDING = (Op.UNSURE, Op.REACH, Op.IN_MACRO, Op.POINTED, Op.ADDRESSED)  # for one of their parts


def of_constness(solver: Solver, chosen: list[Value], node: int) -> list[Value]:
    """Of methods that take the same those that a call means, by whether it may change what it is asked of."""
    if len(chosen) < 2 or not solver.project.unit(node).dialect.constant_methods:
        return chosen
    keeps = {value: bool(solver.project.scope(value[1]).flags & Flag.KEEPS) for value in chosen}
    if len(set(keeps.values())) < 2:
        return chosen
    is_kept = _asks_constant(solver, node, MAX_STEPS)
    return [value for value in chosen if keeps[value] == is_kept] or chosen


def of_lasting(solver: Solver, chosen: list[Value], node: int) -> list[Value]:
    """Of methods that say of what they are asked, `a() &` and `a() &&`, those that a call means."""
    said = Flag.LASTING | Flag.PASSING
    functions = [value for value in chosen if value[0] in (FUNCTION, BOUND)]
    if len(functions) < 2 or not any(solver.project.scope(value[1]).flags & said for value in functions):
        return chosen
    is_passing = _asks_passing(solver, node)
    if is_passing is None:
        return chosen
    own, other = (Flag.PASSING, Flag.LASTING) if is_passing else (Flag.LASTING, Flag.PASSING)
    meant = [value for value in functions if solver.project.scope(value[1]).flags & own]
    return meant or [value for value in functions if not solver.project.scope(value[1]).flags & other] or chosen


def _asks_passing(solver: Solver, call: int) -> Said:
    """Whether a call asks what is made for it, `f().b()`, or moved there; None where that is not seen."""
    op, *parts = solver.project.expression(call)
    asked = _behind(solver, solver.child(call, parts[0])) if op in (Op.CALL, Op.IN_MACRO) else NONE
    if asked == NONE or solver.op(asked) == Op.CALL:
        return None if asked == NONE else _asks_passing(solver, asked)
    if solver.op(asked) != Op.GET:
        return False
    of = solver.child(asked, solver.project.expression(asked)[1])
    if solver.op(of) != Op.CALL:
        return True if solver.op(of) == Op.NEW else None if solver.op(of) in (Op.CAST, Op.UNKNOWN) else False
    held = [*solver.value(solver.child(of, solver.project.expression(of)[1]))][:MAX_HOLDING]
    found = {_makes(solver, value) for value in of_lasting(solver, held, of)}
    return found.pop() if len(found) == 1 else None


def _makes(solver: Solver, value: Value) -> Said:
    """Whether what a function gives is made there, or moved: it does not last."""
    if value[0] in (FUNCTION, BOUND):
        return not solver.project.scope(value[1]).flags & Flag.GIVES_PLACE
    return True if value[0] == CLASS or (value[0] == EXTERNAL and value[1].endswith("move")) else None


def _asks_constant(solver: Solver, call: int, steps: int) -> Said:
    """Whether a call asks what it must not change; None where that is not seen."""
    op, *parts = solver.project.expression(call)
    if op not in (Op.CALL, Op.IN_MACRO):
        return None
    asked = _behind(solver, solver.child(call, parts[0]))
    op, *parts = solver.project.expression(asked)
    if op == Op.CALL:
        return _asks_constant(solver, asked, steps)
    if op == Op.GET:
        return _is_constant(solver, solver.child(asked, parts[0]), steps - 1)
    return _in_constant(solver, (asked & ~MASK) | parts[1]) if op == Op.BARE else None


def _is_constant(solver: Solver, node: int, steps: int) -> Said:
    """Whether what an expression gives must not be changed; None where that is not seen."""
    node = _behind(solver, node)
    project, base = solver.project, node & ~MASK
    op, *parts = project.expression(node)
    if steps <= 0:
        return None
    if op == Op.NEW:
        return False
    if op == Op.THIS:
        return _in_constant(solver, base | parts[0])
    held: Iterable[Said] = ()
    if op == Op.NAME:
        bound = project.bindings_of(base | parts[1], _name(solver, node, 1)) if parts[1] != NONE else []
        reach = _declaring(solver, bound) or [base | at for at in parts[2] or ()] or bound
        held = (_holds(solver, at, None, steps) for at in reach[:MAX_HOLDING])
    elif op == Op.BARE:
        cells = [cell for cell, _, _ in bare_places(solver, node, (op, *parts)) if cell[0] == "name"]
        bound = [at for cell in cells for at in project.bindings_of(cell[1], cell[2])]
        around = _in_constant(solver, base | parts[1])
        bound = _declaring(solver, bound) or bound
        held = (_holds(solver, at, around, steps) for at in bound[:MAX_HOLDING])
    elif op == Op.GET:
        held = _of_field(solver, node, solver.child(node, parts[0]), steps)
    elif op == Op.CALL:
        held = _given(solver, node, solver.child(node, parts[0]), steps)
    found = set(held)
    if found == {True} and any(value[0] == CONTAINER and is_pointer(solver, value) for value in solver.value(node)):
        return None  # `const auto &` of a `unique_ptr<A>`, which leads to what may be changed, or of one to a constant
    return found.pop() if len(found) == 1 else None


def _name(solver: Solver, node: int, part: int) -> int:
    """The name that is a part of an expression."""
    number: int = solver.project.expression(node)[part]
    return solver.project.unit(node).names[number]


def _behind(solver: Solver, node: int) -> int:
    """What an expression stands for."""
    op, *parts = solver.project.expression(node)
    for _ in range(MAX_STEPS):
        if op not in STANDING or (op == Op.REACH and parts[1] == NONE):
            break
        node = solver.child(node, parts[{Op.REACH: 1}.get(op, 0)])
        op, *parts = solver.project.expression(node)
    return node


def _declaring(solver: Solver, bindings: list[int]) -> list[int]:
    """The bindings of a name that say it for all that the name is given."""
    return [at for at in bindings if at & MASK in solver.project.unit(at).constness]


def _in_constant(solver: Solver, scope: int) -> Said:
    """Whether `this` is constant in a scope."""
    project = solver.project
    while scope >= 0 and project.scope(scope).kind in (ScopeKind.BLOCK, ScopeKind.LAMBDA):
        scope = project.outer(scope)
    if scope < 0 or project.scope(scope).kind != ScopeKind.FUNCTION:
        return None
    return bool(project.scope(scope).flags & Flag.KEEPS)


def _holds(solver: Solver, binding: int, holder: Said, steps: int) -> Said:
    """Whether a variable or field holds what must not be changed; where it does not say so, as its holder."""
    project, unit = solver.project, solver.project.unit(binding)
    said = unit.constness.get(binding & MASK, 0)
    if said:
        return bool(said == KEPT)
    row = project.binding(binding)
    if row.scope != NONE and unit.facts.scopes[row.scope].kind == ScopeKind.CLASS:
        return holder
    value = project.value_of(binding)
    op, *parts = project.expression(value)
    if op == Op.PARAMETER:
        return None if unit.facts.scopes[parts[0]].parameters[parts[1]].type == NONE else False
    if op == Op.DECLARED and parts[0] > 0:
        return False
    of = value if op != Op.DECLARED else solver.child(value, parts[1]) if parts[1] > 0 else NONE
    is_changed = of != NONE and _is_constant(solver, of, steps - 1) is False
    return False if is_changed else None  # `auto a = b` copies what b holds, or what leads to that


def _of_field(solver: Solver, node: int, of: int, steps: int) -> Iterator[Said]:
    """Whether a field holds what must not be changed, by each class that it may be one of."""
    project, name = solver.project, _name(solver, node, 2)
    holder = _is_constant(solver, of, steps - 1)
    for value in [value for value in solver.value(of) if value[0] in (OBJECT, CLASS)][:MAX_HOLDING]:
        at, _ = solver.classes.of_class(value[1], name)
        bound = project.bindings_of(at, name) if at is not None else []
        for binding in (_declaring(solver, bound) or bound)[:MAX_HOLDING]:
            yield _holds(solver, binding, holder, steps)


def _given(solver: Solver, call: int, asked: int, steps: int) -> Iterator[Said]:
    """Whether what the functions give that a call may mean must not be changed."""
    project = solver.project
    functions = [value for value in solver.value(asked) if value[0] in (FUNCTION, BOUND)][:MAX_HOLDING]
    keeps = {bool(project.scope(value[1]).flags & Flag.KEEPS) for value in functions}
    meant = _asks_constant(solver, call, steps - 1) if len(keeps) > 1 else None
    for value in functions:
        row = project.scope(value[1])
        if meant is None or bool(row.flags & Flag.KEEPS) == meant:
            yield True if row.flags & Flag.GIVES_KEPT else None if row.returns <= 0 else False
