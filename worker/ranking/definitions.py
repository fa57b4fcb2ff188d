"""Which definitions of a file are meant: each is ranked by words of its own, not by those of its file.

They are those of its name, of the comment above it and of its lines; of the lines of a definition inside it, a share.
"""

from collections.abc import Callable, Collection, Iterator
from functools import partial
from heapq import nlargest
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fledgling.worker import words as cutting
from fledgling.worker.deferred import deferred
from fledgling.worker.ranking.features import FAR, Features
from fledgling.worker.store.symbols import DEFINITIONS, KINDS, Outline, Row
from fledgling.worker.store.text import File

# What a file costs, whoever writes it; what is behind these is not looked at.
MOST_BLOCKS = 8  # of a file, the best, some 30 KB: three times as many find no more, and take twice the time
LEAST_OF_BEST = 0.2  # of what the best of these may say, what another may: less says nothing of what is asked
MOST_LOOKS = 32  # for a word in a block: one that stands there more often says no more
MOST_DEFINITIONS = 3000  # of a file, from the top
MOST_NAMED = 24  # of those, the ones whose lines say most: twice as many as an answer names of a file
MOST_TIMES = 4  # a word in a definition: more would say no more
# What a line is about.
DEEP = 3  # definitions around it that it says something of: a method, its class, and one around that
ABOVE = 40  # lines between a comment and its definition: a long comment begins so far above
WORD_FOR_WORD = (
    0.95  # of a question, whose words stand beside each other: all of them, or but for one that is everywhere
)
BESIDE = 2  # lines that say a question together, word for word: a sentence may go on on the next one
OWNED = 100  # lines of a definition that stands for lines in it: of more, they themselves say where it is
NEXT = 8  # symbols behind a comment, of which its definition is one: imports may stand between
LINE_BYTES = 200  # of a line, by which it is known as a comment: more is no indentation
# How far a word is said by a name, by a comment and by another line that have it, once. These, and the shares below,
# are no fit: to twice or half of each the questions of held_out.toml are answered about as well.
BY_NAME, BY_COMMENT, BY_LINE = 0.6, 0.45, 0.3
BEGINNING = 0.5  # of a word, what one counts that begins like it
OF_INSIDE = 0.35  # of what a line says of a definition, what it says of the one around that
OF_NAME = 0.35  # of what is said, what comes on top where the whole name was asked for, and more than the name says it
NAME_WORDS = 4  # of a name: of a longer one each says that much less, as of eight words half; 98 of 100 are no longer
EXACT = 3.0  # what a definition counts whose very name is asked for
SHORT = 20  # lines of a definition of which all counts
ASIDE = 0.5  # of what a definition counts, a test or one that only makes or ends an object
_TESTS = deferred(r"(?i)(?:^|\.)tests?(?:[._]|$)")
_SMALL = frozenset({"variable", "constant", "property"})  # which are named only where their very name is asked for
_AROUND = frozenset({"namespace", "module"})  # which hold what is meant, and say nothing
_COMMENT = (b"//", b"/*", b"*", b"#", b"--", b";", b"%", b"{-", b"(*", b"<!--")


class Hit(Struct, frozen=True, gc=False):
    """A word of the question on a line: which it is, how surely it is that, and whether the line looks like a comment,
    or goes on in one: to rank by those, too, does better on some questions of held_out.toml, and worse on others.
    """

    line: int
    word: bytes
    share: float
    is_comment: bool
    is_inside: bool


class ScoredDefinition(NamedTuple):
    """A definition, how much speaks for it, and the words of the question that it has."""

    row: Row
    score: float
    words: Collection[bytes]


class Together(NamedTuple):
    """Lines beside each other that have the very words of a question: the share of it, the first of them, and the
    definition that they are of, in it or in the comment above it.
    """

    share: float
    line: int
    row: Row | None = None


class Saying(Struct, frozen=True, gc=False):
    """How far a line says a word of a definition, and whether it is of the comment above it."""

    share: float
    is_comment: bool


_Said = dict[bytes, list[Saying]]  # of each word, the lines that say it


