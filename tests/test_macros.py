"""Which words of C are left out as macros, so that the rest parses; and what never is."""

import pytest
from costing import costs_under
from tables import every_row

from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.extracting.repair import repairs
from fledgling.worker.languages.c.macros import ended, first
from fledgling.worker.languages.table import load_languages

SIZE = 1 << 15  # bytes: the least of squares takes 0.3 s of CPU; of a quarter as many 0.02, which nobody would see
SECONDS = 0.2  # of CPU; the least was half of it on the slowest machine

LEFT_OUT = {  # a text, and what of it is left out
    "int f(char __user *to);": ["__user"],
    "int f(struct a __user *to);": ["__user"],
    "void __iomem *f(int a);": ["__iomem"],
    "struct a {\n  __u64 __user *b;\n};": ["__user"],
    "__u64 *__user b;": ["__user"],
    "typedef u16 __bitwise __le16;": ["__bitwise"],
    "typedef int a __nocast;": ["__nocast"],
    "struct a {\n  u16 __pad __packed;\n};": ["__packed"],
    "int limit __read_mostly __used;": ["__read_mostly", "__used"],
    "int f(int a __unused, struct b *c __unused);": ["__unused", "__unused"],
    "int f(void)\n\t__acquires(&a->b)\n\t__must_hold(RCU)\n{": ["__acquires(&a->b)", "\t__must_hold(RCU)"],
    "int a[2] __aligned(1 << 4) = { 1 };": ["__aligned(1 << 4)"],
    "int a __attribute__((weak));": ["__attribute__((weak))"],
    'int a[1] __attribute__((section("a"), aligned(f(2)))) = b;': [
        '__attribute__((section("a"), aligned(f(2))))',
    ],
    "int a;\n__printf(2, 3) int f(int a);": ["__printf(2, 3)"],
    "int a;\nstatic DEFINE_MANY(int, a);": ["static DEFINE_MANY(int, a);"],
    "int a;\nDEFINE_CALL(f, int, a,\n  struct b *, c)\n{": ["DEFINE_CALL(f, int, a,", "  struct b *, c)"],
    'int a;\nDEFINE_FLAG(int, a, {}, {1, 2}, "");': ['DEFINE_FLAG(int, a, {}, {1, 2}, "");'],
    "if (a)\n\tDONE(int);": ["DONE(int)"],
    "#define say(a, rest...) f(a, rest)": ["rest"],
    "struct a *b;\nenum c { D };": [],
    "LIB_BEGIN\nLIB_MORE\n\nnamespace a {": ["LIB_BEGIN", "LIB_MORE"],
    "class a {\n  LIB_OBJECT\n public:\n  LIB_OTHER\n};": ["LIB_OBJECT", "LIB_OTHER"],
    "int b;\nLIB_END\n}": ["LIB_END"],
    "struct a {\n  A_FIELDS\n  B_FIELDS\n};": ["A_FIELDS", "  B_FIELDS"],
    "#ifdef A  // b\nLIB_BEGIN\n#endif /* c */": ["LIB_BEGIN"],
    "LIB_API std::string f(int a) { }": ["LIB_API"],
    "template <class T> LIB_INLINE a<T> f() { }": ["LIB_INLINE"],
    "LIB_API const std::map<int, a<b>> &f();": ["LIB_API"],
    "static LIB_INLINE a::b f();": ["LIB_INLINE"],
    "namespace a { }\nLIB_INLINE b::b(int c) : d(c) { }": ["LIB_INLINE"],
    "template <class T> LIB_INLINE a<T>::~a() { }": ["LIB_INLINE"],
    "template <class T> struct a {\n  LIB_API ~a();\n  LIB_API operator bool() const;\n};": ["LIB_API", "LIB_API"],
    "class LIB_API A final : public B {": ["LIB_API"],
    "void lock() LOCK_FN() { }": ["LOCK_FN()"],
    "int a::f(int (*b)(int)) const LIB_NOEXCEPT LIB_PURE(c) override {": ["LIB_NOEXCEPT LIB_PURE(c)"],
    "a::a(int b) LIB_NOEXCEPT : c(b) { }": ["LIB_NOEXCEPT"],
    "class LIB_API A\n\t// About it (and more).\n\t//\n{": ["LIB_API"],
    "class LIB_API A LIB_FINAL : public B {": ["LIB_API", "LIB_FINAL"],
    "class A LIB_SEALED {": ["LIB_SEALED"],
    "void a::f(A) { };": [";"],
    "class A {\n  Q_OBJECT\n  Q_SAY(int b READ b)\n  Q_SAY(int c)\n  int d;\n};": [
        "Q_OBJECT",
        "Q_SAY(int b READ b)",
        "Q_SAY(int c)",
    ],
    "class A {\npublic slots:\n  void f();\nprotected Q_SLOTS: // more\n};": [
        "slots",
        "Q_SLOTS",
    ],
    "class A {\npublic:\nsignals:\n  void f();\nQ_SIGNALS:\n};": ["signals:", "Q_SIGNALS:"],
    "/*\n * A\n */\n#include <a>\n\nLIB_BEGIN\n\nint f(int a) { }\n\nLIB_END\n\nint b;": ["LIB_BEGIN", "LIB_END"],
    "class A { public: LIB_API inline A() : b(1) {} };": ["LIB_API"],
    "class LIB_API A {\npublic:\n  LIB_API A(int b) : b(1) {}\n};": ["LIB_API", "LIB_API"],
    "namespace a { LIB_CHECKED LIB_API b<int> c(); }\nint d::e;": ["LIB_CHECKED LIB_API"],
    "LIB_DECL LIB_SIZE * LIB_CALL\nf(int a) { }": ["LIB_DECL", "LIB_CALL"],
    "LIB_VAR int a LIB_INIT(= 1);": ["LIB_VAR"],
    "class a { public: virtual ~a() {}; a() noexcept\n{\n};\n};": [";", ";"],
}
STAY = [
    "return (struct a) __raw(b);",
    "x = (int) __a;",
    "f(a, __b);",
    "int f(const a __b);",
    "int f(struct a __b, unsigned int __c, void *__d);",
    "int f(void) { }",
    "a __attribute__((weak)) f(b *c)\n{",
    "a f(b *c) __attribute__((weak));",
    "__attribute__((weak)) a f(b *c);",
    "int a;\nstatic DEFINE_LOCK(a);",
    "int a;\nMAIN(void)\n{",
    "struct a {\n  enum b b : 8;\n};",
    "#define __many(a) \\\n  DEFINE_MANY(a, b); \\\n  __one(a) c\n",
    "#ifdef __A\n__A,\n#endif",
    "#if IS_ON(A) || \\\n  IS_ON(B)\n",
    "struct a __b;",
    "f(a...);",
    "enum a {\n  A_B\n};",
    "enum a {\n  A_B,  // c\n#ifdef D\n  D_E  /* f */\n#endif\n};",
    "enum a {\n  A_B,\n#ifdef D\n  D_E\n#endif\n};",
    "int a;\nA_TYPE\nf(int b)\n{",
    "#define A \\\n  A_B\n",
    "a = b +\n  A_B\n;",
    "A_TYPE std::f(int b) { }",
    "template <class T> A_TYPE a<T>::f(int b) { }",
    "class A final {",
    "LIB_DECLARE(int) LIB_F(int a) {",
    "template <class T> VOID_P operator new(size_t a);",
    "class LIB_FINAL {",
    "enum a {\n  B, /* c\n  d */\n  A_B\n\n};",
    "A_TYPE\nA_F(int b)\n{",
    "a = { b,\n  A_B\n\n};",
    "class A { };\nLIB_API B();",
    "int signals = a ? slots : b;",
    "auto f = []() {};\na::b();",
    "a::f([](int a) {});\nb = {};\nc(d, {});",
    "int a[] = {};",
    "struct a {};",
]
HOSTILE = [
    "__a ", "__a\n", " __a(", " __a(b, ", " __a(b) ", ") __a", "] __a(b)\n", " __a*", " __a,", "a __a )", "* * __a *",
    "\nABC(", "\nABC(a,(b", "\nABC({", "\nABC({}, ", "\nABC(a)\n", "\nstatic ABC(a, b)\n\n", "\nABC(a, b)\n{",
    "__attribute__((", "a __attribute__((b)) ", "\n#define a(b...)", "\n#define a \\", "a b c ", "a b c(", "enum a b :",
    "a /*", " __a /* */ /* ", "\nA_B", "\nA_B\n\n", "\n#a\nA_B", ") ABC {", ") ABC() ABC() ", "(a) ABC(){", ")) ABC(){",
    "{};", "f() {};", "a b c //\n", "#define a \t\n", "#define a/**/ \n", "#define a(", "#define a /**/", "#include <",
    '#include "a" ', "::ABC a<", "::ABC a<<b>", "::ABC a<b<c", "::ABC const ", "::ABC a::",
    "class A\nABC A(", "class ABC ", "\npublic slots:", "\nsignals:", "\nA_B\n\n/* a */", "\nA_B\nABC(a)\n", "\n#/*",
    "A * B * C f(", "a b c(= ", "\nA_B\n", "*/\nA_B\n\n", "/*",
]  # fmt: skip


