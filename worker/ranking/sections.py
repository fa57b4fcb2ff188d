"""Which sections of documents are about what is asked: blocks that may hold its words, then the sections in them.

A section is the lines from one heading to the next, cut where they are many. No index is made of them: documents are
few beside code, and a word is looked up in the signatures of their blocks.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fledgling.worker import words as cutting
from fledgling.worker.deferred import deferred
from fledgling.worker.ranking.asked import AskedWords
from fledgling.worker.ranking.corpus import Corpus
from fledgling.worker.ranking.definitions import BEGINNING, MOST_LOOKS, surely
from fledgling.worker.ranking.features import FAR, literal
from fledgling.worker.ranking.synonyms import synonyms
from fledgling.worker.store.symbols import CODES, Outline, Row
from fledgling.worker.store.text import File

MOST_LINES = 60  # of a section: of a longer one, parts with the same heading
READ_BLOCKS = 150  # those that hold the most and the rarest words: each takes some tens of microseconds
BLOCK_SECTIONS = 64  # of a block that are looked at, from its top: one of more is a list of headings
RANKED = 150  # sections whose words are counted as they stand: those that have the most and the rarest of some form
DAMPED = 0.5  # to the power of which a word counts by its rarity: a rare one may be there by chance, as "asleep"
SAID = 0.8  # of the share of the question that a section says, rare words counting more, and its score, together
BYTES = 1200  # of an ordinary section
LEAD = 400  # bytes behind its heading, where a section says what it is about
AROUND = 4  # best sections of a document that speak for the others in it
_SLOPE, _SHARE = 1.2, 0.5  # of BM25, as in corpus.PARAMETERS
# What speaks for a section: its text by BM25, how far its heading is what was asked for, how far the headings around it
# or its path say it, how far its first lines do, and the best sections of its document. Chosen on 68 questions to six
# projects; half or one and a half times of each does about as well.
OF_TEXT, OF_HEADING, OF_PLACE, OF_LEAD, OF_DOCUMENT = 1.0, 0.3, 0.5, 0.4, 0.6
_ALL = OF_TEXT + OF_HEADING + OF_PLACE + OF_LEAD + OF_DOCUMENT
_FIRST = deferred(r"(?i)^(?:readme[^/]*$|docs?/)")
_LAST = deferred(
    r"(?i)(?:^|/)(?:change|history|news|release|licen[cs]e|copying|notice|authors|third.?party)[^/]*$|/api/"
    r"|(?:^|/)(?:tests?|spec|testdata|fixtures|vendor|third_party|\.github)/"
)
_CHANGES = deferred(  # in docs/, too
    r"(?i)(?:^|/)(?:changes|history|change[-_. ]?logs?|what.?s.?new)(?![a-z])[^/]*$|(?:^|/)(?:changelogs?|changes)/"
    r"|(?:^|/)(?:releases?|release[-_ ]?notes)/(?:.*/)?[^/]*\d[^/]*$"  # of a version
    r"|(?:^|/)\d{4}-\d\d-\d\d-[^/]*$"  # of a day: news
)
_ATTRIBUTES = deferred(r"\{[#.:][^{}]*\}")  # of a heading of Markdown, as its address: no word of it
SYNONYM = 0.3  # of a word, what one counts that is often written for it
FIRST_TIMES, LAST_TIMES = 1.1, 0.6  # of what a section counts, one of what is read first, or last


class DocumentSection(NamedTuple):
    """Lines of a document, and the heading that they are under."""

    file: File
    first: int
    last: int
    row: Row | None


class RankedSection(NamedTuple):
    """A section, how much it is about what was asked, and how much of that it says, each from 0 to 1."""

    section: DocumentSection
    score: float
    said: float


class _Measured(NamedTuple):
    """What speaks for a section: its text; heading, place and first lines together; and the share that it says."""

    text: float
    others: float
    said: float


class SectionRanker:
    """The sections of some documents.

    >>> SectionRanker(corpus, asked("memory limits"), [3, 4], request.check).ranked()[0].section.row.qualified_name
    'Settings.Limits'
    """

    def __init__(self, corpus: Corpus, asked: AskedWords, documents: Sequence[int], check: Callable[[], None]) -> None:
        """`documents` are numbers of files; `check` raises where the call is to end."""
        self._corpus, self._asked, self._check = corpus, asked, check
        is_document = np.zeros(corpus.files + 1, bool)
        is_document[[*documents]] = True
        self._blocks = is_document[corpus.files_of_blocks]
        self.forms = {word: [(word, 1.0), *self._synonyms(word)] for word in asked.words}
        self._signs = {word: [(form, literal(form), share) for form, share in self.forms[word]] for word in asked.words}
        self._weights: dict[bytes, float] = {}  # what each word counts: the rarer, the more
        self.total = 0  # sections that say anything of what was asked, of those that are looked at
        self.is_cut = False  # some of a block were not
        self.is_whole = True  # all of those that may say any of it were
        self._known: dict[int, tuple[Outline, list[int], list[int]]] = {}

    def ranked(self) -> list[RankedSection]:
        """Return the sections that say most of what was asked, the best first."""
        blocks = self._best_blocks()
        found = {(each.file.number, each.first): each for each in self._sections(blocks)}.values()
        rough = [(-said, each) for each in found if (said := self._may_say(each))]
        self.total = len(rough)
        best = [each for _, each in sorted(rough, key=lambda each: (each[0], *_place(each[1])))[:RANKED]]
        measured = [(each, self._measured(each)) for each in best]
        texts = defaultdict[int, list[float]](list)
        for each, found_in in measured:
            texts[each.file.number].append(found_in.text)
        around = {number: sum(sorted(some)[-AROUND:]) / AROUND for number, some in texts.items()}
        ranked = [self._ranked(each, found_in, around[each.file.number]) for each, found_in in measured]
        return sorted(
            (each for each in ranked if each.score > 0), key=lambda each: (-each.score, *_place(each.section))
        )

    def _sections(self, blocks: Sequence[tuple[int, int, int]]) -> Iterator[DocumentSection]:
        """Yield the sections of which lines are in some blocks, each once for each of them."""
        for number, first, last in blocks:
            self._check()
            file = self._corpus.blocks.file(number)
            part, places, starts = self._headings(number)
            line = first
            for _ in range(BLOCK_SECTIONS):
                at = bisect_right(starts, line) - 1
                begin = starts[at] if at >= 0 else 1
                end = starts[at + 1] - 1 if at + 1 < len(starts) else file.line_count or line
                begin += (line - begin) // MOST_LINES * MOST_LINES
                end = max(min(end, begin + MOST_LINES - 1), line)
                yield DocumentSection(
                    file, begin, end, self._corpus.outlines.row_of(part, places[at]) if at >= 0 else None
                )
                line = end + 1
                if line > last:
                    break
            else:
                self.is_cut, self.is_whole = True, False

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
                    rarity = self._corpus.rarity(int(holding.sum()), count)
                    self._weights[word] = self._asked.weight(word) * rarity**DAMPED
                shares = np.maximum(shares, np.float32(counts) * holding)
            scores += np.float32(self._weights[word]) * shares
        # Those that say the same, in the order of paths: where files have changed, numbers of blocks are in another.
        best = np.lexsort((self._corpus.files_of_blocks, -scores))[:READ_BLOCKS]
        self.is_whole = int(np.count_nonzero(scores)) <= READ_BLOCKS
        blocks = self._corpus.blocks
        return [
            (
                blocks.files_of[block],
                blocks.first_lines[block],
                blocks.first_lines[block] + blocks.text(block).count(b"\n"),
            )
            for block in best[scores[best] > 0].tolist()
        ]

    def _may_say(self, section: DocumentSection) -> float:
        """Return what the words count that a section may have, in its text, in a heading around it or in its path."""
        row, file = section.row, section.file
        place = f"{file.path} {row.qualified_name if row else ''}\n".encode()
        text = (place + self.text(file, section.first, section.last)).lower()
        return sum(
            weight * max((share for _, sign, share in self._signs[word] if sign in text), default=0.0)
            for word, weight in self._weights.items()
        )

    def _measured(self, section: DocumentSection) -> _Measured:
        row, file = section.row, section.file
        text = self.text(file, section.first, section.last)
        lower = text.lower()
        path = file.path.rpartition(".")[0] or file.path
        own = _words(row.name if row else path.rpartition("/")[2])
        around = {*_words(path), *(_words(row.qualified_name[: -len(row.name)]) if row else ())}
        length = _SLOPE * (1 - _SHARE + _SHARE * len(text) / BYTES)
        in_text = heading = place = lead = said = 0.0
        for word, weight in self._weights.items():
            times, first = self._times(word, text, lower)
            named, placed = self._in_names(word, own), self._in_names(word, around)
            in_text += weight * times * (_SLOPE + 1) / (times + length)
            heading += weight * named
            place += weight * placed
            lead += weight * first
            said += weight * max(min(times, 1.0), named, placed)
        most = sum(self._weights[word] for word in self._asked.plain)
        if not most:
            return _Measured(0.0, 0.0, 0.0)
        forms = [form for some in self.forms.values() for form, _ in some]
        asked_for = sum(max(_alike(form, each) for form in forms) for each in own) / max(len(own), 1)
        others = OF_HEADING * heading * asked_for**0.5 + OF_PLACE * place + OF_LEAD * lead
        return _Measured(in_text / most / (_SLOPE + 1), others / most, min(said / most, 1.0))

    def _times(self, word: bytes, text: bytes, lower: bytes) -> tuple[float, float]:
        """Return how often a text has a word, a form of it counting its share, and how surely its first lines do."""
        lead = lower.find(b"\n") + LEAD
        times = first = 0.0
        for form, sign, share in self._signs[word]:
            at = -1
            for _ in range(MOST_LOOKS):
                if (at := lower.find(sign, at + 1)) < 0:
                    break
                if found := surely(text, at, form) * share:
                    times += found
                    first = max(first, found) if at < lead else first
        return times, first

    def _in_names(self, word: bytes, names: Iterable[bytes]) -> float:
        """Return how surely the words of a heading or a path are a word: less where one begins like the other."""
        return max((share * _alike(form, each) for form, share in self.forms[word] for each in names), default=0.0)

    def _ranked(self, section: DocumentSection, measured: _Measured, document: float) -> RankedSection:
        whole = (OF_TEXT * measured.text + measured.others + OF_DOCUMENT * document) / _ALL
        return RankedSection(section, min(whole * _times(section.file.path), 1.0), measured.said)

    def text(self, file: File, first: int, last: int) -> bytes:
        """Return some lines of a file, as far as they are looked at."""
        blocks = self._corpus.blocks
        lines: list[bytes] = []
        for block in blocks.holding(file, first, last):
            at = blocks.first_lines[block]
            lines += self._corpus.text(block).split(b"\n")[max(first - at, 0) : last - at + 1]
        return b"\n".join(lines)


def _place(section: DocumentSection) -> tuple[int, int]:
    return section.file.number, section.first


def _alike(one: bytes, other: bytes) -> float:
    """Return 1 for the same word, less for two of which one begins the other: `auth` and `authentication`."""
    if one == other:
        return 1.0
    short, long = sorted((one, other), key=len)
    return BEGINNING if len(short) >= FAR and long.startswith(short) else 0.0


def _words(heading: str) -> list[bytes]:
    text = _ATTRIBUTES.sub("", heading).encode()
    return cutting.plain(word for name in cutting.names(text) for word in cutting.of_name(name))


def _times(path: str) -> float:
    """Return what a section of a file counts: changelogs come last, wherever they are."""
    if _CHANGES.search(path):
        return LAST_TIMES
    return FIRST_TIMES if _FIRST.search(path) else LAST_TIMES if _LAST.search(path) else 1.0
