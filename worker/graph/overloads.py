"""Which of several functions of one name a call means, by the number and the types of its arguments."""

from collections.abc import Iterable
from typing import NamedTuple

from fledgling.worker.graph.arguments import Call, takes_receiver
from fledgling.worker.graph.reasons import CERTAIN, Reason
from fledgling.worker.graph.solver import Solver
from fledgling.worker.graph.tables import NONE, Flag, Op, Parameter, ScopeKind
from fledgling.worker.graph.values import (
    BOUND,
    CLASS,
    CONSTANT,
    CONTAINER,
    EXTERNAL,
    FUNCTION,
    OBJECT,
    Cell,
    Value,
    Values,
)
from fledgling.worker.language import Dialect

ANYTHING = ("Object", "object", "Any", "dynamic", "T", "E", "K", "V", "Comparable", "Serializable", "")
ABOVE_PLAIN = ("Number", "ValueType", "Constable", "ConstantDesc")  # and the interfaces of C#: IComparable
MAX_INHERITED = 64  # functions of one name in the classes above; of more, those of the nearest count
MAX_FITTING = 2  # overloads that fit equally well; of more, each is only possible
NO, PERHAPS, BOXED, WIDER, YES, LITERAL = -1, 1, 2, 3, 4, 5  # how well an argument fits


def called(solver: Solver, values: Values, made: Call) -> Values:
    """What a call means whose function has several values: those that fit, and in C++ those of other namespaces.

    `f(a)` finds functions beside the type of a too, which are not told apart from what f means without that.
    """
    found = fitting(solver, values, made)
    others = _beside_arguments(solver, values, made)
    if not others:
        return found
    return {value: min(sure, Reason.OVERLOAD) for value, sure in {**others, **found}.items()}


def _beside_arguments(solver: Solver, values: Values, made: Call) -> Values:
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


def fitting(solver: Solver, values: Values, made: Call) -> Values:
    """The functions among values that a call may mean; where several fit equally, each is one of several overloads.

    Where none of a class takes the arguments, those of the classes above it are meant; where none does at all, the
    arguments are not what they seem, and each is possible.
    """
    groups: dict[tuple[int | None, int], list[Value]] = {}
    for value in values:
        if value[0] in (FUNCTION, BOUND):
            row = solver.project.scope(value[1])
            unit = solver.project.unit(value[1])
            if unit.dialect.overloads and row.name != NONE:
                groups.setdefault((solver.classes.owner(value[1]), unit.names[row.name]), []).append(value)
    found = dict(values)
    for (owner, name), group in groups.items():
        if len(group) < 2 and not solver.project.unit(group[0][1]).dialect.selects:
            continue
        chosen, reason = _chosen(solver, group, owner, name, made)
        surest = max(found.pop(value) for value in group)
        found.update((value, min(values.get(value, surest), reason)) for value in chosen)
    return _not_all(solver, found)


def _not_all(solver: Solver, values: Values) -> Values:
    """The values, of which a call means one: where extensions of several types have its name, none is certain."""
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


def _chosen(solver: Solver, group: list[Value], owner: int | None, name: int, made: Call) -> tuple[list[Value], int]:
    """The functions of one name and class that a call may mean, or of the classes above it, and how sure they are."""
    selects = solver.project.unit(group[0][1]).dialect.selects
    fit = {value: taken(solver, value, made) for value in group}
    is_found = any(own.takes and not own.against for own in fit.values())
    if owner is not None and (selects == "all" or (selects and not is_found)):
        _take_inherited(solver, fit, owner, name, made)
    best = max(own.worth for own in fit.values())
    chosen = [value for value, own in fit.items() if own.worth == best]
    if selects and not fit[chosen[0]].takes:
        return group, Reason.OTHER_ARGUMENTS
    if len(chosen) > 1:
        return chosen, Reason.OVERLOAD if len(chosen) <= MAX_FITTING else Reason.MANY_IMPLEMENTATIONS
    [only] = chosen
    others = sum(own.takes and not own.against for own in fit.values()) > 1
    is_doubtful = fit[only].against or (others and not fit[only].is_sure)
    return chosen, Reason.OVERLOAD if selects and is_doubtful else Reason.BOUND


