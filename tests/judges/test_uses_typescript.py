"""Judge of who calls whom in TypeScript: the compiler's checker, over the sources that rxjs publishes. Needs npm."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from corpora import FetchError, fetch, unpack
from uses import Call, calls, tally

from fledgling.worker.graph.reasons import Confidence

ASKED = Path(__file__).parent / "calls.cjs"

pytestmark = [
    pytest.mark.judge,
    pytest.mark.long,
    pytest.mark.skipif(not (shutil.which("npm") and shutil.which("node")), reason="no npm, no node"),
]


def test_calls_are_those_of_the_checker(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    cache = Path(pytestconfig.cache.mkdir("corpora"))
    try:
        compiler = unpack(fetch("typescript", cache), tmp_path / "compiler")
        root = unpack(fetch("rxjs", cache), tmp_path / "rxjs") / "src"
    except FetchError as error:
        pytest.skip(str(error))
    command = ["node", str(ASKED), str(compiler), str(root)]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    theirs, outside = {}, set()
    for path, line, column, name, places, is_outside in said:
        call = Call(path, line, column, name)  # the sources are ASCII where a call stands
        if places:
            theirs[call] = {(to, at) for to, *lines in places for at in lines}
        elif is_outside:
            outside.add(call)
    found = tally(calls(root, "typescript"), theirs, outside)
    assert found.sites > 1_000
    assert found.found / found.sites >= 0.95
    assert found.precision(Confidence.CERTAIN) >= 0.99, found.wrong[Confidence.CERTAIN]
