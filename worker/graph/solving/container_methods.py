"""Methods of containers and generators: `a.append(b)`, `a.map(f)`."""

from typing import Any

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.containers import element_of, in_container, iterated, keys_read
from fledgling.worker.graph.solving.maps import (
    VALUES,
    entries_anew,
    entry_of,
    is_mapped,
    is_pair,
    keys_anew,
    type_holds,
)
from fledgling.worker.graph.solving.outside.called_outside import called_outside
from fledgling.worker.graph.solving.outside.collecting import of_these
from fledgling.worker.graph.solving.outside_types import type_outside
from fledgling.worker.graph.solving.prototypes import has_prototype, receives
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.written_out import copied
from fledgling.worker.graph.tables import NONE, Op
from fledgling.worker.graph.values import (
    BOUND,
    CONSTANT,
    CONTAINER,
    EXTERNAL,
    FUNCTION,
    GENERATOR,
    OBJECT,
    POINTING,
    Cell,
    Value,
    Values,
    add,
    capped,
)

PARTS = ("first", "second", "same", "values", "keys", "entries")  # how a container gives what it has by a name alone
OF_ENTRIES = ("each", "finds", "flattens", "folds", "folds_from", "indexed", "sifts")  # these go over pairs of a map
KEEPING = frozenset(
    ["toCollection", "toList", "toSet", "toUnmodifiableList", "toUnmodifiableSet"]
)  # collectors of Java
MAX_CALLING = 2  # methods of arrays that call each other: `a.find(a.sort)` of an array that holds both has no end
MAX_ANEW = 8  # containers made of each other by methods, `a.toList().filter(b)`; the next one is not told apart


def method(solver: Solver, value: Value, made: MadeCall, sure: int) -> Values:
    """A method of a container or generator: `a.append(b)`."""
    container, own = value[1], solver.project.text(value[2])
    how = solver.project.unit(made.node).dialect.methods.get(own)
    if container[0] == OBJECT:  # a method that the class derives
        return {container: sure}
    if container[0] == GENERATOR:
        return iterated(solver, {container: sure}) if how == "element" or own in ("send", "__next__") else {}
    arguments = [cell for cell, spread in made.arguments if not spread]
    if how in ("adds", "extends", "updates"):
        _put(solver, container, made, how, arguments)
        return {}
    if how == "element":
        return _taken(solver, container, own, arguments, sure)
    if how in PARTS:
        return part_of(solver, container, how, made.node, sure)
    if how == "keyed":  # a.sort(key=f)
        _with_elements(solver, container, made, [cell for _, cell in made.words])
        return {}
    if how in OF_ENTRIES:
        container = entries_anew(solver, container) or container
    within = solver.array_methods.get(made.node, 0)
    if how in OF_ARRAYS and within < MAX_CALLING:
        solver.array_methods[made.node] = within + 1
        found: Values = OF_ARRAYS[how](solver, container, made, arguments, sure)
        solver.array_methods[made.node] = within
        return found
    if how == "items":
        return _pairs(solver, container, made, sure)
    return {} if how else _of_library(solver, container, own, made.node, sure)


def _pointing(solver: Solver, container: Value, _made: MadeCall, _arguments: list[Cell], sure: int) -> Values:
    """a.begin() of C++: an iterator, which points to what the container holds; that of a map to pairs: unknown."""
    if type_holds(solver, container) != "elements":
        return {}
    iterator: Value = (CONTAINER, (POINTING, container))
    solver.key(iterator, "*", ("held", container))
    return {iterator: sure}


def _of_library(solver: Solver, container: Value, own: str, node: int, sure: int) -> Values:
    """What the language's library says that a method of the type of a container gives."""
    library = solver.project.unit(node).dialect.library
    given = library.gives(f"{type_outside(solver, container)}#.{own}") if library else ""
    return {(EXTERNAL, f"{given}#"): sure} if given else {}


def part_of(solver: Solver, container: Value, how: str, node: int, sure: int) -> Values:
    """What a container has by a name alone: `a.values`, `a.getKey()`; nothing where it is of another kind."""
    if how in ("same", "entries"):
        return {(how == "entries" and entries_anew(solver, container)) or container: sure}
    if how == "values":
        return _elements_anew(solver, container, node, sure, VALUES)
    if how == "keys":
        return capped(keys_anew(solver, container), sure)
    if is_pair(solver, container):
        return capped(element_of(solver, container, ("number", PARTS.index(how))), sure)
    if how != "second" or is_mapped(solver, container):
        return {}
    if type(container[1]) is tuple:  # MutableStateFlow(a).value
        return capped(element_of(solver, container), Reason.CONTAINER)
    return capped(element_of(solver, container), sure) if type_holds(solver, container) == "elements" else {}  # Lazy<A>


def _elements_anew(solver: Solver, container: Value, node: int, sure: int, how: str = "elements") -> Values:
    """Another container of the same elements, of which type is not known: `a.toList()`."""
    if _is_far(container):
        return {container: sure}
    other: Value = (CONTAINER, (how, node, container))
    for key in solver.known_keys(container):
        solver.key(other, "*", ("element", container, key))
    return {other: sure}


