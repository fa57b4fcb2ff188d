"""Words: how names, comments and questions are cut, so that what says the same is found by the same.

An identifier is cut where its case changes, at underscores and at digits, and its words are stemmed lightly; behind
them comes the whole of it, joined: `RequestContext` and `request_context` are both `request`, `context` and
`=requestcontext`. Everything that decides what a word is lives here, for those who write an index and who ask it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from functools import lru_cache
from itertools import chain
from typing import TypeVar
from zlib import crc32

MAX_NAME = 64  # bytes of an identifier that is cut; a longer one is data: a key, a hash, a picture
SHORTEST = 2  # letters of a word
KNOWN_NAMES = 2**16  # identifiers whose words are remembered, and parts whose stems are: a few megabytes
KNOWN_WORDS = 2**14  # whose stems are

_LETTERS = re.compile(rb"[A-Za-z0-9_\x80-\xff]")  # what is not ASCII is one
_DIGITS = b"0123456789"
_BETWEEN = bytes(byte if _LETTERS.match(bytes([byte])) else ord(" ") for byte in range(256))
_PART = re.compile(rb"[A-Z]+(?=[A-Z][a-z\x80-\xff])|[A-Z]?[a-z\x80-\xff]++|[A-Z]++|[0-9]++")
_BEGINS = (  # where a name is cut, or begins
    rb"(?<![0-9])(?=[0-9])|(?<![A-Za-z\x80-\xff])(?![0-9])|(?<=[a-z\x80-\xff])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z\x80-\xff])"
)
_PART_THERE = re.compile(rb"(?:%s)(?:%s)" % (_BEGINS, _PART.pattern))
_ENDINGS = b"izations ization ations ation ingly ments ment ings ing ers ions ion ies ied ed er es ly s e"
_SUFFIXES = tuple(_ENDINGS.split())
_LEAST_STEM = 3  # letters

Made = TypeVar("Made")


class Field(IntEnum):
    """Where in a file a word stands."""

    BASE = 0  # the name of the file, or of its directory where that of the file says nothing: `mod.rs`
    DIRECTORY = 1
    DEFINITION = 2  # names that are defined
    PUBLIC = 3  # those of them that are functions, classes and the like
    COMMENT = 4  # and documentation strings
    HEADER = 5  # the comment at the top of the file
    EXPORT = 6


WHOLE = ord("=")  # what the word for a whole identifier begins with
NAMES = (Field.BASE, Field.DIRECTORY, Field.DEFINITION)  # fields whose words are kept as they are, too


@lru_cache(KNOWN_WORDS)
def stem(word: bytes) -> bytes:
    """Return a word in lower case without its ending.

    >>> [stem(word) for word in (b"retries", b"formatting", b"parsed", b"handlers")]
    [b'retry', b'format', b'pars', b'handl']
    """
    for suffix in _SUFFIXES if word.endswith(_SUFFIXES) else ():
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


def part_at(text: bytes, at: int) -> bytes:
    """Return the word that begins at a place of a text, and nothing in the middle of one.

    >>> part_at(b"HTTPServer", 4), part_at(b"HTTPServer", 5)
    (b'server', b'')
    """
    part = _PART_THERE.match(text, at)
    return part[0].lower() if part else b""


class _Known(dict[bytes, Made]):
    """What was made of names before, which is forgotten when there is no room: faster to ask than `lru_cache`."""

    def __init__(self, make: Callable[[bytes], Made]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, name: bytes) -> Made:
        if len(self) == KNOWN_NAMES:
            self.clear()
        made = self[name] = self._make(name)
        return made


_of_part = _Known(lambda part: stem(part.lower()) if len(part) >= SHORTEST else b"").__getitem__


def _of_name(name: bytes) -> tuple[bytes, ...]:
    """Return the words of an identifier, and behind them, if they are several, the whole of it.

    >>> of_name(b"RequestContext"), of_name(b"retry")
    ((b'request', b'context', b'=requestcontext'), (b'retry',))
    """
    name = named(name)
    if len(name) > MAX_NAME:
        return ()
    found = _PART.findall(name)
    words = filter(None, map(_of_part, found))
    return (*words, whole(name)) if len(found) > 1 else tuple(words)


def _of_defined(name: bytes) -> tuple[bytes, ...]:
    """Return the words of an identifier that is defined, and the whole of it even where it is one word.

    >>> of_defined(b"retry")
    (b'retry', b'=retry')
    """
    found = of_name(name)
    return found if not found or is_whole(found[-1]) else (*found, whole(name))


of_name = _Known(_of_name).__getitem__
of_defined = _Known(_of_defined).__getitem__


def named(name: bytes) -> bytes:
    """Return what of an identifier is cut: `named(b"2fa")` is `b"fa"`, and of a number nothing is."""
    return name.lstrip(_DIGITS)


def whole(name: bytes) -> bytes:
    """Return the word for the whole of an identifier: `whole(b"Request_Context")` is `b"=requestcontext"`."""
    return b"=" + named(name).replace(b"_", b"").lower()


def names(text: bytes) -> list[bytes]:
    """Return what looks like an identifier or a number: `names(b"a = f(b1, 2)")` is `[b"a", b"f", b"b1", b"2"]`."""
    return text.translate(_BETWEEN).split()


def words(text: bytes) -> Iterator[bytes]:
    """Return the words of a text in their order.

    >>> [*words(b"the RequestContext")]
    [b'the', b'request', b'context', b'=requestcontext']
    """
    return chain.from_iterable(map(of_name, names(text)))


# What the hash of a word begins with, by field. The number of the field would not do: CRC-32 adds it to the first
# letter, and "call" in one field would be "fall" in another. Any two of these differ by more than letters of ASCII do.
SEEDS = tuple(crc32(bytes([field])) for field in Field)


def key(field: Field, word: bytes) -> int:
    """Return the number by which a word in a field is found: a hash of both."""
    return crc32(word, SEEDS[field])


def is_whole(word: bytes) -> bool:
    """Return whether this stands for a whole identifier."""
    return word[0] == WHOLE


def plain(found: Iterable[bytes]) -> list[bytes]:
    """Return the words that stand for no whole identifier."""
    return [word for word in found if not is_whole(word)]
