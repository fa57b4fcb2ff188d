"""Why there is no index, or not the whole of one."""

import logging

from fledgling.messages.answers import Refusal
from fledgling.plain import said

AGAIN = "Start Fledgling again; see its log."
_log = logging.getLogger("fledgling")


class IndexingError(Exception):
    """There will be no index; `refusal` says why.

    `is_refused` tells a build that was refused, because of what it was asked to do, from one that failed.
    """

    def __init__(self, refusal: Refusal, *, is_refused: bool = False) -> None:
        super().__init__(f"{refusal.reason}; {refusal.next_step}")
        self.refusal = refusal
        self.is_refused = is_refused


class UnchangedError(IndexingError):
    """There is no need for an index: the tree is the one that was asked about."""


class DiedError(Exception):
    """A process that a build needs has ended, or failed: how, as a sentence. Another build may do better."""


def failed(reason: str) -> IndexingError:
    """Return what is raised where an index cannot be had, and nobody did anything wrong."""
    return IndexingError(Refusal("failed", reason, AGAIN))


def without_graph(reason: str) -> IndexingError:
    """Return what is raised where the index is there, and the uses of its definitions are not."""
    _log.error("the uses of definitions are not known: %s", reason)
    said_so = said(f"the uses of definitions could not be resolved: {reason}")
    return IndexingError(Refusal("unavailable", said_so, "search() finds them as text."))


def without_tables(reason: str) -> IndexingError:
    """Return what is raised where the uses of definitions are known, and the tables of them are not there."""
    _log.error("the tables of uses are not there: %s", reason)
    said_so = said(f"the tables of uses could not be filled: {reason}")
    return IndexingError(Refusal("unavailable", said_so, "symbols(symbol, relation) answers without them."))
