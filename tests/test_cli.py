"""The command line, run as a user runs it: one table of arguments, exit codes and what is printed."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent
CASES = {case["name"]: case for case in tomllib.loads((TESTS / "cli.toml").read_text())["case"]}
PROFILES = {
    "hasty.sql": "SET extends = 'fledgling-analyst';\nSET query_timeout = 0.3;\n",
    "copies.sql": "SET tools = 'explore';\n\nCOPY files TO 'x';\n",
    "reads.sql": "SET tools = 'explore';\nCREATE VIEW files AS SELECT * FROM read_text('/etc/hostname');\n",
    "adds.sql": "SET tools = 'explore';\nCREATE VIEW files AS SELECT *, 1 AS extra FROM files;\n",
}


def fledgling(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run one command away from any project, with no settings of the user who runs the tests."""
    command = [sys.executable, "-I", "-B", "-m", "fledgling", *arguments]
    clean = {"PATH": os.environ["PATH"], "HOME": "/nowhere", **environment}
    return subprocess.run(command, cwd="/", env=clean, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("profiles")
    for name, text in PROFILES.items():
        (directory / name).write_text(text)
    return directory


@pytest.mark.parametrize("name", CASES)
def test_command(name: str, project: Path, profiles: Path) -> None:
    case: dict[str, Any] = CASES[name]
    arguments = [argument.replace("{root}", str(project)).replace("{tmp}", str(profiles)) for argument in case["run"]]
    done = fledgling(*arguments, **case.get("env", {}))
    assert done.returncode == case["code"], done.stdout + done.stderr
    for expected in case.get("out", ()):
        assert expected in done.stdout
    for expected in case.get("err", ()):
        assert expected in done.stderr
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_project_file_narrows_and_is_told(project: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(): ...\n")
    (tmp_path / "b.py").write_text("def g(): ...\n")
    (tmp_path / "fledgling.yaml").write_text(
        'exclude_patterns: ["b.py"]\nprofile: fledgling-analyst\nmax_files: 9000000\n'
    )
    shown = fledgling("config", "show", "--root", str(tmp_path))
    assert "narrowed by fledgling.yaml" in shown.stdout
    assert "profile is not a project's to set" in shown.stderr
    explored = fledgling("explore", "--root", str(tmp_path))
    assert "a.py" in explored.stdout
    assert "[Not indexed here: b.py (excluded).]" in explored.stdout


def test_first_line_of_the_log_says_why_the_root_is_that_one(project: Path) -> None:
    done = fledgling("serve", CLAUDE_PROJECT_DIR=str(project))
    assert done.stderr.startswith(
        f"fledgling: root {project} (environment CLAUDE_PROJECT_DIR), profile fledgling-core\n"
    )
    assert done.stdout == ""


def test_home_directory_is_indexed_when_it_is_really_meant(project: Path) -> None:
    assert fledgling("index", "--root", str(project), HOME=str(project)).returncode == 2
    assert fledgling("index", "--root", str(project), "--yes-really", HOME=str(project)).returncode == 0


# What a terminal obeys, hides or turns around: one of each kind, as a project may hold it.
OBEYED = (
    "\x00\x07\x08\x1b\x7f\x85\x9b\x9d\xad\u061c\u200b\u200d\u200e\u200f\u2028\u2029\u202a\u202e\u2060\u2066\u2069\ufeff"
)
OBEYED += "\U000e0041"


@pytest.mark.parametrize("command", [["read", "a.py"], ["search", "hostile"], ["symbols", "a.py"], ["explore"]])
def test_what_is_printed_is_obeyed_by_no_terminal(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "a.py").write_text(f"x = '{OBEYED.replace(chr(0), '')}'  # hostile\ndef f(a='{OBEYED[1:]}'): ...\n")
    (tmp_path / f"b{OBEYED[1:]}.py").write_text("hostile\n")
    text = fledgling(*command, "--root", str(tmp_path))
    told = fledgling(*command, "--root", str(tmp_path), "--json")
    for done in (text, told):
        assert done.returncode == 0
        assert not set(OBEYED) & set(done.stdout + done.stderr)
    assert "\\u202e" in text.stdout
    if command[0] == "read":
        assert OBEYED[1:] in json.loads(told.stdout)["lines"][0]


def test_no_root_is_obeyed_by_a_terminal(tmp_path: Path) -> None:
    root = tmp_path / OBEYED[1:]
    root.mkdir()
    (root / "a.py").write_text("x = 1\n")
    for arguments in (["serve", "--root", str(root)], ["index", "--root", f"{root}x"], ["doctor", "--root", str(root)]):
        done = fledgling(*arguments)
        assert not set(OBEYED) & set(done.stdout + done.stderr)
    log = fledgling("serve", "--root", str(root), "--log-format", "json")
    assert not set(OBEYED) & set(log.stderr)
    assert str(root) in json.loads(log.stderr.splitlines()[0])["message"]


def test_hostile_text_does_not_reach_a_terminal_raw(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = '\x1b]0;owned\x07'\n")
    shown = subprocess.run(
        ["script", "-qec", f"{sys.executable} -I -B -m fledgling read a.py --root {tmp_path}", os.devnull],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "\\x1b]0;owned\\x07" in shown.stdout
    assert "\x1b]0;" not in shown.stdout
