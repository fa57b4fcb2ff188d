"""Which of several functions of one name a call means, by the number and the types of its arguments."""

from typing import Any

from fledgling.worker.dialect import Dialect
from fledgling.worker.graph.reasons import CERTAIN, LIKELY, Reason
from fledgling.worker.graph.solving.argument_types import (
    ANYTHING,
    ARRAY,
    NO,
    PERHAPS,
    POINTER,
    TO_ANY,
    YES,
    Wanted,
    of_array,
    takes_all,
    wanted_of,
    widens_to,
)
from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.extended_types import of_type_asked
from fledgling.worker.graph.solving.fits import Fit, is_sure, is_told, parameters_of, taken
from fledgling.worker.graph.solving.overrides import alike, are_alternatives, parameter_types
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.values import BOUND, CLASS, EXTERNAL, FUNCTION, OBJECT, Value, Values
from fledgling.worker.graph.tables import NONE, Flag, Op, Parameter, ScopeKind

MAX_INHERITED = 64  # functions of one name in the classes above; of more, those of the nearest count
MAX_FITTING = 2  # overloads that fit equally well; of more, each is only possible
MAX_NARROWED = 16  # functions that fit equally well, of which each is compared with the others
Group = tuple[int | None, int]  # the class of some functions, and their name


def called(solver: Solver, values: Values, made: MadeCall) -> Values:
    """What a call means whose function has several values: those that fit, and in C++ those of other namespaces.

    `f(a)` finds functions beside the type of a too, which are not told apart from what f means without that.
    """
    found = fitting(solver, values, made)
    others = _beside_arguments(solver, values, made)
    if not others:
        return found
    return {value: min(sure, Reason.OVERLOAD) for value, sure in {**others, **found}.items()}


def _beside_arguments(solver: Solver, values: Values, made: MadeCall) -> Values:
    """The functions of other namespaces with the name of a call, where an argument may be an object."""
    project = solver.project
    unit = project.unit(made.node)
    if not (unit.dialect.declared and unit.dialect.overloads) or any(
        value[0] not in (FUNCTION, EXTERNAL) for value in values
    ):
        return {}
    callee = project.expression(solver.child(made.node, project.expression(made.node)[1]))
    if callee[0] != Op.BARE or all(solver.op(cell) in (Op.NUMBER, Op.TEXT) for cell, _ in made.arguments):
        return {}
    own = unit.names[callee[1]]
    found: Values = {}
    for scope in solver.spaces.anywhere(unit, own):
        held = solver.value(("name", scope, own))
        found.update((value, sure) for value, sure in held.items() if value[0] == FUNCTION and value not in values)
    return found


def fitting(solver: Solver, values: Values, made: MadeCall) -> Values:
    """The functions among values that a call may mean; where several fit equally, each is one of several overloads.

    Where none of a class takes the arguments, those of the classes above it are meant; where none does at all, the
    arguments are not what they seem, and each is possible.
    """
    if len(values) == 1 and next(iter(values))[0] not in (FUNCTION, BOUND):
        return values
    values = _not_withdrawn(solver, values)
    groups: dict[Group, list[Value]] = {}
    for value in values:
        if value[0] in (FUNCTION, BOUND):
            row = solver.project.scope(value[1])
            unit = solver.project.unit(value[1])
            if unit.dialect.overloads and row.name != NONE:
                groups.setdefault((solver.classes.owner(value[1]), unit.names[row.name]), []).append(value)
    values = _renamed_first(solver, values, groups, made) if len(groups) > 1 else values
    found = dict(values)
    meant: dict[Group, tuple[list[Value], int]] = {}
    above = {key: _asked_above(solver, key, groups) for key in groups} if len(groups) > 1 else {}
    for key in sorted(groups, key=lambda key: above.get(key) is not None):
        (owner, name), group = key, groups[key]
        asked = above.get(key)
        if asked is not None and asked in meant:
            chosen, reason = _overriding(solver, group, *meant[asked])
        elif len(group) > 1 or solver.project.unit(group[0][1]).dialect.selects:
            chosen, reason = meant[key] = _chosen(solver, _asked(solver, group, above.get(key)), owner, name, made)
        else:
            continue
        surest = max(found.pop(value) for value in group)
        found.update((value, min(values.get(value, surest), reason)) for value in chosen)
    return _beside_class(solver, _not_all(solver, found))


