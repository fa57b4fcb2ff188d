"""Judges of the columns of `content`: Python's tokenize, and pygments for the other languages; methods of `str`.

A line is one where all that is not white space is comment. Where pygments is wrong, or means something else by comment,
`UNLIKE` says so; such a language has a floor of its own.
"""

import io
import re
import sysconfig
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from corpora import fetch, unpack

from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.languages.table import load_languages

lexers = pytest.importorskip("pygments.lexers")
from pygments.token import Comment, String  # noqa: E402

AGREEMENT = 0.999
MAX_BYTES = 200_000
MAX_LINES = 100_000  # of a language and project; more of Python
PROJECTS = ("django", "sympy", "typescript-src", "ansible-core", "bootstrap", "antd", "git", "kubernetes")

LEXERS = {"dockerfile": "docker", "restructuredtext": "rst", "objc": "objective-c"}
ALIKE = (
    "batch", "c", "clojure", "cmake", "cpp", "csharp", "css", "go", "groovy", "html", "ini", "java", "javascript",
    "json", "kotlin", "less", "lua", "makefile", "perl", "php", "powershell", "protobuf", "ruby", "rust", "scss", "sql",
    "tcl", "tex", "toml", "typescript", "vim", "xml", "yaml", "bash",
)  # fmt: skip
UNLIKE = {  # language: (floor, why)
    "batch": (0.99, "`::` is a label to pygments; cmd.exe jumps to no such label, and everybody comments with it"),
    "bash": (0.995, "some here documents and nested quotes break the grammar"),
    "cmake": (0.998, "pygments loses its place after an escaped quote in a string"),
    "dockerfile": (0.99, "comments between continued lines of RUN are comments; pygments takes them for shell"),
    "less": (0.995, "pygments loses its place in a script between backticks"),
    "perl": (0.98, "quotes in regular expressions look like strings to the token rules"),
    "powershell": (0.99, "words such as .SYNOPSIS in a comment of help are no comment to pygments"),
    "restructuredtext": (
        0.97,
        "pygments takes `.. math ::` and continued doctests for comments, and reads code blocks; SymPy is full of them",
    ),
    "scss": (0.985, "pygments loses its place after an interpolation, and knows no `////`"),
    "sql": (0.998, "pygments reads function bodies between $$, which are strings"),
    "tcl": (0.98, "pygments loses its place after a backslash before a quote or bracket"),
    "yaml": (0.999, "a comment that ends a plain scalar of several lines is part of it to pygments"),
    "xml": (0.999, "a comment after a document type is text to pygments"),
}
LANGUAGES = load_languages()
EXTRACTOR = Extractor(LANGUAGES)


def comment_lines(language: str, text: str) -> set[int]:
    """The lines that hold comment and nothing else, as pygments sees it."""
    lexer = lexers.get_lexer_by_name(LEXERS.get(language, language), stripnl=False)
    only: dict[int, bool] = {}
    line = 1
    for token, value in lexer.get_tokens(text):
        is_comment = (token in Comment or token in String.Doc) and token not in (Comment.Preproc, Comment.PreprocFile)
        for index, part in enumerate(value.split("\n")):
            line += index > 0
            if part.strip():
                only[line] = only.get(line, True) and is_comment
    return {line for line, value in only.items() if value}


def python_comment_lines(text: str) -> set[int] | None:
    lines = text.split("\n")
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text, newline="\n").readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    comments = (token.start for token in tokens if token.type == tokenize.COMMENT)
    return {row for row, column in comments if not lines[row - 1][:column].strip()}


def judged(language: str, text: str) -> set[int] | None:
    """What the judge of the language says; None where it cannot read the text."""
    if language == "python":
        return python_comment_lines(text)
    return comment_lines(language, text) if language in {*ALIKE, *LEXERS} else None


