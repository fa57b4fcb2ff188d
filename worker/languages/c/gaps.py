"""What the grammar of C lacks, and the rest of a text does without; left out near errors only.

Each expression is named after what it finds, below the rule of C11 or the use of a macro that makes it valid, with an
example. All are verbose and take linear time: what repeats is possessive. Where one has groups, they are what is left
out, else all of it.
"""

import re
from collections.abc import Iterable

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.repair import Repaired, around, left_out
from fledgling.worker.extracting.source_text import Span, without
from fledgling.worker.languages.c.macros import lines, placed

LITERAL = rb"""(?:"(?>(?:[^"\\\n]++|\\.)*)"|'(?>(?:[^'\\\n]++|\\.)*)')"""
# A backslash outside of literals ends all of it: `\\"` is a quote there and none in a literal, and each place where a
# text could begin would be read to the end of the file.
PLAIN = rb"""(?:[^(){};"'\\]++|""" + LITERAL + rb")"
IN_BRACES = rb"""(?:[^(){}"'\\]++|""" + LITERAL + rb"|\((?>(?:[^(){}\"'\\]++|" + LITERAL + rb")*)\))"
BRACES = rb"\{(?>(?:" + IN_BRACES + rb"|\{(?>" + IN_BRACES + rb"*)\})*)\}"
FLAT = rb"(?:" + PLAIN + rb"|" + BRACES + rb")"
NESTED = rb"(?:" + FLAT + rb"|\((?>(?:" + FLAT + rb"|\(" + FLAT + rb"*+\))*)\))"
PARENTHESES = rb"\((?>" + NESTED + rb"*)\)"  # in each other, three deep, and two braces
JOINED = rb"[A-Z][A-Z0-9]*+_[A-Z0-9_]++"  # words that nobody but a macro is made of

