"""What stands for the keys, values and pairs of maps."""

from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.solving.type_arguments import arguments_of
from fledgling.worker.graph.tables import NONE, Op
from fledgling.worker.graph.values import CONTAINER, Cell, Value, Values, add

PAIR = "pair"  # what a pair of a key and a value of a map is a container of
KEYS, VALUES, ENTRIES = "keys", "values", "entries"  # of what one is that holds a map's keys, what is there, or pairs
OF_ANOTHER = (PAIR, KEYS, VALUES, ENTRIES)  # these hold what the map is declared to hold
MAPPED = "mapped"  # what a Map of JavaScript is a container of: iterating gives pairs


def is_mapped(solver: Solver, value: Value) -> bool:
    """Whether a container is a Map of JavaScript, or is declared to be one."""
    return type_holds(solver, value) == MAPPED if type(value[1]) is int else bool(value[1][0] == MAPPED)


def holding_of(project: GraphProject, node: int) -> str:
    """How a type outside holds what its types say, by its name: "elements", "mapped"; empty where that is not known."""
    return project.unit(node).dialect.types.get(project.last_name(node), "")


def entry_of(solver: Solver, value: Value) -> Value | None:
    """What stands for each pair of a key and a value of a map, where loops go over these: `for ((a, b) in c)`."""
    if type(value[1]) is not int or not solver.project.unit(value[1]).dialect.loops_over_entries:
        return None
    return pair_of(solver, value) if type_holds(solver, value) == "values" else None


def pair_of(solver: Solver, value: Value) -> Value:
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
