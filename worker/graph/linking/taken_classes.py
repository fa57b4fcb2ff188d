"""Classes of which files take all names: `import static a.B.*`, `using static A.B`."""

from collections import defaultdict
from collections.abc import Set
from functools import cached_property

from fledgling.worker.graph.linking.classes import Classes
from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.tables import NONE, ScopeKind


class TakenClasses:
    """Which of these may have a name. Classes go by their last name, which several may share."""

    def __init__(self, project: GraphProject, classes: Classes) -> None:
        self._project = project
        self._classes = classes

    def having(self, name: int) -> Set[str]:
        """The names of those that have a member, also from above; of all, as long as that is not known."""
        return self._by_member.get(name, frozenset()) if self._classes.is_settled else self._names

    @cached_property
    def _names(self) -> set[str]:
        return {own for _, own in self._scopes}

    @cached_property
    def _by_member(self) -> dict[int, set[str]]:
        found = defaultdict[int, set[str]](set)
        for scope, own in self._scopes:
            for at in self._classes.order(self._classes.whole(scope)):
                for member in self._project.table(at):
                    found[member].add(own)
        return found

    @cached_property
    def _scopes(self) -> list[tuple[int, str]]:
        """The classes that have a name of which some file takes all, and the name."""
        project = self._project
        return [
            (unit.base | at, unit.facts.names[row.name])
            for unit in project.units
            for at, row in enumerate(unit.facts.scopes if project.vocabulary.taken_whole else ())
            if row.kind in (ScopeKind.CLASS, ScopeKind.INTERFACE) and row.name != NONE
            if unit.names[row.name] in project.vocabulary.taken_whole
        ]
