"""What is put into containers, and what keys, loops and the language's own calls take out of them."""

from collections.abc import Collection
from typing import Any

from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.applied_outside import first_of
from fledgling.worker.graph.solving.bound_members import returned
from fledgling.worker.graph.solving.made_names import made_members
from fledgling.worker.graph.solving.members import member
from fledgling.worker.graph.solving.prototypes import becomes_member, exported_objects
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.type_arguments import arguments_of, items_of
from fledgling.worker.graph.tables import EXPORT, NONE, Expression, Flag, Op
from fledgling.worker.graph.unit import SHIFT
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
    Cell,
    Value,
    Values,
    add,
    capped,
)

PAIR = "pair"  # what a pair of a key and a value of a map is a container of
KEYS, VALUES, ENTRIES = "keys", "values", "entries"  # of what one is that holds a map's keys, what is there, or pairs
OF_ANOTHER = (PAIR, KEYS, VALUES, ENTRIES)  # these hold what the map is declared to hold
MAPPED = "mapped"  # what a Map of JavaScript is a container of: iterating gives pairs
WRITTEN_OUT = (Op.TEXT, Op.NUMBER)
MAX_PLACE = 32  # elements of a list that are told apart


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
    """DICT: of what stands before a key that is written out, or surely spread, that key counts no more."""
    value: Value = (CONTAINER, node)
    behind: set[object] = set()
    for key, part in reversed(expression[1]):
        held = solver.child(node, part)
        if key == NONE:
            copied(solver, value, solver.value(held), behind)
            behind |= _written_keys(solver, held)
            continue
        own = solver.child(node, key)
        for known in constants(solver, own):
            if known not in behind or _is_accessor(solver, held):
                solver.key(value, known, held)
            if solver.op(own) in WRITTEN_OUT:
                behind.add(known)
        becomes_member(solver, value, held)
    return {value: Reason.BOUND}


def _written_keys(solver: Solver, node: int) -> set[object]:
    """The keys that an object surely has which is written out, here or where a name gets it: `{ a: b }`."""
    cell, _ = solver.project.meant(node)
    if type(cell) is tuple:
        bindings = solver.project.bindings_of(cell[1], cell[2]) if cell[0] == "name" else []
        cell = solver.project.value_of(bindings[0]) if len(bindings) == 1 else NONE
    if cell == NONE or solver.op(cell) != Op.DICT:
        return set()
    keys = [solver.child(cell, key) for key, _ in solver.project.expression(cell)[1] if key != NONE]
    found = {known for key in keys if solver.op(key) in WRITTEN_OUT for known in constants(solver, key)}
    language, removed = solver.project.unit(cell).language, solver.project.vocabulary.replaced
    return {known for known in found if known[0] != "text" or (language, known[1]) not in removed}


def _is_accessor(solver: Solver, node: int) -> bool:
    """Whether a member is a getter or setter, of which a key may have both."""
    op, *parts = solver.project.expression(node)
    return op == Op.FUNCTION and bool(
        solver.project.scope(solver.child(node, parts[0])).flags & (Flag.PROPERTY | Flag.SETTER)
    )


def copied(solver: Solver, value: Value, values: Values, without: Collection[object] = ()) -> None:
    """Let a container hold all that others hold, but for some keys."""
    for other in list(values):
        if other[0] == CONTAINER and other != value:
            for key in solver.known_keys(other):
                if key not in without:
                    solver.key(value, key, ("element", other, key))
        elif other[0] == MODULE:  # { ...require("a") }
            _exported(solver, value, other[1], without)


def _exported(solver: Solver, value: Value, module: int, without: Collection[object]) -> None:
    """Let a container hold what a module of JavaScript exports."""
    project, scope = solver.project, module << SHIFT
    for name in project.table(scope):
        if (text := project.text(name)).startswith(EXPORT):
            key = ("text", project.number(text.removeprefix(EXPORT)))
            if key not in without:
                solver.key(value, key, ("name", scope, name))
    objects = {held: Reason.BOUND for held in exported_objects(solver, module) if held[0] == CONTAINER}
    copied(solver, value, objects, without)


