"""What a deployment is made of: a unit, an image, an action. They are read by the tools that will read them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import TESTS
from forking import fledgling

from fledgling.broker.protocol.http.connections import ENDING_SECONDS
from fledgling.broker.protocol.http.serving import CALLS_SECONDS
from fledgling.settings import KEYS

ROOT = TESTS.parent
PLACE = ROOT / "docs" / "deploying"
DIRECTIVES = (PLACE / "fledgling.service").read_text().splitlines()


SETTINGS = {f"--{key.replace('_', '-')}" for key in KEYS}
COMMANDS = ("serve", "doctor", "audit", "agents add", "agents revoke")


def options_of(command):
    """The long options of a command of ours, as its help and the settings have them."""
    shown = fledgling(*command.split(), "--help")
    assert shown.returncode == 0, shown.stderr
    return SETTINGS | {*re.findall(r"--[a-z-]+", shown.stdout)}


def commands(text):
    """Each call of fledgling in a text: its command, and the words behind that."""
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        for call in re.findall(r'(?:^|[/ ])fledgling"?((?: +[^|`#;&]+)?)', line):
            words = " ".join(call.split())
            for command in COMMANDS:
                if words.startswith(command):
                    yield command, words.removeprefix(command).split()


IMAGE = yaml.safe_load(re.search(r"^CMD (\[.*\])", (PLACE / "Dockerfile").read_text(), re.MULTILINE)[1])
TEXTS = {
    "the walk": (ROOT / "docs" / "deploying.md").read_text(),
    "the unit": (PLACE / "fledgling.service").read_text(),
    "the image": f"fledgling {' '.join(IMAGE)}",
    "the action": (ROOT / "action.yml").read_text(),
}


@pytest.mark.parametrize("name", TEXTS)
def test_options_are_those_of_the_command_line(name):
    found = [*commands(TEXTS[name])]
    assert found
    for command, words in found:
        given = {word for word in words if word.startswith("--")}
        assert given <= options_of(command), command


def test_the_unit_is_read_by_systemd(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd is not installed")
    unit = tmp_path / "fledgling.service"
    text = (PLACE / "fledgling.service").read_text().replace("/opt/fledgling/bin/fledgling", "/bin/true")
    unit.write_text(re.sub(r"(User|Group)=fledgling", r"\1=root", text))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_image_is_read_by_hadolint():
    if not (hadolint := shutil.which("hadolint", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")):
        pytest.skip("hadolint is not installed")
    done = subprocess.run([hadolint, PLACE / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_no_script_of_the_action_holds_what_others_write():
    """An expression inside a script is text of whoever gave it, run by a shell: values go through the environment."""
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert scripts
    assert not [script for script in scripts if "${{" in script]


def test_a_stop_takes_longer_than_what_is_waited_for():
    seconds = next(int(line.partition("=")[2]) for line in DIRECTIVES if line.startswith("TimeoutStopSec="))
    assert CALLS_SECONDS + ENDING_SECONDS < 10 < seconds
