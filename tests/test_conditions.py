"""What stands in a text of Bash in place of conditions and patterns, and in one of Kotlin of annotations."""

import tomllib
from pathlib import Path

import pytest
from costing import costs_under
from tables import every_row

from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.languages.bash.conditions import plain
from fledgling.worker.languages.kotlin import script_imports
from fledgling.worker.languages.kotlin.annotations import apart
from fledgling.worker.languages.kotlin.soft_keywords import repaired
from fledgling.worker.languages.table import load_languages

SIZE = 1 << 16  # bytes: a sixteenth of the largest file; the square of that would take many minutes
SECONDS = 0.125  # of CPU; a tenth of it on a quiet machine

EXTRACTOR = Extractor(load_languages())

PLAIN = {
    "[[ $a == *.@(b|c)\\ * ]]; d": "[[ x                 ]]; d",
    "[[ $a =~ ^([^]]*)$ ]] && b": "[[ x               ]] && b",
    "[[ $a && \\\n  $b ]]": "[[ x     \\\n     ]]",
    "a | -!(-*)@([bC]|[dE]*)) f": "a | -xxxxxxxxxxxxxxxxxx) f",
    "[[ $a == b": "[[ $a == b",
    "[[:space:]] [ $a ] $(b) $((c+d))": "[[:space:]] [ $a ] $(b) $((c+d))",
}
LEFT_OUT = {
    '@A("(", b = [1, 2])\nfun f() {}': " " * 19 + "\nfun f() {}",
    "@a.B @C class D": "     @C class D",
    "@get:A(b(c(d)))\nval e = 1": " " * 15 + "\nval e = 1",
    "class A<T>\n@B\ninternal constructor(c: D)": "class A<T>" + " " * 13 + "constructor(c: D)",
    "class A\n    @B private\n    constructor(c: D)": "class A" + " " * 20 + "constructor(c: D)",
    "class A {\n    private constructor()": "class A {\n    private constructor()",
    "@file:A\npackage b": "@file:A\npackage b",
    "a@ for (b in c)\n  @D val e = 1": "a@ for (b in c)\n  @D val e = 1",
}
SOFT_KEYWORDS = tomllib.loads(Path(__file__).with_name("soft_keywords.toml").read_text())["text"]
HOSTILE = ["[[ ", "[[ a", "[[ a ]", "[[ a ]]x", "[[ \\\n", "+(", "+(a+(a", "@(a|(b))", "[[ a ]]", "\\"]
HOSTILE_ANNOTATIONS = [
    "\n@a(",
    '\n@a("',
    "\n@a(((",
    "\n@a.b(c(d(",
    "\n@a(b ",
    "\n@a:",
    '\n@a("\\',
    "\n@a(b)",
    "class a ",
    "class a @b(",
]


@every_row("text", PLAIN)
def test_a_word_stands_for_a_condition(text: str) -> None:
    assert plain(text.encode()).decode() == PLAIN[text]


@every_row("text", LEFT_OUT)
def test_annotations_that_begin_a_line_are_left_out(text: str) -> None:
    assert apart(text.encode()).text.decode() == LEFT_OUT[text]


@pytest.mark.parametrize("row", SOFT_KEYWORDS, ids=lambda row: row["what"])
def test_a_soft_keyword_may_be_a_name(row: dict[str, str]) -> None:
    found = EXTRACTOR.extract("kotlin", row["text"].encode())
    assert found.complete
    assert {symbol.name for symbol in found.symbols} == set(row["names"].split())


@every_row("unit", HOSTILE)
def test_conditions_take_time_in_proportion_to_the_text(unit: str) -> None:
    source = (unit * (SIZE // len(unit))).encode()
    costs_under(SECONDS, lambda: plain(source))


@pytest.mark.parametrize(
    "unit",
    [
        "\nset(a",
        "\nset(@a ",
        "\n@a get",
        "\n@a\n",
        "\n@a(",
        "\nprivate ",
        "\nget",
        "\nget ( ) ",
        "open ",
        "in1",
        '"""',
        "/*",
        "`",
        "\nimport a.",
    ],
)
def test_names_take_time_in_proportion_to_the_text(unit: str) -> None:
    source = b"plugins {\n" + (unit * (SIZE // len(unit))).encode()
    costs_under(SECONDS, lambda: (repaired(source, []), script_imports.apart(source)))


@pytest.mark.parametrize("unit", HOSTILE_ANNOTATIONS)
def test_annotations_take_time_in_proportion_to_the_text(unit: str) -> None:
    source = (unit * (SIZE // len(unit))).encode()
    costs_under(SECONDS, lambda: apart(source))
