"""What is outside the project, where it hands on what it gets: `map(f, a)`, `a.append(b)`."""

from typing import Any

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving import applied_outside
from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.bound_members import OF_CLASS, OF_NOTHING
from fledgling.worker.graph.solving.containers import (
    MAPPED,
    called_member,
    constants,
    copied,
    element_of,
    iterated,
    keys_of,
)
from fledgling.worker.graph.solving.made_names import made_members
from fledgling.worker.graph.solving.members import member
from fledgling.worker.graph.solving.named_callables import named_callables
from fledgling.worker.graph.solving.prototypes import inherit, put_all, succeed
from fledgling.worker.graph.solving.receivers import called_on, method_of_function
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Op, ScopeKind
from fledgling.worker.graph.values import (
    BOUND,
    BUILTIN,
    CLASS,
    CONSTANT,
    CONTAINER,
    DESCRIPTOR,
    EXTERNAL,
    FUNCTION,
    GENERATOR,
    MADE_MEMBERS,
    METHOD_OF,
    MODULE,
    NAMESPACE,
    OBJECT,
    Cell,
    Value,
    Values,
    add,
    capped,
)

CALLABLE = (FUNCTION, BOUND, CLASS, METHOD_OF)
# What gives something where it gets nothing.
WITHOUT = ("words", "unknown", "mapped", "gathered", "defaults", "defined", "fills", "namespace", "field", "described")
FILLING = {"default": "value", "factory": "function", "default_factory": "function"}  # what `field()` gets


def handing_on(solver: Solver, node: int, full: str) -> str | None:
    """What something outside does with what a call hands over, where that is known."""
    functions = solver.project.unit(node).dialect.functions
    return functions.get(".".join(full.split(".")[-2:])) or functions.get(full.rpartition(".")[2])


def external(solver: Solver, value: Value, made: MadeCall, sure: int) -> Values:
    """What a call of something outside gives, known by its last name."""
    full = value[1]
    library = solver.project.unit(made.node).dialect.library
    if library is not None and (given := library.gives(full)):
        return {(EXTERNAL, f"{given}#"): sure}
    if (result := applied_outside.returned(solver, value)) is not None:
        return capped(result, sure)
    how = handing_on(solver, made.node, full)
    first = made.arguments[0][0] if made.arguments else None
    if how == "=":  # of the type that is asked: `a shl b`
        of = full.rpartition(".")[0]
        return {(EXTERNAL, of): sure} if of.endswith("#") else {}
    if how is not None and how.startswith("="):
        return {(EXTERNAL, f"{how[1:]}#"): sure}
    if how in ("container", "holds") and not made.arguments:  # list()
        how = "gathered"
    if how is None or (first is None and how not in WITHOUT):
        return {applied_outside.called(solver, value, made): sure} if not full.startswith("?") else {}
    found: Values = HANDING_ON[how](solver, made, first, sure)
    return found


def _first(solver: Solver, _made: MadeCall, first: Cell, sure: int) -> Values:
    return capped(solver.value(first), sure)


def _wraps(solver: Solver, _made: MadeCall, first: Cell, sure: int) -> Values:
    """useCallback(a): what runs a, among other things."""
    return capped(solver.value(first), min(sure, Reason.DECORATOR))


def _promised(solver: Solver, _made: MadeCall, first: Cell, sure: int) -> Values:
    """Promise.resolve(a): something outside, which `await` makes a."""
    return add({(EXTERNAL, "Promise#"): sure}, solver.value(first), min(sure, Reason.CONTAINER))


