"""Features: what speaks for each file, as numbers from nothing to one. weights.py says what each is worth.

Two steps. Fields and the blocks that may hold a word are looked at for all files, on whole arrays; the text itself only
of the best blocks of the best files, where a word is counted as it stands.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from math import fsum

import numpy as np

from fledgling.worker import words as cutting
from fledgling.worker.arrays import NDArray
from fledgling.worker.ranking.asked import AskedWords
from fledgling.worker.ranking.corpus import Corpus, Scores
from fledgling.worker.ranking.synonyms import synonyms
from fledgling.worker.store.words import firsts
from fledgling.worker.words import Field

DECAY = np.array([1, 0.25, 0.12, 0.06], np.float32)  # of a file's best blocks: what the first counts, the second, ...
BEST_BLOCKS = 400  # of all files: of those behind them none is among the first of a file that matters
VARIANTS = 12  # words of names that begin like a word, or that it begins with
NEAR, FAR = (
    3,
    4,
)  # letters that two words that begin alike may differ in and still be near; letters that are a beginning
_LONGER, _MUCH_LONGER, _SHORTER, _MUCH_SHORTER = 0.8, 0.5, 0.6, 0.35  # of a word, what one that begins alike counts
SYNONYM = 0.3  # likewise, one that is often written for it; more does better on held_out.toml, and worse on others
_DIRECTORY_SHARE = 0.7  # of a word in a name, what one in a directory's counts
BLOCK_BYTES = 4000  # of an ordinary block
TOGETHER = 64  # bytes between the beginnings of two words that stand near each other: a line, or a name of both
LOOKS = 24  # in a block, for the rarer of two words: one that is everywhere says little of what stands near it
AMBIGUOUS = 4  # letters of a word that begin many others, and stand in the middle of more: there it is not looked for
VERIFIED = 2**22  # bytes of text that are looked at for a word that no name and no comment has: five milliseconds
_OF_ACRONYM = 2  # times the share of a question that a name of one word is, what it counts as a name
_NAMING = (Field.BASE, Field.DIRECTORY, Field.DEFINITION, Field.COMMENT)
_SLOPE, _SHARE = 1.2, 0.6  # of BM25 over blocks, as in corpus.PARAMETERS

Table = dict[str, Scores]  # of each feature, a number for each file


class Features:
    """What speaks for each file that it is what was asked for.

    >>> features = Features(corpus, asked("retry failed uploads"), request.check)
    >>> features.of_all["comments"].shape
    (812,)
    >>> [found.shape for found in features.read([3, 17], near=True)]
    [(2,), (2,)]
    """

    def __init__(self, corpus: Corpus, asked: AskedWords, check: Callable[[], None]) -> None:
        """Look at fields and blocks; `check` raises where the call is to end."""
        self.corpus, self.asked, self.check = corpus, asked, check
        self.variants = {word: [(word, 1.0), *self._variants(word)] for word in asked.words}
        self.synonyms = {word: [*self._synonyms(word)] for word in asked.words}
        self.forms = {word: [(word, 1.0), *self.synonyms[word]] for word in asked.words}
        self.signs = [  # by which a text shows that it may have a form of a word, and what that counts
            (word, form, literal(form), share) for word, forms in self.forms.items() for form, share in forms
        ]
        self.all_forms = {word: [*self.variants[word], *self.synonyms[word]] for word in asked.words}
        self.words_of_form: dict[bytes, list[tuple[bytes, float]]] = {}  # of each form, the words that it may stand for
        for word, forms in self.all_forms.items():
            for form, share in forms:
                self.words_of_form.setdefault(form, []).append((word, share))
        self.literals = {word: as_asked(word, asked.form(word).encode()) for word in asked.words}
        self.rarity_in_blocks: dict[bytes, float] = {}
        self.weights: dict[bytes, float] = {}  # what each word counts: the rarer, the more
        self.unknown: list[bytes] = []  # words that no file has
        self.blocks = self._score_blocks()
        self.worth = {word: weight * asked.weight(word) for word, weight in self.weights.items()}  # in this question
        self.total = sum(map(self.worth.__getitem__, asked.plain)) or 1.0
        self.of_all: Table = {
            "text": of_most(self._decayed(self.blocks)),
            "comments": of_most(self._fields(Field.COMMENT)),
            "header": of_most(self._fields(Field.HEADER)),
            "public": of_most(self._fields(Field.PUBLIC)),
            "definitions": of_most(self._varied(Field.DEFINITION, self.all_forms)),
            "directory": of_most(self._fields(Field.DIRECTORY)),
            "exports": of_most(self._fields(Field.EXPORT)),
            "base covered": self._base_covered(varied=False),
            "base covered by beginnings": self._base_covered(varied=True),
            "covered by names": self._covered_by_names(),
            "pair as base": of_most(self._joined(Field.BASE, (*asked.pairs, *asked.joined))),
            "pair in text": of_most(self._pairs_in_text()),
            "joined as export": of_most(self._joined(Field.EXPORT, asked.joined)),
            "exact definition": self._exact((Field.DEFINITION, Field.PUBLIC)),
            "exact base": self._exact((Field.BASE,)),
        }

    def _variants(self, word: bytes) -> Iterable[tuple[bytes, float]]:
        """Yield words of names that begin like a word, each with what it counts beside it: `auth`, `authentication`."""
        if len(word) < FAR:
            return
        for count, other in enumerate(self.corpus.words.beginning(word)):
            if count == VARIANTS:
                return
            more = len(other) - len(word)
            if more > 0:
                yield other, _LONGER if more <= NEAR else _MUCH_LONGER
            else:
                yield other, _SHORTER if -more <= NEAR else _MUCH_SHORTER

    def _synonyms(self, word: bytes) -> Iterable[tuple[bytes, float]]:
        """Yield what may be written for a word of the question; other ways to say it have been given already."""
        if word in self.asked.plain:
            yield from ((other, SYNONYM) for other in synonyms(word) if other not in self.asked.words)

    # ---- text --------------------------------------------------------------------------------------------------------

    def _score_blocks(self) -> Scores:
        """Return what each block may say of what was asked, and note what each word counts."""
        corpus, scores = self.corpus, np.zeros(len(self.corpus.files_of_blocks), np.float32)
        count = int(corpus.code_blocks.sum())
        for word in self.asked.words:
            self.check()
            is_there = np.zeros(corpus.files + 1, bool)
            if (holding := corpus.holding(literal(word))) is not None:
                rarity = corpus.rarity(int(holding.sum()), count)
                self.rarity_in_blocks[word] = rarity
                scores += np.float32(self.asked.weight(word) * rarity) * holding
                is_there[corpus.files_of_blocks[holding]] = True
            fields = [corpus.files_with(field, word) for field in _NAMING]
            for files in fields:
                is_there[files] = True
            self.weights[word] = corpus.rarity(int(is_there.sum()), corpus.count)
            if not any(map(len, fields)) and not self._may_be_in_text(word, holding):
                self.unknown.append(word)
        return scores

    def _may_be_in_text(self, word: bytes, holding: NDArray[np.bool_] | None) -> bool:
        """Return whether a block may have a word, as far as a look at those tells that may hold it; None are not known.

        The n-grams of a word that no file has are often in a text, though not beside each other.
        """
        if holding is None or not word.isascii():
            return True
        left = VERIFIED
        for block in np.flatnonzero(holding).tolist():
            text = self.corpus.blocks.text(block)
            left -= len(text)
            if left < 0 or literal(word) in text.lower():
                return True
        return False

    def share(self, said: Iterable[bytes]) -> float:
        """Return the share of the question that some of its words are, rare ones counting more.

        The sum is exact: words come from sets, and in another order others would be as good as the best.
        """
        return min(fsum(map(self.worth.__getitem__, said)) / self.total, 1.0)

    def least_words(self, share: float) -> int:
        """Return how many words at least have a share of the question: with fewer it need not be added up."""
        weights = sorted(self.worth.values(), reverse=True)
        sums = accumulate(weights)
        return next((count for count, found in enumerate(sums, 1) if found >= share * self.total), len(weights) + 1)

    def _decayed(self, scores: Scores) -> Scores:
        """Return for each file the sum of what its best blocks say, each less than the one before."""
        best = np.flatnonzero(scores)
        if len(best) > BEST_BLOCKS:  # all that are as good as the last of these
            best = best[scores[best] >= np.partition(scores[best], -BEST_BLOCKS)[-BEST_BLOCKS]]
        best = best[np.argsort(-scores[best], kind="stable")]
        files = self.corpus.files_of_blocks[best]
        order = np.argsort(files, kind="stable")  # the best of each file first
        files, values = files[order], scores[best][order]
        starts = firsts(files)
        ranks = np.arange(len(files)) - np.repeat(starts, np.diff(starts, append=len(files)))
        counts = np.append(DECAY, np.float32(0))[np.minimum(ranks, len(DECAY))]
        found = np.bincount(files, weights=values * counts, minlength=self.corpus.files + 1)
        return found[: self.corpus.files].astype(np.float32)

    def _pairs_in_text(self) -> Scores:
        """Return the files in whose text two words of the question stand as one name."""
        found = np.zeros(self.corpus.files + 1, np.float32)
        nowhere: tuple[bytes, ...] = ()
        for name in sorted({*self.asked.pairs, *self.asked.joined}):  # what another begins with, before that
            holding = self.corpus.holding(name[1:]) if len(name) > FAR and not name.startswith(nowhere) else None
            if holding is not None and holding.any():
                is_there = np.zeros(self.corpus.files + 1, bool)
                is_there[self.corpus.files_of_blocks[holding]] = True
                found += self.corpus.rarity(int(is_there.sum()), self.corpus.count) * is_there
            elif holding is not None:
                nowhere += (name,)
        return found[:-1]

    def read(self, files: Sequence[int], *, near: bool) -> tuple[Scores, Scores]:
        """Read the best blocks of some files: return what "text" says of them, their words counted as they stand there,
        and, where `near` asks for it, which share of the words beside each other in the question stand near each other
        in one of these blocks, rare ones counting more; 0 where it has no two.
        """
        beside = pairwise(self.asked.telling) if near else ()
        pairs = {pair: min(map(self.weights.__getitem__, pair)) for pair in beside}
        total = sum(pairs.values())
        counted, shares = np.zeros(len(files), np.float32), np.zeros(len(files), np.float32)
        for at, file in enumerate(files):
            self.check()
            left = [*pairs]
            texts = map(self.corpus.lower, self.best_blocks(file))
            scores = sorted((self._of_text(text, left) for text in texts), reverse=True)
            counted[at] = sum(share * score for share, score in zip(DECAY.tolist(), scores, strict=False))
            if total:
                shares[at] = sum(weight for pair, weight in pairs.items() if pair not in left) / total
        return of_most(counted), shares

    def best_blocks(self, number: int) -> list[int]:
        """Return the blocks of a file that say most, the first few, in any order."""
        file = self.corpus.blocks.file(number)
        if file.blocks <= len(DECAY):
            return [*range(file.block, file.block + file.blocks)]
        blocks = np.arange(file.block, file.block + file.blocks)
        best: list[int] = blocks[np.argsort(-self.blocks[blocks], kind="stable")[: len(DECAY)]].tolist()
        return best

    def _of_text(self, text: bytes, pairs: list[tuple[bytes, bytes]]) -> float:
        """Return what the text of a block says, by BM25, and take out of some pairs of words those that stand near each
        other in it.
        """
        length = _SLOPE * (1 - _SHARE + _SHARE * len(text) / BLOCK_BYTES)
        score = 0.0
        counts: dict[bytes, int] = {}
        for word, sign in self.literals.items():
            if count := text.count(sign):
                counts[word] = count
                rarity = self.rarity_in_blocks.get(word, 1.0)
                score += self.asked.weight(word) * rarity * count * (_SLOPE + 1) / (count + length)
        for pair in [pair for pair in pairs if pair[0] in counts and pair[1] in counts]:
            rare, other = sorted(pair, key=counts.__getitem__)
            if _are_near(text, self.literals[rare], self.literals[other]):
                pairs.remove(pair)
        return score

    # ---- fields ------------------------------------------------------------------------------------------------------

    def _fields(self, field: Field) -> Scores:
        """Return the BM25 of a field."""
        return self._varied(field, self.forms) + self._joined(field, self.asked.joined)

    def _joined(self, field: Field, names: Iterable[bytes]) -> Scores:
        self.check()
        found = np.zeros(self.corpus.files, np.float32)
        for name in names:
            files, scores = self.corpus.scored(field, name)
            found[files] += scores
        return found

    def _varied(self, field: Field, of: Mapping[bytes, Iterable[tuple[bytes, float]]]) -> Scores:
        """Return the BM25 of a field, where a word counts by the best of its variants."""
        self.check()
        found = np.zeros(self.corpus.files, np.float32)
        for word, variants in of.items():
            best = np.zeros(self.corpus.files, np.float32)
            for variant, share in variants:
                files, scores = self.corpus.scored(field, variant)
                best[files] = np.maximum(best[files], share * self.asked.weight(word) * scores)
            found += best
        return found

    def _base_covered(self, *, varied: bool) -> Scores:
        """Return which share of the words of its name each file is asked for by."""
        shares = dict.fromkeys(self.asked.words, 1.0)
        if varied:
            shares = dict(pair for found in self.synonyms.values() for pair in found)
            shares.update((variant, 1.0) for found in self.variants.values() for variant, _ in found)
        found = np.zeros(self.corpus.files, np.float32)
        for variant, share in shares.items():
            files, counts = self.corpus.words.holding(cutting.key(Field.BASE, variant))
            found[files] += np.float32(share) * counts
        return np.asarray(np.minimum(found / np.maximum(self.corpus.words.lengths[Field.BASE], 1), 1), np.float32)

    def _covered_by_names(self) -> Scores:
        """Return which share of the words each file has in its names and at its top, the rare ones counting more."""
        self.check()
        covered = np.zeros(self.corpus.files, np.float32)
        for word in self.asked.plain:
            best = np.zeros(self.corpus.files, np.float32)
            for variant, share in self.all_forms[word]:
                for field in (Field.BASE, Field.DIRECTORY, Field.PUBLIC, Field.HEADER):
                    files = self.corpus.files_with(field, variant)
                    best[files] = np.maximum(best[files], share * (_DIRECTORY_SHARE if field is Field.DIRECTORY else 1))
            covered += self.worth[word] * best
        return np.asarray(covered / np.float32(self.total), np.float32)

    def _exact(self, fields: Sequence[Field]) -> Scores:
        """Return which files have a name of the question as it stands, in how many of the fields."""
        found = np.zeros(self.corpus.files, np.float32)
        for name in self.asked.exact:
            for field in fields:
                found[self.corpus.files_with(field, name)] += self._sign(name) / len(fields)
        return np.minimum(found, 1)

    def _sign(self, name: bytes) -> float:
        """Return how much a name says of a question beside what it says as a word of it.

        One of several words is meant as it stands: `RequestContext`. One of a single word may be an acronym, as "JSON"
        in "print JSON with indents": it counts what it is of the question, twice, so all where that is half of it.
        """
        word = cutting.stem(name[1:])
        return min(_OF_ACRONYM * self.share([word]), 1.0) if word in self.asked.plain else 1.0


def _are_near(text: bytes, word: bytes, other: bytes) -> bool:
    """Return whether one of the first places at which a text in lower case may have a word is near another word.

    >>> _are_near(b"retry a failed upload", b"retr", b"upload")
    True
    """
    at = -1
    for _ in range(LOOKS):
        if (at := text.find(word, at + 1)) < 0:
            return False
        if _begins(text, at, word):
            end = at + TOGETHER + len(other)
            found = text.find(other, max(at - TOGETHER, 0), end)
            while found >= 0:
                if _begins(text, found, other):
                    return True
                found = text.find(other, found + 1, end)
    return False


def _begins(text: bytes, at: int, word: bytes) -> bool:
    """Return whether a place of a text may be where a word begins: a short one may stand in the middle of others."""
    return len(word) > AMBIGUOUS or not text[at - 1 : at].isalpha()


def literal(word: bytes) -> bytes:
    """Return what a text holds in lower case that has a word: `literal(b"retry")` is `b"retr"`, as is in "retries"."""
    return word[:-1] if word.endswith(b"y") and len(word) > FAR else word


def as_asked(word: bytes, form: bytes) -> bytes:
    """Return what a text holds in lower case that has a word of a question: that of a short word keeps the "e" of its
    form there, for the letters of "rat" stand in many a word that has nothing to do with a rate.

    >>> as_asked(b"rat", b"rate"), as_asked(b"rat", b"rating"), as_asked(b"retry", b"retries")
    (b'rate', b'rat', b'retr')
    """
    is_short = len(word) <= AMBIGUOUS and form.startswith(word + b"e")
    return word + b"e" if is_short else literal(word)


def of_most(found: Scores) -> Scores:
    """Return numbers as shares of the largest."""
    most = found.max(initial=0)
    return found / most if most > 0 else found
