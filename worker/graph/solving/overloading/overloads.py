"""Which of several functions of one name a call means, by the number and the types of its arguments."""

from collections.abc import Iterable

from fledgling.worker.graph.reasons import CERTAIN, LIKELY, Reason
from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.class_members import taken_as
from fledgling.worker.graph.solving.extended_types import is_in_function, lacks_object, of_another_type, of_type_asked
from fledgling.worker.graph.solving.overloading.argument_dependent import beside_arguments, of_friends
from fledgling.worker.graph.solving.overloading.beside_outside import (
    has_others,
    is_beside,
    may_be_of_others,
    may_be_outside,
    prelude,
)
from fledgling.worker.graph.solving.overloading.constness import of_constness, of_lasting
from fledgling.worker.graph.solving.overloading.extending import extending_taking
from fledgling.worker.graph.solving.overloading.fits import Fit, is_sure, is_told, parameters_of, taken
from fledgling.worker.graph.solving.overloading.further_out import further_out
from fledgling.worker.graph.solving.overloading.inherited import (
    Group,
    is_hidden,
    is_of_file,
    settles,
    take_inherited,
    with_taken,
)
from fledgling.worker.graph.solving.overloading.specific import (
    MAX_NARROWED,
    may_beat,
    may_take_pointer,
    may_take_value,
    narrowest,
    without_open,
)
from fledgling.worker.graph.solving.overrides import alike, are_alternatives, parameter_types
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import CLASSES, NONE, Flag, Op, ScopeKind
from fledgling.worker.graph.values import BOUND, CLASS, FUNCTION, Value, Values

MAX_FITTING = 2  # overloads that fit equally well; of more, each is only possible


def called(solver: Solver, values: Values, made: MadeCall) -> Values:
    """What a call means whose function has several values: those that fit, and in C++ those of other namespaces.

    `f(a)` finds functions beside the type of a too, which are not told apart from what f means without that.
    """
    dialect = solver.project.unit(made.node).dialect
    if dialect.calls_methods and len(values) > 1:
        values = _methods_alone(solver, values, made)
    found = fitting(solver, values, made)
    if dialect.outward:
        found = further_out(solver, _without_hidden(solver, found, made.node), made)
    others = beside_arguments(solver, values, made)
    if not others:
        return of_friends(solver, found, made)
    return {value: min(sure, Reason.OVERLOAD) for value, sure in {**others, **found}.items()}


def _methods_alone(solver: Solver, values: Values, made: MadeCall) -> Values:
    """The values of what a call calls, of Java without what a field of that name holds, if there is a method of it."""
    project = solver.project
    op, *parts = project.expression(solver.child(made.node, project.expression(made.node)[1]))
    place = {Op.GET: 1, Op.BARE: 0}.get(op)
    if place is None:
        return values
    name = project.unit(made.node).names[parts[place]]
    functions = [value for value in values if value[0] in (FUNCTION, BOUND)]
    named = [
        at for at in functions if (own := project.scope(at[1]).name) != NONE if project.unit(at[1]).names[own] == name
    ]
    return {value: values[value] for value in named} or values


def _without_hidden(solver: Solver, values: Values, node: int) -> Values:
    """The values, of which a private function of another file is no more than possible."""
    functions = [value for value in values if value[0] in (FUNCTION, BOUND) and is_of_file(solver, value[1])]
    hidden = [value for value in functions if is_hidden(solver, value[1], node)]
    return {**values, **dict.fromkeys(hidden, int(Reason.NAME_ONLY))} if hidden else values


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
    if len(groups) > 1:
        values = _renamed_first(solver, values, groups, made)
        values = with_taken(solver, values, groups)
        _put_beside(solver, groups, made.node)
    found = dict(values)
    meant: dict[Group, tuple[list[Value], int]] = {}
    above = _asked_above(solver, groups) if len(groups) > 1 else {}
    for key in sorted(groups, key=above.__contains__):
        (owner, name), group = key, groups[key]
        asked = above.get(key)
        if asked is not None and asked in meant:
            chosen, reason = _overriding(solver, group, *meant[asked])
        elif len(group) > 1 or solver.project.unit(group[0][1]).dialect.selects:
            chosen, reason = meant[key] = _chosen(solver, _asked(solver, group, above.get(key)), owner, name, made)
        elif _takes_others(solver, group[0], made):
            chosen, reason = group, Reason.OTHER_ARGUMENTS
        else:
            continue
        surest = max(found.pop(value) for value in group)
        found.update((value, min(values.get(value, surest), reason)) for value in chosen)
    return _beside_class(solver, of_another_type(solver, _not_all(solver, found), made.node), made)


