"""Judge: the TypeScript compiler, over published packages. Needs npm and node."""

import json
import shutil
import subprocess
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from fledgling.worker.extract import Extractor
from fledgling.worker.language import load_languages

OUTLINE = Path(__file__).parent / "outline.cjs"
COMPILER = "typescript@5.9.3"
PACKAGES = (COMPILER, "rxjs@7.8.2", "preact@10.29.8", "express@5.3.0", "zod@4.6.7")
MAX_BYTES = 1 << 20
INCOMPLETE = 0.1  # part of the files that the grammar may not read to the end, and say so

pytestmark = [pytest.mark.long, pytest.mark.skipif(not (shutil.which("npm") and shutil.which("node")), reason="no npm")]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The packages as npm publishes them, unpacked."""
    folder = tmp_path_factory.mktemp("packages")
    for name in PACKAGES:
        packed = subprocess.run(
            ["npm", "pack", "--silent", name], cwd=folder, check=True, capture_output=True, text=True
        )
        with tarfile.open(folder / packed.stdout.split()[-1]) as archive:
            archive.extractall(folder / name, filter="data")
    return {name: folder / name / "package" for name in PACKAGES}


@pytest.mark.parametrize("name", PACKAGES)
def test_scripts_agree_with_the_compiler(packages: dict[str, Path], name: str) -> None:
    languages = load_languages()
    extractor = Extractor(languages)
    paths = [
        path
        for path in sorted(packages[name].rglob("*"))
        if languages.detect(path.name, b"") in ("javascript", "typescript") and path.stat().st_size < MAX_BYTES
    ]
    outlines = subprocess.run(
        ["node", str(OUTLINE), str(packages[COMPILER])],
        input="\n".join(map(str, paths)),
        check=True,
        capture_output=True,
        text=True,
    )
    incomplete = 0
    for path, line in zip(paths, outlines.stdout.splitlines(), strict=True):
        found = extractor.extract(languages.detect(path.name, b"") or "", path.read_bytes())
        outline = json.loads(line)
        if outline is None or not found.complete:
            incomplete += 1
            continue
        definitions = Counter(
            (row.qualified_name, row.kind, row.line_start, row.line_end)
            for row in found.symbols
            if row.kind != "import"
        )
        imports = Counter(
            (row.line_number, row.module, name, row.alias)
            for row in found.imports
            for name in row.imported_names or (None,)
        )
        assert definitions == Counter(map(tuple, outline["definitions"])), path
        assert imports == Counter(map(tuple, outline["imports"])), path
        assert found.comment_lines <= set(outline["comments"]), path
    assert incomplete <= INCOMPLETE * len(paths)
