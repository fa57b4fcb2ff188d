"""Search by meaning: the files that are about what is asked, each with its best definition and lines."""

from collections.abc import Iterator, Mapping, Set
from functools import partial
from math import inf
from typing import NamedTuple

import numpy as np

from fledgling.messages.answers import Hits, Passage, Ranking, Why
from fledgling.messages.generations import WORDS
from fledgling.messages.passages import SHOWN_WITH_LINES, filled, room
from fledgling.messages.questions import Search
from fledgling.plain import counted, lines_in_short, said
from fledgling.worker.arrays import NDArray
from fledgling.worker.ranking import passages
from fledgling.worker.ranking.asked import asked
from fledgling.worker.ranking.corpus import Corpus
from fledgling.worker.ranking.features import literal
from fledgling.worker.ranking.fusing import fused
from fledgling.worker.ranking.rank import MOST, FileOrder, RankedFile, is_aside, rank, where
from fledgling.worker.store.symbols import Row
from fledgling.worker.store.text import File
from fledgling.worker.tools import documents, empty_answers, tags, unknown
from fledgling.worker.tools.request import Refused, Request, shown
from fledgling.worker.words import Field

ROWS = 13  # passages of an answer of which no number is asked for: more leave no room for their definitions
SECTIONS = 10  # likewise, of documents
NEAREST = 5  # that are named where none says what is asked: it may be said in other words
LINE_CHARS, SIGNATURE_CHARS, NAME_CHARS = 140, 120, 60
NO_LINE = 'No line holds this text; mode="text" would say so.'
NOTHING = "Nothing says this"
NEITHER, NO_CODE = "Search by meaning finds nothing, either", "Search by meaning finds no code, either"
IN_DOUBT = "Little of this is said in any one place: it may not be there."
BESIDE_CODE = 'Only documents and tests hold this text: mode="meaning" ranks the files of code.'
DOCUMENTS_TOO = 'Documents say it, too: mode="docs" ranks their sections.'
OF_DATA = 'There is more data than code, and it is not ranked ({}): mode="text" finds a word in it.'
LATER = 'Files are ranked by meaning once their words are counted: mode="meaning" waits for them.'
ONLY_NAMES = "Files are ranked by their names, definitions and text alone: views of this profile leave out rows."

_PLACES = {Field.BASE: "name", Field.DIRECTORY: "directory", Field.DEFINITION: "definition", Field.COMMENT: "comment"}


class Ranked(NamedTuple):
    """An answer by meaning, and whether a file says what is asked: else it has the nearest."""

    answer: Ranking
    is_said: bool


def ranked(request: Request, question: Search) -> Ranking:
    """Answer with the files that are about what is asked, or sections; where none says it, with the nearest, and so."""
    if question.mode == "docs":
        return documents.ranked(request, question, corpus_of(request), _rows(question, SECTIONS), documents.NEAREST)
    return _ranked(request, question).answer


def again(request: Request, question: Search, near: Mapping[str, float]) -> Ranking | None:
    """Return the answer with its files in another order, by how near each is, too; None where no file says it."""
    found, is_said = _ranked(request, question, near, None if question.is_ranked else NO_LINE)
    return found if is_said else None


def order_of(request: Request, question: Search, tagged: Set[int] | None) -> FileOrder:
    """Return the files that answer a question by meaning, the best first; of those that tags have left, if any are."""
    corpus = corpus_of(request)
    leaves = _leaves(request, question, corpus)
    if tagged is not None:
        leaves = leaves & np.fromiter((file in tagged for file in range(corpus.files)), np.bool_, corpus.files)
    return rank(corpus, asked(question.query, question.also), leaves, request.check)


