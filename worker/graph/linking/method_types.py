"""What methods take and give, as it is written, to tell those of an interface of Go from others of their names."""

from collections.abc import Callable
from typing import Any

from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.tables import NONE, Op, Parameter, ScopeKind
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import CLASS, EXTERNAL, Cell, Values

OWN_TYPES = "builtins."  # of the language
NO_TYPES = frozenset(["any", "comparable"])  # another spelling of what is written out, or of no value
Type = tuple[Any, ...] | None  # None may be any: a type parameter, one that is written out, what is not resolved
Signature = tuple[tuple[Type, ...], tuple[Type, ...]]


class MethodTypes:
    """The types of methods, as far as they are seen before anything is solved. A pointer is what it leads to."""

    def __init__(self, project: GraphProject, value: Callable[[Cell], Values]) -> None:
        self._project = project
        self._value = value
        self._found: dict[int, Signature] = {}

    def differ(self, own: int, other: int) -> bool:
        """Whether two methods surely take or give something else."""
        return any(
            len(mine) != len(theirs) or any(map(_differ, mine, theirs))
            for mine, theirs in zip(self._of(own), self._of(other), strict=True)
        )

    def _of(self, function: int) -> Signature:
        found = self._found.get(function)
        if found is None:
            row, base = self._project.scope(function), function & ~MASK
            is_listed = self._project.scope(base | row.parent).kind == ScopeKind.INTERFACE
            taken = [self._taken(base, each) for each in row.parameters[0 if is_listed else 1 :]]
            op, *parts = self._project.expression(base | max(row.returns, 0))
            given = parts[0] if op == Op.TUPLE else [row.returns] if row.returns != NONE else []
            found = self._found[function] = tuple(taken), tuple(self._type(base | each) for each in given)
        return found

    def _taken(self, base: int, parameter: Parameter) -> Type:
        type_ = None if parameter.type == NONE else self._type(base | parameter.type)
        return ("all", type_) if parameter.rest else type_

    def _type(self, node: int) -> Type:
        op, *parts = self._project.expression(node)
        if op == Op.ARRAY:
            return "array", self._type((node & ~MASK) | parts[0])
        if op == Op.FUNCTION:
            return ("function", None)
        if op not in (Op.NAME, Op.GET) or (op == Op.NAME and parts[1] > 0):  # a type parameter, or one declared within
            return None
        values = [*self._value(node)]
        if len(values) == 1 and values[0][0] == CLASS:
            return "class", values[0][1]
        is_own = len(values) == 1 and values[0][0] == EXTERNAL and values[0][1].startswith(OWN_TYPES)
        name = values[0][1].removeprefix(OWN_TYPES) if is_own else ""
        aliases = self._project.unit(node).dialect.type_aliases
        return ("own", aliases.get(name, name)) if is_own and name not in NO_TYPES else None


def _differ(own: Type, other: Type) -> bool:
    """Whether two types surely are not the same.

    >>> _differ(("array", ("own", "int")), ("array", ("own", "string"))), _differ(None, ("own", "int"))
    (True, False)
    """
    if own is None or other is None:
        return False
    if own[0] == other[0] in ("array", "all"):
        return _differ(own[1], other[1])
    return own != other
