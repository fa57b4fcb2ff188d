"""Macros among the words of a declaration, which no parser of C can tell without its headers.

In `static int __must_check f(void)` and `LIB_API size_t g(void)` there is one word too many to be a type; blank, the
rest parses. Where two could be the type, the one that looks like a macro goes, else the first.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

CODE = re.compile(
    rb"^[ \t]*+\#(?>(?:[^\n\\]++|\\.)*)|//[^\n]*+|/\*.*?(?:\*/|\Z)"
    rb"|\"(?>(?:[^\"\\\n]++|\\.)*)|'(?>(?:[^'\\\n]++|\\.)*)"
    rb"|(?<![\w.>:])(?P<words>[A-Za-z_]\w*+(?>(?:[\s*&]++[A-Za-z_]\w*+){2,40}))\s*+(?P<next>[({=;:,\[])",
    re.MULTILINE | re.DOTALL,
)
WORD = re.compile(rb"\w+")
MACRO = re.compile(rb"[A-Z][A-Z0-9_]+|_\w+|\w*(?:inline|INLINE)\w*")
TAGS = frozenset({b"struct", b"union", b"enum", b"class", b"typename"})
TYPES = frozenset(
    b"void char short int long float double signed unsigned bool _Bool auto __int128 wchar_t size_t ssize_t".split()
)
KEYWORDS = (
    TAGS
    | TYPES
    | frozenset(
        b"static extern inline const volatile restrict register typedef thread_local constexpr consteval constinit"
        b" mutable virtual explicit friend template final override noexcept public private protected return else case"
        b" goto do if while for switch break continue default sizeof new delete throw using namespace operator concept"
        b" requires co_return co_await co_yield try catch and or not __attribute__ __attribute __extension__ __inline"
        b" __inline__ __restrict __restrict__ __const __volatile__ __signed__ __asm__ asm __declspec _Noreturn"
        b" _Thread_local __thread _Alignas alignas _Atomic __cdecl __stdcall __fastcall __thiscall __vectorcall"
        b" __forceinline typeof __typeof__ decltype".split()
    )
)


def macros(source: bytes) -> list[tuple[int, int]]:
    """The spans of words that must be macros, in order; in linear time."""
    found = (match for match in CODE.finditer(source) if match["words"])
    return [span for match in found for span in among(source, *match.span("words"), match["next"])]


def among(source: bytes, start: int, end: int, following: bytes) -> Iterator[tuple[int, int]]:
    """The spans of macros among the words of a declaration, the last of which is the name it declares."""
    *words, name = WORD.finditer(source, start, end)
    if len(words) > 1 and following in b"{:" and words[-2][0] in TAGS:  # class LIB_API Name {
        if words[-1][0] not in KEYWORDS and name[0] not in KEYWORDS:
            yield words[-1].span()
        return
    tags = {after.start() for word, after in pairwise(words) if word[0] in TAGS}
    unknown = [word for word in words if word[0] not in KEYWORDS and word.start() not in tags]
    has_type = bool(tags) or any(word[0] in TYPES for word in words)
    if unknown and not has_type:
        plain = [word for word in unknown if not MACRO.fullmatch(word[0])] or unknown
        unknown.remove(plain[-1])
    yield from (word.span() for word in unknown)
