"""Words with an overlay: those of a changed file take the place of what the base says of it."""

from collections.abc import Iterator

import numpy as np

from fledgling.worker.store.overlay.changed import Order
from fledgling.worker.store.parts import Part
from fledgling.worker.store.sections import NUMBER
from fledgling.worker.store.words import MAX_NAMES, Postings, Words
from fledgling.worker.words import NAMES, Field, key

_NO_LENGTHS = bytes(4 * len(Field))


class OverlaidWords(Words):
    """The files that have a word, as a new build would find them.

    >>> words = OverlaidWords(base, Order(len(blocks.files), overlay))
    >>> words.holding(key(Field.BASE, b"retry")).files
    array([3, 17], dtype=uint32)
    """

    def __init__(self, base: Words, order: Order) -> None:
        """Lay the words of parts over those of the base."""
        self._base, self._order, parts = base, order, order.parts
        self._own: dict[int, list[tuple[int, int]]] = {}  # by key, the number of each file and how often
        for part, number in zip(parts, order.numbers, strict=True):
            for number_of, count in _pairs(part):
                self._own.setdefault(number_of, []).append((number, count))
        own = [np.frombuffer(part.words.lengths if part.words else _NO_LENGTHS, NUMBER) for part in parts]
        self.lengths = np.stack(
            [
                np.asarray(order.spliced(base.lengths[field].copy().data, [lengths[field] for lengths in own]))
                for field in Field
            ]
        )
        new = {name for part in parts if part.words for name in part.words.names.split(b"\n")} - {b""}
        self._name_list = sorted({*base.names, *new}) if new and len(base.names) < MAX_NAMES else [*base.names]
        # The number of each file of the base among all.
        self._numbers = np.fromiter(map(order.number, range(order.base)), NUMBER, order.base)
        self._hidden = np.zeros(order.base, bool)
        self._hidden[[*order.hidden]] = True

    def holding(self, key: int) -> Postings:
        """Return the files that have a word in a field, by the key of both."""
        files, counts = self._base.holding(key)
        if self._order.hidden:
            shown = ~self._hidden[files]
            files, counts = files[shown], counts[shown]
        files = self._numbers[files]
        if own := self._own.get(key):
            more, often = zip(*own, strict=True)
            files, counts = np.append(files, np.array(more, np.uint32)), np.append(counts, np.array(often, np.uint8))
            turns = np.argsort(files, kind="stable")
            files, counts = files[turns], counts[turns]
        return Postings(files, counts)

    def beginning(self, word: bytes) -> Iterator[bytes]:
        """Yield the words of names that begin with this one, the nearest first, and which this one begins with."""
        return (name for name in super().beginning(word) if self._has_name(name))

    def _has_name(self, name: bytes) -> bool:
        """Return whether a file has a word in a name still."""
        return any(len(self.holding(key(field, name)).files) for field in NAMES)


def _pairs(part: Part) -> list[tuple[int, int]]:
    """Return the keys of a part, each with how often it is there."""
    if not part.words:
        return []
    return [*zip(memoryview(part.words.keys).cast(NUMBER), part.words.counts, strict=True)]
