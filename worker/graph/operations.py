"""What each expression stands for, given what its parts do."""

from typing import Any

from fledgling.worker.graph import modules
from fledgling.worker.graph.bound_members import bound_to, returned
from fledgling.worker.graph.lookup import bare_places, starred
from fledgling.worker.graph.members import member, places
from fledgling.worker.graph.project import MASK, SHIFT, Project
from fledgling.worker.graph.prototypes import MODULE_OBJECT, becomes_member, makes_objects
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.replaceable import DEFINITIONS, may_be_put_over
from fledgling.worker.graph.solver import Solver
from fledgling.worker.graph.tables import NONE, WHOLE, Flag, Op, ScopeKind
from fledgling.worker.graph.values import (
    BOUND,
    CLASS,
    CONSTANT,
    CONTAINER,
    EXTERNAL,
    FUNCTION,
    GENERATOR,
    MODULE,
    OBJECT,
    SPACE,
    SUPER,
    Cell,
    Value,
    Values,
    add,
    capped,
)
from fledgling.worker.language import Dialect

Expression = tuple[Any, ...]
BUILTIN = "builtins."
KNOWN = (Op.MADE, Op.TEXT, Op.NUMBER)  # which hold nothing of the project; what else has no value may be anything
MAX_SMALL = 127  # of a number that is written out, that any type of numbers has
MAX_PLACE = 32  # elements of a list that are told apart


def name(solver: Solver, node: int, expression: Expression) -> Values:
    """NAME: what reaches it, or what its scope holds, or what a module brings in with all its names."""
    _, own, scope, reach = expression
    base = node & ~MASK
    if reach is not None:
        return joined(solver, [(solver.project.value_of(base | at)) for at in reach], Reason.SEVERAL)
    unit = solver.project.unit(node)
    if scope != NONE:
        return dict(solver.value(("name", base | scope, unit.names[own])))
    found: Values = {}
    for cell, sure, _ in starred(solver, node, unit.names[own]):
        add(found, {(MODULE, cell[1]): sure} if cell[0] == "module" else solver.value(cell), sure)
    if not found and is_exports(solver, node, unit.facts.names[own]):
        return {(MODULE, unit.number): Reason.BOUND}
    return found or {(EXTERNAL, BUILTIN + unit.facts.names[own]): Reason.BOUND}


def is_exports(solver: Solver, node: int, own: str) -> bool:
    """Whether a name that no scope binds is what a module of CommonJS exports: `exports`, `module.exports`."""
    return own == "exports" and solver.project.unit(node).dialect.prototypes


def bare(solver: Solver, node: int, expression: Expression) -> Values:
    """BARE: a member of a class around, without `this`, or what a module binds."""
    found: Values = {}
    held = bare_places(solver, node, expression)
    for cell, sure, receiver in held:
        if cell[0] == "module":
            found[MODULE, cell[1]] = sure
            continue
        for value, own in list(solver.value(cell).items()):
            if receiver is None:
                add(found, {value: min(own, sure)})
            else:
                add(found, bound_to(solver, receiver, value, min(own, sure), receiver[1]))
    if found or held:
        return one_class(_type_or_variable(solver, node, expression, found))
    dialect, word = solver.project.unit(node).dialect, solver.project.unit(node).facts.names[expression[1]]
    if dialect.bare_calls and not word[:1].isupper() and word not in dialect.functions:
        return {}  # what self has is known only when it runs
    if dialect.implicit_parameter and is_in_lambda(solver.project, solver.child(node, expression[2])):
        names = solver.project.unit(node).names
        if names[expression[1]] in solver.project.definitions:  # a receiver that is not seen may have it
            return {}
    if dialect.shared == "package" and (inner := solver.spaces.inner((dialect.family, ""), word)):  # a.b.C
        return {(SPACE, *inner): Reason.BOUND}
    return {(EXTERNAL, BUILTIN + word): Reason.BOUND}


def _type_or_variable(solver: Solver, node: int, expression: Expression, values: Values) -> Values:
    """What a name means that a class has for a type within it and for a field: the type where one is meant."""
    types = {value: sure for value, sure in values.items() if value[0] == CLASS}
    if not types or len(types) == len(values) or not solver.project.unit(node).dialect.typed:
        return values
    if len(expression) > 4:
        return types
    is_hidden = solver.project.unit(node).dialect.members_of_packages  # of Java: a variable goes before a type
    return {value: sure for value, sure in values.items() if value not in types} if is_hidden else values


