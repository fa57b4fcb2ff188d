"""What grammars lack: texts that are understood all the same, and what is found in them."""

import tomllib
from pathlib import Path

import pytest
from costing import costs_under
from tables import every_row

from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.languages.c import bodies, gaps
from fledgling.worker.languages.cpp import gaps as gaps_of_cpp
from fledgling.worker.languages.cpp import words
from fledgling.worker.languages.csharp import gaps as gaps_of_csharp
from fledgling.worker.languages.javascript import gaps as gaps_of_javascript
from fledgling.worker.languages.kotlin import constructors
from fledgling.worker.languages.kotlin import gaps as gaps_of_kotlin
from fledgling.worker.languages.rust import given_items, item_macros
from fledgling.worker.languages.swift import gaps as gaps_of_swift
from fledgling.worker.languages.table import load_languages
from fledgling.worker.languages.typescript import gaps as gaps_of_typescript

TEXTS = tomllib.loads(Path(__file__).with_name("gaps.toml").read_text())["text"]
SIZE = 1 << 14  # bytes
SECONDS = 0.25  # of CPU, twice what the slowest machine took; work that grows with the square of the text takes many
REPAIRS = (
    bodies, gaps, gaps_of_cpp, words, gaps_of_csharp, gaps_of_kotlin, constructors, gaps_of_swift,
    gaps_of_javascript, gaps_of_typescript,
)  # fmt: skip

HOSTILE = [
    "class private @",
    "\n is a if (",
    "class A @a(",
    'class A @a("',
    "class A\n",
    "A(\n",
    "\nA(b, {",
    "\nA_B c ",
    "f(\n",
    'f("a"\n',
    "decltype(a, ",
    "decltype(a<b, ",
    ", ABCD(",
    "(A *b ",
    "* a b ",
    ") A_B(c ",
    ")\nint a; ",
    "{ struct a { ",
    "{;#if a\n",
    "{\n#else\n",
    "struct (",
    "decltype(",
    "noexcept((",
    "using a ",
    "typename a = b<",
    "class a = const b<c<",
    "a b A_B(",
    "operator<< <",
    "case a ",
    "case a..",
    "protocol a where ",
    "typealias a ",
    "typealias a where b\n c:",
    "catch a where ",
    "@_a((",
    "/a",
    " is a if b",
    "context(",
    "context((a)",
    ", [a",
    '([""',
    "{ [a] ",
    "*(a",
    '="&',
    ", in ",
    ", in",
    " as in",
    "*/ in out ",
    "f((a) ",
    "f(a(b)",
    "a b, ",
    ")\n#if a\n__attribute__((",
]
# A head, and what comes again and again: `\\"` ends a literal or does not, so any place could begin a text of its own.
ESCAPED = [
    (") AAA(", '") AAA(\\" " '),
    ("=[", '"=[\\" " '),
    ("decltype(", '"decltype(\\" " '),
    ("noexcept(", '"noexcept(\\" " '),
]


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return Extractor(load_languages())


@every_row("row", TEXTS, ids=lambda row: row["what"])
def test_what_a_grammar_lacks_hides_nothing(extractor: Extractor, row: dict[str, str]) -> None:
    found = extractor.extract(row["language"], row["source"].encode())
    symbols = [f"{each.kind} {each.name} {each.line_start}-{each.line_end}" for each in found.symbols]
    assert (found.complete, symbols) == (True, row["symbols"])


def test_errors_elsewhere_hide_no_item_that_a_macro_is_given() -> None:
    source = b"a! {\n    struct A;\n}\nb! {\n    struct B #c {}\n}\nfn f() -> { struct }\n"
    found = Extractor(load_languages()).extract("rust", source)
    assert (found.complete, [each.name for each in found.symbols if each.kind == "struct"]) == (False, ["A"])


# Whether a value that is assigned in C# is left out near a gap: only where a call is assigned to
ASSIGNED = {
    "Unsafe.Add(ref o, i) = f();": True,
    "Unsafe.Add(ref As<T>(o), i) = f();": True,
    "var (a, b) = f();": False,
    "(a, b) = f();": False,
    "if (a) b = f();": False,
    "if (a) = f();": False,
}


@pytest.mark.parametrize("text", ASSIGNED)
def test_what_is_assigned_to_a_tuple_is_seen(text: str) -> None:
    repaired = gaps_of_csharp.repaired(text.encode(), [(0, len(text))]).text
    assert (b"f()" not in repaired) == ASSIGNED[text]


UNITS = [*(("", unit) for unit in HOSTILE), *ESCAPED]


@every_row("head, unit", UNITS[::4])
def test_gaps_and_bodies_take_time_in_proportion_to_some_texts(head: str, unit: str) -> None:
    are_in_proportion(head, unit)


@pytest.mark.long
@every_row("head, unit", UNITS)
def test_gaps_and_bodies_take_time_in_proportion_to_the_text(head: str, unit: str) -> None:
    are_in_proportion(head, unit)


def are_in_proportion(head: str, unit: str) -> None:
    source = (head + unit * (SIZE // len(unit))).encode()
    for repair in REPAIRS:
        costs_under(SECONDS, lambda repair=repair: repair.repaired(source, [(0, len(source))]))


# What a macro of Rust may begin with that holds items, or a branch in it
HOLDING = [
    "cfg_if! {\n",
    "cfg_a! {\nfn\n",
    "cfg_a! {\n//\n",
    "cfg_a! {\n/*",
    "cfg_a! {\n fn\n }\n",
    "cfg_if! {\nif #[a] {\nfn\n",
    "cfg_if! {\nif #[",
    "cfg_if! {\n  if #[a] {\n  fn\n}\n} else {\n",
    "if #[\n",
    "if #[a] {\n",
    "} else if #[\n",
    "} else {\n",
    "}\n",
    "} //",
    " ",
    " \n",
    "a! {\n",
    "a! {\nfn a() {}\n",
    "a! {\nfn a() {}\n}\n",
    "a! {\nfn b;",
    "a! {\n/*",
    'a! {\n"',
    'a! {\nr#"',
    "a! {\n#[",
    'a! {\n#["',
    "a! {\n#[[",
    "\n@a",
    "\n @",
    "static ref ",
    "a! {\n}",
    "fn b;",
    "#[a]",
    "b\n",
]


@every_row("unit", HOLDING)
def test_macros_that_hold_items_take_time_in_proportion_to_the_text(unit: str) -> None:
    source = ("cfg_a! {\nfn\n" + unit * (SIZE // len(unit))).encode()
    costs_under(SECONDS, lambda: (item_macros.first(source), given_items.given(b"a! {\nfn b;" + source)))
