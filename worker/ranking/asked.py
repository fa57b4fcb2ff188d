"""What a question says, as far as files can be ranked by it: its words, and names that it holds or that they make."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct

from fledgling.worker import words
from fledgling.worker.deferred import deferred

MAX_WORDS = 24  # that count: a question of more is a text, and each takes a look at the index
ALSO = 0.7  # of what a word of the question counts, one that was given as another way to say it
FAINT = 0.3  # likewise, one that is in many a question and says little: "file", and what has the stem of a stop word

_STOP_WORDS = (
    b"how does do is are was be been being the a an of to in and or for with on by from that this these those it its "
    b"as what which where when who why into via using use used uses not no can could should would will has have had "
    b"all any each one if then than so such there their them they you your my our we between within across about at "
    b"up out over under per me show find please code implementation implement implemented implements handle handles "
    b"codes implementations handled handling logic work works working"
).split()
_STOPPED = frozenset(_STOP_WORDS)
_FAINT_WORDS = b"class classes function functions method methods file files module modules".split()
_FAINT = frozenset(map(words.stem, [*_STOP_WORDS, *_FAINT_WORDS]))  # and so are "worker", "handler" and "themes"
_IS_NAME = deferred(rb".[^A-Z_]*+[A-Z_]")  # camelCase or snake_case
_OF_TESTS = deferred(  # and not what tests something: "test whether it is there"
    r"(?i)(?!^tests? if\b)\b(?:tests?(?! whether\b)|testing|specs?|examples?|bench|benchmarks?|compat|legacy|docs?"
    r"|mocks?|fixtures?|vendor)\b"
)


class AskedWords(Struct, frozen=True):
    """The words of a question, each once, and what they make.

    `plain` are words, `also` those of other ways to say it, `joined` names of several words that stand in the question,
    `pairs` the names that two words beside each other would make, and `exact` identifiers as they stand there, in lower
    case. `of_tests` tells whether tests and examples are asked for.
    """

    plain: tuple[bytes, ...]
    also: tuple[bytes, ...]
    joined: tuple[bytes, ...]
    pairs: tuple[bytes, ...]
    exact: tuple[bytes, ...]
    of_tests: bool
    forms: dict[bytes, str] = {}  # of each word, how it stands in the question
    faint: frozenset[bytes] = frozenset()  # those of `plain` that say little; none where all do

    def form(self, word: bytes) -> str:
        """Return a word as it stands in the question: `retrying`."""
        return self.forms.get(word) or word.decode(errors="replace")

    @property
    def words(self) -> tuple[bytes, ...]:
        """The words of the question and of other ways to say it."""
        return self.plain + self.also

    @property
    def telling(self) -> tuple[bytes, ...]:
        """The words of the question that are not faint."""
        return tuple(word for word in self.plain if word not in self.faint)

    def weight(self, word: bytes) -> float:
        """Return what a word counts, beside others as rare."""
        if word in self.plain:
            return FAINT if word in self.faint else 1.0
        return ALSO


def asked(query: str, also: Sequence[str] = ()) -> AskedWords:
    """Return what a question asks for.

    >>> asked("how is the request context pushed").plain
    (b'request', b'context', b'push')
    """
    names = [name for name in map(words.named, words.names(query.encode())) if name]
    said = _once(word for name in names for word in words.of_name(name))
    meant = {words.stem(part) for part in _parts([query]) if part not in _STOPPED}
    plain = [word for word in words.plain(said) if word in meant] or words.plain(said)
    faint = _FAINT.intersection(plain)
    others = _once(word for way in also for word in words.words(way.encode()))
    lower = [name.lower() for name in names]
    left = [name for name in lower if name not in _STOPPED]
    is_one = len(query.split()) == 1
    return AskedWords(
        plain=tuple(plain[:MAX_WORDS]),
        also=tuple(word for word in words.plain(others) if word not in plain)[:MAX_WORDS],
        joined=tuple(word for word in said if words.is_whole(word))[:MAX_WORDS],
        pairs=tuple(_once(_pairs(left)))[:MAX_WORDS],
        exact=tuple(words.whole(name) for name in names if is_one or _IS_NAME.match(name))[:MAX_WORDS],
        of_tests=_OF_TESTS.search(query) is not None,
        forms={words.stem(part): part.decode(errors="replace") for part in _parts([query, *also])},
        faint=faint if len(faint) < len(plain) else frozenset(),
    )


def _parts(texts: Iterable[str]) -> list[bytes]:
    return [part for text in texts for name in words.names(text.encode()) for part in words.parts(name)]


def _pairs(names: Sequence[bytes]) -> Iterable[bytes]:
    """Yield the names that two words beside each other make, with and without their endings."""
    for first, second in pairwise(names):
        for one in (first, words.stem(first)):
            for other in (second, words.stem(second)):
                yield words.whole(one + other)


def _once(found: Iterable[bytes]) -> list[bytes]:
    return [*dict.fromkeys(found)]
