"""What the grammar of C++ lacks, beside what that of C does; left out near errors only, as languages/c/gaps.py says."""

import re
from collections.abc import Iterable

from fledgling.worker.extracting.repair import Repaired
from fledgling.worker.languages.c.gaps import GAP as OF_C
from fledgling.worker.languages.c.gaps import Span, without_gaps

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
# 9.3.4.7: a default argument that is an empty list: f(A b = {})
EMPTY_DEFAULT = rb"(?<=[\w&>]) \s*+ = \s*+ \{ \s*+ \} (?= \s*+ [,)] )"
# 13.2: the default of a parameter that is a pointer without a name: enable_if<A>::type* = nullptr
POINTER_BEFORE_DEFAULT = rb"\* (?= [ \t]*+ = [ \t]*+ (?: nullptr | 0 ) \b )"
# Visibility by a macro, among specifiers: inline LIB_API std::string f()
EXPORT = rb"\b [A-Z]\w*_(?:API|EXPORT)\b (?= \s++ [\w:~] )"
# Calling conventions of Microsoft's compilers: BOOL __stdcall f(int a)
CONVENTION = rb"\b __ (?: c | std | fast | this | vector )call \b"

ALL = (
    CLASS_OF_MEMBER_POINTER, EXTERN_TEMPLATE, EMIT, TYPENAME, TYPE_OF_ENUM, CALL_BEFORE_CLASS, EMPTY_DEFAULT,
    POINTER_BEFORE_DEFAULT, EXPORT, CONVENTION,
)  # fmt: skip
GAP = re.compile(b"|".join(ALL), re.MULTILINE | re.VERBOSE)


def repaired(source: bytes, unknown: Iterable[Span]) -> Repaired:
    """The text without them, near what the grammar does not know."""
    return without_gaps(source, unknown, [OF_C, GAP])