def constants(solver: Solver, node: int) -> list[Any]:
    """The keys that an expression may be, "*" for any."""
    values = solver.value(node)
    found: list[Any] = [value[1:] for value in values if value[0] == CONSTANT]
    found = [key if len(key) > 1 else key[0] for key in found]
    if not found and not values and not solver.is_settled:
        solver.wait()
        return []  # it may still become one
    if found and _may_be_another(solver, node):
        return [*found, "*"]
    return found or ["*"]


def _may_be_another(solver: Solver, node: int) -> bool:
    """Whether of some parts of which a key is one, one is not known: `a or b.c`."""
    op, *parts = solver.project.expression(node) if type(node) is int else (NONE,)
    if op != Op.CHOICE or all(solver.value(solver.child(node, part)) for part in parts[0]):
        return False
    if not solver.is_settled:
        solver.wait()
    return solver.is_settled


def keys_read(solver: Solver, node: Cell) -> list[Any]:
    """The keys behind which something is taken out, "all" where what is known of them need not be all of it.

    So it is of one part of what a loop gives: `for key, value in a.items()`.
    """
    cell = solver.project.meant(node)[0] if type(node) is int else node
    if type(cell) is int and solver.op(cell) == Op.ITEM and solver.project.unit(cell).dialect.loops_over_keys:
        return ["all"]
    known = constants(solver, node)
    return ["all" if isinstance(key, tuple) and key[0] == "number" and key[1] < 0 else key for key in known]


def element_of(solver: Solver, value: Value, key: object = "all") -> Values:
    """What a container holds behind a key, or behind any."""
    if key in ("all", "*"):
        return solver.elements(value)
    own = solver.value(("element", value, key)) if solver.may_have_key(value, key) else {}
    return add(dict(own), solver.value(("element", value, "*")))


def in_container(solver: Solver, value: Value) -> int:
    """How sure an element is: what a type declares may be, what was put there may not."""
    node = value[1]
    while type(node) is tuple and node[0] in OF_ANOTHER and type(node[-1]) is tuple:
        node = node[-1][1]
    op = solver.op(node) if type(node) is int else Op.UNKNOWN
    is_declared = op in (Op.ARRAY, Op.POINTEE, Op.INDEX) and solver.project.unit(node).dialect.typed
    is_result = op == Op.TUPLE and solver.project.unit(node).dialect.gives_several
    return Reason.BOUND if is_declared or is_result else Reason.CONTAINER


def index(solver: Solver, node: int, expression: Expression) -> Values:
    """INDEX"""
    found: Values = {}
    for value, sure in list(solver.value(solver.child(node, expression[1])).items()):
        if value[0] == CONTAINER:
            for key in keys_read(solver, solver.child(node, expression[2])):
                add(found, element_of(solver, value, key), min(sure, in_container(solver, value)))
        elif value[0] in (OBJECT, MODULE) and solver.project.unit(node).dialect.keyed_members:
            add(found, _by_key(solver, node, value, sure, solver.child(node, expression[2])))
        elif value[0] == EXTERNAL:
            add(found, _held_outside(solver, node, value, sure))
        else:
            add(found, _asked_by_key(solver, node, value, sure))
    return found


def _held_outside(solver: Solver, node: int, value: Value, sure: int) -> Values:
    """What something outside holds that is of a type of which the language says that: a `ByteArray` holds a `Byte`."""
    held = solver.project.unit(node).dialect.holding.get(value[1].removesuffix("#").rpartition(".")[2])
    return {(EXTERNAL, f"{held}#"): sure} if held and value[1].endswith("#") else {}


def _by_key(solver: Solver, node: int, value: Value, sure: int, key: int) -> Values:
    """`a["b"]`, `a["b" + c]`, of an object or a module of JavaScript"""
    found: Values = {}
    known = constants(solver, key)
    for each in known:
        if isinstance(each, tuple) and each[0] == "text":
            add(found, member(solver, value, each[1], min(sure, Reason.CONTAINER)))
    return add(found, made_members(solver, node, {value: sure}, solver.value(key))) if "*" in known else found


