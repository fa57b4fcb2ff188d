"""Judges: the TypeScript compiler's resolution, on sources and on a workspace of tests/resolution, and esbuild's.

Needs npm. esbuild leaves out an import of which nothing but types is used; its metafile does not say where that leads.
"""

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from corpora import fetch, unpack
from graphs import Edge, imports, report, score
from test_resolve import tables

RESOLVE = Path(__file__).parent / "resolve.cjs"
PROJECTS = {"rxjs": "src/", "zod": "src/", "effect": "src/"}  # packages that ship their sources, and where they are
BUNDLED = [
    ("javascript", "express", "lib/"),
    ("javascript", "preact", "src/"),
    *(("typescript", project, part) for project, part in PROJECTS.items()),
]
ESBUILD = "esbuild@0.25.12"

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


@pytest.fixture(scope="module")
def esbuild(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("esbuild")
    subprocess.run(["npm", "install", "--silent", "--prefix", folder, ESBUILD], check=True)
    return folder / "node_modules/.bin/esbuild"


def bundled(esbuild: Path, root: Path, paths: Iterable[str]) -> list[Edge]:
    """Where the imports lead that esbuild follows."""
    options = ["--bundle", "--packages=external", "--platform=node", "--format=esm", "--splitting"]
    command = [str(esbuild), *paths, *options, "--metafile=meta.json", "--outdir=bundled"]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    inputs = json.loads((root / "meta.json").read_text())["inputs"]
    return [
        Edge(path, found["original"], found["path"])
        for path in inputs
        for found in inputs[path]["imports"]
        if "original" in found
    ]


@pytest.mark.parametrize(("language", "project", "part"), BUNDLED)
def test_edges_agree_with_esbuild(
    language: str, project: str, part: str, esbuild: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    root = unpack(fetch(project, request.config.cache.mkdir("corpora")), tmp_path)
    rows = imports(root, language, part=part)
    theirs = bundled(esbuild, root, [path for path in rows if not path.endswith(".d.ts")])
    followed = {(edge.path, edge.said) for edge in theirs}
    ours = [Edge(path, row.module, row.resolved_path) for path in rows for row in rows[path]]
    result = score([edge for edge in ours if (edge.path, edge.said) in followed], theirs)
    report(f"{project} by esbuild", result)
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
