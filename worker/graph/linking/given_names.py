"""Names that imports and exports give to what has another one: `import A from "./b"`, `export { a as b }`."""

from collections.abc import Iterator, Sequence
from functools import cached_property

from fledgling.worker.graph.linking.import_targets import ImportTargets
from fledgling.worker.graph.tables import EXPORT, NONE, Op
from fledgling.worker.graph.unit import Unit, is_for_all

NAMING = {Op.NAME: 1, Op.GET: 2}  # which part of an expression is the name


class GivenNames:
    """The names of all files that may stand for a definition which goes by another one."""

    def __init__(self, units: Sequence[Unit], numbers: dict[str, int], imports: ImportTargets) -> None:
        self._units, self._numbers, self._imports = units, numbers, imports
        self._in: dict[int, frozenset[int]] = {}

    def of(self, unit: Unit) -> frozenset[int]:
        """The names that occurrences in a file may have: what it imports, and members of modules."""
        found = self._in.get(unit.number)
        if found is None:
            bound = (row for row in unit.bindings if NONE not in (row.name, row.value))
            own = {unit.names[row.name] for row in bound if self._is_taken(unit, row.value)}
            found = self._in[unit.number] = self.handed_on.intersection(unit.names) | own
        return found

    def _is_taken(self, unit: Unit, value: int) -> bool:
        """Whether a value is imported by a name from a module of the project, or named by a path."""
        op, *parts = unit.expressions[value]
        if op == Op.IMPORT:
            said, module, inner, _ = self._imports.target(unit, parts[0])
            return bool(said.name) and (module is not None or inner is not None)
        return bool(op == Op.ALIAS and unit.expressions[parts[0]][0] == Op.GET)

    @cached_property
    def handed_on(self) -> frozenset[int]:
        """The names of what files have for others that is defined elsewhere, or by another name."""
        names = {name for unit in self._units for name in self._handed_on(unit)}
        return frozenset(self._numbers[name] for name in names if name in self._numbers)

    def _handed_on(self, unit: Unit) -> Iterator[str]:
        for name, bindings in unit.facts.scopes[0].every.items():
            text, values = unit.facts.names[name], [unit.bindings[at].value for at in bindings]
            if text.startswith(EXPORT):
                yield text.removeprefix(EXPORT)
            elif unit.dialect.exported and any(self._is_taken(unit, value) for value in values):
                yield text
        for row in unit.bindings if unit.dialect.texts_name_classes else ():
            if row.name != NONE and is_for_all(unit, unit.expressions[row.value]):
                yield unit.facts.names[row.name]
        if unit.dialect.keyed_members:
            yield from _of_keys(unit)


def _of_keys(unit: Unit) -> Iterator[str]:
    """The keys of objects that are written out behind which something of another name stands: `{ a: b, c: d.e }`."""
    expressions = unit.facts.expressions
    pairs = (pair for op, *parts in expressions if op == Op.DICT for pair in parts[0] if NONE not in pair)
    for key, held in pairs:
        written, named = expressions[key], expressions[held]
        if written[0] == Op.TEXT and named[0] in NAMING and named[NAMING[named[0]]] != written[1]:
            yield unit.facts.names[written[1]]