def differences(language: str, text: str) -> list[int] | None:
    """The lines that are comment for one only; a first line with `#!` is comment here, this or that in pygments."""
    expected = judged(language, text)
    found = EXTRACTOR.extract(language, text.encode()).comment_lines
    return None if expected is None else sorted((expected ^ found) - ({1} if text.startswith("#!") else set()))


def texts(root: Path) -> Iterator[tuple[str, str]]:
    """The language and text of the files of a project."""
    for path in sorted(root.rglob("*")):
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_BYTES:
            continue
        data = path.read_bytes()
        language = LANGUAGES.detect(path.name, data[:256])
        text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        if language and not set("\0\r\f\ufffd") & set(text):
            yield language, re.split(r"^__(?:END|DATA)__$", text, flags=re.MULTILINE)[0] if language == "perl" else text


MARKED = sorted(path for path in (Path(__file__).parents[1] / "languages").iterdir() if path.suffix != ".toml")


@pytest.mark.parametrize("path", MARKED, ids=lambda path: path.name)
def test_marked_sources_agree(path: Path) -> None:
    language = LANGUAGES.detect(path.name, path.read_bytes()[:256]) or ""
    found = differences(language, path.read_text())
    assert found is None or len(found) <= (3 if language in UNLIKE else 0)


@pytest.mark.long
@pytest.mark.judge
def test_projects_agree(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    cache = Path(request.config.cache.mkdir("corpora"))  # type: ignore[union-attr]
    lines, unlike = Counter[str](), Counter[str]()
    for name in PROJECTS:
        (tmp_path / name).mkdir()
        before = lines.copy()
        for language, text in texts(unpack(fetch(name, cache), tmp_path / name)):
            if lines[language] - before[language] > MAX_LINES and language != "python":
                continue
            found = differences(language, text)
            if found is not None:
                lines[language] += text.count("\n") + (not text.endswith("\n"))
                unlike[language] += len(found)
    agreement = {language: 1 - unlike[language] / count for language, count in lines.items() if count}
    for language, count in lines.most_common():
        print(f"{language:18}{count:9}{unlike[language]:7}  {agreement[language]:.5f}")  # noqa: T201
    print(f"{'all':18}{lines.total():9}{unlike.total():7}  {1 - unlike.total() / lines.total():.5f}")  # noqa: T201
    assert lines.total() >= 1_000_000
    assert len(lines) >= 15
    assert 1 - unlike.total() / lines.total() >= AGREEMENT
    assert {name: share for name, share in agreement.items() if share < UNLIKE.get(name, (AGREEMENT, ""))[0]} == {}


# ---- indentation and blank lines -------------------------------------------------------------------------------------

STDLIB = Path(sysconfig.get_path("stdlib"))
SCHEMA = Path(__file__).parents[2] / "worker" / "store" / "sql" / "schema_content.sql"
RARE = "\ta\n  \ta\n     \ta\n \t \ta\n\t   a\n \f \ta\n\v\n\x1f \x85\n\xa0\u3000\n\u200b\n \ufeff\n"


def test_indentation_and_blank_lines_are_those_of_str() -> None:
    paths = [*MARKED, *sorted(STDLIB.glob("[a-d]*.py"))]
    blocks = [RARE, *(path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n") for path in paths)]
    with duckdb.connect() as engine:
        engine.execute("ATTACH ':memory:' AS image; USE image")
        engine.execute(
            "CREATE TABLE blocks AS SELECT '' AS path, 1 AS block, 1 AS first_line, unnest(?) AS text", [blocks]
        )
        engine.execute("CREATE TABLE comments (block INTEGER, lines INTEGER[])")
        engine.execute(SCHEMA.read_text())
        found = engine.execute("SELECT line_text, indent_level, is_blank FROM content").fetchall()
    assert len(found) > 10_000
    expected = [(line, columns(line), not line.strip()) for text in blocks for line in text.split("\n")]
    assert sorted(found) == sorted(expected)


def columns(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4))