def _is_far(container: Value) -> bool:
    """Whether a container is made of as many others, one after the other, as are told apart."""
    of = container[1]
    for _ in range(MAX_ANEW):
        if type(of) is not tuple or type(of[-1]) is not tuple:
            return False
        of = of[-1][1]
    return True


def _provided(solver: Solver, context: Value, _made: MadeCall, arguments: list[Cell], _sure: int) -> Values:
    """`<a.Provider value={b} />`: what asks the context gets b."""
    name = solver.project.number("value")
    for value in [value for cell in arguments[:1] for value in solver.value(cell) if value[0] == CONTAINER]:
        if solver.may_have_key(value, ("text", name)):
            solver.key(context, "*", ("element", value, ("text", name)), Reason.FLOW)
    return {}


def _filtered(solver: Solver, container: Value, made: MadeCall, arguments: list[Cell], sure: int) -> Values:
    """a.sortedBy(f): f gets each element, and the elements come back."""
    _with_elements(solver, container, made, arguments)
    return {container: sure} if entry_of(solver, container) else _elements_anew(solver, container, made.node, sure)


def _listed(solver: Solver, container: Value, made: MadeCall, _arguments: list[Cell], sure: int) -> Values:
    """a.toList(): the elements, or the pairs of a map."""
    entries = entries_anew(solver, container)
    return {entries: sure} if entries else _elements_anew(solver, container, made.node, sure)


def _indexed(solver: Solver, container: Value, made: MadeCall, arguments: list[Cell], _sure: int) -> Values:
    """a.forEachIndexed(f): f gets a number and each element."""
    given: Values = {}
    taken: list[tuple[Cell, bool]] = [(("just", (CONSTANT, "number", 0)), False), (("held", container), False)]
    for cell in arguments:
        add(given, called_outside(solver, solver.value(cell), MadeCall(made.node, taken, [])))
    return of_these(solver, made, given or element_of(solver, container))


def _flattened(solver: Solver, container: Value, made: MadeCall, arguments: list[Cell], _sure: int) -> Values:
    """a.flatMap(f): a container of what is in those that f gives, or in the elements."""
    given = _with_elements(solver, container, made, arguments)
    return of_these(solver, made, iterated(solver, given if arguments else element_of(solver, container)))


def _folded_from(solver: Solver, container: Value, made: MadeCall, arguments: list[Cell], sure: int) -> Values:
    """a.fold(b, f)"""
    return _folded(solver, container, made, arguments[::-1], sure)


def _put_where_absent(solver: Solver, container: Value, made: MadeCall, arguments: list[Cell], sure: int) -> Values:
    """a.getOrPut(b, f): an element, or what f gives."""
    found = capped(element_of(solver, container), min(sure, in_container(solver, container)))
    for cell in arguments[1:]:
        add(found, called_outside(solver, solver.value(cell), MadeCall(made.node, [], [])), Reason.CONTAINER)
    return found


def _each(solver: Solver, container: Value, made: MadeCall, arguments: list[Cell], _sure: int) -> Values:
    """a.map(f): f gets each element; what comes back is a container of what f returns, or of the elements."""
    given = _with_elements(solver, container, made, arguments)
    for value in list(solver.value(arguments[0])) if len(arguments) > 1 else ():
        if value[0] in (FUNCTION, BOUND) and has_prototype(solver, value[1]):  # a.forEach(b, c)
            receives(solver, value[1], arguments[1])
    elements = element_of(solver, container)
    is_of_pairs = solver.project.unit(made.node).dialect.loops_over_entries and any(
        value[0] == CONTAINER and is_pair(solver, value) for value in elements
    )
    return of_these(solver, made, given or ({} if is_of_pairs else elements))  # `map(Map.Entry::getValue)`


def _with_elements(solver: Solver, of: Value, made: MadeCall, functions: list[Cell], times: int = 1) -> Values:
    """What functions give that get so many elements of a container."""
    given: Values = {}
    entry = entry_of(solver, of)
    cell_of: Cell = ("just", entry) if entry else ("held", of)
    for cell in functions:
        values = solver.value(cell)
        if entry and times == 1 and _takes_two(solver, values):  # a.forEach((k, v) -> b)
            taken: list[Cell] = [("element", entry, ("number", 0)), ("element", entry, ("number", 1))]
        else:
            taken = [cell_of] * times
        add(given, called_outside(solver, values, MadeCall(made.node, [(at, False) for at in taken], [])))
    return given


def _takes_two(solver: Solver, values: Values) -> bool:
    """Whether what gets an entry of a map takes its key and its value: `(k, v) -> a`."""
    functions = [value[1] for value in values if value[0] in (FUNCTION, BOUND)]
    return bool(functions) and all(len(solver.project.scope(at).parameters) == 2 for at in functions)


def _found(solver: Solver, container: Value, made: MadeCall, arguments: list[Cell], sure: int) -> Values:
    """a.find(f)"""
    _with_elements(solver, container, made, arguments)
    return capped(element_of(solver, container), min(sure, in_container(solver, container)))


