"""What the grammar of C# lacks, and what stands in its place; near errors only.

Each expression is named after what it finds, below the rule of the C# specification that makes it valid, with an
example. Names are read from the text itself, so what stands in its place is never seen. All take linear time.
"""

import re
from functools import partial

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.filling import filled

TEXT = rb"\"(?>(?:[^\"\\\n]++|\\.)*)\""
# 24.6.2: what a pointer points at, of another type: *(int*)&a
POINTER_OF_TYPE = deferred(rb"(?<![\w)\]])\*\([ ]?+[\w.]++[ ]?+\*++\)")
# ... where something is assigned to what it points at: *a++ = 1;
POINTER_ASSIGNED = deferred(rb"^[ \t]*+(\*++)\w++(\+\+)?+(?=[ ]=[ ])", re.MULTILINE)
# 12.21.2: a variable that a call refers to: Unsafe.Add(ref a, 1) = true;
# ... not a tuple that is taken apart, var (a, b) = f(), nor a condition
ASSIGNED_CALL = deferred(rb"[\w>]\((?:[^()\n]++|\([^()\n]*+\))*+\)[ ](=[ ][^=;{}]*+)(?=;)")
# 16.2.2: modifiers of a struct in their order: ref partial struct A
REF_BEFORE_PARTIAL = deferred(rb"\bref(?=[ ]partial[ ]struct\b)")
# 12.8.23 of C# 12: a collection as an argument or a value: f(a, [b])
COLLECTION = deferred(
    rb"(?:(?<=[(,=?:])|(?<=[(,=?:][ ])|(?<=[(,=?:>]\n)[ \t]*+)(\[(?:[^][{};\"\\]++|" + TEXT + rb")*+\])(?=\s*+[,);])"
)
# 12.8.17.3: an element of an initializer: new A(b) { [c] = d }
ELEMENT_INITIALIZER = deferred(rb"(?<=[{,])\s*+(\[[^][{};]*+\]\s*+=)(?=[^=>])")
# 15.6 of C# 14: types of what a block of members extends: extension<T>(List<T> a) { }
EXTENSION_TYPES = deferred(rb"(?<=\bextension)<[^<>(){};]++>(?=\()")
# 6.5.5: a file that a program is made of alone begins with what it needs: #:sdk A
FILE_DIRECTIVE = deferred(rb"^\#[:!][^\n]*+", re.MULTILINE)

GAPS = (
    (POINTER_OF_TYPE, b""), (POINTER_ASSIGNED, b""), (ASSIGNED_CALL, b""), (REF_BEFORE_PARTIAL, b""),
    (COLLECTION, b"0"),    (ELEMENT_INITIALIZER, b""), (FILE_DIRECTIVE, b""),
    (EXTENSION_TYPES, b""),
)  # fmt: skip

repaired = partial(filled, gaps=GAPS)
