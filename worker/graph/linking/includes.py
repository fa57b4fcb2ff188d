"""Which files a file of C or C++ includes, also through others, and on which systems."""

from collections.abc import Mapping
from functools import cached_property

from fledgling.worker.graph.linking.project import GraphProject
from fledgling.worker.graph.unit import Unit
from fledgling.worker.systems import ANY

MAX_INCLUDED = 1_000  # files that one includes, also through others
MAX_KEPT = 256  # files whose included files are kept; the next ones are asked for soon after each other
ALWAYS = ANY + 1  # beside the systems on which a file is included: under no condition
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".cuh", ".def", ".inc")


class Includes:
    """Which files each includes, by the numbers of both."""

    def __init__(self, project: GraphProject) -> None:
        self._project = project
        self._kept: dict[int, dict[int, int]] = {}

    def of(self, number: int) -> Mapping[int, int]:
        """The files that a file includes, also through others: on which systems, and whether ALWAYS."""
        found = self._kept.get(number)
        if found is None:
            found, todo = {number: ANY | ALWAYS}, [number]
            while todo and len(found) < MAX_INCLUDED:
                at = todo.pop()
                for other, where in self._including[at]:
                    known, more = found.get(other, 0), where & found[at]
                    if more & ~known:
                        found[other] = known | more
                        todo.append(other)
            if len(self._kept) >= MAX_KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[number] = found
        return found

    @cached_property
    def somewhere(self) -> frozenset[int]:
        """The files that any includes."""
        return frozenset(other for including in self._including for other, _ in including)

    @cached_property
    def _including(self) -> list[list[tuple[int, int]]]:
        """By files, those that each includes itself, likewise."""
        places = self._project.imports.places
        return [
            [
                (places[row.resolved_path], unit.systems_at(row.line_number) | unit.always_at(row.line_number) * ALWAYS)
                for row in unit.rows
                if row.resolved_path in places
            ]
            for unit in self._project.units
        ]


def may_include(unit: Unit, path: str) -> bool:
    """Whether a file has an include that leads nowhere and may be of some path: it ends in what that says."""
    ends = (path[at:] for at in (0, *(at + 1 for at, sign in enumerate(path) if sign == "/")))
    return any(row.resolved_path is None for end in ends for row in unit.by_module.get(end, ()))
