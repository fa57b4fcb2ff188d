"""A fault of ours in lister, indexer or follower costs the file, rule or manifest that meets it, or the imports of a
language, and is said; it never costs the index.

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
    "fledgling/project_file.py": (
        "        entries = entries_of(PROJECT_FILE, project_yaml)\n",
        "        assert b'no key' not in project_yaml\n",
    ),
    "worker/files/repository.py": (
        "        exclude = _exclude(git, device)\n",
        "        assert b'no exclude' not in exclude\n",
    ),
    "worker/lister/process.py": (
        '        language = languages.detect(entry.path.rpartition("/")[2], b"")\n',
        "        assert 'no_listing' not in entry.path\n",
    ),
    "worker/files/describe.py": ("            text = decoded(data)\n", "            assert b'no text' not in data\n"),
    "worker/files/walk.py": ("        is_symlink = item.is_symlink()\n", "        assert 'no_name' not in item.name\n"),
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

# what is put elsewhere: a listing is made however few the files are, and a view may take half a second
CHANGED = {
    "worker/files/walk.py": (
        "        entry = Entry(name, path, target, status.st_size, *stamp, reason)\n",
        "        entry = Entry(name, path, target, status.st_size << (99 * ('no_message' in name)), *stamp, reason)\n",
    ),
    "worker/lister/process.py": ("SMALL_FILES, SMALL_BYTES = 2000,", "SMALL_FILES, SMALL_BYTES = 0,"),
    "worker/indexer/views.py": ("VIEW_SECONDS = 120.0", "VIEW_SECONDS = 0.5"),
}

TREE = {
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/objects/none": "",
    ".git/refs/none": "",
    ".git/info/exclude": "no exclude\n",
    ".gitignore": "no rule\nignored.md\n",
    "fledgling.yaml": "max_files: 1  # no key\n",
    "no_listing.txt": "needle\n",
    "ignored.md": "needle\n",
    "a.py": "import endless\nfrom good import good\n\ndef first():\n    return good()\n",
    "b.py": "from good import good\n\ndef second():\n    return good()\n",
    "good.py": "def good(): pass\n",
    "m/go.mod": "module m // no module\n",
    "m/main.go": 'package main\n\nimport "m/part"\n\nfunc main() { part.Run() }\n',
    "m/part/part.go": "package part\n\nfunc Run() {}\n",
    "o/go.mod": "module o\n",
    "o/main.go": 'package main\n\nimport "fmt"\nimport "o/part"\n\nfunc main() { part.Run(); fmt.Print() }\n',
    "o/part/part.go": "package part\n\nfunc Run() {}\n",
    "p/other.go": 'package other\n\nimport "m/part"\n\nfunc Other() { part.Run() }\n',
    "text.md": "needle, no text\n",
    "no_name.md": "needle\n",
    "rules/.gitignore": "no rule\n",
    "rules/ignored.md": "needle\n",
    "plain.md": "needle\n",
}
FAULT = r"(?:Assertion|Overflow|Recursion)Error at \w+\.py"
LOG = [
    "AssertionError at describe.py",
    "AssertionError at ignore.py",
    "AssertionError at ignore.py",
    "AssertionError at imports.py",
    "AssertionError at process.py",
    "AssertionError at project_file.py",
    "AssertionError at repository.py",
    "AssertionError at walk.py",
    "OverflowError at process.py",
    "RecursionError at imports.py",
]

ASKED: list[AnyQuestion] = [
    Explore(),
    *(Dependencies(path) for path in ("a.py", "b.py", "good.py", "m/main.go", "m/part/part.go", "o/part/part.go")),
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
        "m/part/part.go", direction="imported_by"
    ): "Parsed in part: m/main.go, o/main.go, p/other.go; they name `part` and may import it.",
    Read("ignored.md"): "ignored",
    Read("text.md"): "is not in the index: unreadable",
    Read("no_name.md"): "unreadable file",
    Read("no_message.md"): "unreadable file",
    Read("rules/ignored.md"): "unreadable directory",
    Search("needle"): "Not searched: 1 unreadable (text.md).",
    Symbols("a.py"): "name='first'",
    Symbols(symbol="good", relation="usages"): "3 unresolved (not parsed: a.py:2, a.py:5)",
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    faulty = Copy(tmp_path_factory.mktemp("copy"))
    for name, (line, fault) in FAULTS.items():
        faulty.edit(name, {line: line + fault})
    for name, (was, now) in CHANGED.items():
        faulty.edit(name, {was: now})
    return faulty


@pytest.fixture(autouse=True)
def _faulty(copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(copy.python))  # which back processes are started with


def plant(root: Path) -> Path:
    for name, text in TREE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


async def test_each_costs_what_it_met_and_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (plant(tmp_path) / "no_message.md").write_text("needle\n")
    async with fronted(tmp_path) as (front, indexing):
        built = await indexing.built()
        assert built.notices == (
            "Tracked files below the root are left out where they are ignored: "
            "the server has met a fault of its own in its .git, whose rules are not used.",
            "Rules of .gitignore are not used in which the server has met a fault of its own.",
        )
        for asked, words in SAYS.items():
            assert words in str(await front.ask(asked)), asked
        edges = await answered(front, Dependencies("good.py"))
        assert [each.path for each in edges.imported_by] == ["b.py"]
        assert (await answered(front, Dependencies("a.py", direction="imports"))).imports == []
        found = await answered(front, Search("needle"))
        assert [file.path for file in found.files] == ["no_listing.txt", "plain.md"]
        await until(lambda: len(re.findall(FAULT, caplog.text)) == len(LOG))
        assert sorted(re.findall(FAULT, caplog.text)) == LOG
        assert r"\n" not in caplog.text


ENDLESS = """SET extends = 'fledgling-core'; CREATE VIEW files AS
SELECT files.* FROM files WHERE (SELECT count(*) FROM range(10_000_000) AS a, range(10_000_000) AS b) > 0;"""


async def test_a_view_without_end_is_named(tmp_path: Path) -> None:
    profile = tmp_path / "endless.sql"
    profile.write_text(ENDLESS)
    root = tmp_path / "root"
    root.mkdir()
    async with fronted(plant(root), profile) as (front, _):
        said = await front.ask(Explore())
        while isinstance(said, Refusal) and said.kind != "invalid":
            assert said.kind == "unavailable", said
            said = await front.ask(Explore())
        assert "endless.sql:1: the view files takes more than 0.5 s for this project" in str(said)


async def settled(front: Front, asked: AnyQuestion) -> AnyAnswer | Refusal:
    """What is said, once it is not of an index that is being built anew."""
    found = await front.ask(asked)
    for _ in range(int(PATIENCE / LOOK_SECONDS)):
        if "changed since this was indexed" not in str(found):
            break
        await asyncio.sleep(LOOK_SECONDS)
        found = await front.ask(asked)
    return found


@pytest.mark.parametrize("is_each", [False, pytest.param(True, marks=pytest.mark.long)], ids=["in the end", "at each"])
async def test_answers_follow_what_fails_and_what_no_longer_does(tmp_path: Path, is_each: bool) -> None:
    """They are those of an index built now, at each step or behind the last."""
    steps = [
        {
            "b.py": TREE["a.py"],
            "a.py": TREE["b.py"],
            "m/go.mod": "module m\n",
            "plain.md": TREE["text.md"],
            "text.md": "needle\n",
            "rules/.gitignore": "*.txt\n",
        },
        {
            "new.py": "",  # imports are resolved anew where there is another file
            "b.py": TREE["b.py"],
            "m/go.mod": TREE["m/go.mod"],
            "rules/.gitignore": TREE["rules/.gitignore"],
            "m/part/no_name.go": "package part\n",
        },
    ]
    indexing = Indexing(Settings(root=str(plant(tmp_path))), profiles.load("fledgling-core"), is_followed=True)
    front = Front(indexing.profile, indexing, "strict")
    try:
        await indexing.built()
        for step in steps:
            for name, text in step.items():
                (tmp_path / name).write_text(text)
            is_asked = is_each or step is steps[-1]
            found = [await settled(front, asked) for asked in (ASKED if is_asked else ASKED[:1])]
            if is_asked:
                async with fronted(tmp_path) as (fresh, built):
                    await built.built()
                    for asked, answer in zip(ASKED, found, strict=True):
                        assert answer == await fresh.ask(asked), (step, asked)
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
