"""Which sections of documents are about what is asked: blocks that may hold its words, then the sections in them.

A section is the lines from one heading to the next, cut where they are many. No index is made of them: documents are
few beside code, and a word is looked up in the signatures of their blocks.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fledgling.worker import words as cutting
from fledgling.worker.ranking.asked import AskedWords
from fledgling.worker.ranking.corpus import Corpus
from fledgling.worker.ranking.features import literal
from fledgling.worker.store.symbols import CODES, Outline, Row
from fledgling.worker.store.text import File

MOST_LINES = 60  # of a section: of a longer one, parts with the same heading
READ_BLOCKS = 150  # those that hold the most and the rarest words: each takes some tens of microseconds
HEADING_TIMES = 3  # a word of a heading counts like so many in the text
SAID = 0.9  # of the share of the question that a section says, rare words counting more, and its score, together
BYTES = 1200  # of an ordinary section
_SLOPE, _SHARE = 1.2, 0.5  # of BM25, as in corpus.PARAMETERS
_FIRST = re.compile(r"(?i)^(?:readme[^/]*$|docs?/)")
_LAST = re.compile(
    r"(?i)(?:^|/)(?:change|history|news|release|licen[cs]e|copying|notice|authors|third.?party)[^/]*$|/api/"
)
FIRST_TIMES, LAST_TIMES = 1.1, 0.6  # of what a section counts, one of what is read first, or last


class RankedSection(NamedTuple):
    """Lines of a document, the headings they are under, and how much they are about what was asked, from 0 to 1."""

    file: File
    first: int
    last: int
    row: Row | None
    score: float
    said: float


class SectionRanker:
    """The sections of some documents.

    >>> SectionRanker(corpus, asked("memory limits"), [3, 4]).ranked()[0].row.qualified_name
    'Settings.Limits'
    """

    def __init__(
        self, corpus: Corpus, asked: AskedWords, documents: Sequence[int], check: Callable[[], None] = lambda: None
    ) -> None:
        """`documents` are numbers of files; `check` raises where the call is to end."""
        self._corpus, self._asked, self._check = corpus, asked, check
        is_document = np.zeros(corpus.files + 1, bool)
        is_document[[*documents]] = True
        self._blocks = is_document[corpus.files_of_blocks]
        self._rarity: dict[bytes, float] = {}
        self._known: dict[int, tuple[Outline, list[int], list[int]]] = {}

    def ranked(self) -> list[RankedSection]:
        """Return the sections that say anything of what was asked, the best first."""
        found = {(section.file.number, section.first): section for section in self._sections()}
        said = (section for section in found.values() if section.score > 0)
        return sorted(said, key=lambda section: (-section.score, section.file.number, section.first))

    def _sections(self) -> Iterator[RankedSection]:
        for number, first, last in self._best_blocks():
            self._check()
            file = self._corpus.blocks.file(number)
            part, places, starts = self._headings(number)
            line = first
            while line <= last:
                at = bisect_right(starts, line) - 1
                begin = starts[at] if at >= 0 else 1
                end = starts[at + 1] - 1 if at + 1 < len(starts) else file.line_count or line
                begin += (line - begin) // MOST_LINES * MOST_LINES
                end = max(min(end, begin + MOST_LINES - 1), line)
                row = self._corpus.outlines.row_of(part, places[at]) if at >= 0 else None
                yield self._scored(file, begin, end, row)
                line = end + 1

    def _headings(self, number: int) -> tuple[Outline, list[int], list[int]]:
        """Return what a file has, where its sections are in that, and the lines that they begin on: looked for once."""
        if number not in self._known:
            part = self._corpus.outlines.outline(number)
            places = [place for place, code in enumerate(part.kinds) if code == CODES["section"]]
            self._known[number] = part, places, [part.starts[place] for place in places]
        return self._known[number]

    def _best_blocks(self) -> list[tuple[int, int, int]]:
        """Return the blocks that may say most, each as its file, its first and its last line."""
        count = int(self._blocks.sum())
        scores = np.zeros(len(self._blocks), np.float32)
        for word in self._asked.words:
            self._check()
            holding = self._corpus.marked(literal(word))
            holding = self._blocks if holding is None else holding & self._blocks
            self._rarity[word] = self._corpus.rarity(int(holding.sum()), count)
            scores += np.float32(self._asked.weight(word) * self._rarity[word]) * holding
        # Those that say the same, in the order of paths: where files have changed, numbers of blocks are in another.
        best = np.lexsort((self._corpus.files_of_blocks, -scores))[:READ_BLOCKS]
        blocks = self._corpus.blocks
        return [
            (
                blocks.files_of[block],
                blocks.first_lines[block],
                blocks.first_lines[block] + blocks.text(block).count(b"\n"),
            )
            for block in best[scores[best] > 0].tolist()
        ]

    def _scored(self, file: File, first: int, last: int, row: Row | None) -> RankedSection:
        text = self.text(file, first, last).lower()
        names = cutting.names((row.qualified_name if row else file.path).encode())
        heading = cutting.plain(word for name in names for word in cutting.of_name(name))
        length = _SLOPE * (1 - _SHARE + _SHARE * len(text) / BYTES)
        score = said = most = 0.0
        for word, rarity in self._rarity.items():
            weight = self._asked.weight(word) * rarity
            count = text.count(literal(word)) + HEADING_TIMES * heading.count(word)
            score += weight * count * (_SLOPE + 1) / (count + length) if count else 0
            if word in self._asked.plain:
                most += weight
            said += weight if count else 0
        share = min(said / most, 1.0) if most else 0.0
        times = FIRST_TIMES if _FIRST.search(file.path) else LAST_TIMES if _LAST.search(file.path) else 1
        whole = score * share * times / (most * (_SLOPE + 1)) if most else 0.0
        return RankedSection(file, first, last, row, min(whole, 1.0), share)

    def text(self, file: File, first: int, last: int) -> bytes:
        """Return some lines of a file."""
        blocks = self._corpus.blocks
        lines: list[bytes] = []
        for block in blocks.holding(file, first, last):
            at = blocks.first_lines[block]
            lines += blocks.text(block).split(b"\n")[max(first - at, 0) : last - at + 1]
        return b"\n".join(lines)
