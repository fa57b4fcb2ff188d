"""From a question to the files that are about it, the best first, and whether any says enough of it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fledgling.worker import words as cutting
from fledgling.worker.arrays import NDArray
from fledgling.worker.deferred import deferred
from fledgling.worker.of_tests import without_packages
from fledgling.worker.ranking.asked import AskedWords
from fledgling.worker.ranking.corpus import Corpus, Scores
from fledgling.worker.ranking.definitions import BY_NAME, Definitions
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
# Likewise, that words beside each other in the question stand near each other in its text. Chosen on the development
# questions and 1,437 to 53 other projects, made by rule of their commits and comments, which gain by it.
OF_NEAR = 0.25
BESIDE = 0.1  # of what the first file counts: what counts less beside it is no answer
ASIDE = 0.4  # of what a file counts, one of tests, examples or what is not the project's own; one a program wrote
OF_BLOCK = 0.5  # of what a definition that says a question counts for it, a block outside all definitions
# How far the first files say a question, each by its best definition, and their best score, together, and SAID_NEAR of
# the share of its pairs of words that stand near each other in one. With less than SAID nothing says it; with less than
# SURE that is in doubt. SAID was chosen on held_out.toml; how much pairs count, and SURE beside them, on questions that
# were made by rule, half of them asked of projects that they are not about.
SAID_NEAR = 0.3
SAID, SURE = 0.65, 0.91

# com.example and com.example.demo are the packages that a project of Spring begins with; Test/ holds modules of Perl.
_ASIDE = deferred(
    r"(?i)(?:^|/)(?!(?-i:Test)/.*\.pm$)"
    r"(?:__tests__|lib_test|[a-z]+[_-]tests|_?(?:tests?|specs?|testing|testdata|examples|samples?|demos"
    r"|(?<!^com/)(?<!/com/)example"
    r"|(?<!^com/example/)(?<!/com/example/)demo|docs?|bench(?:mark)?s?|compat|legacy|deprecated|vendor|third_party"
    r"|fixtures?|mocks?))(?:/|$)"
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
    """Files, the best first, and how many say some of what was asked; `said` is how far the first of them say it."""

    ranked: list[RankedFile]
    total: int
    said: float
    definitions: Definitions

    @property
    def features(self) -> Features:
        """What speaks for files."""
        return self.definitions.features

    @property
    def is_said(self) -> bool:
        """Whether they say enough of it."""
        return self.said >= SAID

    @property
    def is_sure(self) -> bool:
        """Whether they say so much of it that it is not in doubt."""
        return self.said >= SURE


def rank(corpus: Corpus, asked: AskedWords, leaves: NDArray[np.bool_], check: Callable[[], None]) -> FileOrder:
    """Rank the files that `leaves` marks; `check` raises where the call is to end.

    >>> rank(corpus, asked("retry failed uploads"), corpus.is_code, request.check).ranked[0].file
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
    is_named = bool(asked.exact or asked.joined)
    values, near = _read(features, first, scores[first], near=not is_named)
    values = values * aside
    most = _best(asked)
    best = min(float(values.max(initial=0)) / most, 1.0)
    is_generated = np.array([file in corpus.generated for file in first.tolist()], bool)
    aside = np.where(is_generated, aside * ASIDE, aside)
    values = np.where(is_generated, values * ASIDE, values)
    if not is_named:
        values = values + OF_NEAR * near * aside
        most += OF_NEAR if len(asked.telling) > 1 else 0
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
    said = best + max((_said(definitions, each.file) for each in ranked[:FIRST]), default=0.0)
    said += SAID_NEAR * max((float(near[at]) for at in order[:FIRST]), default=0.0)
    return FileOrder(ranked, int((scores > 0).sum()), said, definitions)


def _read(features: Features, files: NDArray[np.intp], scores: Scores, *, near: bool) -> tuple[Scores, Scores]:
    """Return the scores of files, the text of the first of them counted as it stands, and, where `near` asks for it,
    which share of the pairs of words stand near each other in these.
    """
    weight, read, rest = np.float32(WEIGHTS["text"]), files[:READ], np.zeros(len(files[READ:]), np.float32)
    counted, shares = features.read(read.tolist(), near=near)
    counted = counted - features.of_all["text"][read]
    return np.asarray(scores + weight * np.append(counted, rest), np.float32), np.append(shares, rest)


def _of_definitions(definitions: Definitions, files: NDArray[np.intp], values: Scores) -> Scores:
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
    return _ASIDE.search(without_packages(path)) is not None


def _said(definitions: Definitions, number: int) -> float:
    """Return how far a file says a question: by its path, or its best definition, or a block where none says any.

    Where lines beside each other have its words, it says it wherever these stand.
    """
    features = definitions.features
    corpus, plain = features.corpus, features.asked.plain
    path = {*cutting.words(corpus.blocks.path(number).encode())}
    named = features.share(word for word in plain if any(form in path for form, _ in features.variants[word]))
    file = corpus.blocks.file(number)
    if definitions.together(file):
        return SURE
    if best := definitions.best(file):
        return max(best[0].score, BY_NAME * named)
    texts = map(corpus.lower, features.best_blocks(number))
    said = (features.share(word for word in plain if literal(word) in text) for text in texts)
    return max(BY_NAME * named, OF_BLOCK * max(said, default=0.0))


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
