"""What the grammar of C++ lacks, beside what that of C does; left out near errors only, as languages/c/gaps.py says."""

import re
from collections.abc import Iterable

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.repair import Repaired
from fledgling.worker.extracting.source_text import Span
from fledgling.worker.languages.c.gaps import JOINED, PARENTHESES, without_gaps
from fledgling.worker.languages.c.macros import ANGLES

# C++20 9.3.4.4: the class of a pointer to member: void (A::*f)()
CLASS_OF_MEMBER_POINTER = rb"(?<![\w:]) (?:\w++::){1,9}+ (?=\*)"
# 13.9.3: an explicit instantiation declaration is no definition: extern template class a<b>;
EXTERN_TEMPLATE = rb"\bextern\b (?= \s++ template\b )"
# Qt: what sends a signal, a macro for nothing: emit changed();
EMIT = rb"\b (?: emit | Q_EMIT ) \b (?= [ ] \w++ \( )"
# 13.8: what says that a name is a type: typename a<b>::c(1)
TYPENAME = rb"\btypename\b (?= \s++ \w++ \s*+ (?: :: | < ) )"
# 9.7.1: the underlying type of an enumeration without a name: enum : int { a };
TYPE_OF_ENUM = rb"(?<=\benum) \s*+ : (?!:) [\w: \t]{1,60}+ (?= \{ )"
# 11.1: attributes of a class, by a macro with arguments: class LIB_ALIGN(64) a {
CALL_BEFORE_CLASS = (
    rb"(?:(?<=\bclass[ ])|(?<=\bstruct[ ])) [A-Z][A-Z0-9_]{2,}+ [ \t]*+ \( [^(){};]*+ \)"
    rb" (?= \s++ \w++ (?: \s++ final )?+ \s*+ [:{] )"
)
# 9.3.4.7: a default argument that is a list: f(A b = {})
LIST_FOR_DEFAULT = rb"(?<=[\w&>/]) \s*+ = \s*+ \{ [^{}();]*+ \} (?= \s*+ [,)] )"
# 13.2: the default of a parameter that is a pointer without a name: enable_if<A>::type* = nullptr
POINTER_BEFORE_DEFAULT = rb"\* (?: [ ] const )?+ (?= \s*+ (?:/\*[^*]*+\*/)?+ \s*+ = \s*+ (?: nullptr | 0 ) \b )"
# Visibility by a macro, among specifiers: inline LIB_API std::string f()
EXPORT = rb"\b [A-Z]\w*_(?:API|EXPORT)\b (?= \s++ [\w:~] )"
# Calling conventions of Microsoft's compilers: BOOL __stdcall f(int a)
CONVENTION = rb"\b __ (?: c | std | fast | this | vector )call \b"
# 9.2.9.5: what stands before the last comma of an expression whose type is asked for: decltype(a(), void())
BEFORE_COMMA = (
    rb"\bdecltype \s*+ \( ((?: (?: "
    + PARENTHESES
    + rb" | "
    + ANGLES
    + rb" | [^(){};,<]++ | < (?!<) | \{[^{};]*+\} )*+ , )++)"
)
# Access by a macro: LIB_PRIVATE_UNLESS_TESTED:
ACCESS_BY_MACRO = rb"^[ \t]*+ [A-Z][A-Z0-9_]{4,}+ : (?!:) (?= [ \t]*+ (?: $ | / ) )"
# 11.7.1: a base class by its full name: class a : public ::b {
GLOBAL_BASE = rb"[:,] \s*+ (?:virtual\s++)?+ (?:public|private|protected)\s++ (::) (?=\w)"
# 12.4: an operator that is called by its name: a.operator[](1)
OPERATOR_CALLED = rb"(?<=[\w)>]) (?:\.|->) operator (?: \[\] | \(\) | -> | \* | [ ] [\w:<>]++ ) (?=\()"
# 13.2: a parameter of a template by a macro: template <class A, LIB_ENABLE_IF(!is_b<A>::value)>
PARAMETER_BY_MACRO = rb", \s*+ [A-Z][A-Z0-9_]{3,}+ " + PARENTHESES + rb" (?= \s*+ [,>] )"
# 13.9.3: an explicit instantiation defines nothing: template class a<b>;
INSTANTIATION = rb"^[ \t]*+ (?:extern\s++)?+ template \s++ (?:class|struct) \s [^;{}()]*+ ;"
# Attributes of a name that is used: using a::b LIB_DEPRECATED;
WORD_BEHIND_USING = rb"\busing \s++ [\w:]++ (\s++ [A-Z]\w*_\w++) (?= \s*+ ; )"
# 9.3.4.5: a reference to an array without a name: typename A = T (&)[N]
REFERENCE_TO_ARRAY = rb"(?<=\w) [ ]?+ \( &&?+ \) [ ]?+ \[ \w*+ \]"
# 7.6.4: a member by a pointer to it: (a->*b)()
MEMBER_BY_POINTER = rb"(?: -> | (?<=[\w)]) \. ) (?= \* )"
# A constructor behind a macro: LIB_CONSTEXPR a(int b) : c(b) {}
WORD_BEFORE_CONSTRUCTOR = rb"\b " + JOINED + rb" (?= [ ]++ \w++ [ ]*+ " + PARENTHESES + rb" \s*+ : (?!:) )"
# Attributes of the specialization of a class: class LIB_API a<b> {
WORD_BEFORE_CLASS = rb"(?:(?<=\bclass[ ])|(?<=\bstruct[ ])) " + JOINED + rb" (?= \s++ \w++ [ ]?+ < )"
# ... and before attributes of another kind: class LIB_API [[nodiscard]] a {
WORD_BEFORE_ATTRIBUTES = rb"(?:(?<=\bclass[ ])|(?<=\bstruct[ ])) " + JOINED + rb" (?= \s++ \[\[ )"
# 9.4.5: the value of a variable behind its class: class { int a; } b{1};
VALUE_BEHIND_CLASS = rb"(?<=\}[ ]) \w++ (\{ [^{};]*+ \}) (?= \s*+ ; )"
# A type by a macro with arguments: typename LIB_BIND(a, b) c;
TYPE_BY_MACRO = rb"\btypename [ ] [A-Z]\w*+ (" + PARENTHESES + rb") (?= [ ] \w )"
# 9.9: all that a pack names: using A::operator()...;
PACK_USED = rb"\busing \s [^;{}]{1,200}? (\.\.\.) (?= \s*+ ; )"
# 11.4.10: a bit-field without a name: uint8_t : 0;
BITS_WITHOUT_NAME = rb"^ [ \t]*+ [\w:]++ [ ] (:[ ][0-9]++) (?= [ ]*+ ; )"
# 9.7.1: attributes of an enumeration: enum class [[nodiscard]] a {
ATTRIBUTES_OF_ENUM = rb"\benum [ ] (?:(?:class|struct)[ ])?+ (\[\[ [^][]*+ \]\])"
# 9.3.4.6: an explicit object parameter: f(this const a& b)
OBJECT_PARAMETER = rb"(?<=\() this (?= [ ] [\w:]++ [ &] )"
# 13.2: a type without a name for a default: template <class A = void()>
DEFAULT_FUNCTION = rb"(?<=[ ]void) \(\) (?= \s*+ [>,] )"
# 13.2: a default that is more than the name of a type: template <class A = const B*, class C = D&&>
END_OF_DEFAULT = (
    rb"\b(?:typename|class) [ ] \w++ [ ] = [ ] (?:const[ ])?+ [\w:]++ (?:"
    + ANGLES
    + rb")?+ [ ]?+ (const|[*&]++) (?= \s*+ [,>] )"
)
# 13.9.4: an explicit specialization of an operator: a& a::operator<< <b>(b c)
SPECIALIZED_OPERATOR = rb"\boperator [!%&*+/<=>^|~-]{1,3} [ ] (" + ANGLES + rb") (?= \( )"
# 9.2: specifiers in another order: inline friend a f(); friend LIB_CONSTEXPR a f();
WORD_BEFORE_FRIEND = rb"(?: \b(?:inline|constexpr|static) | \[\[ [^][]*+ \]\] ) [ ] (?= friend\b )"
WORD_BEHIND_FRIEND = rb"(?<=\bfriend[ ]) " + JOINED + rb" (?= [ ] )"
# Attributes by macros that are called after them: lib_inline a f(b * lib_nonnull c);
ATTRIBUTE_WORD = (
    rb"\b (?!_) \w++ (?: (?<=_inline) | (?<=_noinline) | (?<=_unused) | (?<=_nonnull) | (?<=_nullable)"
    rb"  | (?<=_nullability_unknown) | (?<=_lifetime_bound) | (?<=_deprecated) | (?<=_noexcept) ) (?! [ ]?+ [(.] | :: )"
)
# ... between a type and a name: std::string LIB_INLINE f(
WORD_BEFORE_NAME = rb"(?<=[\w>&*][ ]) (?<!return[ ]) " + JOINED + rb" (?= [ ] (?:\w++::)*+ \w++ [ ]?+ \( )"
# ... of a variable, several, and before a value in braces: a b LIB_GUARDED(c) LIB_POINTS(d){e};
CALLS_BEHIND_VARIABLE = rb"(?<=[\w\]]) ((?: \s++ " + JOINED + PARENTHESES + rb" ){1,4}+) (?= \s*+ [;={] )"
# ... behind the name of a type that is used: using a LIB_INLINE = b;
WORD_BEHIND_ALIAS = rb"\busing [ ] \w++ (\s++ " + JOINED + rb") (?= \s*+ = )"
# 14.5: an exception specification may hold any expression: noexcept(a(f<b&&>()))
EXCEPTIONS = rb"\bnoexcept [ ]?+ (" + PARENTHESES + rb")"
# A word that stands for what begins a block: LIB_TRY {
WORD_BEFORE_BLOCK = rb"(?<![,(=]\n) ^[ \t]++ [A-Z][A-Z0-9_]{2,}+ [ \t]*+ (?= \{ )"

