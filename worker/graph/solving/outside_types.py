"""Types outside the project of which a language says all that is above them: a `List` of Kotlin is a `Collection`."""

from fledgling.worker.dialect import Dialect
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import Op
from fledgling.worker.graph.values import CONSTANT, CONTAINER, EXTERNAL, Value


def known_type(solver: Solver, dialect: Dialect, value: Value) -> str:
    """The last name of the type of which a value is, where that is outside and all above it is known; else ""."""
    name = ""
    if value[0] == EXTERNAL and value[1].endswith("#"):
        name = value[1].rstrip("?#").rpartition(".")[2]
    elif value[0] == CONTAINER and type(value[1]) is int and solver.op(value[1]) == Op.INDEX:
        name = solver.project.last_name(solver.child(value[1], solver.project.expression(value[1])[1]))
    elif value[:2] == (CONSTANT, "text") and dialect.texts:
        name = max(dialect.texts, key=lambda text: dialect.texts[text])
    return name if name in dialect.above else ""


def is_under(dialect: Dialect, name: str, other: str) -> bool | None:
    """Whether what is of a known type is of another one as well; None where nothing is known of that."""
    if other == name or other in dialect.above[name] or other in dialect.of_all:
        return True
    return False if other in dialect.above else None