def _renamed_first(solver: Solver, values: Values, groups: dict[Group, list[Value]], made: MadeCall) -> Values:
    """The values, without functions by whose own name a call goes where a file imports another one that fits by it.

    The groups of the others are taken away: `import a.b as c` goes before a `fun c` of the file.
    """
    op, *parts = solver.project.expression(made.node)
    callee = solver.project.expression(solver.child(made.node, parts[0])) if op == Op.CALL else (op,)
    place = {Op.BARE: 1, Op.NAME: 1}.get(callee[0])
    if place is None:
        return values
    unit = solver.project.unit(made.node)
    own = unit.names[callee[place]]
    alone = {name: group for (owner, name), group in groups.items() if owner is None}
    bound = map(solver.project.value_of, solver.project.table(unit.base).get(own, ()))
    imported = {value for at in bound if solver.op(at) in (Op.IMPORT, Op.ALIAS) for value in solver.value(at)}
    renamed = (value for name, group in alone.items() if name != own for value in group if value in imported)
    if own not in alone or not any(
        fit.takes and not fit.against for fit in (taken(solver, at, made) for at in renamed)
    ):
        return values
    del groups[None, own]
    return {value: sure for value, sure in values.items() if value not in alone[own]}


def _not_withdrawn(solver: Solver, values: Values) -> Values:
    """The values without functions that no source may call, if there are others."""
    if len(values) < 2:
        return values
    functions = [value for value in values if value[0] in (FUNCTION, BOUND)]
    gone = {value for value in functions if solver.project.scope(value[1]).flags & Flag.WITHDRAWN}
    return {value: sure for value, sure in values.items() if value not in gone} or values if gone else values


def _beside_class(solver: Solver, values: Values) -> Values:
    """The values, where a call may mean a class or a function of its name: neither is certain."""
    functions = [value for value, sure in values.items() if value[0] in (FUNCTION, BOUND) and sure >= LIKELY]
    classes = [value for value in values if value[0] == CLASS] if functions else []
    classes = [value for value in classes if solver.project.scope(value[1]).kind == ScopeKind.CLASS]
    meant = [*classes, *functions] if classes else []
    return {**values, **{value: min(values[value], Reason.OVERLOAD) for value in meant}} if meant else values


def _asked(solver: Solver, group: list[Value], above: Group | None) -> list[Value]:
    """Of functions of a class that several places make up those that are there for no interface, if any are.

    Where an interface above is asked, those that are there for one.
    """
    around = {value: solver.project.scope(solver.project.outer(value[1])) for value in group}
    of_interface = [value for value, row in around.items() if row.name == NONE and row.bases]
    wanted = of_interface if above is not None else [value for value in group if value not in of_interface]
    return wanted or group


def _asked_above(solver: Solver, key: Group, groups: dict[Group, list[Value]]) -> Group | None:
    """The topmost class above one that is asked as well: where types are declared it says which overload is meant."""
    owner, name = key
    if owner is None or not solver.project.unit(owner).dialect.typed:
        return None
    return next(((at, name) for at in reversed(solver.classes.order(owner)[1:]) if (at, name) in groups), None)


def _overriding(solver: Solver, group: list[Value], meant: list[Value], reason: int) -> tuple[list[Value], int]:
    """Of the functions of a class those that override what is meant of a class above it."""
    above = [parameter_types(solver, at[1]) for at in meant]
    how = {value: max(alike(parameter_types(solver, value[1]), each) for each in above) for value in group}
    best = max(how.values())
    return ([value for value in group if how[value] == best], reason) if best else ([], reason)


def _seen(solver: Solver, fit: dict[Value, Fit], made: MadeCall) -> dict[Value, Fit]:
    """The functions that a call sees: a private one only within its class, unless there is no other."""
    seen = {value: own for value, own in fit.items() if not _is_hidden(solver, value[1], made.node)}
    if any(value[0] == BOUND for value in seen) and solver.project.unit(made.node).dialect.selects == "nearest":
        of = solver.op(solver.child(made.node, solver.project.expression(made.node)[1]))
        is_static = {value: solver.project.scope(value[1]).flags & Flag.STATIC for value in seen}
        if of == Op.GET and not all(is_static.values()):  # an object has no static ones in C#
            seen = {value: own for value, own in seen.items() if not is_static[value]}
    return seen or fit


