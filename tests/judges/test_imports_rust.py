"""Judge: cargo, which knows the roots of crates, and rustc, which knows the files of each, on sources of Debian."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from corpora import FetchError, fetch, unpack
from graphs import imports

READ = re.compile(r"^(\S+\.rs):", re.MULTILINE)

pytestmark = [
    pytest.mark.judge,
    pytest.mark.long,
    pytest.mark.skipif(not (shutil.which("cargo") and shutil.which("apt-get")), reason="no cargo"),
]


def test_modules_lead_to_the_files_that_rustc_reads(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    try:
        root = unpack(fetch("ripgrep", request.config.cache.mkdir("corpora")), tmp_path)
    except FetchError as error:
        pytest.skip(str(error))
    command = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
    packages = json.loads(subprocess.run(command, cwd=root, check=True, capture_output=True).stdout)["packages"]
    leads = {
        path: [row.resolved_path for row in rows if row.is_relative and row.resolved_path]
        for path, rows in imports(root, "rust").items()
    }
    judged, missing = 0, []
    for target in (target for package in packages for target in package["targets"]):
        said = tmp_path / "said.d"
        command = ["rustc", "--edition", target["edition"], f"--emit=dep-info={said}", target["src_path"]]
        subprocess.run(command, cwd=root, check=False, capture_output=True)  # no dependency is there: it ends in errors
        theirs = {str((root / path).resolve().relative_to(root)) for path in READ.findall(said.read_text())}
        todo, ours = [str(Path(target["src_path"]).relative_to(root))], set[str]()
        while todo:
            if (path := todo.pop()) not in ours:
                ours.add(path)
                todo += leads.get(path, ())
        judged += len(theirs)
        missing += sorted(theirs - ours)
    print(f"\nripgrep: {judged} files of crates, {len(missing)} missing")  # noqa: T201
    assert judged > 20  # Debian packages the crate `rg`, without the others of its workspace
    assert missing == []
