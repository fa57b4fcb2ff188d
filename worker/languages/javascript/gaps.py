"""What the grammar of JavaScript lacks, and what stands in its place; near errors only."""

from functools import partial
from itertools import groupby

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.filling import filled

# ECMAScript 2015: what is exported or imported may be called as a reserved word is: export { a as null, b as function }
VALUES = (b"false", b"null", b"super", b"this", b"true")  # which may stand between commas elsewhere
OTHERS = (
    b"break", b"case", b"catch", b"class", b"const", b"continue", b"debugger", b"delete", b"do", b"else", b"enum",
    b"export", b"extends", b"finally", b"for", b"function", b"if", b"import", b"in", b"instanceof", b"new", b"return",
    b"switch", b"throw", b"try", b"typeof", b"var", b"void", b"while", b"with",
)  # fmt: skip

# a name as long for each length: its place in the text is where the word is read
GAPS = [
    (deferred(rb"\bas\s++(" + b"|".join(words) + rb")(?=\s*+[,}])"), b"a" * length)
    for length, words in groupby(sorted(VALUES + OTHERS, key=len), key=len)
] + [
    (deferred(rb"[{,]\s*+(" + b"|".join(words) + rb")(?=\s++as\b|\s*+[,}])"), b"a" * length)
    for length, words in groupby(sorted(OTHERS, key=len), key=len)
]

# ECMAScript 2026: a name that begins no declaration: using(a), `${using}`, using.b = c
USING = deferred(rb"(?<![\w$.#])(using)(?![\w$]|[ \t]++[\w$])")
# JSX: an attribute holds whatever it does: <a href="?b&c">
AMPERSAND = deferred(rb"(?<=\w=\")[^\"\n<>{}&]*+&[^\"\n]*+(?=\")")
# a name that begins a line, which the grammar takes for an operator: in_all = a, instanceof$
LIKE_OPERATOR = deferred(rb"\n[ \t]*+(in)(?=(?:stanceof)?[\d_$])")
GAPS += [(USING, b"xsing"), (AMPERSAND, b"a"), (LIKE_OPERATOR, b"xn")]

repaired = partial(filled, gaps=GAPS)