def _is_hidden(solver: Solver, function: int, node: int) -> bool:
    """Whether a function is private, and a call stands neither in its class nor, in Java, in one around that."""
    owner = solver.classes.owner(function) if solver.project.scope(function).flags & Flag.HIDDEN else None
    scope = NONE if owner is None else solver.project.scope_of_call(node)
    if owner is None or scope == NONE:
        return False
    if solver.project.unit(function).dialect.members_of_packages:
        return solver.classes.outermost(owner) != solver.classes.outermost(scope)
    return owner not in solver.classes.all_around(scope)


def _not_all(solver: Solver, values: Values) -> Values:
    """The values, of which a call means one: where extensions of several types have its name, none is certain."""
    if len(values) < 2:
        return values
    extensions = [
        value
        for value, sure in values.items()
        if sure >= CERTAIN and value[0] in (FUNCTION, BOUND) and solver.project.scope(value[1]).flags & Flag.EXTENSION
    ]
    names = {solver.project.unit(value[1]).names[solver.project.scope(value[1]).name] for value in extensions}
    if len(extensions) < 2 or len(names) > 1:
        return values
    most = Reason.OVERLOAD if len(extensions) <= MAX_FITTING else Reason.MANY_IMPLEMENTATIONS
    return {**values, **dict.fromkeys(extensions, int(most))}


def _chosen(
    solver: Solver, group: list[Value], owner: int | None, name: int, made: MadeCall
) -> tuple[list[Value], int]:
    """The functions of one name and class that a call may mean, or of the classes above it, and how sure they are."""
    selects = solver.project.unit(group[0][1]).dialect.selects
    fit = {value: taken(solver, value, made) for value in group}
    asks_above = selects and not _is_constructor(solver, group[0][1])
    if owner is not None and asks_above and (selects == "all" or not _is_found(solver, fit, made)):
        _take_inherited(solver, fit, owner, name, made)
    fit = _seen(solver, fit, made) if len(fit) > 1 else fit
    if solver.project.unit(group[0][1]).dialect.rest_is_last:
        fit = _without_open(solver, fit)
    extending = _extending(solver, fit, name, made)
    if extending and not any(own.takes and not own.against for own in fit.values()):
        return [*extending], Reason.OVERLOAD if len(extending) <= MAX_FITTING else Reason.MANY_IMPLEMENTATIONS
    best = max(own.worth for own in fit.values())
    chosen = [value for value, own in fit.items() if own.worth == best]
    chosen = of_type_asked(solver, chosen, made.node) if len(chosen) > 1 else chosen
    if len(chosen) > 1 and selects and all(is_told(solver, fit[value], made) for value in chosen):
        chosen = _narrowest(solver, chosen, len(made.arguments))
    least = max(fit[value].spared for value in chosen)
    chosen = [value for value in chosen if fit[value].spared == least]
    if selects and not fit[chosen[0]].takes:
        return group, Reason.OTHER_ARGUMENTS
    chosen += extending
    functions = [*dict.fromkeys(value[1] for value in chosen)]  # one, of several objects, is no overload
    if len(functions) > 1:
        if len(functions) <= MAX_NARROWED and are_alternatives(solver, functions):
            return chosen, Reason.CONDITIONAL
        return chosen, Reason.OVERLOAD if len(functions) <= MAX_FITTING else Reason.MANY_IMPLEMENTATIONS
    only = chosen[0]
    beside = [value for value, own in fit.items() if own.takes and value[1] != only[1]]
    others = [value for value in beside if not fit[value].against]
    is_surely = not others or (
        is_sure(solver, fit[only], made) and not any(_may_beat(solver, fit, value, only, owner) for value in others)
    )
    is_surely = is_surely and not any(_may_take_value(solver, fit, value, only) for value in beside)
    return chosen, Reason.OVERLOAD if not is_surely or (selects and fit[only].against) else Reason.BOUND


def _without_open(solver: Solver, fit: dict[Value, Fit]) -> dict[Value, Fit]:
    """Where a function surely takes the arguments, none that takes any number of them: Java asks those last."""
    for value, own in fit.items():
        if own.takes and not own.against and not own.is_open:
            types = _wanted_types(solver, value, len(own.each))
            takes_any = [name in ANYTHING and not objects for name, objects in types]
            if all(how > PERHAPS or is_any for how, is_any in zip(own.each, takes_any, strict=False)):
                return {other: its for other, its in fit.items() if not its.is_open}
    return fit


