"""Bodies that are not parsed: what is found is what a parser finds that is given all of the text."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from corpora import fetch, unpack
from costing import costs_under
from msgspec.structs import replace
from tables import every_row
from tree_sitter import Node

from fledgling.worker.extracting.elided_bodies import DEEPEST, MOST_SKIPPED, SHORTEST, Bodies, between
from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.extracting.grammar import Syntax, load_grammar
from fledgling.worker.languages.table import load_languages

TESTS = Path(__file__).parent
TEXTS = tomllib.loads((TESTS / "elided_bodies.toml").read_text())["text"]
LANGUAGES = load_languages()
LANGUAGES = replace(  # without the repair that leaves out bodies because they hold an error
    LANGUAGES,
    rows={
        name: replace(row, repairs=tuple(each for each in row.repairs if each != "c.bodies"))
        for name, row in LANGUAGES.rows.items()
    },
)
SOURCES = [
    path
    for path in sorted((TESTS / "languages").glob("*.toml"))
    if (language := LANGUAGES.detect(path.stem, path.with_suffix("").read_bytes())) and LANGUAGES.rows[language].body
]
WITHOUT_BODIES = replace(LANGUAGES, rows={name: replace(row, body="") for name, row in LANGUAGES.rows.items()})
STATEMENT = "count += reading(count, 1) + reading(count, 2)"
ENDS = {"c": ";", "cpp": ";", "go": "", "python": "", "rust": ";"}
FUNCTIONS = {  # and what defines something in a body of theirs
    "c": ("int %s(void)\n{\n\t%s\n}\n", "struct of_a_body { int a; struct of_a_body *b; };"),
    "cpp": ("int %s()\n{\n\t%s\n}\n", "class OfABody { int a; OfABody *b; };"),
    "go": ("\nfunc %s() {\n\t%s\n}\n", "type ofABody struct { a int; b *ofABody }"),
    "python": ("\ndef %s():\n    %s\n", "class OfABody(Base): first, second = 1, 2"),
    "rust": ("\nfn %s() {\n    %s\n}\n", "struct OfABody { a: u8, b: Vec<OfABody> }"),
}
MARK = re.compile(r"^([ \t]*)@$", re.MULTILINE)
PROJECTS = ("django", "orjson", "prometheus", "redis")
MANY = 30  # files
SIZE = 1 << 16  # bytes: a sixteenth of the largest file; the square of that would take many minutes
SECONDS = 0.125  # of CPU, twice what a slow and busy machine takes


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return Extractor(LANGUAGES)


@pytest.fixture(scope="module")
def whole() -> Extractor:
    """An extractor that parses all of a text."""
    return Extractor(WITHOUT_BODIES)


def named(row: dict[str, Any]) -> str:
    return f"{row['language']}: {row['what']}"


def filled(row: dict[str, Any], statement: str = STATEMENT) -> bytes:
    line = statement + ENDS[row["language"]]
    text: str = MARK.sub(rf"\1{line}\n\1{line}", row["text"])
    return text.encode()


@every_row("row", TEXTS, ids=named)
def test_finds_what_there_is_in_all_of_the_text(extractor: Extractor, whole: Extractor, row: dict[str, Any]) -> None:
    found, expected = (each.extract(row["language"], filled(row)) for each in (extractor, whole))
    assert expected.symbols
    assert (found.symbols, found.imports) == (expected.symbols, expected.imports)
    assert found.comment_lines == expected.comment_lines


@every_row("row", TEXTS, ids=named)
def test_a_text_may_end_anywhere(row: dict[str, Any]) -> None:
    bodies = Bodies(LANGUAGES, row["language"])
    text = filled(row) + b"\ndef f():\n    # (\n"
    for end in range(len(text)):
        blanked = bodies.blanked(text[:end])
        assert len(blanked.text) == end


@every_row("row", TEXTS, ids=named)
def test_what_is_left_out_cannot_be_an_error(extractor: Extractor, whole: Extractor, row: dict[str, Any]) -> None:
    wrong = filled(row, STATEMENT.replace(",", " "))
    assert not whole.extract(row["language"], wrong).complete
    assert extractor.extract(row["language"], wrong).complete == row["left_out"]


def test_what_a_body_defines_keeps_no_other() -> None:
    assert FUNCTIONS.keys() == ENDS.keys()
    for language, (function, definition) in FUNCTIONS.items():
        bodies = Bodies(LANGUAGES, language)
        for at in range(4):
            lines = [definition if number == at else STATEMENT for number in range(4)]
            text = "".join(function % (f"f{number}", line) for number, line in enumerate(lines)).encode()
            blanked = bodies.blanked(b"\n" + text)
            assert definition.encode() in blanked.text, (language, at)
            assert STATEMENT.encode() not in blanked.text, (language, at)


def test_brackets_are_closed_to_a_depth(extractor: Extractor) -> None:
    for depth, is_left_out in ((DEEPEST, True), (DEEPEST + 1, False)):
        body = "{" * depth + "count 1;" * 9 + "}" * depth
        found = extractor.extract("c", f"int f(void)\n{{\n{body}\n}}\nint b;\n".encode())
        assert [row.name for row in found.symbols] == ["f", "b"]
        assert found.complete == is_left_out


def test_a_short_body_stays() -> None:
    bodies = Bodies(LANGUAGES, "c")
    for length, is_left_out in ((SHORTEST, True), (SHORTEST - 1, False)):
        body = "{\n" + "a" * (length - 4) + "\n}"
        assert len(body) == length
        assert (bodies.blanked(f"int f(void)\n{body}\n".encode()).bodies == {12}) == is_left_out


@pytest.mark.parametrize(
    "values",
    [
        "\t{ .open = one },\n#ifdef A\n\t{ .open = two },\n#endif",
        "#if A\n\tone, two, three, four, five, six,\n#else\n\tseven\n#endif",
        "\tsizeof(struct inner { int c; }),\n\tone, two, three, four, five",
    ],
)
def test_values_of_a_variable_are_a_body(extractor: Extractor, whole: Extractor, values: str) -> None:
    text = f"static const struct a all[] = {{\n{values}\n}};\n\nint b;\n".encode()
    found, expected = (each.extract("c", text) for each in (extractor, whole))
    assert found.complete
    inside = ["inner", "c"] if "inner" in values else []
    assert {row.name for row in found.symbols if row.name in inside} == {*inside}
    assert [(row.name, row.line_start, row.line_end) for row in found.symbols if row.name not in inside] == [
        ("all", 1, values.count("\n") + 3),
        ("b", values.count("\n") + 5, values.count("\n") + 5),
    ]
    assert found.symbols == expected.symbols or not expected.complete


def nodes(node: Node) -> Iterator[tuple[object, ...]]:
    yield node.type, node.byte_range, node.start_point, node.end_point, node.is_missing
    for child in node.children:
        yield from nodes(child)


@pytest.mark.parametrize("statement", [STATEMENT, STATEMENT.replace(",", " ")], ids=["sound", "with errors"])
@every_row("row", TEXTS, ids=named)
def test_a_parser_that_skips_what_is_blank_sees_the_same(row: dict[str, Any], statement: str) -> None:
    syntax = syntax_of(row["language"])
    blanked = Bodies(LANGUAGES, row["language"]).blanked(b"(\n" + filled(row, statement))
    ranges = between(blanked.text, blanked.blank)
    assert len(ranges) == (len(blanked.bodies) + 1 if blanked.bodies else 0)
    skipping, reading = (syntax.parse(blanked.text, each).root_node for each in (ranges, []))
    assert [*nodes(skipping)] == [*nodes(reading)]


def test_a_parser_skips_the_longest() -> None:
    """It looks through all ranges at each word, so there may not be many."""
    short = b"int f(void)\n{\n" + b"a" * SHORTEST + b"\n}\n"
    long = b"int f(void)\n{\n" + b"a" * SHORTEST + b"a\n}\n"
    for many in (MOST_SKIPPED - 1, MOST_SKIPPED, 30 * MOST_SKIPPED):
        text = short * many + long
        blanked = Bodies(LANGUAGES, "c").blanked(text)
        assert len(blanked.bodies) == many + 1
        ranges = between(blanked.text, blanked.blank)
        assert len(ranges) == min(many + 1, MOST_SKIPPED) + 1
        assert ranges[-1].start_byte == len(text) - len(b"}\n")
    syntax = syntax_of("c")
    assert costs_under(4 * SECONDS, lambda: syntax.parse(blanked.text, ranges))


def syntax_of(language: str) -> Syntax:
    row = LANGUAGES.rows[language]
    return Syntax(load_grammar(row.grammars[0]), {}, row)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_marked_sources_say_the_same(extractor: Extractor, whole: Extractor, path: Path) -> None:
    source = path.with_suffix("").read_bytes()
    language = LANGUAGES.detect(path.stem, source) or ""
    assert extractor.extract(language, source) == whole.extract(language, source)


@pytest.mark.long
@pytest.mark.judge
@pytest.mark.parametrize("name", PROJECTS)
def test_real_projects_say_the_same(
    extractor: Extractor, whole: Extractor, name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Where the parser understands all of a text: where it does not, less of a text is less to misunderstand."""
    parsed = 0
    root = unpack(fetch(name, request.config.cache.mkdir("corpora")), tmp_path)
    for path in root.rglob("*.*"):
        language = LANGUAGES.detect(path.name, b"")
        if language in HOSTILE and path.is_file() and path.stat().st_size < 4 * SIZE:
            source = path.read_bytes().decode(errors="replace").encode()
            expected = whole.extract(language, source)
            if expected.complete:
                parsed += 1
                assert extractor.extract(language, source) == expected, path
    assert parsed > MANY


