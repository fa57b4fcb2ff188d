"""No silence: whatever an index does not know, each answer that it may make wrong says so.

tests/honesty/*.toml are the rows: each file a project and a profile, and calls of it.

    reason   which gap of the index is met: a key of tests/honesty/reasons.toml
    tool, arguments        the call
    says     pieces of the text of its answer or refusal          lacks    pieces that are nowhere in it

For each reason, reasons.toml names the tools whose answers it cannot make wrong, and why. Every other tool has a row.
"""

import os
import tomllib
from pathlib import Path

import msgspec
import pytest
from conftest import git
from running import fronted

from fledgling.broker.protocol import render, tools
from fledgling.messages.answers import Refusal
from fledgling.messages.questions import QUESTIONS
from fledgling.worker import reasons

FOLDER = Path(__file__).parent / "honesty"
REASONS = tomllib.loads((FOLDER / "reasons.toml").read_text())
PROJECTS = {
    file.stem: tomllib.loads(file.read_text()) for file in sorted(FOLDER.glob("*.toml")) if file.stem != "reasons"
}
CASES = [case for project in PROJECTS.values() for case in project["case"]]


def plant(root: Path, project: dict) -> Path:
    """Write a project: files of text, of bytes in hexadecimal digits, of repeated text, and links."""
    for path, text in project.get("files", {}).items():
        _write(root / path, text.encode())
    for path, digits in project.get("bytes", {}).items():
        _write(root / path, bytes.fromhex(digits))
    for path, (text, times) in project.get("repeated", {}).items():
        _write(root / path, "".join(text.replace("#", str(number)) for number in range(times)).encode())
    for path, size in project.get("sparse", {}).items():
        _write(root / path, b"")
        os.truncate(root / path, size)
    for path, target in project.get("links", {}).items():
        (root / path).symlink_to(target)
    for directory in project.get("repositories", ()):
        (root / directory).mkdir(parents=True, exist_ok=True)
        git(root / directory, "init", "-q")
    for path in project.get("submodules", ()):
        (root / path).mkdir(parents=True, exist_ok=True)
        git(root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},{path}")
    for path in project.get("fifos", ()):
        os.mkfifo(root / path)
    for path in project.get("closed", ()):
        (root / path).chmod(0)
    return root


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


@pytest.mark.anyio
@pytest.mark.parametrize("name", PROJECTS)
async def test_every_answer_says_what_it_does_not_know(tmp_path, name):
    project = PROJECTS[name]
    root = plant(tmp_path / "project", project)
    profile = tmp_path / "profile.sql"
    profile.write_text(f"SET extends = 'fledgling-analyst';\n{project.get('profile', '')}")
    wrong = []
    async with fronted(root, profile, project.get("settings")) as (front, indexing):
        await indexing.built()
        for case in project["case"]:
            question = msgspec.convert(case.get("arguments", {}), QUESTIONS[case["tool"]])
            found = await front.ask(question)
            said = render.refusal(found) if isinstance(found, Refusal) else tools.text(found)
            missing = [piece for piece in case["says"] if piece not in said]
            present = [piece for piece in case.get("lacks", ()) if piece in said]
            if missing or present:
                wrong.append((case["reason"], question, missing, present, said))
    assert not wrong, "".join(f"\n{why}: {asked}\n  lacks {m}, has {p}:\n{said}" for why, asked, m, p, said in wrong)


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("tool", QUESTIONS)
def test_every_tool_has_a_row_for_every_reason(tool, reason):
    """A new tool fails until it has rows, or reasons.toml says why it needs none."""
    has_row = any(case["tool"] == tool and case["reason"] == reason for case in CASES)
    assert has_row is not (tool in REASONS[reason].get("silent", {}))


def test_every_reason_of_the_index_is_among_them():
    assert {*reasons.SKIPPED, *reasons.LEFT_OUT} <= REASONS.keys()
    assert {case["reason"] for case in CASES} <= REASONS.keys()
