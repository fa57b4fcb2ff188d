"""Judge: gcc's preprocessor with the include paths of the project's own build, each include asked on its own."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from corpora import FetchError, fetch, unpack
from graphs import Edge, imports, report, score

# A part of the project, and the directories that its Makefile names.
PARTS = {
    "src/": ["deps/hiredis", "deps/linenoise", "deps/lua/src", "deps/hdr_histogram"],
    "deps/lua/": ["deps/lua/src"],
    "deps/hiredis/": ["deps/hiredis"],
    "deps/jemalloc/": ["deps/jemalloc/include", "deps/jemalloc/test/include"],
}

pytestmark = [
    pytest.mark.judge,
    pytest.mark.long,
    pytest.mark.skipif(not (shutil.which("gcc") and shutil.which("apt-get")), reason="no gcc"),
]


@pytest.mark.parametrize("part", PARTS)
def test_edges_agree_with_gcc(part: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    try:
        root = unpack(fetch("redis", request.config.cache.mkdir("corpora")), tmp_path)
    except FetchError as error:
        pytest.skip(str(error))

    english = os.environ | {"LC_ALL": "C"}

    @cache
    def included(directory: str, line: str) -> str | None:
        flags = [f"-I{root / folder}" for folder in PARTS[part]]
        command = ["gcc", "-x", "c", "-E", "-H", "-o", os.devnull, *flags, "-"]
        done = subprocess.run(
            command, cwd=root / directory, input=line, check=False, capture_output=True, text=True, env=english
        )
        first = next((found[2:] for found in done.stderr.splitlines() if found.startswith(". ")), None)
        place = Path(os.path.normpath(root / directory / first)) if first else None
        return str(place.relative_to(root)) if place and place.is_relative_to(root) else None

    rows = imports(root, "c", part=part)
    ours = [Edge(path, row.line_number, row.resolved_path) for path in rows for row in rows[path]]
    theirs = []
    for path in rows:
        for row in rows[path]:
            line = f'#include "{row.module}"\n' if row.is_relative else f"#include <{row.module}>\n"
            theirs.append(Edge(path, row.line_number, included(os.path.dirname(path), line)))
    result = score(ours, theirs)
    report(f"redis {part}", result)
    assert result.f1 >= 0.95
