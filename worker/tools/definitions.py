"""Definitions that a question about uses names, and those that the graph leads to, as the outlines know them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from fledgling.messages.questions import Symbols
from fledgling.plain import by_depth, counted
from fledgling.worker.matching import lines as matching
from fledgling.worker.rows import LEAST_LIKELY
from fledgling.worker.store.graph import ANY_OF_LINE, IN_NO_OUTLINE, Graph, GraphDefinition, Occurrence
from fledgling.worker.store.text import File
from fledgling.worker.tools import empty_answers, paths, unknown
from fledgling.worker.tools.meant import (
    SHOWN_MEANT,
    VALUES,
    WORDS,
    Placed,
    all_named,
    code,
    first_meant,
    owning,
    placed,
)
from fledgling.worker.tools.request import Refused, Request

MAX_ABOVE = 256  # classes above one that are looked at for a member: a hierarchy as deep has no reader
NOT_OF_VALUES = ("callees", "hierarchy", "overrides")  # relations that functions and classes have, and values do not


class Chosen(NamedTuple):
    """What a question is about: one definition, or several that are variants of one. `others` have the same name."""

    definitions: list[Placed]
    others: list[Placed]

    @property
    def name(self) -> str:
        """The name that stands where it is used."""
        return self.definitions[0].row.name


def named(request: Request, question: Symbols) -> list[Placed]:
    """Return all definitions that `symbol` and the filters name. Raises Refused where there is none."""
    symbol = question.symbol or ""
    is_path = matching.in_path(paths.pattern(question.path))
    left = _left(question, all_named(request, symbol, lambda file: is_path(file.path)))
    known = code(placed(left, symbol) or placed(_of_code(left), symbol, any_case=True))
    if not known:
        raise _unknown(request, question)
    return known


def chosen(question: Symbols, known: list[Placed]) -> Chosen:
    """Return which of the definitions that have its name a question is about. Raises Refused where there are several.

    One outside of tests is meant before those in tests; the answer names the others.
    """
    symbol = question.symbol or ""
    groups: dict[tuple[str, str], list[Placed]] = {}
    for each in first_meant(_related(question, known), symbol):
        groups.setdefault((each.file.path, each.row.qualified_name), []).append(each)
    if len(groups) > 1:
        raise Refused("ambiguous", *_named(question, symbol, [group[0] for group in groups.values()]))
    [taken] = groups.values()
    return Chosen(taken, [each for each in known if each not in taken])


def _related(question: Symbols, known: list[Placed]) -> list[Placed]:
    """Return those of some definitions that can have the relation, if any can: the function and not its variables."""
    if question.relation not in NOT_OF_VALUES:
        return known
    return [each for each in known if each.row.kind not in VALUES] or known


def _left(question: Symbols, found: Iterable[Placed]) -> list[Placed]:
    """Return those of some definitions that the filters of a question leave, besides its path."""
    return [
        each
        for each in found
        if question.language in (None, each.file.language) and question.kind in (None, each.row.kind)
    ]


def _unknown(request: Request, question: Symbols) -> Refused:
    symbol = question.symbol or ""
    last = symbol.rpartition(".")[2]
    filters = [(name, value) for name in ("path", "kind", "language") if (value := getattr(question, name))]
    if filters and (elsewhere := placed(all_named(request, symbol, lambda _: True), symbol)):
        left = " and ".join(f"{name} {value!r}" for name, value in filters)
        named, next_step = _named(question, symbol, elsewhere)
        has_uses = any(each.file.language in request.opened.generation.related for each in elsewhere)
        proposed = filter(None, (next_step if has_uses else "", _as_text(request, question)))
        why = f"no definition {symbol!r} has {left}; {named}"
        return Refused("not_found", why, " ".join(proposed) or next_step)
    alike = placed(_of_code(all_named(request, last, lambda _: True)), last) if last not in ("", symbol) else []
    if request.is_early and alike and owning(request, symbol, lambda _: True):
        return early()  # what the class has from above, the graph knows
    if above := inherited(request, symbol):
        named, next_step = _named(question, symbol, [above])
        has_it = f"{symbol.rpartition('.')[0]} has it from {named.partition(': ')[2]}"
        return Refused("not_found", f"no definition {symbol!r} in the index; {has_it}", next_step.partition(": ")[2])
    looked = empty_answers.of_symbols(request, Symbols(question.path, question.kind, question.language, last or None))
    named, ways = _named(question, last, alike) if alike else ("", empty_answers.ways_to(request, symbol))
    reason = "; ".join(filter(None, (f"no definition {symbol!r} in the index", named)))
    return Refused("not_found", reason, f"{looked} {ways}" if looked else ways)


def _of_code(found: Iterable[Placed]) -> list[Placed]:
    """Return those of some definitions that something may use: what documents and data say is none."""
    return [each for each in found if each.row.kind not in WORDS]


def early() -> Refused:
    """Return the refusal of a question about uses that is put before they are known."""
    return Refused("unavailable", "uses of definitions are being resolved", "Ask again: the work goes on.")


def _as_text(request: Request, question: Symbols) -> str:
    """Propose to search what was asked of for a name which only others define, if its text holds it."""
    name = (question.symbol or "").rpartition(".")[2]
    about = unknown.scope(request, question.path, question.language).about(request, name)
    files = unknown.naming(request, about, about.files(request, request.blocks.files))
    if not unknown.using(request, files, [name]):
        return ""
    asked = [f', {key}="{value}"' for key in ("path", "language") if (value := getattr(question, key))]
    return f'search(query="{name}"{"".join(asked)}, whole_word=true, case_sensitive=true) finds it as text.'


def inherited(request: Request, symbol: str) -> Placed | None:
    """Return the nearest member of a name that a class has from above: of `Session.load` what `Base.load` is."""
    name = symbol.rpartition(".")[2]
    classes = owning(request, symbol, lambda _: True) if request.graph else []
    reached = [place(request, each) for each in classes]
    seen = {*reached}
    while reached and request.graph and request.outlines and len(classes) == 1 and len(seen) <= MAX_ABOVE:
        bases = chain.from_iterable(request.graph.bases(each).items() for each in reached)
        reached = [up for up, reason in bases if up not in seen and (not reason or reason >= LEAST_LIKELY)]
        seen.update(reached)
        for above in filter(None, (at(request, up) for up in reached)):
            for row in request.outlines.definitions(above.file):
                if row.qualified_name == f"{above.row.qualified_name}.{name}":
                    return Placed(above.file, row)
    return None


def _named(question: Symbols, symbol: str, found: Sequence[Placed]) -> tuple[str, str]:
    """Say which definitions a name has, and how to ask about one of them."""
    found = sorted(found, key=lambda each: by_depth(each.file.path))
    shown = [f"{each.row.kind} {each.row.qualified_name} ({each.file.path}:{each.row.line_start})" for each in found]
    more = f" and {len(shown) - SHOWN_MEANT} more" if len(shown) > SHOWN_MEANT else ""
    first = next((each for each in found if each.row.qualified_name != symbol), found[0])
    return (
        f"{symbol!r} names {counted(len(found), 'definition')}: {', '.join(shown[:SHOWN_MEANT])}{more}",
        "Give the qualified name, path or kind: "
        f'symbols(symbol="{first.row.qualified_name}", path="{first.file.path}", relation="{question.relation}").',
    )


def at(request: Request, definition: GraphDefinition) -> Placed | None:
    """Return a definition as the outlines know it: of those that are not told apart, the longest."""
    file = request.blocks.file(definition.file)
    rows = request.lines.together(file, definition.line).rows
    if definition.place == IN_NO_OUTLINE:
        return None
    if definition.place != ANY_OF_LINE:
        rows = rows[definition.place - 1 : definition.place]
    return Placed(file, max(rows, key=lambda row: row.line_end)) if rows else None


def place(request: Request, each: Placed) -> GraphDefinition:
    """Return what the graph knows a definition by."""
    number = request.lines.together(each.file, each.row.line_start).place(each.row)
    return GraphDefinition(each.file.number, each.row.line_start, number)


def has_others_beside(request: Request, each: Placed) -> bool:
    """Return whether other definitions begin on the line of one."""
    return len(request.lines.together(each.file, each.row.line_start).rows) > 1


def around(request: Request, graph: Graph, row: Occurrence) -> Placed | None:
    """Return the innermost function, class or the like that a row is in."""
    known = graph.around(row.number)
    if known is None:
        return enclosing(request, request.blocks.file(row.file), row.line)
    return at(request, known._replace(file=row.file)) if known.line else None


def inside(request: Request, graph: Graph, each: Placed) -> Iterator[Occurrence]:
    """Yield the rows within a definition, without those of others that stand on its first or last line."""
    known: dict[GraphDefinition | None, bool] = {None: True}
    for row in graph.within(each.file.number, each.row.line_start, each.row.line_end):
        place = graph.around(row.number)
        if place not in known:
            known[place] = is_in(around(request, graph, row), each)
        if known[place]:
            yield row


def is_in(inner: Placed | None, each: Placed) -> bool:
    """Return whether a definition is another one of its file, or within it."""
    if not inner or not each.row.line_start <= inner.row.line_start <= inner.row.line_end <= each.row.line_end:
        return False
    return f"{inner.row.qualified_name}.".startswith(f"{each.row.qualified_name}.")


def enclosing(request: Request, file: File, line: int) -> Placed | None:
    """Return the innermost function, class or the like that a line is in."""
    assert request.outlines
    row = request.outlines.innermost(file, line)
    return Placed(file, row) if row else None
