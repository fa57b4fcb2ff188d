"""Names that a use spells in another case than their definition, in languages that do not care: PHP's `STRLEN()`.

Only functions, methods and classes go by their names in any case. A name that anything binds as it is spelled is that.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from fledgling.worker.graph.tables import Facts, Op, Use, sites_of

DEFINED = (Op.FUNCTION, Op.CLASS)
USES = (Use.CALL, Use.TYPE, Use.INHERIT, Use.IMPORT, Use.DECORATOR)  # where a function or a class is meant
NAMES = (Op.NAME, Op.BARE)


def in_case_of_definitions(files: Sequence[Facts]) -> Iterator[dict[int, str]]:
    """Yield for each file which of its names mean which definitions, if just one can be meant: `{3: "strLen"}`."""
    bound: set[str] = set()
    defined: dict[str, set[str]] = defaultdict(set)
    for facts in files:
        for binding in facts.bindings:
            name = facts.names[binding.name]
            bound.add(name)
            if facts.expressions[binding.value][0] in DEFINED:
                defined[name.lower()].add(name)
    for facts in files:
        others = {
            at: next(iter(defined[name.lower()]))
            for at, name in enumerate(facts.names)
            if name not in bound and len(defined.get(name.lower(), ())) == 1
        }
        yield {at: name for at, name in others.items() if at in _called(facts)} if others else {}


def _called(facts: Facts) -> set[int]:
    """Return the names that functions, methods and classes go by: `a` of `a()`, `new a` and `a::b`."""
    found = {site.name for site in sites_of(facts) if site.use in USES}
    for op, *parts in facts.expressions:
        of, *name = facts.expressions[parts[0]] if op == Op.GET else (Op.TEXT,)
        found.update(name[:1] if of in NAMES else ())
    return found
