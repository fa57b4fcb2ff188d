"""The door: profile and arguments are checked here, once, and questions go on to the worker."""

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial

import msgspec

from fledgling.broker import mending
from fledgling.broker.basis import Basis
from fledgling.broker.breaker import Breaker
from fledgling.broker.following import Follower, LostError
from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.protocol import schema, tools
from fledgling.broker.query_worker import QueryWorker
from fledgling.broker.spelling import arguments as spelled
from fledgling.broker.spelling.arguments import MeaningError, Taken
from fledgling.broker.spelling.tools import likely
from fledgling.config import Freshness, suggestion
from fledgling.messages.answers import (
    AnyAnswer,
    DependencyGraph,
    Excerpt,
    Found,
    Hits,
    InnerAnswer,
    Overview,
    Ranking,
    Refusal,
    SymbolList,
)
from fledgling.messages.control import Progress, Swept
from fledgling.messages.generations import CODE, GRAPH, LISTING
from fledgling.messages.profile import Profile
from fledgling.messages.questions import QUESTIONS, AnyQuestion, Asked, Query, Read, Search, Survey
from fledgling.messages.status import Changed
from fledgling.plain import counted, said

MAX_CALLS = 32  # calls at work or waiting; one more is told that the server is busy
MAX_SQL_CALLS = 24  # of them SQL, which may take all of query_timeout: room is left for calls that are quick
AGAIN_SECONDS = 1.0  # between two tries to let a worker take over; callers wait for none of them
PROGRESS_SECONDS = 0.5  # between two reports to a caller who waits for the index

