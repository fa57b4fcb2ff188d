"""Of functions that extend a type, those that a file sees: by its package, by imports, or by the names of traits."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.lookup import places_in
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.taken_names import seen_spaces
from fledgling.worker.graph.tables import NONE, Flag, Op, ScopeKind
from fledgling.worker.graph.unit import Unit
from fledgling.worker.graph.values import BOUND, EXTERNAL, FUNCTION, Values

MAX_SEEN = 8  # extensions of one name that a file sees, of which each is likely; of more, each is possible


def with_seen(solver: Solver, node: int, name: int, values: Values) -> Values:
    """Values, of whose extensions of what may be outside those are meant that the file sees, if it sees any."""
    dialect = solver.project.unit(node).dialect
    if dialect.crates:
        return of_seen_traits(solver, node, values)
    if dialect.spaces == "flat":
        values = _of_seen_packages(solver, node, name, values)
    if Reason.NAME_ONLY not in values.values():
        return values
    extensions = {value for value, sure in values.items() if sure == Reason.NAME_ONLY and value[0] == BOUND}
    extensions = {value for value in extensions if value[2][0] == EXTERNAL}
    if not extensions:
        return values
    functions = seen_extensions(solver, node, name)
    functions -= _of_texts(solver, node, name) if any(value[2][1].endswith("#") for value in extensions) else set()
    seen = {value for value in extensions if value[1] in functions}
    others = {value: sure for value, sure in values.items() if value not in extensions}
    reason = Reason.EXTENSION if len({value[1] for value in seen}) <= MAX_SEEN else Reason.MANY_IMPLEMENTATIONS
    return {**others, **dict.fromkeys(seen, int(reason))} if seen else values


def _of_seen_packages(solver: Solver, node: int, name: int, values: Values) -> Values:
    """Values, without the functions of Kotlin that the file of an expression sees no way to; possible if none is left.

    They stand in no class, in a package that it is not in and does not import, or are private in another file.
    """
    unit = solver.project.unit(node)
    unseen = {value for value in values if value[0] == BOUND and not is_seen(solver, unit, unit.names[name], value[1])}
    if not unseen:
        return values
    seen = {value: sure for value, sure in values.items() if value not in unseen}
    if any(value[0] == BOUND and solver.project.scope(value[1]).flags & Flag.EXTENSION for value in seen):
        return seen
    return {**seen, **{value: min(values[value], Reason.NAME_ONLY) for value in unseen}}


def is_seen(solver: Solver, unit: Unit, name: int, function: int) -> bool:
    """Whether a file of Kotlin sees a function by a name, if that extends a type and stands in no class."""
    project = solver.project
    row, own = project.scope(function), project.unit(function)
    if own is unit or not row.flags & Flag.EXTENSION or project.outer(function) != own.base:
        return True
    if row.flags & Flag.HIDDEN:
        return False
    if own.shares == unit.shares or own.shares in unit.dialect.packages_of_all:
        return True
    imported = solver.value(("name", unit.base, name)) if project.table(unit.base).get(name) else {}
    return (FUNCTION, function) in imported or own.shares in seen_spaces(solver, unit)


def of_seen_traits(solver: Solver, node: int, values: Values) -> Values:
    """Values, of which what a trait gives to types outside is no more than possible where the file does not name it."""
    unit = solver.project.unit(node)
    if unit.takes_all or not any(value[0] == BOUND and value[2][0] == EXTERNAL for value in values):
        return values
    return {
        value: min(sure, Reason.NAME_ONLY)
        if value[0] == BOUND and value[2][0] == EXTERNAL and not _names_trait(solver, unit, value[1])
        else sure
        for value, sure in values.items()
    }


def _names_trait(solver: Solver, unit: Unit, function: int) -> bool:
    """Whether a file has the name of the trait that a function stands in, or is given for."""
    project = solver.project
    around = project.outer(function)
    row = project.scope(around)
    if project.unit(around) is unit:
        return True
    if row.kind == ScopeKind.INTERFACE:
        return project.unit(around).names[row.name] in unit.mentioned
    traits = [solver.child(around, base) for base in row.bases]
    names = [
        project.last_name(solver.child(at, project.expression(at)[1]) if solver.op(at) == Op.INDEX else at)
        for at in traits
    ]
    return any(not name or project.number(name) in unit.mentioned for name in names)


def _of_texts(solver: Solver, node: int, name: int) -> set[int]:
    """The functions of a name that extend a text or a number: an object of a type that is written is none."""
    unit = solver.project.unit(node)
    extending = solver.classes.extensions.by_name.get(unit.names[name], ())
    return {function for of, function in extending if unit.dialect.is_plain(of)}


def seen_extensions(solver: Solver, node: int, name: int) -> set[int]:
    """The functions of a name that extend types outside and that the file of an expression sees.

    A name that types outside have too has to be imported.
    """
    unit = solver.project.unit(node)
    own = unit.names[name]
    extending = {function for _, function in solver.classes.extensions.by_name.get(own, ())}
    if unit.dialect.spaces == "nested" and unit.facts.names[name] not in unit.dialect.common:
        extending.update(solver.classes.extensions.of_own.get(own, ()))
        extending = {at for at in extending if solver.project.scope(at).flags & Flag.EXTENSION}
        return {at for at in extending if _space_of(solver, at) in seen_spaces(solver, unit)}
    if not extending or unit.dialect.spaces != "flat":
        return set()
    bindings = solver.project.table(unit.base).get(own, ())
    given = solver.spaces.says(unit.base, own)[1] if bindings else frozenset()
    if unit.facts.names[name] in unit.dialect.common and given.isdisjoint((Op.ALIAS, Op.IMPORT)):
        return set()
    places = places_in(solver, node, (Op.BARE, name, 0, 0 if bindings else NONE))
    cells = [cell for cell, _, _ in places if cell[0] == "name"]
    return {value[1] for cell in cells for value in solver.value(cell) if value[0] == FUNCTION} & extending


def _space_of(solver: Solver, function: int) -> str:
    """The path of the namespace that the class of a function stands in."""
    return str(solver.spaces.paths.get(solver.project.outer_namespace(function), ""))
