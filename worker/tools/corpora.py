"""What files are ranked by, kept from one call to the next: it takes milliseconds to put together."""

from collections.abc import Callable, Set

from fledgling.worker.ranking.corpus import Corpus
from fledgling.worker.store.overlay.snapshots import Snapshot


class Corpora:
    """The corpus of the snapshot that was asked last.

    >>> Corpora().of(snapshot, set).count
    812
    """

    def __init__(self) -> None:
        self._last: Corpus | None = None  # which holds no table of the snapshot

    def of(self, snapshot: Snapshot, generated: Callable[[], Set[int]]) -> Corpus | None:
        """Return the corpus of a snapshot, of which `generated` says what a program wrote; None before the third
        generation.
        """
        if not (snapshot.words and snapshot.signatures and snapshot.outlines):
            return None
        last = self._last
        if last is None or last.words is not snapshot.words:
            known = (snapshot.words, snapshot.blocks, snapshot.signatures, snapshot.outlines)
            last = self._last = Corpus(*known, generated())
        return last
