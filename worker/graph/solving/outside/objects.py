"""Objects, classes and members that something outside gives of what it gets: `Object.create(a)`, `getattr(a, "b")`."""

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.bound_members import OF_CLASS, OF_NOTHING
from fledgling.worker.graph.solving.containers import constants
from fledgling.worker.graph.solving.made_names import made_members
from fledgling.worker.graph.solving.members import member
from fledgling.worker.graph.solving.outside.called_outside import CALLABLE, called_outside
from fledgling.worker.graph.solving.prototypes import inherit, put_all, succeed
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.this import this
from fledgling.worker.graph.solving.type_arguments import arguments_of
from fledgling.worker.graph.tables import NONE, Op, ScopeKind
from fledgling.worker.graph.values import (
    CLASS,
    CONSTANT,
    CONTAINER,
    DESCRIPTOR,
    EXTERNAL,
    FUNCTION,
    MODULE,
    OBJECT,
    UNKNOWN,
    Cell,
    Value,
    Values,
    add,
    capped,
)

FILLING = {"default": "value", "factory": "function", "default_factory": "function"}  # what `field()` gets


def first(solver: Solver, _made: MadeCall, first: Cell, sure: int) -> Values:
    """identity(a): a."""
    return capped(solver.value(first), sure)


def either(solver: Solver, made: MadeCall, _first: Cell, sure: int) -> Values:
    """requireNonNullElse(a, b): a or b"""
    found: Values = {}
    for cell, _ in made.arguments:
        add(found, solver.value(cell), min(sure, Reason.SEVERAL))
    return found


