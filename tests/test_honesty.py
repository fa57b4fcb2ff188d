"""No silence: whatever an index does not know, each answer that it may make wrong says so.

tests/honesty/*.toml are the rows: each file a project and a profile, and calls of it.

    reason   which gap of the index is met: a key of tests/honesty/reasons.toml
    tool, arguments        the call, with `each` of a group of forms
    says     pieces of the text of its answer or refusal          lacks    pieces that are nowhere in it
    kind     of a refusal

A tool that answers in several forms has a row for each: of `symbols` each relation, of `search` what is ranked and what
tags leave, of `explore` each detail, of `read` a context. For each reason, reasons.toml names the forms whose answers
it cannot make wrong, and why. Every other form has a row.
"""

import os
import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
from conftest import git
from running import fronted
from trees import make

from fledgling.broker.protocol import render, tools
from fledgling.messages.answers import Refusal
from fledgling.messages.questions import QUESTIONS, Detail, Mode, Read, Relation, Symbols
from fledgling.worker import reasons
from fledgling.worker.tools.empty_answers import MAX_NEAR

FOLDER = Path(__file__).parent / "honesty"
REASONS = tomllib.loads((FOLDER / "reasons.toml").read_text())
GROUPS = REASONS.pop("groups")
PROJECTS = {
    file.stem: tomllib.loads(file.read_text()) for file in sorted(FOLDER.glob("*.toml")) if file.stem != "reasons"
}
CALLS = {file.stem: tomllib.loads(file.read_text()) for file in FOLDER.with_name("calls").glob("*.toml")}
SILENT = {stem: table["silent"] for stem, table in CALLS.items() if "silent" in table}  # of a tool: reasons, and why
FORMS = [
    *QUESTIONS,
    *(f"symbols {relation}" for relation in get_args(Relation)),
    *(f"search {mode}" for mode in get_args(Mode) if mode not in ("auto", "text", "regex")),
    *(f"explore {detail}" for detail in get_args(Detail) if detail != "map"),
    "search tags",
    "read context",
]


def form(case: dict[str, Any]) -> str:
    """Which form of its tool a call asks for: "symbols callers"."""
    tool, arguments = case["tool"], case.get("arguments", {})
    ways = {"symbols": ("relation",), "search": ("mode",), "explore": ("detail",)}.get(tool, ())
    for way in (arguments[name] for name in ways if name in arguments):
        return f"{tool} {way}"
    if "tags_any" in arguments:
        return f"{tool} tags"
    return f"{tool} context" if "budget_tokens" in arguments else tool


