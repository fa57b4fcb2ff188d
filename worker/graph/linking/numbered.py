"""The tables of all files, by numbers that hold a file's as well."""

from collections.abc import Sequence
from functools import cached_property

from fledgling.worker.dialect import Dialect
from fledgling.worker.graph.tables import NONE, OF_ITSELF, TAG, Binding, Expression, GraphFile, NameScope, Op
from fledgling.worker.graph.unit import MASK, SHIFT, Target, Unit


class NumberedFiles:
    """All files; what is asked of one file's tables is asked here, by number."""

    def __init__(self, files: Sequence[GraphFile], dialects: dict[str, Dialect]) -> None:
        self.numbers: dict[str, int] = {}
        self.units = [Unit(number, file, dialects, self.numbers) for number, file in enumerate(files)]
        self._join_tags()

    def _join_tags(self) -> None:
        """Let `struct A` of C be A where files name it that know no such difference: those of C++."""
        units = [unit for unit in self.units if unit.dialect.declared]
        others = {name for unit in units if unit.dialect.bare_members for name in unit.names}
        for unit in units if others else ():
            for at, name in enumerate(unit.facts.names):
                if name.startswith(TAG) and (own := self.numbers.get(name.removeprefix(TAG))) in others:
                    unit.names[at] = own

    def text(self, name: int) -> str:
        """A name by its number."""
        if len(self._texts) < len(self.numbers):
            self.__dict__["_texts"] = list(self.numbers)
        return self._texts[name]

    @cached_property
    def _texts(self) -> list[str]:
        return list(self.numbers)

    def number(self, name: str) -> int:
        """The number of a name."""
        return self.numbers.setdefault(name, len(self.numbers))

    def unit(self, number: int) -> Unit:
        """The file that an expression, a scope or a binding is of."""
        return self.units[number >> SHIFT]

    def expression(self, node: int) -> Expression:
        """An expression: its Op, and its parts as the file numbers them."""
        return self.units[node >> SHIFT].expressions[node & MASK]

    def scope(self, scope: int) -> NameScope:
        """A scope."""
        return self.units[scope >> SHIFT].facts.scopes[scope & MASK]

    def binding(self, binding: int) -> Binding:
        """A binding."""
        return self.units[binding >> SHIFT].bindings[binding & MASK]

    def place_of(self, scope: int) -> Target:
        """Where a function or class begins."""
        return self.unit(scope).place_of(scope & MASK)

    def value_of(self, binding: int) -> int:
        """The expression that a binding gives its name."""
        return (binding & ~MASK) | self.units[binding >> SHIFT].bindings[binding & MASK].value

    def defined(self, binding: int) -> tuple[Target, int]:
        """Where what a binding defines begins, and its scope, or -1 for a variable."""
        unit = self.units[binding >> SHIFT]
        row = unit.bindings[binding & MASK]
        expression = unit.expressions[row.value]
        if expression[0] == Op.DECORATED:
            expression = unit.expressions[expression[1]]
        if expression[0] in (Op.FUNCTION, Op.CLASS):
            scope = unit.facts.scopes[expression[1]]
            if scope.name == row.name or row.name == NONE or row.how == OF_ITSELF or unit.dialect.reopens:
                return unit.place_of(expression[1]), unit.base | expression[1]
            if row.scope == NONE:
                return unit.place(row.line, row.name, NONE), unit.base | expression[1]
        return unit.place(row.line, row.name, row.scope), -1

    def last_name(self, node: int) -> str:
        """The last name of a dotted one, empty for any other expression."""
        expression = self.expression(node)
        if expression[0] == Op.POINTEE:
            expression = self.expression((node & ~MASK) | expression[1])
        place: int = {Op.NAME: 1, Op.BARE: 1, Op.GET: 2}.get(expression[0], 0)
        return self.unit(node).facts.names[expression[place]].removeprefix(TAG) if place else ""

    def outer(self, scope: int) -> int:
        """The scope around a scope, or -1."""
        parent = self.scope(scope).parent
        return NONE if parent == NONE else (scope & ~MASK) | parent
