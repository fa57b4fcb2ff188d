"""What functions get that are written out where a type says it: `f(a => a.b())`, `const c: D = (a) => a.b()`."""

from collections.abc import Iterator

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.bound_members import signatures
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, SIGNATURE, Op
from fledgling.worker.graph.unit import Unit
from fledgling.worker.graph.values import CONSTANT, CONTAINER, FUNCTION, OBJECT, Cell, Value, Values, add, capped

MAX_INNER = 4  # objects and lists in each other that are looked through for functions
WRITTEN = (Op.FUNCTION, Op.DICT, Op.LIST, Op.CHOICE)


def hand_expected(solver: Solver, function: int, place: int, cell: Cell) -> None:
    """Let what is written out as an argument take what the type of the parameter says that it gets."""
    if type(cell) is not int or solver.op(cell) not in WRITTEN:
        return
    for scope in signatures(solver, function):
        parameters = solver.project.scope(scope).parameters
        at = min(place, len(parameters) - 1)
        if at < 0 or parameters[at].type == NONE or (at < place and parameters[at].rest != 1):
            continue
        said = solver.value(("type", solver.child(scope, parameters[at].type), None))
        expect(solver, cell, _elements(solver, said) if parameters[at].rest == 1 else capped(said, Reason.FLOW))


def expect(solver: Solver, node: int, said: Values, depth: int = 0) -> None:
    """Let functions that are written out at an expression take what the values of a type say that they get."""
    op, *parts = solver.project.expression(node)
    if depth > MAX_INNER or not said or op not in WRITTEN:
        return
    if op == Op.FUNCTION:
        for function in _functions(solver, said):
            _takes(solver, solver.child(node, parts[0]), function)
    elif op == Op.DICT:
        add(solver.written_as.setdefault(node, {}), said)
        for key, part in parts[0]:
            if key != NONE and solver.op(solver.child(node, part)) in WRITTEN:
                expect(solver, solver.child(node, part), _behind(solver, said, solver.child(node, key)), depth + 1)
    else:
        inner = _elements(solver, said) if op == Op.LIST else said
        for part in parts[0]:
            if part >= 0 and solver.op(solver.child(node, part)) in WRITTEN:
                expect(solver, solver.child(node, part), inner, depth + 1)


def _functions(solver: Solver, said: Values) -> Iterator[int]:
    """The functions that a type says, also those of an interface that can be called."""
    for value in list(said):
        if value[0] == FUNCTION:
            yield value[1]
        elif value[0] == OBJECT:
            yield from (held[1] for held in called_as(solver, value))


def called_as(solver: Solver, value: Value) -> list[Value]:
    """The functions that an object of an interface says that it is called as: `interface A { (b: B): C }`."""
    name = solver.project.number(SIGNATURE)
    owners = [at for at in solver.classes.order(value[1]) if name in solver.project.table(at)]
    return [at for owner in owners for at in solver.value(("name", owner, name)) if at[0] == FUNCTION]


def _takes(solver: Solver, written: int, function: int) -> None:
    """Let the parameters of a function that is written out take what those of another one say."""
    for receiver in solver.project.scope(function).bases[:1]:  # of a type with a receiver: `A.() -> B`
        solver.source(("receiver", written), ("type", solver.child(function, receiver), None), Reason.FLOW)
    both = zip(solver.project.scope(written).parameters, solver.project.scope(function).parameters, strict=False)
    for at, (own, said) in enumerate(both):
        if own.type == NONE and said.type != NONE and own.rest == said.rest == 0:
            of_type = ("type", solver.child(function, said.type), None)
            solver.source(("parameter", written, at), of_type, Reason.FLOW)
            solver.expected.setdefault(("parameter", written, at), {})[of_type] = None


def _elements(solver: Solver, said: Values) -> Values:
    found: Values = {}
    for value, sure in list(said.items()):
        if value[0] == CONTAINER:
            add(found, solver.value(("held", value)), sure)
    return found


def _behind(solver: Solver, said: Values, key: int) -> Values:
    """What a type says of what is behind a key that is written out."""
    found: Values = {}
    names = [value[2] for value in solver.value(key) if value[:2] == (CONSTANT, "text")]
    for value, sure in list(said.items()) if names else ():
        owner = solver.classes.of_class(value[1], names[0])[0] if value[0] == OBJECT else None
        if owner is not None:
            add(found, solver.value(("name", owner, names[0])), sure)
        elif value[0] == CONTAINER:
            add(found, solver.value(("held", value)), sure)
    return found


def expects(solver: Solver, cell: Cell) -> Values:
    """("expects", node, type): what is written out where a type is declared; it stands for nothing itself."""
    expect(solver, cell[1], solver.value(("type", cell[2], None)))
    return {}


def declared_to_be(unit: Unit) -> list[Cell]:
    """Cells for all that is written out in a file as what a variable or cast says, or a function that it returns."""
    how = "expects" if unit.dialect.prototypes else "fills"
    if not (unit.dialect.typed and (unit.dialect.prototypes or unit.dialect.declared)):
        return []
    declared = [row for row in unit.expressions if row[0] in (Op.DECLARED, Op.CAST) and row[2] != NONE]
    pairs = [(row[2], row[1]) for row in declared]
    pairs += [(node, row.returns) for row in unit.facts.scopes if row.returns != NONE for node in row.returned]
    return [(how, unit.base | node, unit.base | type_) for node, type_ in pairs if unit.expressions[node][0] in WRITTEN]
