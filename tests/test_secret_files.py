"""Secret files are known by their names, copies of them too; and files that only sound like secrets stay readable."""

import os
import subprocess
import tomllib
from pathlib import Path

import pytest
from asking import pages, structured, text
from conftest import connected
from costing import costs_under
from tables import every_row
from trees import make, walked

from fledgling.security.secret_files import is_secret

NAMES = tomllib.loads(Path(__file__).with_name("secret_files.toml").read_text())
SECRET, OPEN = ([path for paths in NAMES[kind].values() for path in paths] for kind in ("secret", "open"))
CANARY = "canary-of-{}-5b21"


@every_row("path", SECRET)
def test_a_secret_is_known_by_its_name(path):
    assert is_secret(path)


@every_row("path", OPEN)
def test_what_only_sounds_like_a_secret_is_not(path):
    assert not is_secret(path)


@pytest.mark.anyio
async def test_no_secret_is_shown_and_all_else_is(tmp_path):
    """Through a server: every file has a canary of its own, and no tool gives one of a secret."""
    named = {path: CANARY.format(number) for number, path in enumerate([*SECRET, *OPEN])}
    planted = {}
    for path, canary in named.items():
        try:
            make(tmp_path, **{path: f"token = {canary}\n"})
            planted[path] = canary
        except (FileExistsError, NotADirectoryError, IsADirectoryError):  # a file where another name has a directory
            continue
    assert len(planted) > 0.95 * len(named)
    async with connected(tmp_path) as client:
        found = [file["path"] for page in await pages(client, "search", query="canary-of-") for file in page["files"]]
        shown = {path.replace("\\", "\\\\") for path in planted if path in OPEN}
        assert set(found) == shown
        for path in planted:
            if path in SECRET:
                refused = await client.call_tool("read", {"path": path})
                assert refused.is_error
                assert "secret" in text(refused)
        skipped = (await structured(client, "explore"))["summary"]["skipped"]
        assert skipped == {"secret": len([path for path in planted if path in SECRET])}


@pytest.mark.parametrize("name", ["mirror", "a.git", "deep/er/store", ".GIT"])
def test_the_settings_of_a_bare_repository_are_secret_whatever_it_is_called(tmp_path, name):
    repository = tmp_path / "root" / name
    repository.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", "--bare", repository], check=True, env={"PATH": os.environ["PATH"]})
    make(repository, "config.bak", "hooks/config", "config.py")
    reasons = {entry.path.removeprefix(f"{name}/"): entry.skip_reason for entry in walked(tmp_path / "root").entries}
    assert (reasons["config"], reasons["config.bak"]) == ("secret", "secret")
    assert (reasons["config.py"], reasons["hooks/config"], reasons["HEAD"]) == (None, None, None)


HOSTILE = [
    "#" * 255,
    "." * 255,
    " " * 255,
    "-1" * 127,
    "_backup_" * 31,
    "(" * 255,
    " copy" * 51,
    ".bak" * 63,
    "~" * 255,
]


def test_names_cost_what_their_length_costs():
    costs_under(2, lambda: [is_secret(f"{name}/{name}/{name}") for name in HOSTILE for _ in range(200)])
