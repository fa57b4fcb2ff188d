"""What calls what in the whole project, as a report shows it: what is called most with its neighbours, and circles."""

from collections.abc import Iterable, Mapping, Sequence

from fledgling.messages.inner_answers import CallGraph, CallHub, Circles, Neighbour
from fledgling.worker.of_tests import is_test
from fledgling.worker.store.graph import CALLS, NO_GRAPH, PLACE_BITS, SURE, Graph, GraphDefinition, Occurrence, unpacked
from fledgling.worker.tools import definitions, unknown
from fledgling.worker.tools.components import circles
from fledgling.worker.tools.links import links
from fledgling.worker.tools.meant import Placed
from fledgling.worker.tools.relations import NO_LANGUAGE
from fledgling.worker.tools.request import Request, shown

PATH_CHARS = 200  # of a path or a name that is shown
SHOWN_HUBS = 30
SHOWN_NEIGHBOURS = 12  # of a hub: those that call it, and those that it calls
SHOWN_CIRCLES = 20
SHOWN_MEMBERS = 12  # of a circle
MOST_SITES = 2000  # calls of one hub whose callers are looked up: some 10 microseconds each
MOST_ROWS = 1_000_000  # of a graph that is searched for circles: a second or two, and some 50 MB
LINE_BITS = 32  # of a number that stands for a definition: its file, and the line where it begins with its place there

TOO_MANY = f"Circles of calls are not looked for: the graph has more than {MOST_ROWS:,} names."


def of_imports(request: Request) -> Circles:
    """Return the circles of files that import each other; documents that link to each other are none."""
    documents = request.opened.generation.documents
    leads: dict[str, list[str]] = {}
    for path, target in links(request).files:
        leads.setdefault(path, []).append(target)
    files = ((each, request.blocks.find(each[0])) for each in circles(leads))
    found = sorted(
        (each for each, file in files if file and file.language not in documents), key=lambda each: (-len(each), each)
    )
    members = [[Neighbour(shown(path, PATH_CHARS)) for path in each[:SHOWN_MEMBERS]] for each in found[:SHOWN_CIRCLES]]
    return Circles(len(found), [len(each) for each in found[:SHOWN_CIRCLES]], members)


def of_calls(request: Request) -> CallGraph:
    """Return the calls that are certain or likely; where the graph lacks something, the answer says what."""
    graph, known = request.graph, request.opened.generation
    if not graph or not known.related:
        return CallGraph(missing=known.unrelated or NO_LANGUAGE)
    hubs = [_hub(request, graph, each, sites) for each, sites in _most_called(request, graph)]
    missing = unknown.joined(known.unrelated, known.unfollowed)
    return CallGraph([*known.related], hubs, _circles(request, graph), missing)


def _most_called(request: Request, graph: Graph) -> list[tuple[Placed, Sequence[Occurrence]]]:
    """Return what is called most, each with its calls: those that are certain count before the likely ones.

    There are no more calls of a definition than uses, so those with few uses are not looked at. What is not told apart
    from others on its line is left out.
    """
    found: list[tuple[tuple[int, int], Placed, Sequence[Occurrence]]] = []
    for uses, target in graph.targets():
        request.check()
        if len(found) == SHOWN_HUBS and (uses, uses) <= found[-1][0]:
            break
        sites = [row for row in graph.leading_to(target) if row.use in CALLS and row.confidence in SURE]
        each = definitions.at(request, target) if sites else None
        if each and definitions.place(request, each) == target:
            found = [*found, (_weight(sites), each, sites)]
            found = sorted(found, key=lambda hub: hub[0], reverse=True)[:SHOWN_HUBS]
    return [(each, sites) for _, each, sites in found]


def _weight(sites: Sequence[Occurrence]) -> tuple[int, int]:
    """Return how many calls are certain, and how many there are."""
    return sum(row.confidence == "certain" for row in sites), len(sites)


