"""Where in a file the answer is: its best definition, and the best lines of that."""

import re
from bisect import bisect_left
from collections import Counter
from typing import NamedTuple

from fledgling.worker import words as cutting
from fledgling.worker.ranking.corpus import MOST_BYTES
from fledgling.worker.ranking.features import Features, literal
from fledgling.worker.store.symbols import Row
from fledgling.worker.store.text import File

MOST_DEFINITIONS = 3000  # of a file that are looked at
MOST_LINES = 4000  # of a definition
BEST_LINES = 3  # of a passage, beside the first
OF_TEXT = 0.6  # of what a definition's name says, what its text may say
AROUND = 5  # lines before and behind the best one, where nothing is defined
SHORT = 20  # lines of a definition of which all counts
ASIDE = 0.5  # of what a definition counts, one among the tests of a file
_TESTS = re.compile(r"(?i)(?:^|\.)tests?(?:\.|$)")
_SMALL = frozenset({"variable", "constant", "property"})  # which are named only where their very name is asked for


class FileLines(NamedTuple):
    """Lines of a file: those of a definition, or of where most is said."""

    first: int
    last: int
    row: Row | None


def passage(features: Features, file: File) -> FileLines:
    """Return the passage of a file that says most of what was asked."""
    said = _said(features, file)
    best: tuple[float, FileLines] = (0.0, FileLines(1, file.line_count or 1, None))
    for row in features.corpus.outlines.definitions(file)[:MOST_DEFINITIONS]:
        if row.kind in _SMALL and cutting.whole(row.name.encode()) not in features.asked.exact:
            continue
        score = _named(features, row) + OF_TEXT * _share(features, said, row.line_start, row.line_end)
        if not features.asked.of_tests and _TESTS.search(row.qualified_name):
            score *= ASIDE
        if score > best[0]:
            best = score, FileLines(row.line_start, row.line_end, row)
    weights = Counter[int]()
    for word, lines in said.items():
        weights.update(dict.fromkeys(lines, features.weights[word]))
    if best[1].row is None and weights:
        line = min(weights, key=lambda number: (-weights[number], number))
        return FileLines(max(line - AROUND, 1), min(line + AROUND, file.line_count or line), None)
    return best[1]


def _said(features: Features, file: File) -> dict[bytes, list[int]]:
    """Return for each word of the question the lines of the best blocks of a file that have it, in order."""
    found: dict[bytes, list[int]] = {word: [] for word in features.asked.words}
    for block in sorted(features.best_blocks(file.number)):
        lines = features.corpus.lower(block).split(b"\n")
        first = features.corpus.blocks.first_lines[block]
        for word in found:
            text = literal(word)
            found[word] += [number for number, line in enumerate(lines, first) if text in line]
    return found


def _share(features: Features, said: dict[bytes, list[int]], first: int, last: int) -> float:
    """Return the share of the question that some lines say, less where they are many: a class holds all its methods."""
    weight = 0.0
    for word, lines in said.items():
        at = bisect_left(lines, first)
        if at < len(lines) and lines[at] <= last:
            weight += features.weights[word]
    return weight / features.total * float(min((SHORT / max(last - first + 1, 1)) ** 0.25, 1))


def _named(features: Features, row: Row) -> float:
    """Return how much of the question a name says, and how much of the name the question."""
    names = cutting.names(row.name.encode())
    if any(cutting.whole(name) in features.asked.exact for name in names):
        return 3.0
    found = {word for name in names for word in cutting.plain(cutting.of_name(name))}
    if not found:
        return 0.0
    hit = said = 0.0
    for word, variants in features.variants.items():
        share = max((share for variant, share in variants if variant in found), default=0.0)
        hit += share
        said += share * features.weights[word] * features.asked.weight(word)
    return said / features.total * min(hit / len(found), 1.0)


def best_lines(features: Features, file: File, lines: FileLines) -> list[tuple[int, str]]:
    """Return the lines of a passage that say most, and its first one, in their order."""
    corpus = features.corpus
    scored: list[tuple[float, int, str]] = []
    literals = [(literal(word), features.weights[word]) for word in features.asked.words]
    for block in corpus.blocks.holding(file, lines.first, min(lines.last, lines.first + MOST_LINES)):
        first = corpus.blocks.first_lines[block]
        for number, line in enumerate(corpus.blocks.text(block)[:MOST_BYTES].split(b"\n"), first):
            if lines.first <= number <= lines.last and line.strip():
                lower = line.lower()
                score = sum(weight for text, weight in literals if text in lower)
                if score:
                    scored.append((-score, number, line.decode(errors="ignore")))
    return sorted((number, line) for _, number, line in sorted(scored)[:BEST_LINES])