PATIENCE_SECONDS = 5.0  # for which calls wait when an index is built anew; then they are answered from the one before
UNSEEN = "The index is still being built: files that were written since that began may be shown as they were."
UNFOLLOWED = "Changes of the project since it was indexed cannot be followed: this may be out of date."
NO_ROOT = Refusal(
    "unavailable",
    "the root has been deleted, or another directory has taken its place",
    "Start Fledgling again; nothing is answered from what was there.",
)
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

    def __init__(self, profile: Profile, indexing: Indexing, freshness: Freshness = "burst") -> None:
        """Follow the project between calls as the index is followed; `freshness` says how often to look."""
        self.profile = profile
        self.indexing = indexing
        indexing.begin()
        self._breaker = Breaker()
        self._follower = Follower(indexing, freshness) if indexing.is_followed else None
        self._worker: QueryWorker | None = None
        self._loading: QueryWorker | None = QueryWorker(indexing, self._breaker)  # while the indexer walks
        self._replacing: asyncio.Task[Refusal | None] | None = None
        self._retiring: set[asyncio.Task[None]] = set()
        self._following = asyncio.create_task(self._follow())
        self._calls = 0
        self._sql_calls = 0

    def deadline(self) -> float:
        """Return by when a call that arrives now must be answered, on the clock of time.monotonic."""
        return time.monotonic() + self.profile.query_timeout

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, object],
        report: Report | None = None,
        *,
        least: int = LISTING,
        deadline: float | None = None,
        basis: Basis | None = None,
    ) -> AnyAnswer | Refusal:
        """Check the tool and its arguments, then ask what they mean; every refusal is an answer.

        `basis` takes what the answer was made of.
        """
        meant = taken(self.profile, tool, arguments, self.indexing.root)
        if isinstance(meant, Refusal):
            return meant
        ask = partial(self.ask, report=report, least=least, deadline=deadline or self.deadline(), basis=basis)
        return await mending.answered(meant, ask, self.profile.tools, self.indexing.root)

    async def ask(
        self,
        question: AnyQuestion,
        report: Report | None = None,
        *,
        least: int = LISTING,
        deadline: float | None = None,
        basis: Basis | None = None,
    ) -> AnyAnswer | Refusal:
        """Put one question as soon as a generation of the index can answer it, at `least` that one.

        Whatever the call has to wait for, it is answered or refused GRACE after `deadline`, by default its own.
        """
        found = await self._ask(question, report, least, deadline or self.deadline(), basis)
        assert not isinstance(found, InnerAnswer)
        return found

    async def survey(self) -> Overview | Refusal:
        """Return what a report shows of the whole index; for the person who started this broker, not for an agent."""
        found = await self._ask(Survey(), None, CODE, self.deadline(), None)
        assert isinstance(found, Overview | Refusal)
        return found

    async def _ask(
        self, question: Asked, report: Report | None, least: int, deadline: float, basis: Basis | None
    ) -> Found | Refusal:
        is_sql = isinstance(question, Query)
        if self._calls >= MAX_CALLS or (is_sql and self._sql_calls >= MAX_SQL_CALLS):
            return Refusal("busy", f"{self._calls} calls are at work already", "Wait for an answer, then ask again.")
        if (getattr(question, "cursor", None) or "").count(":") > 1:
            return Refusal("invalid", "the cursor is of a server with several projects", "Ask for the first page.")
        self._calls += 1
        self._sql_calls += is_sql
        try:
            number = max(least, tools.generation(question))
            try:
                async with asyncio.timeout_at(deadline):
                    await self.indexed(number, report)
            except TimeoutError:
                return unfinished(self.profile, self.indexing)
            return await self._put(question, number, deadline, basis or Basis())
        except IndexingError as failed:
            return failed.refusal
        finally:
            self._calls -= 1
            self._sql_calls -= is_sql

    async def indexed(self, number: int, report: Report | None = None) -> None:
        """Wait until a generation of the index is there, and report how far it is. Raises IndexingError."""
        while report and not await self.indexing.is_sealed(number, PROGRESS_SECONDS):
            await report(self.indexing.progress or Progress("walk", 0, 0))
        await self.indexing.sealed(number)

    def indexings(self) -> dict[str, Indexing]:
        """Return the index behind the door, which has no name."""
        return {"": self.indexing}

    async def rest(self) -> None:
        """End the processes that answer and keep the index; the next call starts them again."""
        worker, self._worker = self._worker, None
        if worker:
            self._end(worker.retire())
        if self._follower:
            await self._follower.rest()

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[None]:
        """Wait for nothing of ours inside: others may have their turn, where turns are taken."""
        yield

    async def look(self) -> None:
        """Look for changes as before a call, without waiting where an index is to be built anew."""
        newest = self.indexing.newest_or_none()
        if not self._follower or not newest or newest.number < CODE:
            return
        with suppress(LostError, TimeoutError):
            async with asyncio.timeout_at(self.deadline()):
                worker = await self._serving(CODE)
                if isinstance(worker, Refusal):
                    return
                swept = await self._follower.bring_up(worker, time.monotonic(), may_share=False)
            if swept and (swept.obstacle not in (None, "no root") or not worker.has_room):
                self.indexing.renew()

    async def changed(self, since: int | None) -> Changed | None:
        """Return what has changed since a generation, or the index was built; None where nobody can tell."""
        if not self._follower or not self._worker or self._is_old(self._worker):
            return None
        return await self._follower.changed(max(self.indexing.changes, 0) if since is None else since)

    @property
    def basis(self) -> Basis:
        """What an answer would be made of now, as far as the last look knows."""
        return self._worker.basis if self._worker else Basis()

    async def close(self) -> None:
        """End the processes behind the door."""
        tasks = [task for task in (self._following, self._replacing) if task]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        for worker in (self._worker, self._loading):
            if worker:
                await worker.close()
        await asyncio.gather(*self._retiring)
        if self._follower:
            await self._follower.close()
        await self.indexing.close()

    async def _put(self, question: Asked, number: int, deadline: float, basis: Basis) -> Found | Refusal:
        """Put a question to a worker, and to the next one where that ends before it has begun with it.

        Where a file that the answer names has changed since the last look, it is put once more.
        """
        as_of = time.monotonic()
        # The others tell of files that they do not name, and so does whatever the graph answers.
        may_share = isinstance(question, Read | Search) and number < GRAPH
        while True:
            if deadly := self._breaker.refusal(question):
                return deadly
            try:
                async with asyncio.timeout_at(deadline):
                    worker, stale = await self._current(number, as_of, may_share=may_share)
            except TimeoutError:
                if self.indexing.newest().number < number:
                    return unfinished(self.profile, self.indexing)
                has_worker = self._worker is not None and self._worker.serves(number)
                return not_looked_at(self.profile) if has_worker else not_ready(self.profile)
            if isinstance(worker, Refusal):
                return worker
            made_of = Basis()
            found = await worker.ask(question, deadline, made_of)
            if found is None:
                continue
            if may_share and not await self._is_current(worker, found, as_of, deadline):
                as_of, may_share = time.monotonic(), False
                continue
            if made_of.generation is not None:
                basis.take(made_of.generation, made_of.as_of)
            return with_note(found, stale)

    async def _current(self, number: int, as_of: float, *, may_share: bool) -> tuple[QueryWorker | Refusal, str | None]:
        """Return a worker that answers from the project as it was at a moment, or a sentence on why it cannot."""
        while True:
            worker = await self._serving(number)
            if isinstance(worker, Refusal) or not self._is_followed(worker):
                is_early = self._follower is not None and not isinstance(worker, Refusal)
                return worker, UNSEEN if is_early else None
            assert self._follower
            try:
                swept = await self._follower.bring_up(worker, as_of, may_share=may_share)
            except LostError:
                return worker, UNFOLLOWED
            if swept is None:
                continue
            if swept.obstacle == "no root":
                return NO_ROOT, None
            if not swept.obstacle and worker.has_room and not self._lacks_changes(number, swept, as_of):
                return worker, None
            self.indexing.renew()
            until = max(as_of, self.indexing.begun + PATIENCE_SECONDS)
            if not await self.indexing.renewed(worker.images, until):
                return worker, self._stale(swept)

    def _lacks_changes(self, number: int, swept: Swept, as_of: float) -> bool:
        """Return whether the graph is older than what is asked for: no change is laid over it."""
        has_changed = swept.generation != self.indexing.changes
        return number == GRAPH and has_changed and self.indexing.served_begun < as_of

    async def _is_current(self, worker: QueryWorker, found: Found | Refusal, as_of: float, deadline: float) -> bool:
        """Return whether the files that an answer names are what the worker knows; one that names none takes a look."""
        if not self._follower or not self._is_followed(worker) or self._follower.has_looked_since(as_of):
            return True
        paths = named(found)
        try:
            async with asyncio.timeout_at(deadline):
                return bool(paths) and await self._follower.are_current(paths)
        except (LostError, TimeoutError):
            return False

    def _is_followed(self, worker: QueryWorker) -> bool:
        return self._follower is not None and worker.generation is not None and worker.generation.number >= CODE

    def _stale(self, swept: Swept) -> str:
        """Say that an answer is older than the project."""
        files = f" ({counted(swept.pending, 'file')})" if swept.pending else ""
        changed = f"The project has changed since this was indexed{files}"
        if self.indexing.is_over:
            return f"{changed}, and could not be indexed again: this may be out of date."
        return f"{changed}, and this may be out of date: {self.indexing.state()}."

    async def _serving(self, number: int) -> QueryWorker | Refusal:
        """Return a worker that serves a generation or a later one; calls to the one before go on while it starts."""
        while not (worker := self._worker) or not worker.serves(number) or self._is_old(worker):
            await self.indexing.sealed(number)  # of an index that was built anew
            if self._replacing is None or self._replacing.done():
                self._replacing = asyncio.create_task(self._replaced())
            if refusal := await asyncio.shield(self._replacing):  # who waits no longer does not stop it for the others
                return refusal
        return worker

    def _is_old(self, worker: QueryWorker) -> bool:
        """Return whether a worker serves an index that another has taken the place of, since the project changed."""
        return self._is_followed(worker) and worker.images is not self.indexing.images

    async def _replaced(self) -> Refusal | None:
        """Let a worker over the newest generation take over."""
        if wait := self._breaker.unavailable():
            return wait
        loading, self._loading = self._loading, None
        if loading and await self._takes_over(loading):
            return None
        try:
            worker = QueryWorker(self.indexing, self._breaker)
        except OSError as problem:
            _log.error("no query worker can be started: %s", problem.strerror)
            return NOT_STARTED
        return None if await self._takes_over(worker) else self._breaker.unavailable() or NOT_STARTED

    async def _takes_over(self, worker: QueryWorker) -> bool:
        """Let a worker open the newest generation and take over; False where it ended instead, or has other files."""
        try:
            is_ready = worker.images is self.indexing.images and await worker.ready(self.indexing.newest())
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
        """Let a worker over each generation take over as soon as it is there, until no more will come."""
        while True:
            news = self.indexing.news
            if self._loading and self._loading.images is not self.indexing.images:
                self._end(self._loading.close())  # it would keep the files of a build that has ended
                self._loading = None
            newest = self.indexing.newest_or_none()
            # The first worker of all is waiting; it takes over when it is asked, or when all is there.
            if newest and (newest.number >= CODE or self._worker or self._is_replacing()):
                await self._served()
            if self.indexing.is_over and self._loading:
                self._end(self._loading.close())  # what it waited for will not come
                self._loading = None
            if self._follower and newest and newest.number >= CODE:
                await self._follower.begin()
            elif self.indexing.is_over and not self._follower:
                break
            await news.wait()

    def _is_replacing(self) -> bool:
        return self._replacing is not None and not self._replacing.done()

    async def _served(self) -> None:
        """Let a worker over the newest generation take over, in as many tries as it takes."""
        while not self._serves_newest():
            if not self._is_replacing():
                self._replacing = asyncio.create_task(self._replaced())
            assert self._replacing
            if await asyncio.shield(self._replacing):
                await asyncio.sleep(AGAIN_SECONDS)

    def _serves_newest(self) -> bool:
        """Return whether the worker is over the newest generation, or lacks the graph alone: few ask for that."""
        worker, newest = self._worker, self.indexing.newest()
        if not worker or not worker.generation:
            return False
        lacks_graph = newest.number == GRAPH and worker.generation.number == CODE
        return worker.generation is newest or (lacks_graph and worker.images is self.indexing.images)


