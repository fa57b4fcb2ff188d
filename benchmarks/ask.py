"""How long answers take, from three places: an MCP client, the broker's side of the pipe, and inside the worker.

The same questions are asked everywhere, first once to warm up, and timed when the graph is there, too: while it is
made, an answer waits for a core. Times are seconds.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from itertools import cycle, islice
from pathlib import Path
from random import Random
from statistics import median, quantiles

import corpora
import layers
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from measure import MemoryWatch, rest, started

from fledgling.broker.breaker import Breaker
from fledgling.broker.front import Front
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.query_worker import QueryWorker
from fledgling.messages.answers import Refusal
from fledgling.messages.control import Generation, Open
from fledgling.messages.generations import WORDS
from fledgling.messages.questions import AnyQuestion, Explore, Search, Symbols
from fledgling.security import memory_file
from fledgling.security import profile as profiles
from fledgling.settings import Settings
from fledgling.worker.query.dispatch import answer
from fledgling.worker.store.database import lock_down, memory_share, open_sealed, start
from fledgling.worker.store.ngrams import Signatures
from fledgling.worker.store.symbols import Outlines
from fledgling.worker.store.text import Blocks
from fledgling.worker.tools.request import Request

QUESTIONS = 100  # of each kind
RESPAWNS = 11  # workers started, one after the other
LOGGED = 2000  # characters of a server's log that are shown where it failed
PASSES = 10  # over the files of a corpus, each of which gives one question of a kind at a time
_SAID = re.compile(r"(?:#|//|\*) ((?:[A-Za-z][a-z]+ ){3,7}[a-z]+)")  # a sentence of a comment, as one may ask for it
_DEFINED = re.compile(r"\b(?:def|class|func|fn|struct|interface|function|type) +(\w{4,40})\b")

Figures = dict[str, float]


class AskError(Exception):
    """An answer was a refusal."""


class CorpusQuestions:
    """Literals, defined names and words of comments of a corpus, always the same ones."""

    def __init__(self, corpus: Path) -> None:
        paths = corpora.listed(corpus)
        random = Random(1)  # noqa: S311
        random.shuffle(paths)
        self.literals: list[str] = []
        self.names: list[str] = []
        self.sentences: list[str] = []
        for path in islice(cycle(paths), PASSES * len(paths)):
            text = _text(corpus / path)
            lines = (line.strip() for line in text.splitlines())
            long = [line for line in lines if 12 < len(line) < 200 and line.isprintable()]
            if long and len(self.literals) < QUESTIONS:
                line = random.choice(long)
                first, length = random.randrange(len(line) - 6), random.randrange(5, 25)
                if len(literal := line[first : first + length].strip()) > 3:
                    self.literals.append(literal)
            if len(self.names) < QUESTIONS and (names := _DEFINED.findall(text)):
                self.names.append(random.choice(names))
            if len(self.sentences) < QUESTIONS and (said := _SAID.search(text)):
                self.sentences.append(said[1])
            if len(self.literals) == len(self.names) == len(self.sentences) == QUESTIONS:
                return
        raise AskError(f"{corpus} holds too little text to ask {QUESTIONS} questions")


def _text(path: Path) -> str:
    data = path.read_bytes()
    return "" if b"\0" in data else data.decode("utf-8", "ignore")


def spread(name: str, seconds: Sequence[float]) -> Figures:
    """Return p50 and p95: `{"search_p50": 0.002, "search_p95": 0.009}`."""
    return {f"{name}_p50": median(seconds), f"{name}_p95": quantiles(seconds, n=20)[-1]}


async def through_client(
    command: Sequence[str], corpus: Path, questions: CorpusQuestions, rg: Sequence[str]
) -> tuple[Figures, Figures]:
    """Return what a client of `fledgling serve` sees, and what `rg` takes for the same literals, in turns."""
    found: dict[str, list[float]] = {"search": [], "lookup": [], "rg": []}
    figures: Figures = {}
    begun = time.perf_counter()
    async with _client(command, corpus) as client:
        await _call(client, "explore", {})
        figures["explore_client"] = time.perf_counter() - begun
        server = started(command)
        with MemoryWatch(server) as watch:
            for literal, name in zip(questions.literals, questions.names, strict=True):
                await _call(client, "symbols", {"name_pattern": name})
                await _call(client, "search", {"query": literal})
        figures["serve_memory"] = watch.peak
        await rest(server)
        for literal, name in zip(questions.literals, questions.names, strict=True):
            found["search"].append(await timed(_call(client, "search", {"query": literal})))
            if rg:
                found["rg"].append(_process([*rg, literal], corpus))
            found["lookup"].append(await timed(_call(client, "symbols", {"name_pattern": name})))
    figures |= spread("client_search", found["search"]) | spread("client_lookup", found["lookup"])
    return figures, spread("search", found["rg"]) if rg else {}


async def peer_lookups(
    command: Sequence[str], corpus: Path, environment: Mapping[str, str], ask: tuple[str, str], names: Sequence[str]
) -> Figures:
    """Return how long an MCP peer takes to find symbols by name: `ask` is its tool and that tool's argument."""
    tool, argument = ask
    async with _client(command, corpus, environment) as client:
        for name in names[:10]:
            await _call(client, tool, {argument: name})
        return spread("lookup", [await timed(_call(client, tool, {argument: name})) for name in names])


