"""Containers that something outside makes of what it gets, or fills: `list(a)`, `new Map(a)`, `array_push(a, b)`."""

from typing import Any

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.applied_outside import applied
from fledgling.worker.graph.solving.arguments import MadeCall
from fledgling.worker.graph.solving.containers import element_of, iterated
from fledgling.worker.graph.solving.delegates import GIVEN
from fledgling.worker.graph.solving.maps import MAPPED, keys_of
from fledgling.worker.graph.solving.outside.called_outside import called_outside
from fledgling.worker.graph.solving.outside.objects import one_of, related
from fledgling.worker.graph.solving.overloading.arrays import array_type
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.written_out import copied
from fledgling.worker.graph.tables import NONE, Op
from fledgling.worker.graph.values import (
    CONSTANT,
    CONSTANTS,
    CONTAINER,
    EXTERNAL,
    GENERATOR,
    NAMESPACE,
    OBJECT,
    UNKNOWN,
    Cell,
    Value,
    Values,
    add,
)


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


def pushes(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """array_push(a, b)"""
    for value in list(solver.value(first)):
        for cell, spread in made.arguments[1:] if value[0] == CONTAINER else ():
            solver.key(value, "*", ("elements of", cell) if spread else cell)
    return {}


def merged(solver: Solver, made: MadeCall, _first: Cell, _sure: int) -> Values:
    """array_merge(a, b)"""
    value: Value = (CONTAINER, ("made", made.node))
    for cell, spread in made.arguments:
        solver.key(value, "*", ("elements of", ("elements of", cell) if spread else cell))
    return {value: Reason.CONTAINER}


def many_of(solver: Solver, made: MadeCall, first: Cell | None, sure: int) -> Values:
    """`A.where(b)`, where a class outside that A is below has that: several A."""
    held = one_of(solver, made, first, sure)
    return of_these(solver, made, held) if held else {}


def many_given(solver: Solver, made: MadeCall, first: Cell | None, sure: int) -> Values:
    """`select(A)`, `ManyToManyField("A")`: several A."""
    held = {} if first is None else related(solver, made, first, sure)
    return of_these(solver, made, held) if held else {}


def numbered(solver: Solver, made: MadeCall, _first: Cell, _sure: int, skip: int = 1) -> Values:
    """enumerate(a): pairs of a number and an element."""
    pairs: Value = (CONTAINER, ("pairs", made.node))
    pair: Value = (CONTAINER, ("pair", made.node))
    for place, (cell, _) in enumerate(made.arguments, skip):
        solver.key(pair, ("number", place), ("elements of", cell))
    cell = ("these", made.node)
    solver.key(pairs, "*", cell)
    solver.grow(cell, {pair: Reason.CONTAINER})
    return {pairs: Reason.CONTAINER}


def zipped(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """zip(a, b): pairs of their elements."""
    return numbered(solver, made, first, sure, 0)


def words(solver: Solver, made: MadeCall, first: Cell | None, _sure: int) -> Values:
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


def namespace(solver: Solver, made: MadeCall, _first: Cell | None, _sure: int) -> Values:
    """SimpleNamespace(a=b)"""
    value: Value = (CONTAINER, (NAMESPACE, made.node))
    for word, cell in made.words:
        if word != NONE:
            solver.key(value, ("text", word), cell)
    return {value: Reason.BOUND}


def fills(solver: Solver, made: MadeCall, first: Cell | None, _sure: int) -> Values:
    """`defaultdict(a)`: of what a key has no value for, what a gives: a container, where that is of the language"""
    value: Value = (CONTAINER, ("made", made.node))
    inner: Value = (CONTAINER, ("inner", made.node))
    given: Values = {}
    for of, sure in list(solver.value(first).items()) if first is not None else ():
        is_container = of[0] == EXTERNAL and solver.project.unit(made.node).dialect.types.get(of[1].rpartition(".")[2])
        add(given, {inner: Reason.CONTAINER} if is_container in ("elements", "values") else {})
        add(given, called_outside(solver, {of: sure}, MadeCall(made.node, [], [])))
    cell = ("these", made.node)
    solver.key(value, "*", cell)
    solver.grow(cell, given)
    return {value: Reason.BOUND}


def context(solver: Solver, made: MadeCall, first: Cell | None, sure: int) -> Values:
    """`createContext(a)` of React: what gives a, or what its `Provider` gets, to those that ask for it."""
    found: Value = (CONTAINER, made.node)
    if first is not None:
        solver.key(found, "*", first, Reason.FLOW)
    return {found: sure, **_of_types(solver, made, sure)}


def _of_types(solver: Solver, made: MadeCall, sure: int) -> Values:
    """What a call gives of the types that it says: `createContext<A>(b)`, `useContext<A>(b)`."""
    op, *parts = solver.project.expression(made.node)
    is_said = op == Op.CALL and len(parts) > 3
    return {applied(solver, (EXTERNAL, "context()"), solver.child(made.node, parts[3]), GIVEN): sure} if is_said else {}


def of_context(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """`useContext(a)`"""
    found = _of_types(solver, made, sure)
    is_own = False
    for value in list(solver.value(first)):
        is_own |= value[0] == CONTAINER
        if value[0] == CONTAINER:
            add(found, solver.value(("held", value)), Reason.FLOW)
        elif value[0] == EXTERNAL:
            found[EXTERNAL, "context()", *value[2:]] = sure
    if found or not is_own:
        return found or {(EXTERNAL, "context()"): sure}
    if not solver.is_settled:
        solver.wait()
    return {UNKNOWN: int(Reason.FLOW)} if solver.is_settled else {}  # what nobody is seen to provide


def mapped(solver: Solver, made: MadeCall, first: Cell | None, _sure: int) -> Values:
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


def gathered(solver: Solver, made: MadeCall, first: Cell | None, _sure: int) -> Values:
    """`new Set(a)`"""
    value: Value = (CONTAINER, ("made", made.node))
    if first is not None:
        solver.key(value, "*", ("elements of", first))
    return {value: Reason.BOUND}


def collects(solver: Solver, made: MadeCall, first: Cell | None, sure: int) -> Values:
    """Set.new(a), of Ruby; with a block what that makes of each element."""
    if len(made.arguments) < 2:
        return gathered(solver, made, first, sure)
    function, *_ = made.arguments[1]
    taken: list[tuple[Cell, bool]] = [(("elements of", first), False)]
    return of_these(solver, made, called_outside(solver, solver.value(function), MadeCall(made.node, taken, [])))


def valued(solver: Solver, made: MadeCall, first: Cell, _sure: int) -> Values:
    """Object.values(a): what is behind the keys of a"""
    value: Value = (CONTAINER, ("made", made.node))
    for of in list(solver.value(first)):
        if of[0] == CONTAINER:
            solver.key(value, "*", ("held", of))
    return {value: Reason.BOUND}


def paired(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """Object.entries(a): pairs of a key and what is behind it"""
    pairs: Value = (CONTAINER, ("pairs", made.node))
    pair: Value = (CONTAINER, ("pair", made.node))
    solver.key(pairs, "*", ("just", pair))
    for value in valued(solver, made, first, sure):
        solver.key(pair, ("number", 1), ("held", value))
    return {pairs: Reason.BOUND}


def defaults(solver: Solver, made: MadeCall, first: Cell | None, _sure: int) -> Values:
    """`Hash.new(a)`, `Hash.new { |h, k| h[k] = a }`: of what a key has no value for, a"""
    value: Value = (CONTAINER, ("made", made.node))
    if first is not None:
        given = called_outside(solver, solver.value(first), MadeCall(made.node, [(("just", value), False)], []))
        cell = ("these", made.node)
        solver.key(value, "*", cell)
        solver.grow(cell, given or dict(solver.value(first)))
    return {value: Reason.BOUND}


def holds(solver: Solver, made: MadeCall, _first: Cell, sure: int) -> Values:
    """Some(a), listOf(a, *b): a container of a, and of what b holds"""
    value: Value = (CONTAINER, ("made", made.node))
    for cell, spread in made.arguments:
        solver.key(value, "*", ("elements of", cell) if spread else cell)
    return {value: sure}


def holds_each(solver: Solver, made: MadeCall, first: Cell, sure: int) -> Values:
    """Stream.of(a, b), List.of(a, b); of an array alone what that holds"""
    held = [value for value in solver.value(first) if value[0] == CONTAINER]
    arrays = [value for value in held if array_type(solver, value) or _is_of_constants(value)]
    if len(made.arguments) == 1 and arrays:
        return dict.fromkeys(arrays, sure)
    return holds(solver, made, first, sure)


def _is_of_constants(value: Value) -> bool:
    """Whether a container is what `values()` of an enumeration gives."""
    of = value[1]
    return type(of) is tuple and type(of[-1]) is tuple and type(of[-1][1]) is tuple and of[-1][1][0] == CONSTANTS
