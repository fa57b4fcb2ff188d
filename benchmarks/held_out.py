"""How well a search by meaning does where nothing was fitted: `make bench-held-out`, or

    .venv/bin/python benchmarks/held_out.py --projects chi,bat --cache ~/.cache/fledgling-bench

The projects and questions of held_out.toml have no part in the weights. Of each question the file that answers it is
known, and the line on which the definition begins. The figures are NDCG@10 of files, and the share of questions whose
definition itself is in one answer of 600 tokens: a row that begins on that line, or in the comment above it. Who mends
something by a question here has to write another one.
"""

import asyncio
import sys
import tomllib
from argparse import ArgumentParser
from pathlib import Path
from statistics import mean
from typing import NamedTuple

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


class Answered(NamedTuple):
    """What became of one question."""

    ndcg: float
    has_definition: bool
    tokens: float


def main() -> None:
    """Ask all questions, and print a line for each project and one for all."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    projects = msgspec.convert(table, dict[str, Held])
    parser = ArgumentParser(description="How well a search by meaning does where nothing was fitted.")
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/fledgling-bench"), help="default: %(default)s")
    parser.add_argument("--projects", default=",".join(projects), help="default: all")
    options = parser.parse_args()
    everything: list[Answered] = []
    print(f"{'project':20} questions  NDCG@10  definition   tokens")  # noqa: T201
    for name in options.projects.split(","):
        held = projects[name]
        root = cloned(options.cache.expanduser().resolve() / "held-out" / name, held.url, held.revision)
        found = asyncio.run(answers(root, held))
        everything += found
        print(line(name, found), flush=True)  # noqa: T201
    print(line("all", everything))  # noqa: T201


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
            right = [f"{row['path']}:{row['lines'][0]}-{row['lines'][1]}  " for row in rows if holds(row, path, start)]
            is_shown = any(each in text[: TOKENS * 4] for each in right)
            if not is_shown:
                nearest = [f"{row['path']}:{row['lines'][0]}" for row in rows[:3]]
                sys.stderr.write(f"{root.name}: {query!r} is {path}:{start}; the first are {', '.join(nearest)}\n")
            found.append(Answered(ndcg([row["path"] for row in rows], [path]), is_shown, len(text) / 4))
    return found


def holds(row: dict[str, list[int]], path: str, start: int) -> bool:
    """Return whether a row of an answer is the definition that begins on a line.

    >>> holds({"path": "a.py", "lines": [3, 9]}, "a.py", 5)
    True
    """
    first, last = row["lines"]
    return row["path"] == path and start - ABOVE <= first <= start <= last


def line(name: str, found: list[Answered]) -> str:
    """Return a row of the table."""
    shown = mean(each.has_definition for each in found)
    figures = f"{mean(each.ndcg for each in found):7.3f}  {shown:10.3f}  {mean(each.tokens for each in found):7.0f}"
    return f"{name:20} {len(found):9}  {figures}"


if __name__ == "__main__":
    main()
