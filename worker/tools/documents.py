"""Search in documents: the sections that are about what is asked."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import NamedTuple

from fledgling.messages.answers import Passage, Ranking, Why
from fledgling.messages.passages import filled, room
from fledgling.messages.questions import Search
from fledgling.plain import counted
from fledgling.worker.ranking.asked import AskedWords, asked
from fledgling.worker.ranking.corpus import Corpus
from fledgling.worker.ranking.features import literal
from fledgling.worker.ranking.sections import BLOCK_SECTIONS, SAID, DocumentSection, RankedSection, SectionRanker
from fledgling.worker.tools import empty_answers, unknown
from fledgling.worker.tools.request import Request, shown

NEAREST = 5  # that are named where none says what is asked: it may be said in other words
OF_ONE = 6  # sections of a document in an answer of ten, while there are others: its writer may head each by a question
BEST_LINES = 3  # of a section that are shown
SHOWN_WITH_LINES = 5  # sections whose best lines are shown: documents are read for what they say
LINE_CHARS, HEADING_CHARS = 200, 60
CUT = f"Where more than {BLOCK_SECTIONS} sections stand in one block of text, only the first of them are ranked."
IN_DOCUMENTS = 'Documents do: mode="docs" ranks their sections.'

NO_WORD = 'Nothing says this: single letters, numbers and signs are no words that are ranked; mode="text" finds them.'


class SaidInDocuments(NamedTuple):
    """Whether a section of a document says what is asked, and what was not looked at, if that matters."""

    is_said: bool
    note: str | None


def ranked(request: Request, question: Search, corpus: Corpus, rows: int, nearest: int) -> Ranking:
    """Answer with so many sections, or with the nearest where none says what is asked."""
    scope = unknown.scope(request, question.path, question.language)
    languages = request.opened.generation.documents
    documents = _documents(request, question)
    what = asked(question.query, question.also)
    sections = SectionRanker(corpus, what, documents, request.check)
    found = sections.ranked()
    is_said = _is_said(found[:rows])
    spread, passed = _spread(found, rows)
    best = spread if is_said else spread[:nearest]
    note = unknown.joined(
        None if is_said else _nothing(len(documents), is_near=bool(best)) if what.words else NO_WORD,
        CUT if sections.is_cut else None,
        request.partial if best else empty_answers.of_filters(request, question),
        unknown.of_unread(request, scope, "ranked", lambda file: file.language in languages) if best else None,
    )
    passages = [_passage(question, sections, what, section, at) for at, section in enumerate(best)]
    left = room(note) if question.is_default_many else inf
    return Ranking(
        [*filled(passages, _others(best, passed), left)],
        sections.total,
        "docs",
        note,
        total_is_lower_bound=not sections.is_whole,
    )


def say(request: Request, question: Search, corpus: Corpus) -> SaidInDocuments:
    """Return whether a section of a document says what is asked; where none does, what was not looked at."""
    sections = SectionRanker(corpus, asked(question.query, question.also), _documents(request, question), request.check)
    is_said = _is_said(sections.ranked())
    return SaidInDocuments(is_said, CUT if sections.is_cut and not is_said else None)


def _documents(request: Request, question: Search) -> list[int]:
    scope = unknown.scope(request, question.path, question.language)
    languages = request.opened.generation.documents
    return [file.number for name in languages for file in scope.files(request, request.blocks.in_language(name))]


def _is_said(found: Iterable[RankedSection]) -> bool:
    return any(section.said + section.score >= SAID for section in found)


def _spread(found: Sequence[RankedSection], rows: int) -> tuple[list[RankedSection], list[RankedSection]]:
    """Return so many of the first sections, few of a document while there are others, and those of it passed over."""
    of_document = Counter[int]()
    few, passed = list[int](), list[int]()
    for at, each in enumerate(found):
        if len(few) == rows:
            break
        number = each.section.file.number
        (few if of_document[number] < OF_ONE else passed).append(at)
        of_document[number] += 1
    left = rows - len(few)
    return [found[at] for at in sorted(few + passed[:left])], [found[at] for at in passed[left:]]


def _others(best: Sequence[RankedSection], passed: Sequence[RankedSection]) -> Iterator[list[tuple[int, str]]]:
    """Yield for each section, where it is the first of its document, those of it that were passed over."""
    named = defaultdict[int, list[tuple[int, str]]](list)
    for section, _, _ in passed:
        named[section.file.number].append((section.first, shown(_heading(section), HEADING_CHARS)))
    for each in best:
        yield named.pop(each.section.file.number, [])


def _heading(section: DocumentSection) -> str:
    return section.row.name if section.row else section.file.path.rpartition("/")[2]


def _nothing(documents: int, *, is_near: bool) -> str:
    return (
        f"Nothing in {counted(documents, 'document')} says this{'; the nearest sections are these' if is_near else ''}."
    )


def _passage(question: Search, sections: SectionRanker, asked: AskedWords, ranked: RankedSection, at: int) -> Passage:
    section, score = ranked.section, round(ranked.score, 2)
    row, file = section.row, section.file
    lines = sections.text(file, section.first, section.last).split(b"\n")
    lower = [line.lower() for line in lines]
    words = {word: [literal(form) for form, _ in forms] for word, forms in sections.forms.items()}
    counts = [sum(any(text in line for text in texts) for texts in words.values()) for line in lower]
    best = sorted(sorted(range(len(lines)), key=lambda place: -counts[place])[:BEST_LINES])
    why = None
    if question.explain:
        heading = (row.qualified_name if row else "").lower().encode()
        places = {"heading": [heading], "text": lower}
        where: dict[str, list[str]] = {}
        for word, forms in sections.forms.items():
            for form, _ in forms:
                found = [place for place, some in places.items() if any(literal(form) in line for line in some)]
                if form == word:
                    where[asked.form(word)] = found
                elif found:
                    where[f"{asked.form(word)} ~ {form.decode()}"] = found
        why = Why(where, at + 1, score, at + 1, score)
    return Passage(
        path=file.path,
        lines=(section.first, section.last),
        score=score,
        language=file.language,
        kind=row.kind if row else None,
        name=row.qualified_name if row else None,
        best=[
            (section.first + place, shown(lines[place].decode(), LINE_CHARS))
            for place in best
            if at < SHOWN_WITH_LINES and counts[place]
        ],
        why=why,
    )
