"""Judges: go/parser, and syn, the parser of Rust's macros (from the crates that orjson's sdist carries)."""

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from corpora import fetch, unpack

from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.languages.table import load_languages
from fledgling.worker.rows import Extraction

JUDGES = Path(__file__).parent
MAX_BYTES = 1 << 20
AGREEMENT = 0.999  # F1, and exact last lines
CARGO = """[package]
name = "outline"
version = "0.0.0"
edition = "2021"
[dependencies]
syn = { version = "3", features = ["full", "visit"] }
proc-macro2 = { version = "1", features = ["span-locations"] }
quote = "1"
"""
VENDORED = '[source.crates-io]\nreplace-with = "sdist"\n[source.sdist]\ndirectory = "%s"\n'

pytestmark = [pytest.mark.long, pytest.mark.judge]


def project(name: str, cache: pytest.Cache, folder: Path) -> Path:
    return unpack(fetch(name, cache.mkdir("corpora")), folder / name)


@pytest.mark.skipif(not shutil.which("go"), reason="no Go")
@pytest.mark.parametrize("name", ["cobra", "prometheus"])
def test_go_agrees_with_its_own_parser(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    judge("go", ".go", ["go", "run", str(JUDGES / "outline.go")], project(name, request.config.cache, tmp_path))


@pytest.mark.skipif(not shutil.which("cargo"), reason="no Rust")
def test_rust_agrees_with_syn(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    root = project("orjson", request.config.cache, tmp_path)
    crate = tmp_path / "judge"
    (crate / "src").mkdir(parents=True)
    (crate / ".cargo").mkdir()
    (crate / "Cargo.toml").write_text(CARGO)
    (crate / ".cargo" / "config.toml").write_text(VENDORED % (root / "include" / "cargo"))
    shutil.copy(JUDGES / "outline.rs", crate / "src" / "main.rs")
    subprocess.run(["cargo", "build", "--release", "--offline", "--quiet"], cwd=crate, check=True)
    judge("rust", ".rs", [str(crate / "target" / "release" / "outline")], root)


def judge(language: str, extension: str, command: list[str], root: Path) -> None:
    """Compare definitions (qualified name, kind, first line), their last lines, and imports."""
    extractor = Extractor(load_languages())
    paths = [path for path in sorted(root.rglob(f"*{extension}")) if path.stat().st_size < MAX_BYTES]
    outlines = subprocess.run(command, input="\n".join(map(str, paths)), check=True, capture_output=True, text=True)
    ours, theirs, both, exact, imports = 0, 0, 0, 0, 0
    for path, line in zip(paths, outlines.stdout.splitlines(), strict=True):
        outline = json.loads(line)
        if outline is None:
            continue
        found = extractor.extract(language, path.read_bytes())
        got = Counter(definitions(found))
        expected = Counter(tuple(row[:4]) for row in outline["definitions"])
        places = Counter(row[:3] for row in got.elements()), Counter(row[:3] for row in expected.elements())
        ours, theirs = ours + got.total(), theirs + expected.total()
        both, exact = both + (places[0] & places[1]).total(), exact + (got & expected).total()
        imports += sum((Counter(imported(found)) - Counter(map(tuple, outline["imports"]))).values())
    print(  # noqa: T201  (the table of agreement)
        f"{language}: {theirs} definitions, P {both / ours:.4f} R {both / theirs:.4f} last line {exact / both:.4f}"
    )
    assert 2 * both / (ours + theirs) >= AGREEMENT
    assert exact / both >= AGREEMENT
    assert imports == 0


def definitions(found: Extraction) -> Iterator[tuple[str, str, int, int]]:
    for row in found.symbols:
        if row.kind != "import":
            yield "".join(row.qualified_name.split()), row.kind, row.line_start, row.line_end


def imported(found: Extraction) -> Iterator[tuple[int, str, str | None, str | None]]:
    for row in found.imports:
        for name in row.imported_names or (None,):
            yield row.line_number, row.module, name, row.alias
