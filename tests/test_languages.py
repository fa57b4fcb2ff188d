"""Languages as folders: what is wrong in one stops the indexer, which names the file and says what its reader says."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from copying import Copy
from msgspec.structs import replace
from running import indexed

from fledgling.broker.indexing.failures import IndexingError
from fledgling.worker.dialect import Dialect
from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.graph.reading.facts import FactsExtractor
from fledgling.worker.graph.reading.labels import NUMBERS
from fledgling.worker.language import LanguageError
from fledgling.worker.languages.__main__ import known
from fledgling.worker.languages.table import load_languages
from fledgling.worker.matching import prefilter

SOURCES = Path(__file__).parent / "languages"

GO = "worker/languages/go/language.toml"
TAGS = "worker/languages/go/tags.scm"

# what is wrong -> the file, texts of it and what stands there instead, and what the indexer says
WRONG = {
    "a query names a node that the grammar lacks": (
        TAGS,
        {"(function_declaration name": "(function_declaratoin name"},
        f"{TAGS}: Invalid node type at row ",
    ),
    "a query captures what means nothing": (
        TAGS,
        {"(dot) @imported path: (_ (_) @module)": "(dot) @imported path: (_ (_) @package)"},
        f"{TAGS}: Invalid capture at row 52, column 48: package",
    ),
    "a query defines what is of no kind": (
        TAGS,
        {"@definition.struct)": "@definition.structure)"},
        f"{TAGS}: Invalid capture",
    ),
    "a head is of no kind": (
        "worker/languages/nix/heads.toml",
        {'kind = "function"': 'kind = "lambda"'},
        "worker/languages/nix/heads.toml: Invalid enum value 'lambda' - at `$.head[0].kind`",
    ),
    "documentation stands nowhere": (
        GO,
        {'docs = "above"': 'docs = "over"'},
        f"{GO}: Invalid enum value 'over' - at `$.docs`",
    ),
    "a column has no such name": (
        GO,
        {"extensions =": "extension ="},
        f"{GO}: Object contains unknown field `extension`",
    ),
    "a language has a folder and a table": (
        "worker/languages/others.toml",
        {"[elm]": "[go]"},
        "worker/languages/others.toml: go has a folder; take its table out here",
    ),
    "a row is no TOML": (GO, {'docs = "above"': "docs ="}, f"{GO}: Invalid value (at line"),
    "an expression does not compile": (GO, {"private = '": "private = '("}, f"{GO}: private: missing ), unterminated"),
    "how a text begins does not compile": (
        "worker/languages/asciidoc/language.toml",
        {"shared.text = '": "shared.text = '("},
        "worker/languages/asciidoc/language.toml: shared: missing ), unterminated",
    ),
    "an expression of RE2 does not compile": (GO, {"defining = '": "defining = '("}, f"{GO}: defining: missing )"),
    "rules are missing": (GO, {"go/tags.scm": "go/tag.scm"}, "worker/languages/go/tag.scm: No such file or directory"),
    "a token has no such name": (GO, {'comments = ["//"': 'comments = ["/"'}, f"{GO}: tokens.toml has no token /"),
    "a grammar is not installed": (
        GO,
        {"tree_sitter_go.language": "tree_sitter_gone.language"},
        f"{GO}: grammars: tree_sitter_gone.language is not installed (No module named 'tree_sitter_gone')",
    ),
    "a repair has no such name": (
        "worker/languages/c/language.toml",
        {'"c.gaps"': '"c.gap"'},
        "worker/languages/c/gap.py: ModuleNotFoundError: No module named 'fledgling.worker.languages.c.gap'",
    ),
    "a repair does not compile": (
        "worker/languages/cpp/gaps.py",
        {'EMIT = rb"': 'EMIT = rb"('},
        "worker/languages/cpp/gaps.py: missing ), unterminated subpattern",
    ),
    "a resolver imports what is not there": (
        "worker/languages/go/imports.py",
        {"import word_list": "import world_list"},
        "worker/languages/go/imports.py: ImportError: cannot import name 'world_list' from 'fledgling.worker.language'",
    ),
    "a list of names is missing": (
        "worker/languages/go/imports.py",
        {"go/stdlib.txt": "go/library.txt"},
        "worker/languages/go/library.txt: No such file or directory",
    ),
    "what is said of a library is missing": (
        "worker/languages/java/language.toml",
        {'"java/library.txt"': '"java/libraries.txt"'},
        "worker/languages/java/libraries.txt: No such file or directory",
    ),
    "statement rules do not compile": (
        "worker/languages/sql/statements.toml",
        {"create = '''": "create = '''("},
        "worker/languages/sql/statements.toml: missing ), unterminated subpattern",
    ),
}
ALIKE = {  # of each kind of file another is plain
    "a query captures what means nothing",
    "a head is of no kind",
    "an expression does not compile",
    "a repair has no such name",
    "how a text begins does not compile",
    "an expression of RE2 does not compile",
    "a repair does not compile",
    "statement rules do not compile",
    "what is said of a library is missing",
    "a list of names is missing",
    "a column has no such name",
    "a query defines what is of no kind",
    "documentation stands nowhere",
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy(tmp_path_factory.mktemp("copy"))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("project")
    (root / "main.go").write_text("package main\n\nfunc main() {}\n")
    (root / "main.cpp").write_text("int main() { return 0; }\n")
    (root / "guide.adoc").write_text("= Guide\n")
    (root / "tables.sql").write_text("CREATE TABLE a (b int);\n")
    (root / "default.nix").write_text("{ a = x: x; }\n")
    return str(root)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "wrong", [pytest.param(wrong, marks=[pytest.mark.long] if wrong in ALIKE else []) for wrong in WRONG]
)
async def test_what_is_wrong_in_a_folder_stops_the_indexer(
    copy: Copy, project: str, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, changes, words = WRONG[wrong]
    before = (copy.tree / name).read_text()
    copy.edit(name, changes)
    monkeypatch.setattr(sys, "executable", str(copy.python))  # which the indexer is started with
    try:
        with pytest.raises(IndexingError) as stopped:
            async with indexed(Path(project)) as indexing:
                await indexing.built()
    finally:
        (copy.tree / name).write_text(before)
    assert words in str(stopped.value)
    assert str(copy.tree) not in str(stopped.value)
    assert "Traceback" not in str(stopped.value)


def test_each_word_of_the_graph_is_in_a_query() -> None:
    languages = load_languages()
    names = {name for row in languages.rows.values() for name in (*row.graph.rules, *row.graph.last_rules)}
    queries = "\n".join(languages.rules[name] for name in names)
    assert NUMBERS.keys() <= set(re.findall(r"@(\w+)", queries))


def test_a_capture_of_the_graph_that_means_nothing_is_named() -> None:
    languages = load_languages()
    rules = languages.rules["go/graph.scm"]
    wrong = replace(languages, rules={**languages.rules, "go/graph.scm": rules.replace("@call", "@caller", 1)})
    with pytest.raises(LanguageError, match=r"worker/languages/go/graph\.scm: Invalid capture at row .*: caller"):
        FactsExtractor(wrong).facts_of("go", b"package a\n")


def command(copy: Copy, project: str) -> "subprocess.CompletedProcess[str]":
    said = [copy.python, "-I", "-B", "-m", "fledgling", "index", "--root", project]
    return subprocess.run(said, cwd="/", capture_output=True, text=True, check=False)


def test_a_command_says_what_is_wrong_in_a_folder(copy: Copy, project: str) -> None:
    name, changes, words = WRONG["a row is no TOML"]
    before = (copy.tree / name).read_text()
    copy.edit(name, changes)
    done = command(copy, project)
    (copy.tree / name).write_text(before)
    assert done.returncode != 0
    assert words in " ".join(done.stderr.split())
    assert str(copy.tree) not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_nothing_is_wrong_in_the_copy_itself(copy: Copy, project: str) -> None:
    done = command(copy, project)
    assert done.returncode == 0, done.stderr


def test_what_is_listed_is_what_the_marked_sources_show() -> None:
    """Of each language with a marked source, which is all of which definitions are found."""
    languages = load_languages()
    extractor = Extractor(languages)
    found: dict[str, list[bool]] = {}
    for table in SOURCES.glob("*.toml"):
        source = table.with_suffix("").read_bytes()
        language = languages.detect(table.stem, source) or ""
        said = extractor.extract(language, source)
        found.setdefault(language, [False] * 3)
        for at, rows in enumerate((said.symbols, said.imports, said.comment_lines)):
            found[language][at] |= bool(rows)
    listed = known()
    assert isinstance(listed, list)
    rows = {row.name: [row.definitions, row.imports, row.comments] for row in listed}
    assert {name: row[:2] for name, row in found.items()} == {name: rows[name][:2] for name in found}
    assert all(rows[name][2] or not row[2] for name, row in found.items())
    assert {row.name for row in listed if row.definitions} == found.keys()


def test_what_is_not_read_for_a_graph_is_what_the_graph_needs_alone() -> None:
    whole, part = load_languages(), load_languages(for_graph=False)
    assert any(row.graph.rules for row in whole.rows.values())
    assert part.rows == {name: replace(row, graph=Dialect()) for name, row in whole.rows.items()}
    assert part.rules == {file: whole.rules[file] for row in part.rows.values() for file in row.rules}


def test_a_grammar_is_listed_with_its_version() -> None:
    listed = known()
    assert isinstance(listed, list)
    parsers = {row.name: row.parser for row in listed}
    assert parsers["go"] == f"tree-sitter-go {metadata.version('tree-sitter-go')}"
    assert (parsers["scss"], parsers["sql"], parsers["elm"]) == (
        "own reader (less)",
        "own rules (sql/statements.toml)",
        None,
    )


def test_conventions_are_expressions() -> None:
    """They are compiled where a map asks for them: one that is none would cost its answer, and nothing at the start."""
    for name, row in load_languages().conventions().items():
        folders = [inside.replace("NAME", "app") for inside in row.packaged.values()]
        for expression in (row.started, row.unstarted, row.guard, row.hosted, *row.packaged, *folders):
            assert re.compile(expression), name
        assert not row.guard or prefilter.of_templates(prefilter.read(row.guard, case_sensitive=True)), name