# fmt: off
HOSTILE = {
    "c": [
        ")\n{\n", ")\n{\n}\n", ")\n{\n{\n", ") {\n/*", ') {\n"', ")\n{\n'{'}\n", "(){\n", "{}", "{", "/", ") \t",
    ],
    "cpp": [
        "\nf()\n{\n", "\nf() {\n}\n", "\nf() const {\n{\n", "\n  f(", "\n) ", ")\n{\n", "\na = {\n", "\nf() {\n/*",
        '\nf() {\nR"(', "const\n{\n", "//)\n{\n", "\na" * 9 + ")", " ",
    ],
    "go": ["func\n", "func{\n", "func {\n}\n", "func f() {\n`", "func f() {\n{", ") {\n"],
    "rust": [
        "fn f(\n", "\nfn f() {\n", "\n fn f() {\n}\n", "\n pub fn f", "\n fn f() {\n'a ", "/* ", 'r#"', "\n pub ",
        "\nm! {\n", "\n m! m {\n}\n",
    ],
    "python": [
        "\ndef f():\n", "\ndef f():\n x\n", '\ndef f():\n """', "\n):\n ", "\ndef f(:", "\n  def f():\n\tx\n", " \n",
        "\ndef f():\n #\n", "\ndef f():\n" + " x\n" * 20 + " # a\n" * 20,
    ],
}
# fmt: on


