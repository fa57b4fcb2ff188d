"""Symbols of Ruby that its grammar does not know, `:☠` and `☠: 1`: any sign beyond ASCII may stand in a name.

Each is an error, for which all that its file says is in doubt. Where a text has errors it is parsed with a word in the
place of each such symbol.
"""

import re
from collections.abc import Iterable

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.repair import Repaired

SYMBOL = deferred(
    rb"(?<![\w:\x80-\xff]):(?P<symbol>[\w\x80-\xff]++)|(?<![\w:.@$\x80-\xff])(?P<key>[\w\x80-\xff]++)(?=:(?!:))"
)


def repaired(source: bytes, _unknown: Iterable[tuple[int, int]]) -> Repaired:
    """The text with `:___` for `:☠`, which takes three bytes."""
    return Repaired(SYMBOL.sub(_word, source))


def _word(match: re.Match[bytes]) -> bytes:
    name = match["symbol"] or match["key"]
    is_known = name.isascii() or name.decode("utf-8", "replace").isidentifier()
    return match[0] if is_known else match[0].replace(name, b"_" * len(name))