def _take_inherited(solver: Solver, fit: dict[Value, "Fit"], owner: int, name: int, made: Call) -> None:
    """Add the functions of that name in the classes above an owner, which are called on the same object.

    What an override takes is what the function above it takes: in Kotlin it does not repeat what may be left out.
    """
    shapes = {_shape(solver, value[1]) for value in fit}
    inherited = [function for function in _inherited(solver, owner, name) if _shape(solver, function) not in shapes]
    own = {_types(solver, value[1]): value for value in fit} if inherited else {}
    receiver = next(iter(fit))
    for function in inherited:
        value: Value = (BOUND, function, receiver[2]) if receiver[0] == BOUND else (FUNCTION, function)
        override = own.get(_types(solver, function))
        found = taken(solver, value, made)
        if override is None:
            fit[value] = found
        elif found.worth > fit[override].worth:
            fit[override] = found


def _inherited(solver: Solver, owner: int, name: int) -> Iterable[int]:
    """The functions of a name in the classes above one, the nearest of those with the same parameters."""
    found = solver.inherited.get((owner, name))
    if found is None:
        found, nearer = [], set[object]()
        above, _ = solver.classes.of_class(owner, name, owner)
        while above is not None and len(found) < MAX_INHERITED:
            own = [function for _, function in map(solver.project.defined, solver.project.table(above)[name])]
            own = [at for at in own if at >= 0 and solver.project.scope(at).kind == ScopeKind.FUNCTION]
            found += [function for function in own if _shape(solver, function) not in nearer]
            nearer.update(_shape(solver, function) for function in own)
            above, _ = solver.classes.of_class(owner, name, above)
        solver.inherited[owner, name] = found
    return found


def _shape(solver: Solver, function: int) -> object:
    """What a function takes, and what of that may be left out or be several: what fits one fits another like it."""
    found = solver.shapes.get(function)
    if found is None:
        parameters = solver.project.scope(function).parameters
        may_lack = [(each.default == NONE, each.rest) for each in parameters]
        found = solver.shapes[function] = (_types(solver, function), *may_lack)
    return found


def _types(solver: Solver, function: int) -> tuple[str, ...]:
    """The last names of the types of a function's parameters."""
    parameters = solver.project.scope(function).parameters
    types = (NONE if each.type == NONE else solver.child(function, each.type) for each in parameters)
    return tuple("" if type_ == NONE else solver.project.last_name(type_) for type_ in types)


class Fit(NamedTuple):
    """How well a function takes the arguments of a call."""

    takes: bool  # as many as there are
    against: int  # arguments of types that do not fit
    score: int
    is_sure: bool  # the types of all arguments are known

    @property
    def worth(self) -> tuple[bool, int, int]:
        """What is more for the function that fits better."""
        return self.takes, -self.against, self.score


def taken(solver: Solver, value: Value, made: Call) -> Fit:
    """How well the parameters of a function take the arguments of a call."""
    function = value[1]
    skip = 1 if value[0] == BOUND and takes_receiver(solver, function) else 0
    parameters = solver.project.scope(function).parameters[skip:]
    rest = next((place for place, parameter in enumerate(parameters) if parameter.rest == 1), len(parameters))
    has_rest = rest < len(parameters)
    needed = sum(parameter.default == NONE and not parameter.rest for parameter in parameters)
    count = len(made.arguments)
    if needed > count + len(made.words) or not (has_rest or count + len(made.words) <= len(parameters)):
        return Fit(takes=False, against=0, score=0, is_sure=True)
    each = [fits(solver, function, parameters[min(at, rest)], cell) for at, (cell, _) in enumerate(made.arguments)]
    is_behind = made.words or count < len(parameters) or rest + 1 < len(parameters)
    if each and each[-1] == NO and is_behind:  # a lambda behind a call is the last one
        each[-1] = PERHAPS
    left = 0 if made.words else count - len(parameters)  # which of them are given by name is not compared
    return Fit(
        takes=True,
        against=each.count(NO),
        score=sum(fit for fit in each if fit != NO) + (-1 if has_rest else left),
        is_sure=not (has_rest or made.words) and all(fit > PERHAPS for fit in each),
    )


