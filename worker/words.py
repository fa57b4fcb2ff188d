"""Words: how names, comments and questions are cut, so that what says the same is found by the same.

An identifier is cut where its case changes, at underscores and at digits, and its words are stemmed lightly; behind
them comes the whole of it, joined: `RequestContext` and `request_context` are both `request`, `context` and
`=requestcontext`. Everything that decides what a word is lives here, for those who write an index and who ask it.
"""

import re
from collections.abc import Iterable, Iterator
from enum import IntEnum
from functools import lru_cache
from itertools import chain
from zlib import crc32

MAX_NAME = 64  # bytes of an identifier that is cut; a longer one is data: a key, a hash, a picture
SHORTEST = 2  # letters of a word
KNOWN_NAMES = 2**16  # identifiers whose words are remembered: a few megabytes
KNOWN_WORDS = 2**14  # whose stems are

_NAME = re.compile(rb"[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*+")  # what is not ASCII is a letter
_PART = re.compile(rb"[A-Z]+(?=[A-Z][a-z\x80-\xff])|[A-Z]?[a-z\x80-\xff]++|[A-Z]++|[0-9]++")
_ENDINGS = b"izations ization ations ation ingly ments ment ings ing ers ions ion ies ied ed er es ly s e"
_SUFFIXES = tuple(_ENDINGS.split())
_LEAST_STEM = 3  # letters


class Field(IntEnum):
    """Where in a file a word stands."""

    BASE = 0  # the name of the file, or of its directory where that of the file says nothing: `mod.rs`
    DIRECTORY = 1
    DEFINITION = 2  # names that are defined
    PUBLIC = 3  # those of them that are functions, classes and the like
    COMMENT = 4  # and documentation strings
    HEADER = 5  # the comment at the top of the file
    IMPORT = 6
    EXPORT = 7


WHOLE = ord("=")  # what the word for a whole identifier begins with
NAMES = (Field.BASE, Field.DIRECTORY, Field.DEFINITION)  # fields whose words are kept as they are, too


@lru_cache(KNOWN_WORDS)
def stem(word: bytes) -> bytes:
    """Return a word in lower case without its ending.

    >>> [stem(word) for word in (b"retries", b"formatting", b"parsed", b"handlers")]
    [b'retry', b'format', b'pars', b'handl']
    """
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_STEM:
            word = word[: -len(suffix)]
            if suffix in (b"ies", b"ied"):
                word += b"y"
            break
    if len(word) > _LEAST_STEM and word[-1] == word[-2] and word[-1:] not in b"aeiouls":
        word = word[:-1]
    return word


def parts(name: bytes) -> list[bytes]:
    """Return the words of an identifier as they stand: `parts(b"HTTPServer2")` is `[b"http", b"server", b"2"]`."""
    return [part.lower() for part in _PART.findall(name)]


@lru_cache(KNOWN_NAMES)
def of_name(name: bytes) -> tuple[bytes, ...]:
    """Return the words of an identifier, and behind them, if they are several, the whole of it.

    >>> of_name(b"RequestContext"), of_name(b"retry")
    ((b'request', b'context', b'=requestcontext'), (b'retry',))
    """
    if len(name) > MAX_NAME:
        return ()
    found = parts(name)
    words = [stem(part) for part in found if len(part) >= SHORTEST]
    return (*words, whole(name)) if len(found) > 1 else tuple(words)


@lru_cache(KNOWN_NAMES)
def of_defined(name: bytes) -> tuple[bytes, ...]:
    """Return the words of an identifier that is defined, and the whole of it even where it is one word.

    >>> of_defined(b"retry")
    (b'retry', b'=retry')
    """
    found = of_name(name)
    return found if not found or is_whole(found[-1]) else (*found, whole(name))


def whole(name: bytes) -> bytes:
    """Return the word for the whole of an identifier: `whole(b"Request_Context")` is `b"=requestcontext"`."""
    return b"=" + name.replace(b"_", b"").lower()


def names(text: bytes) -> list[bytes]:
    """Return what looks like an identifier: `names(b"a = f(b1)")` is `[b"a", b"f", b"b1"]`."""
    return _NAME.findall(text)


def words(text: bytes) -> Iterator[bytes]:
    """Return the words of a text in their order.

    >>> [*words(b"the RequestContext")]
    [b'the', b'request', b'context', b'=requestcontext']
    """
    return chain.from_iterable(map(of_name, names(text)))


def key(field: Field, word: bytes) -> int:
    """Return the number by which a word in a field is found: a hash of both."""
    return crc32(word, field)


def is_whole(word: bytes) -> bool:
    """Return whether this stands for a whole identifier."""
    return word[0] == WHOLE


def plain(found: Iterable[bytes]) -> list[bytes]:
    """Return the words that stand for no whole identifier."""
    return [word for word in found if not is_whole(word)]
