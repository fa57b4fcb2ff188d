"""Secret files are known by their names, copies of them too; and files that only sound like secrets stay readable."""

import os
import subprocess
import tomllib
from pathlib import Path

import pytest
from costing import costs_under
from running import fronted
from tables import every_row
from trees import make, walked

from fledgling.broker.protocol import render
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
    """Every file has a canary of its own, and no tool gives one of a secret."""
    named = {path: CANARY.format(number) for number, path in enumerate([*SECRET, *OPEN])}
    planted = {}
    for path, canary in named.items():
        try:
            make(tmp_path, **{path: f"token = {canary}\n"})
            planted[path] = canary
        except (FileExistsError, NotADirectoryError, IsADirectoryError):  # a file where another name has a directory
            continue
    assert len(planted) > 0.95 * len(named)
    async with fronted(tmp_path) as (front, indexing):
        await indexing.built()
        found, arguments = set(), {"query": "canary-of-"}
        while arguments:
            page = await front.call("search", arguments)
            found |= {file.path for file in page.files}
            arguments = page.next and page.next.arguments
        shown = {path.replace("\\", "\\\\") for path in planted if path in OPEN}
        assert found == shown
        for path in planted:
            if path in SECRET:
                refused = await front.call("read", {"path": path})
                assert "secret" in render.refusal(refused)
        skipped = (await front.call("explore", {})).summary.skipped
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
