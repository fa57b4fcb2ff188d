"""Judge of who calls whom in Java: javac, over sources of Debian. Needs apt and a JDK."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from corpora import FetchError, fetch, unpack
from uses import SURE, calls, report, spoken, tally

from fledgling.worker.graph.reasons import Confidence

ASKED = Path(__file__).parent / "calls.java"
SOURCES = "src/main/java"
# Which part of what is certain or likely javac names.
PROJECTS = {"commons-collections": 0.97, "commons-lang": 0.97, "gson": 0.97, "jackson-core": 0.97, "jsoup": 0.97}

pytestmark = [
    pytest.mark.judge,
    pytest.mark.long,
    pytest.mark.skipif(not (shutil.which("javac") and shutil.which("apt-get")), reason="no javac"),
]


@pytest.mark.parametrize("project", PROJECTS)
def test_calls_are_those_of_javac(project: str, pytestconfig: pytest.Config, tmp_path: Path) -> None:
    try:
        root = unpack(fetch(project, Path(pytestconfig.cache.mkdir("corpora"))), tmp_path / project)
    except FetchError as error:
        pytest.skip(str(error))
    root = root / project / SOURCES if (root / project / SOURCES).exists() else root / SOURCES
    said = subprocess.run(["java", str(ASKED), str(root)], check=True, capture_output=True, text=True).stdout
    theirs, outside = spoken(json.loads(said))
    found = tally(calls(root, "java"), theirs, outside)
    report(project, found)
    assert found.sites > 1_700
    assert found.found / found.sites >= 0.97
    assert found.precision(Confidence.CERTAIN) >= 0.998, found.wrong[Confidence.CERTAIN]
    assert found.precision(*SURE) >= PROJECTS[project], found.wrong[Confidence.LIKELY]