def _extending(solver: Solver, fit: dict[Value, Fit], name: int, made: MadeCall) -> list[Value]:
    """The functions that extend a class, and are meant where none of its own of that name takes the arguments.

    There are none if one of those surely does.
    """
    beside = solver.classes.beside
    if not beside or any(is_sure(solver, own, made) for own in fit.values() if own.takes and not own.against):
        return []
    found = dict[Value, Fit]()
    for receiver in dict.fromkeys(value[2] for value in fit if value[0] == BOUND):
        order = solver.classes.order(receiver[1]) if receiver[0] == OBJECT else ()
        for function in (each for of in order for each in beside.get((of, name), ())):
            value: Value = (BOUND, function, receiver)
            found[value] = taken(solver, value, made)
    return [value for value, own in found.items() if own.takes and not own.against]


def _is_found(solver: Solver, fit: dict[Value, Fit], made: MadeCall) -> bool:
    """Whether a function that a call sees settles what it means."""
    return any(
        _settles(solver, value[1], own, made) and not _is_hidden(solver, value[1], made.node)
        for value, own in fit.items()
    )


def _is_constructor(solver: Solver, function: int) -> bool:
    """Whether a function makes objects of its class alone."""
    unit, own = solver.project.unit(function), solver.project.scope(function).name
    return unit.dialect.own_constructors and own != NONE and unit.facts.names[own] in unit.dialect.constructors


def _may_beat(solver: Solver, fit: dict[Value, Fit], other: Value, chosen: Value, owner: int | None) -> bool:
    """Whether another function may be meant: it takes one argument better, or is of a class nearer to the one asked."""
    dialect = solver.project.unit(chosen[1]).dialect
    if dialect.selects == "nearest" and owner is not None:
        at, above = solver.classes.owner(other[1]), solver.classes.owner(chosen[1])
        is_nearer = at is not None and at != above and above in solver.classes.order(at)
        if is_nearer and not solver.project.scope(other[1]).flags & Flag.OVERRIDES:
            return True
    count = len(fit[chosen].each)
    types = zip(_wanted_types(solver, other, count), _wanted_types(solver, chosen, count), strict=False)
    pairs = zip(fit[other].each, fit[chosen].each, types, strict=False)
    return any(
        theirs > own or (theirs == own < YES and _narrows(solver, dialect, *wanted) == YES) or _may_point(*wanted)
        for theirs, own, wanted in pairs
    )


def _may_take_value(solver: Solver, fit: dict[Value, Fit], other: Value, chosen: Value) -> bool:
    """Whether one takes a number where another takes what points to one, of C++: what is an `int` may be either."""
    dialect, count = solver.project.unit(chosen[1]).dialect, len(fit[chosen].each)
    types = zip(
        _wanted_types(solver, other, count), _wanted_types(solver, chosen, count), fit[chosen].each, strict=False
    )
    return dialect.declared and any(
        own[-1:] == "*" and own != POINTER and name[-1:] != "*" and not objects and how == YES
        for (name, objects), (own, _), how in types
    )


def _may_point(other: Wanted, chosen: Wanted) -> bool:
    """Whether one takes any pointer, which what another takes may be: a number is not told from what points to one."""
    return other[0] == TO_ANY and not chosen[1] and chosen[0][-1:] != "*"


def _settles(solver: Solver, function: int, fit: Fit, made: MadeCall) -> bool:
    """Whether no class above is asked, since a function that the class itself declares surely takes the arguments.

    One that overrides another is declared above, as C# sees it.
    """
    row = solver.project.scope(function)
    if not fit.takes or fit.against or row.flags & Flag.OVERRIDES:
        return False
    return is_sure(solver, fit, made) or (
        bool(fit.each) and all(takes_all(solver, function, each) for each in row.parameters)
    )


