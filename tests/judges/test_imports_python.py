"""Judge: Python's own finder, on what real projects import."""

from pathlib import Path

import pytest
from corpora import fetch, unpack
from graphs import Edge, imports, report, score
from references import imports as imports_of

# The project, where its code starts, what part of it is judged. Django's tests run with both on their path.
PROJECTS = [
    ("flask", ["src"], "src/flask/"),
    ("django", [""], "django/"),
    ("django", ["", "tests"], "tests/"),
    ("sympy", [""], "sympy/"),
    ("cattrs", ["src"], "src/"),
    ("docutils", [""], "docutils/"),
    ("httpx", [""], "httpx/"),
    ("jinja2", ["src"], "src/"),
]

pytestmark = [pytest.mark.judge, pytest.mark.long]


@pytest.mark.parametrize(("project", "starts", "part"), PROJECTS)
def test_edges_agree_with_the_finder(
    project: str, starts: list[str], part: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    root = unpack(fetch(project, request.config.cache.mkdir("corpora")), tmp_path)
    rows = imports(root, "python", part=part)
    ours = [Edge(path, row.line_number, row.resolved_path) for path in rows for row in rows[path]]
    theirs = []
    for path in rows:
        try:
            theirs += [Edge(path, *found) for start in starts for found in imports_of(root, start, path)]
        except (SyntaxError, ValueError, ImportError):
            ours = [edge for edge in ours if edge.path != path]
    result = score(ours, theirs)
    report(f"{project} {part}", result)
    assert result.f1 >= 0.99
