"""What the grammar of TypeScript lacks, and what stands in its place; near errors only."""

from functools import partial

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.filling import filled
from fledgling.worker.languages.javascript.gaps import AMPERSAND, LIKE_OPERATOR

# TypeScript 5.0: all types of a module: export type * from "./a"
TYPES_OF_MODULE = deferred(rb"(?<=\bexport[ ])type(?=[ ]\*)")
# a member of an interface that begins with type parameters, where no `;` ends the one above: <A>(a: A): B
SIGNATURE = deferred(
    rb"(?:[\w\])}.]|(?<!=)>)[ \t]*+\n\s*?([ \t])(?=<\s*+\w++\s*+(?:>|,|=|extends\b))"  # a comment may stand between
)
# TypeScript 4.7: how a type parameter may vary: interface A<in out B, /* c */ out D>
VARIANCE = deferred(rb"(?:[<,]|\*/)\s*+((?:in[ \t]++out|in|out)[ \t]++)(?=[A-Za-z_$])")
# members that are called as a modifier is: accessor(a: A) {}, abstract?: B
ACCESSOR = deferred(rb"(?<![\w$.#])(accessor)(?=[ \t]*+[(<=:?!;])")
ABSTRACT = deferred(rb"(?<![\w$.#])(abstract)(?=[ \t]*+[(<=:?!;])")
# TypeScript 4.9: a field that is asked for by its class: static accessor a: A
STATIC_ACCESSOR = deferred(rb"\bstatic([ \t]++accessor)(?=[ \t]++[\w$#])")
# typeQuery of a value that the grammar knows by its name alone: (typeof undefined | A)[]
TYPE_OF_UNDEFINED = deferred(rb"\btypeof[ \t]++(undefined)\b")

GAPS = (
    (TYPES_OF_MODULE, b""), (VARIANCE, b""), (AMPERSAND, b"a"), (SIGNATURE, b";"),
    (ACCESSOR, b"xccessor"), (ABSTRACT, b"xbstract"), (STATIC_ACCESSOR, b""),
    (TYPE_OF_UNDEFINED, b"undefinex"), (LIKE_OPERATOR, b"xn"),
)  # fmt: skip

repaired = partial(filled, gaps=GAPS)
