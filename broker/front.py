"""The door: profile and arguments are checked here, once, and questions go on to the worker."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from fledgling.broker import schema
from fledgling.broker.indexing import Indexing, IndexingError
from fledgling.broker.query_worker import LOST, QueryWorker
from fledgling.config import suggestion
from fledgling.wire import QUESTIONS, AnyAnswer, AnyQuestion, Built, Profile, Progress, Refusal

MAX_CALLS = 32  # calls at work or waiting; one more is told that the server is busy
PROGRESS_SECONDS = 0.5  # between two reports to a caller who waits for the index

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
        self._worker: QueryWorker | None = None
        self._replacing = asyncio.Lock()
        self._retiring: set[asyncio.Task[None]] = set()
        self._calls = 0

    async def call(
        self, tool: str, arguments: Mapping[str, object], report: Report | None = None
    ) -> AnyAnswer | Refusal:
        """Check the tool and its arguments, then ask; every refusal is an answer."""
        if tool not in self.profile.tools:
            return self.denied(tool)
        try:
            question = msgspec.convert(arguments, QUESTIONS[tool])
        except msgspec.ValidationError as problem:
            return invalid(tool, problem)
        return await self.ask(question, report)

    async def ask(self, question: AnyQuestion, report: Report | None = None) -> AnyAnswer | Refusal:
        """Put one question, waiting for the index where it is not there yet."""
        if self._calls >= MAX_CALLS:
            return Refusal("busy", f"{MAX_CALLS} calls are at work already", "Wait for an answer, then ask again.")
        self._calls += 1
        try:
            built = await self._index(report)
            return await self._put(question, built) or await self._put(question, built) or LOST
        except IndexingError as failed:
            return failed.refusal
        finally:
            self._calls -= 1

    def denied(self, tool: str) -> Refusal:
        """Return the refusal for a tool that the profile does not allow, or that does not exist."""
        return Refusal(
            "denied",
            f"{tool[:64]!r} is not a tool of the profile {self.profile.name}",
            f"Use one of: {', '.join(self.profile.tools)}.",
        )

    async def close(self) -> None:
        """End the processes behind the door."""
        if self._worker:
            await self._worker.close()
        await asyncio.gather(*self._retiring)
        await self._indexing.close()

    async def _index(self, report: Report | None) -> Built:
        while report and not await self._indexing.is_built(PROGRESS_SECONDS):
            await report(self._indexing.progress or Progress("walk", 0, 0))
        return await self._indexing.built()

    async def _put(self, question: AnyQuestion, built: Built) -> AnyAnswer | Refusal | None:
        """Put a question to a worker; None where that had ended before it could have looked at it."""
        worker = await self._serving(built)
        if worker is None:
            return Refusal("unavailable", "the query worker does not start", "Ask again later; see the server's log.")
        return await worker.ask(question)

    async def _serving(self, built: Built) -> QueryWorker | None:
        """Return a worker that serves, a new one over the same image where the last has died or is spent."""
        async with self._replacing:
            if self._worker and self._worker.is_serving():
                return self._worker
            if self._worker:
                retiring = asyncio.create_task(self._worker.retire())
                self._retiring.add(retiring)
                retiring.add_done_callback(self._retiring.discard)
                _log.warning("the query worker (pid %d) has ended or is spent; a new one takes over", self._worker.pid)
            self._worker = QueryWorker(self._indexing.image_fd, self.profile, built)
            return self._worker if await self._worker.ready() else None


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
