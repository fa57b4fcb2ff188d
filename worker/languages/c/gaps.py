"""What the grammar of C lacks, and the rest of a text does without; left out near errors only.

Each expression is named after what it finds, below the rule of C11 or the use of a macro that makes it valid, with an
example. All are verbose and take linear time: what repeats is possessive.
"""

import re
from collections.abc import Iterable

from fledgling.worker.extracting.outline import without
from fledgling.worker.extracting.repair import Repaired, around
from fledgling.worker.languages.c.macros import lines, placed

Span = tuple[int, int]

# 6.4.5 (5): adjacent string literals are one, also where a macro stands for one of them: "%" PRIu64
MACRO_BESIDE_STRING = rb"""(?<=") [ \t]*+ [A-Z]\w*+ (?= \s*+ [",)] )"""
# A calling convention before the pointer of 6.7.6.1: (WINAPI *f)(
CONVENTION_OF_POINTER = rb"(?<=\() [A-Z][A-Z0-9_]{2,}+ [ \t]*+ (?= \* [ \t]*+ \w++ [ \t]*+ \) [ \t]*+ \( )"
# Attributes behind the parameters of 6.7.6.3, with arguments: f(int a) LIB_PRINTF(1, 2);
CALL_BEHIND_PARAMETERS = rb"(?:(?<=\))|(?<=\)\sconst)) \s++ [A-Z][A-Z0-9_]{2,}+ [ \t]*+ \( [^(){};]*+ \) (?= \s*+ ; )"
# ... without: f(int a) LIB_PURE;
WORDS_BEHIND_PARAMETERS = (
    rb"(?<=\)) \s++ [A-Z][A-Z0-9]*+_[A-Z0-9_]++ (?: \s++ [A-Z][A-Z0-9]*+_[A-Z0-9_]++ )*+ (?= \s*+ ; )"
)
# ... in lower case: f(int a) _pure_;
WORD_BEHIND_PARAMETERS = rb"(?<=\)) \s++ _\w++ (?= \s*+ ; )"
# The initializer of 6.7.9 within a macro: int a INIT(= 1);
INITIALIZER_IN_MACRO = rb"\b [A-Z][A-Z0-9_]*+ \( \s*+ = (?: [^;()]++ | \( [^;()]*+ \) )*+ \) (?= \s*+ ; )"
# A type that a macro makes of types: Map(int, char *) a;
ARGUMENTS_OF_TYPE = rb"(?<=\w) \( \w++ [\s*]*+ (?: , \s*+ \w++ [\s*]*+ )++ \) (?= [ ] [a-z]\w*+ \s*+ [(;=] )"
# An attribute behind the name of a parameter: void *data UNUSED
UNUSED = rb"(?<=[\w*]) \s (?= \w*UNUSED ) \w++ (?= \s*+ [,)] )"
# Attributes among the specifiers of 6.7: void LIB_PRINTF(2, 3) f(
NUMBERS_AMONG_SPECIFIERS = rb"(?<=\s) [A-Z][A-Z0-9_]{2,}+ [ ]?+ \( [\d, \t]++ \) (?= \s++ [\w*] )"
# Attributes of the enumerators of 6.7.2.2: enum { A LIB_SINCE(1) = 2 }
CALL_BEHIND_ENUMERATOR = rb"(?<=\w) \s++ [A-Z][A-Z0-9_]{2,}+ [ \t]*+ \( [^(){};]*+ \) (?= \s*+ [=,}] )"
# Attributes behind the members of 6.7.2.1: } LIB_PACKED a;
WORD_BEHIND_MEMBERS = rb"(?<=\}[ ]) [A-Z][A-Z0-9_]{2,}+ (?= \s++ \w++ \s*+ ; )"
# 6.10.3 (4): an argument may consist of no tokens: LIST_HEAD(, a) b;
NO_ARGUMENT = rb"(?<=_HEAD\() ,"
# A call without a semicolon between definitions, whose macro ends it: type_init(a)
CALL_ALONE = rb"""(?<=\n\n) [a-z]\w*+ \( [^(){};"']*+ \) (?= [ \t]*+ (?: \n[ \t]*+ (?: \n|\Z ) | \Z ) )"""

ALL = (
    MACRO_BESIDE_STRING, CONVENTION_OF_POINTER, CALL_BEHIND_PARAMETERS, WORDS_BEHIND_PARAMETERS, INITIALIZER_IN_MACRO,
    ARGUMENTS_OF_TYPE, WORD_BEHIND_PARAMETERS, UNUSED, NUMBERS_AMONG_SPECIFIERS, CALL_BEHIND_ENUMERATOR,
    WORD_BEHIND_MEMBERS, NO_ARGUMENT, CALL_ALONE,
)  # fmt: skip
GAP = re.compile(b"|".join(ALL), re.MULTILINE | re.VERBOSE)


def repaired(source: bytes, unknown: Iterable[Span]) -> Repaired:
    """The text without them, near what the grammar does not know."""
    return without_gaps(source, unknown, [GAP])


def without_gaps(source: bytes, unknown: Iterable[Span], gaps: Iterable[re.Pattern[bytes]]) -> Repaired:
    """The text without what some expressions find outside of directives, near what the grammar does not know."""
    found = [match.span() for place in around(unknown) for gap in gaps for match in gap.finditer(source, *place)]
    spans = (span for span, is_directive in placed(source, found) if not is_directive)
    return Repaired(without(source, (line for span in spans for line in lines(source, *span))))