ALL = (
    CLASS_OF_MEMBER_POINTER, INSTANTIATION, EXTERN_TEMPLATE, EMIT, TYPENAME, TYPE_OF_ENUM, CALL_BEFORE_CLASS,
    LIST_FOR_DEFAULT,
    POINTER_BEFORE_DEFAULT, EXPORT, CONVENTION, BEFORE_COMMA, ACCESS_BY_MACRO, GLOBAL_BASE, OPERATOR_CALLED,
    PARAMETER_BY_MACRO, WORD_BEHIND_USING, REFERENCE_TO_ARRAY, MEMBER_BY_POINTER,
    WORD_BEFORE_CONSTRUCTOR, WORD_BEFORE_CLASS, WORD_BEFORE_ATTRIBUTES, VALUE_BEHIND_CLASS, TYPE_BY_MACRO,
    PACK_USED, BITS_WITHOUT_NAME, ATTRIBUTES_OF_ENUM, OBJECT_PARAMETER, DEFAULT_FUNCTION, END_OF_DEFAULT,
    SPECIALIZED_OPERATOR,
    WORD_BEFORE_FRIEND, WORD_BEHIND_FRIEND, ATTRIBUTE_WORD, WORD_BEFORE_NAME,
    CALLS_BEHIND_VARIABLE, WORD_BEHIND_ALIAS, EXCEPTIONS, WORD_BEFORE_BLOCK,
)  # fmt: skip
GAP = deferred(b"|".join(ALL), re.MULTILINE | re.VERBOSE)


def repaired(source: bytes, unknown: Iterable[Span]) -> Repaired:
    """The text without them, near what the grammar does not know."""
    return without_gaps(source, unknown, GAP)
