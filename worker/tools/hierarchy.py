"""What a class is derived from and what is derived from it; of a method what it overrides, and what overrides it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from fledgling.messages.answers import Related
from fledgling.worker.rows import LEAST_LIKELY, surer
from fledgling.worker.store.graph import Confidence, GraphDefinition
from fledgling.worker.tools import definitions, occurrences, unknown
from fledgling.worker.tools.meant import FIELDS, Placed
from fledgling.worker.tools.related import MOST, POSSIBLE, SHOWN_CHARS, SHOWN_NAMES, Asked, RelatedEntries, RelatedEntry
from fledgling.worker.tools.request import shown

OF_FUNCTIONS = "Only functions are found to override: a field or property that takes the place of this one is not."

Step = Callable[[GraphDefinition], Mapping[GraphDefinition, int]]  # each with why it is not sure, 0 where it is


def hierarchy(asked: Asked) -> RelatedEntries:
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
    ways = [
        (how, distance, reached)
        for how, step in up
        for distance, reached in enumerate(steps(asked, asked.places, step), 1)
    ]
    entries = [entry for how, distance, reached in ways for entry in placed(asked, reached, how, distance)]
    return RelatedEntries(
        entries, unknown.joined(_bases_outside(asked), unsure(asked, [reached for *_, reached in ways]))
    )


def _bases_outside(asked: Asked) -> str | None:
    """Name what a class and those above it are derived from that is no class of the project, the nearest first."""
    graph, request = asked.graph, asked.request
    names: dict[str, dict[str, None]] = {"Bases not in the index": {}, "Bases not resolved": {}}
    above = {place: None for places in steps(asked, asked.places, graph.bases) for place in places}
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


def overrides(asked: Asked) -> RelatedEntries:
    """Find the methods that take the place of a method, and of what does; and those in whose place it comes.

    Of a class it is those of each of its own.
    """
    places = asked.places
    for each in asked.about.definitions:
        if each.row.kind in ("class", "interface", "trait", "struct"):
            inside = (own for own in _within(asked, each) if own.row.qualified_name != each.row.qualified_name)
            places += [definitions.place(asked.request, own) for own in inside]
    below, overridden = [*steps(asked, places, asked.graph.overriding)], all_of(places, asked.graph.overridden)
    entries = [entry for away, some in enumerate(below, 1) for entry in placed(asked, some, "override", away)]
    entries += placed(asked, overridden, "overridden")
    is_of_fields = not entries and all(each.row.kind in FIELDS for each in asked.about.definitions)
    said = OF_FUNCTIONS if is_of_fields else None
    return RelatedEntries(entries, unknown.joined(said, unsure(asked, [*below, overridden])))


def _within(asked: Asked, each: Placed) -> Iterator[Placed]:
    """Yield the definitions within one, with itself."""
    assert asked.request.outlines
    rows = (Placed(each.file, row) for row in asked.request.outlines.definitions(each.file))
    return (own for own in rows if definitions.is_in(own, each))


def unsure(asked: Asked, ways: Iterable[Mapping[GraphDefinition, int]]) -> str | None:
    """Say how much is only possible and so not listed, and of what more may be derived than is known."""
    merely = {place for reached in ways for place, reason in reached.items() if 0 < reason < LEAST_LIKELY}
    around = [*asked.places, *filter(None, (_type_around(asked, each) for each in asked.about.definitions))]
    said = []
    if merely and not asked.admits(POSSIBLE):
        said.append(f"Merely possible: {len(merely):,} more; possible=true lists what that is.")
    if any(map(asked.graph.has_more_below, around)):
        said.append("More may implement an interface here than the graph looks at.")
    return " ".join(said) or None


def _type_around(asked: Asked, each: Placed) -> GraphDefinition | None:
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


def all_of(places: Collection[GraphDefinition], step: Step) -> dict[GraphDefinition, int]:
    """Where a step leads from some definitions, each with why that is not sure."""
    found: dict[GraphDefinition, int] = {}
    for each in places:
        for place, reason in step(each).items():
            found[place] = surer(reason, found.get(place, reason))
    return found


def steps(asked: Asked, places: Collection[GraphDefinition], step: Step) -> Iterator[dict[GraphDefinition, int]]:
    """Yield what each step of one way reaches first from some definitions, with why that is not sure."""
    reached, seen = dict.fromkeys(places, 0), {*places}
    for _ in range(asked.steps):
        further: dict[GraphDefinition, int] = {}
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


def placed(asked: Asked, found: Mapping[GraphDefinition, int], how: str, distance: int = 1) -> Iterator[RelatedEntry]:
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
            yield RelatedEntry(each.file, related)
