"""The words of an index, in a memory file of its own: which files have a word in which field, and how often.

A word in a field is found by its key, a hash of both (worker/words.py): no dictionary of words is kept, which would
take gigabytes for a kernel. The words of names alone stand there as they are, in order, so that those that begin alike
are found. The indexer inverts what extractors say of each file, a share of the keys at once.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fledgling.worker.arrays import NDArray
from fledgling.worker.rows import FileWords
from fledgling.worker.store.sections import NUMBER, Mapped, Sections, SectionWriter
from fledgling.worker.words import Field

SHARES = 16  # of the keys: inverting one takes a few bytes for each of its words
MAX_NAMES = 2**20  # different words of names that are kept in order; those of a kernel are a tenth of it
MAX_BEHIND = 32  # words that begin alike, of one query word

Numbers = NDArray[np.uint32]
Counts = NDArray[np.uint8]


class Postings(NamedTuple):
    """The files that have a word in a field, in order, and how often."""

    files: Numbers
    counts: Counts


def firsts(numbers: Numbers) -> NDArray[np.intp]:
    """Return where each number begins in numbers in order: `firsts([3, 3, 7])` is [0, 2].

    `numpy.unique` would load another module, which a confined process cannot.
    """
    return np.flatnonzero(np.append(np.ones(min(len(numbers), 1), bool), numbers[1:] != numbers[:-1]))


def in_order(numbers: Numbers) -> NDArray[np.intp]:
    """Return the places of numbers, the least first, equal ones as they stand: `in_order([7, 3, 7])` is [1, 0, 2].

    By their halves: numbers of 16 bits are sorted by counting, in a third of the time.
    """
    low = np.argsort(numbers.astype(np.uint16), kind="stable")
    return low[np.argsort((numbers >> 16).astype(np.uint16)[low], kind="stable")]


NOTHING = Postings(np.empty(0, np.uint32), np.empty(0, np.uint8))


class WordWriter:
    """Writes the words of all files, which come in the order of the files.

    >>> writer = WordWriter(fd)
    >>> writer.add(0, words)
    >>> writer.finish(files=1)
    """

    def __init__(self, fd: int) -> None:
        """Write to an empty file, which the caller closes."""
        self._fd = fd
        self._numbers, self._sizes = array(NUMBER), array(NUMBER)
        self._keys: list[bytes] = []
        self._counts: list[bytes] = []
        self._lengths: list[bytes] = []
        self._names: set[bytes] = set()
        self.waiting = 0  # bytes that are held

    def add(self, number: int, found: FileWords) -> None:
        """Take the words of the next file."""
        self._numbers.append(number)
        self._sizes.append(len(found.counts))
        self._keys.append(found.keys)
        self._counts.append(found.counts)
        self._lengths.append(found.lengths)
        self.waiting += len(found.keys) + len(found.counts)
        if len(self._names) < MAX_NAMES:
            self._names.update(found.names.split(b"\n"))

    def finish(self, files: int) -> None:
        """Invert, and write all of it for an index of so many files."""
        keys = np.frombuffer(b"".join(self._keys), NUMBER)
        self._keys.clear()
        counts = np.frombuffer(b"".join(self._counts), np.uint8)
        self._counts.clear()
        numbers = np.repeat(np.asarray(self._numbers, NUMBER), self._sizes)
        lengths = np.zeros((len(Field), files), NUMBER)
        lengths[:, self._numbers] = np.frombuffer(b"".join(self._lengths), NUMBER).reshape(-1, len(Field)).T
        self._lengths.clear()
        inverted_counts, known, ends = [], [], []
        end = 0
        with SectionWriter(self._fd, "words") as sections:
            sections.begin("files", NUMBER)
            shares = (keys >> 28).astype(np.uint8)
            for share in range(SHARES):
                places = np.flatnonzero(shares == share)
                places = places[in_order(keys[places])]
                sections.write([numbers[places].data])
                inverted_counts.append(counts[places])
                starts = firsts(keys[places])
                known.append(keys[places[starts]])
                ends.append(starts + end)
                end += len(places)
            sections.column("keys", NUMBER, np.concatenate(known).data)
            sections.column("starts", NUMBER, np.concatenate([*ends, [end]]).astype(NUMBER).data)
            sections.column("lengths", NUMBER, lengths.reshape(-1).data)
            sections.begin("counts")
            sections.write(part.data for part in inverted_counts)
            sections.begin("names")
            sections.write([b"\n".join(sorted(self._names - {b""}))])
        self._names.clear()


class Words:
    """The file as it is read.

    >>> words = Words(memory_file.mapped(fd))
    >>> words.holding(key(Field.BASE, b"retry")).files
    array([17], dtype=uint32)
    """

    def __init__(self, data: Mapped) -> None:
        """Read a mapped file. Raises FormatError."""
        sections = Sections(data, "words")
        self._keys, self._starts = sections.column("keys"), sections.column("starts")
        self._files = np.frombuffer(sections.column("files"), np.uint32)
        self._counts = np.frombuffer(sections.column("counts"), np.uint8)
        self.lengths: Numbers = np.frombuffer(sections.column("lengths"), np.uint32).reshape(len(Field), -1)
        self._names = sections.column("names")
        self._name_list: list[bytes] | None = None

    @property
    def keys(self) -> Sequence[int]:
        """All keys, in order."""
        return self._keys

    def holding(self, key: int) -> Postings:
        """Return the files that have a word in a field, by the key of both."""
        at = bisect_left(self._keys, key)
        if at == len(self._keys) or self._keys[at] != key:
            return NOTHING
        start, end = self._starts[at], self._starts[at + 1]
        return Postings(self._files[start:end], self._counts[start:end])

    def beginning(self, word: bytes) -> Iterator[bytes]:
        """Yield the words of names that begin with this one, the shortest first, and which this one begins with."""
        yield from beginning(self.names, word)

    @property
    def names(self) -> Sequence[bytes]:
        """The different words of names, in order."""
        if self._name_list is None:
            self._name_list = bytes(self._names).split(b"\n")
        return self._name_list


def beginning(names: Sequence[bytes], word: bytes) -> Iterable[bytes]:
    """Yield MAX_BEHIND of some words in order that begin with this one, and those that this one begins with.

    >>> [*beginning([b"aut", b"auth", b"authent", b"author"], b"auth")]
    [b'authent', b'author']
    """
    at = bisect_left(names, word)
    behind = names[at : at + MAX_BEHIND]
    yield from (name for name in behind if name != word and name.startswith(word))
    for size in range(4, len(word)):
        at = bisect_left(names, word[:size])
        if at < len(names) and names[at] == word[:size]:
            yield word[:size]
