"""What the preprocessor is asked about files and attributes is no expression to a grammar: `#if __has_include(<a>)`."""

import re
from collections.abc import Iterable

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.repair import Repaired
from fledgling.worker.extracting.source_text import Span
from fledgling.worker.languages.c.gaps import without_gaps

# C++20 15.2, and macros that stand for it: __has_include(<a>), __has_cpp_attribute(a::b), LIB_HAS_INCLUDE("a")
ARGUMENT = deferred(
    rb"\b \w*(?:has|HAS|HAVE)_\w*+ [ \t]*+"
    rb" (\( [ \t]*+ (?: <[^<>\n]++> | \"[^\"\n]++\" | \w++::[\w:]++ | \. ) [ \t]*+ \))",
    re.VERBOSE,
)


def repaired(source: bytes, unknown: Iterable[Span]) -> Repaired:
    """The text without such arguments."""
    return without_gaps(source, unknown, ARGUMENT, directives=True)