def _second(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """cast(A, b): an A, unless b is known and A is not."""
    if len(made.arguments) < 2:
        return {}
    second = dict(solver.value(made.arguments[1][0]))
    type_ = solver.value(("type", first, None)) if type(first) is int else {}
    known = any(value[0] in (*CALLABLE, OBJECT, CONTAINER) for value in second)
    return second if known and not any(value[0] == CLASS for value in second) else capped(dict(type_) or second, sure)


def _applies(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """Reflect.apply(a, b, c)"""
    found: Values = {}
    apply = solver.project.number("apply")
    for value, own in list(solver.value(first).items()):
        for held, reason in method_of_function(solver, value, apply, min(own, sure)).items():
            add(found, called_on(solver, held, MadeCall(made.node, made.arguments[1:], []), reason))
    return found


def called(solver: Solver, values: Values, made: MadeCall, reason: int = Reason.FLOW) -> Values:
    """What values give that something outside calls, or a text that is called; the call at which it does runs them."""
    found: Values = {}
    for value, sure in [*values.items(), *named_callables(solver, values, made.node).items()]:
        if value[0] in (*CALLABLE, MADE_MEMBERS):
            add(solver.handed.setdefault(made.node, {}), {value: min(sure, reason)})
            add(found, solver.invoke(solver, value, made, min(sure, reason)))
    return found


def _maps(solver: Solver, made: MadeCall, _first: Cell, _sure: int) -> Values:
    """map(f, a)"""
    elements: list[tuple[Cell, bool]] = [(("elements of", cell), False) for cell, _ in made.arguments[1:]]
    given: Values = {}
    for cell, _ in made.arguments:
        add(given, called(solver, solver.value(cell), MadeCall(made.node, elements, [])))
    return of_these(solver, made, given)


def _reduces(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """reduce(f, a, b): b or an element of a, or what f gives, which gets that and an element."""
    found: Values = {}
    cells: list[Cell] = [("elements of", cell) for cell, _ in made.arguments[1:2]]
    for cell in (*cells, *(cell for cell, _ in made.arguments[2:3])):
        add(found, solver.value(cell), Reason.SEVERAL)
    before = ("these", made.node)
    given = MadeCall(made.node, [(cell, False) for cell in (before, *cells)], [])
    add(found, called(solver, solver.value(first), given))
    solver.grow(before, found)
    return found


def _folds(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """array_reduce(a, f, b)"""
    function, *others = made.arguments[1:] or made.arguments
    return _reduces(solver, made._replace(arguments=[function, (first, False), *others]), function[0], sure)


def _calls(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """call_user_func(f, a)"""
    return called(solver, solver.value(first), made._replace(arguments=made.arguments[1:]))


def _spreads(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """call_user_func_array(f, a)"""
    spread = [(cell, True) for cell, _ in made.arguments[1:2]]
    return called(solver, solver.value(first), made._replace(arguments=spread))


def _runs(solver: Solver, made: MadeCall, _first: Cell, _sure: int) -> Values:
    """Lazy { a }: what the function gives that is the last argument."""
    return called(solver, solver.value(made.arguments[-1][0]), MadeCall(made.node, [], []))


def _filters(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """filter(f, a)"""
    elements: list[tuple[Cell, bool]] = [(("elements of", cell), False) for cell, _ in made.arguments[1:]]
    called(solver, solver.value(first), MadeCall(made.node, elements, []))
    return iterable(solver, made, made.arguments[1][0]) if len(made.arguments) > 1 else {}


def _sifts(solver: Solver, made: MadeCall, first: Cell, _sure: int, takes: int = 1) -> Values:
    """array_filter(a, f)"""
    elements: list[tuple[Cell, bool]] = [(("elements of", first), False)] * takes
    for cell, _ in made.arguments[1:]:
        called(solver, solver.value(cell), MadeCall(made.node, elements, []))
    return iterable(solver, made, first)


def _sorts(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """usort(a, f)"""
    return _sifts(solver, made, first, sure, 2)


def _pushes(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """array_push(a, b)"""
    for value in list(solver.value(first)):
        for cell, spread in made.arguments[1:] if value[0] == CONTAINER else ():
            solver.key(value, "*", ("elements of", cell) if spread else cell)
    return {}


def _merged(solver: Solver, made: MadeCall, _first: Cell, _sure: int) -> Values:
    """array_merge(a, b)"""
    value: Value = (CONTAINER, ("made", made.node))
    for cell, spread in made.arguments:
        solver.key(value, "*", ("elements of", ("elements of", cell) if spread else cell))
    return {value: Reason.CONTAINER}


def of_these(solver: Solver, made: MadeCall, values: Values) -> Values:
    """A container that a call makes, of some values."""
    value: Value = (CONTAINER, ("made", made.node))
    cell = ("these", made.node)
    solver.key(value, "*", cell)
    solver.grow(cell, values)
    return {value: Reason.CONTAINER}


def iterable(solver: Solver, made: MadeCall, cell: Cell) -> Values:
    """list(a): a container of the same elements, or of the keys of a dictionary."""
    found: Values = {}
    for value, sure in list(solver.value(cell).items()):
        is_keyed = value[0] == CONTAINER and keys_of(solver, value) is not None
        if value[0] in (CONTAINER, GENERATOR) and not is_keyed:
            found[value] = sure
        elif is_keyed or value[0] == OBJECT:
            other: Value = (CONTAINER, ("made", made.node))
            solver.key(other, "*", ("elements of", cell))
            found[other] = min(sure, Reason.CONTAINER)
    return found


def _container(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    _keyed(solver, made, first, _sure)
    return iterable(solver, made, first)


def _keyed(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """max(a, key=f, default=b): an element, or b; or of several arguments one."""
    found: Values = {}
    for word, cell in made.words:
        if word == solver.project.number("default"):
            add(found, solver.value(cell), Reason.SEVERAL)
        else:
            called(solver, solver.value(cell), MadeCall(made.node, [(("elements of", first), False)], []))
    if len(made.arguments) == 1:
        return add(found, iterated(solver, solver.value(first)))
    for cell, spread in made.arguments:
        add(found, solver.value(("elements of", cell) if spread else cell), Reason.SEVERAL)
    return found


def _next(solver: Solver, _made: MadeCall, first: Cell, _sure: int) -> Values:
    found: Values = {}
    for value, sure in list(solver.value(first).items()):
        if value[0] == OBJECT:
            add(found, called_member(solver, value, "__next__", sure))
        else:
            add(found, iterated(solver, {value: sure}))
    return found


def _numbered(solver: Solver, made: MadeCall, _first: Cell, _sure: int, skip: int = 1) -> Values:
    """enumerate(a): pairs of a number and an element."""
    pairs: Value = (CONTAINER, ("pairs", made.node))
    pair: Value = (CONTAINER, ("pair", made.node))
    for place, (cell, _) in enumerate(made.arguments, skip):
        solver.key(pair, ("number", place), ("elements of", cell))
    cell = ("these", made.node)
    solver.key(pairs, "*", cell)
    solver.grow(cell, {pair: Reason.CONTAINER})
    return {pairs: Reason.CONTAINER}


def _zipped(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    return _numbered(solver, made, first, sure, 0)


def _attribute(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
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


def _class_of(solver: Solver, _made: MadeCall, first: Cell, sure: int) -> Values:
    """type(a)"""
    found: Values = {}
    for value in list(solver.value(first)):
        if value[0] == OBJECT:
            found[CLASS, value[1], value[2]] = min(sure, Reason.SEVERAL)
    return found


def _made_by_new(solver: Solver, _made: MadeCall, first: Cell, sure: int) -> Values:
    """object.__new__(A)"""
    held = solver.value(first).items()
    return {(OBJECT, value[1], value[2]): min(own, sure, Reason.RETURNED) for value, own in held if value[0] == CLASS}


def _replaces(solver: Solver, made: MadeCall, _first: Cell, sure: int) -> Values:
    """re.sub(a, f, b), re.compile(a).sub(f, b): a text, of what f gives"""
    for cell, _ in made.arguments[:2]:
        called(solver, solver.value(cell), MadeCall(made.node, [], []))
    return {(EXTERNAL, f"{BUILTIN}str#"): sure}


def _words(solver: Solver, made: MadeCall, first: Cell | None, _sure: int) -> Values:
    """dict(a=b)"""
    value: Value = (CONTAINER, ("made", made.node))
    for word, cell in made.words:
        if word == NONE:
            copied(solver, value, solver.value(cell))
        else:
            solver.key(value, ("text", word), cell)
    held = list(solver.value(first)) if first is not None else []
    for of in held:
        if of[0] == CONTAINER and type(of[1]) is int and solver.op(of[1]) in (Op.LIST, Op.TUPLE):
            _keyed_by_pairs(solver, value, iterated(solver, {of: Reason.BOUND}))
        else:
            copied(solver, value, {of: Reason.BOUND})
    return {value: Reason.BOUND}


def _namespace(solver: Solver, made: MadeCall, _first: Cell | None, _sure: int) -> Values:
    """SimpleNamespace(a=b)"""
    value: Value = (CONTAINER, (NAMESPACE, made.node))
    for word, cell in made.words:
        if word != NONE:
            solver.key(value, ("text", word), cell)
    return {value: Reason.BOUND}


def _given_to_objects(solver: Solver, made: MadeCall, _first: Cell | None, _sure: int) -> Values:
    """field(default=a, factory=b): what the objects of a class have where they get nothing else, which is not seen."""
    found: Values = {}
    for word, cell in made.words:
        how = FILLING.get(solver.project.text(word) if word != NONE else "")
        if how == "value":
            add(found, solver.value(cell), Reason.ATTRIBUTE)
        elif how == "function":
            add(found, called(solver, solver.value(cell), MadeCall(made.node, [], [])), Reason.ATTRIBUTE)
    return found


def _described(solver: Solver, made: MadeCall, first: Cell | None, sure: int) -> Values:
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


def _fills(solver: Solver, made: MadeCall, first: Cell | None, _sure: int) -> Values:
    """`defaultdict(a)`: of what a key has no value for, what a gives: a container, where that is of the language"""
    value: Value = (CONTAINER, ("made", made.node))
    inner: Value = (CONTAINER, ("inner", made.node))
    given: Values = {}
    for of, sure in list(solver.value(first).items()) if first is not None else ():
        is_container = of[0] == EXTERNAL and solver.project.unit(made.node).dialect.types.get(of[1].rpartition(".")[2])
        add(given, {inner: Reason.CONTAINER} if is_container in ("elements", "values") else {})
        add(given, called(solver, {of: sure}, MadeCall(made.node, [], [])))
    cell = ("these", made.node)
    solver.key(value, "*", cell)
    solver.grow(cell, given)
    return {value: Reason.BOUND}


def _mapped(solver: Solver, made: MadeCall, first: Cell | None, _sure: int) -> Values:
    """`new Map(a)`: of each pair in a the second part, behind the first"""
    value: Value = (CONTAINER, (MAPPED, made.node))
    _keyed_by_pairs(solver, value, iterated(solver, solver.value(first)) if first is not None else {})
    return {value: Reason.BOUND}


def _keyed_by_pairs(solver: Solver, value: Value, pairs: Values) -> None:
    """Let a container hold the second part of each of some pairs, behind the first."""
    for pair in pairs:
        if pair[0] == CONTAINER:
            keys: list[Any] = [held[1:] for held in element_of(solver, pair, ("number", 0)) if held[0] == CONSTANT]
            for key in keys or ["*"]:
                solver.key(value, key, ("element", pair, ("number", 1)))


def _gathered(solver: Solver, made: MadeCall, first: Cell | None, _sure: int) -> Values:
    """`new Set(a)`"""
    value: Value = (CONTAINER, ("made", made.node))
    if first is not None:
        solver.key(value, "*", ("elements of", first))
    return {value: Reason.BOUND}


def _valued(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """Object.values(a): what is behind the keys of a"""
    value: Value = (CONTAINER, ("made", made.node))
    for of in list(solver.value(first)):
        if of[0] == CONTAINER:
            solver.key(value, "*", ("held", of))
    return {value: Reason.BOUND}


def _paired(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """Object.entries(a): pairs of a key and what is behind it"""
    pairs: Value = (CONTAINER, ("pairs", made.node))
    pair: Value = (CONTAINER, ("pair", made.node))
    solver.key(pairs, "*", ("just", pair))
    for value in _valued(solver, made, first, sure):
        solver.key(pair, ("number", 1), ("held", value))
    return {pairs: Reason.BOUND}


def _defaults(solver: Solver, made: MadeCall, first: Cell | None, _sure: int) -> Values:
    """`Hash.new(a)`, `Hash.new { |h, k| h[k] = a }`: of what a key has no value for, a"""
    value: Value = (CONTAINER, ("made", made.node))
    if first is not None:
        given = called(solver, solver.value(first), MadeCall(made.node, [(("just", value), False)], []))
        cell = ("these", made.node)
        solver.key(value, "*", cell)
        solver.grow(cell, given or dict(solver.value(first)))
    return {value: Reason.BOUND}


def _holds(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """Some(a): a container of a"""
    value: Value = (CONTAINER, ("made", made.node))
    solver.key(value, "*", first)
    return {value: sure}


def _object(solver: Solver, _made: MadeCall, first: Cell, _sure: int) -> Values:
    """new(T)"""
    return dict(solver.value(("type", first, None))) if type(first) is int else {}


def _assigns(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """Object.assign(a, b): what b has is put into a."""
    found = dict(solver.value(first))
    for cell, _ in made.arguments[1:]:
        for value in list(solver.value(cell)):
            for held in found:
                put_all(solver, held, value)
    return capped(found, sure)


def _created(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
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


def _succeeds(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """Object.setPrototypeOf(a, b): nothing is known of what comes back where a is no function or object written out."""
    found = {value: own for value, own in solver.value(first).items() if value[0] in (FUNCTION, CONTAINER)}
    for cell, _ in made.arguments[1:2]:
        for value in found:
            succeed(solver, value, cell)
    return capped(found, min(sure, Reason.ATTRIBUTE))


def _inherits(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """inherits(A, B)"""
    for cell, _ in made.arguments[1:2]:
        for base in list(solver.value(cell)):
            for value in list(solver.value(first)):
                inherit(solver, value, base)
    return {}


def _defined(solver: Solver, made: MadeCall, _first: Cell | None, sure: int) -> Values:
    """`Struct.new(:a) { def b = 1 }`: a class with members that are not seen, where a block may define some."""
    has_block = any(type(cell) is int and solver.op(cell) == Op.FUNCTION for cell, _ in made.arguments)
    return {} if has_block else {(EXTERNAL, "Class"): sure}


def _unknown(_solver: Solver, _made: MadeCall, _first: Cell, _sure: int) -> Values:
    """What may be an object of the project: of `new Proxy(a, b)`, with members that are not seen, or `a.into()`."""
    return {}


HANDING_ON: dict[str, Any] = {
    "defined": _defined,
    "unknown": _unknown,
    "first": _first,
    "wraps": _wraps,
    "promised": _promised,
    "applies": _applies,
    "assigns": _assigns,
    "created": _created,
    "succeeds": _succeeds,
    "inherits": _inherits,
    "second": _second,
    "maps": _maps,
    "reduces": _reduces,
    "runs": _runs,
    "folds": _folds,
    "calls": _calls,
    "spreads": _spreads,
    "filters": _filters,
    "sifts": _sifts,
    "sorts": _sorts,
    "merged": _merged,
    "pushes": _pushes,
    "container": _container,
    "keyed": _keyed,
    "next": _next,
    "numbered": _numbered,
    "zipped": _zipped,
    "attribute": _attribute,
    "class": _class_of,
    "instance": _made_by_new,
    "replaces": _replaces,
    "namespace": _namespace,
    "field": _given_to_objects,
    "described": _described,
    "words": _words,
    "fills": _fills,
    "mapped": _mapped,
    "gathered": _gathered,
    "valued": _valued,
    "paired": _paired,
    "object": _object,
    "holds": _holds,
    "defaults": _defaults,
}
