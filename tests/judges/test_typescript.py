"""Judge: the TypeScript compiler, over published packages and its own sources. Needs npm, and for those apt."""

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from corpora import FetchError, fetch, unpack

from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.languages.table import load_languages
from fledgling.worker.rows import Extraction

OUTLINE = Path(__file__).parent / "outline.cjs"
LANGUAGES = load_languages()
F1 = {  # what definitions reach at least, with every name, kind, owner, first and last line
    "express": 1.0,
    "preact": 1.0,
    "rxjs": 1.0,
    "typescript-src": 0.999,  # fields of classes that have no name, in functions
    "vitest": 0.997,  # likewise
    "vitest-expect": 1.0,
    "vitest-runner": 1.0,
    "zod": 0.99,
}
SOURCES = {"typescript-src": "src"}  # its tests are two hundred megabytes of what was compiled

Unpacked = Callable[[str], Path]
pytestmark = [
    pytest.mark.judge,
    pytest.mark.long,
    pytest.mark.skipif(not (shutil.which("npm") and shutil.which("node")), reason="no npm"),
]


@pytest.fixture(scope="module")
def unpacked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Unpacked:
    """The folder of a project."""
    cache = request.config.cache.mkdir("corpora")
    return lambda name: unpack(fetch(name, cache), tmp_path_factory.mktemp(name))


@pytest.mark.parametrize("project", F1)
def test_scripts_agree_with_the_compiler(unpacked: Unpacked, project: str) -> None:
    try:
        root = unpacked(project) / SOURCES.get(project, "")
    except FetchError as error:
        pytest.skip(str(error))
    paths = [path for path in sorted(root.rglob("*")) if path.is_file() and is_script(path)]
    outlines = subprocess.run(
        ["node", str(OUTLINE), str(unpacked("typescript"))],
        input="\n".join(map(str, paths)),
        check=True,
        capture_output=True,
        text=True,
    )
    extractor = Extractor(LANGUAGES)
    both: Counter[str] = Counter()
    ours: Counter[str] = Counter()
    theirs: Counter[str] = Counter()
    for path, line in zip(paths, outlines.stdout.splitlines(), strict=True):
        if outline := json.loads(line):
            found = extractor.extract(LANGUAGES.detect(path.name, b"") or "", path.read_bytes())
            for kind, rows in [("definitions", definitions(found)), ("imports", imports(found))]:
                said, expected = Counter(rows), Counter(map(tuple, outline[kind]))
                both[kind] += (said & expected).total()
                ours[kind] += said.total()
                theirs[kind] += expected.total()
            assert found.comment_lines <= set(outline["comments"]), path
    f1 = {kind: 2 * both[kind] / (ours[kind] + theirs[kind]) for kind in theirs}
    print(project, *(f"{kind} {theirs[kind]:,} F1 {value:.4f}" for kind, value in f1.items()), sep=", ")  # noqa: T201
    assert f1["definitions"] >= F1[project]
    assert f1["imports"] == 1


def is_script(path: Path) -> bool:
    return LANGUAGES.detect(path.name, b"") in ("javascript", "typescript")


def definitions(found: Extraction) -> Iterator[tuple[str, str, int, int]]:
    """(name with owners, kind, first line, last line) of definitions and exports."""
    return (
        (row.qualified_name, row.kind, row.line_start, row.line_end) for row in found.symbols if row.kind != "import"
    )


def imports(found: Extraction) -> Iterator[tuple[int, str, str | None, str | None]]:
    """(line, module, name, alias) of everything imported."""
    return (
        (row.line_number, row.module, name, row.alias)
        for row in found.imports
        for name in row.imported_names or (None,)
    )
