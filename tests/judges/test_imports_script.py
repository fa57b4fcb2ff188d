"""Judge: the TypeScript compiler's resolution, on sources and on a workspace of tests/resolution. Needs npm."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from corpora import fetch, unpack
from graphs import Edge, imports, report, score
from test_resolve import tables

RESOLVE = Path(__file__).parent / "resolve.cjs"
PROJECTS = {"rxjs": "src/", "zod": "src/", "effect": "src/"}  # packages that ship their sources, and where they are

pytestmark = [
    pytest.mark.judge,
    pytest.mark.long,
    pytest.mark.skipif(not (shutil.which("npm") and shutil.which("node")), reason="no npm"),
]


@pytest.fixture(scope="module")
def compiler(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(fetch("typescript", request.config.cache.mkdir("corpora")), tmp_path_factory.mktemp("typescript"))


def compiled(compiler: Path, root: Path, asked: list[tuple[str, str]]) -> list[Edge]:
    """Where the compiler finds what files import."""
    done = subprocess.run(
        ["node", str(RESOLVE), str(compiler), str(root)],
        input="\n".join(map(json.dumps, asked)),
        check=True,
        capture_output=True,
        text=True,
    )
    lines = done.stdout.splitlines()
    return [Edge(path, module, json.loads(line)) for (path, module), line in zip(asked, lines, strict=True)]


@pytest.mark.parametrize("project", PROJECTS)
def test_edges_agree_with_the_compiler(
    project: str, compiler: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    root = unpack(fetch(project, request.config.cache.mkdir("corpora")), tmp_path)
    rows = imports(root, "typescript", part=PROJECTS[project])
    ours = {Edge(path, row.module, row.resolved_path) for path in rows for row in rows[path]}
    result = score(ours, compiled(compiler, root, sorted({(edge.path, edge.said) for edge in ours})))
    report(project, result)
    assert result.f1 >= 0.99


def test_tables_say_what_the_compiler_says(compiler: Path, tmp_path: Path) -> None:
    (table,) = [table for table in tables() if table.name == "aliases and workspaces"]
    for path in table.paths():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(table.manifests.get(path, "export {}"))
    (tmp_path / "node_modules/@acme").mkdir(parents=True)
    for link, target in {"@acme/core": "core", "@acme/ui": "ui", "@acme/built": "built", "legacy": "legacy"}.items():
        (tmp_path / "node_modules" / link).symlink_to(tmp_path / "packages" / target)
    said = [
        (path, one.module, one.to)
        for path, imported in table.imports.items()
        for one in imported
        if path.endswith(".ts") and not one.unlike
    ]
    ours = {Edge(*edge) for edge in said}
    assert set(compiled(compiler, tmp_path, [(path, module) for path, module, _ in said])) == ours
