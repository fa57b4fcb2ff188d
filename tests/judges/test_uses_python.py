"""Judges of who calls whom in Python: PyCG's micro-benchmark, and what click's own tests run. Needs pip."""

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from corpora import fetch, unpack
from uses import SURE, Named, calls

from fledgling.worker.graph.reasons import Confidence

HERE = Path(__file__).parent
LEAST_F1 = 0.98
ODD = {("main", "<builtin>.eval")}  # the benchmark has that edge the other way round
LEAST_FOUND = 0.93  # of the calls that were seen
LEAST_CONFIRMED = 0.99  # of what is certain and ran
NEAR = 6  # lines of one call: Python names the one where the call begins, or its last argument
SPECIAL = re.compile(r"__(?!init__|call__)\w+__")

pytestmark = [pytest.mark.judge, pytest.mark.long]


@pytest.fixture(scope="module")
def cache(pytestconfig: pytest.Config) -> Path:
    return Path(pytestconfig.cache.mkdir("corpora"))


def test_call_graphs_of_small_programs(cache: Path, tmp_path: Path) -> None:
    programs = sorted((unpack(fetch("pycg", cache), tmp_path) / "micro-benchmark").rglob("callgraph.json"))
    assert len(programs) > 100
    both = ours = theirs = 0
    wrong = []
    for said in programs:
        expected = {(caller, callee) for caller, callees in json.loads(said.read_text()).items() for callee in callees}
        found = Named(said.parent).edges()
        both += len(expected & found.keys())
        ours += len(found)
        theirs += len(expected)
        sure = {edge for edge, confidence in found.items() if confidence == Confidence.CERTAIN}
        wrong += [(said.parent.name, edge) for edge in sure - expected - ODD]
    assert 2 * both / (ours + theirs) >= LEAST_F1
    assert not wrong


@pytest.fixture(scope="module")
def click(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    """The sources of click, and what its tests run of them."""
    root = unpack(fetch("click", cache), tmp_path_factory.mktemp("click"))
    seen = tmp_path_factory.mktemp("seen") / "calls.json"
    environment = {
        **os.environ, "CALLS_ROOT": str(root / "src"), "CALLS_OUT": str(seen), "PYTHONPATH": f"{HERE}:{root / 'src'}",
    }  # fmt: skip
    plain = ["-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts=", "-o", "filterwarnings="]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "traced", *plain, "tests"]
    done = subprocess.run(command, cwd=root, env=environment, check=False, capture_output=True, text=True)
    assert seen.exists(), done.stdout[-2000:] + done.stderr[-2000:]
    return root / "src", json.loads(seen.read_text())


def functions(root: Path) -> dict[tuple[str, int], bool]:
    """The functions of a project by file and first line, and whether calls name them: not properties, generators."""
    found = {}
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                said = " ".join(map(ast.unparse, node.decorator_list))
                yields = any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node))
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                is_named = "property" not in said and ".setter" not in said and not yields
                found[str(path.relative_to(root)), first] = is_named and not SPECIAL.fullmatch(node.name)
    return found


def test_calls_that_run_are_found_and_certain_ones_do_run(click: tuple[Path, dict]) -> None:
    root, seen = click
    called = {place for place, is_named in functions(root).items() if is_named}
    ran = {tuple(place) for place in seen["ran"]}
    traced = defaultdict(set)
    for path, line, *target, _ in seen["calls"]:
        traced[path, line].add(tuple(target))
    explicit = {(path, line, (to, first)) for path, line, to, first, _ in seen["calls"] if (to, first) in called}
    assert len(explicit) > 400
    ours = defaultdict[tuple[str, int], dict](dict)
    for call, targets in calls(root, "python").items():
        for target, sure in targets.items():
            ours[call.path, call.line][target] = min(sure, ours[call.path, call.line].get(target, sure))
    found = Counter(
        any(ours[path, near].get(target) in SURE for near in range(line - NEAR, line + NEAR + 1))
        for path, line, target in explicit
    )
    assert found[True] / found.total() >= LEAST_FOUND
    confirmed = Counter(
        any(target in traced[path, near] for near in range(line - NEAR, line + NEAR + 1))
        for (path, line), targets in ours.items()
        if (path, line) in ran
        for target, sure in targets.items()
        if sure == Confidence.CERTAIN and target in called
    )
    assert confirmed.total() > 200
    assert confirmed[True] / confirmed.total() >= LEAST_CONFIRMED
