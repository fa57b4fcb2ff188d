"""Judge: javac, on a Java source of Debian: the class that each import means, and the file that javac has it from."""

import shutil
import subprocess
from pathlib import Path

import pytest
from corpora import FetchError, fetch, unpack
from graphs import Edge, imports, report, score

TARGETS = Path(__file__).parent / "ImportTargets.java"
EXPORTED = "jdk.compiler/com.sun.tools.javac.code=ALL-UNNAMED"
NO_CLASSES = ("module-info.java", "package-info.java")

pytestmark = [
    pytest.mark.judge,
    pytest.mark.long,
    pytest.mark.skipif(not (shutil.which("javac") and shutil.which("apt-get")), reason="no javac"),
]


def test_edges_agree_with_javac(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    try:
        root = unpack(fetch("jackson-databind", request.config.cache.mkdir("corpora")), tmp_path)
    except FetchError as error:
        pytest.skip(str(error))
    rows = imports(root, "java", part="src/")
    paths = [path for path in rows if not path.endswith(NO_CLASSES)]
    (tmp_path / "paths").write_text("".join(f"{root / path}\n" for path in paths))
    command = ["java", "--add-exports", EXPORTED, str(TARGETS), str(tmp_path / "paths")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    theirs, packages = [], set()
    for line in done.stdout.splitlines():
        file, number, kind, _, source = line.split("\t")
        path = str(Path(file).relative_to(root))
        if kind == "PACKAGE":  # `import a.*` names no file
            packages.add((path, int(number)))
        elif Path(source).is_relative_to(root):  # a class of the JDK has only a name
            theirs.append(Edge(path, int(number), str(Path(source).relative_to(root))))
    ours = [Edge(path, row.line_number, row.resolved_path) for path in paths for row in rows[path]]
    result = score([edge for edge in ours if (edge.path, edge.said) not in packages], theirs)
    report("jackson-databind", result)
    assert result.f1 >= 0.95
