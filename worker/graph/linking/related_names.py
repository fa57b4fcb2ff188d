"""Names that the other side of a relation gets: by `a = ForeignKey(A, related_name="b")` in B, an A has several B."""

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from fledgling.worker.graph.linking.numbered import NumberedFiles
from fledgling.worker.graph.tables import NONE, Op, ScopeKind
from fledgling.worker.graph.unit import Unit

MAX_RELATED = 16  # relations that give one name; the first count
NAMED = "related_name"  # the argument that says the name


class Relation(NamedTuple):
    """The class that has it, the call that gives it, and whether there is one such object alone."""

    scope: int
    call: int
    is_single: bool


class RelatedNames:
    """The relations of all files, by the numbers of these names."""

    def __init__(self, files: NumberedFiles) -> None:
        self._files = files

    @cached_property
    def relations(self) -> dict[int, list[Relation]]:
        """The first relations of each name."""
        found: dict[int, list[Relation]] = {}
        for unit in self._files.units:
            for name, relation in self._of(unit) if unit.dialect.other_side else ():
                alike = found.setdefault(self._files.numbers.get(name, NONE), [])
                alike += [relation] if len(alike) < MAX_RELATED else []
        return found

    def _of(self, unit: Unit) -> Iterator[tuple[str, Relation]]:
        """Yield the relations of the classes of a file, with the name that the other side of each gets."""
        for row in unit.bindings:
            scope = unit.facts.scopes[row.scope] if row.scope != NONE else None
            op, *parts = unit.expressions[row.value]
            if op != Op.CALL or scope is None or scope.kind != ScopeKind.CLASS or scope.name == NONE:
                continue
            default = unit.dialect.other_side.get(self._files.last_name(unit.base | parts[0]))
            if default is not None:
                said = [unit.expressions[value] for word, value in parts[2] if self._is_name(unit, word)]
                named = unit.facts.names[said[0][1]] if said and said[0][0] == Op.TEXT else ""
                own = unit.facts.names[scope.name].lower()
                relation = Relation(unit.base | row.scope, unit.base | row.value, is_single=not default)
                yield named or f"{own}{default}", relation

    def _is_name(self, unit: Unit, word: int) -> bool:
        return word != NONE and unit.facts.names[word] == NAMED
