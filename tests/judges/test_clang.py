"""Judge: libclang, over sources of Debian. Needs apt-get source, gcc for the headers, and the package `libclang`.

Only files that clang reads without an error count, as headers of other systems and of libraries that are not installed
are not there; the share of them, and of all definitions in them, is printed and has a floor. What `#if` leaves out for
this machine is not judged. What they find differently, for what reason:

- Macros that look like code, `BTRFS_SETGET_FUNCS(...)`, `TEST(A, B) {}`: Fledgling reads what is written.
- K&R definitions, and a body that begins in `#if` and ends in `#else`, which the grammar does not hold together.
"""

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from corpora import FetchError, fetch, unpack

from fledgling.worker.extracting.extract import Extractor
from fledgling.worker.languages.table import load_languages

pytest.importorskip("clang.cindex")
from outline_clang import Outline

LAST_LINE = 0.99
MAX_BYTES = 1 << 20
EXTENSIONS = {"c": (".c", ".h"), "cpp": (".cc", ".cpp", ".h")}
STANDARD = {"c": "gnu11", "cpp": "c++20"}
FLOORS = [  # F1 on kind, name, parent and first line; the share of definitions that clang can judge
    ("c", "lua", 0.999, 0.9),
    ("c", "zlib", 0.97, 0.8),
    ("c", "redis", 0.99, 0.1),
    ("c", "btrfs-progs", 0.99, 0.1),
    ("cpp", "leveldb", 0.99, 0.4),  # its tests need headers that are not there
    ("cpp", "re2", 0.98, 0.9),
]

pytestmark = [
    pytest.mark.long,
    pytest.mark.judge,
    pytest.mark.skipif(not (shutil.which("gcc") and shutil.which("apt-get")), reason="no gcc"),
]


def arguments(language: str, root: Path) -> list[str]:
    """Of the compiler: gcc's own paths, and all folders with headers, as no build has made its configuration."""
    name = {"c": "c", "cpp": "c++"}[language]
    command = ["gcc", "-x", name, "-E", "-v", "/dev/null"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    paths = said.partition("#include <...> search starts here:\n")[2].partition("End of")[0].split()
    folders = {path.parent for path in root.rglob("*.h")}
    folders |= {above for folder in folders for above in folder.parents if root in above.parents}
    included = [part for folder in sorted({root} | folders) for part in ("-I", str(folder))]
    system = [part for path in paths for part in ("-isystem", path)]
    return ["-x", name, f"-std={STANDARD[language]}", "-w", "-ferror-limit=0", *included, *system]


@pytest.mark.parametrize(("language", "project", "least", "share"), FLOORS)
def test_definitions_are_those_of_clang(
    language: str, project: str, least: float, share: float, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    try:
        root = unpack(fetch(project, request.config.cache.mkdir("corpora")), tmp_path)
    except FetchError as error:
        pytest.skip(str(error))
    extractor, options = Extractor(load_languages()), arguments(language, root)
    ours: Counter[tuple[object, ...]] = Counter()
    theirs: Counter[tuple[object, ...]] = Counter()
    files = read = exact = everything = judged = 0
    for path in sorted(root.rglob("*")):
        if path.suffix not in EXTENSIONS[language] or not path.is_file() or path.stat().st_size >= MAX_BYTES:
            continue
        symbols = [row for row in extractor.extract(language, path.read_bytes()).symbols if row.kind != "import"]
        outline = Outline(path, options)
        files, everything = files + 1, everything + len(symbols)
        if outline.errors:
            continue
        read, judged = read + 1, judged + len(symbols)
        left_out = {line for first, last in outline.skipped for line in range(first, last + 1)}
        found = {
            (row.kind, "".join(row.name.split()), row.parent_name or "", row.line_start, row.line_end)
            for row in symbols
            if row.line_start not in left_out
        }
        ours.update({(path, *row[:4]) for row in found})
        theirs.update({(path, *row[:4]) for row in outline.rows})
        exact += len({row for row in found if row in outline.rows})
    both = (ours & theirs).total()
    f1, last_line = 2 * both / (ours.total() + theirs.total()), exact / both
    print(  # noqa: T201
        f"\n{project}: {read} of {files} files, {judged / everything:.3f} of definitions, {theirs.total():,} judged, "
        f"P {both / ours.total():.4f} R {both / theirs.total():.4f} F1 {f1:.4f}, last line {last_line:.4f}"
    )
    assert f1 >= least
    assert last_line >= LAST_LINE
    assert judged / everything >= share