async def through_pipe(corpus: Path, profile: str, questions: CorpusQuestions) -> Figures:
    """Return what the broker sees of the worker, with this process as the broker, and what the pipe costs a call."""
    begun = time.perf_counter()
    indexing = Indexing(Settings(root=str(corpus), max_files=1_000_000), profiles.load(profile))
    front = Front(indexing.profile, indexing)
    figures: Figures = {}
    try:
        await indexing.accepted()
        for kind, question in (("explore", Explore()), ("first_search", Search(query=questions.literals[0]))):
            await _ask(front, question)
            figures[kind] = time.perf_counter() - begun
        generation = await indexing.sealed(WORDS)
        await rest(os.getpid())
        images = indexing.images
        signatures, blocks, outlines = (
            Signatures(memory_file.mapped(images.signatures)),
            Blocks(memory_file.mapped(images.blocks)),
            Outlines(memory_file.mapped(images.outlines)),
        )
        opened = Open(os.getpid(), images, indexing.profile, generation)
        with closing(start()) as db:
            open_sealed(db, images, WORDS, memory_share(images, WORDS, indexing.profile.memory_limit))
            lock_down(db)

            async def inside(question: AnyQuestion) -> None:
                with closing(db.cursor()) as cursor:
                    answer(Request(cursor, signatures, blocks, outlines, opened, WORDS), question)

            async def outside(question: AnyQuestion) -> None:
                await _ask(front, question)

            for kind, asked in _wire(questions).items():
                seconds = await _interleaved(asked, outside, inside)
                figures |= spread(kind, seconds[0]) | spread(f"inside_{kind}", seconds[1])
            by_meaning = [Search(query=sentence, mode="meaning") for sentence in questions.sentences]
            figures |= spread("meaning", (await _interleaved(by_meaning, outside))[0])
        figures["pipe"] = figures["lookup_p50"] - figures["inside_lookup_p50"]
        figures["respawn"] = median([await _respawn(indexing, generation) for _ in range(RESPAWNS)])
        figures["layers"] = layers.seconds()
    finally:
        await front.close()
    return figures


def _wire(questions: CorpusQuestions) -> dict[str, list[AnyQuestion]]:
    return {
        "search": [Search(query=literal) for literal in questions.literals],
        "lookup": [Symbols(name_pattern=name) for name in questions.names],
    }


async def _interleaved(
    asked: Sequence[AnyQuestion], *ways: Callable[[AnyQuestion], Awaitable[None]]
) -> list[list[float]]:
    """Ask each question every way, and all of them twice: the second time counts."""
    for question in asked:
        for way in ways:
            await way(question)
    seconds: list[list[float]] = [[] for _ in ways]
    for question in asked:
        for way, taken in zip(ways, seconds, strict=True):
            taken.append(await timed(way(question)))
    return seconds


async def _respawn(indexing: Indexing, generation: Generation) -> float:
    """Return how long another worker takes to be ready."""
    begun = time.perf_counter()
    worker = QueryWorker(indexing, Breaker())
    if not await worker.ready(generation):
        raise AskError("a query worker does not start")
    seconds = time.perf_counter() - begun
    await worker.close()
    return seconds


async def timed(call: Awaitable[object]) -> float:
    """Return the seconds that a call takes."""
    begun = time.perf_counter()
    await call
    return time.perf_counter() - begun


async def _ask(front: Front, question: AnyQuestion) -> None:
    if isinstance(found := await front.ask(question), Refusal):
        raise AskError(f"{question}: {found.reason}")


@asynccontextmanager
async def _client(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Client]:
    server = StdioServerParameters(
        command=command[0], args=list(command[1:]), cwd=folder, env=dict(environment) if environment else None
    )
    with tempfile.TemporaryFile("w+") as log:
        try:
            async with Client(stdio_client(server, errlog=log)) as client:
                yield client
        except Exception:
            log.seek(0)
            sys.stderr.write(log.read()[-LOGGED:])
            raise


async def _call(client: Client, tool: str, arguments: dict[str, object]) -> None:
    found = await client.call_tool(tool, arguments)
    if found.is_error:
        raise AskError(f"{tool}({arguments}): {found.content}")


def _process(command: Sequence[str], folder: Path) -> float:
    begun = time.perf_counter()
    subprocess.run(command, cwd=folder, check=False, capture_output=True)
    return time.perf_counter() - begun
