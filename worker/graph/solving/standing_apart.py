"""What is around classes and functions of C++ that stand outside what they are in: `int n::A::f() {}`."""

from typing import TypeAlias

from fledgling.worker.graph.linking.spaces import upwards
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.member_places import of_space, places
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import CLASSES
from fledgling.worker.graph.unit import Unit
from fledgling.worker.graph.values import CLASS, Cell, Value

MAX_AROUND = 16  # classes around one that stands apart, which may say to be in each other: `class A::B {}`
BarePlace: TypeAlias = tuple[Cell, int, Value | None]


def stands_apart(solver: Solver, scope: int) -> bool:
    """Whether a class stands outside what it is in, `class A::B {}`, or is a specialization, `class n::A<B> {}`."""
    extensions = solver.classes.extensions
    return scope in extensions.around or scope in extensions.spaces or solver.classes.whole(scope) != scope


def around_class(solver: Solver, unit: Unit, scope: int, at: int, own: int) -> list[BarePlace]:
    """What is around a class of C++ that need not stand there, nor its functions: `int n::A::f() {}`."""
    project, extensions = solver.project, solver.classes.extensions
    outer = extensions.around.get(at, project.outer(at))
    for _ in range(MAX_AROUND):
        if outer < 0 or project.scope(outer).kind not in CLASSES:
            break
        held = places(solver, (CLASS, outer, True), own, Reason.OWN_CLASS)
        if found := [(cell, sure, None) for cell, sure, _ in held if cell[0] == "name"]:
            return [*found]
        at, outer = outer, extensions.around.get(outer, project.outer(outer))
    space = extensions.spaces.get(at) or solver.spaces.paths.get(outer, "")
    return of_named_space(solver, unit, scope, space, own) if space else []


def of_named_space(solver: Solver, unit: Unit, function: int, space: str, own: int) -> list[BarePlace]:
    """What a function or class of C++ sees in the namespace that its name says, and in those around: `int n::f() {}`.

    Those that it stands in come later, with what its file says there.
    """
    stands_in = solver.spaces.paths.get(solver.project.outer(function), "")
    for path in upwards(space):
        if path in ("", stands_in):
            break
        if found := of_space(solver, path, own, Reason.BOUND, unit):
            return [(cell, sure, None) for cell, sure, _ in found]
    return []