def _ranked(request: Request, question: Search, near: Mapping[str, float] = {}, before: str | None = None) -> Ranked:
    """Answer; `before` begins the note, which leaves that much less room."""
    tagged = tags.left(request, question)
    order = order_of(request, question, tagged)
    is_said = order.is_said
    if near:
        shares = [near.get(request.blocks.path(each.file)) for each in order.ranked]
        order = order._replace(ranked=fused(order.ranked, shares))
    rows = _rows(question, ROWS)
    best = order.ranked[: rows if is_said else min(NEAREST, rows)]
    found = [_passage(request, question, order, each, at) for at, each in enumerate(best)]
    asked_of = unknown.scope(request, question.path, question.language)
    given_up = unknown.given_up(request, asked_of)
    shown = [file for each in found if (file := request.blocks.find(each.path)) and file not in given_up]
    note = unknown.joined(
        before,
        tags.note(request, question, tagged),
        None if order.is_sure else _doubt(request, question, order, found),
        _unknown(order) if found else None,
        ONLY_NAMES if request.profile.narrows_rows else None,
        request.partial if found else None,
        unknown.of_paths(request, question.path),
        unknown.of_parsing(request, shown, "passages may end too early"),
        unknown.of_parsing(request, given_up, "their words are not known"),
        unknown.of_unread(request, asked_of, "ranked") if found else None,
        DOCUMENTS_TOO if is_said and _is_of_documents(request, question) else None,
        _of_data(request, question),
    )
    others = (_others(request, order, each) if at < ROWS else () for at, each in enumerate(found))
    files = [*filled(found, others, room(note) if question.is_default_many else inf)]
    return Ranked(Ranking(files, order.total, "meaning", note), is_said)


def _is_of_documents(request: Request, question: Search) -> bool:
    """Return whether a project is more of documents than of code, and a section of one says what is asked."""
    corpus = corpus_of(request)
    count = sum(len(request.blocks.in_language(name)) for name in request.opened.generation.documents)
    return not question.has_tags and count > corpus.is_code.sum() and documents.say(request, question, corpus).is_said


def _of_data(request: Request, question: Search) -> str | None:
    """Say which language of data a project has more files of than of code, where all files are asked."""
    known, blocks = request.opened.generation, request.blocks
    languages = {name for place in {*blocks.languages} if (name := blocks.names[place])}
    data = sorted(languages.difference(known.code, known.documents))
    count = corpus_of(request).is_code.sum()
    most = [name for name in data if len(blocks.in_language(name)) > count]
    is_of_all = not (question.path or question.language or question.has_tags)
    said = unknown.listed([f"{name}, {counted(len(blocks.in_language(name)), 'file')}" for name in most])
    return OF_DATA.format(said) if most and is_of_all else None


def later(request: Request, question: Search) -> str | None:
    """Say that a question that no line answers is answered by meaning once words are there."""
    is_early = request.generation < WORDS and request.opened.generation.has_content
    return LATER if is_early and question.may_mean else None


def besides(request: Request, question: Search, found: Hits) -> str | None:
    """Say that files may be about a question of several words that only documents and tests hold as it stands."""
    documents = request.opened.generation.documents
    is_seldom = len(question.query.split()) > 1 and question.may_mean and request.words and not found.next
    is_beside = is_seldom and all(hit.language in documents or is_aside(hit.path) for hit in found.files)
    return BESIDE_CODE if is_beside else None


def instead(request: Request, question: Search) -> Ranked | None:
    """Return the answer by meaning to a question that no line answers; None where it cannot be."""
    is_there = request.words and request.opened.generation.has_content
    if not is_there or not question.may_mean:
        return None
    return _ranked(request, question, before=NO_LINE)


def nearest(request: Request, question: Search, found: Ranked | None) -> str | None:
    """Say that no code answers a question that was asked by meaning, what is nearest, and whether documents do."""
    if found is None:
        return None
    of_documents = documents.say(request, question, corpus_of(request))
    near = f"; the nearest are {', '.join(map(_place, found.answer.files))}" if found.answer.files else ""
    neither = f"{NO_CODE if of_documents.is_said else NEITHER}{near}."
    in_documents = documents.IN_DOCUMENTS if of_documents.is_said else of_documents.note
    return unknown.joined(neither, in_documents, _of_data(request, question))


def _place(passage: Passage) -> str:
    """Say where a passage is, and what it defines: `src/a.py:3-9 Uploader.retry`."""
    name = f" {shown(passage.name, NAME_CHARS)}" if passage.name else ""
    return f"{passage.path}:{lines_in_short(*passage.lines)}{name}"


def _doubt(request: Request, question: Search, order: FileOrder, found: list[Passage]) -> str | None:
    if not order.features.asked.words:
        return documents.NO_WORD
    return IN_DOUBT if order.is_said else _nothing(request, question, found)


