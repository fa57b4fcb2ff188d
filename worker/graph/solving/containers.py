"""What keys, loops and the language's own calls take out of containers."""

from collections.abc import Iterator
from typing import Any

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.applied_outside import first_of, in_turn
from fledgling.worker.graph.solving.bound_members import read_by_base, returned
from fledgling.worker.graph.solving.iterators import handed_by_any
from fledgling.worker.graph.solving.made_names import made_members
from fledgling.worker.graph.solving.maps import OF_ANOTHER, entry_of, is_mapped, keys_of, pair_of
from fledgling.worker.graph.solving.members import member
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.traits import by_trait, run_by_trait
from fledgling.worker.graph.solving.type_arguments import items_of
from fledgling.worker.graph.tables import BY_MACRO, NONE, Expression, Flag, Op
from fledgling.worker.graph.values import (
    BOUND,
    BUILTIN,
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

MAP_KEY = 4  # the place in an ARRAY of the type of its keys: `map[A]B`


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
    held = solver.value(solver.child(node, expression[1]))
    if len(expression) > 3 and any(value[0] == OBJECT for value in held):
        return dict(solver.value(solver.child(node, expression[3])))
    for value, sure in list(held.items()):
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
    """What something outside holds that is of a type of which the language says that: a `ByteArray` holds a `Byte`.

    In Ruby a class that is asked so makes a container: `Set[a, b]`.
    """
    dialect = solver.project.unit(node).dialect
    if dialect.bare_calls and dialect.types.get(value[1].removeprefix(BUILTIN)) == "elements":
        return _written_behind(solver, node, sure)
    held = dialect.holding.get(value[1].removesuffix("#").rpartition(".")[2])
    return {(EXTERNAL, f"{held}#"): sure} if held and value[1].endswith("#") else {}


def _written_behind(solver: Solver, node: int, sure: int) -> Values:
    """A container of what stands in brackets."""
    made: Value = (CONTAINER, ("made", node))
    key = solver.child(node, solver.project.expression(node)[2])
    solver.key(made, "*", ("elements of", key) if solver.op(key) == Op.TUPLE else key)
    return {made: sure}


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
        return _by_bracket(solver, value, sure) if solver.project.unit(node).dialect.overloads else {value: sure}
    if value[0] == OBJECT and solver.project.unit(node).dialect.crates:
        return _by_index(solver, node, value, sure)
    if value[0] == OBJECT:
        found = dict(called_member(solver, value, "__getitem__", sure))
        return add(found, iterated(solver, underlying(solver, value)))
    is_itself = value[0] == CLASS or (value[0] == FUNCTION and solver.project.unit(node).dialect.instantiates)
    return {value: sure} if is_itself else {}  # Generic[T]


def _by_bracket(solver: Solver, value: Value, sure: int) -> Values:
    """What `a[b]` of C++ gives where a is an object, or a pointer to one or an array of some, which no type tells."""
    asked = called_member(solver, value, "operator[]", sure)
    declared = member(solver, value, solver.project.number("operator[]"), sure)
    may_give_others = BY_MACRO + "operator[]" in solver.project.numbers  # or what it gives is not known
    if asked or may_give_others or any(held[0] in (BOUND, FUNCTION) for held in declared):
        return capped({value: sure, **asked}, Reason.SEVERAL)
    own, classes = solver.classes.whole(value[1]), solver.classes
    return {} if own in classes.has_external_base or own in classes.has_unknown_base else {value: sure}


def _by_index(solver: Solver, node: int, value: Value, sure: int) -> Values:
    """What `a[b]` of Rust gives where a is an object; nothing of `a?`."""
    op, *parts = solver.project.expression(solver.child(node, solver.project.expression(node)[2]))
    method = solver.project.unit(node).dialect.operators["[]"]
    is_asked = (op != Op.TUPLE or parts[0]) and run_by_trait(solver, value, method)
    return called_member(solver, value, method, sure) if is_asked else {}


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
    return {pair_of(solver, value): Reason.CONTAINER} if is_mapped(solver, value) else element_of(solver, value)


def _as_read(solver: Solver, values: Values) -> Iterator[tuple[Value, int]]:
    """Yield the values, in the place of a function of PHP that is read what it gives then."""
    for value, sure in list(values.items()):
        yield from read_by_base(solver, value).items() if value[0] == BOUND else [(value, sure)]


def iterated(solver: Solver, values: Values, node: Cell = None, *, is_awaited: bool = False) -> Values:
    """What iterating over values gives; `async for` where it `is_awaited`."""
    found = in_turn(solver, values)
    for value, sure in _as_read(solver, values):
        if value[0] == CONTAINER:
            add(found, _in_turn(solver, value), min(sure, in_container(solver, value)))
        elif value[0] == CLASS and value[1] in solver.classes.enumerations:
            found[OBJECT, value[1], False] = min(sure, Reason.CONTAINER)
        elif value[0] == GENERATOR:
            add(found, solver.value(("yielded", value[1])), min(sure, Reason.CONTAINER))
        elif value[0] == OBJECT:
            hand_to_loop(solver, value, node)
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
                dialect = solver.project.unit(value[1]).dialect
                add(found, _by_own_iterator(solver, value, sure) if dialect.loops_run and dialect.declared else {})
    return found


def hand_to_loop(solver: Solver, value: Value, node: Cell) -> None:
    """Note what a loop runs on an object: what makes the iterator, and what that gives the next element by."""
    runs = solver.project.unit(value[1]).dialect.loops_run
    if not runs or type(node) is not int:
        return
    making, giving = runs
    made = _run_by_loop(solver, value, making)
    given = [at for at in called_member(solver, value, making, Reason.BOUND) if at[0] == OBJECT] if made else [value]
    found = dict(made)
    for iterator in given:
        add(found, _run_by_loop(solver, iterator, giving))
    add(solver.handed.setdefault(node, {}), found)


def _run_by_loop(solver: Solver, value: Value, method: str) -> Values:
    """The methods of a name that a loop may run on an object; in C++ one that takes nothing, constant or not."""
    if solver.project.unit(value[1]).dialect.crates:
        return by_trait(solver, value, method)
    held = member(solver, value, solver.project.number(method), Reason.TYPES)
    functions = {at: sure for at, sure in held.items() if at[0] in (BOUND, FUNCTION)}
    return {at: sure for at, sure in functions.items() if not solver.project.scope(at[1]).parameters}


def _by_own_iterator(solver: Solver, value: Value, sure: int) -> Values:
    """What a loop of C++ over an object gives: what its `begin()` points to, a pointer or what has an `operator*`."""
    found: Values = {}
    making, giving = solver.project.unit(value[1]).dialect.loops_run
    begun = called_member(solver, value, making, sure) if _run_by_loop(solver, value, making) else {}
    for inner, own in begun.items():
        if inner[0] == OBJECT and _run_by_loop(solver, inner, giving):
            add(found, called_member(solver, inner, giving, own))
        elif inner[0] == OBJECT:
            add(found, {inner: own})
        elif inner[0] == CONTAINER:
            add(found, element_of(solver, inner), own)
    return found


def element(solver: Solver, node: int, expression: Expression) -> Values:
    """ELEMENT"""
    values = solver.value(solver.child(node, expression[1]))
    found = iterated(solver, values, node, is_awaited=len(expression) > 2)
    if solver.project.unit(node).dialect.loops_over_pairs:
        add(found, handed_by_any(solver, values, 1))
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
        elif type_[0] == Op.ARRAY and len(type_) > MAP_KEY:
            add(found, solver.value(("type", solver.child(value[1], type_[MAP_KEY]), None)), sure)
    return add(found, handed_by_any(solver, values, 0))


def item(solver: Solver, node: int, expression: Expression) -> Values:
    """ITEM: one of several names that something is taken apart into."""
    found: Values = {}
    for value, sure in list(solver.value(solver.child(node, expression[1])).items()):
        if value[0] == OBJECT and (field := _component(solver, value[1], expression[2])) != NONE:
            add(found, solver.value(field), min(sure, Reason.DECLARED))
        elif value[0] == OBJECT and solver.project.unit(value[1]).dialect.says_derived:
            add(found, called_member(solver, value, f"component{expression[2] + 1}", sure))
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
