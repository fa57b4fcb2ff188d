"""Directives that no parser sees: what is found is what a parser finds, and what it does not find."""

import random
import tomllib
from pathlib import Path
from typing import Any

import pytest
from costing import costs_under
from msgspec.structs import replace

from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.languages.c.directives import runs, without
from fledgling.worker.languages.c.directives_among_values import silent
from fledgling.worker.languages.table import load_languages
from fledgling.worker.rows import SymbolRow

TESTS = Path(__file__).parent
TEXTS = tomllib.loads((TESTS / "directives.toml").read_text())
LANGUAGES = load_languages()
ALONE = ("c.conditionals", "c.gaps", "cpp.gaps")  # repairs that leave directives to the parser
PARSED = replace(
    LANGUAGES,
    rows={
        name: replace(row, repairs=tuple(each for each in row.repairs if each in ALONE))
        for name, row in LANGUAGES.rows.items()
    },
)
SOURCES = [path for path in sorted((TESTS / "languages").iterdir()) if path.suffix in (".c", ".h", ".cpp")]
SIZE = 1 << 16  # bytes: a sixteenth of the largest file; the square of that would take many minutes
SECONDS = 0.0625  # of CPU; a quarter of it on a quiet machine
MUTATIONS = 8  # of each source: what is the same whenever the tests run; the long ones are to find more
MANY_MUTATIONS = 1000
SIGNS = [b"/*", b"*/", b"//", b"\\\n", b"\n#define A ", b'"', b"'", b"\n", b"#", b'R"(', b"\r\n", b"\0", b"\xc3"]

BOTH = ("c", "cpp")


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return Extractor(LANGUAGES)


@pytest.fixture(scope="module")
def parsing() -> Extractor:
    """An extractor that leaves directives to the parser."""
    return Extractor(PARSED)


def of(name: str) -> pytest.MarkDecorator:
    """The texts of a table, each in its languages."""
    cases = [(language, row) for row in TEXTS[name] for language in row.get("languages", BOTH)]
    return pytest.mark.parametrize(("language", "row"), cases, ids=lambda case: case if case in BOTH else named(case))


def named(row: dict[str, Any]) -> str:
    what: str = row["what"]
    return what


def taken(text: str) -> list[list[str]]:
    """The names of what is read line by line, run by run, in order."""
    found = runs(text.encode())
    return [[*(macro.name for macro in run.macros), *(one.module for one in run.imports)] for run in found]


def lines(row: SymbolRow) -> tuple[int, int]:
    return row.line_start, row.line_end


@of("same")
def test_says_what_a_parser_says(extractor: Extractor, parsing: Extractor, language: str, row: dict[str, Any]) -> None:
    assert taken(row["text"]) == row["runs"]
    found, expected = (each.extract(language, row["text"].encode()) for each in (extractor, parsing))
    assert expected.complete
    assert found == expected


@of("more")
def test_finds_what_no_parser_finds(
    extractor: Extractor, parsing: Extractor, language: str, row: dict[str, Any]
) -> None:
    found, other = (each.extract(language, row["text"].encode()) for each in (extractor, parsing))
    assert found.complete
    assert [[*lines(one), one.kind, one.signature or one.name] for one in found.symbols] == row["symbols"]
    assert found != other


@pytest.mark.parametrize("text", ["#define A 1 /* b\nint c;\n", "#define A 1\n#define B 2\n/*/\nint c;\n"])
def test_a_comment_that_never_ends_is_the_parsers(extractor: Extractor, parsing: Extractor, text: str) -> None:
    assert taken(text) == []
    found, expected = (each.extract("c", text.encode()) for each in (extractor, parsing))
    assert found == expected
    assert not found.complete


def test_a_statement_without_an_end_ends_before_a_directive(extractor: Extractor) -> None:
    text = b"int a;\nlib_driver(a)\n\n#define A 1\n#define B 2\n\nstatic struct b c = {\n\t.d = 1,\n};\n"
    found = extractor.extract("c", text)
    assert [row.signature for row in found.symbols] == ["int a", "#define A 1", "#define B 2", "static struct b c = {"]


@pytest.mark.parametrize("row", [*TEXTS["same"], *TEXTS["more"]], ids=named)
def test_a_text_may_end_anywhere(extractor: Extractor, row: dict[str, Any]) -> None:
    text = row["text"].encode()
    for end in range(len(text)):
        cut, blank = without(text[:end], runs(text[:end]))
        assert len(cut) == end
        assert all(cut[slice(*span)].isspace() for span in blank)
        extractor.extract("c", text[:end])


@pytest.mark.parametrize("mutations", [MUTATIONS, pytest.param(MANY_MUTATIONS, marks=pytest.mark.long)])
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_text_may_be_anything(extractor: Extractor, path: Path, mutations: int) -> None:
    chance = random.Random(path.name)
    text = path.read_bytes()
    for _ in range(mutations):
        at, behind = sorted(chance.choices(range(len(text)), k=2))
        mutated = text[:at] + chance.choice(SIGNS) + text[chance.choice([at, min(behind, at + 9)]) :]
        found = extractor.extract("c", mutated.decode(errors="replace").encode())
        assert all(1 <= row.line_start <= row.line_end <= mutated.count(b"\n") + 1 for row in found.symbols)


HOSTILE = [
    "\n#define A", "\n#define A /*", "\n#define A /* */ b", "\n#define A //", "\n#define A \\", "\n#define A(",
    '\n#define A "', '\n#define A "/*', "\n#define A /", "\n#include <", "\n#include <a> /*", "\n#define A\n/*", "\n#",
    "\n#define A\n//", "\n#define A\n/* */", " #define A", " #define A /**/ b", "\n  #define A", "\\\n#define A", " #",
    "/*\n#define A\n", "\n#define A /* */\n*/", "\n#define A\n/**/ b", '\nR"', '\nR"a', "\n#undef A", "\n,\n#undef A",
    "#define ",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_takes_time_in_proportion_to_the_text(unit: str) -> None:
    text = (unit * (SIZE // len(unit)) + "\n").encode()
    assert costs_under(SECONDS, lambda: (without(text, runs(text)), [*silent(text, [(0, len(text))])]))