def is_in_lambda(project: Project, scope: int) -> bool:
    """Whether a scope is in a function that is written out where it is handed over."""
    while scope >= 0 and project.scope(scope).kind != ScopeKind.LAMBDA:
        scope = project.outer(scope)
    return scope >= 0


def one_class(values: Values) -> Values:
    """The values, where several classes of one name are not sure: one is compiled, or each for itself."""
    classes = [value for value in values if value[0] == CLASS]
    for value in classes if len(classes) > 1 else ():
        values[value] = min(values[value], Reason.SEVERAL)
    return values


def joined(solver: Solver, nodes: list[int], reason: int) -> Values:
    """What any of some expressions stands for; where several do, that is a reason to doubt."""
    found: Values = {}
    is_open, ways = False, 0
    for node in nodes:
        values = solver.value(node)
        ways += bool(values)
        is_open = is_open or _is_open(solver, node)
        add(found, values)
    return capped(found, reason) if is_open or (ways > 1 and differ(found)) else found


def _is_open(solver: Solver, node: int) -> bool:
    """Whether an expression may also be something of which nothing is known."""
    if solver.op(node) == Op.CHOICE:
        return any(_is_open(solver, solver.child(node, part)) for part in solver.project.expression(node)[1])
    return not solver.value(node) and solver.op(node) not in KNOWN


def merged(solver: Solver, nodes: list[int]) -> Values:
    """What all of some overloads stand for; which is meant, the arguments of a call say."""
    found: Values = {}
    assigned = [solver.value(node) for node in nodes if solver.op(node) not in DEFINITIONS]
    always = set.intersection(*map(set, assigned)) if assigned else set()  # what its declared type says
    for values in assigned:  # of a variable that gets several values, none is sure
        add(found, {value: sure if value in always else min(sure, Reason.ATTRIBUTE) for value, sure in values.items()})
    for node in nodes:
        if solver.op(node) in DEFINITIONS:
            add(found, solver.value(node))
    return one_class(found)


def differ(values: Values) -> bool:
    """Whether values are of more than one thing: two objects of one class are not."""
    return len({value[:2] for value in values}) > 1


def named(solver: Solver, cell: Cell) -> Values:
    """("name", scope, name): what a name is bound to where its scope ends."""
    _, scope, own = cell
    bindings = solver.project.table(scope).get(own, [])
    if len(bindings) > 1 and solver.project.unit(scope).dialect.overloads:
        return merged(solver, [solver.project.value_of(at) for at in bindings])
    found = joined(solver, [solver.project.value_of(at) for at in bindings], Reason.SEVERAL)
    if len(bindings) == 1 and found and not solver.project.bound_once(scope, own):
        found = capped(found, Reason.SEVERAL)
    if solver.project.unit(scope).dialect.prototypes and solver.project.scope(scope).kind == ScopeKind.MODULE:
        return found  # its variables are not what it exports
    if may_be_put_over(solver, scope, own):
        found = capped(found, Reason.REPLACED)
    if own in solver.project.written:
        add(found, solver.value(("field", scope, own)), Reason.ATTRIBUTE)
    return found


def get(solver: Solver, node: int, expression: Expression) -> Values:
    """GET"""
    own = solver.project.unit(node).names[expression[2]]
    values = solver.value(solver.child(node, expression[1]))
    if (EXTERNAL, MODULE_OBJECT) in values and is_exports(solver, node, solver.project.text(own)):
        return {(MODULE, node >> SHIFT): Reason.BOUND}
    if len(values) == 1:
        [(value, sure)] = values.items()
        return member(solver, value, own, sure)
    found: Values = {}
    for value, sure in list(values.items()):
        add(found, member(solver, value, own, sure))
    return found


def function(solver: Solver, node: int, expression: Expression) -> Values:
    """FUNCTION"""
    return {(FUNCTION, solver.child(node, expression[1])): Reason.BOUND}


def class_(solver: Solver, node: int, expression: Expression) -> Values:
    """CLASS"""
    return {(CLASS, solver.classes.whole(solver.child(node, expression[1])), False): Reason.BOUND}


def alias(solver: Solver, node: int, expression: Expression) -> Values:
    """ALIAS, RENAMED: what the other name stands for."""
    return dict(solver.value(solver.child(node, expression[1])))


