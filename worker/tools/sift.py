"""Which of several indexes may answer a question: those that are left out need not be asked, and have nothing.

Those that cannot be read are told apart: what they have nobody knows.

A search by meaning leaves none out, but ranks only the first of thousands: those with most of its words come first.
"""

from collections.abc import Callable
from contextlib import suppress
from math import log
from typing import NamedTuple

import re2

from fledgling.messages.inner_answers import Sifted
from fledgling.messages.questions import Read, Search, Sift, Symbols
from fledgling.worker.matching import globs
from fledgling.worker.ranking.asked import asked as words_of
from fledgling.worker.ranking.features import literal
from fledgling.worker.store import level, ngrams
from fledgling.worker.store.level import Level
from fledgling.worker.store.ngrams import Needed, folded
from fledgling.worker.store.overlay.snapshots import Snapshot
from fledgling.worker.store.shelf import BROKEN, Shelf
from fledgling.worker.tools.empty_answers import name_of
from fledgling.worker.tools.request import Request
from fledgling.worker.tools.search import prefilter
from fledgling.worker.words import Field, key

NAMED = 1024  # indexes in whose names the words of a question by meaning are looked up: 0.1 ms each


def sift(request: Request, question: Sift) -> Sifted:
    """Answer with the numbers of the indexes that may hold what is asked for; all, where that takes asking them."""
    shelf = request.shelf
    assert shelf, "one index is asked at once"
    if isinstance(question.question, Search) and question.question.is_ranked:
        return Sifted(_by_words(request, shelf, question.question), shelf.unreadable)
    looks = _looks(question)
    if looks is None:
        return Sifted([number for number, snapshot in enumerate(shelf.snapshots) if snapshot], shelf.unreadable)
    left = []
    for number in shelf.left(looks.at_level):
        request.check()
        snapshot = shelf.snapshots[number]
        if snapshot and looks.at_index(snapshot):
            left.append(number)
    return Sifted(left, shelf.unreadable)


def _by_words(request: Request, shelf: Shelf, question: Search) -> list[int]:
    """Return the indexes whose text may have a word of a question, those first that have most of its rare words.

    Of the first NAMED of all indexes a word in names, comments or sections counts once more.
    """
    said = words_of(question.query, question.also)
    scores: dict[int, float] = {}
    weights = {}
    for word in said.words:
        request.check()
        having = _having(shelf, literal(word))
        weights[word] = said.weight(word) * log(1 + len(shelf) / max(len(having), 1))
        for number in having:
            scores[number] = scores.get(number, 0.0) + weights[word]
    first = sorted(scores, key=lambda number: (-scores[number], number))
    for number in first[:NAMED]:
        request.check()
        with suppress(*BROKEN):  # whoever asks that index says so
            scores[number] += sum(weights[word] for word in said.words if _names(shelf.snapshots[number], word))
    return sorted(first[:NAMED], key=lambda number: (-scores[number], number)) + first[NAMED:]


def _having(shelf: Shelf, text: bytes) -> list[int]:
    """Return the indexes that may hold a text: by their bundles, or those that are in none by themselves."""
    wide, groups = level.rows_of([[text]]), ngrams.rows_of([[text]])
    return [
        number
        for number in shelf.left(lambda of: of.holding(wide))
        if (snapshot := shelf.snapshots[number])
        and (shelf.bundles[number] or snapshot.signatures is None or snapshot.signatures.may_hold(groups))
    ]


def _names(snapshot: Snapshot | None, word: bytes) -> bool:
    words = snapshot.words if snapshot else None
    return words is not None and any(len(words.holding(key(field, word)).files) for field in Field)


class _Looks(NamedTuple):
    """What tells of several indexes together which may hold what is asked for, and then of each of these."""

    at_level: Callable[[Level], set[int]]
    at_index: Callable[[Snapshot], bool]


def _looks(question: Sift) -> _Looks | None:
    asked = question.question
    name = _exact_name(asked)
    needed = [[folded(name.encode())]] if name else _needed(asked)
    if needed is None:
        return None
    if name:
        return _Looks(lambda of: of.naming(name), lambda of: of.outlines is None or of.outlines.may_name(needed))
    wide, groups = level.rows_of(needed), ngrams.rows_of(needed)  # once for all
    if isinstance(asked, Search) and not asked.kind:
        return _Looks(lambda of: of.holding(wide), lambda of: of.signatures is None or of.signatures.may_hold(groups))
    return _Looks(lambda of: of.holding(wide), lambda of: of.outlines is None or of.outlines.may_name(needed))


def _exact_name(asked: Read | Search | Symbols) -> str | None:
    """Return the name that what is asked for has, in any case of its letters; None where it need not have one."""
    if isinstance(asked, Search):
        return None
    if asked.symbol:
        return asked.symbol.rpartition(".")[2]
    return globs.plain(asked.name_pattern) if isinstance(asked, Symbols) else None


def _needed(asked: Search | Symbols | Read) -> Needed | None:
    """Return texts of which the lines or names that are asked for hold one group; None where nothing is known."""
    if isinstance(asked, Search):
        try:
            return prefilter(asked)
        except re2.error:  # whoever answers says so
            return None
    text = name_of(asked) if isinstance(asked, Symbols) else ""
    return [[folded(text.encode())]] if text else None
