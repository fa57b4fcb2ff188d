"""How well a search by meaning finds the files that a question means, through a real server: `make bench-meaning`, or

    .venv/bin/python benchmarks/meaning.py --projects click,axum --cache ~/.cache/fledgling-bench

The questions are those of the benchmark of semble (MIT): of each project some twenty, each with the files that answer
it. Those to development projects are what weights are fitted to; those to the others of meaning.toml, which are
`unseen`, judge them: nothing is fitted to those, and of the last nineteen no miss was read. The figure is NDCG@10: 1
where those files are the first, less the further behind they are (Järvelin and Kekäläinen, ACM TOIS 20(4), 2002).
Beside it stand ripgrep, files in the order of how many lines have a word of the question, and for how many questions a
file that answers is named within 100, 300 and 600 tokens of an answer that is no "nothing says this". Projects and
questions are cloned into the cache.

Behind them come 90 questions of our own to the documents of six projects (documents.toml), each with the lines that
answer it: how many have them in the first section that is found, and among the first three and ten.
"""

import asyncio
import json
import re
import shutil
import subprocess
import sys
import time
import tomllib
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from math import inf, log2
from pathlib import Path
from statistics import mean, median, quantiles
from typing import NamedTuple

import msgspec
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult, TextContent

from fledgling.worker.tools.meaning import NOTHING

QUESTIONS = "https://github.com/MinishLab/semble.git"
FIRST = 10  # files that count
GOAL = 0.89  # of all development questions
WITHIN = (100, 300, 600)  # tokens of an answer, four characters each, in which a file is named
TOKEN_CHARS = 4
SHORT_WORDS = 3  # letters; ripgrep is asked for longer words alone


class MeaningRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of meaning.toml."""

    url: str
    revision: str
    root: str = "."
    unseen: bool = False


class MeaningQuestion(msgspec.Struct, frozen=True):
    """A question, and the files that answer it, by the ends of their paths."""

    query: str
    relevant: list[str | dict[str, object]]
    secondary: list[str | dict[str, object]] = []

    @property
    def files(self) -> list[str]:
        """The paths of the files."""
        return [file if isinstance(file, str) else str(file["path"]) for file in (*self.relevant, *self.secondary)]


class Documents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of documents.toml: questions, each with a path and the first and last line of what answers it."""

    url: str
    revision: str
    questions: list[tuple[str, str, int, int]]


class MeaningAnswer(NamedTuple):
    """What became of one question: how well each tool answered it, how long Fledgling took, in seconds, and the tokens
    of its answer: all of them, and those up to the end of the first path that is meant; infinitely many if it has none.
    """

    ours: float
    ripgrep: float | None
    seconds: float
    tokens: float
    named: float


def main() -> None:
    """Ask all questions, and print a line for each project and one for all."""
    projects = msgspec.convert(
        tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")), dict[str, MeaningRow]
    )
    parser = ArgumentParser(description="How well a search by meaning finds what a question means.")
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/fledgling-bench"), help="default: %(default)s")
    parser.add_argument("--projects", default=",".join(projects), help="default: all")
    options = parser.parse_args()
    cache = options.cache.expanduser().resolve() / "meaning"
    questions = cloned(cache / "semble", QUESTIONS, None) / "benchmarks" / "annotations"
    sums: dict[str, list[MeaningAnswer]] = {"development": [], "unseen": [], "all": []}
    within = "".join(f"  in {tokens}" for tokens in WITHIN)
    print(f"{'project':20} questions  NDCG@10  ripgrep{within}   p50 ms   p95 ms   tokens")  # noqa: T201
    for name in options.projects.split(","):
        project = projects[name]
        folder = cache.with_name("unseen") if project.unseen else cache
        root = cloned(folder / name, project.url, project.revision) / project.root
        asked = msgspec.convert(json.loads((questions / f"{name}.json").read_text("utf-8")), list[MeaningQuestion])
        answers = asyncio.run(answered(root, asked))
        sums["unseen" if project.unseen else "development"] += answers
        sums["all"] += answers
        print(line(name, answers), flush=True)  # noqa: T201
    for name, answers in sums.items():
        if answers:
            print(line(name, answers))  # noqa: T201
    ask_documents(cache)
    if set(options.projects.split(",")) == set(projects) and mean(each.ours for each in sums["development"]) < GOAL:
        raise SystemExit(f"the goal of the development questions is {GOAL}")