def case(solver: Solver, node: int, expression: Expression) -> Values:
    """CASE: a member of what is looked at, or what its name means anywhere else."""
    sure = no_member(solver, node, expression)
    return (
        capped(solver.value(solver.child(node, expression[2])), sure)
        if sure
        else dict(solver.value(solver.child(node, expression[1])))
    )


def no_member(solver: Solver, node: int, expression: Expression) -> int:
    """How sure it is that a name of a CASE is no member of what is looked at; 0 where it is one."""
    member_of = solver.child(node, expression[1])
    subject = solver.child(node, solver.project.expression(member_of)[1])
    values = solver.value(subject)
    types = [value[1].removeprefix(BUILTIN) for value in values if value[0] == EXTERNAL]
    is_plain = solver.project.unit(node).dialect.is_plain
    others = [type_ for type_ in types if not (type_.endswith("#") and is_plain(type_[:-1]))]
    if any(value[0] not in (EXTERNAL, CONSTANT) for value in values) or any(type_.endswith("#") for type_ in others):
        return 0
    is_known = bool(values) or solver.op(subject) == Op.MADE
    return Reason.BOUND if is_known and not others else Reason.SEVERAL  # what a function outside gives may be either


def unsure(solver: Solver, node: int, expression: Expression) -> Values:
    """UNSURE"""
    return capped(solver.value(solver.child(node, expression[1])), Reason.REPLACED)


def root(solver: Solver, node: int, expression: Expression) -> Values:
    """ROOT: the outermost namespace; a module by its place: `crate`, `super`, `self`."""
    unit = solver.project.unit(node)
    word = unit.facts.names[expression[1]]
    if word == "":
        return {(SPACE, unit.dialect.family, ""): Reason.BOUND}
    scope = solver.project.outer_namespace(solver.child(node, expression[2]))
    if scope >= 0 and word != "crate":  # a module in the text
        scope = solver.project.outer_namespace(solver.project.outer(scope)) if word == "super" else scope
        if scope >= 0:
            return {(CLASS, scope, False): Reason.BOUND}
        word = "self"
    module = {"crate": modules.crate, "super": modules.above}.get(word, modules.own)(solver.project, unit)
    return {} if module is None else {(MODULE, module): Reason.BOUND}


def prefix(solver: Solver, node: int, expression: Expression) -> Values:
    """PREFIX: a namespace, and not the class or function of its name; all of it where there is no such namespace."""
    found = solver.value(solver.child(node, expression[1]))
    return {value: sure for value, sure in found.items() if value[0] in (SPACE, MODULE)} or dict(found)


def space(_solver: Solver, cell: Cell) -> Values:
    """("space", family, path)"""
    return {(SPACE, *cell[1:]): Reason.BOUND}


def choice(solver: Solver, node: int, expression: Expression) -> Values:
    """CHOICE"""
    ways = [solver.child(node, part) for part in expression[1]]
    return _number_or(solver, node, ways) or joined(solver, ways, Reason.SEVERAL)


def _number_or(solver: Solver, node: int, ways: list[int]) -> Values:
    """What a number is that may be null, or one that is written out instead, `a ?? 0`: that is of its type as well."""
    if len(ways) != 2 or solver.op(ways[0]) != Op.PRESENT:
        return {}
    dialect = solver.project.unit(node).dialect
    held, others = solver.value(ways[0]), solver.value(ways[1])
    is_written = bool(others) and all(value[:2] == (CONSTANT, "number") for value in others)
    if not is_written or not all(value[0] == EXTERNAL and _is_number(dialect, value) for value in held):
        return {}
    is_narrow = any("int" in dialect.widens.get(_plain_name(value), ()) for value in held)
    return {} if is_narrow and any(value[2] > MAX_SMALL for value in others) else dict(held)


def present(solver: Solver, node: int, expression: Expression) -> Values:
    """PRESENT: of a number that may be null, the number itself."""
    held = solver.value(solver.child(node, expression[1]))
    return {
        (EXTERNAL, value[1].replace("?#", "#")) if value[0] == EXTERNAL and value[1].endswith("?#") else value: sure
        for value, sure in held.items()
    }


