"""Judge: Python's own parser and tokenizer, over the running interpreter's standard library and real projects."""

import ast
import io
import random
import re
import sysconfig
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from corpora import fetch, unpack

from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.languages.table import load_languages

PROJECTS = ("flask", "django", "sympy")
SAMPLE = 15
STDLIB = Path(sysconfig.get_path("stdlib"))
UNLIKE = {
    "test_compile.py": "the grammar does not accept a line in brackets that is indented less than its block",
    "badsyntax_future8.py": "the grammar does not accept `from __future__ import *`, which does not compile",
    "test_unicode_identifiers.py": "names are as written, not NFKC",
}
KINDS = {ast.ClassDef: "class", ast.FunctionDef: "function", ast.AsyncFunctionDef: "function"}


def sources() -> list[Path]:
    """Files of the standard library and its tests, in an order that is always the same."""
    places = [place for place in STDLIB.iterdir() if place.name != "site-packages"]
    found = sorted(path for place in places for path in ([place] if place.suffix == ".py" else place.rglob("*.py")))
    random.Random(0).shuffle(found)
    return found


FILES = sources()


def is_valid(source: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source.decode())
    except (SyntaxError, ValueError):
        return False
    return not re.search(rb"^[ \t\f]*#.*coding[:=][ \t]*+(?!utf-?8)|\r(?!\n)", source[:1000])


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return Extractor(load_languages())


@pytest.mark.parametrize("path", FILES[:SAMPLE], ids=lambda path: str(path.relative_to(STDLIB)))
def test_python_agrees_with_its_own_parser(extractor: Extractor, path: Path) -> None:
    judge(extractor, path)


@pytest.mark.judge
@pytest.mark.long
@pytest.mark.parametrize("path", FILES[SAMPLE:], ids=lambda path: str(path.relative_to(STDLIB)))
def test_python_agrees_with_its_own_parser_on_the_rest(extractor: Extractor, path: Path) -> None:
    if path.name in UNLIKE:
        pytest.xfail(UNLIKE[path.name])
    judge(extractor, path)


@pytest.mark.judge
@pytest.mark.long
@pytest.mark.parametrize("project", PROJECTS)
def test_python_agrees_with_its_own_parser_on_projects(
    extractor: Extractor, project: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Every definition, variable, import and comment line of every file: F1 is 1."""
    root = unpack(fetch(project, request.config.cache.mkdir("corpora")), tmp_path)
    for path in sorted(root.rglob("*.py")):
        if is_valid(path.read_bytes()):
            judge(extractor, path)


def judge(extractor: Extractor, path: Path) -> None:
    if not is_valid(path.read_bytes()):
        pytest.skip("no valid Python in UTF-8")
    source = path.read_bytes().decode().removeprefix("\ufeff")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source)
    found = extractor.extract("python", source.encode())

    assert definitions_found(found.symbols) == sorted(definitions(tree))
    assert variables_found(found.symbols) == sorted(set(variables(tree)))
    assert Counter(imports_found(found.imports)) == Counter(imports(tree))
    assert sorted(found.comment_lines) == comment_lines(source)


def definitions(tree: ast.Module) -> Iterator[tuple[str, str, int, int, str]]:
    """(qualified name, kind, first line with decorators, last line, docstring) of every class and function."""
    todo: list[tuple[ast.AST, str, str]] = [(tree, "", "")]
    while todo:
        node, path, around = todo.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                kind = KINDS[type(child)]
                start = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                named = f"{path}.{child.name}".lstrip(".")
                shown = "method" if kind == "function" and around == "class" else kind
                yield named, shown, start, child.end_lineno or 0, ast.get_docstring(child) or ""
                todo.append((child, named, kind))
            else:
                todo.append((child, path, around))


def definitions_found(symbols) -> list[tuple[str, str, int, int, str]]:
    return sorted(
        (row.qualified_name, row.kind, row.line_start, row.line_end, row.docstring or "")
        for row in symbols
        if row.kind in ("class", "function", "method")
    )


def variables(tree: ast.Module) -> Iterator[str]:
    """Qualified names bound by assignment in modules and classes, not in functions."""
    todo: list[tuple[ast.AST, str, bool]] = [(tree, "", False)]
    while todo:
        node, path, local = todo.pop()
        for child in ast.iter_child_nodes(node):
            named = f"{path}.{getattr(child, 'name', '')}".strip(".")
            if isinstance(child, ast.ClassDef):
                todo.append((child, named, False))
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                todo.append((child, named, True))
            else:
                names = (target.id for target in targets(child) if isinstance(target, ast.Name) and not local)
                yield from (f"{path}.{name}".strip(".") for name in names)
                todo.append((child, path, local))


def targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign) and node.simple else []


def variables_found(symbols) -> list[str]:
    return sorted(row.qualified_name for row in symbols if row.kind in ("variable", "constant"))


def imports(tree: ast.Module) -> Iterator[tuple[int, str, str | None, str | None]]:
    """(line, module, name, alias) of everything imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, None, alias.asname) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from ((node.lineno, module, alias.name, alias.asname) for alias in node.names)


def imports_found(rows) -> Iterator[tuple[int, str, str | None, str | None]]:
    for row in rows:
        for name in row.imported_names or (None,):
            yield row.line_number, row.module, name, row.alias


def comment_lines(source: str) -> list[int]:
    """Lines whose first token is a comment."""
    lines = source.splitlines()
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = (token.start for token in tokens if token.type == tokenize.COMMENT)
    return [row for row, column in comments if not lines[row - 1][:column].strip()]
