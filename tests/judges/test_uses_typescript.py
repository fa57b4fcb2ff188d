"""Judge of who calls whom in TypeScript and JavaScript: the compiler's checker, over two projects. Needs npm."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from corpora import FetchError, fetch, unpack
from uses import SURE, Call, calls, report, tally

from fledgling.worker.graph.reasons import Confidence

ASKED = Path(__file__).parent / "calls.cjs"

pytestmark = [
    pytest.mark.judge,
    pytest.mark.long,
    pytest.mark.skipif(not (shutil.which("npm") and shutil.which("node")), reason="no npm, no node"),
]


class Anything:
    """What a call may run where the checker does not know that."""

    def __contains__(self, target: object) -> bool:
        return True


@pytest.mark.parametrize(
    ("language", "project", "part", "least"),
    [("typescript", "rxjs", "src", 1_000), ("javascript", "handlebars", "lib", 500)],
)
def test_calls_are_those_of_the_checker(
    language: str, project: str, part: str, least: int, pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    cache = Path(pytestconfig.cache.mkdir("corpora"))
    try:
        compiler = unpack(fetch("typescript", cache), tmp_path / "compiler")
        root = unpack(fetch(project, cache), tmp_path / project) / part
    except FetchError as error:
        pytest.skip(str(error))
    command = ["node", str(ASKED), str(compiler), str(root), language]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    theirs, outside, further = {}, set(), {}
    for path, line, column, name, places, is_outside, others, is_open in said:
        call = Call(path, line, column, name)  # the sources are ASCII where a call stands
        further[call] = Anything() if is_open else {(to, at) for to, *lines in others for at in lines}
        if places:
            theirs[call] = {(to, at) for to, *lines in places for at in lines}
        elif is_outside:
            outside.add(call)
    found = tally(calls(root, language), theirs, outside, further)
    report(project, found)
    assert found.sites > least
    assert found.found / found.sites >= 0.95
    assert found.precision(Confidence.CERTAIN) >= 0.99, found.wrong[Confidence.CERTAIN]
    if language == "typescript":
        right = sum(found.right[each] for each in SURE) + found.further
        wrong = sum(len(found.wrong[each]) for each in SURE)
        assert right / (right + wrong) >= 0.98, found.wrong[Confidence.LIKELY]
        assert found.precision(*SURE) >= 0.94, found.wrong[Confidence.LIKELY]