class Definitions:
    """The definitions of files that say something of what was asked, each file looked at once.

    >>> Definitions(features).best(file)[0].row.name
    'retry'
    """

    def __init__(self, features: Features) -> None:
        self.features = features
        self._best: dict[int, list[ScoredDefinition]] = {}
        self._together: dict[int, Together | None] = {}

    def best(self, file: File) -> list[ScoredDefinition]:
        """Return those of a file, the best first, of each name one."""
        if file.number not in self._best:
            self.features.check()
            outlines = self.features.corpus.outlines
            part = outlines.outline(file.number)
            found_hits = [*hits(self.features, file)]
            self._together[file.number] = self._whose(part, _together(self.features, found_hits), found_hits)
            by_place = _said(part, found_hits, partial(self._may_be_meant, part))
            worth = self.features.worth
            most = nlargest(MOST_NAMED, by_place, key=lambda place: sum(map(worth.__getitem__, by_place[place])))
            rows = [(outlines.row_of(part, place), by_place[place]) for place in most]
            found = [ScoredDefinition(row, _score(self.features, row, said), said) for row, said in rows]
            found.sort(key=lambda each: (-each.score, each.row.line_start))
            by_name = {each.row.qualified_name: each for each in reversed(found) if each.score}
            self._best[file.number] = sorted(by_name.values(), key=lambda each: (-each.score, each.row.line_start))
        return self._best[file.number]

    def together(self, file: File) -> Together | None:
        """Return the lines beside each other that say the question word for word, if any do."""
        self.best(file)
        return self._together[file.number]

    def _whose(self, part: Outline, together: Together | None, found_hits: list[Hit]) -> Together | None:
        """Return lines beside each other with the definition that says most of them, the innermost of several."""
        if not together:
            return None
        lines = range(together.line, together.line + BESIDE)
        there = [replace(hit, is_comment=hit.is_comment or hit.is_inside) for hit in found_hits if hit.line in lines]
        said = _said(part, there, partial(self._may_be_meant, part))
        shares = {place: sum(each.share for times in words.values() for each in times) for place, words in said.items()}
        rows = [self.features.corpus.outlines.row_of(part, place) for place in sorted(said, key=lambda at: -shares[at])]
        row = next((row for row in rows if row.kind not in _AROUND), None)
        is_owned = row and (row.line_end - row.line_start < OWNED or together.line < row.line_start)
        return together._replace(row=row if is_owned else None)

    def _may_be_meant(self, part: Outline, place: int) -> bool:
        """Return whether the symbol at a place is a definition, a small one only where its very name is asked for."""
        if KINDS[part.kinds[place]] not in _SMALL:
            return part.kinds[place] < DEFINITIONS
        exact = self.features.asked.exact
        return bool(exact) and _is_asked_for(self.features.corpus.outlines.row_of(part, place), exact)


def _is_asked_for(row: Row, exact: Collection[bytes]) -> bool:
    """Return whether the very name of a definition is asked for."""
    return bool(exact) and any(cutting.whole(name) in exact for name in cutting.names(row.name.encode()))


def hits(features: Features, file: File) -> Iterator[Hit]:
    """Yield where words of the question stand in the best blocks of a file, in the order of lines: each on a line once,
    as a comment may say it a thousand times.
    """
    corpus = features.corpus
    blocks = np.arange(file.block, file.block + file.blocks)
    best = blocks[np.argsort(-features.blocks[blocks], kind="stable")[:MOST_BLOCKS]]
    scores = features.blocks[best]
    for block in sorted(best[scores > LEAST_OF_BEST * scores.max(initial=0)].tolist()):
        text = corpus.text(block)
        lower = text.lower()
        line, begin, end, is_comment, is_inside = corpus.blocks.first_lines[block], 0, -1, False, False
        inside, said = [*_comments(lower)], dict[bytes, float]()  # on the line, how surely each word
        for at, word, share in sorted(_in_text(features, text, lower)):
            if at > end:
                line += lower.count(b"\n", begin, at)
                begin = lower.rfind(b"\n", 0, at) + 1
                end = lower.find(b"\n", at)
                end = end if end >= 0 else len(lower)
                is_comment = lower[begin : begin + LINE_BYTES].lstrip().startswith(_COMMENT)
                is_inside = any(opens < begin < closes for opens, closes in inside)
                said.clear()
            elif share <= said.get(word, 0.0):
                continue
            said[word] = share
            yield Hit(line, word, share, is_comment, is_inside)