def _narrowest(solver: Solver, chosen: list[Value], count: int) -> list[Value]:
    """Of functions that fit equally well those of which no other one takes narrower types."""
    if len(chosen) > MAX_NARROWED:
        return chosen
    dialect = solver.project.unit(chosen[0][1]).dialect
    types = {value: _wanted_types(solver, value, count) for value in chosen}
    found = [
        at
        for at in chosen
        if not any(_are_narrower(solver, dialect, types[by], types[at]) for by in chosen if by != at)
    ]
    return found or chosen


def _wanted_types(solver: Solver, value: Value, count: int) -> list[Wanted]:
    """The types of the parameters of a function that so many arguments go to."""
    parameters = parameters_of(solver, value)
    parameters = [*parameters[:count], *parameters[-1:] * (count - len(parameters))]  # the last may take several
    types = (NONE if each.type == NONE else solver.child(value[1], each.type) for each in parameters)
    return [("", []) if type_ == NONE else wanted_of(solver, type_) for type_ in types]


def _are_narrower(solver: Solver, dialect: Dialect, own: list[Wanted], others: list[Wanted]) -> bool:
    """Whether some types are those of others, or narrower, and one of them is."""
    how = [_narrows(solver, dialect, *pair) for pair in zip(own, others, strict=False)]
    return len(own) == len(others) and YES in how and NO not in how


def _narrows(solver: Solver, dialect: Dialect, own: Wanted, other: Wanted) -> int:
    """Whether a type is narrower than another one; PERHAPS where they are the same."""
    (name, objects), (wider, others) = own, other
    if name.endswith(ARRAY) != wider.endswith(ARRAY):
        return YES if name.endswith(ARRAY) and wider in ANYTHING and not others else NO
    (name, more), (wider, further) = of_array(name), of_array(wider)
    if more != further:
        return NO
    if objects and others:
        if objects[0][1] == others[0][1]:
            return PERHAPS
        return YES if others[0][1] in solver.classes.order(objects[0][1]) else NO
    if wider in ANYTHING and not others:
        return PERHAPS if name in ANYTHING and not objects else YES
    if name == wider and not objects and not others:
        return PERHAPS
    is_wider = not (objects or others) and (widens_to(dialect, name, wider) or dialect.boxes.get(name) == wider)
    return YES if is_wider else NO


def _take_inherited(solver: Solver, fit: dict[Value, Fit], owner: int, name: int, made: MadeCall) -> None:
    """Add the functions of that name in the classes above an owner, which are called on the same object.

    What an override takes is what the function above it takes: in Kotlin it does not repeat what may be left out.
    """
    if not (inherited := _inherited(solver, owner, name)):
        return
    shapes = {_shape(solver, value[1]) for value in fit}
    inherited = [function for function in inherited if _shape(solver, function) not in shapes]
    inherited = [function for function in inherited if not _is_hidden(solver, function, made.node)]
    own = {_shape(solver, value[1])[0]: value for value in fit} if inherited else {}
    receiver = next(iter(fit))
    is_nearest = solver.project.unit(receiver[1]).dialect.selects == "nearest"
    settled: int | None = None  # the class whose function surely takes the arguments, in C# the last to be asked
    for function in inherited:
        level = solver.classes.owner(function)
        if settled is not None and level != settled:
            break
        value: Value = (BOUND, function, receiver[2]) if receiver[0] == BOUND else (FUNCTION, function)
        override = own.get(_shape(solver, function)[0])
        found = taken(solver, value, made)
        if is_nearest and _settles(solver, function, found, made):
            settled = level
        if override is None:
            fit[value] = found
        elif found.worth > fit[override].worth:
            fit[override] = found


def _inherited(solver: Solver, owner: int, name: int) -> list[int]:
    """The functions of a name in the classes above one, the nearest of those with the same parameters."""
    found = solver.inherited.get((owner, name))
    if found is None:
        found, nearer = [], set[object]()
        above, _ = solver.classes.of_class(owner, name, owner)
        while above is not None and len(found) < MAX_INHERITED:
            own = [function for _, function in map(solver.project.defined, solver.project.table(above)[name])]
            own = [at for at in own if at >= 0 and _is_inherited(solver, at)]
            found += [function for function in own if _shape(solver, function) not in nearer]
            seen = (at for at in own if not solver.project.scope(at).flags & Flag.HIDDEN)
            nearer.update(_shape(solver, function) for function in seen)
            above, _ = solver.classes.of_class(owner, name, above)
        solver.inherited[owner, name] = found
    return found


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