def repeated(unit: str) -> bytes:
    """A text of one thing again and again, which begins and ends as code does."""
    return f"a {unit * (SIZE // len(unit))}\nA_B\n\n= b\n".encode()


@every_row("text", LEFT_OUT)
def test_what_must_be_a_macro_is_left_out(text: str) -> None:
    source = f"int first;\n{text}\n".encode()
    assert [source[start:end].decode() for start, end in first(source)] == LEFT_OUT[text]


@every_row("text", STAY)
def test_what_may_be_none_stays(text: str) -> None:
    assert first(f"int first;\n{text}\n".encode()) == []


@every_row("unit", HOSTILE)
def test_takes_time_in_proportion_to_the_text(unit: str) -> None:
    source = repeated(unit)
    costs_under(SECONDS, lambda: (ended(source), first(source)))


ENDED = {  # a directive, and what it is for a grammar that looks for its end at once
    "#define A ": "#define A\r",
    "#define A\t \t": "#define A //",
    "#  define A(b, c)  ": "#  define A(b, c)//",
    "#define A /* b */ ": "#define A /* b */\r",
    "#include <a> ": "#include <a>\r",
    '#include "a.h"   ': '#include "a.h" //',
    "#define A \r": "#define A//",
    "#define A": "#define A",
    "# /* a */": "  /* a */",
    "#/* a */": " /* a */",
    "#define A\r": "#define A\r",
    "#define A b ": "#define A b ",
    "#define A // b ": "#define A // b ",
}


