"""Search in documents: the sections that are about what is asked."""

from collections.abc import Iterable
from itertools import repeat
from math import inf
from typing import NamedTuple

from fledgling.messages.answers import Passage, Ranking, Why
from fledgling.messages.passages import filled, room
from fledgling.messages.questions import Search
from fledgling.plain import counted
from fledgling.worker.ranking.asked import AskedWords, asked
from fledgling.worker.ranking.corpus import Corpus
from fledgling.worker.ranking.features import literal
from fledgling.worker.ranking.sections import BLOCK_SECTIONS, SAID, RankedSection, SectionRanker
from fledgling.worker.tools import empty_answers, unknown
from fledgling.worker.tools.request import Request, shown

NEAREST = 5  # that are named where none says what is asked: it may be said in other words
BEST_LINES = 3  # of a section that are shown
SHOWN_WITH_LINES = 5  # sections whose best lines are shown: documents are read for what they say
LINE_CHARS = 200
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
    best = found[: rows if is_said else min(rows, nearest)]
    note = unknown.joined(
        None if is_said else _nothing(len(documents), is_near=bool(best)) if what.words else NO_WORD,
        CUT if sections.is_cut else None,
        request.partial if best else empty_answers.of_filters(request, question),
        unknown.of_unread(request, scope, "ranked", lambda file: file.language in languages) if best else None,
    )
    passages = [_passage(question, sections, what, section, at) for at, section in enumerate(best)]
    left = room(note) if question.is_default_many else inf
    return Ranking(
        [*filled(passages, repeat(()), left)],
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
