"""What a declared type says beside what is seen: what a container holds, and that a text becomes what is declared."""

from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import Op
from fledgling.worker.graph.values import CONSTANT, CONTAINER, EXTERNAL, OBJECT, Value, Values


def says_more(solver: Solver, declared: Values, seen: Values) -> bool:
    """Whether a type says what a container holds, and nothing else does: `a: list[A] = []`, filled by who knows."""
    if not any(value[0] == CONTAINER for value in declared) or any(_holds_known(solver, value) for value in seen):
        return False
    if not solver.is_settled:
        solver.wait()
    return solver.is_settled


def agrees(declared: Values, seen: Values) -> bool:
    """Whether the objects that are seen are just those that are declared, which is as sure as the type then."""
    objects = {value for value in seen if value[0] == OBJECT}
    return bool(objects) and objects == {value for value in declared if value[0] == OBJECT}


def _holds_known(solver: Solver, value: Value) -> bool:
    """Whether a value is of the project, or a container in which anything but a text or the like is."""
    if value[0] != CONTAINER:
        return value[0] not in (EXTERNAL, CONSTANT)
    cells = (("element", value, key) for key in solver.known_keys(value))
    return any(held[0] not in (EXTERNAL, CONSTANT) for cell in cells for held in solver.value(cell))


def converted(solver: Solver, type_: int, seen: Values) -> Values:
    """What is seen, without texts and numbers where they become what is declared: `A a = "b"` of C++, not `auto`."""
    if not solver.project.unit(type_).dialect.converts or solver.op(type_) in (Op.UNKNOWN, Op.MADE):
        return seen
    return {value: sure for value, sure in seen.items() if value[0] != CONSTANT}


def objects_in(seen: Values) -> Values:
    """What is seen, without texts, numbers and what is from outside, which become what is declared."""
    return {value: sure for value, sure in seen.items() if value[0] not in (CONSTANT, EXTERNAL)}
