"""The tools and their answers as the broker knows them: a row for each. What a query worker does is in worker/tools/.

A tool or an answer without its row, or a row without its tool, is an error at import.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar, get_args

from fledgling.broker import fitting
from fledgling.broker.protocol import render
from fledgling.messages.answers import (
    AnyAnswer,
    Architecture,
    Context,
    DependencyGraph,
    Excerpt,
    Exploration,
    Hits,
    Ranking,
    Refusal,
    Relations,
    Summaries,
    SymbolList,
    Table,
)
from fledgling.messages.generations import CODE, EDGES, GRAPH, LISTING, TEXT, WORDS
from fledgling.messages.inner_answers import CandidateTexts, Found, Overview, Sifted
from fledgling.messages.profile import Profile
from fledgling.messages.questions import (
    QUESTIONS,
    Asked,
    Candidates,
    Dependencies,
    Explore,
    Inner,
    Query,
    Read,
    Reordered,
    Search,
    Sift,
    Survey,
    Symbols,
    asks_graph,
    name_of,
)

Q = TypeVar("Q", bound=Asked)
A = TypeVar("A", bound=Found)


class Fitting(NamedTuple, Generic[Q, A]):
    """An answer that a question may have, and what tells whether it fits: a worker may lie."""

    answer: type[A]
    fits: Callable[[Q, A, Profile], bool]


class Tool(NamedTuple, Generic[Q]):
    """A tool: its question, the answers it may have, and which generation of an index it needs.

    `use` is its line in the instructions of a server, `help_line` in README.md and where the command line lists its
    commands. `meanwhile` says what it answers already by an earlier generation than the last, and how it is called for
    that.
    """

    question: type[Q]
    answers: tuple[Fitting[Q, Any], ...]
    generation: Callable[[Q], int]
    use: str
    help_line: str
    meanwhile: Mapping[int, str] = MappingProxyType({})


class Form(NamedTuple, Generic[A]):
    """How an answer leaves: the lines of its text, and how many things of the project it names, which the log counts.

    `is_text` where an agent gets the text alone.
    """

    answer: type[A]
    lines: Callable[[A], Iterator[str]]
    rows: Callable[[A], int]
    is_text: bool = False


_ROWS: tuple[Tool[Any], ...] = (  # in the order of the command line's help
    Tool(
        Explore,
        (
            Fitting(Exploration, fitting.explores),
            Fitting(Summaries, fitting.summarizes),
            Fitting(Architecture, fitting.outlines),
        ),
        # A further page needs the generation of the first.
        generation=lambda asked: CODE if asked.detail != "map" else asked.continues or LISTING,
        use='explore() for the map of the project, with detail="architecture" for how it is built',
        help_line="The map: directories and files, sizes and languages",
        meanwhile={LISTING: "explore (from the list of files)", TEXT: "explore"},
    ),
    Tool(
        Search,
        (Fitting(Hits, fitting.searches), Fitting(SymbolList, fitting.lists), Fitting(Ranking, fitting.ranks)),
        generation=lambda asked: WORDS if asked.is_ranked else CODE if asked.kind or asked.has_tags else TEXT,
        use="search(query) for text, or for what it is about; with `kind` for definitions by name",
        help_line="Lines of text, definitions by name, or files by meaning",
        meanwhile={TEXT: "search (for text, without kind)", CODE: "search (for text, or with kind)"},
    ),
    Tool(
        Symbols,
        (Fitting(SymbolList, fitting.lists), Fitting(Relations, fitting.relates)),
        generation=lambda asked: GRAPH if asks_graph(asked) else CODE,
        use="symbols(path, kind) for definitions, with `symbol` and `relation` for callers, callees, usages and impact",
        help_line="Definitions of a file or by name; callers, usages, impact",
        meanwhile=dict.fromkeys((CODE, WORDS), "symbols (without relation)") | {GRAPH: "symbols"},
    ),
    Tool(
        Read,
        (Fitting(Excerpt, fitting.reads), Fitting(Context, fitting.gathers)),
        generation=lambda asked: GRAPH if asks_graph(asked) else CODE if asked.symbol else TEXT,
        use="read(path, symbol) for just one definition, with `budget_tokens` and what is around it",
        help_line="A file, some of its lines, or one definition",
        meanwhile={
            TEXT: "read (by path and lines, without symbol)",
            CODE: "read (without budget_tokens)",
            WORDS: "read (without budget_tokens)",
            GRAPH: "read",
        },
    ),
    Tool(
        Dependencies,
        (Fitting(DependencyGraph, fitting.depends),),
        generation=lambda _: CODE,
        use="dependencies(path) for what it imports and what imports it",
        help_line="What a file imports, and what imports it",
    ),
    Tool(
        Query,
        (Fitting(Table, fitting.queries),),
        generation=lambda asked: EDGES if asks_graph(asked) else CODE,
        use="query(sql) for one SELECT over files, content, symbols, imports, calls, refs, inherits",
        help_line="The rows of one SELECT, under a profile that allows SQL",
    ),
)

_FORMS: tuple[Form[Any], ...] = (
    Form(Exploration, render.exploration, lambda found: len(found.directories) + len(found.files)),
    Form(Summaries, render.summaries, lambda found: len(found.summaries)),
    Form(Architecture, render.architecture, lambda found: len(found.lines)),
    Form(Excerpt, render.excerpt, lambda found: len(found.lines), is_text=True),
    Form(Context, render.context, lambda found: len(found.lines), is_text=True),
    Form(Hits, render.hits, lambda found: sum(len(file.hits) for file in found.files)),
    Form(Ranking, render.ranking, lambda found: len(found.files)),
    Form(SymbolList, render.symbols, lambda found: sum(len(file.symbols) for file in found.files)),
    Form(
        Relations,
        render.relations,
        lambda found: len(found.definitions) + sum(len(file.related) for file in found.files),
    ),
    Form(
        DependencyGraph,
        render.graph,
        lambda found: sum(len(node.imports) + len(node.imported_by) for node in (found, *found.further)),
    ),
    Form(Table, render.table, lambda found: len(found.rows)),
)

TOOLS: dict[str, Tool[Any]] = {name_of(row.question): row for row in _ROWS}
FORMS: dict[type[AnyAnswer], Form[Any]] = {row.answer: row for row in _FORMS}
_FITTING: dict[tuple[type[Asked], type[Found]], Callable[[Any, Any, Profile], bool]] = {
    (Survey, Overview): fitting.surveys,  # of no tool: a person asks it of a broker
    (Sift, Sifted): fitting.sifts,  # nor these, which a broker asks itself
    (Candidates, CandidateTexts): fitting.offers,
    (Reordered, Ranking): fitting.reorders,
    **{(row.question, each.answer): each.fits for row in _ROWS for each in row.answers},
}


def _check() -> None:
    """Raise LookupError where a question or an answer lacks its row, or no tool gives an answer."""
    if lacking := QUESTIONS.keys() ^ TOOLS.keys():
        raise LookupError(f"tools that lack a question, or a row in {__name__}: {', '.join(sorted(lacking))}")
    given = {each.answer for row in _ROWS for each in row.answers}
    if lacking := {answer.__name__ for answer in {*get_args(AnyAnswer)} ^ FORMS.keys() | FORMS.keys() ^ given}:
        raise LookupError(f"answers that lack a tool, or a form in {__name__}: {', '.join(sorted(lacking))}")


_check()


def fits(question: Asked, found: Found | Refusal, profile: Profile) -> bool:
    """Return whether this is an answer to that question, or a refusal.

    >>> fits(Read("a.py"), Excerpt("b.py", "python", 1, ["x"], 1), profile)
    False
    """
    if isinstance(found, Refusal):
        return True
    fitting = _FITTING.get((type(question), type(found)))
    return fitting is not None and fitting(question, found, profile)


def generation(question: Asked) -> int:
    """Return the generation of an index that can answer: `generation(Search("timeout"))` is TEXT."""
    if isinstance(question, Inner):
        is_ranked = isinstance(question, Candidates | Reordered)
        return WORDS if is_ranked else GRAPH if asks_graph(question) else CODE
    return TOOLS[name_of(type(question))].generation(question)


def rows(answer: AnyAnswer) -> int:
    """Return how many things of the project an answer names: entries, lines, hits, definitions, imports or rows."""
    return FORMS[type(answer)].rows(answer)


def is_empty(answer: AnyAnswer) -> bool:
    """Return whether nothing was found."""
    return rows(answer) == 0


def is_text(answer: AnyAnswer) -> bool:
    """Return whether an agent gets the text of this answer alone: as JSON it would say nothing more."""
    return FORMS[type(answer)].is_text


def text(answer: AnyAnswer) -> str:
    """Return the answer as plain text: what a terminal shows, and what an agent gets for read."""
    return "\n".join([*render.opening(answer), *FORMS[type(answer)].lines(answer), *render.closing(answer)])
