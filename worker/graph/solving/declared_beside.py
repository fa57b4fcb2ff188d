"""What a declared type says beside what is seen, where that is a container in which nothing is seen to be."""

from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.values import CONSTANT, CONTAINER, EXTERNAL, Value, Values


def says_more(solver: Solver, declared: Values, seen: Values) -> bool:
    """Whether a type says what a container holds, and nothing else does: `a: list[A] = []`, filled by who knows."""
    if not any(value[0] == CONTAINER for value in declared) or any(_holds_known(solver, value) for value in seen):
        return False
    if not solver.is_settled:
        solver.wait()
    return solver.is_settled


def _holds_known(solver: Solver, value: Value) -> bool:
    """Whether a value is of the project, or a container in which anything but a text or the like is."""
    if value[0] != CONTAINER:
        return value[0] not in (EXTERNAL, CONSTANT)
    cells = (("element", value, key) for key in solver.known_keys(value))
    return any(held[0] not in (EXTERNAL, CONSTANT) for cell in cells for held in solver.value(cell))