@every_row("directive", ENDED)
def test_a_directive_ends_where_its_line_does(directive: str) -> None:
    assert ended(f"{directive}\nint b;\n".encode()).decode() == f"{ENDED[directive]}\nint b;\n"
    for language in ("c", "cpp"):
        found = EXTRACTOR.extract(language, f"{directive}\nint b;\n".encode())
        assert [(row.name, row.line_start) for row in found.symbols if row.kind == "variable"] == [("b", 2)]
        assert found.complete


GAPS = {  # what the grammar does not know, and the names that are found all the same
    "c cpp": {
        'const char *a = "b" C "d";': "a",
        'int f(void) { return g("%" PRIu64 " b", 1) + g("%" PRIu64, 2); }': "f",
        "typedef long (LIB_CALL *call)(int);": "call",
        "int f(int a, ...) LIB_PRINTF(1, 2);\nint b;": "b",
        "int f(int a) _pure_;\nint b;": "b",
        "int f(int a) __noreturn;\nint b;": "b",
        "int f(char *a,\n  void *b LIB_UNUSED)\n{ }": "f",
        "void LIB_PRINTF(2, 3) f(int a, char *b, ...) { }": "f",
        "struct a { int b; } LIB_PACKED c;": "a b c",
        "int a;\n\nlib_init(a)\n\nint b;": "a b",
        "int a;\n\nlib_init(a)\n": "a",
        "enum a { b LIB_SINCE(1) = 1, c LIB_SINCE(2), };": "a b c",
        "int f(int a)\n  LIB_PURE LIB_SINCE;\nint b;": "b",
        "int a LIB_INIT(= f(1));\nint b[2] LIB_INIT(= { 1, 2 });": "a b",
        "Map(int, char *) a;\nArrayOf(int, 2) f(int a) { }": "a f",
    },
    "c": {
        "struct a { LIB_HEAD(, b) c; };\nint d;": "a c d",
    },
    "cpp": {
        "typedef void (a::*call)();": "call",
        "class a { typedef void (b::c::*call)(int); };": "a call",
        "extern template void f<4>(int);\nint a;": "a",
        "int f() { return typename a<b>::c(1); }": "f",
        "void f() { if (a) emit b(1); }": "f",
        "class a { enum : int { b }; };": "a b",
        "class LIB_ALIGN(64) a final : public b { void f() { } };": "a f",
        "void f(int a, b c = {});\nint d;": "d",
        "template <class a, typename b<a>::c* = nullptr> int f(a d) { return 1; }": "f",
        "inline Lib_API std::ostream& operator << (std::ostream& a, b c) { return a; }": "operator <<",
        "std::string LIB_EXPORT f() { return a; }": "f",
        "static BOOL __stdcall f(int a);\nint b;": "b",
    },
}
LANGUAGES = load_languages()
EXTRACTOR = Extractor(LANGUAGES)


