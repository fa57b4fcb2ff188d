"""Which words of C are left out as macros, so that the rest parses; and what never is."""

import pytest
from costing import costs_under

from fledgling.worker.extracting.macros import macros

SIZE = 1 << 20  # bytes
SECONDS = 3.0  # of CPU; a third of it on a quiet machine

LEFT_OUT = {  # a text, and what of it is left out
    "int f(char __user *to);": ["__user"],
    "int f(struct a __user *to);": ["__user"],
    "void __iomem *f(int a);": ["__iomem"],
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
    "if (a)\n\tDONE(int);": ["DONE(int)"],
    "#define say(a, rest...) f(a, rest)": ["rest"],
    "struct a *b;\nenum c { D };": [],
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
]
HOSTILE = [
    "__a ", "__a\n", " __a(", " __a(b, ", " __a(b) ", ") __a", "] __a(b)\n", " __a*", " __a,", "a __a )", "* * __a *",
    "\nABC(", "\nABC(a,(b", "\nABC(a)\n", "\nstatic ABC(a, b)\n\n", "\nABC(a, b)\n{", "__attribute__((",
    "a __attribute__((b)) ", "\n#define a(b...)", "\n#define a \\", "a b c ", "a b c(", "enum a b :",
    "a /*", " __a /* */ /* ",
]  # fmt: skip


@pytest.mark.parametrize("text", LEFT_OUT)
def test_what_must_be_a_macro_is_left_out(text: str) -> None:
    source = f"int first;\n{text}\n".encode()
    assert [source[start:end].decode() for start, end in macros(source)] == LEFT_OUT[text]


@pytest.mark.parametrize("text", STAY)
def test_what_may_be_none_stays(text: str) -> None:
    assert macros(f"int first;\n{text}\n".encode()) == []


@pytest.mark.parametrize("unit", HOSTILE)
def test_takes_time_in_proportion_to_the_text(unit: str) -> None:
    source = (unit * (SIZE // len(unit))).encode()
    costs_under(SECONDS, lambda: macros(source))