def _asked_by_key(solver: Solver, node: int, value: Value, sure: int) -> Values:
    """What a class or an object of one gives behind a key, at an expression."""
    if value[0] in (OBJECT, CLASS) and solver.project.unit(node).dialect.bare_calls:  # self[:a] calls a method
        return called_member(solver, value, "[]", sure)
    if value[0] == OBJECT and solver.project.unit(node).dialect.declared:  # of C, where a type says nothing of arrays
        return {} if solver.project.unit(node).dialect.overloads else {value: sure}
    if value[0] == OBJECT:
        found = dict(called_member(solver, value, "__getitem__", sure))
        return add(found, iterated(solver, underlying(solver, value)))
    is_itself = value[0] == CLASS or (value[0] == FUNCTION and solver.project.unit(node).dialect.instantiates)
    return {value: sure} if is_itself else {}  # Generic[T]


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


def _in_turn(solver: Solver, value: Value) -> Values:
    """What iterating over a container gives: what it holds, or pairs of a key and that, or of Python its keys."""
    keys = keys_of(solver, value)
    if keys is not None:
        return keys
    if entry := entry_of(solver, value):
        return {entry: Reason.BOUND}
    return {_pair_of(solver, value): Reason.CONTAINER} if _is_mapped(solver, value) else element_of(solver, value)


def _is_mapped(solver: Solver, value: Value) -> bool:
    """Whether a container is a Map of JavaScript, or is declared to be one."""
    return type_holds(solver, value) == MAPPED if type(value[1]) is int else bool(value[1][0] == MAPPED)


def holding_of(project: GraphProject, node: int) -> str:
    """How a type outside holds what its types say, by its name: "elements", "mapped"; empty where that is not known."""
    return project.unit(node).dialect.types.get(project.last_name(node), "")


def entry_of(solver: Solver, value: Value) -> Value | None:
    """What stands for each pair of a key and a value of a map, where loops go over these: `for ((a, b) in c)`."""
    if type(value[1]) is not int or not solver.project.unit(value[1]).dialect.loops_over_entries:
        return None
    return _pair_of(solver, value) if type_holds(solver, value) == "values" else None


def _pair_of(solver: Solver, value: Value) -> Value:
    """What stands for each pair of a key and a value of a map."""
    pair: Value = (CONTAINER, (PAIR, value))
    if type_ := key_type(solver, value):
        solver.key(pair, ("number", 0), type_)
    solver.key(pair, ("number", 1), ("held", value))
    return pair


def is_pair(solver: Solver, value: Value) -> bool:
    """Whether a value is a pair of a key and a value of a map, or of a type that says its two parts: `Entry<A, B>`."""
    return type_holds(solver, value) == "parts" if type(value[1]) is int else bool(value[1][0] == PAIR)


def type_holds(solver: Solver, value: Value) -> str:
    """How the type of a container holds what it says, `List<A>` "elements"; empty where no type is written."""
    op, *parts = solver.project.expression(value[1]) if type(value[1]) is int else (NONE,)
    return holding_of(solver.project, solver.child(value[1], parts[0])) if op == Op.INDEX else ""


def key_type(solver: Solver, value: Value) -> Cell | None:
    """The type of the keys of a map that says what its keys and what its values are: `Map<A, B>`."""
    types = arguments_of(solver, value[1]) if type(value[1]) is int else ()
    return ("type", types[0], None) if len(types) == 2 else None


def keys_anew(solver: Solver, value: Value) -> Values:
    """A container of the keys of a map: `a.keySet()`."""
    keys: Value = (CONTAINER, (KEYS, value))
    type_ = key_type(solver, value)
    if type_:
        solver.key(keys, "*", type_)
    return {keys: Reason.BOUND} if type_ else {}


def entries_anew(solver: Solver, value: Value) -> Value | None:
    """A container of the pairs of a map: `a.entrySet()`; None of another container."""
    entry = entry_of(solver, value)
    if entry is None:
        return None
    entries: Value = (CONTAINER, (ENTRIES, value))
    solver.key(entries, "*", ("just", entry))
    return entries