def cloned(folder: Path, url: str, revision: str | None) -> Path:
    """Return a project at a revision; where that is not to be had any more, at its newest, which is said."""
    if folder.exists():
        return folder
    making = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    git(making, "init", "-q")
    if not revision or not git(making, "fetch", "-q", "--depth=1", url, revision, check=False):
        if revision:
            sys.stderr.write(f"{folder.name}: revision {revision} is not there any more; its newest is taken\n")
        git(making, "fetch", "-q", "--depth=1", url, "HEAD")
    git(making, "checkout", "-q", "FETCH_HEAD")
    return making.rename(folder)


def git(folder: Path, *arguments: str, check: bool = True) -> bool:
    """Run git in a folder; return whether it was content."""
    return subprocess.run(["git", "-C", folder, *arguments], check=check).returncode == 0  # noqa: S607


def ask_documents(cache: Path) -> None:
    """Ask the questions to documents, and print a line for each project and one for all."""
    table = tomllib.loads(Path(__file__).with_name("documents.toml").read_text("utf-8"))
    everything: list[int | None] = []
    print(f"\n{'documents of':20} questions    first  first 3  first 10")  # noqa: T201
    for name, documents in msgspec.convert(table, dict[str, Documents]).items():
        root = cloned(cache / name, documents.url, documents.revision)
        places = asyncio.run(places_of(root, documents.questions))
        everything += places
        print(shares(name, places), flush=True)  # noqa: T201
    print(shares("all", everything))  # noqa: T201


async def places_of(root: Path, questions: Sequence[tuple[str, str, int, int]]) -> list[int | None]:
    """Return for each question at which place the section stands that answers it, counted from 0; None for nowhere."""
    found: list[int | None] = []
    async with Client(stdio_client(server_of(root))) as client:
        await ready(client)
        for query, path, first, last in questions:
            answer = await client.call_tool("search", {"query": query, "mode": "docs"})
            assert answer.structured_content, answer.content
            each = enumerate(answer.structured_content["files"][:FIRST])
            right = (
                place
                for place, passage in each
                if passage["path"] == path and passage["lines"][0] <= last and passage["lines"][1] >= first
            )
            found.append(next(right, None))
            if found[-1] != 0:
                sys.stderr.write(f"{root.name}: {query!r} is answered at place {found[-1]}\n")
    return found


def shares(name: str, places: Sequence[int | None]) -> str:
    """Return a row of the table."""
    counts = [sum(place is not None and place < most for place in places) / len(places) for most in (1, 3, FIRST)]
    return f"{name:20} {len(places):9}  " + "  ".join(f"{count:7.3f}" for count in counts)


def server_of(root: Path) -> StdioServerParameters:
    """Return how a server over a project is started."""
    command = ["-I", "-B", "-m", "fledgling", "serve", "--root", str(root)]
    return StdioServerParameters(command=sys.executable, args=command, cwd=Path("/"))


