"""The corpus of attacks, put to a server of shards: what any other server stops, this one stops."""

import asyncio
import sys

import pytest

from fledgling.security import profile as profiles
from fledgling.security.audit import run

pytestmark = pytest.mark.long

# A server of the one project that an audit plants, found by the words at the end of its command line.
SERVING = """
import subprocess, sys, tempfile
root, profile = sys.argv[2], sys.argv[4]
out = tempfile.mkdtemp(prefix="fledgling-shards-", dir="{out}")
fleet = [sys.executable, "-I", "-B", "-m", "fledgling", "fleet"]
for command in (["shard", f"project={{root}}", "--out", out], ["bundle", out]):
    subprocess.run([*fleet, *command, "--profile", profile], check=True, stdout=sys.stderr)
sys.argv = ["fledgling", "fleet", "serve", out, "--profile", profile]
from fledgling.broker.cli.main import main
main()
"""
ABSENT = ("indexer", "extractor", "follower")  # processes that such a server has none of


def test_what_any_server_stops_is_stopped(tmp_path_factory: pytest.TempPathFactory) -> None:
    serving = SERVING.format(out=tmp_path_factory.mktemp("shards"))
    command = (sys.executable, "-I", "-B", "-c", serving)
    core = profiles.load("fledgling-core")
    found = asyncio.run(run.audit({"fledgling-core": core}, None, command, above="project/"))
    assert [row for row in found.results if row.status == "through"] == []
    unproven = [row for row in found.results if row.status == "unproven" and not row.name.endswith(ABSENT)]
    assert unproven == []
    served = [row for row in found.results if row.project]
    assert sum(row.status == "held" for row in served) > 1000
