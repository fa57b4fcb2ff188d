"""Which of several indexes may answer a question: those that are left out need not be asked, and have nothing."""

from collections.abc import Callable
from typing import NamedTuple

import re2

from fledgling.messages.answers import Sifted
from fledgling.messages.questions import Read, Search, Sift, Symbols
from fledgling.worker.matching import globs
from fledgling.worker.store import level, ngrams
from fledgling.worker.store.level import Level
from fledgling.worker.store.ngrams import Needed, folded
from fledgling.worker.store.overlay.snapshots import Snapshot
from fledgling.worker.tools.empty_answers import name_of
from fledgling.worker.tools.request import Request
from fledgling.worker.tools.search import prefilter


def sift(request: Request, question: Sift) -> Sifted:
    """Answer with the numbers of the indexes that may hold what is asked for; all, where that takes asking them."""
    shelf = request.shelf
    assert shelf, "one index is asked at once"
    looks = _looks(question)
    if looks is None:
        return Sifted([number for number, snapshot in enumerate(shelf.snapshots) if snapshot])
    left = []
    for number in shelf.left(looks.at_level):
        request.check()
        snapshot = shelf.snapshots[number]
        if snapshot and looks.at_index(snapshot):
            left.append(number)
    return Sifted(left)


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
            return None if asked.is_ranked else prefilter(asked)
        except re2.error:  # whoever answers says so
            return None
    text = name_of(asked) if isinstance(asked, Symbols) else ""
    return [[folded(text.encode())]] if text else None
