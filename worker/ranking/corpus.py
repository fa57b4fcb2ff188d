"""What files are ranked by: the words of their fields, and which blocks of their text may hold a word."""

from collections.abc import Set
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fledgling.worker.arrays import NDArray
from fledgling.worker.store.ngrams import SHORTEST, Signatures
from fledgling.worker.store.symbols import Outlines
from fledgling.worker.store.text import Blocks
from fledgling.worker.store.words import Words
from fledgling.worker.words import Field, key

MOST_BYTES = 2**16  # of a block: a line of a megabyte is data
LEAST_SAID = 2  # times that a word counts in comments, however little a file defines: see `most_said`
MOST_NAMES = 4  # of what a file defines, that a word counts in: of many named alike, more would say no more

Scores = NDArray[np.float32]
Places = NDArray[np.uint32]

# Of BM25, by field: how soon more of a word says no more, and how much a long field counts against it.
# See Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
PARAMETERS: dict[Field, tuple[float, float]] = {
    Field.BASE: (0.6, 0.5),
    Field.DIRECTORY: (0.8, 0.3),
    Field.DEFINITION: (1.0, 0.3),
    Field.PUBLIC: (1.0, 0.3),
    Field.COMMENT: (1.2, 0.5),
    Field.HEADER: (1.2, 0.5),
    Field.EXPORT: (0.8, 0.3),
}


class Scored(NamedTuple):
    """Files, and what a word counts in each."""

    files: Places
    scores: Scores


class Corpus:
    """One snapshot of an index, as far as files are ranked by it.

    >>> corpus = Corpus(words, blocks, signatures, outlines, {3})
    >>> corpus.scored(Field.BASE, b"retry").files
    array([17], dtype=uint32)
    """

    def __init__(
        self,
        words: Words,
        blocks: Blocks,
        signatures: Signatures,
        outlines: Outlines,
        generated: Set[int],
    ) -> None:
        """`generated` are the numbers of files that a program wrote."""
        self.words, self.blocks, self.signatures, self.outlines = words, blocks, signatures, outlines
        self.generated = generated
        self.files = words.lengths.shape[1]
        self.is_code: NDArray[np.bool_] = np.asarray(words.lengths.any(axis=0))
        self.count = int(self.is_code.sum())  # files that are ranked

    @cached_property
    def norms(self) -> Scores:
        """For each field and file, what the length of the field is beside the average: 1 for that."""
        lengths = self.words.lengths.astype(np.float32)
        averages = np.maximum(lengths.sum(axis=1) / max(self.count, 1), 1e-9)
        shares = np.array([PARAMETERS[field][1] for field in Field], np.float32)[:, None]
        return np.asarray(1 - shares + shares * np.maximum(lengths, 1) / averages[:, None], np.float32)

    @cached_property
    def most_said(self) -> NDArray[np.uint8]:
        """For each file, how often a word counts in its comments: as often as its definitions have words, so that
        comments about nothing say little by being long.
        """
        defined = self.words.lengths[Field.DEFINITION]
        return np.asarray(np.clip(defined, LEAST_SAID, np.iinfo(np.uint8).max), np.uint8)

    @cached_property
    def files_of_blocks(self) -> Places:
        """Whose each block is; the number behind the last file for one that is nobody's any more."""
        return np.minimum(np.asarray(self.blocks.by_block(), np.uint32), self.files)

    @cached_property
    def code_blocks(self) -> NDArray[np.bool_]:
        """Which blocks are of files that are ranked."""
        return np.append(self.is_code, False)[self.files_of_blocks]

    def text(self, block: int) -> bytes:
        """Return the text of a block, as far as it is looked at."""
        return self.blocks.text(block)[:MOST_BYTES]

    def lower(self, block: int) -> bytes:
        """Return the text of a block in lower case, as far as it is looked at."""
        return self.text(block).lower()

    def rarity(self, holding: int, of: int) -> float:
        """Return what a word counts that so many of some have: `rarity(1, 100)` is 4.2, `rarity(50, 100)` is 0.7."""
        return float(np.log(1 + (of - holding + 0.5) / (holding + 0.5)))

    def scored(self, field: Field, word: bytes) -> Scored:
        """Return the files that have a word in a field, and what it counts there."""
        files, counts = self.words.holding(key(field, word))
        if field in (Field.DEFINITION, Field.PUBLIC):
            counts = np.minimum(counts, MOST_NAMES)
        elif field in (Field.COMMENT, Field.HEADER):
            counts = np.minimum(counts, self.most_said[files])
        slope = PARAMETERS[field][0]
        rarity = self.rarity(len(files), self.count)
        return Scored(files, rarity * counts * (slope + 1) / (counts + slope * self.norms[field][files]))

    def files_with(self, field: Field, word: bytes) -> Places:
        """Return the files that have a word in a field."""
        return self.words.holding(key(field, word)).files

    def holding(self, literal: bytes) -> NDArray[np.bool_] | None:
        """Return for each block whether it is of code and may hold a text in lower case; None for one too short."""
        found = self.marked(literal)
        return None if found is None else found & self.code_blocks

    def marked(self, literal: bytes) -> NDArray[np.bool_] | None:
        """Return for each block whether it may hold a text in lower case; None for one too short."""
        if len(literal) < SHORTEST:
            return None
        bits = np.frombuffer(self.signatures.marked([[literal]]), np.uint8)
        return np.unpackbits(bits, bitorder="little")[: len(self.files_of_blocks)].astype(bool)