def fits(solver: Solver, function: int, parameter: Parameter, cell: Cell) -> int:
    """How well one argument fits a parameter."""
    values = solver.value(cell)
    if parameter.type == NONE or not values:
        return PERHAPS
    type_ = solver.child(function, parameter.type)
    name, wanted = _wanted(solver, type_)
    dialect = solver.project.unit(function).dialect
    best = NO
    for value in values:
        if value[0] == OBJECT:
            order = solver.classes.order(value[1])
            if wanted:
                place = min((order.index(at[1]) for at in wanted if at[1] in order), default=NO)
                own = NO if place == NO else max(YES - place, 2)
            else:
                own = PERHAPS if name in ANYTHING or value[1] in solver.classes.has_external_base else NO
        elif value[0] == CONSTANT:
            known = dialect.numbers if value[1] == "number" else dialect.texts
            is_other = value[1] == "number" and dialect.declared and not wanted and not dialect.is_plain(name)  # size_t
            otherwise = WIDER if is_other else NO
            own = known.get(name, PERHAPS if _is_above_plain(name) else otherwise)
            if name == "char" and value[1] == "text" and dialect.declared:
                own = LITERAL  # char * is what a literal is
        elif value[0] == EXTERNAL:
            own = _of_external(dialect, value[1], name, is_own=bool(wanted))
        elif value[0] == FUNCTION:
            own = NO if name in dialect.texts or name in dialect.numbers else PERHAPS
        elif value[0] in (CONTAINER, CLASS):
            is_other = wanted and value[0] == CONTAINER  # a class may stand for its companion object
            own = NO if is_other or name in dialect.numbers or name in dialect.texts else PERHAPS
        else:
            own = PERHAPS
        best = max(best, own)
    return best


def _wanted(solver: Solver, type_: int) -> tuple[str, list[Value]]:
    """The last name of a type, "" where it may be any, and the objects of it that the project defines."""
    project = solver.project
    values = solver.value(("type", type_, None))
    wanted = [value for value in values if value[0] == OBJECT]
    if not values and solver.op(type_) in (Op.NAME, Op.BARE):  # a type parameter
        return "", wanted
    name = project.last_name(type_)
    return name if wanted else project.unit(type_).dialect.type_aliases.get(name, name), wanted


def _is_above_plain(name: str) -> bool:
    """Whether a type of that name may take a number or a text: a class or an interface that those have above them."""
    return name in ANYTHING or name in ABOVE_PLAIN or (name[:1] == "I" and name[1:2].isupper())


def _of_external(dialect: Dialect, full: str, name: str, *, is_own: bool) -> int:
    """How well an object of a type outside the project, `a.B#`, fits what is declared to be of a type of that name."""
    if not full.endswith("#"):
        return PERHAPS
    last = full[:-1].rpartition(".")[2]
    last = dialect.type_aliases.get(last, last)
    if last == name:
        return YES
    if name in ANYTHING:
        return PERHAPS
    if last in dialect.texts and name in dialect.texts:
        return dialect.texts[name]
    if name in dialect.widens.get(last, ()):
        return WIDER
    if dialect.boxes.get(last) == name:
        return BOXED
    unboxed = next((plain for plain, box in dialect.boxes.items() if box == last), "")
    if unboxed and (unboxed == name or name in dialect.widens.get(unboxed, ())):
        return PERHAPS
    if dialect.is_plain(last) and not is_own and _is_above_plain(name):
        return PERHAPS
    return NO if is_own or dialect.is_plain(last) or dialect.is_plain(name) else PERHAPS
