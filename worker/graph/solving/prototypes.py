"""Functions that make objects, and what `this` is in a function: `new A()`, `A.prototype.b = function () {}`.

An object that a function makes is an OBJECT of that function's scope, and so is its prototype: what is put into
either is a member of both. What is put into the function itself, `A.b = c`, is no member of its objects.
"""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import EXPORT, ScopeKind
from fledgling.worker.graph.values import (
    BOUND,
    CLASS,
    CONTAINER,
    EXTERNAL,
    FUNCTION,
    MANY,
    MODULE,
    OBJECT,
    Cell,
    Value,
    Values,
    add,
)

PROTOTYPE = "prototype"
OWN_CLASS = "__class__"  # what Python says that the class of an object is
MODULE_OBJECT = "builtins.module"  # of CommonJS, where no scope binds `module`
MAX_HEIRS = 8  # functions below one whose objects its `this` may be; with more, each function of a long chain costs all
MAX_RECEIVERS = 4  # on which one function is said to be called; with more, what each calls in turn costs all
MAX_PROTOTYPES = 50  # above one, asked for a member one after the other; longer chains are a hostile text's


def has_prototype(solver: Solver, scope: int) -> bool:
    """Whether a function or class has one in its language."""
    return solver.project.unit(scope).dialect.prototypes


def makes_objects(solver: Solver, scope: int) -> bool:
    """Whether a scope is that of a function that `new` makes an object with: it stands in no class."""
    return (
        has_prototype(solver, scope)
        and solver.project.scope(scope).kind == ScopeKind.FUNCTION
        and solver.classes.owner(scope) is None
    )


def this_cell(solver: Solver, cell: Cell) -> Values:
    """What `this` is in a function, ("this", function): an object that it makes, or what it is a member of."""
    function = cell[1]
    found: Values = {(OBJECT, function, False): Reason.ATTRIBUTE}
    add(found, solver.taken(cell), Reason.ATTRIBUTE)
    add(found, solver.value(("called on", function)), Reason.FLOW)
    for value in list(found):
        if value[0] == CONTAINER:
            add(found, solver.value(("prototype of", value)), Reason.ATTRIBUTE)
        elif value[0] == OBJECT:
            add(found, solver.value(("heirs", value[1])), Reason.ATTRIBUTE)
        elif value[0] == FUNCTION:
            add(found, solver.value(("functions behind", value[1])), Reason.ATTRIBUTE)
    around = solver.classes.around(function)
    if around is not None:  # `a.forEach(function () { this.b() }, this)`
        found[OBJECT, around, True] = Reason.FLOW
    return found


def heirs_cell(solver: Solver, cell: Cell) -> Values:
    """("heirs", function): objects of the functions whose prototype is one of its objects, and so on."""
    found = solver.taken(cell)
    for value in list(found):
        if len(found) <= MAX_HEIRS and value != MANY:
            add(found, solver.value(("heirs", value[1])))
    if len(found) > MAX_HEIRS:
        return {**dict([*found.items()][:MAX_HEIRS]), MANY: Reason.FLOW}
    return found


def prototype_of(solver: Solver, value: Value, name: int, sure: int) -> Values:
    """What `A.prototype` is: an object of A. It is nothing where that is no prototype."""
    if value[0] not in (FUNCTION, CLASS) or solver.project.text(name) != PROTOTYPE:
        return {}
    return {(OBJECT, value[1], False): min(sure, Reason.ATTRIBUTE)} if has_prototype(solver, value[1]) else {}


def prototypes_of(solver: Solver, value: Value) -> list[Value]:
    """What stands in the place of the prototype of a function that made an object, and of that one's in turn."""
    if not makes_objects(solver, value[1]):
        return []
    prototype = solver.project.number(PROTOTYPE)
    found: dict[Value, None] = {value: None}
    todo = [value]
    while todo and len(found) < MAX_PROTOTYPES:
        at = todo.pop()
        for held in list(solver.value(("own", at[1], prototype))):
            if held not in found and held[0] in (OBJECT, CONTAINER):
                found[held] = None
                todo += [held] if held[0] == OBJECT and makes_objects(solver, held[1]) else []
    return [held for held in found if held != value]


