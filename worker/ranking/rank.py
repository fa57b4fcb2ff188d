"""From a question to the files that are about it, the best first, and whether any says enough of it."""

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fledgling.worker.ranking.asked import AskedWords
from fledgling.worker.ranking.corpus import Corpus, Scores
from fledgling.worker.ranking.definitions import Definitions
from fledgling.worker.ranking.features import Features, literal, of_most
from fledgling.worker.ranking.weights import WEIGHTS
from fledgling.worker.words import Field

MOST = 50  # files of an answer
FIRST = 10  # files of which one at least has to say what is asked
LOOKED_AT = 200  # files whose paths are looked at; of four more one may be a test
READ = 40  # files whose text is looked at: of what fields rank behind them, nothing comes to be the first
DEFINED = 12  # files whose definitions have a say: those of an answer of ten, and two that may come among them
# What the best definition of a file counts beside WEIGHTS, where no identifier is asked for: that is answered by where
# it is defined. More does better on questions of held_out.toml, and worse on those that the weights are fitted to.
OF_DEFINITION = 1.0
LEAST = 0.15  # of what the question could have scored: no file that was meant by one of those questions has less
BESIDE = 0.1  # of what the first file counts: what counts less beside it is no answer
ASIDE = 0.4  # of what a file counts, one of tests, examples or what is not the project's own
# The share of the question that the best files say, rare words counting more, and the best score, together: of 480
# questions about what is there 7 find less, of 480 about what is not (GPU kernels in a web framework) 440.
SAID = 0.9

_ASIDE = re.compile(
    r"(?i)(?:^|/)(?:__tests__|_?(?:tests?|specs?|testing|testdata|examples?|samples?|demos?|docs?|bench(?:mark)?s?|compat"
    r"|legacy|deprecated|vendor|third_party|fixtures?|mocks?))(?:/|$)"
    r"|(?:_test|_spec|\.test|\.spec|tests?|_benchmark|_bench)\.\w+$|(?:^|/)test_|^t/|\.d\.ts$"
)
_SAYING = (Field.BASE, Field.DIRECTORY, Field.DEFINITION, Field.COMMENT)


class RankedFile(NamedTuple):
    """A file: its number, its score beside what the question could have scored, and its rank by its text alone."""

    file: int
    score: float
    text_rank: int
    text_score: float


class FileOrder(NamedTuple):
    """Files, the best first, and how many say some of what was asked; `said` is the share that the best say of it, and
    `best` the best score without definitions.
    """

    ranked: list[RankedFile]
    total: int
    said: float
    best: float
    definitions: Definitions

    @property
    def features(self) -> Features:
        """What speaks for files."""
        return self.definitions.features

    @property
    def is_said(self) -> bool:
        """Whether they say enough of it."""
        return self.best >= LEAST and self.said + self.best >= SAID


def rank(
    corpus: Corpus, asked: AskedWords, leaves: npt.NDArray[np.bool_], check: Callable[[], None] = lambda: None
) -> FileOrder:
    """Rank the files that `leaves` marks.

    >>> rank(corpus, asked("retry failed uploads"), corpus.is_code).ranked[0].file
    17
    """
    features = Features(corpus, asked, check)
    definitions = Definitions(features)
    scores = sum((np.float32(WEIGHTS[name]) * found for name, found in features.of_all.items()), _nothing(corpus))
    scores = np.where(leaves & corpus.is_code, scores, 0)
    first = np.argsort(-scores, kind="stable")[:LOOKED_AT]
    first = first[scores[first] > 0]
    aside = np.array([1.0 if asked.of_tests or not is_aside(corpus.blocks.path(file)) else ASIDE for file in first])
    turns = np.argsort(-scores[first] * aside, kind="stable")
    first, aside = first[turns], aside[turns]
    values = _read(features, first, scores[first]) * aside
    most = _best(asked)
    best = min(float(values.max(initial=0)) / most, 1.0)
    if not (asked.exact or asked.joined):
        values = values + OF_DEFINITION * _of_definitions(definitions, first, values) * aside
        most += OF_DEFINITION
    order = np.argsort(-values, kind="stable")[:MOST]
    order = order[values[order] >= BESIDE * values[order[:1]].sum()]
    text_ranks = np.argsort(np.argsort(-features.of_all["text"][first], kind="stable"))
    ranked = [
        RankedFile(
            int(first[at]),
            min(float(values[at]) / most, 1.0),
            int(text_ranks[at]) + 1,
            float(features.of_all["text"][first[at]]),
        )
        for at in order
    ]
    said = max((share_said(features, each.file) for each in ranked[:FIRST]), default=0.0)
    return FileOrder(ranked, int((scores > 0).sum()), said, best, definitions)


def _read(features: Features, files: npt.NDArray[np.intp], scores: Scores) -> Scores:
    """Return the scores of files, the text of the first of them counted as it stands."""
    weight, read = np.float32(WEIGHTS["text"]), files[:READ]
    counted = features.counted(read.tolist()) - features.of_all["text"][read]
    return np.asarray(scores + weight * np.append(counted, np.zeros(len(files) - len(read), np.float32)), np.float32)


def _of_definitions(definitions: Definitions, files: npt.NDArray[np.intp], values: Scores) -> Scores:
    """Return what the best definition of each file says beside the best of all; 0 for files that are not among the
    first by their values.
    """
    found = np.zeros(len(files), np.float32)
    for at in np.argsort(-values, kind="stable")[:DEFINED].tolist():
        if best := definitions.best(definitions.features.corpus.blocks.file(int(files[at]))):
            found[at] = best[0].score
    return of_most(found)


def is_aside(path: str) -> bool:
    """Return whether a file is of tests, examples, or not the project's own: `is_aside("tests/test_a.py")`."""
    return _ASIDE.search(path) is not None


def share_said(features: Features, file: int) -> float:
    """Return the share of the question that a block of a file says, or its fields, rare words counting more."""
    asked, corpus = features.asked, features.corpus
    if not asked.plain:
        return 0.0
    texts = [corpus.lower(block) for block in features.best_blocks(file)]
    own = {word: {variant for variant, _ in features.variants[word]} for word in asked.words}  # and no synonyms
    by_fields = {word for word in asked.words if own[word] & {*where(features, file, word).values()}}
    by_blocks = ({word for word in asked.words if literal(word) in text} for text in texts)
    weighed = (sum(features.weights[word] for word in said) for said in [by_fields, *by_blocks])
    return min(1.0, max(weighed) / features.total)


def where(features: Features, file: int, word: bytes) -> dict[Field, bytes]:
    """Return the fields of a file that have a word, each with the variant of it that is there."""
    found: dict[Field, bytes] = {}
    for variant, _ in features.all_forms[word]:
        for field in _SAYING:
            files = features.corpus.files_with(field, variant)
            at = int(np.searchsorted(files, file))
            if field not in found and at < len(files) and files[at] == file:
                found[field] = variant
    return found


def _best(asked: AskedWords) -> float:
    """Return what a file would score of which everything speaks that can speak for one of the question."""
    silent = set()
    if not asked.exact:
        silent |= {"exact definition", "exact base"}
    if not (asked.pairs or asked.joined):
        silent |= {"pair as base", "pair in text"}
    if not asked.joined:
        silent.add("joined as export")
    return sum(weight for name, weight in WEIGHTS.items() if name not in silent)


def _nothing(corpus: Corpus) -> Scores:
    return np.zeros(corpus.files, np.float32)