@pytest.mark.parametrize("language", HOSTILE)
def test_looking_for_bodies_takes_time_in_proportion_to_the_text(language: str) -> None:
    bodies = Bodies(LANGUAGES, language)
    units = [*HOSTILE[language], *(f"\n{' ' * 39}{unit.strip()}" for unit in HOSTILE[language])]
    texts = {unit: unit * (SIZE // len(unit)) for unit in units}
    texts["steps"] = "".join(f"\n{' ' * depth}{units[0].strip()}" for depth in range(int((2 * SIZE) ** 0.5)))
    for name, lines in (
        ("definitions", "    use a;\n"),
        ("definitions between", f"    use a;\n    {'b' * SHORTEST};\n"),
    ):
        texts[name] = "\nfn f() {\n" + lines * (SIZE // len(lines)) + "}\n"
    texts["indented"] = f"\nfn f() {{\n{' ' * SIZE}use a;\n}}\n"
    lines = f"    import a\n    {'b' * SHORTEST}\n    # c\n"
    texts["imports between"] = "\ndef f():\n    x\n" + lines * (SIZE // len(lines))
    texts["remarks"] = "\ndef f():\n x\n" + " # a\n" * (SIZE // 5)
    for name, text in texts.items():
        assert costs_under(SECONDS, lambda text=text: bodies.blanked(text.encode())), name  # type: ignore[misc]


def test_every_language_with_bodies_is_here() -> None:
    languages = {name for name, row in LANGUAGES.rows.items() if row.body}
    assert languages == set(HOSTILE) == {row["language"] for row in TEXTS}
