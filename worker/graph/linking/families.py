"""Files whose languages may use each other's names. Each family of them is resolved by itself: none leads into another.

So what is edited in TypeScript leaves the graph of Python as it is, unless it defines a name that Python mentions: a
name that any file defines has a row wherever it occurs.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set

from fledgling.worker.graph.linking.other_case import small
from fledgling.worker.graph.tables import GraphFile
from fledgling.worker.language import Language


def families(files: Sequence[GraphFile], languages: Mapping[str, Language]) -> list[list[int]]:
    """Return the numbers of the files of each family, in order.

    >>> families([GraphFile("a.c", "c", ...), GraphFile("a.py", "python", ...), GraphFile("a.cc", "cpp", ...)], rows)
    [[0, 2], [1]]
    """
    found: dict[str, list[int]] = {}
    for number, file in enumerate(files):
        found.setdefault(languages[file.language].family, []).append(number)
    return [*found.values()]


class DefinedNames:
    """The names that files of all families define, by their small letters: some languages do not tell them apart."""

    def __init__(self, families: Sequence[Collection[str]]) -> None:
        """Take in the names that each family defines; of one family alone none is defined elsewhere."""
        self._spelled: dict[str, dict[str, None]] = {}
        for name in (name for names in families if len(families) > 1 for name in names):
            self._spelled.setdefault(small(name), {})[name] = None

    def elsewhere(self, mentioned: Iterable[str], own: Set[str]) -> list[str]:
        """Return the names that a family mentions, or may mention, and only others define.

        >>> DefinedNames([["run"], ["stop", "Turn"]]).elsewhere(["run", "$turn"], {"run"})
        ['Turn']
        """
        if not self._spelled:
            return []
        low = {small(name) for name in mentioned}
        low |= {name[1:] for name in low}  # a sigil is no part of a field's name
        return sorted({name for each in low for name in self._spelled.get(each, ()) if name not in own})
