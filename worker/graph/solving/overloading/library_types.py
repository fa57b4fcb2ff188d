"""How well objects of a library's classes fit types, and of which type of function an interface is."""

from fledgling.worker.dialect import Dialect
from fledgling.worker.graph.solving.expected import single_method
from fledgling.worker.graph.solving.outside_types import type_outside
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Op
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import BOUND, CLASS, CONTAINER, EXTERNAL, FUNCTION, Cell
from fledgling.worker.library import ROOT, Library

ANYTHING = ("Object", "object", "Any", "dynamic", "T", "E", "K", "V", "Comparable", "Serializable", "")
NO, PERHAPS, BOXED, WIDER, YES, LITERAL = -1, 1, 2, 3, 4, 5  # how well an argument fits
ARRAY = "[]"  # ends the names of types that are arrays; before it stands a comma for each further dimension
MAX_CALLED = 4  # methods of a container that are called one after the other: `a.b().c()`


def widens_to(dialect: Dialect, name: str, wider: str) -> bool:
    """Whether what is of a type is of a wider one as well: an `int` is a `long`, and an `int?`."""
    plain = name.removesuffix("?")
    return wider.removesuffix("?") in (plain, *dialect.widens.get(plain, ())) and (plain == name or wider[-1:] == "?")


def of_library(dialect: Dialect, library: Library, name: str, wanted: str, *, is_own: bool) -> int:
    """How well an object of a class of the library, or a plain value, fits another type.

    What needs no boxing goes before all that does.
    """
    is_any = wanted in ANYTHING and not is_own
    if name in dialect.boxes:
        box = dialect.boxes[name]
        is_above = is_any or library.is_below(box, wanted)
        return WIDER if widens_to(dialect, name, wanted) else BOXED if box == wanted else PERHAPS if is_above else NO
    if is_any or library.is_below(name, wanted):
        return WIDER if library.is_below(name, wanted) else BOXED if wanted in (ROOT, "") else PERHAPS
    plain = next((plain for plain, box in dialect.boxes.items() if box == name), "")
    return PERHAPS if not is_own and plain and widens_to(dialect, plain, wanted) else NO


def by_base(solver: Solver, of: int, name: str) -> int:
    """How well an object of a class with bases outside fits a type outside, where the library has all of these."""
    library = solver.project.unit(of).dialect.library
    nodes = [solver.child(at, base) for at in solver.classes.order(of) for base in solver.project.scope(at).bases]
    bases = [value for node in nodes for value in solver.value(node) or ((EXTERNAL, ""),)]
    above = [library.known(value[1]) if library else "" for value in bases if value[0] != CLASS]
    if library is None or not all(above):
        return PERHAPS
    return WIDER if any(base == name or library.is_below(base, name) for base in above) else NO


def container_type(solver: Solver, cell: Cell, depth: int = 0) -> str:
    """The full name of the type outside that a container is declared to be of, or that the library says; else ""."""
    if type(cell) is not int or depth > MAX_CALLED:
        return ""
    library = solver.project.unit(cell).dialect.library
    op, *parts = solver.project.expression(cell)
    if library is None or op not in (Op.CALL, Op.NAME, Op.GET, Op.BARE, Op.PARAMETER):
        return ""
    called = solver.child(cell, parts[0]) if op == Op.CALL else NONE
    if op == Op.CALL and not any(value[0] in (FUNCTION, BOUND) for value in solver.value(called)):
        if solver.op(called) != Op.GET:
            return ""
        made = [value[1] for value in solver.value(called) if value[0] == EXTERNAL and "#" not in value[1]]
        if made and (given := library.gives(made[0])):  # Arrays.asList(a)
            return given if library.known(given) else ""
        of, method = solver.child(called, solver.project.expression(called)[1]), solver.project.expression(called)[2]
        full, name = container_type(solver, of, depth + 1), solver.project.unit(cell).facts.names[method]
        return library.gives(f"{full}#.{name}") if full else ""
    if op == Op.NAME and any(
        solver.op(solver.project.value_of((cell & ~MASK) | at)) == Op.CALL for at in parts[2] or ()
    ):
        return ""  # `var a = b.stream()`: how that came is not known
    values = solver.value(cell)
    if len(values) != 1 or any(value[0] != CONTAINER for value in values):
        return ""
    full = type_outside(solver, *values)
    return full if library.known(full) else ""


def arity_of(solver: Solver, of: int) -> int | None:
    """How many arguments the only method without a body takes that an interface of the project has; -1 if none is."""
    method = single_method(solver, of)
    return method if method in (None, NONE) else len(solver.project.scope(method).parameters)


def arity_outside(solver: Solver, type_: int, name: str) -> int | None:
    """The same of a type outside, where the library has it."""
    library = solver.project.unit(type_).dialect.library
    values = solver.value(("type", type_, None))
    full = [value[1].removesuffix("#") for value in values if value[0] == EXTERNAL]
    return (
        library.arity(name)
        if library is not None and len(full) == len(values) == 1 and library.known(full[0])
        else None
    )
