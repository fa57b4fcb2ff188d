"""What of a report tells of the call graph, and of circles: lists that open, each row found by the filter."""

from collections.abc import Iterable, Iterator
from html import escape

from fledgling.messages.inner_answers import CallGraph, CallHub, Circles, Neighbour
from fledgling.plain import counted, one_line


def calls(graph: CallGraph) -> Iterator[str]:
    """Yield what is called most, each with its neighbours, and the circles; what is not known is said."""
    yield "<h3>Functions most called</h3>"
    if graph.missing:
        yield _faint(graph.missing)
    if graph.languages:
        yield _faint(
            f"Calls are resolved in {', '.join(graph.languages)}, and in no other language of the project. Definitions "
            "that share a line are left out."
        )
        for hub in graph.hubs:
            yield from _hub(hub)
        if not graph.hubs:
            yield _faint("No call leads to a definition of the project.")
        yield "<h3>Circles of calls</h3>"
        yield from circles(graph.circles, "No function calls itself, nor by way of others.")


def _hub(hub: CallHub) -> Iterator[str]:
    least = "at least " if hub.callers_at_least else ""
    sure = "" if hub.certain_sites == hub.sites else f", {hub.certain_sites:,} certain"
    said = f"{hub.kind}, {least}{counted(hub.total_callers, 'caller')}, {counted(hub.sites, 'call')}{sure}"
    yield (
        f'<details data-name="{shown(f"{hub.name} {hub.path}")}"><summary>{shown(hub.name)} '
        f'<span class="faint">{shown(f"{hub.path}:{hub.line}, {said}")}</span></summary>'
    )
    yield from _neighbours("is called by", hub.callers, hub.total_callers)
    yield from _neighbours("calls", hub.callees, hub.total_callees)
    yield "</details>"


def _neighbours(what: str, some: Iterable[Neighbour], total: int) -> Iterator[str]:
    count = 0
    for each in some:
        count += 1
        place = f' <span class="faint">{shown(_place(each))}</span>' if each.name else ""
        doubt = f' <span class="faint">({shown(each.confidence)})</span>' if each.confidence else ""
        yield f'<p><span class="faint">{what}</span> {shown(each.name or each.path)}{place}{doubt}</p>'
    if total > count:
        yield _faint(f"{what} {total - count:,} more")


def circles(some: Circles, none: str) -> Iterator[str]:
    """Yield circles, each as a paragraph that begins with its size; `none` is said where there are none."""
    if some.missing:
        yield _faint(some.missing)
    elif not some.total:
        yield _faint(none)
    for size, members in zip(some.sizes, some.members, strict=True):
        names = " ".join(f"{each.name or ''} {each.path}" for each in members)
        more = f' <span class="faint">and {size - len(members):,} more</span>' if size > len(members) else ""
        listed = " · ".join(map(_member, members))
        yield f'<p data-name="{shown(names)}"><span class="faint">{size:,} —</span> {listed}{more}</p>'
    if some.total > len(some.sizes):
        yield _faint(f"And {counted(some.total - len(some.sizes), 'more circle')}.")


def _member(each: Neighbour) -> str:
    if not each.name:
        return shown(each.path)
    return f'{shown(each.name)} <span class="faint">{shown(_place(each))}</span>'


def _place(each: Neighbour) -> str:
    return f"{each.path}:{each.line}"


def _faint(words: str) -> str:
    return f'<p class="faint">{shown(words)}</p>'


def shown(words: str) -> str:
    """Return words as HTML, with what is not printable shown as what it is."""
    return escape(one_line(words))
