"""By which name something is defined that goes by another one, as an import or an export gives it that."""

from collections.abc import Iterator
from typing import Any

from fledgling.worker.graph.rows.bound_definitions import MAX_IMPORTS, BoundDefinitions
from fledgling.worker.graph.tables import EXPORT, NONE, Op
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import Cell

MAX_FOLLOWED = 64  # imports and exports of one name, all together; what only further ones give is told by their names


class DefiningNames:
    """Follows imports and exports to what defines a name, and keeps what is asked for again."""

    def __init__(self, bound: BoundDefinitions) -> None:
        self._bound, self._solver, self._project = bound, bound.solver, bound.project
        self._known: dict[int, frozenset[int]] = {}

    def forget(self) -> None:
        """Forget what was asked in a file."""
        self._known.clear()

    def of(self, node: int) -> frozenset[int]:
        """The names of what an expression stands for, of a call what is called, that an import or export named."""
        op, *parts = self._project.expression(node)
        node = (node & ~MASK) | parts[0] if op == Op.CALL else node
        found = self._known.get(node)
        if found is None:
            found = self._known[node] = frozenset(self._of_expression(node, set(), 0))
        return found

    def _of_expression(self, node: int, seen: set[Cell], depth: int) -> Iterator[int]:
        op, *parts = self._project.expression(node)
        base, names = node & ~MASK, self._project.unit(node).names
        if op == Op.NAME:
            name, scope, reach = parts
            table = self._project.table(base | scope) if scope != NONE else {}
            bindings = table.get(names[name], ()) if reach is None else [base | at for at in reach]
            yield from self._of_bindings(bindings, seen, depth)
        elif op in (Op.ALIAS, Op.DECORATED):
            yield from self._of_expression(base | parts[0], seen, depth)
        elif op == Op.CLASS or op == Op.FUNCTION:
            row = self._project.scope(base | parts[0])
            yield from () if row.name == NONE else (names[row.name],)
        elif op in (Op.IMPORT, Op.GET, Op.BARE):
            for cell, _ in self._bound.cells(node):
                yield from self._of_cell(cell, seen, depth)

    def _of_cell(self, cell: Any, seen: set[Cell], depth: int) -> Iterator[int]:
        if cell[0] == "name":
            yield from self._of_bindings(self._project.table(cell[1]).get(cell[2], ()), seen, depth)
        elif cell[0] in ("element", "field"):  # { a: b }, and Object.assign(exports, { a: b })
            for of in self._solver.sources.get(cell, {}):
                if self._goes_on(of, seen, depth):
                    follow = self._of_expression if type(of) is int else self._of_cell
                    yield from follow(of, seen, depth + 1)

    def _of_bindings(self, bindings: Any, seen: set[Cell], depth: int) -> Iterator[int]:
        for at in bindings:
            if not self._goes_on(at, seen, depth):
                return
            row, unit = self._project.binding(at), self._project.unit(at)
            is_export = row.name != NONE and unit.facts.names[row.name].startswith(EXPORT)
            if is_export or unit.expressions[row.value][0] in (Op.IMPORT, Op.ALIAS):
                yield from self._of_expression(unit.base | row.value, seen, depth + 1)
            elif row.name != NONE:
                yield unit.names[row.name]

    def _goes_on(self, at: Cell, seen: set[Cell], depth: int) -> bool:
        """Whether a further binding is looked at."""
        is_new = at not in seen and len(seen) < MAX_FOLLOWED and depth <= MAX_IMPORTS
        seen.add(at)
        return is_new
