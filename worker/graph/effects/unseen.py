"""What a function of one file runs that no name calls: `__add__` of `a + b`, `__eq__` of `a.remove(b)`.

Nobody asks whose method that would be: a function has the kinds of such methods that it may run, and wherever the
project defines one of a kind, every function that may run that kind may run it.
"""

from collections.abc import Sequence, Set
from typing import Any

from fledgling.worker.graph.effects.builtin_types import FileFacts, RowTarget
from fledgling.worker.graph.tables import Flag, Op, Site
from fledgling.worker.languages.python import effects as known

Kinds = dict[str, int]  # kinds of known.UNSEEN, each with the first line where it may be run

OF_FLAGS = {
    Flag.OPERATES: ("operator",),
    Flag.UNPACKS: ("iteration",),
    Flag.FORMATS: ("text",),
    Flag.INDEXES: ("item", "operator"),
    Flag.MATCHES: ("item", "operator", "iteration", "instance", "attribute", "unknown attribute", "property"),
}
CALLED = (Op.CALL, Op.NEW)


def of_flags(flags: int, line: int, kinds: Kinds) -> None:
    """Add what the constructs of a scope run.

    >>> kinds = {}
    >>> of_flags(Flag.INDEXES, 3, kinds)
    >>> kinds
    {'item': 3, 'operator': 3}
    """
    for flag, run in OF_FLAGS.items():
        if flags & flag:
            _add(run, line, kinds)


def of_site(file: FileFacts, site: Site, rows: Sequence[RowTarget], held: Set[str], kinds: Kinds) -> None:
    """Add what an occurrence runs. `held` are names of variables of classes that may be objects with such methods."""
    op, *parts = file.facts.expressions[site.at]
    run: list[str] = []
    if op == Op.ENTERED:
        run = ["exit"]
    elif op == Op.ELEMENT and not file.type_of(parts[0]):
        run = ["iteration"]
    elif op in (Op.GET, Op.REACH):
        run = ["attribute"]
        run += ["class variable"] if file.name(site.name) in held else []
        if not any(row.target for row in rows):
            run.append("unknown attribute")
            of = parts[0] if op == Op.GET else parts[1]
            run += ["module"] if of >= 0 and _is_module(file, of) else []
    elif op in CALLED:
        run = [*_of_call(file, parts)]
        run += ["text"] if file.name(site.name) in known.MAKING_TEXT | known.LOGGING else []
    _add(run, site.line, kinds)


def _add(run: Sequence[str], line: int, kinds: Kinds) -> None:
    for kind in run:
        kinds.setdefault(kind, line)


def _of_call(file: FileFacts, parts: Sequence[Any]) -> Sequence[str]:
    """Return what a function or method of Python's own runs of what it is given: of plain values nothing."""
    called, arguments, words = parts
    given = [max(value, ~value) for value in arguments] + [value for _, value in words]
    types = [file.type_of(value) for value in given]
    full = file.dotted(called)
    if full in known.PURE:
        if any(file.dotted(value) in known.PURE or _is_getter(file, value) for value in given):
            return known.ALL_KINDS  # `map(str, a)`
        is_plain = all(type_ in known.PLAIN or (type_ and full in known.SHALLOW) for type_ in types)
        return () if is_plain else known.RUNS.get(full, known.DEEP)
    op, *inner = file.facts.expressions[called]
    of = file.type_of(inner[0]).partition(":")[0] if op == Op.GET else ""
    name = file.name(inner[1]) if of else ""
    if name not in known.METHODS.get(of, ()) and name not in known.MUTATING.get(of, ()):
        return ()
    if name in ("format", "format_map"):  # "{0.a}"
        return known.ALL_KINDS
    is_plain = of in known.PLAIN and name != "join"
    return () if is_plain and all(type_ in known.PLAIN for type_ in types) else known.DEEP


def _is_module(file: FileFacts, at: int) -> bool:
    """Whether a name may be that of a module of the project, which may have a `__getattr__`."""
    op, *parts = file.facts.expressions[at]
    return op == Op.GET or (
        op == Op.NAME
        and any(file.facts.expressions[each][0] == Op.IMPORT for each in file.values((op, *parts)) if each >= 0)
    )


def _is_getter(file: FileFacts, at: int) -> bool:
    op, *parts = file.facts.expressions[at]
    return op == Op.CALL and file.dotted(parts[0]) in known.GETTERS