def second(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """cast(A, b): an A, unless b is known and A is not."""
    if len(made.arguments) < 2:
        return {}
    second = dict(solver.value(made.arguments[1][0]))
    type_ = solver.value(("type", first, None)) if type(first) is int else {}
    known = any(value[0] in (*CALLABLE, OBJECT, CONTAINER) for value in second)
    return second if known and not any(value[0] == CLASS for value in second) else capped(dict(type_) or second, sure)


def attribute(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """getattr(a, "b", c)"""
    found: Values = {}
    for key in constants(solver, made.arguments[1][0]) if len(made.arguments) > 1 else ():
        if isinstance(key, tuple) and key[0] == "text":
            for value, own in list(solver.value(first).items()):
                add(found, member(solver, value, key[1], own), min(sure, Reason.SEVERAL))
    if len(made.arguments) > 1:
        add(found, made_members(solver, made.node, solver.value(first), solver.value(made.arguments[1][0])))
    if len(made.arguments) > 2:
        add(found, solver.value(made.arguments[2][0]), Reason.SEVERAL)
    return found


def class_of(solver: Solver, _made: MadeCall, first: Cell, sure: int) -> Values:
    """type(a)"""
    found: Values = {}
    for value in list(solver.value(first)):
        if value[0] == OBJECT:
            found[CLASS, value[1], value[2]] = min(sure, Reason.SEVERAL)
    return found


def made_by_new(solver: Solver, _made: MadeCall, first: Cell, sure: int) -> Values:
    """object.__new__(A)"""
    held = solver.value(first).items()
    return {(OBJECT, value[1], value[2]): min(own, sure, Reason.RETURNED) for value, own in held if value[0] == CLASS}


def handed(solver: Solver, _made: MadeCall, first: Cell | None, _sure: int) -> Values:
    """What is given, or what stands for it: `verify(a)`."""
    return {} if first is None else capped(dict(solver.value(first)), Reason.RETURNED)


def provided(solver: Solver, made: MadeCall, first: Cell | None, sure: int) -> Values:
    """An object of the class that is given, `inject(A)`, `mock<A>()`, also as a `Class<A>`, `getBean("a", A.class)`."""
    given = {} if first is None else made_by_new(solver, made, first, sure)
    found: Values = {(OBJECT, value[1], True): own for value, own in given.items()}  # it may be of a class below
    op, *parts = solver.project.expression(made.node)
    types = arguments_of(solver, solver.child(made.node, parts[3])) if op == Op.CALL and len(parts) > 3 else []
    word = solver.project.unit(made.node).dialect.literals.get("class")
    for cell, _ in made.arguments if word else ():
        for value in list(solver.value(cell)):
            if value[0] == EXTERNAL and len(value) > 2 and f"{word}#" in value[1].split(".")[-2:]:  # A::class.java
                types += arguments_of(solver, value[2])
    for type_ in types if len(types) == 1 else ():
        add(found, solver.value(("type", type_, None)), min(sure, Reason.RETURNED))
    return found


def related(solver: Solver, made: MadeCall, first: Cell | None, sure: int) -> Values:
    """`ForeignKey(A)`, `relationship("A")`: an A; a text names the only class of that name, of Django in an app."""
    given = {} if first is None else solver.value(first)
    texts = [solver.project.text(value[2]) for value in given if value[:2] == (CONSTANT, "text")]
    found: Values = {}
    for text in texts:
        app, _, name = text.rpartition(".")
        named = solver.classes.named.get(solver.project.numbers.get(name, NONE), ())
        named = [at for at in named if not app or app.rpartition(".")[2] in solver.project.unit(at).path.split("/")]
        found.update({(OBJECT, at, True): Reason.NAMED for at in named} if len(named) == 1 else {UNKNOWN: Reason.FLOW})
    return found or provided(solver, made, first, sure)


def one_of(solver: Solver, made: MadeCall, _first: Cell | None, sure: int) -> Values:
    """`A.find(b)`, where a class outside that A is below has that: an A."""
    kinds = (CLASS, OBJECT) if solver.project.unit(made.node).dialect.texts_name_classes else (CLASS,)  # static::find()
    most = min(sure, Reason.RETURNED)
    held = _asked(solver, made)
    return {(OBJECT, value[1], True): min(own, most) for value, own in held.items() if value[0] in kinds}


def repository(solver: Solver, _made: MadeCall, first: Cell, _sure: int) -> Values:
    """`getRepository(A::class)` of Doctrine: an ARepository."""
    found: Values = {}
    for value in list(solver.value(first)):
        row = solver.project.scope(value[1]) if value[0] == CLASS else None
        if row is None or row.name == NONE:
            continue
        name = f"{solver.project.unit(value[1]).facts.names[row.name]}Repository"
        named = solver.classes.named.get(solver.project.numbers.get(name, NONE), ())
        found.update({(OBJECT, at, True): int(Reason.NAMED) for at in named if len(named) == 1})
    return found


def receiver(solver: Solver, made: MadeCall, _first: Cell | None, sure: int) -> Values:
    """`A.set(b).c`: the class that is asked."""
    held = _asked(solver, made)
    return {value: min(own, sure, Reason.RETURNED) for value, own in held.items() if value[0] == CLASS}


def _asked(solver: Solver, made: MadeCall) -> Values:
    """What a call asks for the method that it calls."""
    function = solver.child(made.node, solver.project.expression(made.node)[1])
    op, *parts = solver.project.expression(function)
    if op == Op.GET:
        return solver.value(solver.child(function, parts[0]))
    return this(solver, function, (Op.THIS, parts[1])) if op == Op.BARE else {}


def given_to_objects(solver: Solver, made: MadeCall, _first: Cell | None, _sure: int) -> Values:
    """field(default=a, factory=b): what the objects of a class have where they get nothing else, which is not seen."""
    found: Values = {}
    for word, cell in made.words:
        how = FILLING.get(solver.project.text(word) if word != NONE else "")
        if how == "value":
            add(found, solver.value(cell), Reason.ATTRIBUTE)
        elif how == "function":
            add(found, called_outside(solver, solver.value(cell), MadeCall(made.node, [], [])), Reason.ATTRIBUTE)
    return found


def described(solver: Solver, made: MadeCall, first: Cell | None, sure: int) -> Values:
    """`property(f)`, `classmethod(f)`: f as a member of the class around, which a lambda there gets first."""
    given = [cell for word, cell in made.words if word != NONE and solver.project.text(word) == "fget"]
    cells = given if first is None else [first]
    name = solver.project.last_name(solver.child(made.node, solver.project.expression(made.node)[1]))
    how = solver.project.unit(made.node).dialect.decorators[name]
    found: Values = {}
    for value, own in [pair for cell in cells for pair in solver.value(cell).items() if pair[0][0] == FUNCTION]:
        found[DESCRIPTOR, how, value[1]] = min(own, sure)
        owner = solver.classes.around(value[1])
        if owner is not None and how != OF_NOTHING and solver.project.scope(value[1]).kind == ScopeKind.LAMBDA:
            receiver: Value = (CLASS if how == OF_CLASS else OBJECT, owner, True)
            solver.source(("parameter", value[1], 0), ("just", receiver), Reason.OWN_CLASS)
    return found


def made_object(solver: Solver, _made: MadeCall, first: Cell, _sure: int) -> Values:
    """new(T)"""
    return dict(solver.value(("type", first, None))) if type(first) is int else {}


def assigns(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """Object.assign(a, b): what b has is put into a."""
    found = dict(solver.value(first))
    for cell, _ in made.arguments[1:]:
        for value in list(solver.value(cell)):
            for held in found:
                put_all(solver, held, value)
    return capped(found, sure)


def created(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """Object.create(a): an object of its own, that has what a has; of a class or function it is one more object."""
    held = dict(solver.value(first))
    found = {value: min(sure, own) for value, own in held.items() if value[0] not in (CONTAINER, MODULE)}
    others = [value for value in held if value not in found]
    if others or not any(value[0] in (OBJECT, CLASS, FUNCTION) for value in found):
        created: Value = (CONTAINER, made.node)
        for value in others or held:
            put_all(solver, created, value)
        found[created] = min(sure, Reason.ATTRIBUTE)
    return found


def succeeds(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """Object.setPrototypeOf(a, b): nothing is known of what comes back where a is no function or object written out."""
    found = {value: own for value, own in solver.value(first).items() if value[0] in (FUNCTION, CONTAINER)}
    for cell, _ in made.arguments[1:2]:
        for value in found:
            succeed(solver, value, cell)
    return capped(found, min(sure, Reason.ATTRIBUTE))


def inherits(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """`inherits(A, B)`: what B has, A has too."""
    for cell, _ in made.arguments[1:2]:
        for base in list(solver.value(cell)):
            for value in list(solver.value(first)):
                inherit(solver, value, base)
    return {}


def defined(solver: Solver, made: MadeCall, _first: Cell | None, sure: int) -> Values:
    """`Struct.new(:a) { def b = 1 }`: a class with members that are not seen, where a block may define some."""
    has_block = any(type(cell) is int and solver.op(cell) == Op.FUNCTION for cell, _ in made.arguments)
    return {} if has_block else {(EXTERNAL, "Class"): sure}


def proxied(solver: Solver, _made: MadeCall, first: Cell, sure: int) -> Values:
    """`new Proxy(a, b)`: likely what a is, and perhaps with members that are not seen."""
    return add({UNKNOWN: int(Reason.FLOW)}, capped(solver.value(first), min(sure, Reason.DECORATOR)))


def unknown(_solver: Solver, _made: MadeCall, _first: Cell, _sure: int) -> Values:
    """What may be an object of the project: of `new WeakRef(a)`, with members that are not seen, or `a.into()`."""
    return {}
