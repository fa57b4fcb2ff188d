"""Types in quotes are read as Python reads them: `ast` is the judge, over packages that are installed with this one."""

import ast
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from fledgling.worker.graph.reading.facts import FactsExtractor
from fledgling.worker.graph.tables import Use, sites_of, unpacked
from fledgling.worker.languages.table import load_languages

PACKAGES = ["click", "mcp", "pydantic", "starlette"]
MODULES = ("", "t", "te", "typing", "typing_extensions")  # whose `cast` takes a type: another `a.cast` may not
LEAST = 500  # names in quotes that all of them have together, in the versions of the constraints
FACTS = FactsExtractor(load_languages())
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def last(node):
    return ast.unparse(node).rpartition(".")[2]


def types_of(tree):
    """Yield the annotations of a file, and the arguments of functions that are types."""
    for node in ast.walk(tree):
        if isinstance(node, DEFINITIONS) and node.returns:
            yield node.returns
        elif isinstance(node, ast.arg | ast.AnnAssign) and node.annotation:
            yield node.annotation
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[0] in MODULES:
            name = last(node.func)
            yield from {"cast": node.args[:1], "TypeVar": node.args[1:], "NewType": node.args[1:2]}.get(name, [])
            yield from (each.value for each in node.keywords if name == "TypeVar" and each.arg in ("bound", "default"))


def quoted(node):
    """Yield the names that stand in quotes in a type, but for what is only a word: `Literal["a"]`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            inner = ast.parse(node.value.strip(), mode="eval").body
        except SyntaxError:
            return
        for each in ast.walk(inner):
            if isinstance(each, ast.Name | ast.Attribute):
                yield each.id if isinstance(each, ast.Name) else each.attr
        yield from quoted(inner)
    elif isinstance(node, ast.Subscript) and last(node.value) in ("Literal", "Annotated"):
        yield from quoted(node.slice.elts[0]) if last(node.value) == "Annotated" else ()
    elif not isinstance(node, ast.Call):
        for kid in ast.iter_child_nodes(node):
            yield from quoted(kid)


def read_in_quotes(source, tree):
    """Yield the names that the facts have as types within a string."""
    strings = [
        ((each.lineno, each.col_offset), (each.end_lineno, each.end_col_offset))
        for each in ast.walk(tree)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]
    facts = unpacked(FACTS.facts_of("python", source))
    for site in sites_of(facts):
        if site.use == Use.TYPE and any(begin < (site.line, site.column) < end for begin, end in strings):
            yield facts.names[site.name]


@pytest.mark.long
def test_names_in_quotes_are_those_of_ast():
    wrong, names = [], 0
    for package in PACKAGES:
        for path in sorted(Path(find_spec(package).origin).parent.rglob("*.py")):
            source = path.read_bytes()
            tree = ast.parse(source)
            expected = Counter(name for each in types_of(tree) for name in quoted(each))
            names += expected.total()
            found = Counter(read_in_quotes(source, tree))
            if found != expected:
                wrong.append((path.name, expected - found, found - expected))
    assert not wrong
    assert names > LEAST
