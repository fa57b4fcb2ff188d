"""Which branches of conditionals are left out, so that what is left parses; and which never are."""

import re

import pytest
from costing import costs_under
from tables import every_row

from fledgling.worker.languages.c.conditionals import but_one, others

SIZE = 1 << 16  # bytes: the least of squares takes a second of CPU; of a quarter as many 0.07, which nobody would see
SECONDS = 0.25  # of CPU; a quarter of it on a quiet machine

LEFT = {  # a text, and what is left of its lines
    "if (a) {\n#else\nb(c) {": ["if (a) {", "#else", "b(c) {"],
    "#ifdef A\nif (b) {\n#elif C\nif (c) {\n#else\n{\n#endif\n}": ["if (b) {", "}"],
    "#if 0\nif (b) {\n#else\nif (c) {\n#endif\n}": ["if (c) {", "}"],
    "#if 0 // never\n{\n#endif\n": [],
    "#if A\n}\n#endif\n#if A\n{\n#endif": ["}", "{"],
    "#if A\n} else {\n#endif": ["} else {"],
    "  #  if A \\\n  || B\n{\n  #  endif // A\n}": ["{", "}"],
    "int f(int a,\n#ifdef B\n  int b\n#else\n  int c\n#endif\n) {}": ["int f(int a,", "  int b", ") {}"],
    "int a[] = {\n#ifdef A\n  b,\n#endif\n  c,\n#ifdef D\n  d,\n#endif\n};": [
        "int a[] = {",
        "  b,",
        "  c,",
        "  d,",
        "};",
    ],
    "a::a() : b(1),\n#if C\n  c(2),\n#endif\n  d(3) {}": ["a::a() : b(1),", "  c(2),", "  d(3) {}"],
    "a =\n#if B\n  b;\n#else\n  c;\n#endif": ["a =", "  b;"],
    "if (a) {}\n#if B\nelse if (b) {}\n#endif\nelse {}": ["if (a) {}", "else if (b) {}", "else {}"],
    "#if A\nif (a) {}\n#else\nif (b) {}\n#endif\nelse {}": ["if (a) {}", "else {}"],
    "case 1: a();\n#if B\n// b\ncase 2: b();\n#endif\ncase 3: c();": [
        "case 1: a();",
        "// b",
        "case 2: b();",
        "case 3: c();",
    ],
    "typedef struct // a\n#if B\n__b\n#endif\n{ } c;": ["typedef struct // a", "__b", "{ } c;"],
    '#if A\n{\n#define a "{"\n#else\n#include <b>\n# define c \\\n {\n{\n#endif': [
        "{",
        '#define a "{"',
        "#include <b>",
        "# define c \\",
        " {",
    ],
    "enum {\n#ifdef A\n  A\n#else\n  B,\n#endif\n};": ["enum {", "  A", "};"],
    "#if A\n#if B\n{\n#else\n{\n#endif\n#else\n{\n#if C\n#endif\n#endif\n}": ["{", "}"],
    "#if A\nint f() {\n#if B\n  if (b) {\n#else\n  {\n#endif\n  }\n}\n#endif": [
        "#if A",
        "int f() {",
        "  if (b) {",
        "  }",
        "}",
        "#endif",
    ],
}
WHOLE = [
    "#ifdef A\nint a;\n#else\nint b;\n#endif",
    "#ifndef A_H\n#define A_H\nint f(void) { }\n#endif",
    "enum a {\n  A,\n#ifdef B\n  B,\n#else\n  C,\n#endif\n};",
    "enum {\n#ifdef B\n  B,\n#endif\n  C\n};",
    "enum {\n#ifdef B\n  B\n#else\n  C\n#endif\n};",
    "typedef enum a : int {\n  B,\n#ifdef C\n  C = f(1, 2),\n#endif\n} a;",
    "int f() {\n#if A\n  if (a) {\n  }\n#else\n  (b);\n#endif\n}",
    "#if A\n/* { */ a = \"{\"; b = '{'; // {\n#endif",
    "#if A\nint a = 1'000;\n#endif",
    "#define A {\n#if B\n#define B }\n#else\n#define B /* a\n */ {\n#endif",
    "/*\n#if A\n{\n#endif\n*/",
    "A()\n#if B\nint b;\n#else\nint c;\n#endif",
    "#endif\n{",
    "#if A\n#region B\nint a;\n#endregion\n#endif",
]
HOSTILE = [
    "#if a\n",
    "#if a\n{\n",
    "#if a\n{\n#else\n",
    "{\n#if a\n}\n#endif\n",
    "#if a\n{\n#else\n#define b\n#endif\n",
    "#if a\n{\n#else\n#if b\n",
    "{(",
    "/*",
    '"',
    "'",
    "#",
    "#\\",
    "#/",
    "#/*\n",
    "a \n \t",
    "enum {\n",
    ",\n#if a\n",
    "\n" + " " * 99,
    "/",
]


def left(text: str) -> list[str]:
    """What is not left out, but for lines with nothing in them."""
    found = bytearray(text.encode())
    for start, end in but_one(text.encode()):
        found[start:end] = re.sub(rb"[^\n]", b" ", found[start:end])
    return [line.rstrip() for line in found.decode().splitlines() if line.strip()]


@every_row("text", LEFT)
def test_one_branch_is_left_of_what_cannot_stand_for_itself(text: str) -> None:
    assert left(text) == LEFT[text]


OTHERS = {  # a text, and what is left of its lines in each of the other readings
    "#if A\nint w(int a) {\n}\nint u() {\n#else\nint main() {\n#endif\n}": [["int main() {", "}"]],
    "#if A\nif (a) {\n#endif\nb();\n#if A\n}\n#endif": [["b();"]],
    "#if 0\n{\n#else\n(\n#endif": [["{"]],
    "a =\n#if B\n1\n#elif C\n2\n#else\n3\n#endif\n;": [["a =", "2", ";"], ["a =", "3", ";"]],
}


@every_row("text", OTHERS)
def test_each_branch_is_left_in_one_of_the_readings(text: str) -> None:
    read = [[line.rstrip() for line in each.decode().splitlines() if line.strip()] for each in others(text.encode())]
    assert read == OTHERS[text]


@every_row("text", WHOLE)
def test_what_stands_for_itself_stays(text: str) -> None:
    assert [*but_one(text.encode())] == []


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("behind", ["", "\n#endif" * 9])
def test_conditionals_take_time_in_proportion_to_the_text(unit: str, behind: str) -> None:
    source = (unit * (SIZE // len(unit)) + behind).encode()
    costs_under(SECONDS, lambda: [*but_one(source)])
