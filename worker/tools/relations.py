"""What is related to a definition: who calls it, what it calls, where it is used, what it is derived from, what breaks
if it changes. Every answer accounts for all occurrences of the name.
"""

from collections.abc import Callable, Sequence
from itertools import groupby

from fledgling.messages.answers import Defined, FileRelated, Relations
from fledgling.messages.cursors import offset_of
from fledgling.messages.questions import Relation, Symbols
from fledgling.worker.store.graph import ANY_OF_LINE, LEFT_OUT, NO_GRAPH, Graph
from fledgling.worker.store.text import File
from fledgling.worker.tools import accounts, definitions, occurrences, unknown
from fledgling.worker.tools.hierarchy import hierarchy, overrides
from fledgling.worker.tools.meant import FIELDS, Placed, others
from fledgling.worker.tools.modules_of_tests import ModulesOfTests
from fledgling.worker.tools.related import Asked, RelatedEntries, RelatedEntry, in_order
from fledgling.worker.tools.request import Refused, Request, continuing, cut_page
from fledgling.worker.tools.uses import callees, callers, impact, usages

NO_LANGUAGE = "Uses of definitions are resolved in no language of this project."

FINDERS: dict[Relation, Callable[[Asked], RelatedEntries]] = {
    "callers": callers,
    "callees": callees,
    "usages": usages,
    "hierarchy": hierarchy,
    "overrides": overrides,
    "impact": impact,
}


def relations(request: Request, question: Symbols) -> Relations:
    """Answer with what is related to the definition that `symbol` names."""
    assert question.relation
    named = definitions.named(request, question)
    if request.is_early:
        definitions.chosen(question, named)
        raise definitions.early()
    graph = _graph(request, named)
    about = definitions.chosen(question, named)
    _refuse_unrelated(request, graph, about.definitions)
    asked = Asked(request, graph, question, about)
    found = FINDERS[question.relation](asked)
    entries = in_order(ModulesOfTests(request), found.entries)
    offset = offset_of(question.cursor)
    page = cut_page(entries[offset : offset + question.max_results], request)
    counted = occurrences.account(request, about.name, asked.places, of_texts=not entries)
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
            _unfollowed(asked, counted),
            found.note,
            accounts.of_arguments(counted) if _is_field(asked) else None,
            _not_parsed(asked),
            _together(asked),
            others(about.others),
            unseen(request, about.definitions[0].file),
            occurrences.of_parsing(request, [each.file for each in about.definitions]),
        ),
    )


def _is_field(asked: Asked) -> bool:
    """Whether the question is about uses of what an object has, and is no method."""
    is_of_uses = asked.question.relation in ("usages", "impact")
    return is_of_uses and any(each.row.parent_name and each.row.kind in FIELDS for each in asked.about.definitions)


def _unfollowed(asked: Asked, counted: accounts.Account) -> str | None:
    """Say that arguments are not followed, where a use may be missing by it: none is above or below a class,
    nor one step away, if of each occurrence of the name it is known what it is, and none is without a call.
    """
    if asked.question.relation in ("hierarchy", "overrides"):
        return None
    is_near = asked.question.relation != "callees" and asked.steps == 1 and counted.is_whole
    rows = (row for each in asked.places for row in asked.graph.leading_to(each))
    in_doubt = counted.unknown or counted.classes["possible"] or any(row.use == "read" for row in rows)
    is_told = is_near and not in_doubt
    return None if is_told else asked.request.opened.generation.unfollowed


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
        known.unrelated,
        request.partial,
        unknown.of_unread(request, everywhere, "looked into", lambda each: unknown.family(request, each) == family),
    )


def _graph(request: Request, named: Sequence[Placed]) -> Graph:
    """Return the graph, or refuse a question that it has no answer to whichever definition is meant."""
    known = request.opened.generation
    if not request.graph or not known.related:
        raise Refused("not_indexed", (known.unrelated or NO_LANGUAGE).rstrip("."), _as_text(named[0].row.name))
    _refuse_unrelated(request, request.graph, named)
    return request.graph


def _refuse_unrelated(request: Request, graph: Graph, named: Sequence[Placed]) -> None:
    """Refuse a question about definitions in a language without a graph, or in files that are not in it."""
    file, as_text = named[0].file, _as_text(named[0].row.name)
    if all(graph.how_far(each.file.number) == LEFT_OUT for each in named):
        why = (request.opened.generation.unrelated or "").rstrip(".")
        raise Refused("not_indexed", f"{file.path} is not in the graph: {why}", as_text)
    if all(graph.how_far(each.file.number) == NO_GRAPH for each in named):
        related = ", ".join(request.opened.generation.related)
        why = f"uses of definitions are not resolved in {file.language} ({file.path}), but in {related}"
        raise Refused("not_indexed", why, as_text)


def _as_text(name: str) -> str:
    return f'search(query="{name}", whole_word=true, case_sensitive=true) finds them as text.'


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


def _account(entries: Sequence[RelatedEntry], counted: accounts.Account, asked: Asked) -> str:
    is_of_uses = asked.question.relation not in ("callees", "hierarchy")
    counted = counted if is_of_uses else counted._replace(inferred=())
    said = accounts.sentence(counted, names_texts=is_of_uses and not entries)
    if entries:
        return said
    unseen = accounts.of_computed(counted)
    outside = f"; uses outside the project cannot be seen{unseen}" if is_of_uses else ""
    return f"none; {said}{outside}"
