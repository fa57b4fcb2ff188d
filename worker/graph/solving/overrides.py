"""Which functions of one name override which, where those of one class may take different arguments."""

from typing import Any

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.extended_types import full_names
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import CLASSES, NONE, Flag, Op, Parameter, ScopeKind
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import CLASS, EXTERNAL, OBJECT, Value

MAX_COMPARED = 1_000  # pairs of functions of one name; with more of them a class and those above it take seconds
MAX_WITHIN = 4  # types within each other that are compared; what is further in may be anything
NO, PERHAPS, YES = 0, 1, 2  # whether two types are the same
SAID = (Op.NAME, Op.BARE, Op.GET, Op.INDEX, Op.EVERY)  # what a type parameter is bound to of which something is said
BOUNDED = "bounded"  # of a type parameter of a class, which may stand for what is below that
Type = tuple[Any, ...] | None  # None may be any: a type parameter, what is not resolved


class Overrides:
    """What the functions of classes take, to compare them."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver

    def found(self, own: list[int], above: dict[int, list[int]]) -> list[tuple[int, int, int]]:
        """Which functions of a class override which of each class above it, the nearest first; and 0, or a Reason.

        That is the nearest that surely takes the same, and before it those of the nearest class that may take the same;
        and what takes the same in a class that is not above that one, as of two interfaces. Where there are too many to
        compare, it may be one that takes as many arguments.
        """
        found = []
        left = MAX_COMPARED
        for function in own:
            likely: list[int] = []
            passed: set[int] = set()  # what is above where one was found
            for at, others in above.items():
                if at in passed:
                    continue
                others = [other for other in others if may_override(self._solver, function, other)]
                left -= len(others)
                how = [(other, self._compared(function, other)) for other in others] if left > 0 else []
                if sure := [other for other, sameness in how if sameness == YES]:
                    found.append((function, sure[-1], 0))
                    passed.update(self._solver.classes.order(at))
                elif not (likely or passed):
                    by_types = [other for other, sameness in how if sameness == PERHAPS]
                    likely = by_types if left > 0 else self._by_number(function, others)
            found += [(function, other, Reason.TYPES) for other in likely]
        return found

    def _by_number(self, function: int, others: list[int]) -> list[int]:
        """The last of some functions that takes as many arguments."""
        count = len(self._solver.project.scope(function).parameters)
        return [other for other in others if len(self._solver.project.scope(other).parameters) == count][-1:]

    def _compared(self, function: int, other: int) -> int:
        """Whether two functions take the same."""
        return alike(parameter_types(self._solver, function), parameter_types(self._solver, other))


def parameter_types(solver: Solver, function: int) -> tuple[Type, ...]:
    """The types of a function's parameters."""
    found = solver.parameter_types.get(function)
    if found is None:
        parameters = solver.project.scope(function).parameters
        found = solver.parameter_types[function] = tuple(_of(solver, function, each) for each in parameters)
    return found


def _of(solver: Solver, function: int, parameter: Parameter) -> Type:
    if parameter.type == NONE:
        return None
    found = _read(solver, solver.child(function, parameter.type), 0)
    return ("array", found, 0) if parameter.rest and not (found and found[0] == "array") else found


def _read(solver: Solver, node: int, depth: int) -> Type:
    """What a type says."""
    op, *parts = solver.project.expression(node)
    base = node & ~MASK
    if depth > MAX_WITHIN:
        return None
    if op == Op.POINTEE:
        return _read(solver, base | parts[0], depth)
    if op == Op.ARRAY:
        return "array", _read(solver, base | parts[0], depth + 1), sum(parts[2:3])
    if op == Op.FUNCTION:
        return "function", None
    if op == Op.INDEX:
        key, *some = solver.project.expression(base | parts[1])
        within = some[0] if key == Op.TUPLE else [parts[1]]
        arguments = tuple(_read(solver, base | each, depth + 1) for each in within if each >= 0)
        return "applied", _read(solver, base | parts[0], depth + 1), arguments
    return _named(solver, node)


def _named(solver: Solver, node: int) -> Type:
    values = solver.value(("type", node, None))
    if len(values) != 1:
        return None
    [value] = values
    found = _of_value(solver, node, value)
    return (BOUNDED, found) if found and _is_parameter_of_class(solver, node) else found


def _of_value(solver: Solver, node: int, value: Value) -> Type:
    project = solver.project
    if value[0] == OBJECT:
        name = project.scope(value[1]).name
        return "class", value[1], "" if name == NONE else project.unit(value[1]).facts.names[name]
    if value[0] != EXTERNAL:
        return None
    name = value[1].removesuffix("#").rpartition(".")[2]
    unit = project.unit(node)
    name = unit.dialect.type_aliases.get(name, name)
    return "name", unit.language, unit.dialect.spellings.get(name, unit.dialect.boxes.get(name, name)), name


def _is_parameter_of_class(solver: Solver, node: int) -> bool:
    """Whether a type is the name of a type parameter of a class of which something is said, `class A<T extends B>`."""
    op, *parts = solver.project.expression(node)
    scope = solver.child(node, parts[1]) if op == Op.BARE else NONE
    while scope != NONE:
        if bindings := solver.project.table(scope).get(solver.project.unit(node).names[parts[0]]):
            is_of_class = solver.project.scope(scope).kind in CLASSES
            return is_of_class and solver.op(solver.project.value_of(bindings[0])) in SAID
        scope = solver.project.outer(scope)
    return False


