"""Documents say what the code says: paths, tests and links are there, tables are the wire's, and sizes stay small."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path

import click
import pytest
from documents import COMMAND, DOCUMENTS, ROOT, SECTIONS, as_generated

from fledgling.worker.languages.table import load_languages

TRACKED = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
    "\0"
)
FOLDERS = {name.partition("/")[0] for name in TRACKED if "/" in name}
WRITTEN = (
    *("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "security/README.md"),
    *(
        str(path.relative_to(ROOT))
        for folder in ("docs", "benchmarks")
        for path in sorted((ROOT / folder).rglob("*.md"))
    ),
)
MAX_BYTES = {"README.md": 6000, "ARCHITECTURE.md": 10_000}  # what is read in one sitting; the rest stands in docs/

PATH = re.compile(r"(?P<path>[\w.*-]+(?:/[\w.*-]+)*/?)(?:::(?P<test>\w+))?")
BARE = re.compile(r"\w+\.(?:py|md)")  # without its folder; what ends otherwise may be a file of any project


def prose(document: str) -> list[str]:
    """Return the lines of a document, without its blocks of code."""
    text = (ROOT / document).read_text()
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE).splitlines()


def missing(document: str, line: str) -> list[str]:
    """Return what a line names between backticks that is not there: paths from the root, files of a folder it names."""
    named = [found for quoted in re.findall(r"`([^`]+)`", line) if (found := PATH.fullmatch(quoted))]
    rooted = [found for found in named if found["path"].split("/")[0] in FOLDERS and "/" in found["path"]]
    bare = [found for found in named if BARE.fullmatch(found["path"])]
    folders = [ROOT, (ROOT / document).parent, *(ROOT / found["path"] for found in rooted if found["path"][-1] == "/")]
    return [
        *(found[0] for found in rooted if not exists(ROOT, found)),
        *(found[0] for found in bare if not any(exists(folder, found) for folder in folders)),
    ]


def exists(folder: Path, named: re.Match[str]) -> bool:
    """Tell whether a path, perhaps with `*` in it, is below a folder, and the test it names is defined there."""
    files = [*folder.glob(named["path"].rstrip("/"))]
    if named["path"].endswith("/"):
        files = [file for file in files if file.is_dir()]
    return any(not named["test"] or re.search(rf"def {named['test']}\b", file.read_text()) for file in files)


@pytest.mark.parametrize("document", WRITTEN)
def test_document_names_files_and_tests_that_exist(document: str) -> None:
    assert [name for line in prose(document) for name in missing(document, line)] == []


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words behind `fledgling` of the commands in a document: in blocks of code, and between backticks."""
    blocks = re.findall(r"^```(?:sh|console|bash)$(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    for line in [*lines, *re.findall(r"`([^`\n]+)`", text)]:
        for named in re.findall(r"(?:^|[\s/(])fledgling ([a-z].*)", line):
            words = shlex.split(named.partition(')"')[0] if '"$(fledgling' in line else named, comments=True)
            yield [*takewhile(lambda word: word not in ("|", "&&", ">"), words)]


@cache
def command_line() -> click.Group:
    """The command line; it refuses to be imported where Python was started by `-c`, as a process of a test run is."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["fledgling"])
        from fledgling.broker.cli import main  # noqa: PLC0415
    return main.cli


def misspelt(words: list[str]) -> str | None:
    """Say what a command line has that there is not: a command, or an option of it; nothing is run."""
    command: click.Command = command_line()
    context = click.Context(command)
    words = list(words)
    try:
        while isinstance(command, click.Group) and words and (found := command.get_command(context, words[0])):
            command, context = found, click.Context(found, context)
            del words[0]
        if isinstance(command, click.Group) and words and not words[0].startswith("-"):
            return f"no command {words[0]}"
        command.make_parser(context).parse_args(words)
    except click.UsageError as wrong:
        return wrong.format_message()
    return None


@pytest.mark.parametrize("document", WRITTEN)
def test_commands_are_those_of_the_command_line(document: str) -> None:
    assert [wrong for words in commands((ROOT / document).read_text()) if (wrong := misspelt(words))] == []


def test_what_is_no_command_is_seen() -> None:
    block = "```sh\nfledgling seek x  # a word\n.venv/bin/fledgling search 'x > y' -Q && fledgling\n```\n"
    found = [*commands(f"{block}\n`fledgling audit --html a.html > out`\n")]
    assert found == [["seek", "x"], ["search", "x > y", "-Q"], ["audit", "--html", "a.html"]]
    assert [misspelt(words) for words in found] == ["no command seek", "No such option '-Q'.", None]


