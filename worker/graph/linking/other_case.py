"""Names that have one spelling here and another there, in languages that do not care: `STRLEN()` in PHP.

Functions and methods, and classes, go by their names in any case. Each occurrence is asked what it stands for, since a
constant may have the same name: `ADD(1)` is a function, `Op::ADD` none. Of several spellings of definitions one is the
name of them all, by which they are looked up.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set

from fledgling.worker.graph.tables import NONE, Facts, NameScope, Op, ScopeKind, Use, packed_sites, sites_of

NAMING = {Op.BARE: 0, Op.GET: 1}  # expressions of a name, and which of their parts it is
BEHIND = (Op.CALL, Op.NEW, Op.ALIAS)  # expressions that are of a name, whose occurrence is theirs
CALLED, CLASSES = "functions and methods", "classes"
KINDS = {Op.FUNCTION: CALLED, Op.RENAMED: CALLED, Op.CLASS: CLASSES}
CLASSES_OF = (ScopeKind.CLASS, ScopeKind.INTERFACE)
OF_TYPES = (Use.TYPE, Use.INHERIT)
Spellings = Mapping[str, Mapping[str, str]]  # by the kind and the name in small letters, the one that is looked up


def small(name: str) -> str:
    """Return a name in small letters, those of ASCII alone.

    >>> small("GetÄ")
    'getÄ'
    """
    return name.encode().lower().decode()


def respell(files: Sequence[Facts]) -> list[list[tuple[int, str]]]:
    """Give all that means one name one spelling.

    Return for each file the bindings of the definitions that have another one now, with the one that they had.
    """
    spelled = _spelled(files)
    return [_Respelling(facts, spelled).names() if _is_mixed(facts, spelled) else [] for facts in files]


def _is_mixed(facts: Facts, spelled: Spellings) -> bool:
    """Whether a file spells a name in two ways, or otherwise than it is looked up."""
    low = [*map(small, facts.names)]
    return len({*low}) < len(low) or any(
        known.get(name, own) != own for name, own in zip(low, facts.names, strict=True) for known in spelled.values()
    )


def _spelled(files: Sequence[Facts]) -> Spellings:
    """Return the spelling that names are looked up by: that of their definition, of several small letters first."""
    found: dict[str, dict[str, set[str]]] = {kind: defaultdict(set) for kind in (CALLED, CLASSES)}
    for facts in files:
        for kind, _, name in _definitions(facts):
            found[kind][small(name)].add(name)
    return {
        kind: {low: min(names, key=str.swapcase) for low, names in of_kind.items()} for kind, of_kind in found.items()
    }


def _definitions(facts: Facts) -> Iterator[tuple[str, int, str]]:
    """Yield the kind, the binding and the name of functions, methods and classes, and of methods a trait renames."""
    for at, binding in enumerate(facts.bindings):
        if kind := KINDS.get(facts.expressions[binding.value][0]):
            yield kind, at, facts.names[binding.name]


class _Respelling:
    """Gives the names of one file the spellings that they are looked up by."""

    def __init__(self, facts: Facts, spelled: Spellings) -> None:
        self._facts, self._spelled = facts, spelled
        self._numbers = {name: at for at, name in enumerate(facts.names)}
        rows = [row for row in facts.bindings if facts.expressions[row.value][0] == Op.ALIAS]
        self._aliases = {small(facts.names[row.name]): (row.name, row.value) for row in rows}

    def names(self) -> list[tuple[int, str]]:
        """Respell all, and return the definitions whose name is another now, with the one that they had."""
        facts = self._facts
        own = [(at, name, new) for kind, at, name in _definitions(facts) if (new := self._of(kind, name)) != name]
        bound = {at: self._number(new) for at, _, new in own}
        for at, number in bound.items():
            self._respell_definition(at, number)
        meant = {at: said for at, kinds in _stands_for(facts).items() if (said := self._respell_use(at, kinds))}
        sites = [*sites_of(facts)]
        for site in sites:
            op, *parts = facts.expressions[site.at]
            name, number = meant.get(parts[0] if op in BEHIND else site.at, (NONE, NONE))
            if site.binding in bound:
                site.name = bound[site.binding]
            elif site.name == name:
                site.name = number
        facts.sites = packed_sites(sites)
        facts.replaced = [(self._number(self._of(CALLED, facts.names[name])), of) for name, of in facts.replaced]
        return [(at, name) for at, name, _ in own]

    def _of(self, kind: str, name: str) -> str:
        return self._spelled[kind].get(small(name), name)

    def _number(self, name: str) -> int:
        number = self._numbers.setdefault(name, len(self._numbers))
        if number == len(self._facts.names):
            self._facts.names.append(name)
        return number

    def _respell_definition(self, at: int, number: int) -> None:
        facts = self._facts
        binding = facts.bindings[at]
        op, *parts = facts.expressions[binding.value]
        if op != Op.RENAMED and facts.scopes[parts[0]].name == binding.name:
            facts.scopes[parts[0]].name = number
        if binding.scope != NONE:
            _move(facts.scopes[binding.scope], at, binding.name, number)
        binding.name = number

    def _respell_use(self, at: int, kinds: Sequence[str]) -> tuple[int, int] | None:
        """Respell the name of an expression, and return what its occurrence was and is called."""
        facts = self._facts
        op, *parts = facts.expressions[at]
        name = parts[NAMING[op]]
        own = facts.names[name]
        choice = [new for kind in kinds if (new := self._spelled[kind].get(small(own)))]
        number = self._number(own if own in choice or not choice else choice[0])
        under, alias = self._aliases.get(small(own), (NONE, NONE)) if op == Op.BARE else (NONE, NONE)
        if alias != NONE and _last(facts, alias) != small(own):
            number = under  # an import gives it the name that it is found by
        if number == name and under in (NONE, name):
            return None
        parts[NAMING[op]] = number if under == NONE else under
        facts.expressions[at] = (op, *parts)
        return name, number


def _move(scope: NameScope, binding: int, name: int, number: int) -> None:
    """Let a binding be one of another name."""
    for table in (scope.every, scope.last):
        if binding in table.get(name, ()):
            table[name].remove(binding)
            table[number] = sorted([*table.get(number, ()), binding])
            if not table[name]:
                del table[name]


def _stands_for(facts: Facts) -> dict[int, tuple[str, ...]]:
    """What the names of a file stand for, by their expressions; those that are only read are constants or fields."""
    found: dict[int, tuple[str, ...]] = {}
    replaced = {name for name, _ in facts.replaced}
    for op, *parts in facts.expressions:
        of = facts.expressions[parts[0]][0] if op in (*BEHIND, Op.RENAMED, Op.GET) else Op.UNKNOWN
        if op in (Op.CALL, Op.RENAMED) and of in NAMING:
            found[parts[0]] = (CALLED,)
        elif (op == Op.NEW and of in NAMING) or of == Op.BARE:  # new a, a::b
            found[parts[0]] = (CLASSES,)
    for site in sites_of(facts):
        op, *parts = facts.expressions[site.at]
        at = parts[0] if op == Op.ALIAS else site.at
        if facts.expressions[at][0] not in NAMING:
            continue
        if site.use in OF_TYPES:
            found[at] = (CLASSES,)
        elif site.use == Use.IMPORT:
            found[at] = (CLASSES, CALLED)
        elif facts.scopes[site.scope].kind in CLASSES_OF and _is_of_trait(facts, at, replaced):
            found[at] = (CALLED,)
    return found


def _is_of_trait(facts: Facts, at: int, replaced: Set[int]) -> bool:
    """Whether a name in a class means a method: `use A { b as private; A::b insteadof C; }`."""
    op, *parts = facts.expressions[at]
    return op == Op.GET and (facts.expressions[parts[0]][0] == Op.SUPER or parts[1] in replaced)


def _last(facts: Facts, alias: int) -> str:
    """The last name of what an alias stands for, in small letters."""
    op, *parts = facts.expressions[facts.expressions[alias][1]]
    return small(facts.names[parts[NAMING[op]]]) if op in NAMING else ""