def sum_(solver: Solver, node: int, expression: Expression) -> Values:
    """SUM"""
    held = [dict(solver.value(solver.child(node, part))) for part in expression[1]]
    dialect = solver.project.unit(node).dialect
    for values in held:
        if values and all(_is_text(dialect, value) for value in values):
            return values
    if not all(held) or not all(_is_number(dialect, value) for values in held for value in values):
        return {}
    if not dialect.widens or all(value[0] == CONSTANT for values in held for value in values):
        return {value: sure for values in held for value, sure in values.items()}
    type_ = _sum_type(dialect, [value for values in held for value in values])
    return {(EXTERNAL, f"{type_}#"): min(max(values.values()) for values in held)} if type_ else {}


def _sum_type(dialect: Dialect, values: list[Value]) -> str:
    """The type of numbers that are added: `int`, or one of theirs that is wider; "" where that is not known.

    Where that is none of theirs, as of `uint` and `int` of C#, a constant `int` would be a `uint`.
    """
    types = {_unboxed(dialect, _plain_name(value)) for value in values if value[0] == EXTERNAL}
    if any(value[0] == CONSTANT for value in values) and not any(_is_unsigned(dialect, type_) for type_ in types):
        types.add("int")
    if all("int" in (type_, *dialect.widens.get(type_, ())) for type_ in types):
        return "int"
    return next((wide for wide in types if all(wide in (at, *dialect.widens.get(at, ())) for at in types)), "")


def _is_unsigned(dialect: Dialect, type_: str) -> bool:
    """Whether a number of a type as wide as an `int` is none: `uint`, of which a number that is written out is one."""
    return "int" not in (type_, *dialect.widens.get(type_, ())) and type_ not in dialect.widens["int"]


def _is_text(dialect: Dialect, value: Value) -> bool:
    return value[:2] == (CONSTANT, "text") or _plain_name(value) in dialect.texts


def _is_number(dialect: Dialect, value: Value) -> bool:
    return value[:2] == (CONSTANT, "number") or _is_of_numbers(dialect, _unboxed(dialect, _plain_name(value)))


def _is_of_numbers(dialect: Dialect, name: str) -> bool:
    return name != "Number" and (name in dialect.numbers or name in dialect.widens)


def _unboxed(dialect: Dialect, name: str) -> str:
    """The type of the number in a box of a name, or that name."""
    return next((plain for plain, box in dialect.boxes.items() if box == name and _is_of_numbers(dialect, plain)), name)


def _plain_name(value: Value) -> str:
    """The last name of a type outside of which a value is."""
    return str(value[1]).removesuffix("#").rpartition(".")[2] if value[0] == EXTERNAL else ""


def reach(solver: Solver, node: int, expression: Expression) -> Values:
    """REACH: what was put there just before, and what it is otherwise if that may not have happened."""
    base = node & ~MASK
    found = joined(solver, [solver.project.value_of(base | at) for at in expression[1]], Reason.SEVERAL)
    if expression[2] != NONE:
        found = add(dict(found), solver.value(base | expression[2]))
    return capped(found, Reason.ATTRIBUTE)


def container(solver: Solver, node: int, expression: Expression) -> Values:
    """LIST, TUPLE: a container of what is written down."""
    value: Value = (CONTAINER, node)
    places_known = expression[0] == Op.TUPLE or expression[2]
    for place, part in enumerate(expression[1]):
        if part < 0:
            places_known = False
            solver.key(value, "*", ("elements of", solver.child(node, ~part)))
        else:
            key = ("number", place) if places_known and place < MAX_PLACE else "*"
            solver.key(value, key, solver.child(node, part))
    return {value: Reason.BOUND}


def dictionary(solver: Solver, node: int, expression: Expression) -> Values:
    """DICT"""
    value: Value = (CONTAINER, node)
    for key, part in expression[1]:
        held = solver.child(node, part)
        if key == NONE:
            copied(solver, value, solver.value(held))
            continue
        for known in constants(solver, solver.child(node, key)):
            solver.key(value, known, held)
        becomes_member(solver, value, held)
    return {value: Reason.BOUND}


def copied(solver: Solver, value: Value, values: Values) -> None:
    """Let a container hold all that others hold."""
    for other in list(values):
        if other[0] == CONTAINER and other != value:
            for key in solver.known_keys(other):
                solver.key(value, key, ("element", other, key))


