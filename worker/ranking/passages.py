"""Where in a file the answer is: its best definitions, and the best lines of the first."""

from collections import defaultdict
from math import fsum
from typing import NamedTuple

from fledgling.worker.ranking.corpus import MOST_BYTES
from fledgling.worker.ranking.definitions import BESIDE, WORD_FOR_WORD, Definitions, hits
from fledgling.worker.ranking.features import Features, literal
from fledgling.worker.store.symbols import Row
from fledgling.worker.store.text import File

MOST_LINES = 4000  # of a definition
BEST_LINES = 1  # of a passage: where three are shown fewer definitions are named, and the one that is meant less often
AROUND = 5  # lines before and behind the best one, where nothing is defined


class FileLines(NamedTuple):
    """Lines of a file: those of a definition, or of where most is said."""

    first: int
    last: int
    row: Row | None


def passage(definitions: Definitions, file: File) -> FileLines:
    """Return the passage of a file that says most of what was asked: its best definition, or that of lines word for
    word, or those lines.
    """
    together = definitions.together(file)
    if (found := definitions.best(file)) and not (
        together and definitions.features.share(found[0].words) < WORD_FOR_WORD
    ):
        row = found[0].row
        return FileLines(row.line_start, row.line_end, row)
    if together and together.row:
        return FileLines(together.row.line_start, together.row.line_end, together.row)
    if together:
        return FileLines(together.line, min(together.line + BESIDE - 1, file.line_count or together.line), None)
    said = defaultdict[int, set[bytes]](set)
    for hit in hits(definitions.features, file):
        said[hit.line].add(hit.word)
    if not said:
        return FileLines(1, file.line_count or 1, None)
    line = min(said, key=lambda number: (-fsum(map(definitions.features.weights.__getitem__, said[number])), number))
    return FileLines(max(line - AROUND, 1), min(line + AROUND, file.line_count or line), None)


def best_lines(features: Features, file: File, lines: FileLines) -> list[tuple[int, str]]:
    """Return the lines of a passage that say most, in their order."""
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
