"""Macros among the words of a declaration, which no parser of C can tell without its headers.

In `static int __must_check f(void)` and `LIB_API size_t g(void)` there is one word too many to be a type; blank, the
rest parses. Where two could be the type, the one that looks like a macro goes, else the first. `__read_mostly` in
`int limit __read_mostly = 1;` is no name, since there is one before it; nor is `__user` in `char __user *to`, between a
type and its `*`. A call of a macro that is a statement, `DEFINE_FLAG(int, size, 8);`, may have types for arguments, as
may one with a body, `SYSCALL_DEFINE2(dup, int, from, int, to) { }`: what they define cannot be known. Nor does the
grammar hold a directive together that goes on behind a comment, nor know `__attribute__` behind a variable.

In C++ one word is too many in `LIB_API std::string f()` and `LIB_API ~A()`, and behind parameters: `f() LIB_PURE {`. A
macro may be a line of its own, `LIB_BEGIN_NAMESPACE`, where a statement begins and what stands below is no function.
Behind a body with nothing in it a semicolon is one too many: `f(A) { };` would be a variable. `slots` and `signals:`
mean sections of a class to Qt alone.
"""

import re
from collections.abc import Iterator

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.source_text import Span

WORDS = rb"[A-Za-z_]\w*+(?>(?:[\s*&]++[A-Za-z_]\w*+){2,40})"
# Three words or more, and none too many, as in most declarations: `static struct page *f(`, `u8 const *p,`.
PLAIN = (
    rb"(?:(?:static|extern|inline|const|volatile|register|typedef)[\s*&]++){0,6}+"
    rb"(?:(?:struct|union|enum)[\s*&]++[A-Za-z_]\w*+"
    rb"|(?:unsigned|signed|long|short)\b(?:[\s*&]++(?:int|char|long|short)\b){0,3}+|[A-Za-z_]\w*+)"
    rb"(?:[\s*&]++const\b)?+[\s*&]++(?!__|asm\b)[A-Za-z_]\w*+\s*+(?=[(=;,\[)])"
)
# What holds no macro is passed over within one match: such words, fewer of them, directives, comments, literals.
CODE = deferred(
    rb"(?>(?:[^\w\"'/\#]*+(?:\w++(?![\s*&]++[A-Za-z_]\w*+[\s*&]++[A-Za-z_])|" + PLAIN + rb")"
    rb"|[^\w\"'/\#]++|\#(?>(?:[^\n\\]++|\\.)*)"
    rb"|/(?:/[^\n]*+|\*(?>(?:[^*]++|\*(?!/))*)(?:\*/|\Z))?"
    rb"|\"(?>(?:[^\"\\\n]++|\\.)*)|'(?>(?:[^'\\\n]++|\\.)*))*)"
    rb"(?:(?<![.>:])(?P<words>" + WORDS + rb")(?:\s++|//[^\n]*+)*+(?P<next>[({=;:,\[])|\w++|\Z|.)",
    re.DOTALL,
)
LITERAL = rb"\"(?>(?:[^\"\\\n]++|\\.)*)\"|'(?>(?:[^'\\\n]++|\\.)*)'"
ARGUMENT = rb"[^(){}\"'\#;\\]++|\{[^(){}\"'\#;\\]*+\}|" + LITERAL
ARGUMENTS = rb"\((?>(?:" + ARGUMENT + rb"|\((?>(?:" + ARGUMENT + rb")*)\))*)\)"
CALL = deferred(
    rb"\n[ \t]*+(?P<call>(?P<static>static[ \t]++)?+[A-Z][A-Z0-9_]{2,}+" + ARGUMENTS + rb")"
    rb"(?=;|\s*+(?P<body>\{)|[ \t]*+$(?!\s*+[^\w\s}\#/]))",
    re.MULTILINE,
)
ASSERTION = deferred(rb"(?:[A-Z0-9]++_)*?(?:ASSERT|CHECK|EXPECT|REQUIRE)(?:_[A-Z0-9_]*+)?+\([^\0]*\w\(")
WRITTEN_OUT = deferred(LITERAL)
BESIDE = deferred(rb"\w\s++\w")
QUALIFIER = deferred(rb"__(?<=[ \t]__)\w++(?=\s*+(?P<next>[*,)]))")
BEFORE = deferred(rb"(?:\b(?P<type>\w++)[\s*]++)?(?P<name>\b\w++)[ \t]++\Z")
WIDEST = 100  # bytes before such a word that are looked at: a type and a name
# No parameters: blanks stand beside signs, as in `__aligned(1 << BITS)`, and not between two words.
VALUE = rb"[^\s(){};\"'\#\\]++|(?<![\w*)\s])\s++|\s++(?![\w*(])"
VALUES = rb"(?:[ \t]*+\((?!void\))(?>(?:" + VALUE + rb"|\((?>(?:" + VALUE + rb"|\([^(){};]*+\))*)\))*)\))"
ATTRIBUTE = deferred(
    rb"__attribute(?:__)?[ \t]*+\((?>(?:" + ARGUMENT + rb"|\((?>(?:" + ARGUMENT + rb"|" + ARGUMENTS + rb")*)\))*)\)"
    rb"(?=\s*+[=;,])"
)
AHEAD = deferred(rb"__(?<=\s__)\w++" + VALUES + rb"(?=\s++\w)")
BEHIND = deferred(
    rb"__(?<=[\s)\]]__)\w++" + VALUES + rb"?+"
    rb"(?:\s*+__\w++" + VALUES + rb"?+)*+(?=\s*+(?P<next>[{=;]?))"
)  # fmt: skip
CAPITALS = rb"[A-Z][A-Z0-9_]{2,}+"
TRAILING = deferred(
    rb"\)(?:\s*+(?:const\b|noexcept\b|override\b|final\b|&&?))*+\s*+(?P<macros>" + CAPITALS
    + rb"(?P<arguments>" + ARGUMENTS + rb")?+(?:\s++" + CAPITALS + rb"(?:" + ARGUMENTS + rb")?+){0,3}+)"
    rb"(?=\s*+(?:(?:const|noexcept|override|final)\s*+)*+(?:\{|:(?!:)))"
)  # fmt: skip
INSIDE = rb"[^<>;{}\"'\#]++"
ANGLES = rb"<(?>(?:" + INSIDE + rb"|<(?>(?:" + INSIDE + rb"|<(?>(?:" + INSIDE + rb")?)>)*)>)*)>"
SCOPE = rb"\w++(?:" + ANGLES + rb")?+"
SCOPED = deferred(
    rb"\b" + CAPITALS + rb"(?:\s++" + CAPITALS + rb"){0,3}+"
    rb"(?=\s++(?:(?:const|static|inline|constexpr|virtual|typename|extern|explicit|friend)\s++)*+(?:"
    rb"~\w|operator\s++(?!new\b|delete\b|co_await\b)\w"
    rb"|(?:::)?+\w++(?=::|<)(?:" + ANGLES + rb")?+(?:::" + SCOPE + rb")*+[\s*&]++[A-Za-z_]"
    rb"|(?:\w++::){0,4}(?P<own>\w++)(?:" + ANGLES + rb")?+::~?+(?P=own)\s*+\("
    rb"|(?P<name>\w++)\s*+\())"
)  # fmt: skip
CLASS = deferred(rb"\b(?:class|struct)\s++(?:" + CAPITALS + rb"\s++)?+(\w++)")
JOINED = rb"[A-Z][A-Z0-9]*+_[A-Z0-9_]*+"
LONE = deferred(JOINED)
ALONE = JOINED + rb"[ \t]*+(?=\n|\Z)"
BARE = deferred(
    rb"\n[ \t]*+(?P<bare>" + ALONE + rb"(?:\s*+" + ALONE + rb")*+)(?=\s*+(?P<next>[}\#/]|\Z"
    rb"|(?:namespace|class|struct|enum|union|template|using|typedef|public|private|protected|friend|extern|inline\s++namespace)\b"
    rb"|" + CAPITALS + ARGUMENTS + rb"[ \t]*+\n\s*+[^\s{])|[ \t]*+\n[ \t]*+(?P<blank>\n)|)"
)  # fmt: skip
ABOVE = 400  # lines; a head may include and define as many
LONGEST = 5000  # bytes of a comment above; a license has fewer
REMARK = rb"/\*(?>(?:[^*]++|\*(?!/))*)(?:\*/|\Z)"
LINE = deferred(rb"(?>(?:[^\n\\]++|\\.)*)", re.DOTALL)
REMARKED = deferred(REMARK + rb"(?P<more>(?=[ \t]*+[^\s/]))?")
OPENING = deferred(rb"(?:typedef\s++)?(?:struct|union|class|namespace)\b[^;]*\{")
ONE_LINE = deferred(REMARK + rb"|//.*")
TRAILED = deferred(
    rb"\#[ \t]*+(?:define[ \t]++\w++(?:\([^()\n]*+\))?+|include[ \t]*+(?:<[^<>\n]++>|\"[^\"\n]++\"))"
    rb"(?:[ \t]*+/\*[^*\n]*+\*/)*+(?P<blanks>[ \t]++\r?+)(?=\n)"
)  # fmt: skip
SECTION = deferred(  # of a class that has Qt's signals and slots
    rb"^[ \t]*+(?:(?:public|private|protected)[ \t]++(?P<slots>slots|Q_SLOTS)(?=:)|(?P<signals>(?:signals|Q_SIGNALS):))"
    rb"(?=:?[ \t]*+(?:/|$))",
    re.MULTILINE,
)
EMPTY = deferred(rb"\{\s*+\}[ \t]*+(?P<end>;)")
HEAD = deferred(
    rb".*[\n;{}][ \t]*+(?:[\w:<>,&*~]++[ \t]*+)++\([^()]*+\)\s*+(?:(?:const|noexcept|override|final)\s*+)*+\Z",
    re.DOTALL,
)
NULL = deferred(rb"\#(?<![^\n]\#)(?=[ \t]*+(?:/\*|\r?\n))")
PARAMETERS = 400  # bytes of them that are looked at
MOST_BRACKETS = 20  # in them
LAST = deferred(rb"\w++(?=\s*+\Z)")
REST = deferred(rb"\.\.\.[ \t]*+\)")
NAME = deferred(rb"(?<=[\s,(])\w++\Z")
WORD = deferred(rb"\w+")
MACRO = deferred(rb"[A-Z][A-Z0-9_]+|_\w+|\w*(?:inline|INLINE)\w*")
FINAL = deferred(rb"final|[A-Z0-9_]+_(?:FINAL|SEALED)")
INITIAL = deferred(rb"\s*+\((?:\s*+=|\()")
CALLED = deferred(rb"\s*+" + ARGUMENTS + rb"(?:\s*+" + JOINED + ARGUMENTS + rb"){0,3}+\s*+[;={]")
MODIFIERS = frozenset({b"signed", b"unsigned", b"short", b"long"})
TAGS = frozenset({b"struct", b"union", b"enum", b"class", b"typename"})
ASIDES = frozenset({b"__attribute__", b"__attribute", b"__asm__", b"asm"})
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


