"""What the grammar of Kotlin lacks, and what stands in its place; near errors only.

Each expression is named after what it finds, below the rule of Kotlin's grammar or the release that makes it valid,
with an example. Names are read from the text itself, so what stands in its place is never seen. All take linear time.
"""

import re
from functools import partial

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.filling import filled

# Kotlin 2.2: a condition of a branch: is A if a.b ->
GUARD = deferred(rb"^[ \t]*+(?:!?+(?:is|in)[ ])?+[^\n{}\"]{1,200}?\s(if\b[^\n{}]{0,200}?)(?=->)", re.MULTILINE)
# The same over several lines, in brackets: is A if (
BRACKETS = rb"\((?:[^(){}]++|\((?:[^(){}]++|\((?:[^(){}]++|\([^(){}]*+\))*+\))*+\))*+\)"
LONG_GUARD = deferred(
    rb"^[ \t]*+!?+(?:is|in)[ ][^\n{}()\"]{1,200}?[ ](if[ ]?+" + BRACKETS + rb")(?=\s*+->)", re.MULTILINE
)
# Kotlin 2.2: how many signs begin what is put into a text: $$"a $b"
DOLLARS = deferred(rb"\$\$++(?=\")")
# Kotlin 2.2: what must be there where a function is called: context(a: A) fun f()
CONTEXT = deferred(rb"^[ \t]*+(context[ ]?+\((?:[^()\n]++|\([^()\n]*+\))*+\))(?=\s)", re.MULTILINE)
# collectionLiteral: '[' ']': the default of a parameter: a: Array<A> = []
EMPTY_COLLECTION = deferred(rb"(?<==[ ])\[\](?=\s*+[,)])")
# callableReference: [receiverType] '::': a member of what may be nothing: String?::plus
NULLABLE_RECEIVER = deferred(rb"(?<=\w)\?(?=::\w)")
# simpleIdentifier: 'where': a name: where?.let { }, where = a
WHERE = deferred(rb"\b(where)(?=\?\.|\.|[ ]=[ ]|,|\)|[ ]==|[ ]!=|[ ]?+\?:)")
# setter: [modifiers] 'set': annotations of one, whatever is in them: @Suppress("A") /* b */ set(a) {
REMARK_BEHIND_ANNOTATION = deferred(rb"^[ \t]*+(//[^\n]*+)(?=\n\s*+(?:set|get)\b)", re.MULTILINE)
# classMemberDeclarations: {classMemberDeclaration [semis]}: the last one of a class on one line: class A { fun f() {} }
# What is put into a text, "${ a }", stays what it is: its group is empty.
LAST_MEMBER = deferred(rb"\$\{[^{}\n]*+\}()|(?<=[^\s{;,])([ ])[ ]*+(?=\})")

GAPS = (
    (GUARD, b""), (LONG_GUARD, b""), (DOLLARS, b""), (CONTEXT, b""), (EMPTY_COLLECTION, b"0"),
    (NULLABLE_RECEIVER, b""), (WHERE, b"xhere"), (REMARK_BEHIND_ANNOTATION, b""), (LAST_MEMBER, b";"),
)  # fmt: skip

repaired = partial(filled, gaps=GAPS)
