"""Directives that say nothing, `#undef` and `#pragma`, among values: of an `enum`, or of a variable.

The grammar knows none there. They are left out where a text has errors.
"""

from collections.abc import Iterable, Iterator

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.repair import Repaired, around
from fledgling.worker.extracting.source_text import Span, without
from fledgling.worker.languages.c.macros import code_above, lines

SAYS_NOTHING = rb"\#(?<![^\n \t]\#)[ \t]*+(?:undef|pragma)\b[^\n]*+"
SILENT = deferred(rb"(?P<all>" + SAYS_NOTHING + rb"(?:\s*+" + SAYS_NOTHING + rb")*+)(?P<last>\s*+\})?")


def repaired(source: bytes, unknown: Iterable[Span]) -> Repaired:
    """The text without them, near what the grammar does not know."""
    return Repaired(without(source, silent(source, around(unknown))))


def silent(source: bytes, places: Iterable[Span]) -> Iterator[Span]:
    """Directives that say nothing, in some places of a text, among values: of an `enum`, or of a variable."""
    for place in places:
        for match in SILENT.finditer(source, *place):
            if match["last"] or code_above(source, match.start()) in b",{=|(":
                yield from lines(source, *match.span("all"))