async def answered(root: Path, questions: Sequence[MeaningQuestion]) -> list[MeaningAnswer]:
    """Ask a server over a project, and ripgrep, the same questions."""
    found = []
    async with Client(stdio_client(server_of(root))) as client:
        await ready(client)
        for question in questions:
            begun = time.perf_counter()
            answer = await client.call_tool("search", {"query": question.query, "mode": "meaning"})
            seconds = time.perf_counter() - begun
            assert not answer.is_error, answer.content
            assert answer.structured_content
            paths = [passage["path"] for passage in answer.structured_content["files"]]
            text = text_of(answer)
            theirs = by_ripgrep(root, question.query)
            ripgrep = None if theirs is None else ndcg(theirs, question.files)
            ours = ndcg(paths, question.files)
            named = named_at(text, [path for path in paths if any(first([path], file) == 0 for file in question.files)])
            found.append(MeaningAnswer(ours, ripgrep, seconds, len(text) / TOKEN_CHARS, named))
            if ours < 1:
                sys.stderr.write(f"{root.name}: {question.query!r} {ours:.2f} {question.files}: {paths[:3]}\n")
    return found


async def ready(client: Client) -> None:
    """Wait until a server ranks: a call waits for its index, as long as a call may."""
    while (await client.call_tool("search", {"query": "warm up", "mode": "meaning"})).is_error:
        pass


def named_at(text: str, paths: Sequence[str]) -> float:
    """Return how many tokens of an answer there are until one of some paths is named; infinity where none is.

    >>> named_at("2 of 9 files\\na.py:1-2  x", ["a.py"]), named_at("Nothing says this\\na.py:1-2  x", ["a.py"])
    (4.5, inf)
    """
    ends = [at + len(path) + 1 for path in paths if (at := text.find(f"\n{path}:")) >= 0]
    return min(ends, default=inf) / TOKEN_CHARS if NOTHING not in text else inf


def text_of(answer: CallToolResult) -> str:
    """Return the text of an answer."""
    return "".join(part.text for part in answer.content if isinstance(part, TextContent))


def by_ripgrep(root: Path, query: str) -> list[str] | None:
    """Return the files with the most lines that have a word of a question; None where ripgrep is not installed."""
    program = shutil.which("rg")
    if program is None:
        return None
    words = [word for word in re.findall(r"\w+", query) if len(word) > SHORT_WORDS] or [query]
    patterns = [part for word in words for part in ("-e", word)]
    done = subprocess.run(
        [program, "--count", "--ignore-case", "--fixed-strings", *patterns, "--", "."],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    counts = Counter[str]()
    for each in done.stdout.splitlines():
        path, _, count = each.rpartition(":")
        counts[path.removeprefix("./")] = int(count)
    return [path for path, _ in counts.most_common(FIRST)]


def ndcg(paths: Sequence[str], files: Sequence[str]) -> float:
    """Return how far in front the files stand among the first paths.

    >>> ndcg(["b.py", "src/a.py"], ["a.py"])
    0.6309297535714575
    """
    places = {place for file in files if (place := first(paths[:FIRST], file)) is not None}
    most = sum(1 / log2(place + 2) for place in range(min(FIRST, len(files))))
    return sum(1 / log2(place + 2) for place in places) / most if most else 0.0


def first(paths: Sequence[str], file: str) -> int | None:
    """Return the place of a file, of which either path may begin above the other's root."""
    ends = (
        place for place, path in enumerate(paths) if f"/{path}".endswith(f"/{file}") or f"/{file}".endswith(f"/{path}")
    )
    return next(ends, None)


def line(name: str, answers: Sequence[MeaningAnswer]) -> str:
    """Return a row of the table."""
    milliseconds = [1000 * each.seconds for each in answers]
    theirs = [each.ripgrep for each in answers if each.ripgrep is not None]
    ripgrep = f"{mean(theirs):.3f}" if theirs else "-"
    slow = quantiles(milliseconds, n=20)[-1]
    tokens = mean(each.tokens for each in answers)
    named = "".join(f"  {mean(each.named <= most for each in answers):6.3f}" for most in WITHIN)
    figures = f"{len(answers):9}  {mean(each.ours for each in answers):7.3f}  {ripgrep:>7}{named}"
    return f"{name:20} {figures}  {median(milliseconds):7.1f}  {slow:7.1f}  {tokens:7.0f}"


if __name__ == "__main__":
    main()