def exported_objects(solver: Solver, module: int) -> list[Value]:
    """The objects that are all that a module of CommonJS exports: `module.exports = a`."""
    whole = solver.project.number(EXPORT + "default")
    scope = solver.project.units[module].base
    if whole not in solver.project.table(scope):
        return []
    return [value for value in solver.value(("name", scope, whole)) if value[0] == CONTAINER]


def becomes_member(solver: Solver, of: Value, cell: Cell) -> None:
    """Let `this` be a value in the functions that are put into it."""
    if of[0] not in (OBJECT, CLASS, FUNCTION, CONTAINER, MODULE):
        return
    for value in list(solver.value(cell)):
        if value[0] == FUNCTION and makes_objects(solver, value[1]):
            solver.source(("this", value[1]), ("just", of), Reason.ATTRIBUTE)
        elif value[0] in (FUNCTION, BOUND) and has_prototype(solver, value[1]):
            receives(solver, value[1], ("just", of))


def receives(solver: Solver, function: int, cell: Cell) -> None:
    """Let a function that has a `this` of its own be called on what a cell holds."""
    if solver.project.scope(function).kind == ScopeKind.FUNCTION:
        solver.source(("called on", function), cell, Reason.FLOW)


def called_on_cell(solver: Solver, cell: Cell) -> Values:
    """("called on", function): what `this` is by what a call says."""
    found = solver.taken(cell)
    return found if len(found) <= MAX_RECEIVERS else {**dict([*found.items()][:MAX_RECEIVERS]), MANY: Reason.FLOW}


def set_prototype(solver: Solver, function: int, cell: Cell) -> None:
    """Let an object stand for what a function makes: `A.prototype = { b() {} }`, `A.prototype = new B()`."""
    for value in list(solver.value(cell)):
        made: Cell = ("just", (OBJECT, function, False))
        if value[0] == CONTAINER:
            solver.source(("prototype of", value), made, Reason.ATTRIBUTE)
        elif value[0] == OBJECT and value[1] != function:
            solver.source(("heirs", value[1]), made, Reason.ATTRIBUTE)


def put(solver: Solver, value: Value, name: int, cell: Cell) -> None:
    """Put what a cell holds into a member of a value."""
    if value[0] in (OBJECT, CLASS):
        solver.source(("field", value[1], name), cell, Reason.BOUND)
        if value[0] == OBJECT and name == solver.project.numbers.get(OWN_CLASS):
            solver.changing.add(value[1])
    elif value[0] == FUNCTION:
        solver.source(("own", value[1], name), cell, Reason.BOUND)
        if solver.project.text(name) == PROTOTYPE and has_prototype(solver, value[1]):
            set_prototype(solver, value[1], cell)
    elif value[0] == CONTAINER and solver.keyed_members(value):
        solver.key(value, ("text", name), cell)
    elif value[0] == EXTERNAL and value[1] != MODULE_OBJECT:
        solver.put_outside.add(name)
    elif value[0] == MODULE:
        solver.source(("field", solver.project.units[value[1]].base, name), cell, Reason.BOUND)


def put_all(solver: Solver, value: Value, other: Value) -> None:
    """Put what an object that is written out has into another value: `Object.assign(A.prototype, { b() {} })`."""
    for held in exported_objects(solver, other[1]) if other[0] == MODULE else [other]:
        if held[0] == CONTAINER and held != value:
            for key in solver.known_keys(held):
                if type(key) is tuple and key[0] == "text":
                    put(solver, value, key[1], ("element", held, key))
            solver.source(("prototype of", held), ("just", value), Reason.ATTRIBUTE)


def succeed(solver: Solver, value: Value, cell: Cell) -> None:
    """Object.setPrototypeOf(a, b): a has what b has, and what b has may be called on a."""
    if value[0] == FUNCTION:
        solver.source(("prototype of function", value[1]), cell, Reason.ATTRIBUTE)
    for held in list(solver.value(cell)):
        if value[0] == FUNCTION and held[0] == FUNCTION:
            solver.source(("functions behind", held[1]), ("just", value), Reason.ATTRIBUTE)
        elif value[0] == CONTAINER:
            put_all(solver, value, held)


def inherit(solver: Solver, function: Value, base: Value) -> None:
    """inherits(A, B)"""
    if function[0] == FUNCTION and base[0] in (FUNCTION, CLASS):
        put(solver, function, solver.project.number(PROTOTYPE), ("just", (OBJECT, base[1], False)))
