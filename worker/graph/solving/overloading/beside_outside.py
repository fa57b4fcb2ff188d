"""Whether something outside the project may be meant by a call as well as a function that it has."""

from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.overloading.argument_types import is_declared
from fledgling.worker.graph.solving.overloading.fits import Fit, is_sure
from fledgling.worker.graph.solving.overloading.library_types import PERHAPS
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import Flag, ScopeKind
from fledgling.worker.graph.values import BOUND, OBJECT, Value


def may_be_outside(solver: Solver, own: Fit, name: int, made: MadeCall) -> bool:
    """Whether a class outside, above the object that is asked, may have what takes the arguments better.

    That is so of a name that such classes often have, and of what does not take them.
    """
    of = own.of[2][1] if own.of[0] == BOUND and own.of[2][0] == OBJECT else solver.classes.owner(own.of[1])
    if of not in solver.classes.has_external_base or _has_no_class_outside(solver, own.of[1], of):
        return False
    is_common = solver.project.text(name) in solver.project.unit(own.of[1]).dialect.common
    return bool(own.against) or (is_common and not is_sure(solver, own, made))


def _has_no_class_outside(solver: Solver, function: int, of: int) -> bool:
    """Whether only interfaces outside are above the class of Java that has a static function, which inherits none."""
    if not solver.project.scope(function).flags & Flag.STATIC:
        return False
    kinds = solver.project.scope
    return all(
        kinds(at).flags & Flag.EXTENDS_NONE or any(kinds(base).kind == ScopeKind.CLASS for base, _ in bases)
        for at in solver.classes.order(of)
        for bases in [solver.classes.bases.get(at, [])]
    )


def may_be_of_others(solver: Solver, own: Fit, made: MadeCall) -> bool:
    """Whether what a function perhaps takes is only inferred, which rules no other one out for certain."""
    given = zip(own.each, made.arguments, strict=False)
    inferred = [cell for how, (cell, _) in given if how <= PERHAPS and solver.value(cell)]
    return any(not is_declared(solver, own.of[1], cell) for cell in inferred)


def has_others(solver: Solver, value: Value, name: int) -> bool:
    """Whether there is something outside of a function's name, which takes what that does not."""
    is_for_all = solver.classes.owner(value[1]) is None and solver.project.text(name) in prelude(solver, value)
    return is_for_all or value[1] in solver.classes.extensions.types


def is_beside(solver: Solver, own: Fit, name: int) -> bool:
    """Whether a function does not take the arguments, or less well than what a number has of its name: `1 and 2`."""
    dialect = solver.project.unit(own.of[1]).dialect
    is_of_number = dialect.functions.get(solver.project.text(name)) == "=" and own.of[0] == BOUND
    return bool(own.against) or (is_of_number and any(how <= PERHAPS for how in own.each))


def prelude(solver: Solver, value: Value) -> frozenset[str]:
    """The functions outside that every file sees, of the language of a function."""
    return solver.project.unit(value[1]).dialect.prelude
