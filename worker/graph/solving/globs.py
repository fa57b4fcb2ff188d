"""Modules of Rust that take all names of others: `pub use a::*`, `include!("a.rs")`; and what nobody sees them define.

What a text that is included names may stand in the module that includes it, as if it did the same.
"""

from collections.abc import Iterable

from fledgling.worker.graph.linking.modules import is_within
from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.linking.stars import MAX_STARRED, MAX_STARS
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Flag, Op
from fledgling.worker.graph.unit import SHIFT
from fledgling.worker.graph.values import CLASS, EXTERNAL, MODULE, SPACE, Cell, Value, Values

STEP = 3  # of MAX_STARRED: what it costs to go from one module to the next
BINDS = "binds"  # what the cell of a glob holds: a scope that binds the name
UNSEEN: Value = ("unseen",)  # ... and this, where one may that nobody sees
OUTSIDE: Value = ("outside",)  # ... or one outside of the project


def globs_cell(solver: Solver, cell: Cell) -> Values:
    """("globs", scope, name): the scopes that bind a name for one, itself or those of which it takes all names."""
    project = solver.project
    _, first, name = cell
    texts = project.imports.including
    found: Values = {}
    todo, seen = [(first, int(Reason.BOUND), NONE)], {first}
    while todo:
        at, sure, by = todo.pop()
        if name in project.table(at):
            if by == NONE or _is_shown(project, at, name, by):
                found[BINDS, at] = sure
            continue
        if project.scope(at).flags & Flag.MAKES:
            found[UNSEEN] = Reason.BOUND
        scopes, others = _taken_from(solver, at, project.text(name))
        found.update(dict.fromkeys(others, int(Reason.BOUND)))
        for inner, own in scopes:
            if inner not in seen and len(seen) < MAX_STARS and solver.stars.steps < MAX_STARRED:
                solver.stars.steps += STEP
                seen.add(inner)
                is_text = inner in texts.get(at, ()) or at in texts.get(inner, ())
                todo.append((inner, min(sure, own), NONE if is_text else at))
            elif inner not in seen:
                found[UNSEEN] = Reason.BOUND
    return found


def _is_shown(project: GraphProject, scope: int, name: int, by: int) -> bool:
    """Whether a module shows what it binds to one that takes all names of it: `use a::b` only to those within."""
    values = [project.expression(project.value_of(at)) for at in project.table(scope)[name]]
    return any(value[0] != Op.ALIAS or len(value) > 2 for value in values) or is_within(project, by, scope)


def of_globs(solver: Solver, scopes: Iterable[int], name: int, sure: int) -> list[tuple[Cell, int, None]]:
    """The places of a name in some modules; of several none is sure, since nobody sees which are for others."""
    found = {at: min(own, sure) for at, own in binding(solver, scopes, name).items()}
    most = Reason.SEVERAL if len(found) > 1 else Reason.BOUND
    return [(("name", at, name), min(own, most), None) for at, own in found.items()]


def binding(solver: Solver, scopes: Iterable[int], name: int) -> dict[int, int]:
    """The scopes that bind a name for some modules, and how sure that is."""
    held = [pair for at in scopes for pair in solver.value(("globs", at, name)).items()]
    return {value[1]: sure for value, sure in held if value[0] == BINDS}


def says(solver: Solver, what: Value, scopes: Iterable[int], name: int) -> bool:
    """Whether some modules may have a name that is UNSEEN, or OUTSIDE."""
    return any(what in solver.value(("globs", at, name)) for at in scopes)


def modules_of(solver: Solver, value: Value) -> list[int]:
    """The scopes of the module of Rust that a value is."""
    if value[0] == MODULE:
        return [value[1] << SHIFT]
    if value[0] == SPACE:
        return solver.spaces.scopes.get(value[1], [])
    return [value[1]] if value[0] == CLASS else []


def _taken_from(solver: Solver, scope: int, name: str) -> tuple[list[tuple[int, int]], list[Value]]:
    """The modules of which one takes all names, or perhaps this one, with those into which it is included.

    And whether others are not seen.
    """
    project = solver.project
    unit = project.unit(scope)
    found = [(at, int(Reason.BOUND)) for at in project.imports.including.get(scope, ())]
    others: list[Value] = []
    for which in project.scope(scope).stars:
        said = unit.facts.imports[which]
        if said.name not in ("*", name):
            continue
        if said.path == NONE:
            inner = project.imports.included(unit, said.module)
            found += [] if inner is None else [(inner, int(Reason.BOUND))]
            others += [UNSEEN] if inner is None else []
            continue
        others += [UNSEEN] if _begins_nowhere(solver, unit.base | said.path) else []
        for value, sure in list(solver.value(unit.base | said.path).items()):
            found += [(at, sure) for at in modules_of(solver, value)]
            others += [OUTSIDE] if value[0] == EXTERNAL else []
    return found, others


def _begins_nowhere(solver: Solver, path: int) -> bool:
    """Whether a path begins in a module that is not seen: above a file that nothing declares, `use super::*`."""
    op, *parts = solver.project.expression(path)
    while op == Op.PREFIX or (op == Op.GET and solver.project.unit(path).facts.names[parts[1]] != "super"):
        path = solver.child(path, parts[0])
        op, *parts = solver.project.expression(path)
    return op in (Op.ROOT, Op.GET) and not solver.value(path)
