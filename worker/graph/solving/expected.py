"""What functions get that are written out where a type says it: `f(a => a.b())`, `const c: D = (a) => a.b()`."""

from collections.abc import Iterator

from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.bound_members import signatures
from fledgling.worker.graph.solving.delegates import taken
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, SIGNATURE, Op, ScopeKind
from fledgling.worker.graph.unit import Unit
from fledgling.worker.graph.values import CONSTANT, CONTAINER, FUNCTION, OBJECT, Cell, Value, Values, add, capped

MAX_INNER = 4  # objects and lists in each other that are looked through for functions
WRITTEN = (Op.FUNCTION, Op.DICT, Op.LIST, Op.CHOICE)


def hand_expected(solver: Solver, function: int, place: int, cell: Cell, receiver: Value | None) -> None:
    """Let what is written out as an argument take what the type of the parameter says that it gets.

    The receiver says what type parameters of the function stand for.
    """
    if type(cell) is not int or solver.op(cell) not in WRITTEN:
        return
    for scope in signatures(solver, function):
        parameters = solver.project.scope(scope).parameters
        at = min(place, len(parameters) - 1)
        if at < 0 or parameters[at].type == NONE or (at < place and parameters[at].rest != 1):
            continue
        said = solver.value(("type", solver.child(scope, parameters[at].type), None))
        of = _elements(solver, said) if parameters[at].rest == 1 else capped(said, Reason.FLOW)
        expect(solver, cell, of, receiver if scope == function else None)


def expect(solver: Solver, node: int, said: Values, receiver: Value | None = None, depth: int = 0) -> None:
    """Let functions that are written out at an expression take what the values of a type say that they get."""
    op, *parts = solver.project.expression(node)
    if depth > MAX_INNER or not said or op not in WRITTEN:
        return
    if op == Op.FUNCTION:
        written = solver.child(node, parts[0])
        for function in _functions(solver, said):
            _takes(solver, written, function, receiver)
        for value in said:
            hand_types(solver, written, taken(solver, value), receiver)
    elif op == Op.DICT:
        add(solver.written_as.setdefault(node, {}), said)
        for key, part in parts[0]:
            if key != NONE and solver.op(solver.child(node, part)) in WRITTEN:
                behind = _behind(solver, said, solver.child(node, key))
                expect(solver, solver.child(node, part), behind, receiver, depth + 1)
    else:
        inner = _elements(solver, said) if op == Op.LIST else said
        for part in parts[0]:
            if part >= 0 and solver.op(solver.child(node, part)) in WRITTEN:
                expect(solver, solver.child(node, part), inner, receiver, depth + 1)


def _functions(solver: Solver, said: Values) -> Iterator[int]:
    """The functions that a type says, also those of an interface that can be called."""
    for value in list(said):
        if value[0] == FUNCTION:
            yield value[1]
        elif value[0] == OBJECT:
            yield from (held[1] for held in called_as(solver, value))
            if (method := single_method(solver, value[1])) not in (None, NONE):
                yield method


def single_method(solver: Solver, of: int) -> int | None:
    """The only method without a body of an interface of the project, as which a function may be written out.

    -1 if it has none; None where it is not known, or there are several.
    """
    if of not in solver.single_methods:
        solver.single_methods[of] = _single_method(solver, of)
    return solver.single_methods[of]


def _single_method(solver: Solver, of: int) -> int | None:
    project = solver.project
    if project.scope(of).kind != ScopeKind.INTERFACE:
        return NONE
    if of in solver.classes.has_external_base:
        return None
    nearest: dict[int, int] = {}
    for at in solver.classes.order(of):
        for name, bindings in project.table(at).items():
            functions = {project.defined(each)[1] for each in bindings} - {NONE}
            if len(functions) > 1 and any(map(solver.classes.is_abstract, functions)):
                return None
            nearest.setdefault(name, functions.pop() if functions else NONE)
    found = [at for at in nearest.values() if at != NONE and solver.classes.is_abstract(at)]
    return found[0] if len(found) == 1 else NONE if not found else None


def called_as(solver: Solver, value: Value) -> list[Value]:
    """The functions that an object of an interface says that it is called as: `interface A { (b: B): C }`."""
    name = solver.project.number(SIGNATURE)
    owners = [at for at in solver.classes.order(value[1]) if name in solver.project.table(at)]
    return [at for owner in owners for at in solver.value(("name", owner, name)) if at[0] == FUNCTION]


def _takes(solver: Solver, written: int, function: int, receiver: Value | None) -> None:
    """Let the parameters of a function that is written out take what those of another one say."""
    for own in solver.project.scope(function).bases[:1]:  # of a type with a receiver: `A.() -> B`
        solver.source(("receiver", written), ("type", solver.child(function, own), receiver), Reason.FLOW)
    parameters = solver.project.scope(function).parameters
    plain = [NONE if said.rest or said.type == NONE else solver.child(function, said.type) for said in parameters]
    hand_types(solver, written, plain, receiver)


def hand_types(solver: Solver, written: int, types: list[int], receiver: Value | None = None) -> None:
    """Let the parameters of a function that is written out be of some types, where they say none; -1 is any."""
    for at, (own, type_) in enumerate(zip(solver.project.scope(written).parameters, types, strict=False)):
        if own.type == NONE and type_ != NONE and own.rest == 0:
            of_type = ("type", type_, receiver)
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
    dialect = unit.dialect
    how = "fills" if dialect.declared else "expects"
    if not (
        dialect.typed and (dialect.prototypes or dialect.declared or dialect.delegates or dialect.implicit_parameter)
    ):
        return []
    declared = [row for row in unit.expressions if row[0] in (Op.DECLARED, Op.CAST) and row[2] != NONE]
    pairs = [(row[2], row[1]) for row in declared]
    pairs += [(node, row.returns) for row in unit.facts.scopes if row.returns != NONE for node in row.returned]
    parameters = [each for row in unit.facts.scopes for each in row.parameters if each.default > 1]
    pairs += [(each.default, each.type) for each in parameters if each.type != NONE]
    return [(how, unit.base | node, unit.base | type_) for node, type_ in pairs if unit.expressions[node][0] in WRITTEN]
