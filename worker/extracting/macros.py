"""Macros among the words of a declaration, which no parser of C can tell without its headers.

In `static int __must_check f(void)` and `LIB_API size_t g(void)` there is one word too many to be a type; blank, the
rest parses. Where two could be the type, the one that looks like a macro goes, else the first. `__read_mostly` in
`int limit __read_mostly = 1;` is no name, since there is one before it. A call of a macro that is a statement,
`DEFINE_FLAG(int, size, 8);`, may have types for arguments, and defines nothing that could be known. Nor does the
grammar hold a directive together that goes on behind a comment.
"""

import re
from collections.abc import Iterator

WORDS = rb"[A-Za-z_]\w*+(?>(?:[\s*&]++[A-Za-z_]\w*+){2,40})"
# What is no declaration is passed over within one match: words that are alone, directives, comments, literals.
CODE = re.compile(
    rb"(?>(?:[^\w\"'/\#]*+\w++(?![\s*&]++[A-Za-z_]\w*+[\s*&]++[A-Za-z_])|[^\w\"'/\#]++|\#(?>(?:[^\n\\]++|\\.)*)"
    rb"|/(?:/[^\n]*+|\*(?>(?:[^*]++|\*(?!/))*)(?:\*/|\Z))?"
    rb"|\"(?>(?:[^\"\\\n]++|\\.)*)|'(?>(?:[^'\\\n]++|\\.)*))*)"
    rb"(?:(?<![.>:])(?P<words>" + WORDS + rb")\s*+(?P<next>[({=;:,\[])|\w++|\Z|.)",
    re.DOTALL,
)
LITERAL = rb"\"(?>(?:[^\"\\\n]++|\\.)*)\"|'(?>(?:[^'\\\n]++|\\.)*)'"
ARGUMENT = rb"[^(){}\"'\#;\\]++|" + LITERAL
CALL = re.compile(
    rb"\n[ \t]*+(?P<call>[A-Z][A-Z0-9_]{2,}+\((?>(?:" + ARGUMENT + rb"|\((?>(?:" + ARGUMENT + rb")*)\))*)\))"
    rb"(?=;|[ \t]*+$(?!\s*+[^\w\s}\#/]))",
    re.MULTILINE,
)
REMARK = rb"/\*(?>(?:[^*]++|\*(?!/))*)(?:\*/|\Z)"
DEFINE = re.compile(
    rb"^[ \t]*+\#[ \t]*+define\b(?>(?:[^\n\\/\"']++|\\.|" + LITERAL + rb"|" + REMARK + rb"|[/\"'])*)",
    re.MULTILINE | re.DOTALL,
)
INNER = re.compile(rb"(?P<remark>" + REMARK + rb")(?P<more>[ \t]*+[^\s/])?")
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
    """The spans of what must be macros, and of comments within their definitions, in order; in linear time."""
    found = (match for match in CODE.finditer(source) if match["words"])
    spans = [span for match in found for span in among(source, *match.span("words"), match["next"])]
    calls = [match.span("call") for match in CALL.finditer(source) if is_statement(source, match.start())]
    inner = (found for match in DEFINE.finditer(source) for found in INNER.finditer(source, *match.span()))
    spans += [found.span("remark") for found in inner if found["more"] and b"\n" not in found["remark"]]
    return sorted(spans + [span for call in calls for span in lines(source, *call)])


def is_statement(source: bytes, start: int) -> bool:
    """Whether what follows `start`, a line's end, begins a statement: behind another, a comment or a directive."""
    above = source[source.rfind(b"\n", 0, start) + 1 : start].strip()
    return above[-1:] in b";{}/):" or above.startswith((b"//", b"#"))


def lines(source: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A span line by line."""
    while (newline := source.find(b"\n", start, end)) >= 0:
        yield start, newline
        start = newline + 1
    yield start, end


def among(source: bytes, start: int, end: int, following: bytes) -> Iterator[tuple[int, int]]:
    """The spans of macros among the words of a declaration, the last of which is the name it declares."""
    *words, name = WORD.findall(source, start, end)
    behind = 0
    while following in b"=;,[" and is_attribute(words, name):  # int limit __read_mostly = 1;
        behind += 1
        name = words.pop()
    if len(words) > 1 and following in b"{:" and words[-2] in TAGS:  # class LIB_API Name {
        unknown = [len(words) - 1] if words[-1] not in KEYWORDS and name not in KEYWORDS else []
    else:
        tags = [index for index, word in enumerate(words, 1) if word in TAGS]
        unknown = [index for index, word in enumerate(words) if word not in KEYWORDS and index not in tags]
        if unknown and not any(tag < len(words) for tag in tags) and TYPES.isdisjoint(words):
            plain = [index for index in unknown if not MACRO.fullmatch(words[index])] or unknown
            unknown.remove(plain[-1])
    if unknown or behind:
        spans = [word.span() for word in WORD.finditer(source, start, end)]
        yield from (spans[index] for index in unknown)
        yield from spans[len(spans) - behind :]


def is_attribute(words: list[bytes], name: bytes) -> bool:
    """Whether the last word of a declaration is no name: there are a name and a type before it."""
    return (
        name.startswith(b"__")
        and len(words) > 1
        and words[-1] not in KEYWORDS
        and words[-2] not in TAGS
        and any(word in TYPES or word not in KEYWORDS for word in words[:-1])
    )
