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
from fledgling.worker.ranking.synonyms import synonyms
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
_CHANGES = re.compile(  # in docs/, too
    r"(?i)(?:^|/)(?:changes|change[-_. ]?logs?|what.?s.?new)(?![a-z])[^/]*$|(?:^|/)changelogs?/"
    r"|(?:^|/)(?:releases?|release[-_ ]?notes)/(?:.*/)?[^/]*\d[^/]*$"  # of a version
)
SYNONYM = 0.3  # of a word, what one counts that is often written for it
OF_HEADING = 0.2  # of a score, what comes on top where a section's own heading is what was asked for
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

    >>> SectionRanker(corpus, asked("memory limits"), [3, 4], request.check).ranked()[0].row.qualified_name
    'Settings.Limits'
    """

    def __init__(self, corpus: Corpus, asked: AskedWords, documents: Sequence[int], check: Callable[[], None]) -> None:
        """`documents` are numbers of files; `check` raises where the call is to end."""
        self._corpus, self._asked, self._check = corpus, asked, check
        is_document = np.zeros(corpus.files + 1, bool)
        is_document[[*documents]] = True
        self._blocks = is_document[corpus.files_of_blocks]
        self._rarity: dict[bytes, float] = {}
        self.forms = {word: [(word, 1.0), *self._synonyms(word)] for word in asked.words}
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

    def _synonyms(self, word: bytes) -> Iterator[tuple[bytes, float]]:
        """Yield what may be written for a word of the question; other ways to say it have been given already."""
        if word in self._asked.plain:
            yield from ((other, SYNONYM) for other in synonyms(word) if other not in self._asked.words)

    def _best_blocks(self) -> list[tuple[int, int, int]]:
        """Return the blocks that may say most, each as its file, its first and its last line."""
        count = int(self._blocks.sum())
        scores = np.zeros(len(self._blocks), np.float32)
        for word in self._asked.words:
            self._check()
            shares = np.zeros(len(self._blocks), np.float32)
            for form, counts in self.forms[word]:
                holding = self._corpus.marked(literal(form))
                holding = self._blocks if holding is None else holding & self._blocks
                if form == word:
                    self._rarity[word] = self._corpus.rarity(int(holding.sum()), count)
                shares = np.maximum(shares, np.float32(counts) * holding)
            scores += np.float32(self._asked.weight(word) * self._rarity[word]) * shares
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
        heading = _words(row.qualified_name if row else file.path)
        own = {*_words(row.name if row else file.path)}
        length = _SLOPE * (1 - _SHARE + _SHARE * len(text) / BYTES)
        score = said = most = of_heading = 0.0
        for word, rarity in self._rarity.items():
            weight = self._asked.weight(word) * rarity
            counts = [
                (share * (text.count(literal(form)) + HEADING_TIMES * heading.count(form)), share)
                for form, share in self.forms[word]
            ]
            count = sum(times for times, _ in counts)
            score += weight * count * (_SLOPE + 1) / (count + length) if count else 0
            if word in self._asked.plain:
                most += weight
            said += weight * max((share for times, share in counts if times), default=0.0)
            of_heading += weight * max((share for form, share in self.forms[word] if form in own), default=0.0)
        if not most:
            return RankedSection(file, first, last, row, 0.0, 0.0)
        share = min(said / most, 1.0)
        asked_for = len(own & {form for forms in self.forms.values() for form, _ in forms}) / max(len(own), 1)
        whole = score * share / (most * (_SLOPE + 1)) + OF_HEADING * of_heading / most * asked_for**0.5
        return RankedSection(file, first, last, row, min(whole * _times(file.path), 1.0), share)

    def text(self, file: File, first: int, last: int) -> bytes:
        """Return some lines of a file."""
        blocks = self._corpus.blocks
        lines: list[bytes] = []
        for block in blocks.holding(file, first, last):
            at = blocks.first_lines[block]
            lines += blocks.text(block).split(b"\n")[max(first - at, 0) : last - at + 1]
        return b"\n".join(lines)


def _words(heading: str) -> list[bytes]:
    return cutting.plain(word for name in cutting.names(heading.encode()) for word in cutting.of_name(name))


def _times(path: str) -> float:
    """Return what a section of a file counts: changelogs come last, wherever they are."""
    if _CHANGES.search(path):
        return LAST_TIMES
    return FIRST_TIMES if _FIRST.search(path) else LAST_TIMES if _LAST.search(path) else 1.0