def _first_of_pair(solver: Solver, container: Value, made: MadeCall, _arguments: list[Cell], sure: int) -> Values:
    """`a.get_or_create(b=c)`: an element, and whether it was made."""
    pair: Value = (CONTAINER, ("made", made.node))
    solver.key(pair, ("number", 0), ("element", container, "*"))
    return {pair: sure}


def _sifted(solver: Solver, container: Value, made: MadeCall, arguments: list[Cell], sure: int) -> Values:
    """a.Where(f): f gets each element, and what comes back is of the same type."""
    _with_elements(solver, container, made, arguments)
    return {container: sure}


def _visited(solver: Solver, container: Value, made: MadeCall, arguments: list[Cell], _sure: int) -> Values:
    """a.Any(f): f gets each element; of what comes back nothing is known."""
    _with_elements(solver, container, made, arguments)
    return {}


def _sorted(solver: Solver, container: Value, made: MadeCall, arguments: list[Cell], sure: int) -> Values:
    """a.sort(f): f gets two elements."""
    _with_elements(solver, container, made, arguments, times=2)
    return {container: sure}


def _folded(solver: Solver, container: Value, made: MadeCall, arguments: list[Cell], _sure: int) -> Values:
    """a.reduce(f, b): b, or an element where there is none, or what f gives, which gets that and an element."""
    found: Values = {}
    before, held = ("folded", made.node, container), ("held", container)
    add(found, solver.value(arguments[1] if len(arguments) > 1 else held), Reason.SEVERAL)
    for cell in arguments[:1]:
        given = MadeCall(made.node, [(before, False), (held, False)], [])
        add(found, called_outside(solver, solver.value(cell), given), Reason.SEVERAL)
    solver.grow(before, found)
    return found


def _chained(solver: Solver, container: Value, _made: MadeCall, arguments: list[Cell], sure: int) -> Values:
    """a.concat(b)"""
    others = [other for cell in arguments for other in solver.value(cell) if other[0] == CONTAINER]
    return {**dict.fromkeys(others, min(sure, Reason.SEVERAL)), container: sure}


def _peeked(solver: Solver, container: Value, made: MadeCall, arguments: list[Cell], sure: int) -> Values:
    """a.peek() of a queue, or of a stream a.peek(f)"""
    is_handed = bool(arguments)
    return (_sifted if is_handed else _found)(solver, container, made, arguments, sure)


def _collected(solver: Solver, container: Value, _made: MadeCall, arguments: list[Cell], sure: int) -> Values:
    """a.collect(b): the same, where b puts all into one that holds elements as they are, `Collectors.toList()`"""
    made = [solver.project.expression(cell) for cell in arguments if type(cell) is int and solver.op(cell) == Op.CALL]
    names = [solver.project.last_name(solver.child(arguments[0], call[1])) for call in made]
    return {container: sure} if names and KEEPING.issuperset(names) else {}


OF_ARRAYS: dict[str, Any] = {
    "absent": _put_where_absent,
    "collected": _collected,
    "peeks": _peeked,
    "each": _each,
    "filters": _filtered,
    "flattens": _flattened,
    "folds_from": _folded_from,
    "indexed": _indexed,
    "lists": _listed,
    "finds": _found,
    "provides": _provided,
    "first_of_pair": _first_of_pair,
    "points": _pointing,
    "sifts": _sifted,
    "sorts": _sorted,
    "folds": _folded,
    "chains": _chained,
    "visits": _visited,
}


def _put(solver: Solver, container: Value, made: MadeCall, how: str, arguments: list[Cell]) -> None:
    """append, extend, update"""
    if how == "updates":
        if arguments:
            copied(solver, container, solver.value(arguments[0]))
        for word, cell in made.words:
            if word != NONE:
                solver.key(container, ("text", word), cell, Reason.CONTAINER)
    elif arguments:
        solver.key(container, "*", arguments[-1] if how == "adds" else ("elements of", arguments[0]), Reason.CONTAINER)


def _taken(solver: Solver, container: Value, own: str, arguments: list[Cell], sure: int) -> Values:
    """get, pop, setdefault"""
    found: Values = {}
    keys = keys_read(solver, arguments[0]) if arguments else ["all"]
    for key in keys:
        add(found, element_of(solver, container, key))
        if own == "setdefault" and len(arguments) > 1:
            solver.key(container, "*" if key == "all" else key, arguments[1])
    for other in arguments[1:]:
        add(found, solver.value(other))
    return capped(found, min(sure, in_container(solver, container)))


def _pairs(solver: Solver, container: Value, made: MadeCall, sure: int) -> Values:
    """items()"""
    if _is_far(container):
        return {}
    pairs: Value = (CONTAINER, ("pairs", made.node, container))
    pair: Value = (CONTAINER, ("pair", made.node, container))
    solver.key(pair, ("number", 1), ("held", container))
    cell = ("these", made.node, container)
    solver.key(pairs, "*", cell)
    solver.grow(cell, {pair: Reason.CONTAINER})
    return {pairs: sure}