def first(source: bytes) -> list[Span]:
    """The spans of what must be macros, and of comments within their definitions, in order; in linear time."""
    found = (match for match in CODE.finditer(source) if match["words"])
    spans = [span for match in found for span in among(source, *match.span("words"), match["next"])]
    spans += (match.span() for match in QUALIFIER.finditer(source) if is_qualifier(source, match))
    spans += (match.span() for match in AHEAD.finditer(source) if KEYWORDS.isdisjoint(WORD.findall(match[0])))
    spans += (match.span() for match in BEHIND.finditer(source) if is_behind(source, match))
    spans += (match.span() for match in ATTRIBUTE.finditer(source) if before(source, match) not in b")}")
    spans += (span for match in CALL.finditer(source) for span in call(source, match))
    spans += (match.span("bare") for match in BARE.finditer(source) if is_bare(source, match))
    spans += (match.span("macros") for match in TRAILING.finditer(source) if is_trailing(source, match))
    if b"::" in source or b"template" in source or b"public" in source:
        spans += (match.span(match.lastgroup or 0) for match in SECTION.finditer(source))
        spans += (match.span("end") for match in EMPTY.finditer(source) if is_function(source, match))
        classes = {None, *CLASS.findall(source)}
        spans += (match.span() for match in SCOPED.finditer(source) if match["name"] in classes)
    outer = (span for span, is_inside in placed(source, spans) if not is_inside)
    remarks = (match.span() for match in REMARKED.finditer(source) if match["more"] is not None)
    inner = [span for span in remarks if source.find(b"\n", *span) < 0]
    names = (NAME.search(source, max(0, match.start() - WIDEST), match.start()) for match in REST.finditer(source))
    inner += (name.span() for name in names if name)
    kept = [span for span, is_inside in placed(source, inner) if is_inside]
    return sorted(kept + [line for start, end in outer for line in lines(source, start, end)])


