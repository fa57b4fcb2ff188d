"""What must be there where a function or property of Kotlin is used: `context(a: A, b: B<C>) fun f()`.

The grammar has none of it, and takes `context(A)` for a call. Outlines leave it out, and a definition begins with it.
In the graph an annotation stands in its place before a function, of which each parameter is a type with an annotation,
`@_cx__<@a A>`, or, without names, which was called context receivers, one without, `@_rx__< A>`. Before a property, of
which the graph has no scope, and in the type of a function it is left out: its names are those of what is not parsed.

https://kotlinlang.org/docs/context-parameters.html
"""

import re

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.blanking import VISIBLE
from fledgling.worker.extracting.repair import Apart
from fledgling.worker.extracting.source_text import Span, without

TYPE = rb"\w++(?:\.\w++)*+(?:<(?:[\w.,?* \t]++|<[\w.,?* \t]*+>)*+>)?+\??+"
NAMED = rb"(?:[ \t]|\n[ \t]++)*+\w++[ ]?+:[ ]?+" + TYPE + rb"\s*+"
RECEIVER = rb"\s*+(?=[A-Z])" + TYPE + rb"\s*+"
# Modifiers and annotations, up to 16 of those, which nobody writes
BEFORE = rb"(?:(?:[a-z]++|@[\w.]++(?:\([^()\n]*+\))?+)\s++){0,16}?"
CONTEXT = deferred(
    rb"^[ \t]*+(?P<all>context\((?:"
    rb"(?P<named>" + NAMED + rb"(?:,[ \n]" + NAMED + rb"){0,16}+)\)(?=\s++" + BEFORE + rb"(?P<keyword>fun|va[lr])\b)"
    rb"|(?P<receivers>" + RECEIVER + rb"(?:," + RECEIVER + rb"){0,16}+)\)(?=\s++" + BEFORE + rb"fun\b)))"
    # of the type of a function: a: context(A) () -> B
    rb"|(?<=: )(?P<of_type>context\(" + RECEIVER + rb"(?:," + RECEIVER + rb"){0,16}+\))(?=[ ]?+[\w(])",
    re.MULTILINE,
)
NAME = deferred(rb"[ ](\w++[ ]?+):")


def decorators(source: bytes) -> list[Span]:
    """Where those of definitions stand."""
    found = CONTEXT.finditer(source) if b"context(" in source else ()
    return [(match.start("all"), match.end()) for match in found if match["all"]]


def apart(source: bytes) -> Apart:
    """The text without them; each begins what follows."""
    found = [*CONTEXT.finditer(source)] if b"context(" in source else []
    return Apart(without(source, [match.span() for match in found]) if found else source, decorators=decorators(source))


def respelled(source: bytes) -> bytes:
    r"""The text with annotations in their place, as long as they were.

    >>> respelled(b"context(a: A, b: B)\nfun f()"), respelled(b"context(A)\nfun f()")
    (b'@_cx__<@a  A,@b  B>\nfun f()', b'@_rx__< A>\nfun f()')
    """
    return CONTEXT.sub(_annotation, source) if b"context(" in source else source


def _annotation(match: re.Match[bytes]) -> bytes:
    if not match["receivers"] and match["keyword"] != b"fun":
        return VISIBLE.sub(b" ", match[0])
    before = match[0][: match.start("all") - match.start()]
    if match["receivers"]:
        return before + b"@_rx__< " + match["receivers"] + b">"
    return before + b"@_cx__<" + NAME.sub(rb"@\1 ", b" " + match["named"]) + b">"
