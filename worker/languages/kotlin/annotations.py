"""Annotations that the grammar of Kotlin takes for the beginning of an expression, with what follows them.

Those that begin a line are left out, and belong to the definition behind them: the grammar knows none before `data
object`. So are modifiers and annotations of a constructor on a line of its own, behind the head of a class.
"""

import re

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.repair import Apart
from fledgling.worker.extracting.source_text import Span, without

TEXT = rb'"(?>(?:[^"\\\n]++|\\.)*)"'
ARGUMENTS = rb'\( (?> [^()"]++ | ' + TEXT + rb' | \( (?> [^()"]++ | ' + TEXT + rb" | \( [^()]*+ \) )*+ \) )*+ \)"
SIMPLE_ARGUMENTS = rb'\( [^()"]*+ (?> " (?>(?:[^"\\\n]++|\\.)*) " [^()"]*+ )*+ \)'
# annotation: singleAnnotation | multiAnnotation (Kotlin's grammar), but for `@file:`, which is about no definition
BEGINS_LINE = rb"^ (?P<first> @ (?!file:) (?:\w++:)?+ [\w.]++ (?: " + ARGUMENTS + rb" )?+ )"
# primaryConstructor: [[modifiers] 'constructor' {NL}] classParameters: up to 16 of those, which nobody writes
BEFORE_CONSTRUCTOR = (
    rb"\bclass [ \t]++ \w++ (?:<[^<>\n]*+>)?+ (?=\s) (?P<within> \s*+ (?: (?: actual | expect | internal | private"
    rb"  | protected | public | @ [\w.]++ (?: " + SIMPLE_ARGUMENTS + rb" )?+ ) \s++ ){0,16}+ (?= constructor\b ) )"
)
ANNOTATION = deferred(BEGINS_LINE + rb"|" + BEFORE_CONSTRUCTOR, re.MULTILINE | re.VERBOSE)


def decorators(source: bytes) -> list[Span]:
    """Where they stand."""
    return [match.span(match.lastgroup or 0) for match in ANNOTATION.finditer(source)]


def apart(source: bytes) -> Apart:
    """The text without them; each is a decorator of what follows."""
    spans = decorators(source)
    return Apart(without(source, spans) if spans else source, decorators=spans)