def constants(solver: Solver, node: int) -> list[Any]:
    """The keys that an expression may be, "*" for any."""
    values = solver.value(node)
    found: list[Any] = [value[1:] for value in values if value[0] == CONSTANT]
    found = [key if len(key) > 1 else key[0] for key in found]
    if not found and not values and not solver.is_settled:
        solver.wait()
        return []  # it may still become one
    return found or ["*"]


def text(solver: Solver, node: int, expression: Expression) -> Values:
    """TEXT"""
    return {(CONSTANT, "text", solver.project.unit(node).names[expression[1]]): Reason.BOUND}


def number(_solver: Solver, _node: int, expression: Expression) -> Values:
    """NUMBER"""
    return {(CONSTANT, "number", expression[1]): Reason.BOUND}


def element_of(solver: Solver, value: Value, key: object = "all") -> Values:
    """What a container holds behind a key, or behind any."""
    known = solver.known_keys(value)
    if key not in ("all", "*"):
        if key in known:
            return add(dict(solver.value(("element", value, key))), solver.value(("element", value, "*")))
        return dict(solver.value(("element", value, "*")))
    found: Values = {}
    for at in known:
        add(found, solver.value(("element", value, at)))
    return found


def in_container(solver: Solver, value: Value) -> int:
    """How sure an element is: what a type declares may be, what was put there may not."""
    node = value[1]
    is_declared = type(node) is int and solver.op(node) in (Op.ARRAY, Op.INDEX)
    return Reason.BOUND if is_declared and solver.project.unit(node).dialect.typed else Reason.CONTAINER


def pointed(solver: Solver, node: int, expression: Expression) -> Values:
    """POINTED: of a class that has the operator, what that gives, or an object of it, to which there is a pointer."""
    found: Values = {}
    operator = solver.project.unit(node).names[expression[2]]
    for value, sure in list(solver.value(solver.child(node, expression[1])).items()):
        if is_pointer(solver, value):
            add(found, element_of(solver, value), sure)
        elif value[0] == OBJECT and has_operator(solver, value, operator):
            given = called_member(solver, value, solver.project.text(operator), sure)
            add(found, capped({value: sure, **given}, Reason.SEVERAL))
        else:
            found[value] = max(sure, found.get(value, 0))
    return found


def addressed(solver: Solver, node: int, expression: Expression) -> Values:
    """ADDRESSED"""
    found: Values = {}
    for value, sure in list(solver.value(solver.child(node, expression[1])).items()):
        held: Value = (CONTAINER, node) if is_pointer(solver, value) else value
        if held != value:
            solver.key(held, "*", solver.child(node, expression[1]))
        found[held] = max(sure, found.get(held, 0))
    return found


def has_operator(solver: Solver, value: Value, operator: int) -> bool:
    """Whether the class of an object has an operator that takes nothing else: `A& operator*()`."""
    owner, _ = solver.classes.of_class(value[1], operator)
    given = {} if owner is None else solver.value(("name", owner, operator))
    return any(held[0] == FUNCTION and not solver.project.scope(held[1]).parameters for held in given)


def is_pointer(solver: Solver, value: Value) -> bool:
    """Whether a value is declared to be a pointer of a library, `std::unique_ptr<A>`, or one to such a pointer."""
    if value[0] != CONTAINER or type(value[1]) is not int:
        return False
    op, *parts = solver.project.expression(value[1])
    pointers = solver.project.unit(value[1]).dialect.pointers
    if op in (Op.ARRAY, Op.ADDRESSED):
        return bool(pointers)
    return op == Op.INDEX and solver.project.last_name(solver.child(value[1], parts[0])) in pointers


def index(solver: Solver, node: int, expression: Expression) -> Values:
    """INDEX"""
    found: Values = {}
    for value, sure in list(solver.value(solver.child(node, expression[1])).items()):
        if value[0] == CONTAINER:
            for key in constants(solver, solver.child(node, expression[2])):
                if isinstance(key, tuple) and key[0] == "number" and key[1] < 0:
                    key = "all"
                add(found, element_of(solver, value, key), min(sure, in_container(solver, value)))
        elif value[0] == OBJECT:
            add(found, called_member(solver, value, "__getitem__", sure))
            add(found, iterated(solver, underlying(solver, value)))
        elif value[0] == CLASS:
            found[value] = sure  # Generic[T]
    return found


