"""Whether an expression may be what nobody knows, beside what is known of it: `a or []`, with an argument a."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from fledgling.worker.graph.solving.member_places import places
from fledgling.worker.graph.solving.outside.calls import handing_on
from fledgling.worker.graph.solving.solver import Solver
from fledgling.worker.graph.tables import NONE, Expression, Flag, Op
from fledgling.worker.graph.unit import MASK
from fledgling.worker.graph.values import BOUND, BUILTIN, CONTAINER, EXTERNAL, FUNCTION, METHOD_OF, Cell, Value

MAX_LOOKED_AT = 100  # cells that lead to one expression; if there are more, it may be anything
FIRST = frozenset([Op.ALIAS, Op.UNSURE, Op.RENAMED, Op.PRESENT, Op.ADDRESSED, Op.NARROWED, Op.POINTED])
TAKEN = frozenset([Op.ELEMENT, Op.ITEM, Op.ENTERED, Op.INDEX, Op.RECEIVED])  # what is in something
GIVE_OTHERS = ("filters", "finds", "sifts", "visits")  # what a method gives that gives nothing of what a block does


class UnknownBeside:
    """Asks the cells of a solver that has run."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._project = solver.project
        self._known: dict[int, bool] = {}

    def may_be(self, node: int) -> bool:
        """Whether something that leads to an expression is not known at all."""
        if node not in self._known:
            self._known[node] = self._is_reached(node)
        return self._known[node]

    def _is_reached(self, node: int) -> bool:
        todo: list[Cell] = [node]
        seen: set[Cell] = {node}
        while todo:
            cell = todo.pop()
            behind = self._behind(cell) if type(cell) is int else self._gives(cell)
            if behind is None:
                return True
            new = [cell for cell in dict.fromkeys(islice(behind, MAX_LOOKED_AT)) if cell not in seen]
            seen.update(new)
            todo += new
            if len(seen) > MAX_LOOKED_AT:
                return True
        return False

    def _behind(self, node: int) -> Iterable[Cell] | None:
        """The cells that an expression gets its values from; None where it may be anything."""
        expression = self._project.expression(node)
        op, parts = expression[0], expression[1:]
        base = node & ~MASK
        if op == Op.UNKNOWN:
            return None
        if op == Op.NAME:
            return self._bound(node, expression)
        if op == Op.PARAMETER:
            return [("parameter", base | parts[0], parts[1])]
        if op == Op.CHOICE:
            return [] if len(parts) > 1 else [base | part for part in parts[0]]
        if op == Op.REACH:
            otherwise = [base | parts[2]] if parts[1] != NONE else []
            return [*(self._project.value_of(base | at) for at in parts[0]), *otherwise]
        if op in (Op.DECLARED, Op.CAST):
            return self._typed(base | parts[0], [base | parts[1]] if parts[1] != NONE else None)
        if op in FIRST:
            return [base | parts[0]]
        if op in TAKEN:
            return self._within(node, base | parts[0])
        if op == Op.GET:
            return self._members(node, base | parts[0], self._project.unit(node).names[parts[1]])
        return self._called(node, base | parts[0]) if op == Op.CALL else []

    def _gives(self, cell: Cell) -> Iterable[Cell] | None:
        """What is put into a cell that several places write."""
        kind, *of = cell
        if kind == "name":
            return (self._project.value_of(at) for at in self._project.table(of[0]).get(of[1], ()))
        if kind == "returned":
            return self._returned(of[0])
        sources = self._solver.sources.get(cell, ())
        if kind != "parameter":
            return sources
        given = self._project.scope(of[0]).parameters[of[1]]
        if given.rest:
            return []
        if given.type != NONE or given.told != NONE:
            type_ = self._solver.child(of[0], given.type if given.type != NONE else given.told)
            return self._typed(type_, sources or None)
        return sources or (None if not self._solver.value(cell) or given.default != NONE else [])

    def _bound(self, node: int, expression: Expression) -> Iterable[Cell]:
        _, own, scope, reach = expression
        base = node & ~MASK
        if reach is not None:
            return (self._project.value_of(base | at) for at in reach)
        return [("name", base | scope, self._project.unit(node).names[own])] if scope != NONE else []

    def _typed(self, type_: int, otherwise: Iterable[Cell] | None) -> Iterable[Cell] | None:
        """Nothing more where a declared type says something."""
        return [] if self._solver.value(("type", type_, None)) else otherwise

    def _within(self, node: int, of: int) -> Iterable[Cell] | None:
        """What a container holds; anything, where it is not known itself."""
        if not self._solver.value(node):
            return None
        held = self._solver.value(of)
        return chain([of], (cell for value in held if value[0] == CONTAINER for cell in self._elements(value)))

    def _elements(self, container: Value) -> Iterator[Cell]:
        return (("element", container, key) for key in self._solver.keys.get(container, ()))

    def _members(self, node: int, of: int, name: int) -> Iterable[Cell] | None:
        if not self._solver.value(node):
            return None
        receivers = self._solver.value(of)
        cells = (cell for value, sure in receivers.items() for cell, *_ in places(self._solver, value, name, sure))
        return chain([of], (way for cell in cells for way in self._read(cell)))

    def _read(self, cell: Cell) -> list[Cell]:
        """What a member gives: what a property returns."""
        held = self._solver.value(cell)
        properties = [value[1] for value in held if value[0] == FUNCTION and self._is_property(value[1])]
        return [("returned", function) for function in properties] if properties else [cell]

    def _is_property(self, scope: int) -> bool:
        return bool(self._project.scope(scope).flags & Flag.PROPERTY)

    def _called(self, node: int, function: int) -> Iterable[Cell] | None:
        """What the functions return that a call may run; anything, where none is known, or what one outside gives."""
        called = self._solver.value(function)
        is_outside = any(value[0] in (EXTERNAL, METHOD_OF) for value in called)
        if not called or (is_outside and not self._solver.value(node)):
            return None
        found: list[Cell] = [("returned", value[1]) for value in called if value[0] in (FUNCTION, BOUND)]
        if self._solver.op(function) == Op.GET:
            found.append(self._solver.child(function, self._project.expression(function)[1]))
        if is_outside:
            found += self._by_blocks(node, function)
        methods = self._project.unit(node).dialect.methods
        for value in called:
            is_of_container = value[0] == METHOD_OF and value[1][0] == CONTAINER and value[2] >= 0
            if is_of_container and methods.get(self._project.text(value[2])) == "element":
                found += islice(self._elements(value[1]), MAX_LOOKED_AT)
            elif value[0] == EXTERNAL and handing_on(self._solver, node, value[1].removeprefix(BUILTIN)) == "keyed":
                arguments = self._project.expression(node)[2]  # max(a, b)
                found += [self._solver.child(node, at) for at in arguments if at >= 0]
        return found

    def _by_blocks(self, node: int, function: int) -> Iterator[Cell]:
        """What the blocks of Ruby give that a call hands to what is outside, which may give that: `a.map { b }`."""
        dialect = self._project.unit(node).dialect
        if not dialect.bare_calls or dialect.methods.get(self._project.last_name(function)) in GIVE_OTHERS:
            return
        for at in self._project.expression(node)[2]:
            values = self._solver.value(self._solver.child(node, at)) if at >= 0 else ()
            yield from (("returned", value[1]) for value in values if value[0] == FUNCTION)

    def _returned(self, function: int) -> Iterable[Cell] | None:
        row = self._project.scope(function)
        if row.flags & Flag.GENERATOR:
            return []
        returned = [self._solver.child(function, at) for at in row.returned]
        type_ = self._solver.child(function, row.returns)
        if row.returns == NONE or self._solver.op(type_) == Op.TOLD:
            return returned
        return self._typed(type_, None)