def may_override(solver: Solver, own: int, above: int) -> bool:
    """Whether a function may override one of its name in a class above, whatever they take."""
    project = solver.project
    mine, theirs = project.scope(own), project.scope(above)
    dialect, other = project.unit(own).dialect, project.unit(above)
    around = solver.classes.owner(above)
    is_interface = around is not None and project.scope(around).kind == ScopeKind.INTERFACE
    if theirs.flags & (Flag.HIDDEN | Flag.EXPLICIT) or (dialect.selects and mine.flags & Flag.STATIC):
        return False
    if dialect.selects == "nearest" and mine.generic != theirs.generic:
        return False
    if mine.flags & Flag.EXPLICIT:
        return around in interfaces(solver, own)
    if is_interface:
        return True
    if dialect.structural:  # what embeds a type has methods beside those of the type
        return False
    if dialect.says_overrides and not mine.flags & Flag.OVERRIDES:
        return False
    if dialect.says_virtual and around is not None and theirs.name != NONE and not mine.flags & Flag.OVERRIDES:
        return solver.classes.is_virtual(around, project.unit(above).names[theirs.name])
    is_seen = theirs.flags & Flag.OPEN or project.unit(own).shares == other.shares
    return bool(is_seen) or not other.dialect.members_of_packages


def interfaces(solver: Solver, function: int) -> list[int]:
    """The interfaces through which alone a function is called: `void I.a() {}`."""
    found = (solver.value(solver.child(function, base)) for base in solver.project.scope(function).bases)
    return [value[1] for values in found for value in values if value[0] == CLASS]


def alike(own: tuple[Type, ...], above: tuple[Type, ...]) -> int:
    """Whether two functions take the same."""
    if len(own) != len(above):
        return NO
    return min(map(same, own, above), default=YES)


def are_alternatives(solver: Solver, functions: list[int]) -> bool:
    """Whether functions of one name stand together and take the very same, so that a compiler sees one of them."""
    project = solver.project
    if not project.unit(functions[0]).dialect.typed or len({project.outer(at) for at in functions}) > 1:
        return False
    if len({frozenset(full_names(solver, at)) for at in functions}) > 1:
        return False
    first, *others = ((*_extended_type(solver, at), *parameter_types(solver, at)) for at in functions)
    return all(alike(first, each) == YES for each in others)


def _extended_type(solver: Solver, function: int) -> tuple[Type, ...]:
    """The type outside that a function extends, if it does."""
    type_ = solver.classes.extensions.types.get(function)
    return () if type_ is None else (_read(solver, type_, 0),)


def same(own: Type, above: Type) -> int:
    """Whether two types are the same.

    >>> same(("name", "kotlin", "Integer", "Int"), ("name", "java", "Integer", "int")), same(None, None)
    (1, 1)
    >>> same(("name", "java", "Integer", "Integer"), ("name", "java", "Integer", "int"))
    0
    >>> same(("name", "java", "Number", "Number"), (BOUNDED, ("name", "java", "Comparable", "Comparable")))
    1
    """
    if own is None or above is None:
        return PERHAPS
    if own == above:
        return YES if _is_known(own) else PERHAPS
    if BOUNDED in (own[0], above[0]):
        return _within_bounds(own, above)
    if "applied" in (own[0], above[0]):
        (own_of, own_within), (above_of, above_within) = _applied(own), _applied(above)
        within = alike(own_within, above_within)
        return min(same(own_of, above_of), PERHAPS if within == NO else within)
    kinds = {own[0], above[0]}
    if kinds == {"array"}:
        return same(own[1], above[1]) if own[2] == above[2] else NO
    if kinds == {"array", "name"}:  # IntArray of Kotlin
        return PERHAPS if (own if own[0] == "name" else above)[-1].endswith("Array") else NO
    if kinds == {"class", "name"}:
        return PERHAPS if own[-1] == above[-1] else NO
    if kinds == {"name"} and own[1] != above[1]:  # languages of one family, which may have one name for both
        return YES if own[-1] == above[-1] else PERHAPS if own[2] == above[2] else NO
    return NO


def _within_bounds(own: tuple[Any, ...], above: tuple[Any, ...]) -> int:
    """Whether two types are the same of which one is that of a type parameter: no type outside is below a class."""
    plain = [each[1] if each[0] == BOUNDED else each for each in (own, above)]
    bounds = [each[1][0] for each in (own, above) if each[0] == BOUNDED]
    is_outside = bounds == ["class"] and any(each[0] in ("name", "array") for each in plain)
    how = same(*plain)
    return how if is_outside else max(PERHAPS, how)


def of_one_type(solver: Solver, own: int, other: int) -> int:
    """Whether two types are the same, also in all that they are applied to: no `A<B>` is an `A<C>`."""
    return _identical(_read(solver, own, 0), _read(solver, other, 0))


def _identical(own: Type, other: Type) -> int:
    if own is None or other is None or "applied" not in (own[0], other[0]):
        return same(own, other)
    (own_of, own_within), (other_of, other_within) = _applied(own), _applied(other)
    if len(own_within) != len(other_within):
        return NO
    return min(map(_identical, (own_of, *own_within), (other_of, *other_within)))


def _is_known(of: Type) -> bool:
    """Whether nothing within a type may be any."""
    return of is not None and all(_is_known(part) for part in of if part is None or type(part) is tuple)


def _applied(of: tuple[Any, ...]) -> tuple[Type, tuple[Type, ...]]:
    """A type and what it is applied to."""
    return (of[1], of[2]) if of[0] == "applied" else (of, ())