def spread(case: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each form of the group that a row is of: `each = "relations"`."""
    if "each" not in case:
        return [case]
    argument = {"relations": "relation", "ranked": "mode", "details": "detail"}[case["each"]]
    return [{**case, "arguments": {**case["arguments"], argument: name}} for name in GROUPS[case["each"]]]


for project in PROJECTS.values():
    project["case"] = [row for case in project["case"] for row in spread(case)]
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
            question = case["tool"], case.get("arguments", {})
            found = await front.call(*question)
            said = render.refusal(found) if isinstance(found, Refusal) else tools.text(found)
            missing = [piece for piece in case["says"] if piece not in said]
            present = [piece for piece in case.get("lacks", ()) if piece in said]
            if "kind" in case and (not isinstance(found, Refusal) or found.kind != case["kind"]):
                missing.append(case["kind"])
            if missing or present:
                wrong.append((case["reason"], question, missing, present, said))
    assert not wrong, "".join(f"\n{why}: {asked}\n  lacks {m}, has {p}:\n{said}" for why, asked, m, p, said in wrong)


# what is defined, the pattern that is asked for, and which names are the nearest
NEAREST = {
    "no more than three": (["abcdef1", "abcdef2", "abcdef3", "abcdef4"], "abcdef9", "abcdef1, abcdef2, abcdef3"),
    "a quarter longer": (["mnopx", "mnopxy"], "mnop", "mnopx"),
    "another first letter": (["brstuvwxyzab"], "qrstuvwxyzab", None),
    "too many other letters": (["hijklffffff"], "hijklgggggg", None),
    "the name itself, of another kind": (["needle", "needles"], "needle", None),
    "around one text": (["ghijkl"], "**ghijkll*", "ghijkl"),
    "several texts": (["tests"], "test_*_case", None),
    "a sign that stands for any other": (["stuvwx"], "stuvwxx?", None),
    "a long name": (["a" * MAX_NEAR], "a" * (MAX_NEAR - 1) + "b", "a" * MAX_NEAR),
    "one that is too long": (["b" * MAX_NEAR], "b" * MAX_NEAR + "a", None),
}


WARES = {
    "many.ex": "".join(f"defmodule M{number}.Wares do\nend\n" for number in range(100)),
    "z/last.ex": "defmodule Very.Last.Wares do\nend\n",
    "wares.py": "class Boxes:\n    class Wares: ...\n",
}


@pytest.fixture(scope="module")
async def named(anyio_backend, tmp_path_factory):
    """A project of both: names of one row, or of the wares, are unlike those of another."""
    rows = enumerate(defined for defined, _, _ in NEAREST.values())
    files = {f"{number}.py": "".join(f"def {each}(): pass\n" for each in defined) for number, defined in rows}
    async with fronted(make(tmp_path_factory.mktemp("named"), **files, **WARES)) as (front, indexing):
        await indexing.built()
        yield front


@pytest.mark.anyio
async def test_the_nearest_names_are_those_of_a_slip(named):
    for name, (_, asked, nearest) in NEAREST.items():
        said = tools.text(await named.ask(Symbols(name_pattern=asked, kind="class")))
        assert re.findall(r"The nearest names: ([^.]*)\.", said) == ([nearest] if nearest else []), (name, said)


@pytest.mark.anyio
async def test_a_name_that_many_others_end_in_is_looked_for_in_all_of_them(named):
    assert "defmodule Very.Last.Wares" in tools.text(await named.ask(Read("z", symbol="Wares")))
    for asked in (Symbols("Last.Wares"), Symbols(name_pattern="Last.Wares"), Read("z", symbol="Last.Wares")):
        said = tools.text(await named.ask(asked))
        assert "defmodule Very.Last.Wares" in said, said
        assert "Boxes" not in said, said


def silent(reason: str) -> set[str]:
    """The forms whose answers a reason cannot make wrong: names of forms and groups, with commas."""
    tools = {"relations": "symbols", "ranked": "search", "details": "explore"}
    found = {tool for tool, reasons in SILENT.items() if reason in ", ".join(reasons).split(", ")}
    for words in REASONS[reason].get("silent", {}):
        for word in words.split(", "):
            found |= {f"{tools[word]} {name}" for name in GROUPS[word]} if word in GROUPS else {word}
    return found


@pytest.mark.parametrize("reason", REASONS)
def test_every_form_of_an_answer_has_a_row_for_every_reason(reason):
    """A new tool, relation, mode or detail fails until it has rows, or reasons.toml says why it needs none.

    Of a tool, the table of its calls may say that, too: [silent], with reasons and why.
    """
    said = {form(case) for case in CASES if case["reason"] == reason}
    lacking = {*FORMS} - said - silent(reason)
    assert not lacking, f"{lacking} lack a case for {reason!r} in tests/honesty/, or [silent] of tests/calls/ says why"
    assert said & silent(reason) == set()
    assert silent(reason) <= {*FORMS}


def test_every_reason_of_the_index_is_among_them():
    assert {*reasons.SKIPPED, *reasons.LEFT_OUT} <= REASONS.keys()
    assert {case["reason"] for case in CASES} <= REASONS.keys()
    assert {each for reasons in SILENT.values() for words in reasons for each in words.split(", ")} <= REASONS.keys()