def called_member(solver: Solver, value: Value, own: str, sure: int, node: Cell = None) -> Values:
    """What a method of an object gives that the language calls itself, at an expression."""
    name = solver.project.number(own)
    if type(node) is int:
        for held, reason in list(member(solver, value, name, sure).items()):
            if held[0] in (BOUND, FUNCTION):
                add(solver.handed.setdefault(node, {}), {held: reason})
    return capped(solver.value(("called", value, name)), sure)


def called_cell(solver: Solver, cell: Cell) -> Values:
    """("called", object, name): what a method gives that is called without arguments"""
    found: Values = {}
    for held, sure in list(member(solver, cell[1], cell[2], Reason.BOUND).items()):
        if held[0] in (BOUND, FUNCTION):
            receiver = held[2] if held[0] == BOUND else None
            for got, own_sure in returned(solver, held[1], receiver).items():
                value = receiver if got[0] == "given" and got[2] == 0 and receiver else got
                if value[0] != "given":
                    found[value] = min(own_sure, sure, Reason.RETURNED)
    return found


def underlying(solver: Solver, value: Value) -> Values:
    """What a type is made of that is another one with a name: `type A []B`."""
    row = solver.project.scope(value[1])
    if row.returns == NONE:
        return {}
    held = solver.value(("type", solver.child(value[1], row.returns), None))
    return {inner: sure for inner, sure in held.items() if inner[0] == CONTAINER}


def iterated(solver: Solver, values: Values, node: Cell = None) -> Values:
    """What iterating over values gives."""
    found: Values = {}
    for value, sure in list(values.items()):
        if value[0] == CONTAINER:
            add(found, element_of(solver, value), min(sure, in_container(solver, value)))
        elif value[0] == GENERATOR:
            add(found, solver.value(("yielded", value[1])), min(sure, Reason.CONTAINER))
        elif value[0] == OBJECT:
            iterator = called_member(solver, value, "__iter__", sure, node)
            for inner, own in iterator.items():
                if inner[0] == OBJECT:
                    add(found, called_member(solver, inner, "__next__", own, node))
                elif inner != value and inner[0] in (CONTAINER, GENERATOR):
                    add(found, iterated(solver, {inner: own}))
            if not iterator:
                add(found, called_member(solver, value, "__getitem__", sure))
                add(found, iterated(solver, underlying(solver, value)))
    return found


def element(solver: Solver, node: int, expression: Expression) -> Values:
    """ELEMENT"""
    return iterated(solver, solver.value(solver.child(node, expression[1])), node)


def received(solver: Solver, node: int, expression: Expression) -> Values:
    """RECEIVED"""
    found: Values = {}
    values = solver.value(solver.child(node, expression[1]))
    inner = [underlying(solver, value) for value in values if value[0] == OBJECT]
    for value, sure in [pair for held in (values, *inner) for pair in held.items()]:
        type_ = solver.project.expression(value[1]) if value[0] == CONTAINER and type(value[1]) is int else (NONE,)
        if type_[0] == Op.ARRAY and type_[2]:
            add(found, iterated(solver, {value: sure}))
    return found


def item(solver: Solver, node: int, expression: Expression) -> Values:
    """ITEM: one of several names that something is taken apart into."""
    found: Values = {}
    for value, sure in list(solver.value(solver.child(node, expression[1])).items()):
        if value[0] == CONTAINER:
            key = ("number", expression[2])
            add(found, element_of(solver, value, key), min(sure, in_container(solver, value)))
        else:
            add(found, iterated(solver, {value: sure}))
    return found


def entered(solver: Solver, node: int, expression: Expression) -> Values:
    """ENTERED"""
    found: Values = {}
    for value, sure in list(solver.value(solver.child(node, expression[1])).items()):
        if value[0] == OBJECT:
            add(found, called_member(solver, value, "__enter__", sure, node))
            add(found, called_member(solver, value, "__aenter__", sure, node))
        elif value[0] in (GENERATOR, CONTAINER):
            add(found, iterated(solver, {value: sure}))
    return found


def import_(solver: Solver, node: int, expression: Expression) -> Values:
    """IMPORT"""
    return imported(solver, node, expression[1])


