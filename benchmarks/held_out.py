"""How well a search by meaning does where no weight is fitted: `make bench-held-out`, or

    .venv/bin/python benchmarks/held_out.py --projects chi,bat --cache ~/.cache/fledgling-bench

The projects and questions of held_out.toml have no part in the weights. Of each question the file that answers it is
known, and the line on which the definition begins. The figures are NDCG@10 of files, and two shares of questions: those
whose definition is the first that an answer names of its file, and those whose definition is named at all within 600
tokens, by that line or one of the comment above it. Those of projects that were not looked at are summed by themselves.
Who mends something by a question here has to write another one.
"""

import asyncio
import sys
import tomllib
from argparse import ArgumentParser
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import msgspec
from mcp import Client
from mcp.client.stdio import stdio_client
from meaning import cloned, ndcg, server_of

TOKENS = 600  # of an answer, four characters each, in which the definition is to be found
ABOVE = 10  # lines of comments and attributes with which a definition may begin


class Held(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of held_out.toml: questions, each with the file that answers it, and the line of the definition."""

    url: str
    revision: str
    questions: list[tuple[str, str, int]]
    looked_at: bool = False


class Answered(NamedTuple):
    """What became of one question."""

    ndcg: float
    is_first: bool
    is_named: bool
    tokens: float


def main() -> None:
    """Ask all questions, and print a line for each project and one for all."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    projects = msgspec.convert(table, dict[str, Held])
    parser = ArgumentParser(description="How well a search by meaning does where no weight is fitted.")
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/fledgling-bench"), help="default: %(default)s")
    parser.add_argument("--projects", default=",".join(projects), help="default: all")
    options = parser.parse_args()
    everything: list[Answered] = []
    unseen: list[Answered] = []
    print(f"{'project':20} questions  NDCG@10    first    named   tokens")  # noqa: T201
    for name in options.projects.split(","):
        held = projects[name]
        root = cloned(options.cache.expanduser().resolve() / "held-out" / name, held.url, held.revision)
        found = asyncio.run(answers(root, held))
        everything += found
        unseen += [] if held.looked_at else found
        print(line(name, found), flush=True)  # noqa: T201
    for label, some in (("not looked at", unseen), ("all", everything)):
        if some:
            print(line(label, some))  # noqa: T201


async def answers(root: Path, held: Held) -> list[Answered]:
    """Ask a server over a project."""
    found = []
    async with Client(stdio_client(server_of(root))) as client:
        while (await client.call_tool("search", {"query": "warm up", "mode": "meaning"})).is_error:
            pass  # it waits for the index as long as a call may
        for query, path, start in held.questions:
            answer = await client.call_tool("search", {"query": query, "mode": "meaning"})
            assert not answer.is_error, answer.content
            assert answer.structured_content
            text = "".join(part.text for part in answer.content)
            rows = answer.structured_content["files"]
            named = [each for row in rows if row["path"] == path for each in named_in(row, text[: TOKENS * 4])]
            right = [at for at, each in enumerate(named) if holds(each, start, lines_of(root / path))]
            if right[:1] != [0]:
                nearest = [f"{row['path']}:{row['lines'][0]}" for row in rows[:3]]
                sys.stderr.write(f"{root.name}: {query!r} is {path}:{start}; the first are {', '.join(nearest)}\n")
            score = ndcg([row["path"] for row in rows], [path])
            found.append(Answered(score, right[:1] == [0], bool(right), len(text) / 4))
    return found


def named_in(row: dict[str, Any], text: str) -> Iterator[tuple[int, int | str]]:
    """Yield the definitions that a row of an answer names, the best first, as far as the text has them: the lines of
    that, and of others the line that each begins on, and its name.
    """
    first, last = row["lines"]
    _, begins, behind = text.partition(f"{row['path']}:{first}-{last}  ")
    if begins:
        yield first, last
    yield from ((line, name) for line, name in row.get("others", ()) if f" {line} {name}" in behind)


@cache
def lines_of(path: Path) -> list[str]:
    """Return the lines of a file."""
    return path.read_text("utf-8").split("\n")


def holds(named: tuple[int, int | str], start: int, lines: list[str]) -> bool:
    """Return whether what is named is the definition that begins on a line: it has that line, or its name is there.

    >>> lines = ["# all of it", "def whole():", "    pass"]
    >>> holds((1, 3), 2, lines), holds((1, "mod.whole"), 2, lines), holds((1, "half"), 2, lines)
    (True, True, False)
    """
    first, end = named
    is_it = start <= end if isinstance(end, int) else end.rpartition(".")[2] in lines[start - 1]
    return start - ABOVE <= first <= start and is_it


def line(name: str, found: list[Answered]) -> str:
    """Return a row of the table."""
    first, named = mean(each.is_first for each in found), mean(each.is_named for each in found)
    tokens = mean(each.tokens for each in found)
    figures = f"{mean(each.ndcg for each in found):7.3f}  {first:7.3f}  {named:7.3f}  {tokens:7.0f}"
    return f"{name:20} {len(found):9}  {figures}"


if __name__ == "__main__":
    main()
