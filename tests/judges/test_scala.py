"""Judge: scalameta, over the sources of Scala's own compiler and library. Needs apt, npm and node.

What differs: members of an early initializer, `extends { val a = 1 } with B`, and files that are not parsed whole.
"""

import json
import shutil
import subprocess
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from corpora import fetch, unpack

from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.languages.table import load_languages
from fledgling.worker.rows import Extraction

HERE = Path(__file__).parent
SCALAMETA = "scalameta-parsers@4.14.2"
AGREEMENT = 0.985  # F1 of qualified name, kind and first line
LAST_LINES = 0.999  # of those that agree

pytestmark = [
    pytest.mark.long,
    pytest.mark.judge,
    pytest.mark.skipif(not all(map(shutil.which, ("apt-get", "npm", "node"))), reason="no parser"),
]


def test_scala_agrees_with_scalameta(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    packed = subprocess.run(
        ["npm", "pack", "--silent", SCALAMETA], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    with tarfile.open(tmp_path / packed.stdout.split()[-1]) as archive:
        archive.extractall(tmp_path / "scalameta", filter="data")
    root = unpack(fetch("scala", request.config.cache.mkdir("corpora")), tmp_path / "scala") / "src"
    paths = sorted(path for path in root.rglob("*.scala") if path.is_file())
    command = ["node", str(HERE / "scala.cjs"), str(tmp_path / "scalameta" / "package")]
    said = subprocess.run(command, input="\n".join(map(str, paths)), check=True, capture_output=True, text=True).stdout
    extractor = Extractor(load_languages())
    ours, theirs, whole = Counter[tuple[object, ...]](), Counter[tuple[object, ...]](), 0
    imports = Counter[str]()
    for path, line in zip(paths, said.splitlines(), strict=True):
        if (outline := json.loads(line)) is None:
            continue
        found = extractor.extract("scala", path.read_bytes())
        mine, judged = Counter(definitions(found)), Counter(tuple(row) for row in outline["definitions"])
        whole += (mine & judged).total()
        ours.update((path, *row[:3]) for row in mine.elements())
        theirs.update((path, *row[:3]) for row in judged.elements())
        modules = {(row.line_number, row.module) for row in found.imports}
        expected = {(number, module) for number, module, _ in outline["imports"]}
        imports.update(wrong=len(modules - expected), missing=len(expected - modules), right=len(modules & expected))
    both = (ours & theirs).total()
    f1 = 2 * both / (ours.total() + theirs.total())
    print(f"\nscala: {theirs.total()} definitions, F1 {f1:.4f}, last line {whole / both:.4f}, imports {dict(imports)}")  # noqa: T201
    assert f1 >= AGREEMENT
    assert whole / both >= LAST_LINES
    assert imports["wrong"] + imports["missing"] <= imports["right"] / 500


def definitions(found: Extraction) -> Iterator[tuple[str, str, int, int]]:
    for row in found.symbols:
        if row.kind not in ("import", "export", "module"):
            yield row.qualified_name, row.kind, row.line_start, row.line_end