def _comments(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield where comments of many lines begin at the margin of a text, and where they end."""
    end = 0
    while (opens := text.find(b"/*", end)) >= 0:
        begins = text.rfind(b"\n", 0, opens) + 1
        is_at_margin = begins >= end and not text[begins:opens].strip(b" \t")
        closes = text.find(b"*/" if is_at_margin else b"\n", opens + 2)
        if closes < 0:
            return
        if is_at_margin:
            yield begins, closes
        end = closes


def _in_text(features: Features, text: bytes, lower: bytes) -> Iterator[tuple[int, bytes, float]]:
    """Yield where words of the question begin in a text, and how surely each is that word."""
    for word, form, sign, counts in features.signs:
        at = -1
        for _ in range(MOST_LOOKS):
            if (at := lower.find(sign, at + 1)) < 0:
                break
            share = surely(text, at, form)
            if share == 1.0 or (share and form == word):
                yield at, word, share * counts


def surely(text: bytes, at: int, word: bytes) -> float:
    """Return how surely a word begins at a place: 1 for the word, less for a longer one, 0 in the middle of another.

    >>> [surely(text, 2, b"tab") for text in (b"  tabs", b"  table", b"a_TAB", b"stab")]
    [1.0, 0.0, 1.0, 0.0]
    """
    part = cutting.part_at(text, at)
    if part and cutting.stem(part) == word:
        return 1.0
    return BEGINNING if part and len(word) >= FAR else 0.0


def _said(part: Outline, found: list[Hit], may_be_meant: Callable[[int], bool]) -> dict[int, _Said]:
    """Return what definitions that may be meant say, by their places: the one that a line is in, those around that, and
    the one below a comment. Of comments no more lines say a word than there are behind the first of the definition, so
    that many above a stub say no more than one.
    """
    said: dict[int, _Said] = {}
    open_: list[int] = []
    place, places = 0, min(len(part.starts), MOST_DEFINITIONS)
    for hit in found:
        while place < places and part.starts[place] <= hit.line:
            if part.lasts[place] >= hit.line and may_be_meant(place):
                while open_ and part.lasts[open_[-1]] < part.starts[place]:
                    open_.pop()
                open_.append(place)
            place += 1
        while open_ and part.lasts[open_[-1]] < hit.line:
            open_.pop()
        around = open_[: -DEEP - 1 : -1]
        below = _below(part, place, hit.line, may_be_meant) if hit.is_comment else None
        if below is not None and (not around or part.lasts[around[0]] >= part.lasts[below]):
            around = [below, *around]
        for depth, each in enumerate(around):
            times = said.setdefault(each, {}).setdefault(hit.word, [])
            is_comment = hit.is_comment and not depth
            behind = part.lasts[each] - part.starts[each] if is_comment else MOST_TIMES
            if len(times) < min(max(behind, 1), MOST_TIMES):
                times.append(Saying(hit.share * OF_INSIDE**depth, is_comment))
    return said


def _together(features: Features, found: list[Hit]) -> Together | None:
    least = features.least_words(WORD_FOR_WORD)
    there = [hit for hit in found if hit.share == 1.0]
    if len({hit.word for hit in there}) < least:  # as in nearly all files
        return None
    by_line: dict[int, set[bytes]] = {}
    for hit in there:
        by_line.setdefault(hit.line, set()).add(hit.word)
    beside = ((line, [by_line.get(line + more, ()) for more in range(BESIDE)]) for line in by_line)
    many = ((line, set[bytes]().union(*words)) for line, words in beside if sum(map(len, words)) >= least)
    shares = (Together(features.share(said), line) for line, said in many if len(said) >= least)
    return max((each for each in shares if each.share >= WORD_FOR_WORD), default=None)


def _below(part: Outline, place: int, line: int, may_be_meant: Callable[[int], bool]) -> int | None:
    """Return the definition that a comment on a line stands above of; `place` is that of the first symbol behind it."""
    for each in range(place, min(place + NEXT, len(part.starts), MOST_DEFINITIONS)):
        if part.starts[each] > line + ABOVE:
            return None
        if part.kinds[each] < DEFINITIONS:
            return each if may_be_meant(each) else None
    return None


def _score(features: Features, row: Row, said: _Said) -> float:
    """Return the share of the question that a definition says, rare words counting more."""
    asked = features.asked
    if _is_asked_for(row, asked.exact):
        return EXACT
    if row.kind in _AROUND or (row.kind == "macro" and row.line_start == row.line_end):
        return 0.0
    makes = ("__init__", (row.parent_name or "").rpartition(".")[2])
    is_special = row.name in makes or row.name.startswith(("~", "operator"))
    in_name = {*cutting.plain(cutting.words(row.name.encode()))}
    is_aside = is_special or (not asked.of_tests and _TESTS.search(row.qualified_name) is not None)
    shortness = float(min((SHORT / max(row.line_end - row.line_start + 1, 1)) ** 0.25, 1))
    part_counts = min(NAME_WORDS / max(len(in_name), 1), 1.0)
    shares: dict[bytes, float] = {}  # how far the name says each word of the question
    for part in () if is_special else in_name:
        for word, share in features.words_of_form.get(part, ()):
            shares[word] = max(shares.get(word, 0.0), share * part_counts)
    total = named = 0.0
    for word in asked.words:
        share = shares.get(word, 0.0)
        if not (share or word in said):
            continue
        named += share
        unsaid = 1 - BY_NAME * share
        for each in said.get(word, ()):
            unsaid *= 1 - each.share * (BY_COMMENT if each.is_comment else BY_LINE * shortness)
        total += (1 - unsaid) * features.worth[word]
    is_backed = any(len(times) > 1 or word not in shares for word, times in said.items())
    of_name = OF_NAME * min(named / max(len(in_name), 1), 1.0) if is_backed else 0.0
    return total / features.total * (1 + of_name) * (ASIDE if is_aside else 1)
