"""Conditions and patterns of Bash that its grammar does not know: `[[ $x == *.@(a|b) ]]`, `-!(-*))` in a `case`.

Each of them is an error that costs the function around it and all that follow. What is in a condition defines nothing,
so where a text has errors it is parsed with a word in place of what each condition and each pattern holds.
"""

import re
from collections.abc import Iterable

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.repair import Repaired

CONDITION = deferred(
    rb"\[\[(?P<held>[ \t](?>(?:[^\s\\]++|\\.|[ \t]++(?!\]\](?:[\s;)&|]|\Z)))*))(?P<close>[ \t]++\]\])?"
    rb"|(?P<pattern>[?*+@!]\((?>(?:[^()\s]++|\((?>(?:[^()\s]++|\([^()\s]*+\))*)\))*)\))",
    re.DOTALL,
)


def repaired(source: bytes, _unknown: Iterable[tuple[int, int]]) -> Repaired:
    """The text with words for what is in conditions and patterns."""
    return Repaired(plain(source))


def plain(source: bytes) -> bytes:
    """The text with a word and blanks, as many as there were, in place of each: `[[ x              ]]`."""
    return CONDITION.sub(_word, source)


def _word(match: re.Match[bytes]) -> bytes:
    if match["pattern"]:
        return b"x" * len(match[0])
    if match["close"] is None:
        return match[0]
    lines = [b" " * len(line) for line in match["held"][2:].split(b"\\\n")]
    return b"[[ x" + b"\\\n".join(lines) + match["close"]
