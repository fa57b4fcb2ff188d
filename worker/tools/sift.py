"""Which of several indexes may answer a question: those that are left out need not be asked, and have nothing."""

from collections.abc import Callable

import re2

from fledgling.messages.answers import Sifted
from fledgling.messages.questions import Search, Sift
from fledgling.worker.store.overlay.snapshots import Snapshot
from fledgling.worker.tools.request import Request
from fledgling.worker.tools.search import prefilter

Leaves = Callable[[Snapshot], bool]


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


def _leaves(question: Sift) -> Leaves:
    asked = question.question
    if not isinstance(asked, Search):
        name = (asked.symbol or "").rpartition(".")[2]
        return (lambda of: bool(of.outlines and of.outlines.named(name))) if name else _any
    if asked.kind or asked.is_ranked:
        return _any
    try:
        needed = prefilter(asked)
    except re2.error:  # who answers says so
        return _any
    if needed is None:
        return _any
    return lambda of: of.signatures is None or next(of.signatures.holding(needed), None) is not None


def _any(_: Snapshot) -> bool:
    return True
