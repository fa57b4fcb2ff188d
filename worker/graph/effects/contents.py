"""What is in the containers that functions of one file make: `b[0] += c` changes an object that is in b.

That is the function's own only if all that was ever put into b is immutable, or made by the function, too.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

from fledgling.worker.graph.effects.builtin_types import FileFacts
from fledgling.worker.graph.tables import MADE, NONE, Op, Use
from fledgling.worker.languages.python import effects as known

Variable = tuple[int, int]  # its scope and name
IN_PLACE = 3  # parts of the expression of what `a += b` leaves: ways, the operator's method, True


class Contents:
    """The contents of variables.

    >>> Contents(file).are_own(17, 2)
    True
    """

    def __init__(self, file: FileFacts) -> None:
        self._file, self._expressions = file, file.facts.expressions

    def are_own(self, at: int, function: int) -> bool:
        """Return whether all that is in a container is immutable, or made by the function: `b = {}; b[c] = 0`."""
        op, *parts = self._expressions[at]
        if op != Op.NAME or not self._file.is_fresh(at, function):
            return False
        values = self._file.values((op, parts[0], parts[1], None))
        containers: list[Variable | int] = [(parts[1], parts[0]), *values]
        put = [value for of in containers for value in self._put.get(of, [])]
        return all(self._begin_own(value, function) for value in values) and self._all_own(put, function)

    def _begin_own(self, at: int, function: int) -> bool:
        op, *parts = self._expressions[at]
        if op == Op.LIST:
            return self._all_own(parts[0], function)
        if op == Op.DICT:
            return all(key >= 0 for key, _ in parts[0]) and self._all_own([value for _, value in parts[0]], function)
        if op != Op.CALL or parts[2]:
            return False
        if self._file.dotted(parts[0]) == "collections.defaultdict" and len(parts[1]) == 1:
            made = self._file.dotted(max(parts[1][0], 0)) or ""
            return made.removeprefix(known.BUILTIN) in known.IMMUTABLE | known.MUTATING.keys()
        return not parts[1]  # list()

    def _all_own(self, values: Sequence[int], function: int) -> bool:
        file = self._file
        return all(value >= 0 and (file.is_immutable(value) or file.is_fresh(value, function)) for value in values)

    @cached_property
    def _put(self) -> dict[Variable | int, list[int]]:
        """What is put into variables, -1 for what is not known: `a[b] = c`, `a.append(b)`, and another name.

        What is put where a container is made, `(a := []).append(b)`, is found by that expression.
        """
        found: dict[Variable | int, list[int]] = defaultdict(list)

        def put(of: int, values: Sequence[int]) -> None:
            for each in self._file.behind(of):
                op, *parts = self._expressions[each]
                found[(parts[1], parts[0]) if op == Op.NAME else each] += values

        for write in self._file.facts.writes:
            if write.name == NONE:
                put(write.of, [NONE if write.is_slice else self._lasting(write.value)])
        for variable in self._named_otherwise():
            found[variable].append(NONE)
        for site in self._file.sites:
            op, *parts = self._expressions[site.at]
            if site.use != Use.CALL or op != Op.CALL or self._expressions[parts[0]][0] != Op.GET:
                continue
            name = self._file.name(site.name)
            if name in known.PUTTING:
                put(self._expressions[parts[0]][1], parts[1] if name in known.PUTTING_ARGUMENTS else [NONE])
        return found

    def _lasting(self, value: int) -> int:
        """Return what is put behind a key; of `a[b] += c`, which is judged as it stands, nothing that lasts."""
        op, *parts = self._expressions[value]
        return MADE if op == Op.CHOICE and len(parts) == IN_PLACE else value

    def _named_otherwise(self) -> Iterator[Variable]:
        """Yield the variables that may be the value of another one."""
        for binding in self._file.facts.bindings:
            for at in self._ways(max(binding.value, 0)):
                op, *parts = self._expressions[at]
                if op == Op.NAME:
                    yield parts[1], parts[0]

    def _ways(self, at: int) -> Sequence[int]:
        """Return what a value may be; `a += b` leaves a as it is called."""
        op, *parts = self._expressions[at]
        return parts[0] if op == Op.CHOICE and len(parts) < IN_PLACE else [at]