def _takes_others(solver: Solver, value: Value, made: MadeCall) -> bool:
    """Whether a function of C++ does not take as many arguments as a call has: a macro may declare another one.

    One that stands outside its class may say elsewhere what it is given, and so may one of no class. Where a class is
    of another one that nobody sees, that may have one that takes what this one does not: `using T::f`.
    """
    if not solver.project.unit(value[1]).dialect.converts or any(is_spread for _, is_spread in made.arguments):
        return False
    more = len(made.arguments) - len(parameters_of(solver, value))
    owner, classes = solver.classes.owner(value[1]), solver.classes
    is_whole = owner is not None and not solver.project.scope(value[1]).flags & Flag.EXTENSION
    if (more > 0 or (more < 0 and is_whole)) and not taken(solver, value, made).takes:
        return True
    is_below = owner in classes.has_external_base or owner in classes.has_unknown_base
    return is_below and bool(taken(solver, value, made).against)


def _put_beside(solver: Solver, groups: dict[Group, list[Value]], node: int) -> None:
    """Let functions that extend classes of Kotlin compete with one of their name that stands alone, in no object."""
    if not solver.project.unit(node).dialect.implicit_parameter or not is_in_function(
        solver, solver.project.scope_of_call(node)
    ):
        return
    for owner, name in [*groups]:
        group = groups[owner, name]
        if owner is None or (None, name) not in groups or any(value[0] != FUNCTION for value in group):
            continue
        if all(solver.project.scope(value[1]).flags & Flag.EXTENSION for value in group):
            groups[None, name] += groups.pop((owner, name))


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


def _beside_class(solver: Solver, values: Values, made: MadeCall) -> Values:
    """The values, where a call may mean a class or a function of its name: neither is certain, if one can be made."""
    functions = [value for value, sure in values.items() if value[0] in (FUNCTION, BOUND) and sure >= LIKELY]
    classes = [value for value in values if value[0] == CLASS] if functions else []
    classes = [value for value in classes if solver.project.scope(value[1]).kind in CLASSES]
    if not classes:
        return values
    makes = {value for value in classes if _can_be_made(solver, value[1], made)}
    others = {value: int(Reason.OTHER_ARGUMENTS) for value in classes if value not in makes}
    meant = [*makes, *functions] if makes else []
    return {**values, **{value: min(values[value], Reason.OVERLOAD) for value in meant}, **others}


def _can_be_made(solver: Solver, scope: int, made: MadeCall) -> bool:
    """Whether a call may make an object of a class; of an interface it may if all it gives is a function."""
    row = solver.project.scope(scope)
    if row.kind != ScopeKind.INTERFACE:
        return not row.flags & Flag.ABSTRACT
    given = [cell for cell, _ in made.arguments]
    return len(given) == 1 and solver.op(given[0]) == Op.FUNCTION


def _asked(solver: Solver, group: list[Value], above: Group | None) -> list[Value]:
    """Of functions of a class that several places make up those that are there for no interface, if any are.

    Where an interface above is asked, those that are there for one. An object of Rust may as well be asked for one that
    takes it otherwise, `self` beside `&self`: which comes first depends on what refers to it.
    """
    around = {value: solver.project.scope(solver.project.outer(value[1])) for value in group}
    of_interface = [value for value, row in around.items() if row.name == NONE and row.bases]
    wanted = of_interface if above is not None else [value for value in group if value not in of_interface]
    if of_interface and wanted and above is None and solver.project.unit(wanted[0][1]).dialect.crates:
        taking = {taken_as(solver, value[1]) for value in wanted}
        wanted += [value for value in of_interface if value[0] == BOUND and taken_as(solver, value[1]) not in taking]
    return wanted or group


