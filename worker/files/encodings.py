r"""In which encoding a text is that is not UTF-8: everything that decides it is here.

A text is in what it declares, else in what its bytes make the most of the letters that people write: a row of the table
below for each encoding. It is a guess, and answers say that it is one.

>>> guessed(b"caf\xe9\n")
('windows-1252', 'café\n')
"""

import codecs
import re
import tomllib
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path

import msgspec
from msgspec import Struct

from fledgling.worker.deferred import deferred

SAMPLE_BYTES = 1024  # of lines that are not ASCII: enough to tell, in a millisecond
DECLARED_BYTES = 1024  # from the first on, in which a declaration stands
SURE = 0.9  # a fit above which a text is in an encoding though all of it looks like UTF-8 of which some was lost
DAMAGED = "damaged UTF-8"

_DECLARED = deferred(
    rb"""\A(?:[^\n]*\n)?[^\n]*coding[:=][ \t]*([\w.-]+)  # Python, PEP 263; editors
    |\A\s*<\?xml[^>]*encoding=["']([\w.-]+)
    |\A@charset[ ]"([\w.-]+)"
    |<meta[^>]*charset=["']?([\w.-]+)""",
    re.VERBOSE | re.IGNORECASE,
)
_LIKE_UTF_8 = deferred(rb"[\xc0-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{1,2}|[\xf0-\xf7][\x80-\xbf]{1,3}")
_JAPANESE_IN_7_BITS = deferred(rb"\x1b\$[@B]")
_HIGH = deferred(rb"(?m)^[^\n\x80-\xff]*+[\x80-\xff][^\n]*+\n?")  # a line


class _Encoding(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of the table; the head of encodings.toml explains the columns."""

    codec: str
    is_latin: bool = False
    most: str = ""
    others: str = ""
    leads: tuple[int, int] = (1, 0)
    of: str = "ascii"
    weight: float = 0.8


_ENCODINGS = msgspec.convert(
    tomllib.loads((Path(__file__).parent / "encodings.toml").read_text("utf-8")), dict[str, _Encoding]
)


def _codec(name: str) -> str:
    """Return what Python calls a codec, and load it; none but that is loaded can be had once a process is confined."""
    "".encode(name)
    return codecs.lookup(name).name


_LOADED = {_codec(row.codec) for row in _ENCODINGS.values()}
for _other in (*(row.of for row in _ENCODINGS.values()), "iso2022_jp", "utf-16", "utf-16-le", "utf-16-be", "utf-32"):
    _codec(_other)


def guessed(data: bytes) -> tuple[str, str]:
    """Return in which encoding a text is that is not UTF-8, and the text."""
    if declared := _declared(data):
        return declared
    sample = b"".join(_HIGH.findall(data[: 16 * SAMPLE_BYTES]))[:SAMPLE_BYTES] or data[-SAMPLE_BYTES:]
    sample = sample[: sample.rfind(b"\n") + 1] or sample
    fits = {name: _fit(row, sample) for name, row in _ENCODINGS.items()}
    if max(fits.values()) < SURE and _is_damaged(data):
        return DAMAGED, data.decode("utf-8", "replace")
    for name in sorted(fits, key=lambda name: -fits[name]):
        if (text := _decoded(data, _ENCODINGS[name].codec)) is not None:
            return name, text
    return DAMAGED, data.decode("utf-8", "replace")


def in_seven_bits(data: bytes) -> str | None:
    """Return the text of ISO-2022-JP, all of whose bytes are ASCII; None of any other."""
    return _decoded(data, "iso2022_jp") if _JAPANESE_IN_7_BITS.search(data) else None


def _declared(data: bytes) -> tuple[str, str] | None:
    found = _DECLARED.search(data[:DECLARED_BYTES])
    name = next(filter(None, found.groups()), b"").decode().lower() if found else ""
    with suppress(LookupError):
        if codecs.lookup(name).name in _LOADED and (text := _decoded(data, name)) is not None:
            return name, text
    return None


def _is_damaged(data: bytes) -> bool:
    """Whether nearly all that is not ASCII looks like UTF-8: some bytes of it were lost."""
    like = sum(map(len, _LIKE_UTF_8.findall(data)))
    high = len(data) - len(data.translate(None, _HIGH_BYTES))
    return like > 0.8 * high


_HIGH_BYTES = bytes(range(0x80, 0x100))


def _fit(row: _Encoding, sample: bytes) -> float:
    """Return how much of a text's characters beyond ASCII are such as people write: from 0 to 1.

    Letters of the Latin script stand among those of ASCII, and letters of others among themselves.
    """
    text = _decoded(sample, row.codec)
    if text is None:
        return 0.0
    weights = _weights(row)
    fits, count = 0.0, 0
    for before, character in pairwise(f" {text}"):
        if character > "\x7f":
            count += 1
            fits += weights.get(character, 0.0) * (0.4 if _is_alien(row, before, character) else 1.0)
    return fits / max(count, 1)


def _is_alien(row: _Encoding, before: str, character: str) -> bool:
    """Whether a character does not stand behind such as its script is written with."""
    return character.isalpha() and not before.isascii() if row.is_latin else before.isascii() and before.isalpha()


@cache
def _weights(row: _Encoding) -> dict[str, float]:
    first, last = row.leads
    pairs = (bytes([lead, trail]) for lead in range(first, last + 1) for trail in range(0x40, 0xFF))
    frequent = "".join(pair.decode(row.of, "ignore") for pair in pairs)
    return {**dict.fromkeys(frequent, row.weight), **dict.fromkeys(row.others, 0.6), **dict.fromkeys(row.most, 1.0)}


def _decoded(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None
