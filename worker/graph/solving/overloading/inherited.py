"""Functions of one name in the classes above the one that a call asks, which it may mean beside that one's own."""

from typing import Any

from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.overloading.argument_types import takes_all
from fledgling.worker.graph.solving.overloading.fits import Fit, is_sure, taken
from fledgling.worker.graph.solving.overloading.library_types import ARRAY
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Flag, Op, Parameter, ScopeKind
from fledgling.worker.graph.values import BOUND, FUNCTION, Value, Values

MAX_INHERITED = 64  # functions of one name in the classes above that are looked at, the nearest first
Group = tuple[int | None, int]  # the class of some functions, and their name


def take_inherited(solver: Solver, fit: dict[Value, Fit], owner: int, name: int, made: MadeCall) -> bool:
    """Add the functions of that name in the classes above an owner, which are called on the same object.

    What an override takes is what the function above it takes: in Kotlin it does not repeat what may be left out.
    Returns whether there are more than are looked at.
    """
    inherited, is_cut = _inherited(solver, owner, name)
    if not inherited:
        return is_cut
    shapes = {_shape(solver, value[1]) for value in fit}
    inherited = [function for function in inherited if _shape(solver, function) not in shapes]
    inherited = [function for function in inherited if not is_hidden(solver, function, made.node)]
    own = {_shape(solver, value[1])[0]: value for value in fit} if inherited else {}
    receiver = next(iter(fit))
    is_nearest = solver.project.unit(receiver[1]).dialect.selects == "nearest"
    settled: int | None = None  # the class whose function surely takes the arguments, in C# the last to be asked
    for function in inherited:
        level = solver.classes.owner(function)
        if settled is not None and level != settled:
            return False
        value: Value = (BOUND, function, receiver[2]) if receiver[0] == BOUND else (FUNCTION, function)
        override = own.get(_shape(solver, function)[0])
        found = taken(solver, value, made)
        if is_nearest and settles(solver, function, found, made):
            settled = level
        if override is None:
            fit[value] = found
        elif found.worth > fit[override].worth:
            fit[override] = found
    return is_cut


def with_taken(solver: Solver, values: Values, groups: dict[Group, list[Value]]) -> Values:
    """Let functions that a class of C++ takes from one above it, `using A::f;`, compete with its own.

    Returns the values without those that one of its own hides, which takes the same.
    """
    project, hidden = solver.project, set[Value]()
    for owner, name in [*groups]:
        if owner is None or (owner, name) not in groups or not project.unit(owner).dialect.converts:
            continue
        bound = map(project.value_of, project.table(owner).get(name, ()))
        if not any(solver.op(at) == Op.ALIAS for at in bound):
            continue
        own = groups[owner, name]
        shapes = {_shape(solver, value[1])[0] for value in own}
        for above in [at for at in solver.classes.order(owner)[1:] if (at, name) in groups]:
            for value in groups[above, name]:
                if value[0] == FUNCTION or owner in solver.classes.order(value[2][1]):
                    (hidden.add if _shape(solver, value[1])[0] in shapes else own.append)(value)
            groups[above, name] = [value for value in groups[above, name] if value not in hidden and value not in own]
            if not groups[above, name]:
                del groups[above, name]
    return {value: sure for value, sure in values.items() if value not in hidden} if hidden else values


def settles(solver: Solver, function: int, fit: Fit, made: MadeCall) -> bool:
    """Whether no class above is asked, since a function that the class itself declares surely takes the arguments.

    One that overrides another is declared above, as C# sees it.
    """
    row = solver.project.scope(function)
    if not fit.takes or fit.against or row.flags & Flag.OVERRIDES:
        return False
    return is_sure(solver, fit, made) or (
        bool(fit.each) and all(takes_all(solver, function, each) for each in row.parameters)
    )


