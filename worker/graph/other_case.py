"""Names that a use spells in another case than their definition, in languages that do not care: PHP's `STRLEN()`.

Only functions, methods and classes go by their names in any case. Each occurrence is asked what it stands for, since a
constant may have the same name: `ADD(1)` is a function, `Op::ADD` none.
"""

from collections import defaultdict
from collections.abc import Sequence

from fledgling.worker.graph.tables import NONE, Facts, Op, ScopeKind, Use, packed_sites, sites_of

NAMING = {Op.BARE: 0, Op.GET: 1}  # expressions of a name, and which of their parts it is
PATHS = (Op.BARE, Op.GET, Op.ROOT)
BEHIND = (Op.CALL, Op.NEW, Op.ALIAS)  # expressions that are of a name, whose occurrence is theirs
FUNCTIONS, METHODS, CLASSES = "functions", "methods", "classes"
KINDS = {Op.FUNCTION: FUNCTIONS, Op.CLASS: CLASSES}
CLASSES_OF = (ScopeKind.CLASS, ScopeKind.INTERFACE)
OF_TYPES = (Use.TYPE, Use.INHERIT)
Spellings = dict[str, set[str]]  # by the name in small letters
Defined = dict[str, Spellings]


def respell(files: Sequence[Facts]) -> None:
    """Give each use in another case the name of the definition that it means, if just one can be meant."""
    defined = _defined(files)
    for facts in files:
        if any(_is_other(name, spelled) for name in facts.names for spelled in defined.values()):
            _respell(facts, defined)


def _is_other(name: str, spelled: Spellings) -> bool:
    known = spelled.get(name.lower())
    return known is not None and name not in known


def _defined(files: Sequence[Facts]) -> Defined:
    """How functions, methods and classes are spelled; a trait's method may have another name where it is used."""
    defined: Defined = {kind: defaultdict(set) for kind in (FUNCTIONS, METHODS, CLASSES)}
    for facts in files:
        for binding in facts.bindings:
            op = facts.expressions[binding.value][0]
            in_class = binding.scope != NONE and facts.scopes[binding.scope].kind in CLASSES_OF
            kind = METHODS if in_class and (op == Op.FUNCTION or op in NAMING) else KINDS.get(op)
            if kind:
                defined[kind][facts.names[binding.name].lower()].add(facts.names[binding.name])
    return defined


def _respell(facts: Facts, defined: Defined) -> None:
    numbers = {name: at for at, name in enumerate(facts.names)}
    rows = [row for row in facts.bindings if facts.expressions[row.value][0] == Op.ALIAS]
    aliases = {facts.names[row.name].lower(): (row.name, row.value) for row in rows}
    meant: dict[int, tuple[int, int]] = {}  # the names of expressions, and those that they mean
    for at, kinds in _stands_for(facts).items():
        op, *parts = facts.expressions[at]
        name = parts[NAMING[op]]
        low = facts.names[name].lower()
        spelled = set[str]().union(*(defined[kind].get(low, ()) for kind in kinds))
        under, alias = aliases.get(low, (NONE, NONE)) if op == Op.BARE else (NONE, NONE)
        is_own = spelled == {facts.names[name]} and under in (NONE, name)
        if len(spelled) != 1 or is_own or (alias != NONE and _last(facts, alias) != low):
            continue
        (own,) = spelled
        number = numbers.setdefault(own, len(numbers))
        if number == len(facts.names):
            facts.names.append(own)
        meant[at] = name, number
        parts[NAMING[op]] = number if under == NONE else under  # an import gives it the name that it is found by
        facts.expressions[at] = (op, *parts)
    sites = [*sites_of(facts)]
    for site in sites:
        op, *parts = facts.expressions[site.at]
        name, number = meant.get(parts[0] if op in BEHIND else site.at, (NONE, NONE))
        if site.name == name:
            site.name = number
    facts.sites = packed_sites(sites)


def _stands_for(facts: Facts) -> dict[int, tuple[str, ...]]:
    """What the names of a file stand for, by their expressions; those that are only read are constants or fields."""
    found: dict[int, tuple[str, ...]] = {}
    for op, *parts in facts.expressions:
        of = facts.expressions[parts[0]][0] if op in (Op.CALL, Op.NEW, Op.GET) else Op.UNKNOWN
        if op == Op.CALL and of in NAMING:
            found[parts[0]] = (FUNCTIONS,) if of == Op.BARE else _members(facts, parts[0])
        elif (op == Op.NEW and of in NAMING) or of == Op.BARE:  # new a, a::b
            found[parts[0]] = (CLASSES,)
    for site in sites_of(facts):
        op, *parts = facts.expressions[site.at]
        at = parts[0] if op == Op.ALIAS else site.at
        if facts.expressions[at][0] in NAMING and site.use in OF_TYPES:
            found[at] = (CLASSES,)
        elif facts.expressions[at][0] in NAMING and site.use == Use.IMPORT:
            found[at] = (FUNCTIONS, CLASSES)
    return found


def _members(facts: Facts, at: int) -> tuple[str, ...]:
    """What `a.b` stands for where it is called: a method, or behind a name, which may be a namespace, a function."""
    before = facts.expressions[facts.expressions[at][1]][0]
    return (FUNCTIONS, METHODS) if before in PATHS else (METHODS,)


def _last(facts: Facts, alias: int) -> str:
    """The last name of what an alias stands for, in small letters."""
    op, *parts = facts.expressions[facts.expressions[alias][1]]
    return facts.names[parts[NAMING[op]]].lower() if op in NAMING else ""
