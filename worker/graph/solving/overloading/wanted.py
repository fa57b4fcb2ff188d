"""What the type of a parameter wants: its last name, and the objects of the project that are of it."""

from fledgling.worker.graph.solving.overloading.library_types import ARRAY
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import Op
from fledgling.worker.graph.values import EXTERNAL, OBJECT, Value, Values

POINTER, TO_ANY, POINTING = "char*", "void*", "*"  # the names of those types of C++: the last of a template's `T *`
Wanted = tuple[str, list[Value]]  # the last name of a type, and the objects of it that the project defines


def wanted_of(solver: Solver, type_: int) -> Wanted:
    """The last name of a type, "" where it may be any, and the objects of it that the project defines."""
    values = solver.value(("type", type_, None))
    known, found = solver.wanted.get(type_, (None, ("", [])))
    if known is not values:
        found = _wanted(solver, type_, values)
        solver.wanted[type_] = values, found
    return found


def _wanted(solver: Solver, type_: int, values: Values) -> Wanted:
    project = solver.project
    wanted = [value for value in values if value[0] == OBJECT]
    if is_pointer := solver.op(type_) == Op.POINTEE:
        type_ = solver.child(type_, project.expression(type_)[1])
    if not values and solver.op(type_) in (Op.NAME, Op.BARE):  # a type parameter
        return POINTING if is_pointer and project.unit(type_).dialect.converts else "", wanted
    op, *parts = project.expression(type_)
    if op == Op.ARRAY and project.unit(type_).dialect.selects:
        name, objects = wanted_of(solver, solver.child(type_, parts[0]))
        return name + "," * sum(parts[2:]) + ARRAY, objects
    name = project.last_name(solver.child(type_, parts[0]) if op == Op.INDEX else type_)
    if project.unit(type_).dialect.converts and op != Op.INDEX:
        name = _stood_for(values) or name
    if is_pointer and not wanted:
        return f"{name}*", wanted
    return name if wanted else project.unit(type_).dialect.type_aliases.get(name, name), wanted


def _stood_for(values: Values) -> str:
    """The last name of the one type outside that a name of the project stands for: `using Text = std::string;`."""
    [*names] = {value[1] for value in values if value[0] == EXTERNAL}
    return names[0].removesuffix("#").rpartition(".")[2] if len(names) == 1 and names[0].endswith("#") else ""
