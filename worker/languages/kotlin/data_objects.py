"""`data object A` of Kotlin: behind an annotation the grammar takes both words for names, and that for no error.

So the graph leaves `data` out at first. A definition begins where it did: on the same line, or at the annotation.
"""

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.source_text import Span

DATA = deferred(rb"\bdata(?=[ \t]++object[ \t]++\w)")


def first(source: bytes) -> list[Span]:
    """The spans of these words."""
    return [match.span() for match in DATA.finditer(source)]
