"""Types of a language's own library: a `List` of Kotlin is a `Collection`."""

from fledgling.worker.dialect import Dialect
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import Op
from fledgling.worker.graph.values import CONSTANT, CONTAINER, EXTERNAL, Value


def known_type(solver: Solver, dialect: Dialect, value: Value) -> str:
    """The last name of the type of which a value is, where that is one of the library; else ""."""
    library = dialect.library
    if library is None:
        return ""
    if value[0] == EXTERNAL and value[1].endswith("#"):
        return library.known(value[1].rstrip("?#"))
    if value[0] == CONTAINER:
        return library.known(type_outside(solver, value))
    if value[:2] == (CONSTANT, "text") and dialect.texts:
        return max(dialect.texts, key=lambda text: dialect.texts[text])
    return ""


def type_outside(solver: Solver, value: Value) -> str:
    """The full name of the type outside that a container is declared to be of: `List<A>`; else ""."""
    if type(value[1]) is not int or solver.op(value[1]) != Op.INDEX:
        return ""
    named = solver.value(solver.child(value[1], solver.project.expression(value[1])[1]))
    return next((each[1] for each in named if each[0] == EXTERNAL), "") if len(named) == 1 else ""


def is_under(dialect: Dialect, name: str, other: str) -> bool | None:
    """Whether what is of a type is of another one as well; None where the library does not have both."""
    library = dialect.library
    if library is None:
        return None
    if other == name or other in dialect.of_all or library.is_below(name, other):
        return True
    return False if library.has(name) and library.has(other) else None
