"""The functions of PHP that a text or an array names where it is called: `"f"`, `"A::b"`, `[$a, "b"]`."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.containers import element_of
from fledgling.worker.graph.solving.made_names import made_members
from fledgling.worker.graph.solving.members import member
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import Expression
from fledgling.worker.graph.values import (
    BOUND,
    CLASS,
    CONSTANT,
    CONTAINER,
    FILLED,
    FUNCTION,
    OBJECT,
    Values,
    add,
    capped,
)

FUNCTIONS = (FUNCTION, BOUND)


def named_callables(solver: Solver, values: Values, node: int) -> Values:
    """The functions of the project that some values name where they are called, at an expression."""
    dialect = solver.project.unit(node).dialect
    found: Values = {}
    for value in list(values) if dialect.texts_name_classes else ():
        if value[:2] == (CONSTANT, "text"):
            of, _, method = solver.project.text(value[2]).partition("::")
            named = _named(solver, of)
            add(found, _methods(solver, named, method) if method else named, Reason.NAMED)
        elif value[0] == CONTAINER:
            names = element_of(solver, value, ("number", 1))
            methods = [key for key in names if key[:2] == (CONSTANT, "text")]
            of_objects = element_of(solver, value, ("number", 0)) if names else {}
            add(found, made_members(solver, node, of_objects, {key: names[key] for key in names if key[0] == FILLED}))
            for text in [held for held in of_objects if held[:2] == (CONSTANT, "text")]:
                add(of_objects, _named(solver, solver.project.text(text[2])))
            for method_text in methods:
                add(found, _methods(solver, of_objects, solver.project.text(method_text[2])), Reason.NAMED)
    return {value: sure for value, sure in found.items() if value[0] in FUNCTIONS}


def named_member(solver: Solver, node: int, expression: Expression) -> Values:
    """NAMED: the methods of what an expression stands for that another one names, wholly or by its ends."""
    held, names = (solver.value(solver.child(node, part)) for part in expression[1:3])
    found: Values = {}
    for name in names:
        if name[:2] == (CONSTANT, "text") and solver.project.text(name[2]):
            add(found, _methods(solver, held, solver.project.text(name[2])))
    return add(found, made_members(solver, node, held, names))


def _named(solver: Solver, written: str) -> Values:
    """What a path in a text stands for, which always begins at the outermost namespace: `"A\\b"`."""
    path, _, name = written.replace("\\\\", "\\").strip("\\").rpartition("\\")
    number = solver.project.numbers.get(name)
    found: Values = {}
    for scope in () if number is None else solver.spaces.binding(path.replace("\\", "."), number):
        add(found, solver.value(("name", scope, number)))
    return {value: sure for value, sure in found.items() if value[0] in (FUNCTION, CLASS)}


def _methods(solver: Solver, values: Values, name: str) -> Values:
    """The methods of a name that objects or classes have."""
    number = solver.project.numbers.get(name)
    found: Values = {}
    for value, sure in list(values.items()):
        if value[0] in (OBJECT, CLASS) and number is not None:
            add(found, capped(member(solver, value, number, sure), Reason.NAMED))
    return found