# 6.4.5 (5): adjacent string literals are one, also where a macro stands for one of them: "%" PRIu64
MACRO_BESIDE_STRING = rb"""(?<=") [ \t]*+ [A-Z]\w*+ (?= \s*+ [",)] )"""
# A calling convention before the pointer of 6.7.6.1: (WINAPI *f)(
CONVENTION_OF_POINTER = (
    rb"(?<=\() [A-Z][A-Z0-9_]{2,}+ [ \t]*+ (?= \* [ \t]*+ \w++ [ \t]*+ \) \s*+ (?:[A-Z_]++[ \t]*+)?+ \( )"
)
# ... and before its parentheses: static void WINAPI (*f)(
CONVENTION_BEFORE_POINTER = rb"(?<=\w) [ ] [A-Z][A-Z0-9_]{2,}+ (?= [ ]?+ \( [ ]?+ \* [ ]?+ \w++ [ ]?+ \) \s*+ \( )"
# Attributes behind the parameters of 6.7.6.3, with arguments: f(int a) LIB_PRINTF(1, 2);
CALL_BEHIND_PARAMETERS = (
    rb"(?:(?<=\))|(?<=\)\sconst)) \s++ [A-Z][A-Z0-9_]{2,}+ [ \t]*+ " + PARENTHESES + rb" (?= \s*+ ; )"
)
# ... without: f(int a) LIB_PURE;
WORDS_BEHIND_PARAMETERS = (
    rb"(?<=\)) \s++ [A-Z][A-Z0-9]*+_[A-Z0-9_]++ (?: \s++ [A-Z][A-Z0-9]*+_[A-Z0-9_]++ )*+ (?= \s*+ ; )"
)
# ... behind parameters: f() const LIB_NOEXCEPT override;
WORDS_BEHIND_FUNCTION = (
    rb"(?: (?<=\)) | (?<=\)[ ]const) | (?<=noexcept) ) ((?: \s++ " + JOINED + rb" (?:" + PARENTHESES + rb")?+ ){1,4}+)"
    rb" (?= \s*+ (?: [;{] | -> | = [ ]?+ [0d] | (?:override|final|noexcept)\b ) )"
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
NUMBERS_AMONG_SPECIFIERS = rb"(?<=\s) [A-Za-z]\w{2,}+ [ ]?+ \( [\d, \t]++ \) (?= \s++ [\w*] )"
# Attributes of the enumerators of 6.7.2.2: enum { A LIB_SINCE(1) = 2 }
CALL_BEHIND_ENUMERATOR = (
    rb"(?<=\w) (?: \s*+ /\*[^*]*+\*/ )?+ (\s++ [A-Z][A-Z0-9_]{2,}+ [ \t]*+ \( [^(){};]*+ \)) (?= \s*+ [=,}] )"
)
# Attributes behind the members of 6.7.2.1: } LIB_PACKED a;
WORD_BEHIND_MEMBERS = rb"(?<=\}[ ]) [A-Z][A-Z0-9_]{2,}+ (?= \s++ \w++ \s*+ ; )"
# 6.10.3 (4): an argument may consist of no tokens: LIST_HEAD(, a) b;
NO_ARGUMENT = rb"(?<=\w\() [ \t]*+ ,"
# A call without a semicolon between definitions, whose macro ends it: type_init(a)
CALL_ALONE = rb"""(?<=\n\n) [a-z]\w*+ \( [^(){};"']*+ \) (?= [ \t]*+ (?: \n[ \t]*+ (?: \n|\Z ) | \Z ) )"""
# Attributes among the specifiers, without arguments, at the beginning of a line: LIB_API const char *(f)(
WORD_BEFORE_TYPE = (
    rb"(?: ^[ \t]*+ (" + JOINED + rb") | \b(?:extern|static) [ ] (?:\"C\"[ ])?+ ([A-Z][A-Z0-9_]{3,}+) )"
    rb" (?= [ \t]++ (?: (?:const|struct|unsigned|void|char|short|int|long|float|double|bool)\b"
    rb"   | (?:static|inline|constexpr|virtual|friend|extern)\b"
    rb"   | [\w:]++ (?:<[^<>;{}\n]*+>)?+ (?: \s*+ [*&]++ \s*+ [\w(] | \s++ \w ) ) )"
)
# ... of parameters, before and behind: f(UNUSED int a, b *c LIB_NONNULL)
WORD_BEFORE_PARAMETER = (
    rb"(?<=[(,]) \s*+ (?:__\w++|\w+const|[A-Z][A-Z0-9_]{3,}+)"
    rb" (?= [ ]++ (?:(?:const|struct)[ ]++)?+ \w++ (?: [\s*&]++ \w | [ ]?+ \*++ [ ]?+ [,)] ) )"
)
WORD_BEHIND_PARAMETER = (
    rb"(?<=[\w\]]) (?: \s*+ //[^\n]*+ )?+ (\s++ " + JOINED + rb" (?:" + PARENTHESES + rb")?+ ) (?= \s*+ [,)] )"
)
# ... of pointers: char *_Nonnull a
WORD_BEHIND_STAR = (
    rb"(?<=[*&]) [ \t]*+ (?!(?:const|volatile|restrict|operator|static|and|or|xor|bitand|bitor)\b) [A-Za-z_]\w*+"
    rb" (?= [ \t]++ (?! (?: " + JOINED + rb" | __\w++ ) \b ) [A-Za-z_]\w*+ [ \t]*+ (?:[,)=;(\[]|::) )"
)
WORD_BEFORE_STAR = (
    rb"(?<=\w) (?<!\bconst) (?<!\bstruct) (?<!\breturn) (?<!\bstatic) (?<!\bextern) (?<!\btypedef)"
    rb" [ ] [A-Z][A-Z0-9_]++ (?= [ \t]*+ \* )"
)
# ... of variables and members: int a LIB_GUARDED_BY(b) = 1;
CALL_BEHIND_VARIABLE = rb"(?<=[\w\]]) \s++ " + JOINED + PARENTHESES + rb" (?= \s*+ [;=] )"
# A prototype that old compilers read without its parameters: int f OF((int a));
PARAMETERS_IN_MACRO = rb"(?<=[\w)\s]) ([A-Z_]{2,}+\w*+ [ \t]*+ \() \( " + NESTED + rb"*+ \) (\)) (?= \s*+ ; )"
# A function within a macro: LIB_UNUSED(static int f(int a)) {
FUNCTION_IN_MACRO = (
    rb"^ ([A-Z][A-Z0-9_]++ \() (?= (?:static|inline|const|extern|unsigned|struct|void|char|int|long|bool|size_t)\b )"
    rb" [^(){};]*+ \( [^(){};]*+ \) (\)) (?= \s*+ \{ )"
)
# 6.9.1 (6): declarations of parameters behind their list: f(a) int a; {
PARAMETERS_BEHIND_LIST = (
    rb"(?<=\)) [ \t]*+ \n (?: \s*+ (?!return\b|goto\b|else\b) [A-Za-z_]\w*+ [\s*]++ [^{};=\n]++ ;"
    rb" (?:[ \t]*+ /\*[^*\n]*+\*/)?+ )++ (?= \s*+ \{ )"
)
# A type that a macro makes of one: Elf(Sym) *a
ARGUMENT_OF_TYPE = rb"\b [A-Z]\w*+ (\( \w++ \)) (?= [ ]*+ [*&]++ [ ]*+ \w | [ ]++ \w++ [ ]*+ [,);=] )"
# A word that stands for statements, declarations or values: BEGIN_TEST
WORD_ALONE = rb"^[ \t]*+ [A-Z][A-Z0-9_]{2,}+ [ \t]*+ $ (?! \s*+ (?: [](){}=;,.\[+|&?:<>*-] | /(?![/*]) ) )"
WORD_BEFORE_BODY = rb"(?:(?<=\n\n)|(?<=[;}/ ]\n)) [A-Z][A-Z0-9_]{2,}+ [ \t]*+ (?= \n \{ )"
# ... with arguments, whatever is called of the result: FLAG(int, a, 1).on(b);
CALL_OF_MACRO = (
    rb"(?<!=\n) ^[ \t]*+ [A-Z][A-Z0-9_]*+ [ \t]*+ "
    + PARENTHESES
    + rb" (?: \s*+ (?:\.|->) \w++ "
    + PARENTHESES
    + rb")*+"
    rb" (?= [ \t]*+ ;?+ [ \t]*+ (?://[^\n]*+|/\*[^*\n]*+\*/)?+ $ (?! \s*+ [{(=:?.&|-] ) )"
)
# ... that makes an enumerator of its first argument: OPTION(A, LONG, 1),
ENUMERATOR_BY_MACRO = rb"^[ \t]*+ ([A-Z]\w*+ [ \t]*+ \() \w++ ((?: , " + NESTED + rb"*+ )?+ \)) (?= [ \t]*+ , )"
# ... with a body: TEST_CASE("a") {
CALL_BEFORE_BODY = (
    rb"(?<![,:]\n) ^[ \t]*+ (?!(?:if|for|while|switch|catch|else|return|do)\b) \w++ [ \t]*+"
    rb" (?: \( [^(){};\"']*+ " + LITERAL + NESTED + rb"*+ \) | (?<=each) " + PARENTHESES + rb" ) (?= \s*+ \{ )"
)
# Words for those whose compiler gets there: Exactly one of A or B should be defined.
PROSE = rb"^ [ \t]*+ (?: [\w'-]++ [ ,]++ ){3,40}+ [\w'-]++ [.!] $"
# An attribute on a line of its own, which a condition may end: __attribute__((destructor))
ATTRIBUTE_ALONE = rb"^[ \t]*+ __attribute__ [ ]?+ " + PARENTHESES + rb" [ \t]*+ $"
# ... behind parameters, for some compilers alone: f(int a) #ifdef __GNUC__ __attribute__((pure)) #endif ;
ATTRIBUTE_IN_CONDITION = (
    rb"(?<=\)) \n [ \t]*+ \#[ \t]*+if[^\n]*+ \n [ \t]*+ __attribute__ [ ]?+ " + PARENTHESES + rb" [ \t]*+"
    rb" \n [ \t]*+ \#[ \t]*+endif[^\n]*+ (?= \s*+ ; )"
)
# 6.8.4: parentheses that are in a macro: if ISZERO(a) {
CALL_BEHIND_IF = rb"(?<=\bif) [ ] [A-Z][A-Z0-9_]{3,}+ (?= [ ]?+ \( )"
# 6.7.2.2: the value of an enumerator that is made of macros, which are defined and included below
VALUE_BELOW = rb"= (?= [ \t]*+ \n \s*+ [\#}] )"
# 6.7.1: how long a variable lives: _Thread_local int a;
THREAD_LOCAL = rb"\b_Thread_local\b"
# Attributes of Microsoft's compilers: __declspec(allocate(".a")) b c;
DECLSPEC = rb"\b__declspec [ ]?+ " + PARENTHESES

ALL = (
    MACRO_BESIDE_STRING, CONVENTION_OF_POINTER, CONVENTION_BEFORE_POINTER,
    CALL_BEHIND_PARAMETERS, WORDS_BEHIND_PARAMETERS, INITIALIZER_IN_MACRO,
    ARGUMENTS_OF_TYPE, WORD_BEHIND_PARAMETERS, WORDS_BEHIND_FUNCTION, UNUSED, NUMBERS_AMONG_SPECIFIERS,
    CALL_BEHIND_ENUMERATOR,
    WORD_BEHIND_MEMBERS, NO_ARGUMENT, CALL_ALONE, WORD_BEFORE_TYPE, WORD_BEFORE_PARAMETER, WORD_BEHIND_PARAMETER,
    WORD_BEFORE_STAR, WORD_BEHIND_STAR, CALL_BEHIND_VARIABLE, PARAMETERS_IN_MACRO, FUNCTION_IN_MACRO,
    PARAMETERS_BEHIND_LIST, ARGUMENT_OF_TYPE, WORD_ALONE, WORD_BEFORE_BODY, CALL_BEHIND_IF, CALL_OF_MACRO,
    ENUMERATOR_BY_MACRO, CALL_BEFORE_BODY, VALUE_BELOW, THREAD_LOCAL, DECLSPEC, ATTRIBUTE_IN_CONDITION,
    ATTRIBUTE_ALONE, PROSE,
)  # fmt: skip
GAP = deferred(b"|".join(ALL), re.MULTILINE | re.VERBOSE)


def repaired(source: bytes, unknown: Iterable[Span]) -> Repaired:
    """The text without them, near what the grammar does not know."""
    return without_gaps(source, unknown, GAP)


def without_gaps(
    source: bytes, unknown: Iterable[Span], gap: re.Pattern[bytes], *, directives: bool = False
) -> Repaired:
    """The text without what an expression finds near what the grammar does not know; outside of directives, or in."""
    found = [span for place in around(unknown) for match in gap.finditer(source, *place) for span in left_out(match)]
    spans = (span for span, is_directive in placed(source, found) if is_directive is directives)
    return Repaired(without(source, (line for span in spans for line in lines(source, *span))))
