"""How well arrays fit the types of parameters, and what else fits an array."""

from fledgling.worker.dialect import Dialect
from fledgling.worker.graph.solving.overloading.library_types import ANYTHING, ARRAY, BOXED, NO, PERHAPS, WIDER, YES
from fledgling.worker.graph.solving.overloading.wanted import Wanted, wanted_of
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Op, Parameter
from fledgling.worker.graph.values import CLASS, CONSTANT, CONTAINER, EXTERNAL, FUNCTION, OBJECT, Cell, Value, Values


def takes_whole(solver: Solver, function: int, parameter: Parameter, cell: Cell) -> int:
    """How well an array fits as all that a parameter takes which takes several: `f(A... a)`, given an `A[]`."""
    arrays = arrays_of(solver, solver.value(cell))
    if not arrays or parameter.type == NONE:
        return NO
    name, objects = wanted_of(solver, solver.child(function, parameter.type))
    dialect = solver.project.unit(function).dialect
    return min(fits_array(solver, dialect, own, (name + ARRAY, objects)) for own in arrays)


def arrays_of(solver: Solver, values: Values) -> list[Wanted]:
    """The types of the arrays that an argument may be; none if it may be anything else."""
    found = [array_type(solver, value) for value in values]
    known = [own for own in found if own]
    is_all = all(own or is_bare_list(solver, value) for own, value in zip(found, values, strict=True))
    return known if is_all else []


def is_bare_list(solver: Solver, value: Value) -> bool:
    """Whether a value is an array that is written out without its type, `{1, 2}`: that of what it is given to."""
    return value[0] == CONTAINER and type(value[1]) is int and solver.op(value[1]) == Op.LIST


def array_type(solver: Solver, value: Value) -> Wanted | None:
    """The type of an array: what is declared, or what a parameter that takes several is in its function."""
    if value[0] == EXTERNAL and value[1].endswith(ARRAY + "#"):
        return value[1].removesuffix("#").rpartition(".")[2], []
    if value[0] != CONTAINER:
        return None
    at = value[1]
    if type(at) is int:
        return wanted_of(solver, at) if solver.op(at) == Op.ARRAY else None
    if at[0] != "rest" or type(at[1]) is not int:
        return None
    rest = next((each for each in solver.project.scope(at[1]).parameters if each.rest), None)
    if rest is None or rest.type == NONE:
        return None
    name, objects = wanted_of(solver, solver.child(at[1], rest.type))
    return name + ARRAY, objects


def into_array(solver: Solver, value: Value) -> int:
    """How well what is not known as an array fits one."""
    is_other = value[0] in (OBJECT, FUNCTION, CLASS, CONSTANT)
    is_named = value[0] == EXTERNAL and value[1].endswith("#") and value[1] != "builtins.dynamic#"
    is_generic = value[0] == CONTAINER and type(value[1]) is int and solver.op(value[1]) == Op.INDEX
    return NO if is_other or is_named or is_generic else PERHAPS


def fits_array(solver: Solver, dialect: Dialect, own: Wanted, type_: Wanted) -> int:
    """How well an array of a type, `A[]`, fits what is declared to be of a type."""
    (name, objects), (other, wanted) = own, type_
    if not other.endswith(ARRAY):
        is_above = other in ANYTHING or other == "Cloneable" or dialect.selects == "nearest"
        return PERHAPS if is_above and not wanted and not dialect.is_plain(other) else NO
    (name, more), (other, others) = of_array(name), of_array(other)
    if more != others or (other.endswith(ARRAY) and name and not name.endswith(ARRAY)):
        return NO
    is_plain = name in dialect.boxes or name in dialect.widens  # a number of Java is in no array of objects
    if other in ANYTHING and not wanted:
        is_any = other == "" and dialect.selects == "nearest"
        return PERHAPS if name == other or (is_plain and is_any) else NO if is_plain else BOXED
    if objects and wanted and name.endswith(ARRAY) == other.endswith(ARRAY):
        order = solver.classes.order(objects[0][1])
        place = min((order.index(at[1]) for at in wanted if at[1] in order), default=NO)
        return NO if place == NO else max(YES - place, 2)
    if name == other and not objects and not wanted:
        return YES
    if is_plain or other in dialect.boxes or other in dialect.widens or (objects and dialect.is_plain(other)):
        return NO
    if name in dialect.texts and other in dialect.texts:
        return WIDER
    if (library := dialect.library) and not objects and library.arity(name) is not None:
        return WIDER if library.is_below(name, other) else NO
    return NO if dialect.is_plain(name) and dialect.is_plain(other) and not objects else PERHAPS


def of_array(name: str) -> tuple[str, int]:
    """The name of what an array holds, by the name of its type, and how many dimensions it has beside the first."""
    within = name.removesuffix(ARRAY)
    held = within.rstrip(",")
    return held, len(within) - len(held)