@every_row(
    "language, text, names",
    [
        (language, text, names)
        for languages, texts in GAPS.items()
        for language in languages.split()
        for text, names in texts.items()
    ],
)
def test_what_the_grammar_does_not_know_is_left_out(language: str, text: str, names: str) -> None:
    found = EXTRACTOR.extract(language, text.encode())
    assert found.complete
    assert " ".join(row.name for row in found.symbols) == names


@pytest.mark.parametrize("language", ["c", "cpp"])
@pytest.mark.parametrize(
    "unit",
    [
        "a::", "a::*", "enum ", "enum : a ", "enum : {", '" A', '"\n', "(A *", "(ABC * a )", ") ABC(", ")\nABC(a",
        ") _a", " UNUSED", "UNUSED", "a\nUNUSED\n", " ABC(1,", "} ABC ", "= {", "= { } ", "*=", "A_API", "A" * 99,
        "_API ", "__ccall", "\n\na(", "A(=", "A(= (", "a(b, ", "a(b,c) ", ") A_B ", "emit ",
        "typename a ", "class A(", "class ABC() a ",
    ],
)  # fmt: skip
def test_what_is_not_known_is_found_in_time_in_proportion_to_the_text(language: str, unit: str) -> None:
    source = repeated(unit)
    repaired = repairs(LANGUAGES.rows[language].repairs).repaired[-1]
    costs_under(SECONDS, lambda: repaired(source, [(0, len(source))]))


@pytest.mark.parametrize("language", ["c", "cpp"])
@pytest.mark.parametrize("head", ["TEST_BEGIN(a)", "TEST(A, b)"])
def test_what_is_local_to_the_body_of_a_macro_is_no_symbol(language: str, head: str) -> None:
    text = f"int a;\n\n{head} {{\n  f(1);\n#ifdef B\n  int c = 1;\n  struct d {{ int e; }};\n#endif\n}}\nint g;\n"
    found = EXTRACTOR.extract(language, text.encode())
    assert [(row.name, row.parent_name) for row in found.symbols] == [("a", None), ("d", None), ("e", "d"), ("g", None)]
