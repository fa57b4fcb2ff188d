"""Numbers and texts: of which type what is calculated from two is, or one that may be null."""

from fledgling.worker.dialect import Dialect
from fledgling.worker.graph.reasons import Reason
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import Expression, Op
from fledgling.worker.graph.values import CONSTANT, CONTAINER, EXTERNAL, OBJECT, Value, Values

MAX_SMALL = 127  # of a number that is written out, that any type of numbers has


def number_or(solver: Solver, node: int, ways: list[int]) -> Values:
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
    """SUM: what is calculated from two, `a + b`, `a * b`."""
    held = [dict(solver.value(solver.child(node, part))) for part in expression[1]]
    if len(expression) > 2 and any(value[0] == OBJECT for value in held[0]):
        return dict(solver.value(solver.child(node, expression[2])))
    dialect = solver.project.unit(node).dialect
    if dialect.sums and held[0] and all(value[0] == CONTAINER for value in held[0]):
        return held[0]
    for values in held:
        if values and all(_is_text(dialect, value) for value in values):
            return values
    if not all(held) or not all(_is_number(dialect, value) for values in held for value in values):
        return {}
    if dialect.sums:
        types = {_plain_name(value) for values in held for value in values}
        type_ = next((each for each in dialect.sums if each in types), dialect.sums[-1])
        return {(EXTERNAL, f"{type_}#"): min(max(values.values()) for values in held)}
    if not dialect.widens or all(value[0] == CONSTANT for values in held for value in values):
        return {value: sure for values in held for value, sure in values.items()}
    type_ = _sum_type(dialect, [value for values in held for value in values])
    return {(EXTERNAL, f"{type_}#"): min(max(values.values()) for values in held)} if type_ else {}


def _sum_type(dialect: Dialect, values: list[Value]) -> str:
    """The type of what is calculated from numbers: `int`, or one of theirs that is wider; "" where that is not known.

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


def text(solver: Solver, node: int, expression: Expression) -> Values:
    """TEXT"""
    return {(CONSTANT, "text", solver.project.unit(node).names[expression[1]]): Reason.BOUND}


def number(_solver: Solver, _node: int, expression: Expression) -> Values:
    """NUMBER"""
    return {(CONSTANT, "number", expression[1]): Reason.BOUND}