def ended(source: bytes) -> bytes:
    """The text with directives that end where their lines do: behind blanks the grammar looks for the end further down.

    `#define A ` above `int b;` would be a macro whose value is that variable. A directive that is nothing, or
    nothing but a comment, is that. Every byte stays where it was.
    """
    return TRAILED.sub(_ended, NULL.sub(b" ", source))


def _ended(match: re.Match[bytes]) -> bytes:
    blanks = len(match["blanks"])
    return match[0][:-blanks] + (b"//".rjust(blanks) if blanks > 1 else b"\r")


def placed(source: bytes, spans: list[Span]) -> Iterator[tuple[Span, bool]]:
    """Spans in order, and whether they begin in a directive; of those that overlap the first, and the longest."""
    behind = end = 0
    is_directive = False
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        start, stop = span
        if start < behind:
            continue
        behind = stop
        if start >= end:  # of the last line, with those that it goes on in
            line = source.rfind(b"\n", end, start) + 1 or end
            while line > end and source.startswith(b"\\", line - 2):
                line = source.rfind(b"\n", end, line - 1) + 1 or end
            is_directive = source[line:start].lstrip().startswith(b"#")
            found = LINE.match(source, line)
            assert found, "it matches nothing, too"
            end = max(start + 1, found.end())
        yield span, is_directive


