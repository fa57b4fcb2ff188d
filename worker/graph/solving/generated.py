"""Constructors that nobody has written: of `@dataclass class A: b: B`, a call `A(b)` gives the field what it gets."""

from fledgling.worker.graph.linking.vocabulary import is_field
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import BOUND, CLASS, CONTAINER, FUNCTION, OBJECT

KNOWN = (OBJECT, CLASS, CONTAINER, FUNCTION, BOUND)
Field = tuple[int, int]  # the class that declares it, and its name


def hand_to_fields(solver: Solver, scope: int, made: MadeCall, most: int = Reason.FLOW) -> None:
    """Let the fields of a class without a constructor take what a call gives, if nothing else says what they are."""
    fields = _fields(solver, scope)
    if not fields or not solver.budget.follows_arguments:
        return
    for (cell, spread), field in zip(made.arguments, fields.values(), strict=False):
        if spread:
            break
        _fill(solver, field, cell, most)
    for word, cell in made.words:
        own = solver.project.text(word).lstrip("_") if word != NONE else ""
        if own in fields:
            _fill(solver, fields[own], cell, most)


def _fill(solver: Solver, field: Field, cell: object, most: int) -> None:
    if not any(value[0] in KNOWN for value in solver.value(("name", *field))):
        solver.source(("field", *field), cell, most)


def _fields(solver: Solver, scope: int) -> dict[str, Field]:
    """The fields of a class that its constructor takes, by their names, in order: first those of the classes above."""
    found = solver.generated.get(scope)
    if found is None:
        found = {
            solver.project.text(name).lstrip("_"): (at, name)
            for at in reversed(solver.classes.order(scope))
            for name, bindings in solver.project.table(at).items()
            if bindings and is_field(unit := solver.project.unit(bindings[0]), unit.bindings[bindings[0] & MASK].value)
        }
        if solver.classes.is_settled:
            solver.generated[scope] = found
    return found
