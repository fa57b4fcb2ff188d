"""What the grammar of C++ takes for something else, and the words that stand in its place; near errors only."""

import re
from functools import partial

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.filling import filled
from fledgling.worker.languages.c.gaps import PARENTHESES

# 9.5.3: a deleted definition of a function that is no member has a body of another kind: void f(A&) = delete;
DELETED = deferred(rb"(?<=[\w)>&]) [ ]?+ (= [ ] delete [ ]?+ ;)", re.VERBOSE)
# 9.2.9.6: the type of an expression is a type, whatever that says: decltype(f<A>() << g<B>(), h())
DECLTYPE = deferred(rb"\b decltype \s*+ (?! \( auto \) ) " + PARENTHESES, re.VERBOSE)

GAPS = ((DELETED, b"{}"), (DECLTYPE, b"decl_ype"))  # a name as long as the word that it stands for

repaired = partial(filled, gaps=GAPS)