def imported(solver: Solver, node: int, which: int) -> Values:
    """What an import brings in."""
    found: Values = {}
    for cell, sure, _ in import_places(solver, node, which):
        if cell[0] == "module":
            found[MODULE, cell[1]] = sure
        else:
            add(found, solver.value(cell), sure)
    if not found:
        said, module, inner, _ = solver.project.imported(solver.project.unit(node), which)
        if module is None and inner is None:
            full = f"{said.module}.{said.name}" if said.name else said.module.partition(".")[0]
            return {(EXTERNAL, full[:200]): Reason.BOUND}
    return found


def import_places(solver: Solver, node: int, which: int) -> list[Any]:
    """The cells of what an import names."""
    project = solver.project
    said, module, inner, place = project.imported(project.unit(node), which)
    if said.name is None:
        return [] if module is None else [(("module", module), Reason.BOUND, None)]
    if said.name == "":
        folder = place.removesuffix("/__init__.py").removesuffix(".py").split("/")
        up = folder[: len(folder) - said.module.count(".")]
        top = project.places.get("/".join([*up, "__init__.py"]))
        if top is None:
            return []
        return [(("module", top), Reason.BOUND, None)]
    own = project.number(said.name)
    if said.name == WHOLE and module is not None and project.export_of(own) not in project.table(module << SHIFT):
        return [(("module", module), Reason.BOUND, None)]
    if module is not None and project.units[module].dialect.shared == "package":
        return _of_class_file(solver, module, said.module, own)
    if module is not None:
        found = places(solver, (MODULE, module), own, Reason.BOUND)
        if inner is None or found[0][0][0] == "name":
            return found
    elif inner is not None:
        package = project.places.get(project.units[inner].path.rpartition("/")[0] + "/__init__.py")
        is_own = package == node >> SHIFT  # `from . import a` in the package itself
        if package is not None and not is_own and own in project.table(project.units[package].base):
            return places(solver, (MODULE, package), own, Reason.BOUND)
    return [] if inner is None else [(("module", inner), Reason.BOUND, None)]


def _of_class_file(solver: Solver, module: int, path: str, own: int) -> list[Any]:
    """What `import a.B` or `import static a.B.c` names: a class of the file, or a member of one."""
    project = solver.project
    scope = module << SHIFT
    if own in project.table(scope):
        return [(("name", scope, own), Reason.BOUND, None)]
    for name in reversed(path.split(".")):
        number = project.number(name)
        if number in project.table(scope):
            return [
                place
                for value in list(solver.value(("name", scope, number)))
                if value[0] == CLASS
                for place in places(solver, value, own, Reason.BOUND)
            ]
    return []


def instance(solver: Solver, node: int, expression: Expression) -> Values:
    """INSTANCE: an object of a class, or of one of several."""
    found: Values = {}
    for value, sure in classes_in(solver, solver.child(node, expression[1])).items():
        found[OBJECT, value[1], True] = min(sure, Reason.DECLARED)
    if solver.project.unit(node).dialect.selects:  # which overload takes it is told by a class outside, too
        held = solver.value(solver.child(node, expression[1]))
        found.update({(EXTERNAL, value[1] + "#"): sure for value, sure in held.items() if value[0] == EXTERNAL})
    return capped(found, Reason.SEVERAL) if len(found) > 1 else found


def classes_in(solver: Solver, node: int) -> Values:
    """The classes that an expression names, also those of a tuple."""
    found: Values = {}
    for value, sure in list(solver.value(node).items()):
        if value[0] == CLASS:
            found[value] = sure
        elif value[0] == CONTAINER:
            add(found, {held: own for held, own in element_of(solver, value).items() if held[0] == CLASS})
    return found


def narrowed(solver: Solver, node: int, expression: Expression) -> Values:
    """NARROWED: what is left of a value where it is known to be of a class."""
    wanted = classes_in(solver, solver.child(node, expression[2]))
    held = solver.value(solver.child(node, expression[1]))
    if not wanted:
        return dict(held)
    kept = {
        value: min(sure, Reason.NARROWED)
        for value, sure in held.items()
        if value[0] == OBJECT and any(at[1] in solver.classes.order(value[1]) for at in wanted)
    }
    return kept or {(OBJECT, value[1], True): Reason.NARROWED for value in wanted}