def keys_of(solver: Solver, value: Value) -> Values | None:
    """What stands for the keys of a dictionary of Python, as far as that is seen; None of any other container."""
    how, node = ("", value[1]) if type(value[1]) is int else value[1][:2]
    project = solver.project
    if type(node) is not int or not project.unit(node).dialect.loops_over_keys:
        return None
    if how == "words":  # `**a`, of a function
        return {}
    op, *parts = project.expression(node)
    if how == "made" and op == Op.CALL and _type_holds_values(project, solver.child(node, parts[0])):
        return {}
    if not how and op == Op.DICT:
        return joined_values(solver, [solver.child(node, key) for key, _ in parts[0] if key != NONE])
    if not how and op == Op.INDEX and _type_holds_values(project, solver.child(node, parts[0])):
        return dict(solver.value(("type", arguments_of(solver, node)[0], None)))
    return None


def _type_holds_values(project: GraphProject, node: int) -> bool:
    """Whether a type is one that is given what its keys and what its values are: `dict[A, B]`."""
    return holding_of(project, node) == "values"


def joined_values(solver: Solver, nodes: list[int]) -> Values:
    """What any of some expressions stands for."""
    found: Values = {}
    for node in nodes:
        add(found, solver.value(node))
    return found


def iterated(solver: Solver, values: Values, node: Cell = None, *, is_awaited: bool = False) -> Values:
    """What iterating over values gives; `async for` where it `is_awaited`."""
    found: Values = {}
    for value, sure in list(values.items()):
        if value[0] == CONTAINER:
            add(found, _in_turn(solver, value), min(sure, in_container(solver, value)))
        elif value[0] == CLASS and value[1] in solver.classes.enumerations:
            found[OBJECT, value[1], False] = min(sure, Reason.CONTAINER)
        elif value[0] == GENERATOR:
            add(found, solver.value(("yielded", value[1])), min(sure, Reason.CONTAINER))
        elif value[0] == OBJECT:
            iterator = called_member(solver, value, "__aiter__" if is_awaited else "__iter__", sure, node)
            for inner, own in iterator.items():
                if inner[0] == OBJECT:
                    add(found, called_member(solver, inner, "__anext__" if is_awaited else "__next__", own, node))
                elif inner != value and inner[0] in (CONTAINER, GENERATOR):
                    add(found, iterated(solver, {inner: own}))
            if not iterator and not is_awaited:
                add(found, called_member(solver, value, "__getitem__", sure))
                add(found, iterated(solver, underlying(solver, value)))
                items = items_of(solver, value)
                add(found, element_of(solver, items) if items else {}, sure)
    return found


def element(solver: Solver, node: int, expression: Expression) -> Values:
    """ELEMENT"""
    values = solver.value(solver.child(node, expression[1]))
    found = iterated(solver, values, node, is_awaited=len(expression) > 2)
    for value, sure in values.items() if solver.project.unit(node).dialect.holding else ():
        add(found, _held_outside(solver, node, value, sure) if value[0] == EXTERNAL else {})
    return found


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
        if value[0] == OBJECT and (field := _component(solver, value[1], expression[2])) != NONE:
            add(found, solver.value(field), min(sure, Reason.DECLARED))
        elif value[0] == CONTAINER and keys_of(solver, value) is None:
            key = ("number", expression[2])
            add(found, element_of(solver, value, key), min(sure, in_container(solver, value)))
        elif value[0] == EXTERNAL:
            add(found, first_of(solver, value) if expression[2] == 0 else {}, sure)
        else:
            add(found, iterated(solver, {value: sure}))
    return found


def _component(solver: Solver, scope: int, place: int) -> int:
    """What a class that may be taken apart, a `data class`, holds at a place; NONE where that is not said."""
    project, unit = solver.project, solver.project.unit(scope)
    if not (unit.dialect.says_derived and project.scope(scope).flags & Flag.DERIVES):
        return NONE
    fields = [
        at
        for bindings in project.table(scope).values()
        for at in bindings[:1]
        if solver.op(project.value_of(at)) == Op.DECLARED
    ]
    return project.value_of(sorted(fields)[place]) if place < len(fields) else NONE


def entered(solver: Solver, node: int, expression: Expression) -> Values:
    """ENTERED"""
    found: Values = {}
    for value, sure in list(solver.value(solver.child(node, expression[1])).items()):
        if value[0] == OBJECT:
            add(found, called_member(solver, value, "__aenter__" if expression[2] else "__enter__", sure, node))
        elif value[0] in (GENERATOR, CONTAINER):
            add(found, iterated(solver, {value: sure}))
    return found
