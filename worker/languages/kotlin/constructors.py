"""Modifiers of a constructor on a line of its own: in a class, the grammar of Kotlin takes its head for ended there.

    class Options
    private constructor(val strings: Array<String>) {

They are left out, with the end of the line. Outlines leave them out before the first parse, as they do annotations.
"""

import re
from collections.abc import Iterable

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.repair import Repaired
from fledgling.worker.extracting.source_text import without
from fledgling.worker.languages.kotlin.annotations import BEFORE_CONSTRUCTOR

CONSTRUCTOR = deferred(BEFORE_CONSTRUCTOR, re.VERBOSE)


def repaired(source: bytes, _unknown: Iterable[tuple[int, int]]) -> Repaired:
    """The text without them."""
    return Repaired(without(source, [match.span("within") for match in CONSTRUCTOR.finditer(source)]))
