"""Sixty questions with known answers, put to Fledgling, grep and cat, and two peers: right answers, calls and tokens.

    python benchmarks/exam/exam.py                          of the four projects of questions.toml
    python benchmarks/exam/exam.py --only fledgling,grep --root flask=/path/to/flask

The projects are fetched as ../corpora.toml says, or are git checkouts given by `--root`. The peers are those of
../peers.toml, installed where they are not there yet; one that cannot be is left out. Four characters are a token; what
is asked is counted, too. An answer is right if all that the oracle says is in it, whatever else is; a cut answer is
followed for some pages.
"""

import argparse
import asyncio
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TextIO

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # the benchmarks are no package

import corpora  # noqa: E402
import oracles  # noqa: E402
import peers  # noqa: E402

CACHE = Path("~/.cache/fledgling-bench").expanduser()
BASH = shutil.which("bash") or "bash"
PAGES = 5  # of one answer, and times that one is asked for which an index was not ready for
LATER = "ask this again later"
SECONDS = 120.0
CHARS_A_TOKEN = 4
NEXT = re.compile(r"continue with (\w+)\((.*)\)\]?\s*$", re.MULTILINE)
SERVERS = ("fledgling", "jcodemunch")
PEERS = {"codegraph": "codegraph", "jcodemunch": "jcodemunch-mcp"}  # what peers.toml calls them


class ExamQuestion(NamedTuple):
    """One question: whose, of what kind, what fills in the calls, what must be said."""

    project: str
    kind: str
    words: dict[str, str]
    gold: list[str]


class ExamResult(NamedTuple):
    """What an answer was worth, and cost."""

    is_right: bool
    calls: int
    chars: int


def questions(roots: Mapping[str, Path]) -> list[ExamQuestion]:
    """All questions about projects that are there, with what their oracles say."""
    table = tomllib.loads((HERE / "questions.toml").read_text("utf-8"))
    found = []
    for project, root in roots.items():
        for kind, asked in table[project].items():
            for each in asked:
                words: dict[str, Any] = {"name": each, "path": each} if isinstance(each, str) else dict(each)
                gold = oracles.ORACLES[kind](root, each) if isinstance(each, str) else words.pop("gold")
                if kind == "read":
                    words["path"] = str(oracles.of_name(root, each)[0]["path"])
                words["stem"] = PurePosixPath(words.get("path", "")).stem
                words["either"] = "|".join(words.get("words", "").split())
                found.append(ExamQuestion(project, kind, words, gold))
    return found


def filled(value: object, words: Mapping[str, str]) -> Any:
    """A template with the words of a question in it."""
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda match: words.get(match[1], match[0]), value)
    if isinstance(value, dict):
        return {key: filled(one, words) for key, one in value.items()}
    return value


def silence() -> TextIO:
    """Where the standard error of a server goes."""
    return Path(os.devnull).open("w")


def contenders(names: list[str]) -> dict[str, peers.InstalledPeer | None]:
    """Those that are there: Fledgling and grep with nothing to install, peers installed."""
    found: dict[str, peers.InstalledPeer | None] = {}
    for name in names:
        try:
            found[name] = peers.prepare(PEERS[name], CACHE) if name in PEERS else None
        except peers.MissingError as problem:
            sys.stderr.write(f"{name} is left out: {problem}\n")
    return found


@asynccontextmanager
async def session(tool: peers.InstalledPeer | None, root: Path) -> AsyncIterator[ClientSession]:
    """Fledgling or a peer that is an MCP server, at a project."""
    command = [sys.executable, "-I", "-m", "fledgling", "serve", "--root", str(root)]
    environment = dict(os.environ)
    if tool:
        command, environment = [str(tool.program), "serve"], tool.environment
    server = StdioServerParameters(command=command[0], args=command[1:], cwd=root, env=environment)
    with silence() as nowhere:
        async with (
            stdio_client(server, errlog=nowhere) as (reading, writing),
            ClientSession(reading, writing) as client,
        ):
            await client.initialize()
            if tool:
                await client.call_tool("index_folder", {"path": str(root)})
            yield client