def _nothing(request: Request, question: Search, nearest: list[Passage]) -> str | None:
    if not nearest:
        left = " that the filters leave" if question.path or question.language or question.has_tags else ""
        nothing = f"{NOTHING}: no file of code{left} has a word of it."
        return unknown.joined(nothing, empty_answers.of_filters(request, question))
    return f"{NOTHING}: no one place has enough of its words; the nearest are these."


def _unknown(order: FileOrder) -> str | None:
    """Name the words of the question that no file has: what is ranked is not about those."""
    words = [order.features.asked.form(word) for word in order.features.unknown]
    return f"No file of code has {unknown.listed(words)}." if words else None


def corpus_of(request: Request) -> Corpus:
    """Return what is ranked. Raises Refused where nothing is."""
    if not request.opened.generation.has_content:
        raise Refused("invalid", "nothing is ranked by meaning without text", unknown.NO_TEXT)
    corpora, snapshot = request.corpora, request.snapshot
    corpus = corpora.of(snapshot, partial(_generated, request)) if corpora and snapshot else None
    assert corpus, "asked of the third generation"
    return corpus


def _generated(request: Request) -> Set[int]:
    found = map(request.blocks.find, request.rows("generated_files", str))
    return {file.number for file in found if file}


def _leaves(request: Request, question: Search, corpus: Corpus) -> NDArray[np.bool_]:
    """Return which files `path` and `language` leave."""
    leaves = corpus.is_code
    if question.path or question.language:
        left = unknown.scope(request, question.path, question.language).files(request, request.blocks.files)
        leaves = np.zeros(corpus.files, bool)
        leaves[[file.number for file in left]] = True
    return leaves


def _rows(question: Search, default: int) -> int:
    """Return how many passages are wanted: the default of other modes is too many."""
    return default if question.is_default_many else min(question.max_results, MOST)


def _passage(request: Request, question: Search, order: FileOrder, each: RankedFile, at: int) -> Passage:
    request.check()
    file = request.blocks.file(each.file)
    lines = passages.passage(order.definitions, file)
    best = passages.best_lines(order.features, file, lines) if at < SHOWN_WITH_LINES else []
    row = lines.row
    return Passage(
        path=file.path,
        lines=(lines.first, lines.last),
        score=round(each.score, 2),
        language=file.language,
        kind=row.kind if row else None,
        name=row.qualified_name if row else None,
        signature=shown(row.signature, SIGNATURE_CHARS) if row and row.signature else None,
        best=[(number, shown(line, LINE_CHARS)) for number, line in best],
        why=_why(order, each, at, file, _tags(request, question, file)) if question.explain else None,
    )


def _others(request: Request, order: FileOrder, passage: Passage) -> Iterator[tuple[int, str]]:
    """Yield the further definitions of the file of a passage by their lines, the best first."""
    file = request.blocks.find(passage.path)
    for each in order.definitions.best(file) if file else ():
        if each.row.qualified_name != passage.name:
            yield each.row.line_start, shown(_short(each.row), NAME_CHARS)


def _short(row: Row) -> str:
    """Return the name of a definition behind that of what it is in, without what that is in."""
    return ".".join(row.qualified_name.rsplit(".", 2)[-2:])


def _tags(request: Request, question: Search, file: File) -> list[str]:
    """Say which of the tags that are asked for a file has, and why."""
    asked_for = {*question.tags_any, *question.tags_all}
    return (
        [said(str(tag)) for tag in tags.of_files(request).get(file.number, ()) if tag.name in asked_for]
        if asked_for
        else []
    )


def _why(order: FileOrder, each: RankedFile, at: int, file: File, matched: list[str]) -> Why:
    """Say of each word where it is in a file, if anywhere: `retry: name, comment`, `auth ~ authentication: name`."""
    features = order.features
    texts = [features.corpus.lower(block) for block in features.best_blocks(file.number)]
    words: dict[str, list[str]] = {}
    for word in features.asked.words:
        for field, variant in where(features, file.number, word).items():
            form = features.asked.form(word)
            shown_word = form if variant == word else f"{form} ~ {variant.decode()}"
            words.setdefault(shown_word, []).append(_PLACES[field])
        if any(literal(word) in text for text in texts):
            words.setdefault(features.asked.form(word), []).append("text")
        if not any(shown_word.split(" ~ ")[0] == features.asked.form(word) for shown_word in words):
            words[features.asked.form(word)] = []
    return Why(words, each.text_rank, round(each.text_score, 2), at + 1, round(each.score, 2), matched)