def _asked_above(solver: Solver, groups: Iterable[Group]) -> dict[Group, Group]:
    """The topmost class above each that is asked as well: where types are declared it says which overload is meant."""
    owners: dict[int, set[int]] = {}  # by the names of their functions
    for owner, name in groups:
        if owner is not None:
            owners.setdefault(name, set()).add(owner)
    found: dict[Group, Group] = {}
    for name, asked in owners.items():
        for owner in (at for at in asked if solver.project.unit(at).dialect.typed):
            above = next((at for at in reversed(solver.classes.order(owner)[1:]) if at in asked), None)
            if above is not None:
                found[owner, name] = above, name
    return found


def _overriding(solver: Solver, group: list[Value], meant: list[Value], reason: int) -> tuple[list[Value], int]:
    """Of the functions of a class those that override what is meant of one above it; all, where that is too much."""
    if len(meant) > MAX_NARROWED:
        return group, reason
    key = tuple(at[1] for at in meant)
    how = {value: _sameness(solver, value[1], key) for value in group}
    best = max(how.values())
    return ([value for value in group if how[value] == best], reason) if best else ([], reason)


def _sameness(solver: Solver, function: int, meant: tuple[int, ...]) -> int:
    """Whether a function takes the same as one of those that are meant of a class above its own."""
    found = solver.sameness.get((function, meant))
    if found is None:
        own = parameter_types(solver, function)
        found = max(alike(own, parameter_types(solver, each)) for each in meant)
        solver.sameness[function, meant] = found
    return found


def _seen(solver: Solver, fit: dict[Value, Fit], made: MadeCall) -> dict[Value, Fit]:
    """The functions that a call sees, unless there is no other.

    It sees a private one only within its class, and one that extends a class only where it may be asked of an object.
    """
    seen = {value: own for value, own in fit.items() if not is_hidden(solver, value[1], made.node)}
    seen = {value: own for value, own in seen.items() if not lacks_object(solver, value, made.node)}
    if any(value[0] == BOUND for value in seen) and solver.project.unit(made.node).dialect.selects == "nearest":
        of = solver.op(solver.child(made.node, solver.project.expression(made.node)[1]))
        is_static = {value: solver.project.scope(value[1]).flags & Flag.STATIC for value in seen}
        if of == Op.GET and not all(is_static.values()):  # an object has no static ones in C#
            seen = {value: own for value, own in seen.items() if not is_static[value]}
    return seen or fit


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
    most = Reason.OVERLOAD if len(extensions) <= MAX_FITTING else Reason.MANY_OVERLOADS
    return {**values, **dict.fromkeys(extensions, int(most))}