async def by_server(
    name: str, client: ClientSession, root: Path, calls: list[Any], question: ExamQuestion
) -> ExamResult:
    """Ask with tools, and follow what is cut."""
    said, written, made, words = "", 0, 0, question.words
    for tool, template in calls:
        arguments = filled(template, words) | ({"repo": f"local/{root.name}"} if name == "jcodemunch" else {})
        for _ in range(PAGES):
            answer = await asyncio.wait_for(client.call_tool(tool, arguments), SECONDS)
            page = "".join(getattr(part, "text", "") for part in answer.content)
            said, made, written = said + "\n" + page, made + 1, written + len(tool) + len(json.dumps(arguments))
            if LATER in page:
                continue
            following = NEXT.search(page)
            if not following or oracles.has(said, root, question.kind, question.gold):
                break
            tool, arguments = following[1], arguments | parsed(following[2])
    return ExamResult(oracles.has(said, root, question.kind, question.gold), made, len(said) + written)


def parsed(arguments: str) -> dict[str, Any]:
    """The arguments of a call that an answer ends with: `path="a", cursor="b"`."""
    found = re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\w+)', arguments)
    return {name: json.loads({"True": "true", "False": "false"}.get(value, value)) for name, value in found}


def by_command(tool: peers.InstalledPeer | None, root: Path, calls: list[str], question: ExamQuestion) -> ExamResult:
    """Ask with commands of a shell."""
    said, written, environment = "", 0, dict(os.environ)
    if tool:
        environment = tool.environment | {"PATH": f"{tool.program.parent}:{os.environ['PATH']}"}
    for template in calls:
        command = filled(template, question.words)
        run = functools.partial(subprocess.run, check=False, capture_output=True, text=True, errors="replace")
        said += run([BASH, "-c", command], env=environment, cwd=root, timeout=SECONDS).stdout
        written += len(command)
    return ExamResult(oracles.has(said, root, question.kind, question.gold), len(calls), len(said) + written)


async def asked(
    name: str,
    tool: peers.InstalledPeer | None,
    ways: Mapping[str, list[Any]],
    roots: Mapping[str, Path],
    all_: list[ExamQuestion],
) -> list[ExamResult]:
    """What one contender answers."""
    results = []
    for project, root in roots.items():
        own = [each for each in all_ if each.project == project]
        if name in SERVERS:
            async with session(tool, root) as client:
                results += [await by_server(name, client, root, ways[each.kind], each) for each in own]
            continue
        if tool:
            tool.run(root, keep=True)
        results += [by_command(tool, root, ways[each.kind], each) for each in own]
        if tool:
            tool.clean(root)
    return results


def table(all_: list[ExamQuestion], results: Mapping[str, list[ExamResult]]) -> list[str]:
    """A row a kind, and all: right answers, calls and tokens of each contender."""
    kinds = [*dict.fromkeys(each.kind for each in all_), "all"]
    lines = ["| questions | " + " | ".join(results) + " |", "|---" * (len(results) + 1) + "|"]
    for kind in kinds:
        cells = []
        for name in results:
            own = [each for question, each in zip(all_, results[name], strict=True) if kind in (question.kind, "all")]
            tokens = sum(each.chars for each in own) // CHARS_A_TOKEN
            right, calls = sum(each.is_right for each in own), sum(each.calls for each in own)
            cells.append(f"{right} of {len(own)}, {calls} calls, {tokens:,} tokens")
        count = len(all_) if kind == "all" else Counter(each.kind for each in all_)[kind]
        lines.append(f"| {kind} ({count}) | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    """Put all questions to all contenders that are there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", action="append", default=[], metavar="NAME=PATH", help="a project; default: all four")
    parser.add_argument("--only", help="contenders, with commas between")
    parser.add_argument("--wrong", action="store_true", help="print what is not right")
    options = parser.parse_args()
    roots = {name: Path(path).resolve() for name, path in (each.split("=", 1) for each in options.root)}
    roots = roots or {
        name: corpora.prepare(name, CACHE) for name in tomllib.loads((HERE / "questions.toml").read_text())
    }
    oracles.install()
    all_ = questions(roots)
    ways = tomllib.loads((HERE / "ways.toml").read_text("utf-8"))
    there = contenders(options.only.split(",") if options.only else list(ways))
    results = {name: asyncio.run(asked(name, tool, ways[name], roots, all_)) for name, tool in there.items()}
    sys.stdout.write(", ".join(corpora.origin(root) for root in roots.values()) + "\n")
    sys.stdout.write("\n".join(table(all_, results)) + "\n")
    for name, own in results.items() if options.wrong else ():
        for question, result in zip(all_, own, strict=True):
            if not result.is_right:
                sys.stdout.write(f"{name}: {question.project} {question.kind} {question.words} -> {question.gold}\n")


if __name__ == "__main__":
    main()
