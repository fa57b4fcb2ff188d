"""What is related to a definition: who calls it, what it calls, where it is used, what it is derived from, what breaks
if it changes. Every answer accounts for all occurrences of the name.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from fledgling.messages.answers import Defined, FileRelated, Related, Relations
from fledgling.messages.bounded import MAX_STEPS
from fledgling.messages.cursors import offset_of
from fledgling.messages.questions import Relation, Symbols
from fledgling.plain import counted
from fledgling.worker.rows import LEAST_LIKELY, surer
from fledgling.worker.store.graph import (
    ANY_OF_LINE,
    CALLS,
    LEFT_OUT,
    NO_GRAPH,
    SURE,
    Confidence,
    Definition,
    Graph,
    Occurrence,
)
from fledgling.worker.store.text import File
from fledgling.worker.tools import definitions, occurrences, unknown
from fledgling.worker.tools.meant import Placed, others
from fledgling.worker.tools.packages import is_test
from fledgling.worker.tools.request import Refused, Request, continuing, cut_page, shown

SHOWN_CHARS = 120  # of a line that uses something
POSSIBLE: Confidence = "possible"
SHOWN_NAMES = 8  # that a definition calls, or a class is derived from, without being found
MOST = MAX_STEPS  # definitions and uses that an answer follows
MOST_STEPS = 10  # that a question may ask for
STEPS: dict[Relation, int] = {"impact": 3, "hierarchy": MOST}  # to follow where nobody says how many; else 1
NO_LANGUAGE = "Uses of definitions are resolved in no language of this project."
Step = Callable[[Definition], Mapping[Definition, int]]  # each with why it is not sure, 0 where it is


class Entry(NamedTuple):
    """Something related, and the file it is in; entries are sorted by this."""

    file: File
    related: Related


class Found(NamedTuple):
    """What a relation leads to, and what is to be said of it."""

    entries: list[Entry]
    note: str | None = None


class Asked(NamedTuple):
    """A call at work: the question, the graph, and what it is about."""

    request: Request
    graph: Graph
    question: Symbols
    about: definitions.Chosen

    @property
    def places(self) -> list[Definition]:
        """Where the definitions begin that the question is about."""
        return [definitions.place(self.request, each) for each in self.about.definitions]

    @property
    def steps(self) -> int:
        """How many steps to follow."""
        return self.question.depth or STEPS.get(self.question.relation or "usages", 1)

    def admits(self, confidence: Confidence) -> bool:
        """Return whether a use is shown: one that only the name speaks for only if it is asked for."""
        return confidence in SURE or (confidence == POSSIBLE and self.question.possible)


def relations(request: Request, question: Symbols) -> Relations:
    """Answer with what is related to the definition that `symbol` names."""
    assert question.relation
    graph = _graph(request, question)
    about = definitions.chosen(request, question)
    _refuse_unrelated(request, graph, about)
    asked = Asked(request, graph, question, about)
    found = FINDERS[question.relation](asked)
    entries = sorted(found.entries, key=order)
    offset = offset_of(question.cursor)
    page = cut_page(entries[offset : offset + question.max_results], request)
    counted = occurrences.account(request, about.name, asked.places)
    return Relations(
        relation=question.relation,
        definitions=[_defined(each) for each in about.definitions],
        files=[
            FileRelated(file.path, [entry.related for entry in some])
            for file, some in groupby(page, key=lambda entry: entry.file)
        ],
        total=len(entries),
        account=_account(entries, counted, asked),
        next=continuing(request, question, offset + len(page), len(entries)),
        note=unknown.joined(
            request.opened.generation.unrelated,
            found.note,
            _not_parsed(asked),
            _together(asked),
            others(about.others),
            unseen(request, about.definitions[0].file),
            occurrences.of_parsing(request, [each.file for each in about.definitions]),
        ),
    )


def unseen(request: Request, about: File) -> str | None:
    """Say what the index lacks where something in a file may be used, and where no uses are known."""
    known = request.opened.generation
    if not request.graph or not known.related:
        return known.unrelated or NO_LANGUAGE
    if request.graph.how_far(about.number) == NO_GRAPH:
        return f"Uses of definitions are not resolved in {about.language}."
    family = unknown.family(request, about)
    everywhere = unknown.scope(request, None)
    return unknown.joined(
        request.partial,
        unknown.of_unread(request, everywhere, "looked into", lambda each: unknown.family(request, each) == family),
    )


def _graph(request: Request, question: Symbols) -> Graph:
    known = request.opened.generation
    if request.graph and known.related:
        return request.graph
    why = known.unrelated or NO_LANGUAGE
    raise Refused("not_indexed", why.rstrip("."), _as_text((question.symbol or "").rpartition(".")[2]))


def _refuse_unrelated(request: Request, graph: Graph, about: definitions.Chosen) -> None:
    """Refuse a question about a definition in a language without a graph, or in a file that is not in it."""
    file = about.definitions[0].file
    if all(graph.how_far(each.file.number) == LEFT_OUT for each in about.definitions):
        why = f"uses of what {file.path} defines are not resolved: the graph of the project has no room for that file"
        raise Refused("not_indexed", why, _as_text(about.name))
    if graph.how_far(file.number) == NO_GRAPH:
        related = ", ".join(request.opened.generation.related)
        why = f"uses of definitions are not resolved in {file.language} ({file.path}), but in {related}"
        raise Refused("not_indexed", why, _as_text(about.name))


def _as_text(name: str) -> str:
    return f'search(query="{name}", whole_word=true, case_sensitive=true) finds them as text.'


def order(entry: Entry) -> tuple[bool, str, int, int]:
    """Return what entries are sorted by: file and line, tests last."""
    return is_test(entry.file.path), entry.file.path, entry.related.line, entry.related.distance


def _not_parsed(asked: Asked) -> str | None:
    """Say which other files were not parsed at all: what is called, or derived from, may be theirs."""
    if asked.question.relation not in ("callees", "hierarchy"):
        return None
    request, own = asked.request, {each.file.path for each in asked.about.definitions}
    family = unknown.family(request, asked.about.definitions[0].file)
    everywhere = unknown.scope(request, None)
    alike = (file for file in unknown.given_up(request, everywhere) if unknown.family(request, file) == family)
    return unknown.of_parsing(
        request, [file for file in alike if file.path not in own], "what they define is not known"
    )


def _together(asked: Asked) -> str | None:
    """Say that what a definition shares its line with is not told apart from it, where that is so."""
    places = zip(asked.places, asked.about.definitions, strict=True)
    shared = [
        place
        for place, each in places
        if definitions.has_others_beside(asked.request, each)
        if asked.graph.leading_to(place._replace(place=ANY_OF_LINE))
    ]
    if not shared:
        return None
    file = asked.request.blocks.file(shared[0].file)
    return f"Other definitions begin on line {shared[0].line} of {file.path}: what is related to them is among this."


def _defined(each: Placed) -> Defined:
    return Defined(each.file.path, each.row.qualified_name, each.row.kind, (each.row.line_start, each.row.line_end))


def _account(entries: Sequence[Entry], counted: occurrences.Account, asked: Asked) -> str:
    said = occurrences.sentence(counted)
    if entries:
        return said
    outside = "" if asked.question.relation in ("callees", "hierarchy") else "; uses outside the project cannot be seen"
    return f"none; {said}{outside}"


# ---- uses -----------------------------------------------------------------------------------------------------------


def _callers(asked: Asked) -> Found:
    """Find the calls of a definition, and the calls of those who call it, step by step."""
    return _stepwise(asked, lambda row: row.use in CALLS)


def _usages(asked: Asked) -> Found:
    return _stepwise(asked, lambda row: not occurrences.is_definition(row))


def _impact(asked: Asked) -> Found:
    """Find what may break where a definition changes: uses, uses of what uses it, and what takes its place."""
    found = _stepwise(asked, lambda row: not occurrences.is_definition(row))
    near = [entry for entry in found.entries if entry.related.how != "import" or entry.related.distance == 1]
    graph = asked.graph
    ways = {"override": _all_of(asked.places, graph.overriding), "derived": _all_of(asked.places, graph.derived)}
    also = [entry for how, places in ways.items() for entry in _placed(asked, places, how)]
    return Found([*near, *also], unknown.joined(found.note, _unsure(asked, ways.values())))


def _stepwise(asked: Asked, is_meant: Callable[[Occurrence], bool]) -> Found:
    """Follow uses from definition to definition, breadth first; each is expanded once.

    Further away than one step a definition is listed once, with the first line that leads there.
    """
    entries: list[Entry] = []
    reached = asked.places
    seen = {*reached}
    for distance in range(1, asked.steps + 1):
        found = [*_uses(asked, reached, distance, is_meant)]
        if distance == 1:
            entries += [entry for entry, _ in found]
        else:
            news = {place: entry for entry, place in reversed(found) if place and place not in seen}
            known = {(entry.file.path, entry.related.line) for entry in entries}
            outside = [entry for entry, place in found if not place]
            entries += [e for e in (*news.values(), *outside) if (e.file.path, e.related.line) not in known]
        reached = [*dict.fromkeys(place for _, place in found if place and place not in seen)]
        seen.update(reached)
        if len(entries) + len(seen) > MOST:
            return Found(entries, f"Cut at {MOST:,} uses: what is more than {distance} steps away is not followed.")
    return Found(entries, _further(asked, reached, is_meant))


def _further(asked: Asked, reached: Sequence[Definition], is_meant: Callable[[Occurrence], bool]) -> str | None:
    """Say how many of the definitions that were reached are used in turn."""
    if asked.question.relation != "impact":
        return None
    used = sum(any(map(is_meant, asked.graph.leading_to(each))) for each in reached)
    follow = f"depth={asked.steps + 1} follows it" if asked.steps < MOST_STEPS else "ask about that"
    return f"{used:,} of what is {counted(asked.steps, 'step')} away is used in turn: {follow}." if used else None


def _uses(
    asked: Asked, places: Sequence[Definition], distance: int, is_meant: Callable[[Occurrence], bool]
) -> Iterator[tuple[Entry, Definition | None]]:
    """Yield the uses of definitions, one for each line and definition that it is in, with that."""
    found = (row for each in places for row in asked.graph.leading_to(each) if is_meant(row))
    some: dict[tuple[int, int, Definition | None], list[Occurrence]] = {}
    for row in sorted(found, key=lambda row: (row.file, row.line, row.column, row.confidence)):
        if asked.admits(row.confidence):
            some.setdefault((row.file, row.line, asked.graph.around(row.number)), []).append(row)
    for (number, *_), rows in some.items():
        asked.request.check()
        best = min(rows, key=lambda row: (row.confidence, row.column))
        around = definitions.around(asked.request, asked.graph, best)
        entry = _use(asked, asked.request.blocks.file(number), best, around, distance)
        yield entry, definitions.place(asked.request, around) if around else None


def _use(asked: Asked, file: File, row: Occurrence, around: Placed | None, distance: int) -> Entry:
    text = occurrences.line_of(asked.request, file, row.line).decode()
    is_certain = row.confidence == "certain"
    related = Related(
        line=row.line,
        name=around.row.qualified_name if around else None,
        how=row.use,
        text=shown(text.strip(), SHOWN_CHARS, max(0, row.column - len(text) + len(text.lstrip()))),
        confidence=None if is_certain else row.confidence,
        reason=None if is_certain else asked.graph.reasons[row.reason] or None,
        distance=distance,
    )
    return Entry(file, related)


# ---- what a definition calls ----------------------------------------------------------------------------------------


def _callees(asked: Asked) -> Found:
    """Find what a definition calls, and what that calls, step by step; and how much of it leads out of the project."""
    entries: list[Entry] = []
    reached, seen = asked.about.definitions, {*asked.places}
    for distance in range(1, asked.steps + 1):
        called: dict[Definition, list[Occurrence]] = {}
        for each in reached:
            asked.request.check()
            for row in definitions.inside(asked.request, asked.graph, each):
                is_new = row.target not in seen or distance == 1
                if row.use in CALLS and row.target and is_new and asked.admits(row.confidence):
                    called.setdefault(row.target, []).append(row)
        found = [(definitions.at(asked.request, target), rows) for target, rows in called.items()]
        placed = [(each, rows) for each, rows in found if each]
        for each, rows in placed:
            entries += _callee(asked, each, rows, distance)
        seen |= called.keys()
        reached = [each for each, _ in placed]
        if len(entries) > MOST:
            break
    return Found(entries, _unresolved(asked))


def _callee(asked: Asked, each: Placed, rows: Sequence[Occurrence], distance: int) -> Iterator[Entry]:
    """Yield an entry for each confidence that calls of a definition have, the surest first."""
    for confidence in (*SURE, POSSIBLE):
        alike = [row for row in rows if row.confidence == confidence]
        if not alike:
            continue
        is_certain = confidence == "certain"
        related = Related(
            line=each.row.line_start,
            name=each.row.qualified_name,
            how=each.row.kind,
            text=shown(each.row.signature, SHOWN_CHARS) if each.row.signature else None,
            confidence=None if is_certain else confidence,
            reason=None if is_certain else asked.graph.reasons[alike[0].reason] or None,
            distance=distance,
            at=sorted({row.line for row in alike}),
        )
        yield Entry(each.file, related)


def _unresolved(asked: Asked) -> str:
    """Say which calls of a definition lead nobody knows where, and that those out of the project are not listed."""
    sites: dict[tuple[int, int, int], list[Occurrence]] = {}
    for each in asked.about.definitions:
        for row in definitions.inside(asked.request, asked.graph, each):
            if row.use in CALLS:
                sites.setdefault((each.file.number, row.line, row.column), []).append(row)
    nowhere = [rows[0] for rows in sites.values() if all(row.confidence == "unresolved" for row in rows)]
    in_part = [rows[0] for rows in sites.values() if rows[0].confidence == "unresolved" and len(rows) > 1]
    merely = [rows[0] for rows in sites.values() if {row.confidence for row in rows if row.target} == {"possible"}]
    said = f"Not resolved: {_named(asked, nowhere)}. " if nowhere else ""
    said += f"May mean more than is listed: {_named(asked, in_part)}. " if in_part else ""
    if merely and not asked.admits("possible"):
        said += f"Merely possible: {_named(asked, merely)}; possible=true lists what they may call. "
    return f"{said}Calls of what the project does not define are not listed."


def _named(asked: Asked, calls: Sequence[Occurrence]) -> str:
    """How many calls there are, and of which names most."""
    names = Counter(occurrences.word_at(asked.request, row) for row in calls)
    shown_names = ", ".join(name for name, _ in names.most_common(SHOWN_NAMES))
    return f"{counted(len(calls), 'call')} ({shown_names}{', ...' if len(names) > SHOWN_NAMES else ''})"


# ---- classes --------------------------------------------------------------------------------------------------------


def _hierarchy(asked: Asked) -> Found:
    """Find what a class is derived from and what is derived from it; or of a method those in whose place it comes.

    What is above it and not in the index is said by name: outside the project, or left out of it.
    """
    graph = asked.graph
    up: list[tuple[str, Step]] = [
        ("base", graph.bases),
        ("derived", graph.derived),
        ("overridden", graph.overridden),
        ("override", graph.overriding),
    ]
    ways = [(how, distance, reached) for how, step in up for distance, reached in enumerate(_steps(asked, step), 1)]
    entries = [entry for how, distance, reached in ways for entry in _placed(asked, reached, how, distance)]
    return Found(entries, unknown.joined(_bases_outside(asked), _unsure(asked, [reached for *_, reached in ways])))


def _bases_outside(asked: Asked) -> str | None:
    """Name what a class and those above it are derived from that is no class of the project, the nearest first."""
    graph, request = asked.graph, asked.request
    names: dict[str, dict[str, None]] = {"Bases not in the index": {}, "Bases not resolved": {}}
    above = {place: None for places in _steps(asked, graph.bases) for place in places}
    for place in [*asked.places, *above]:
        bases, each = graph.bases_outside(place), definitions.at(request, place)
        if not (bases and each):
            continue
        behind = f" (of {each.row.qualified_name})" if place in above else ""
        open_rows = (
            row
            for row in definitions.inside(request, graph, each)
            if row.use == "inherit" and row.confidence in ("unresolved", "local")
        )
        unresolved = {"", *(occurrences.word_at(request, row) for row in open_rows)}
        for name in bases:
            which = "Bases not resolved" if name in unresolved else "Bases not in the index"
            names[which][f"{name or 'an expression'}{behind}"] = None
    return unknown.joined(*(f"{which}: {_some([*some])}." for which, some in names.items() if some))


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN_NAMES:,} more" if len(names) > SHOWN_NAMES else ""
    return f"{', '.join(names[:SHOWN_NAMES])}{more}"


def _overrides(asked: Asked) -> Found:
    """Find the methods that take the place of a method, and those in whose place it comes; of a class, of each own."""
    places = asked.places
    for each in asked.about.definitions:
        if each.row.kind in ("class", "interface", "trait", "struct"):
            inside = (own for own in _within(asked, each) if own.row.qualified_name != each.row.qualified_name)
            places += [definitions.place(asked.request, own) for own in inside]
    overriding, overridden = _all_of(places, asked.graph.overriding), _all_of(places, asked.graph.overridden)
    entries = [*_placed(asked, overriding, "override"), *_placed(asked, overridden, "overridden")]
    return Found(entries, _unsure(asked, [overriding, overridden]))


def _within(asked: Asked, each: Placed) -> Iterator[Placed]:
    """Yield the definitions within one, with itself."""
    assert asked.request.outlines
    rows = (Placed(each.file, row) for row in asked.request.outlines.definitions(each.file))
    return (own for own in rows if definitions.is_in(own, each))


def _unsure(asked: Asked, ways: Iterable[Mapping[Definition, int]]) -> str | None:
    """Say how much is only possible and so not listed, and of what more may be derived than is known."""
    merely = {place for reached in ways for place, reason in reached.items() if 0 < reason < LEAST_LIKELY}
    around = [*asked.places, *filter(None, (_type_around(asked, each) for each in asked.about.definitions))]
    said = []
    if merely and not asked.admits(POSSIBLE):
        said.append(f"Merely possible: {len(merely):,} more; possible=true lists what that is.")
    if any(map(asked.graph.has_more_below, around)):
        said.append("More may implement an interface here than the graph looks at.")
    return " ".join(said) or None


def _type_around(asked: Asked, each: Placed) -> Definition | None:
    """The innermost type around a definition."""
    assert asked.request.outlines
    rows = asked.request.outlines.definitions(each.file)
    types = [
        around
        for row in rows
        if row.kind in occurrences.TYPES and row.qualified_name != each.row.qualified_name
        if definitions.is_in(each, around := Placed(each.file, row))
    ]
    return definitions.place(asked.request, types[-1]) if types else None


def _all_of(places: Collection[Definition], step: Step) -> dict[Definition, int]:
    """Where a step leads from some definitions, each with why that is not sure."""
    found: dict[Definition, int] = {}
    for each in places:
        for place, reason in step(each).items():
            found[place] = surer(reason, found.get(place, reason))
    return found


def _steps(asked: Asked, step: Step) -> Iterator[dict[Definition, int]]:
    """Yield what each step of one way reaches first, with why that is not sure."""
    reached, seen = dict.fromkeys(asked.places, 0), {*asked.places}
    for _ in range(asked.steps):
        further: dict[Definition, int] = {}
        for each, unsure in reached.items():
            for place, reason in step(each).items():
                if place not in seen:
                    weakest = min(filter(None, (reason, unsure)), default=0)
                    further[place] = surer(weakest, further.get(place, weakest))
        reached = further
        if not reached or len(seen) > MOST:
            break
        seen |= {*reached}
        yield reached


def _placed(asked: Asked, found: Mapping[Definition, int], how: str, distance: int = 1) -> Iterator[Entry]:
    """Yield entries for definitions, each with why it is not sure, 0 where it is."""
    for place, reason in found.items():
        confidence: Confidence = "certain" if not reason else "likely" if reason >= LEAST_LIKELY else POSSIBLE
        if asked.admits(confidence) and (each := definitions.at(asked.request, place)):
            related = Related(
                line=each.row.line_start,
                name=each.row.qualified_name,
                how=how,
                text=shown(each.row.signature, SHOWN_CHARS) if each.row.signature else None,
                confidence=confidence if reason else None,
                reason=asked.graph.reasons[reason] if reason else None,
                distance=distance,
            )
            yield Entry(each.file, related)


FINDERS: dict[Relation, Callable[[Asked], Found]] = {
    "callers": _callers,
    "callees": _callees,
    "usages": _usages,
    "hierarchy": _hierarchy,
    "overrides": _overrides,
    "impact": _impact,
}
