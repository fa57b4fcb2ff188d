"""What the grammar of TypeScript lacks, and what stands in its place; near errors only."""

from functools import partial

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.filling import filled

# TypeScript 5.0: all types of a module: export type * from "./a"
TYPES_OF_MODULE = deferred(rb"(?<=\bexport[ ])type(?=[ ]\*)")
# JSX: an attribute holds whatever it does: <a href="?b&c">
AMPERSAND = deferred(rb"(?<=\w=\")[^\"\n<>{}&]*+&[^\"\n]*+(?=\")")
# a member of an interface that begins with type parameters, where no `;` ends the one above: <A>(a: A): B
SIGNATURE = deferred(
    rb"(?:[\w\])}.]|(?<!=)>)[ \t]*+\n\s*?([ \t])(?=<\s*+\w++\s*+(?:>|,|=|extends\b))"  # a comment may stand between
)
# TypeScript 4.7: how a type parameter may vary: interface A<in out B, /* c */ out D>
VARIANCE = deferred(rb"(?:[<,]|\*/)\s*+((?:in[ \t]++out|in|out)[ \t]++)(?=[A-Za-z_$])")

GAPS = ((TYPES_OF_MODULE, b""), (VARIANCE, b""), (AMPERSAND, b"a"), (SIGNATURE, b";"))

repaired = partial(filled, gaps=GAPS)