def is_hidden(solver: Solver, function: int, node: int) -> bool:
    """Whether a function is private, and a call stands neither in its class nor, in Java, in one around that.

    One of no class, or that extends one, is seen in its file alone.
    """
    if is_of_file(solver, function):
        return solver.project.unit(node) is not solver.project.unit(function)
    owner = solver.classes.owner(function) if solver.project.scope(function).flags & Flag.HIDDEN else None
    scope = NONE if owner is None else solver.project.scope_of_call(node)
    if owner is None or scope == NONE:
        return False
    if solver.project.unit(function).dialect.members_of_packages:
        return solver.classes.outermost(owner) != solver.classes.outermost(scope)
    return owner not in solver.classes.all_around(scope)


def is_of_file(solver: Solver, function: int) -> bool:
    """Whether a function is private, and of no class: seen in its file alone."""
    is_private = solver.project.scope(function).flags & Flag.HIDDEN and solver.project.unit(function).dialect.outward
    return bool(is_private) and solver.project.scope(solver.project.outer(function)).kind == ScopeKind.MODULE


def _inherited(solver: Solver, owner: int, name: int) -> tuple[list[int], bool]:
    """The functions of a name above a class, the nearest of those with the same parameters; whether there are more."""
    known = solver.inherited.get((owner, name))
    if known is None:
        found, nearer, looked_at = list[int](), set[object](), 0
        above, _ = solver.classes.of_class(owner, name, owner)
        while above is not None and looked_at < MAX_INHERITED:
            own = [function for _, function in map(solver.project.defined, solver.project.table(above)[name])]
            own = [at for at in own if at >= 0 and _is_inherited(solver, at)]
            looked_at += max(1, len(own))
            found += [function for function in own if _shape(solver, function) not in nearer]
            seen = (at for at in own if not solver.project.scope(at).flags & Flag.HIDDEN)
            nearer.update(_shape(solver, function) for function in seen)
            above, _ = solver.classes.of_class(owner, name, above)
        known = solver.inherited[owner, name] = found, above is not None
    return known


def _is_inherited(solver: Solver, function: int) -> bool:
    """Whether what a class has of a name is a function that a class below has as well: in C# what is private, too."""
    row = solver.project.scope(function)
    is_private = row.flags & Flag.HIDDEN and solver.project.unit(function).dialect.selects != "nearest"
    return row.kind == ScopeKind.FUNCTION and not is_private and not row.flags & Flag.EXPLICIT


def _shape(solver: Solver, function: int) -> tuple[Any, ...]:
    """What a function takes, and what of that may be left out or be several: what fits one fits another like it.

    First stand the last names of the types of its parameters, in C# with the number of its type parameters.
    """
    found = solver.shapes.get(function)
    if found is None:
        row = solver.project.scope(function)
        parameters = row.parameters
        may_lack = [(each.default == NONE, each.rest) for each in parameters]
        types = tuple(_type_name(solver, function, each) for each in parameters)
        if row.generic and solver.project.unit(function).dialect.types_apart:
            types = (*types, f"<{row.generic}>")
        found = solver.shapes[function] = (types, *may_lack)
    return found


def _type_name(solver: Solver, function: int, parameter: Parameter) -> str:
    """The last name of a parameter's type, with brackets where it is an array, or with a mark of what it refers to."""
    if parameter.type == NONE:
        return f"{function}[]" if parameter.rest else ""  # of which type is not seen: it is none of another function
    node = solver.child(function, parameter.type)
    op, *parts = solver.project.expression(node)
    arrays = "[]" if parameter.rest else "&" if parameter.by_reference else ""
    if op == Op.POINTEE:
        node = solver.child(node, parts[0])
        op, *parts = solver.project.expression(node)
    while op == Op.ARRAY:
        node, arrays = solver.child(node, parts[0]), arrays + "," * sum(parts[2:]) + ARRAY
        op, *parts = solver.project.expression(node)
    return solver.project.last_name(solver.child(node, parts[0]) if op == Op.INDEX else node) + arrays