def _chosen(
    solver: Solver, group: list[Value], owner: int | None, name: int, made: MadeCall
) -> tuple[list[Value], int]:
    """The functions of one name and class that a call may mean, or of the classes above it, and how sure they are."""
    selects = solver.project.unit(group[0][1]).dialect.selects
    fit = {value: taken(solver, value, made) for value in group}
    takes_none = solver.project.unit(group[0][1]).dialect.converts and not any(own.takes for own in fit.values())
    asks_above = (selects or takes_none) and not _is_constructor(solver, group[0][1])  # in C++ by `using A::f`
    is_cut = False
    if owner is not None and asks_above and (selects == "all" or not _is_found(solver, fit, made)):
        is_cut = take_inherited(solver, fit, owner, name, made)
    fit = _seen(solver, fit, made) if len(fit) > 1 else fit
    if solver.project.unit(group[0][1]).dialect.rest_is_last:
        fit = without_open(solver, fit)
    extending = extending_taking(solver, fit, name, made)
    if extending and not any(own.takes and not own.against for own in fit.values()):
        return [*extending], Reason.OVERLOAD if len(extending) <= MAX_FITTING else Reason.MANY_OVERLOADS
    best = max(own.worth for own in fit.values())
    chosen = [value for value, own in fit.items() if own.worth == best]
    chosen = of_type_asked(solver, chosen, made.node) if len(chosen) > 1 else chosen
    chosen = of_constness(solver, of_lasting(solver, chosen, made.node), made.node)
    if len(chosen) > 1 and selects and all(is_told(solver, fit[value], made) for value in chosen):
        chosen = narrowest(solver, chosen, len(made.arguments))
    least = max(fit[value].spared for value in chosen)
    chosen = [value for value in chosen if fit[value].spared == least]
    if selects and not fit[chosen[0]].takes:
        return group, Reason.OTHER_ARGUMENTS
    if all(has_others(solver, value, name) and is_beside(solver, fit[value], name) for value in chosen):
        return chosen, Reason.OTHER_ARGUMENTS
    chosen += extending
    functions = [*dict.fromkeys(value[1] for value in chosen)]  # one, of several objects, is no overload
    if len(functions) > 1:
        if len(functions) <= MAX_NARROWED and are_alternatives(solver, functions):
            always = all(solver.project.unit(at).always_at(solver.project.scope(at).line) for at in functions)
            return chosen, Reason.OVERLOAD if always else Reason.CONDITIONAL  # `a()` and `a() const`
        return chosen, Reason.OVERLOAD if len(functions) <= MAX_FITTING else Reason.MANY_OVERLOADS
    return _alone(solver, fit, chosen, owner, name, made, is_cut=is_cut)


def _alone(
    solver: Solver,
    fit: dict[Value, Fit],
    chosen: list[Value],
    owner: int | None,
    name: int,
    made: MadeCall,
    *,
    is_cut: bool,
) -> tuple[list[Value], int]:
    """The function that fits best, with how sure that is, and in C++ another one that may be meant as well."""
    only = chosen[0]
    dialect = solver.project.unit(only[1]).dialect
    beside = [value for value, own in fit.items() if own.takes and value[1] != only[1]]
    others = [value for value in beside if not fit[value].against]
    if others and solver.project.scope(only[1]).flags & Flag.CONSTRAINED:
        return [*chosen, *others], Reason.OVERLOAD if len(others) < MAX_FITTING else Reason.MANY_OVERLOADS
    rivals = [value for value in others if may_beat(solver, fit, value, only, owner)]
    rivals += [value for value in beside if dialect.converts and may_take_pointer(solver, value, only, made)][:1]
    if len(rivals) == 1 and dialect.converts:
        return [only, *rivals], Reason.OVERLOAD
    is_surely = not others or (is_sure(solver, fit[only], made) and not rivals)
    is_of_all = owner is None and only[0] == FUNCTION and solver.project.text(name) in prelude(solver, only)
    is_surely = is_surely and (not is_of_all or is_sure(solver, fit[only], made))
    is_surely = is_surely and not is_cut and not any(may_take_value(solver, fit, value, only) for value in beside)
    are_ruled_out = dialect.selects == "nearest" and len(others) < len(beside)
    is_surely = is_surely and not (are_ruled_out and may_be_of_others(solver, fit[only], made))
    if dialect.selects and may_be_outside(solver, fit[only], name, made):
        return chosen, Reason.OTHER_ARGUMENTS if fit[only].against else Reason.EXTERNAL_BASE
    return chosen, Reason.OVERLOAD if not is_surely or (dialect.selects and fit[only].against) else Reason.BOUND


def _is_found(solver: Solver, fit: dict[Value, Fit], made: MadeCall) -> bool:
    """Whether a function that a call sees settles what it means."""
    return any(
        settles(solver, value[1], own, made) and not is_hidden(solver, value[1], made.node)
        for value, own in fit.items()
    )


def _is_constructor(solver: Solver, function: int) -> bool:
    """Whether a function makes objects of its class alone."""
    unit, own = solver.project.unit(function), solver.project.scope(function).name
    return unit.dialect.own_constructors and own != NONE and unit.facts.names[own] in unit.dialect.constructors