def lines(source: bytes, start: int, end: int) -> Iterator[Span]:
    """A span line by line."""
    while (newline := source.find(b"\n", start, end)) >= 0:
        yield start, newline
        start = newline + 1
    yield start, end


def call(source: bytes, match: re.Match[bytes]) -> Iterator[Span]:
    """The call of a macro, if it stands alone on its lines, where a statement begins: behind one, or a directive.

    What has a body, or is `static`, may be a function or a variable without a type: only several arguments tell.
    """
    start, end = match.span("call")
    if not match["body"] and is_assertion(match["call"]):
        return
    above = source[source.rfind(b"\n", 0, match.start()) + 1 : match.start()].strip()
    begins = (
        above[-1:] in b";{}/"
        or LONE.fullmatch(above)
        or (above.startswith((b"//", b"#")) and not above.endswith(b"\\"))
    )
    if (begins or above[-1:] in b"):") and (b"," in match["call"] or not (match["static"] or match["body"])):
        yield start, end + (begins and source.startswith(b";", end))  # among the members of a struct none may be alone


def is_assertion(text: bytes) -> bool:
    """Whether the call of a macro is what a test asserts of a call, `EXPECT_EQ(1, f(a))`: that parses, and is code."""
    if not ASSERTION.match(text):
        return False
    code = WRITTEN_OUT.sub(b"0", text)
    return KEYWORDS.isdisjoint(WORD.findall(code)) and not BESIDE.search(code)


def is_behind(source: bytes, match: re.Match[bytes]) -> bool:
    """Whether words are attributes of the function before its body, or of an array before its value."""
    ends = match["next"] and before(source, match) == (b")" if match["next"] == b"{" else b"]")
    return bool(ends) and KEYWORDS.isdisjoint(WORD.findall(match[0]))


def is_bare(source: bytes, match: re.Match[bytes]) -> bool:
    """Whether words that are alone on their lines are where a statement begins, and not the last of an `enum`."""
    if match["next"] is None and match["blank"] is None:
        return False
    above = code_above(source, match.start())
    return above in b";}:" or (above == b"{" and (match["next"] or b"")[:1].isalpha())


def code_above(source: bytes, end: int) -> bytes:
    """The last sign of the code above; `;` where there is none or a macro alone, and atop a struct; else `?`."""
    for _ in range(ABOVE):
        begin = source.rfind(b"\n", 0, end) + 1
        line = ONE_LINE.sub(b"", source[begin:end]).strip()
        if line.endswith(b"*/"):
            if (begin := source.rfind(b"/*", max(0, end - LONGEST), end)) < 0:
                break
            line = source[source.rfind(b"\n", 0, begin) + 1 : begin].strip()
        if line and not line.startswith(b"#"):
            return b";" if OPENING.fullmatch(line) or LONE.fullmatch(line) else line[-1:]
        if not begin:
            return b";"
        end = begin - 1
    return b"?"


def is_trailing(source: bytes, match: re.Match[bytes]) -> bool:
    """Whether words behind parameters are attributes of a function, not its name: `LIB_DECLARE(int) LIB_F(int a) {`."""
    if match["arguments"] is None:
        return True
    open_, at = 1, match.start()
    begin = max(0, at - PARAMETERS)
    for _ in range(MOST_BRACKETS):
        opening, closing = (source.rfind(bracket, begin, at) for bracket in (b"(", b")"))
        at = max(opening, closing)
        open_ += 1 if closing > opening else -1
        if at < 0:
            break
        if not open_:
            name = LAST.search(source, max(begin, at - WIDEST), at)
            return name is not None and not name[0].isupper()
    return False


