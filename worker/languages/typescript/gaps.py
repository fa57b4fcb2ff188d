"""What the grammar of TypeScript lacks, and what stands in its place; near errors only."""

from collections.abc import Iterable

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.captures import Span
from fledgling.worker.extracting.filling import filled
from fledgling.worker.extracting.repair import Repaired

# TypeScript 5.0: all types of a module: export type * from "./a"
TYPES_OF_MODULE = deferred(rb"(?<=\bexport[ ])type(?=[ ]\*)")
# JSX: an attribute holds whatever it does: <a href="?b&c">
AMPERSAND = deferred(rb"(?<=\w=\")[^\"\n<>{}&]*+&[^\"\n]*+(?=\")")

GAPS = ((TYPES_OF_MODULE, b""), (AMPERSAND, b"a"))


def repaired(source: bytes, unknown: Iterable[Span]) -> Repaired:
    """The text with other words for them, near what the grammar does not know."""
    return filled(source, unknown, GAPS)