def taken(profile: Profile, tool: str, arguments: Mapping[str, object], root: str) -> Taken | Refusal:
    """Return the question that a call means, or why it is refused before it is put to anybody.

    >>> taken(profile, "search", {"pattern": "x"}, "/srv/app").words
    ('pattern as query',)
    """
    if tool not in profile.tools:
        return denied(profile, tool, likely(tool, arguments, root, profile.tools))
    try:
        return spelled.taken(tool, arguments, root)
    except msgspec.ValidationError as problem:
        return invalid(tool, problem, profile.tools)
    except MeaningError as twice:
        return Refusal("invalid", str(twice), "Leave one of them out.")


def denied(profile: Profile, tool: str, likely: str | None = None) -> Refusal:
    """Return the refusal for a tool that the profile does not allow, or that there is not, with a `likely` call."""
    perhaps = f"Perhaps you mean {likely}. " if likely else ""
    return Refusal(
        "denied",
        f"{tool[:64]!r} is not a tool of the profile {profile.name}",
        said(f"{perhaps}Use one of: {', '.join(profile.tools)}."),
    )


def not_ready(profile: Profile) -> Refusal:
    """Return the refusal for a call that found no worker in its time."""
    return Refusal(
        "unavailable",
        f"no query worker was ready within the profile's query_timeout of {profile.query_timeout:g} s",
        "Ask again: one is being started.",
    )


