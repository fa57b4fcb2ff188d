"""Judge of who calls whom in Go, and of who uses which field: go/types, over sources of Debian. Needs apt and go."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from corpora import FetchError, fetch, unpack
from uses import SURE, calls, may_run, report, spoken, tally, uses

from fledgling.worker.graph.reasons import Confidence

ASKED = Path(__file__).parent / "calls.go"
ALONE = {"CGO_ENABLED": "0", "GO111MODULE": "off"}  # what other modules have is not there
# How many calls go/types sees at least, and which part of what is certain or likely it names: what implements the
# method of an interface is neither right nor wrong.
PROJECTS = {"cobra": (1_500, 0.99), "mux": (1_000, 0.99), "viper": (900, 0.99)}

pytestmark = [
    pytest.mark.judge,
    pytest.mark.long,
    pytest.mark.skipif(not (shutil.which("go") and shutil.which("apt-get")), reason="no go"),
]


@pytest.mark.parametrize("project", PROJECTS)
def test_calls_are_those_of_go_types(project: str, pytestconfig: pytest.Config, tmp_path: Path) -> None:
    least, precision = PROJECTS[project]
    try:
        root = unpack(fetch(project, Path(pytestconfig.cache.mkdir("corpora"))), tmp_path / project)
    except FetchError as error:
        pytest.skip(str(error))
    command = ["go", "run", str(ASKED), str(root)]
    said = subprocess.run(command, env=os.environ | ALONE, check=True, capture_output=True, text=True).stdout
    theirs, outside = spoken(json.loads(said)["calls"])
    found = tally(calls(root, "go"), theirs, outside, may_run(json.loads(said)["calls"]))
    report(project, found)
    assert found.sites > least
    assert found.found / found.sites >= 0.99
    assert found.precision(Confidence.CERTAIN) >= 0.999, found.wrong[Confidence.CERTAIN]
    assert found.precision(*SURE) >= precision, found.wrong[Confidence.LIKELY]
    theirs, outside = spoken(json.loads(said)["fields"])
    places = set().union(*theirs.values())  # else a call may mean the functions that a field holds
    ours = {use: {at: sure for at, sure in found.items() if at in places} for use, found in uses(root, "go").items()}
    found = tally(ours, theirs, outside)
    report(f"{project}, fields", found)
    assert found.sites > least // 3
    assert found.found / found.sites >= 0.97
    assert found.precision(Confidence.CERTAIN) >= 0.999, found.wrong[Confidence.CERTAIN]