def declared(solver: Solver, node: int, expression: Expression) -> Values:
    """DECLARED: what a value is, and where that says nothing, what its type is."""
    value = dict(solver.value(solver.child(node, expression[2]))) if expression[2] != NONE else {}
    type_ = solver.value(("type", solver.child(node, expression[1]), None))
    is_typed = solver.project.unit(node).dialect.typed
    if solver.project.unit(node).dialect.selects and any(held[0] == EXTERNAL for held in type_):
        value = {held: min(sure, Reason.ATTRIBUTE) for held, sure in value.items() if held[0] != EXTERNAL}
    is_settled = is_typed and any(held[0] == OBJECT or is_pointer(solver, held) for held in type_)
    if not is_settled and any(held[0] in (OBJECT, FUNCTION, CLASS, BOUND, CONTAINER) for held in value):
        is_told = solver.project.unit(node).dialect.selects and any(held[0] not in (FUNCTION, BOUND) for held in value)
        return add(value, type_) if is_told else value  # which overload is meant is told by the type alone
    if is_settled or (solver.project.unit(node).dialect.overloads and any(_is_plain(solver, node, at) for at in type_)):
        return dict(type_)
    return add(value, type_)


def _is_plain(solver: Solver, node: int, type_: Value) -> bool:
    """Whether what a type declares is a number, a text or anything at all, whatever it gets: `double a = 1`."""
    last = type_[1].removesuffix("#").rpartition(".")[2] if type_[0] == EXTERNAL else ""
    return last in ("Object", "object", "Any") or solver.project.unit(node).dialect.is_plain(last)


def cast(solver: Solver, node: int, expression: Expression) -> Values:
    """CAST: what its type is, and where that says nothing, what it was."""
    type_ = solver.value(("type", solver.child(node, expression[1]), None))
    kinds = {OBJECT, FUNCTION, CLASS, CONTAINER}
    if solver.project.unit(node).dialect.selects:  # which is meant is told by types outside of the project as well
        kinds.add(EXTERNAL)
    known = any(value[0] in kinds for value in type_)
    return dict(type_ if known else solver.value(solver.child(node, expression[2])))


def super_(solver: Solver, node: int, expression: Expression) -> Values:
    """SUPER"""
    scope = solver.child(node, expression[1])
    own = solver.classes.around(scope)
    if own is None:
        return {}
    row = solver.project.scope(scope)
    dialect = solver.project.unit(node).dialect
    is_of_class = row.flags & Flag.CLASSMETHOD or (dialect.prototypes and row.flags & Flag.STATIC)
    receiver: Value = (CLASS if is_of_class else OBJECT, own, True)
    return {(SUPER, own, receiver): Reason.SUPER}


def this(solver: Solver, node: int, expression: Expression) -> Values:
    """An object of the class around; the class itself in a method of its own, where that is so: THIS."""
    scope = solver.child(node, expression[1])
    if lambdas := _lambdas_around(solver.project, scope):
        return _this_in_lambda(solver, lambdas)
    own = solver.classes.around(scope)
    if makes_objects(solver, scope):
        return dict(solver.value(("this", scope)))
    if own is None:
        return {}
    function, kind, dialect = scope, OBJECT, solver.project.unit(node).dialect
    while (dialect.bare_calls or dialect.prototypes) and scope >= 0 and scope != own:
        kind = CLASS if solver.project.scope(scope).flags & Flag.STATIC else kind
        scope = solver.project.outer(scope)
    found: Values = {(kind, own, True): Reason.OWN_CLASS}
    return add(found, solver.value(("called on", function)), Reason.FLOW) if dialect.prototypes else found


def _lambdas_around(project: Project, scope: int) -> list[int]:
    """The lambdas around, the innermost first, that may each run on another object than what is around it."""
    found = []
    while scope >= 0 and (row := project.scope(scope)).kind not in (ScopeKind.CLASS, ScopeKind.INTERFACE):
        if row.flags & Flag.EXTENSION:
            break
        if row.flags & Flag.IMPLICIT:
            found.append(scope)
        scope = project.outer(scope)
    return found


def _this_in_lambda(solver: Solver, lambdas: list[int]) -> Values:
    """What the innermost of some lambdas runs on of which that is known; else an object of the class around."""
    for scope in lambdas:
        if held := solver.value(("receiver", scope)):
            return capped(held, Reason.FLOW)
    if not solver.is_settled:  # it may become known
        solver.wait()
        return {}
    own = solver.classes.around(lambdas[-1])
    return {} if own is None else {(OBJECT, own, True): Reason.IMPLICIT}