def _hub(request: Request, graph: Graph, each: Placed, sites: Sequence[Occurrence]) -> CallHub:
    callers = _callers(request, graph, sites[:MOST_SITES])
    callees = _callees(request, graph, each)
    return CallHub(
        path=shown(each.file.path, PATH_CHARS),
        name=shown(each.row.qualified_name, PATH_CHARS),
        kind=each.row.kind,
        line=each.row.line_start,
        sites=len(sites),
        certain_sites=_weight(sites)[0],
        total_callers=len(callers),
        total_callees=len(callees),
        callers=callers[:SHOWN_NEIGHBOURS],
        callees=callees[:SHOWN_NEIGHBOURS],
        callers_at_least=len(sites) > MOST_SITES,
    )


def _callers(request: Request, graph: Graph, sites: Iterable[Occurrence]) -> list[Neighbour]:
    """Return the definitions that calls are in, or the files where they are in none: tests last, the certain first."""
    found: dict[GraphDefinition, tuple[Placed | None, list[Occurrence]]] = {}
    for row in sites:
        request.check()
        around = definitions.around(request, graph, row)
        place = definitions.place(request, around) if around else GraphDefinition(row.file, 0)
        found.setdefault(place, (around, []))[1].append(row)
    callers = [
        _neighbour(request, place, around, min(row.confidence for row in rows))
        for place, (around, rows) in found.items()
    ]
    return sorted(callers, key=lambda each: (is_test(each.path), each.confidence is not None, each.path, each.line))


def _callees(request: Request, graph: Graph, hub: Placed) -> list[Neighbour]:
    """Return what is called within a definition, in the order of its lines."""
    found: dict[GraphDefinition, list[Occurrence]] = {}
    for row in definitions.inside(request, graph, hub):
        if row.use in CALLS and row.confidence in SURE and row.target:
            found.setdefault(row.target, []).append(row)
    request.check()
    placed = {target: definitions.at(request, target) for target in found}
    return [
        _neighbour(request, target, each, min(row.confidence for row in found[target]))
        for target, each in placed.items()
        if each
    ]


def _circles(request: Request, graph: Graph) -> Circles:
    """Return the definitions that call themselves, mostly by way of others."""
    if graph.rows() > MOST_ROWS:
        return Circles(missing=TOO_MANY)
    found = sorted(circles(_leads(request, graph), with_own=True), key=lambda each: (-len(each), each))
    members = [[_member(request, key) for key in each[:SHOWN_MEMBERS]] for each in found[:SHOWN_CIRCLES]]
    return Circles(len(found), [len(each) for each in found[:SHOWN_CIRCLES]], members)


def _leads(request: Request, graph: Graph) -> Mapping[int, set[int]]:
    """Return what each definition calls, by numbers."""
    assert request.outlines
    leads: dict[int, set[int]] = {}
    for file in request.blocks.below(""):
        if graph.how_far(file.number) == NO_GRAPH:
            continue
        request.check()
        called = [*graph.calls(file.number)]
        lines = request.outlines.enclosing(file, (line for _, line, _ in called))
        for begin, (number, _, target) in zip(lines, called, strict=True):
            around = graph.around(number) or GraphDefinition(file.number, begin)
            if around.line:
                leads.setdefault(_key(around._replace(file=file.number)), set()).add(_key(target))
    return leads


def _key(each: GraphDefinition) -> int:
    """Return a number that stands for a definition; those of one file follow its lines."""
    return each.file << LINE_BITS | each.line << PLACE_BITS | each.place


def _member(request: Request, key: int) -> Neighbour:
    place = unpacked(key >> LINE_BITS, key & (1 << LINE_BITS) - 1)
    return _neighbour(request, place, definitions.at(request, place), "certain")


def _neighbour(request: Request, place: GraphDefinition, each: Placed | None, confidence: str) -> Neighbour:
    path = shown(request.blocks.file(place.file).path, PATH_CHARS)
    name = shown(each.row.qualified_name, PATH_CHARS) if each else None
    return Neighbour(path, name, place.line, None if confidence == "certain" else confidence)
