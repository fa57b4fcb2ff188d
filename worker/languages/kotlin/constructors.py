"""Modifiers of a constructor on a line of its own: in a class, the grammar of Kotlin takes its head for ended there.

    class Options
    private constructor(val strings: Array<String>) {

They are left out, with the end of the line. Outlines leave them out before the first parse, as they do annotations.
Where soft keywords stand for names in the same class, neither repair alone has fewer errors: so both are made.
"""

import re
from collections.abc import Iterable

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.repair import Repaired
from fledgling.worker.extracting.source_text import without
from fledgling.worker.languages.kotlin import soft_keywords
from fledgling.worker.languages.kotlin.annotations import BEFORE_CONSTRUCTOR

CONSTRUCTOR = deferred(BEFORE_CONSTRUCTOR, re.VERBOSE)


def repaired(source: bytes, unknown: Iterable[tuple[int, int]]) -> Repaired:
    """The text without them, and without soft keywords."""
    spans = [match.span("within") for match in CONSTRUCTOR.finditer(source)]
    return Repaired(without(soft_keywords.repaired(source, unknown).text, spans) if spans else source)
