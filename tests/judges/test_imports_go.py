"""Judge: `go list`, without network, on a Go source of Debian. Needs go, and apt-get source."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from corpora import FetchError, fetch, unpack
from graphs import Edge, imports, report, score

OFFLINE = {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOSUMDB": "off", "GO111MODULE": "on"}

pytestmark = [
    pytest.mark.judge,
    pytest.mark.long,
    pytest.mark.skipif(not (shutil.which("go") and shutil.which("apt-get")), reason="no go"),
]


def directories(root: Path) -> dict[str, str]:
    """The directory of each package of the project, by import path."""
    command = ["go", "list", "-e", "-deps", "-test", "-json=ImportPath,Dir,Standard", "./..."]
    text = subprocess.run(
        command, cwd=root, env=os.environ | OFFLINE, check=False, capture_output=True, text=True
    ).stdout.lstrip()
    found = {}
    while text:
        package, end = json.JSONDecoder().raw_decode(text)
        if package.get("Dir", "").startswith(str(root)):
            found[package["ImportPath"].partition(" ")[0]] = str(Path(package["Dir"]).relative_to(root))
        text = text[end:].lstrip()
    return found


def test_edges_agree_with_go_list(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    try:
        root = unpack(fetch("hugo", request.config.cache.mkdir("corpora")), tmp_path)
    except FetchError as error:
        pytest.skip(str(error))
    known = directories(root)
    rows = imports(root, "go")
    ours = [
        Edge(path, row.line_number, row.resolved_path and str(Path(row.resolved_path).parent))
        for path in rows
        for row in rows[path]
    ]
    result = score(ours, [Edge(path, row.line_number, known.get(row.module)) for path in rows for row in rows[path]])
    report("hugo", result)
    assert result.f1 >= 0.95
