"""Which of several indexes may answer a question: those that are left out need not be asked, and have nothing."""

from collections.abc import Callable

import re2

from fledgling.messages.answers import Sifted
from fledgling.messages.questions import Search, Sift, Symbols
from fledgling.worker.store.ngrams import Needed, folded, rows_of
from fledgling.worker.store.overlay.snapshots import Snapshot
from fledgling.worker.tools.empty_answers import name_of
from fledgling.worker.tools.request import Request
from fledgling.worker.tools.search import prefilter


def sift(request: Request, question: Sift) -> Sifted:
    """Answer with the numbers of the indexes that may hold what is asked for; all, where that takes asking them."""
    assert request.shelf, "one index is asked at once"
    leaves = _leaves(question)
    left = []
    for number, snapshot in enumerate(request.shelf.snapshots):
        request.check()
        if snapshot and leaves(snapshot):
            left.append(number)
    return Sifted(left)


def _leaves(question: Sift) -> Callable[[Snapshot], bool]:
    needed = _needed(question)
    if needed is None:
        return lambda _: True
    asked = question.question
    if isinstance(asked, Search) and not asked.kind:
        groups = rows_of(needed)  # once for all
        return lambda of: of.signatures is None or of.signatures.may_hold(groups)
    return lambda of: of.outlines is None or any(map(of.outlines.may_name, needed))


def _needed(question: Sift) -> Needed | None:
    """Return texts of which the lines or names that are asked for hold one group; None where nothing is known."""
    asked = question.question
    if isinstance(asked, Search):
        try:
            return None if asked.is_ranked else prefilter(asked)
        except re2.error:  # whoever answers says so
            return None
    name = (asked.symbol or "").rpartition(".")[2]
    if isinstance(asked, Symbols) and not name:
        name = name_of(asked)
    return [[folded(name.encode())]] if name else None