GONE = [  # what must be seen as missing, and what must not
    ("`worker/nowhere.py` and `tests/test_contracts.py::test_nothing`", 2),
    ("| `broker/` | `nothing.py` |", 1),
    ("| `broker/` | `front.py` |", 0),
    ("`tests/judges/test_nothing_*.py`, `tests/test_contracts.py/`", 2),
    ("`src/app.py`, `go.mod`, `Engine.run`, `fledgling://overview`, `*.py`", 0),
]


@pytest.mark.parametrize(("line", "count"), GONE)
def test_what_is_not_there_is_seen(line: str, count: int) -> None:
    assert len(missing("README.md", line)) == count


@pytest.mark.parametrize("document", WRITTEN)
def test_links_lead_somewhere(document: str) -> None:
    for path, anchor in re.findall(r"\]\((?!http)([^)#\s]*)(?:#([^)\s]+))?\)", "\n".join(prose(document))):
        target = (ROOT / document).parent / path if path else ROOT / document
        assert target.exists(), path
        assert not anchor or anchor in anchors(target), f"{path}#{anchor}"


def anchors(document: Path) -> set[str]:
    """Return the anchors of a document's headings, as forges make them: `What `ps` shows` has `what-ps-shows`."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_messages_that_are_explained_are_ours() -> None:
    """Words of a message stand in the first cell of a row, and in one line of the code."""
    rows = re.findall(r"^\| (`.+?) \|", (ROOT / "docs" / "troubleshooting.md").read_text(), re.MULTILINE)
    code = "".join((ROOT / name).read_text() for name in TRACKED if name.endswith(".py") and name[:5] != "tests")
    messages = [message for row in rows for message in re.findall("`([^`]+)`", row)]
    assert len(messages) > 20
    assert [message for message in messages if message not in code] == []


@pytest.mark.parametrize("document", MAX_BYTES)
def test_document_stays_small(document: str) -> None:
    over = (ROOT / document).stat().st_size - MAX_BYTES[document]
    assert over <= 0, f"{document} is {over} bytes too long; move so much of it to docs/"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_reference_is_what_the_code_says(document: str) -> None:
    text = (ROOT / document).read_text()
    assert as_generated(text) == text, f"{document} is not what the code says; write it with `{COMMAND}`"


def test_every_section_is_in_one_document() -> None:
    texts = "".join((ROOT / document).read_text() for document in DOCUMENTS)
    named = re.findall(r"<!-- generated: (\w+(?: \S+)?) -->", texts)
    rooms = {str(path.parent.relative_to(ROOT)) for path in (ROOT / "worker/graph").rglob("*.py")}
    assert sorted(named) == sorted([*SECTIONS.keys() - {"modules"}, *(f"modules {room}" for room in rooms)])


def test_every_argument_says_what_it_means() -> None:
    empty = re.findall(r"^\| .+ \|  \|$", (ROOT / "docs/tools.md").read_text(), re.MULTILINE)
    assert empty == []


def test_decisions_are_listed_and_whole() -> None:
    folder = ROOT / "docs/decisions"
    decisions = sorted(path.name for path in folder.glob("[0-9]*.md"))
    assert re.findall(r"\((\d{4}-[\w-]+\.md)\)", (folder / "README.md").read_text()) == decisions
    for name in decisions:
        text = (folder / name).read_text()
        assert re.search(r"^Status: \w.*\. Date: \d{4}-\d\d-\d\d", text, re.MULTILINE), name
        assert re.findall(r"^## (\w+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"], name


def test_every_document_has_its_place_in_the_site() -> None:
    shown = re.findall(r": (\S+\.md)$", (ROOT / ".ci/mkdocs.yml").read_text(), re.MULTILINE)
    assert len(set(shown)) == len(shown)
    assert not [name for name in shown if not (ROOT / name).is_file()]
    assert {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")} <= {*shown, "docs/README.md"}


def test_ci_runs_the_test_command_of_the_readme() -> None:
    command = (ROOT / ".ci/run").read_text().splitlines()[-1]
    assert command in (ROOT / "README.md").read_text().splitlines()


def test_changelog_has_the_version_or_says_unreleased() -> None:
    assert re.search(r"^## \[Unreleased\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("way", ["worker/languages/*/heads.toml", "worker/languages/*/reader.py"])
def test_each_language_is_named_beside_the_way_in_which_it_is_read(way: str) -> None:
    (line,) = (line for line in prose("docs/extraction.md") if f"`{way}`" in line)
    known = load_languages().rows
    titles = {known[folder].title or folder for folder in (path.parent.name for path in ROOT.glob(way))}
    named = {name.strip().casefold() for name in line.split("|")[2].split(",")}
    assert {title for title in titles if title.casefold() not in named} == set()
