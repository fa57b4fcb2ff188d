"""Who uses a definition and what it calls, step by step, by the occurrences of names in the graph."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from fledgling.messages.answers import Related
from fledgling.plain import counted
from fledgling.worker.of_tests import is_test
from fledgling.worker.rows import OF_MANY_OVERLOADS, OF_OVERLOADS
from fledgling.worker.store.graph import CALLS, SURE, GraphDefinition, Occurrence
from fledgling.worker.store.symbols import Row
from fledgling.worker.store.text import File
from fledgling.worker.tools import definitions, occurrences, unknown
from fledgling.worker.tools.hierarchy import all_of, placed, steps, unsure
from fledgling.worker.tools.meant import Placed
from fledgling.worker.tools.related import MOST, POSSIBLE, SHOWN_CHARS, SHOWN_NAMES, Asked, RelatedEntries, RelatedEntry
from fledgling.worker.tools.request import shown
from fledgling.worker.unnamed import FUNCTIONS, is_given, is_run, is_tested, taker

SHOWN_READ = 3  # places where a function is handed over
MOST_STEPS = 10  # that a question may ask for


def callers(asked: Asked) -> RelatedEntries:
    """Find the calls of a definition, and the calls of those who call it, step by step."""
    found = _stepwise(asked, lambda row: row.use in CALLS)
    return found._replace(note=unknown.joined(found.note, _handed_over(asked), _unlisted(asked, found)))


def usages(asked: Asked) -> RelatedEntries:
    """Find whatever names a definition but itself, and what names that, step by step."""
    found = _stepwise(asked, lambda row: not occurrences.is_definition(row))
    return found._replace(note=unknown.joined(found.note, _unlisted(asked, found)))


def impact(asked: Asked) -> RelatedEntries:
    """Find what may break where a definition changes: uses, uses of what uses it, and what takes its place."""
    found = _stepwise(asked, lambda row: not occurrences.is_definition(row), only_runs=True)
    near = [entry for entry in found.entries if entry.related.how != "import" or entry.related.distance == 1]
    graph = asked.graph
    ways = [("override", *each) for each in enumerate(steps(asked, asked.places, graph.overriding), 1)]
    ways.append(("derived", 1, all_of(asked.places, graph.derived)))
    also = [entry for how, distance, places in ways for entry in placed(asked, places, how, distance)]
    note = unknown.joined(found.note, unsure(asked, [places for *_, places in ways]), _unlisted(asked, found))
    return RelatedEntries([*near, *also], note)


def _stepwise(asked: Asked, is_meant: Callable[[Occurrence], bool], *, only_runs: bool = False) -> RelatedEntries:
    """Follow uses from definition to definition, breadth first; each is expanded once.

    Further away than one step a definition is listed once, with the first line that leads there; if `only_runs`,
    no assignment to a property leads there that runs none of it.
    """
    entries: list[RelatedEntry] = []
    reached = asked.places
    seen = {*reached}
    for distance in range(1, asked.steps + 1):
        found = [*_uses(asked, reached, distance, is_meant, only_runs=only_runs and distance > 1)]
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
            return RelatedEntries(
                entries, f"Cut at {MOST:,} uses: what is more than {distance} steps away is not followed."
            )
    return RelatedEntries(entries, _further(asked, reached, is_meant))


def _unlisted(asked: Asked, found: RelatedEntries) -> str | None:
    """Say what else may run a definition than what is found."""
    return unknown.joined(_through(asked), _unnamed(asked), None if found.entries else _registered(asked))


def _registered(asked: Asked) -> str | None:
    """Say what may run a definition: a decorator or annotation above it, which hands it on, or what runs tests."""
    for file, row in asked.about.definitions:
        known = occurrences.unnamed_of(asked.request, file)
        if above := taker(known, row.kind, occurrences.head(asked.request, file, row)):
            return f"`{above}` stands above it and may use it ({file.path}:{row.line_start})."
        if not is_run(known, row.kind, row.name) and (bases := _bases_outside(asked, file, row)):
            return f"Bases of its class, outside of the index or not resolved, may call it: {unknown.listed(bases)}."
        if is_tested(file.path, row.kind, row.name):
            return f"A runner of tests may run it by its name ({file.path}:{row.line_start})."
    return None


def _bases_outside(asked: Asked, file: File, row: Row) -> list[str]:
    """The classes outside that the class of a method is derived from, at whatever distance."""
    if row.kind != "method" or occurrences.is_constructor(row) or not asked.request.outlines:
        return []
    owner = row.qualified_name.rpartition(".")[0]
    rows = [each for each in asked.request.outlines.definitions(file) if each.qualified_name == owner]
    reached = [definitions.place(asked.request, Placed(file, each)) for each in rows]
    for each in reached:  # which grows
        reached += [up for up in asked.graph.bases(each) if up not in reached][
            : max(0, definitions.MAX_ABOVE - len(reached))
        ]
    plain = occurrences.unnamed_of(asked.request, file).plain
    names = dict.fromkeys(name for each in reached for name in asked.graph.bases_outside(each))
    return [f"`{shown(name, SHOWN_CHARS)}`" for name in names if name and name.rpartition(".")[2] not in plain]


def _through(asked: Asked) -> str | None:
    """Say which calls of what a method overrides may run it and are not listed."""
    listed = {row[1:4] for each in asked.places for row in asked.graph.leading_to(each) if asked.admits(row.confidence)}
    names, places, calls = [], [], 0
    for above in _overridden(asked):
        rows = [row for row in asked.graph.leading_to(above) if row.use in CALLS and row.confidence in SURE]
        some = sum(_may_run(asked, site) for site in {row[1:4] for row in rows} - listed)
        if some and (each := definitions.at(asked.request, above)):
            names.append(f"`{each.row.qualified_name}`")
            places.append(f"{names[-1]} ({each.file.path}:{each.row.line_start})")
            calls += some
    if not places:
        return None
    these, asked_of = "that" if len(places) == 1 else "these", unknown.listed([*dict.fromkeys(names)])
    many = f"{counted(calls, 'call')} of {these} may run it: ask for the callers of {asked_of}"
    return f"It overrides {unknown.listed(places)}, and {many}."


def _handed_over(asked: Asked) -> str | None:
    """Say where a function is named and not called: `map(f, a)`, `table[a] = f`. Whatever gets it may call it."""
    if any(each.row.kind not in FUNCTIONS for each in asked.about.definitions):
        return None
    rows = [row for each in asked.places for row in asked.graph.leading_to(each)]
    sure = [row for row in rows if row.confidence in SURE]
    called = {(row.file, row.line) for row in sure if row.use in CALLS}  # `Depends(f)`, `f.delay()` are listed
    read = sorted({(row.file, row.line) for row in sure if row.use == "read"} - called)
    if not read:
        return None
    named = ((asked.request.blocks.path(file), line) for file, line in read)
    places = [f"{path}:{line}" for path, line in sorted(named, key=lambda place: is_test(place[0]))[:SHOWN_READ]]
    more = ", ..." if len(read) > SHOWN_READ else ""
    many = f"in {counted(len(read), 'place')} ({', '.join(places)}{more})"
    return f"It is named without a call {many}: what gets it there may call it."


def _unnamed(asked: Asked) -> str | None:
    """Say that a function may run where nothing names it: `__add__` by `a + b`, a fixture by a computed name."""
    for place, (file, row) in zip(asked.places, asked.about.definitions, strict=True):
        if row.kind not in FUNCTIONS:
            continue
        known = occurrences.unnamed_of(asked.request, file)
        if is_run(known, row.kind, row.name):
            how = "(an operator, a loop, a conversion, the language or its library)"
            return f"Code may run `{row.name}` without naming it {how}: such places are found in part at most."
        if occurrences.is_constructor(row) and occurrences.is_derived_from(asked.request, place):
            return f"Constructors of classes below may run `{row.name}` without naming it: such places are not found."
        if is_given(known, next(occurrences.head(asked.request, file, row), "")):
            ask = f'search(query="{row.name}", whole_word=true)'
            return f"Parameters called `{row.name}` elsewhere may be given what it returns, too: {ask} finds them."
    return None


def _may_run(asked: Asked, site: tuple[int, int, int]) -> bool:
    """Whether a call at a file, line and column may run what is asked about, or one of more than are listed."""
    return any(row.target in asked.places or row.confidence == "unresolved" for row in asked.graph.at(*site))


def _overridden(asked: Asked) -> list[GraphDefinition]:
    """The methods in whose place those come that are asked about, and in whose place these come."""
    found, reached = dict.fromkeys(asked.places), asked.places
    while reached and len(found) < MOST:
        reached = [above for above in all_of(reached, asked.graph.overridden) if above not in found]
        found |= dict.fromkeys(reached)
    return [*found][len(set(asked.places)) :]


def _further(asked: Asked, reached: Sequence[GraphDefinition], is_meant: Callable[[Occurrence], bool]) -> str | None:
    """Say how many of the definitions that were reached are used in turn."""
    if asked.question.relation != "impact":
        return None
    used = sum(any(map(is_meant, asked.graph.leading_to(each))) for each in reached)
    follow = f"depth={asked.steps + 1} follows it" if asked.steps < MOST_STEPS else "ask about that"
    return f"{used:,} of what is {counted(asked.steps, 'step')} away is used in turn: {follow}." if used else None


def _uses(
    asked: Asked,
    places: Sequence[GraphDefinition],
    distance: int,
    is_meant: Callable[[Occurrence], bool],
    *,
    only_runs: bool,
) -> Iterator[tuple[RelatedEntry, GraphDefinition | None]]:
    """Yield the uses of definitions, one for each line and definition that it is in, with that."""
    found: list[Occurrence] = []
    for each in places:
        rows = [_settled(asked, row, places) for row in asked.graph.leading_to(each) if is_meant(row)]
        found += _running(asked, each, rows) if only_runs else rows
    some: dict[tuple[int, int, GraphDefinition | None], list[Occurrence]] = {}
    for row in sorted(found, key=lambda row: (row.file, row.line, row.column, row.confidence)):
        if asked.admits(row.confidence):
            some.setdefault((row.file, row.line, asked.graph.around(row.number)), []).append(row)
    for (number, *_), rows in some.items():
        asked.request.check()
        best = min(rows, key=lambda row: (row.confidence, row.column))
        around = definitions.around(asked.request, asked.graph, best)
        entry = _use(asked, asked.request.blocks.file(number), best, around, distance)
        yield entry, definitions.place(asked.request, around) if around else None


def _settled(asked: Asked, row: Occurrence, places: Sequence[GraphDefinition]) -> Occurrence:
    """A row, which is likely where it may mean many overloads, and no other than some that are asked together."""
    if row.reason != OF_MANY_OVERLOADS or not occurrences.means_one_of(asked.graph.at(*row[1:4]), places):
        return row
    return row._replace(confidence="likely", reason=OF_OVERLOADS)


def _running(asked: Asked, place: GraphDefinition, rows: list[Occurrence]) -> list[Occurrence]:
    """The uses of a definition that run it: what is read is a getter, and no assignment runs that but `a.b += c`."""
    others = [row for row in rows if row.use != "write" or occurrences.is_read_too(asked.request, row)]
    if not others or len(others) == len(rows):
        return rows
    each = definitions.at(asked.request, place)
    return others if each and each.row.kind in FUNCTIONS else rows


def _use(asked: Asked, file: File, row: Occurrence, around: Placed | None, distance: int) -> RelatedEntry:
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
    return RelatedEntry(file, related)


# ---- what a definition calls ----------------------------------------------------------------------------------------


def callees(asked: Asked) -> RelatedEntries:
    """Find what a definition calls, and what that calls, step by step; and how much of it leads out of the project."""
    entries: list[RelatedEntry] = []
    reached, seen = asked.about.definitions, {*asked.places}
    unlisted: list[Occurrence] = []  # of what it calls itself, what no outline has: functions without a name
    for distance in range(1, asked.steps + 1):
        called: dict[GraphDefinition, list[Occurrence]] = {}
        for each in reached:
            asked.request.check()
            for row in definitions.inside(asked.request, asked.graph, each):
                is_new = row.target not in seen or distance == 1
                if row.use in CALLS and row.target and is_new and asked.admits(row.confidence):
                    called.setdefault(row.target, []).append(row)
        found = [(definitions.at(asked.request, target), rows) for target, rows in called.items()]
        placed = [(each, rows) for each, rows in found if each]
        unlisted += [row for each, rows in found if not each and distance == 1 for row in rows]
        for each, rows in placed:
            entries += _callee(asked, each, rows, distance)
        seen |= called.keys()
        reached = [each for each, _ in placed]
        if len(entries) > MOST:
            break
    return RelatedEntries(entries, _unresolved(asked, unlisted))


def _callee(asked: Asked, each: Placed, rows: Sequence[Occurrence], distance: int) -> Iterator[RelatedEntry]:
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
        yield RelatedEntry(each.file, related)


def _unresolved(asked: Asked, unlisted: Sequence[Occurrence]) -> str:
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
    if unlisted:
        said += f"Of what is no definition in the index: {_named(asked, unlisted)}. "
    if computed := _computed(asked):
        said += f"Names are computed at run time in {', '.join(computed)}: what they run need not be listed. "
    return f"{said}Calls of what the project does not define are not listed."


def _computed(asked: Asked) -> list[str]:
    """Return the first lines of a definition on which a name is computed that no row tells."""
    lines = {
        (each.file.path, line): None
        for each in asked.about.definitions
        for line in asked.graph.computed_in(each.file.number)
        if each.row.line_start <= line <= each.row.line_end
    }
    return [f"{path}:{line}" for path, line in [*lines][:SHOWN_NAMES]]


def _named(asked: Asked, calls: Sequence[Occurrence]) -> str:
    """How many calls there are, and of which names most."""
    names = Counter(occurrences.word_at(asked.request, row) for row in calls)
    shown_names = ", ".join(name for name, _ in names.most_common(SHOWN_NAMES))
    return f"{counted(len(calls), 'call')} ({shown_names}{', ...' if len(names) > SHOWN_NAMES else ''})"
