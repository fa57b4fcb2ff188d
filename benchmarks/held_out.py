"""How well a search by meaning does where no weight is fitted: `make bench-held-out`, or

    .venv/bin/python benchmarks/held_out.py --projects chi,bat --cache ~/.cache/fledgling-bench

The projects and questions of held_out.toml have no part in the weights; the bounds of refusal and doubt were chosen on
them, so what is said of those here flatters. Of each question the file that answers it is
known, and the line on which the definition begins. The figures are NDCG@10 of files, and three shares of questions:
those whose definition is the first that an answer names of its file; those whose definition is named at all within 600
tokens, by that line or one of the comment above it; and those whose file is, by an answer that is no "nothing says
this". Those of projects that were not looked at are summed by themselves.
Behind them stands how many questions are answered by "nothing says this", or with a doubt: of those that are answered
rightly, with the file among the first three or the definition named, and of those about what is not there. Who mends
something by a question here has to write another one.
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
from meaning import cloned, named_at, ndcg, server_of, text_of

from fledgling.plain import lines_in_short
from fledgling.worker.tools.meaning import IN_DOUBT, NOTHING

TOKENS = 600  # of an answer, four characters each, in which the definition is to be found
AMONG_THREE = 0.5  # NDCG of one file that is the third
ABOVE = 10  # lines of comments and attributes with which a definition may begin


class HeldOutRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of held_out.toml: questions, each with the file that answers it, and the line of the definition."""

    url: str
    revision: str
    questions: list[tuple[str, str, int]]
    absent: list[str] = []
    looked_at: bool = False


class HeldOutAnswer(NamedTuple):
    """What became of one question."""

    ndcg: float
    is_first: bool
    is_named: bool
    has_file: bool
    tokens: float
    answer: str

    @property
    def is_right(self) -> bool:
        """Whether the file is among the first three, or the definition is named."""
        return self.is_named or self.ndcg >= AMONG_THREE


def main() -> None:
    """Ask all questions, and print a line for each project and one for all."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    projects = msgspec.convert(table, dict[str, HeldOutRow])
    parser = ArgumentParser(description="How well a search by meaning does where no weight is fitted.")
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/fledgling-bench"), help="default: %(default)s")
    parser.add_argument("--projects", default=",".join(projects), help="default: all")
    options = parser.parse_args()
    everything: list[HeldOutAnswer] = []
    unseen: list[HeldOutAnswer] = []
    absent: list[str] = []
    print(f"{'project':20} questions  NDCG@10    first    named     file   tokens")  # noqa: T201
    for name in options.projects.split(","):
        held = projects[name]
        root = cloned(options.cache.expanduser().resolve() / "held-out" / name, held.url, held.revision)
        found, not_there = asyncio.run(answers(root, held))
        everything += found
        absent += not_there
        unseen += [] if held.looked_at else found
        print(line(name, found), flush=True)  # noqa: T201
    for label, some in (("not looked at", unseen), ("all", everything)):
        if some:
            print(line(label, some))  # noqa: T201
    print(f"\n{'':20} questions  refused  in doubt")  # noqa: T201
    print(doubts("answered rightly", [each.answer for each in everything if each.is_right]))  # noqa: T201
    print(doubts("not there", absent))  # noqa: T201


async def answers(root: Path, held: HeldOutRow) -> tuple[list[HeldOutAnswer], list[str]]:
    """Ask a server over a project; return what became of its questions, and the answers about what is not there."""
    found = []
    async with Client(stdio_client(server_of(root))) as client:
        while (await client.call_tool("search", {"query": "warm up", "mode": "meaning"})).is_error:
            pass  # it waits for the index as long as a call may
        for query, path, start in held.questions:
            answer = await client.call_tool("search", {"query": query, "mode": "meaning"})
            assert not answer.is_error, answer.content
            assert answer.structured_content
            text = text_of(answer)
            rows = answer.structured_content["files"]
            named = [each for row in rows if row["path"] == path for each in named_in(row, text[: TOKENS * 4])]
            right = [at for at, each in enumerate(named) if holds(each, start, lines_of(root / path))]
            if right[:1] != [0]:
                nearest = [f"{row['path']}:{row['lines'][0]}" for row in rows[:3]]
                sys.stderr.write(f"{root.name}: {query!r} is {path}:{start}; the first are {', '.join(nearest)}\n")
            score = ndcg([row["path"] for row in rows], [path])
            has_file = any(row["path"] == path for row in rows) and named_at(text, [path]) <= TOKENS
            found.append(HeldOutAnswer(score, right[:1] == [0], bool(right), has_file, len(text) / 4, text))
        absent = [await client.call_tool("search", {"query": query, "mode": "meaning"}) for query in held.absent]
    return found, [*map(text_of, absent)]


def named_in(row: dict[str, Any], text: str) -> Iterator[tuple[int, int | str]]:
    """Yield the definitions that a row of an answer names, the best first, as far as the text has them: the lines of
    that, and of others the line that each begins on, and its name.
    """
    first, last = row["lines"]
    _, begins, behind = text.partition(f"{row['path']}:{lines_in_short(first, last)}  ")
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


def line(name: str, found: list[HeldOutAnswer]) -> str:
    """Return a row of the table."""
    first, named = mean(each.is_first for each in found), mean(each.is_named for each in found)
    file, tokens = mean(each.has_file for each in found), mean(each.tokens for each in found)
    figures = f"{mean(each.ndcg for each in found):7.3f}  {first:7.3f}  {named:7.3f}  {file:7.3f}  {tokens:7.0f}"
    return f"{name:20} {len(found):9}  {figures}"


def doubts(name: str, answers: list[str]) -> str:
    """Return a row of the table of questions that are answered by nothing, or with a doubt."""
    refused, in_doubt = (sum(sign in answer for answer in answers) for sign in (NOTHING, IN_DOUBT))
    return f"{name:20} {len(answers):9}  {refused:7}  {in_doubt:8}"


if __name__ == "__main__":
    main()