def is_function(source: bytes, match: re.Match[bytes]) -> bool:
    """Whether brackets with nothing in them are a body: a semicolon behind makes them the value of a variable."""
    begin, end = match.start() - WIDEST, match.start()
    return HEAD.match(source[begin:end] if begin >= 0 else b"\n" + source[:end]) is not None


def before(source: bytes, match: re.Match[bytes]) -> bytes:
    """What stands before a match, without white space."""
    return source[max(0, match.start() - WIDEST) : match.start()].rstrip()[-1:]


def is_qualifier(source: bytes, found: re.Match[bytes]) -> bool:
    """Whether a word is one too many in a parameter: `char __user *to`, `int a __maybe_unused`."""
    ahead = BEFORE.search(source, max(0, found.start() - WIDEST), found.start())
    if ahead is None or found[0] in KEYWORDS:
        return False
    name, type_, following = ahead["name"], ahead["type"], found["next"]
    if following == b"*":
        return type_ in TAGS or name not in KEYWORDS or name in TYPES - MODIFIERS
    return name not in KEYWORDS and type_ is not None and (type_ in TYPES or type_ not in KEYWORDS)


def among(source: bytes, start: int, end: int, following: bytes) -> Iterator[Span]:
    """The spans of macros among the words of a declaration, the last of which is the name it declares."""
    *words, name = WORD.findall(source, start, end)
    behind = 0
    if name in ASIDES and words[-1] not in KEYWORDS:
        name = words.pop()
    if following == b"(" and len(words) > 1 and is_behind_variable(source, name, end):
        name = words.pop()
    while following in b"=;,[" and is_attribute(words, name):  # int limit __read_mostly = 1;
        behind += 1
        name = words.pop()
    if words[-2:-1] == [b"enum"] and following == b":":  # enum type name : 8;
        return
    if following in b"{:" and len(words) > 1 and FINAL.fullmatch(name):  # class LIB_API Name final {
        behind += name != b"final"
        name = words.pop()
    tags = [index for index, word in enumerate(words, 1) if word in TAGS]
    if following in b"{:" and tags and tags[-1] < len(words):  # class LIB_API LIB_OWNER Name {
        unknown = [] if name in KEYWORDS else [at for at in range(tags[-1], len(words)) if words[at] not in KEYWORDS]
    else:
        unknown = [index for index, word in enumerate(words) if word not in KEYWORDS and index not in tags]
        if unknown and not any(tag < len(words) for tag in tags) and TYPES.isdisjoint(words):
            plain = [index for index in unknown if not MACRO.fullmatch(words[index])] or unknown
            unknown.remove(pointed(source, start, end, words, plain))
    if unknown or behind:
        spans = [word.span() for word in WORD.finditer(source, start, end)]
        yield from (spans[index] for index in unknown)
        yield from spans[len(spans) - behind :]


def is_behind_variable(source: bytes, name: bytes, end: int) -> bool:
    """Whether a word with arguments is behind a variable: `LIB_VARIABLE int a LIB_INIT(= 1);`, `LIB_GUARDED(b) = 1`."""
    return INITIAL.match(source, end) is not None or (
        LONE.fullmatch(name) is not None and CALLED.match(source, end) is not None
    )


def pointed(source: bytes, start: int, end: int, words: list[bytes], places: list[int]) -> int:
    """Which of some words is the type: the last before a `*`, if any is; not `__user` in `__u8 __user *a`."""
    ahead = len(WORD.findall(source, start, max(start, source.find(b"*", start, end))))
    before = [index for index in places if index < ahead]
    if len(before) > 1 and words[before[-1]].startswith(b"__"):
        before.pop()
    return before[-1] if before else places[-1]


def is_attribute(words: list[bytes], name: bytes) -> bool:
    """Whether the last word of a declaration is no name: there are a name and a type before it."""
    if len(words) < 2 or words[-1] in KEYWORDS or words[-2] in TAGS:
        return False
    types = [word for word in words[:-1] if word in TYPES or word not in KEYWORDS]
    if LONE.fullmatch(name):  # A& a LIB_BOUND, and not LIB_API a A_B
        return not all(MACRO.fullmatch(word) for word in types) and not MACRO.fullmatch(words[-1])
    if b"typedef" in words and words[-1].startswith(b"__") and len(types) < 2:  # typedef u16 __bitwise __le16;
        return False
    return name.startswith(b"__") and bool(types)
