"""What a scope takes all names from, by an expression: `use a::*` of Rust, `using A;` of C#."""

from typing import Any

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.globs import of_globs
from fledgling.worker.graph.solving.member_places import places_for
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, SPACES
from fledgling.worker.graph.unit import MASK, Unit
from fledgling.worker.graph.values import MANY, SPACE, Cell, Values, add


def all_of(solver: Solver, unit: Unit, scope: int, own: int) -> list[Any]:
    """The places of a name in what a scope takes all names from, by an expression: `use a::*`, `using A;`."""
    is_module = scope in solver.spaces.paths
    names = ("*", solver.project.text(own)) if scope == unit.base else ()
    has_more = (is_module and unit.dialect.crates) or any(
        solver.project.imports.everywhere(unit, name) for name in names
    )
    if not solver.project.scope(scope).stars and not has_more:
        return []
    if unit.dialect.crates:
        return [*of_globs(solver, [scope], own, Reason.BOUND)]
    if unit.dialect.declared and not _paths_with(solver, unit, scope, own):  # asked for each name
        return []
    held = solver.value(("all of", scope, own))
    return [(place[1], sure, None) for place, sure in held.items() if place != MANY]


def all_cell(solver: Solver, cell: Cell) -> Values:
    """("all of", scope, name): the places of a name in what a scope takes all names from, each as a value."""
    _, scope, own = cell
    project = solver.project
    unit = project.unit(scope)
    found: Values = {}
    if scope == unit.base:
        modules = {at & ~MASK for at in project.imports.everywhere(unit, project.text(own))}
        aliases = [("name", at, own) for at in modules if own in project.table(at)]
        if aliases:  # it comes before what any namespace has
            return {("place", at): Reason.BOUND if len(aliases) == 1 else Reason.SEVERAL for at in aliases}
    for path in _paths_with(solver, unit, scope, own):
        for value, sure in list(solver.value(path).items()):
            held = places_for(solver, unit, value, own, sure)
            add(found, {("place", at): reason for at, reason, _ in held if at[0] not in ("field", "own")})
    return found


def _paths_with(solver: Solver, unit: Unit, scope: int, own: int) -> list[int]:
    """What a scope takes all names from, as expressions, of that which may have a name: of many, few do."""
    taking = _taking(solver, unit, scope)
    having = (solver.spaces.having(own) | solver.taken_classes.having(own)) & taking.keys()
    return sorted(path for last in {"", *having} for path in taking.get(last, ()))


def _taking(solver: Solver, unit: Unit, scope: int) -> dict[str, list[int]]:
    """What a scope takes all names from, as expressions, by the last name of each."""
    project = solver.project
    taking = solver.taking.get(scope)
    if taking is None:
        stars = (unit.facts.imports[which] for which in project.scope(scope).stars)
        paths = [unit.base | said.path for said in stars if said.path != NONE and not said.everywhere]
        paths += project.imports.everywhere(unit, "*") if scope == unit.base else ()
        taking = solver.taking[scope] = {}
        for path in paths:
            last = project.last_name(path)
            is_own = bool(last) and project.number(last) not in project.vocabulary.renamed
            taking.setdefault(last if is_own else "", []).append(path)
    return taking


def seen_spaces(solver: Solver, unit: Unit) -> set[str]:
    """The paths of the namespaces that a file stands in or takes all names of: in C# it sees what these extend."""
    found = solver.seen_spaces.get(unit.number)
    if found is not None:
        return found
    found = {""}
    for scope in (unit.base | at for at, row in enumerate(unit.facts.scopes) if not at or row.kind in SPACES):
        found.update(solver.spaces.around(scope) if scope in solver.spaces.paths else ())
        paths = (path for each in _taking(solver, unit, scope).values() for path in each)
        found.update(value[1] for path in paths for value in solver.value(path) if value[0] == SPACE)
    if solver.classes.is_settled:
        solver.seen_spaces[unit.number] = found
    return found
