"""A fault of ours that a file meets in lister, indexer or follower costs that file or the imports of a language, and is
said; it never costs the index.

No such fault is known, so a copy of the tree has some, which files of certain texts and names meet.
"""

import asyncio
import re
import sys
from pathlib import Path

import pytest
from copying import Copy
from running import PATIENCE, answered, fronted, until

from fledgling.broker.front import Front
from fledgling.broker.indexing.indexing import Indexing
from fledgling.messages.answers import AnyAnswer, Refusal
from fledgling.messages.questions import AnyQuestion, Dependencies, Explore, Read, Search, Symbols
from fledgling.security import profile as profiles
from fledgling.settings import Settings

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("executed")]

# file -> a line of it, and what is put behind that
FAULTS = {
    "worker/files/describe.py": ("            text = decoded(data)\n", "            assert b'no text' not in data\n"),
    "worker/files/walk.py": (
        "        is_symlink = item.is_symlink()\n",
        "        assert 'no_name' not in item.name\n",
    ),
    "worker/files/ignore.py": ("        fits = len(data) <= room\n", "        assert b'no rule' not in data\n"),
    "worker/languages/python/imports.py": (
        '        name = module.lstrip(".")\n',
        "        if name == 'endless': return locate(directory + '/a', module)\n",
    ),
    "worker/languages/go/imports.py": (
        "        self.modules = dict[str, str]()  # a module's directory -> its path\n",
        "        assert not any('no module' in text for text in project.manifests.values())\n",
    ),
}

TREE = {
    "a.py": "import endless\nfrom good import good\n\ndef first():\n    return good()\n",
    "b.py": "from good import good\n\ndef second():\n    return good()\n",
    "good.py": "def good(): pass\n",
    "go.mod": "module m // no module\n",
    "main.go": 'package main\n\nimport "m/part"\n\nfunc main() { part.Run() }\n',
    "part/part.go": "package part\n\nfunc Run() {}\n",
    "text.md": "needle, no text\n",
    "no_name.md": "needle\n",
    "rules/.gitignore": "no rule\n",
    "rules/ignored.md": "needle\n",
    "plain.md": "needle\n",
}
FAULT = r"(?:Assertion|Recursion)Error at \w+\.py"
LOG = [
    "AssertionError at describe.py",
    "AssertionError at ignore.py",
    "AssertionError at imports.py",
    "AssertionError at walk.py",
    "RecursionError at imports.py",
]

ASKED: list[AnyQuestion] = [
    Explore(),
    *(Dependencies(path) for path in ("a.py", "b.py", "good.py", "main.go", "part/part.go")),
    *(Read(path) for path in ("text.md", "no_name.md", "rules/ignored.md", "plain.md")),
    Search("needle"),
    Symbols("*.py"),
    Symbols("*.go"),
    Symbols(symbol="good", relation="usages"),
]

LOOK_SECONDS = 0.05

# a question, and what is said in its answer
SAYS = {
    Dependencies("a.py", direction="imports"): "Parsed in part: a.py; imports may be missing.",
    Dependencies("good.py", direction="imported_by"): "Parsed in part: a.py; they name `good` and may import it.",
    Dependencies(
        "part/part.go", direction="imported_by"
    ): "Parsed in part: main.go; they name `part` and may import it.",
    Read("text.md"): "is not in the index: unreadable",
    Read("no_name.md"): "unreadable file",
    Read("rules/ignored.md"): "unreadable directory",
    Search("needle"): "Not searched: 1 unreadable (text.md).",
    Symbols("a.py"): "name='first'",
    Symbols(symbol="good", relation="usages"): "3 unresolved (not parsed: a.py:2, a.py:2, a.py:5)",
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    faulty = Copy(tmp_path_factory.mktemp("copy"))
    for name, (line, fault) in FAULTS.items():
        faulty.edit(name, {line: line + fault})
    return faulty


@pytest.fixture(autouse=True)
def _faulty(copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(copy.python))  # which back processes are started with


def plant(root: Path) -> Path:
    for name, text in TREE.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return root


async def test_each_costs_what_it_met_and_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with fronted(plant(tmp_path)) as (front, indexing):
        await indexing.built()
        for asked, words in SAYS.items():
            assert words in str(await front.ask(asked)), asked
        edges = await answered(front, Dependencies("good.py"))
        assert [each.path for each in edges.imported_by] == ["b.py"]
        assert (await answered(front, Dependencies("a.py", direction="imports"))).imports == []
        found = await answered(front, Search("needle"))
        assert [file.path for file in found.files] == ["plain.md"]
        await until(lambda: len(re.findall(FAULT, caplog.text)) == len(LOG))
        assert sorted(re.findall(FAULT, caplog.text)) == LOG


async def settled(front: Front, asked: AnyQuestion) -> AnyAnswer | Refusal:
    """What is said, once it is not of an index that is being built anew."""
    found = await front.ask(asked)
    for _ in range(int(PATIENCE / LOOK_SECONDS)):
        if "changed since this was indexed" not in str(found):
            break
        await asyncio.sleep(LOOK_SECONDS)
        found = await front.ask(asked)
    return found


async def test_answers_follow_what_fails_and_what_no_longer_does(tmp_path: Path) -> None:
    """They are those of an index built now, at each step."""
    steps = [
        {"b.py": TREE["a.py"], "a.py": TREE["b.py"]},
        {"new.py": "", "b.py": TREE["b.py"]},  # imports are resolved anew where there is another file
        {"go.mod": "module m\n", "plain.md": TREE["text.md"], "text.md": "needle\n", "rules/.gitignore": "*.txt\n"},
        {"go.mod": TREE["go.mod"], "rules/.gitignore": TREE["rules/.gitignore"], "part/no_name.go": "package part\n"},
    ]
    indexing = Indexing(Settings(root=str(plant(tmp_path))), profiles.load("fledgling-core"), is_followed=True)
    front = Front(indexing.profile, indexing, "strict")
    try:
        await indexing.built()
        for step in steps:
            for name, text in step.items():
                (tmp_path / name).write_text(text)
            async with fronted(tmp_path) as (fresh, built):
                await built.built()
                for asked in ASKED:
                    assert await settled(front, asked) == await fresh.ask(asked), (step, asked)
    finally:
        await front.close()


async def test_what_a_view_cannot_decide_on_is_hidden(tmp_path: Path) -> None:
    profile = tmp_path / "view.sql"
    profile.write_text(
        "SET extends = 'fledgling-core'; CREATE VIEW files AS SELECT * FROM files WHERE NOT is_generated;"
    )
    root = tmp_path / "root"
    root.mkdir()
    async with fronted(plant(root), profile) as (front, indexing):
        await indexing.built()
        paths = str(await answered(front, Explore(depth=9)))
        assert "plain.md" in paths
        assert "text.md" not in paths
        assert "text.md" in str(await front.ask(Read("text.md")))
