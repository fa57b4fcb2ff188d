"""The door: profile and arguments are checked here, once, and questions go on to the worker."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress

import msgspec

from fledgling.broker.breaker import Breaker
from fledgling.broker.indexing import Indexing, IndexingError
from fledgling.broker.protocol import schema
from fledgling.broker.query_worker import LOST, QueryWorker
from fledgling.config import suggestion
from fledgling.wire import (
    CODE,
    LISTING,
    QUESTIONS,
    TEXT,
    AnyAnswer,
    AnyQuestion,
    Asked,
    Explore,
    Found,
    Overview,
    Profile,
    Progress,
    Query,
    Read,
    Refusal,
    Search,
    Survey,
)

MAX_CALLS = 32  # calls at work or waiting; one more is told that the server is busy
MAX_SQL_CALLS = 24  # of them SQL, which may take all of query_timeout: room is left for calls that are quick
AGAIN_SECONDS = 1.0  # between two tries to let a worker take over; callers wait for none of them
PROGRESS_SECONDS = 0.5  # between two reports to a caller who waits for the index

NOT_STARTED = Refusal("unavailable", "the query worker does not start", "Ask again; see the server's log.")

Report = Callable[[Progress], Awaitable[None]]
_FIELD = re.compile(r"`\$\.(\w+)|field `(\w+)`")  # how msgspec names the field that is wrong, missing or unknown
_log = logging.getLogger("fledgling")


class Front:
    """Answers the questions of one agent under one profile.

    >>> front = Front(profile, indexing)
    >>> await front.call("explore", {"path": "src"})
    Exploration(...)
    """

    def __init__(self, profile: Profile, indexing: Indexing) -> None:
        self.profile = profile
        self._indexing = indexing
        self._breaker = Breaker()
        self._worker: QueryWorker | None = None
        self._loading: QueryWorker | None = QueryWorker(indexing, self._breaker)  # while the indexer walks
        self._replacing = asyncio.Lock()
        self._retiring: set[asyncio.Task[None]] = set()
        self._following = asyncio.create_task(self._follow())
        self._calls = 0
        self._sql_calls = 0

    async def call(
        self, tool: str, arguments: Mapping[str, object], report: Report | None = None, *, least: int = LISTING
    ) -> AnyAnswer | Refusal:
        """Check the tool and its arguments, then ask; every refusal is an answer."""
        if tool not in self.profile.tools:
            return self.denied(tool)
        try:
            question = msgspec.convert(arguments, QUESTIONS[tool])
        except msgspec.ValidationError as problem:
            return invalid(tool, problem)
        return await self.ask(question, report, least=least)

    async def ask(
        self, question: AnyQuestion, report: Report | None = None, *, least: int = LISTING
    ) -> AnyAnswer | Refusal:
        """Put one question as soon as a generation of the index can answer it, at `least` that one."""
        found = await self._ask(question, report, least)
        assert not isinstance(found, Overview)
        return found

    async def survey(self) -> Overview | Refusal:
        """Return what a report shows of the whole index; for the person who started this broker, not for an agent."""
        found = await self._ask(Survey(), None, CODE)
        assert isinstance(found, Overview | Refusal)
        return found

    async def _ask(self, question: Asked, report: Report | None, least: int) -> Found | Refusal:
        is_sql = isinstance(question, Query)
        if self._calls >= MAX_CALLS or (is_sql and self._sql_calls >= MAX_SQL_CALLS):
            return Refusal("busy", f"{self._calls} calls are at work already", "Wait for an answer, then ask again.")
        self._calls += 1
        self._sql_calls += is_sql
        try:
            number = max(least, needed(question))
            while report and not await self._indexing.is_sealed(number, PROGRESS_SECONDS):
                await report(self._indexing.progress or Progress("walk", 0, 0))
            await self._indexing.sealed(number)
            return await self._put(question, number) or await self._put(question, number) or LOST
        except IndexingError as failed:
            return failed.refusal
        finally:
            self._calls -= 1
            self._sql_calls -= is_sql

    def denied(self, tool: str) -> Refusal:
        """Return the refusal for a tool that the profile does not allow, or that does not exist."""
        return Refusal(
            "denied",
            f"{tool[:64]!r} is not a tool of the profile {self.profile.name}",
            f"Use one of: {', '.join(self.profile.tools)}.",
        )

    async def close(self) -> None:
        """End the processes behind the door."""
        self._following.cancel()
        await asyncio.wait([self._following])
        for worker in (self._worker, self._loading):
            if worker:
                await worker.close()
        await asyncio.gather(*self._retiring)
        await self._indexing.close()

    async def _put(self, question: Asked, number: int) -> Found | Refusal | None:
        """Put a question to a worker; None where that had ended before it could have looked at it."""
        if deadly := self._breaker.refusal(question):
            return deadly
        worker = await self._serving(number)
        return worker if isinstance(worker, Refusal) else await worker.ask(question)

    def _fitting(self, number: int) -> QueryWorker | None:
        """Return the worker at work, if it serves this generation or a later one."""
        worker = self._worker
        return worker if worker and worker.is_serving() and (worker.generation or 0) >= number else None

    async def _serving(self, number: int) -> QueryWorker | Refusal:
        """Return a worker that serves a generation or a later one; calls to the one before go on while it starts."""
        if worker := self._fitting(number):
            return worker
        async with self._replacing:
            if worker := self._fitting(number):
                return worker
            if wait := self._breaker.unavailable():
                return wait
            await self._indexing.sealed(number)
            loading, self._loading = self._loading, None
            if loading and await self._takes_over(loading):
                return loading
            worker = QueryWorker(self._indexing, self._breaker)
            return worker if await self._takes_over(worker) else self._breaker.unavailable() or NOT_STARTED

    async def _takes_over(self, worker: QueryWorker) -> bool:
        """Let a worker open the newest generation and take over; False where it ended instead."""
        try:
            is_ready = await worker.ready(self._indexing.newest())
        except asyncio.CancelledError:
            await worker.close()
            raise
        if is_ready:
            self._replace(worker)
        else:
            await worker.close()
        return is_ready

    def _replace(self, worker: QueryWorker) -> None:
        old, self._worker = self._worker, worker
        if old:
            if not old.is_serving():
                _log.warning("the query worker (pid %d) has ended or is spent; a new one takes over", old.pid)
            self._end(old.retire())

    def _end(self, ending: Coroutine[None, None, None]) -> None:
        """Let a worker end while others go on; `close` waits for it."""
        retiring = asyncio.create_task(ending)
        self._retiring.add(retiring)
        retiring.add_done_callback(self._retiring.discard)

    async def _follow(self) -> None:
        """Let a worker over each generation take over as soon as it is there; but for the last, only from another.

        Where no more will come, one takes over that says so.
        """
        try:
            await self._indexing.accepted()
            for number in (TEXT, CODE):
                await self._indexing.sealed(number)
                if number == CODE or self._worker or self._replacing.locked():
                    await self._served(number)
        except IndexingError as failed:
            loading, self._loading = self._loading, None
            if loading:
                self._end(loading.close())
            if self._worker:
                _log.error("the index stays as it is, for good: %s", failed)
                async with self._replacing:
                    await self._takes_over(QueryWorker(self._indexing, self._breaker))

    async def _served(self, number: int) -> None:
        """Let a worker over a generation, or a later one, take over, in as many tries as it takes."""
        while True:
            with suppress(OSError):  # no process could be started just now
                if not isinstance(await self._serving(number), Refusal):
                    return
            await asyncio.sleep(AGAIN_SECONDS)


def needed(question: Asked) -> int:
    """Return the generation that can answer: for the map the listing, for text the first, for definitions the last."""
    match question:
        case Explore():
            return LISTING
        case Read(symbol=None) | Search(kind=None):
            return TEXT
        case _:
            return CODE


def invalid(tool: str, problem: msgspec.ValidationError) -> Refusal:
    """Return the refusal for arguments that do not fit, saying what would.

    >>> invalid("read", msgspec.ValidationError("Expected `str`, got `int` - at `$.path`")).next_step
    'Give path as {"description":"file relative to the root","type":"string",...}.'
    """
    known = schema.input_schema(tool)["properties"]
    named = _FIELD.search(str(problem))
    field = named[1] or named[2] if named else ""
    if field in known:
        fix = f"Give {field} as {msgspec.json.encode(known[field]).decode()}."
    else:
        fix = f"{tool} takes other arguments; {suggestion(field, known)}." if field else f"Known: {', '.join(known)}."
    return Refusal("invalid", f"{tool}: {problem}", fix)
