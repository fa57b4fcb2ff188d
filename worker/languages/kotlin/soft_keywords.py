"""Soft keywords of Kotlin that are names where they stand, and whose grammar takes them for what they can be elsewhere.

    private var set = 0         `set = set or bit` would be the setter of a property above
    CloseGuard().apply { open(closer) }
    val in1 = stream()          which would be `in 1`

https://kotlinlang.org/docs/reference/grammar.html#simpleIdentifier: each may be a name. Where a text has errors it is
parsed with another word in their place; what a definition is called is read from the text itself. An annotation before
an accessor, which the grammar does not know, is left out.
"""

import re
from collections.abc import Iterable

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.blanking import VISIBLE
from fledgling.worker.extracting.repair import Repaired

MODIFIERS = (
    rb"abstract|actual|annotation|companion|const|crossinline|data|enum|expect|external|final|infix|inline|inner|internal"
    rb"|lateinit|noinline|open|operator|out|override|private|protected|public|reified|sealed|suspend|tailrec|value|vararg"
)
TEXT = rb'"""(?>(?:[^"]++|"(?!""))*)"*+|"(?>(?:[^"\\\n]++|\\.)*)"?+'
SKIPPED = rb"//[^\n]*+|/\*(?>(?:[^*]++|\*(?!/))*)(?:\*/|\Z)|" + TEXT + rb"|'(?>(?:[^'\\\n]++|\\.)*)'?+|`[^`\n]*+`?+"
# getter: 'get' ['(' ')' [':' type] functionBody]; a functionBody begins with `{` or `=`
GETTER = rb"get(?:[ \t]*+$|[ \t]*+\([ \t]*+\)[ \t\n]*+[:={]|[ \t]*+\([ \t]*+\)[ \t]*+$)"
# setter: 'set' ['(' functionValueParameterWithOptionalType ')' [':' type] functionBody]
SETTER = rb"set(?:[ \t]*+$|[ \t]*+\([ \t]*+(?:@[\w.]++[ \t]++)*+\w++[^()\n]*+\)[ \t\n]*+[:={])"
BEFORE = rb"(?:(?:inline|external|private|protected|internal|public)[ \t]++)*+"
ACCESSOR = rb"^[ \t]*+" + BEFORE + rb"(?:" + GETTER + rb"|" + SETTER + rb")"
# behind the type of a property, where no call can stand: `val a: Int get() = 1`
BEHIND = rb"\bget[ \t]*+\([ \t]*+\)[ \t]*+[:=](?![:=])"
ANNOTATED = (  # up to 8, so that each is looked at as often at most
    rb"^[ \t]*+(?P<annotations>(?:@(?:\w++:)?+[\w.]++(?:\([^()\n]*+\))?+[ \t\n]++){1,8}+)" + BEFORE + rb"(?:get|set)\b"
)
# A name behind which stands what no modifier has behind it
NAME = rb"\b(?P<name>(?:get|set)\b|in(?=[0-9])|(?:" + MODIFIERS + rb")\b(?=[ \t]*+(?:[(.,)?:;=\]}<>&|+*/%!-]|$|\{)))"
WORD = deferred(
    rb"|".join((SKIPPED, ANNOTATED, ACCESSOR, BEHIND, rb"\w++:(?!:)", NAME, rb"\w++")), re.MULTILINE | re.DOTALL
)


def repaired(source: bytes, _unknown: Iterable[tuple[int, int]]) -> Repaired:
    """The text with other words in their place, each as long as it was."""
    return Repaired(WORD.sub(_renamed, source))


def _renamed(match: re.Match[bytes]) -> bytes:
    start = match.start()
    for group in ("name", "annotations"):
        if match[group] is not None:
            begin, end = match.start(group) - start, match.end(group) - start
            other = b"x" + match[group][1:] if group == "name" else VISIBLE.sub(b" ", match[group])
            return match[0][:begin] + other + match[0][end:]
    return match[0]
