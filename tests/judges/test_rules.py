"""Judges of languages without a grammar: graphql-js, solidity-parser and Vue's compiler, on packages of npm. Needs npm.

Others were compared once: docs/decisions/0029-rules-instead-of-grammars.md.
"""

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.languages.table import load_languages
from fledgling.worker.languages.vue.inner import inner

HERE = Path(__file__).parent
PARSERS = ("graphql@16.9.0", "@solidity-parser/parser@0.20.2", "@vue/compiler-sfc@3.5.13")
PROJECTS = ("@octokit/graphql-schema@15.26.1", "@openzeppelin/contracts@5.4.0", "primevue@3.53.1")
AGREEMENT = 0.999  # F1 of name and first line; measured: 1.000

pytestmark = [
    pytest.mark.long,
    pytest.mark.judge,
    pytest.mark.skipif(not all(map(shutil.which, ("npm", "node"))), reason="no parser"),
]


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judge")
    command = ["npm", "install", "--silent", "--ignore-scripts", "--legacy-peer-deps", *PARSERS, *PROJECTS]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "node_modules"


def said_of(modules: Path, paths: list[Path]) -> list[list[object] | None]:
    command = ["node", str(HERE / "rules.cjs"), str(modules)]
    done = subprocess.run(command, input="\n".join(map(str, paths)), check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("language", "project", "ending"),
    [("graphql", "@octokit/graphql-schema", ".graphql"), ("solidity", "@openzeppelin/contracts", ".sol")],
)
def test_rules_agree_with_the_parser_of_the_language(modules: Path, language: str, project: str, ending: str) -> None:
    paths = sorted((modules / project).rglob(f"*{ending}"))
    extractor = Extractor(load_languages())
    ours, theirs = Counter[tuple[object, ...]](), Counter[tuple[object, ...]]()
    for path, said in zip(paths, said_of(modules, paths), strict=True):
        if said is not None:
            found = extractor.extract(language, path.read_bytes())
            ours.update(
                (path, row.name, row.line_start) for row in found.symbols if row.kind not in ("import", "schema")
            )
            theirs.update((path, *row) for row in said)  # type: ignore[misc]
    f1 = 2 * (ours & theirs).total() / (ours.total() + theirs.total())
    print(f"\n{language}: {theirs.total()} definitions in {len(paths)} files, F1 {f1:.4f}")  # noqa: T201
    assert theirs.total() > 1000
    assert f1 >= AGREEMENT, [*(ours - theirs), *(theirs - ours)][:10]


def test_scripts_are_those_of_vue_s_compiler(modules: Path) -> None:
    paths = sorted((modules / "primevue").rglob("*.vue"))
    for path, said in zip(paths, said_of(modules, paths), strict=True):
        script = "".join(inner(path.read_bytes()).text.decode().split())
        assert said is None or script == "".join("".join(map(str, said)).split()), path
    assert len(paths) > 200