def not_looked_at(profile: Profile) -> Refusal:
    """Return the refusal for a call in whose time nobody could say what has changed."""
    return Refusal(
        "unavailable",
        f"the project was not checked for changes within the profile's query_timeout of {profile.query_timeout:g} s",
        "Ask again: a process that does not answer is replaced.",
    )


def with_note(found: Found | Refusal, note: str | None) -> Found | Refusal:
    """Return an answer with one more sentence in its note, or a refusal where that may be why nothing was found."""
    if note is None or isinstance(found, InnerAnswer):
        return found
    if isinstance(found, Refusal):
        is_of_index = found.kind in ("not_found", "ambiguous")
        return msgspec.structs.replace(found, next_step=said(f"{found.next_step} {note}")) if is_of_index else found
    return msgspec.structs.replace(found, note=" ".join(filter(None, (found.note, note))))


def named(found: Found | Refusal) -> set[str]:
    """Return the files that an answer shows something of."""
    match found:
        case Excerpt():
            return {found.path}
        case Hits() | SymbolList() | Ranking():
            return {file.path for file in found.files}
        case DependencyGraph():
            return {found.path, *(file.path for file in found.further)}
        case _:
            return set()


def unfinished(profile: Profile, indexing: Indexing) -> Refusal:
    """Return the refusal for a call that waited for the index all its time: how far that is, and what it answers."""
    newest = indexing.newest_or_none()
    ways = (
        [tools.TOOLS[name].meanwhile.get(newest.number) for name in profile.tools if name in tools.TOOLS]
        if newest
        else []
    )
    answered = [how for how in ways if how]
    meanwhile = f"Meanwhile ask {' or '.join(answered)}; ask" if answered else "Ask"
    return Refusal(
        "unavailable",
        f"{indexing.state()}, and what this call needs was not there within the profile's query_timeout of "
        f"{profile.query_timeout:g} s",
        f"{meanwhile} this again later.",
    )


def invalid(tool: str, problem: msgspec.ValidationError, allowed: Collection[str] = ()) -> Refusal:
    """Return the refusal for arguments that do not fit, saying what would, and which of the `allowed` tools take them.

    >>> invalid("read", msgspec.ValidationError("Expected `str`, got `int` - at `$.path`")).next_step
    'Give path as text: file relative to the root.'
    """
    known = schema.input_schema(tool)["properties"]
    named = _FIELD.search(str(problem))
    field = named[1] or named[2] if named else ""
    if field in known:
        unfit = f"has a value that does not fit ({str(problem).partition(' - at')[0]})"
        why = "is missing" if "missing required" in str(problem) else unfit
        return Refusal("invalid", f"{tool}: {field} {why}", f"Give {field} as {schema.in_words(known[field])}.")
    if not field:
        return Refusal("invalid", f"{tool}: {problem}", f"{tool} takes {', '.join(known)}.")
    others = [name for name in allowed if name in QUESTIONS and field in QUESTIONS[name].__struct_fields__]
    takers = f"; {field} is an argument of {', '.join(others)}" if others else ""
    near = suggestion(field, known, f"{tool} takes")
    return Refusal("invalid", f"{tool}: there is no argument {field!r}", f"{near}{takers}.")
