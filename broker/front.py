"""The door: profile and arguments are checked here, once, and questions go on to the worker."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial

from msgspec.structs import replace

from fledgling.broker import mending
from fledgling.broker.basis import Basis
from fledgling.broker.breaker import Breaker
from fledgling.broker.embedding.connector import Connector
from fledgling.broker.embedding.reranking import reranked
from fledgling.broker.following import Follower, LostError
from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.indexing.ordering import is_replaced
from fledgling.broker.protocol import tools
from fledgling.broker.query_worker import QueryWorker
from fledgling.broker.refused import GIVEN_UP, NO_ROOT, not_looked_at, not_ready, taken, unfinished
from fledgling.broker.terms import Report, Terms, due
from fledgling.broker.workers import Workers
from fledgling.messages.answers import AnyAnswer, DependencyGraph, Excerpt, Hits, Ranking, Refusal, SymbolList
from fledgling.messages.control import Progress, TagsByHand
from fledgling.messages.following import AskRefs, Refs, Swept
from fledgling.messages.generations import CODE, GRAPH, WORDS
from fledgling.messages.inner_answers import CallGraph, Found, InnerAnswer, Overview
from fledgling.messages.profile import Profile
from fledgling.messages.questions import AnyQuestion, Asked, Candidates, Query, Read, Reordered, Search, Survey, Symbols
from fledgling.messages.status import Changed
from fledgling.plain import counted, said
from fledgling.settings import Freshness

MAX_CALLS = 32  # calls at work or waiting; one more is told that the server is busy
MAX_SQL_CALLS = 24  # of them SQL, which may take all of query_timeout: room is left for calls that are quick
PROGRESS_SECONDS = 0.5  # between two reports to a caller who waits for the index
PATIENCE_SECONDS = 5.0  # for which calls wait when an index is built anew; then they are answered from the one before
RANKS_SECONDS = 10.0  # for which a question that no line answers waits for words: 10,000 files have them by then
UNSEEN = "The index is still being built: files that were written since that began may be shown as they were."
UNFOLLOWED = "Changes of the project since it was indexed cannot be followed: this may be out of date."

ByHand = Callable[[Asked], TagsByHand]  # the tags that the answer to a question may speak of


def no_tags(_: Asked) -> TagsByHand:
    """Return what there is of tags by hand where no agent can give any."""
    return TagsByHand()


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
        self.by_hand: ByHand = no_tags  # what agents have given
        self.connector: Connector | None = None  # where text that the profile shows may go to an embedding endpoint
        self._breaker = Breaker()
        self._follower = Follower(indexing, freshness) if indexing.files.is_followed else None
        self._workers = Workers(indexing, self._breaker, self._follower)
        self._calls = 0
        self._sql_calls = 0
        self._uses = 0  # calls and looks, which need the files of the index
        self._is_closed = False
        self._idle = asyncio.Event()
        self._idle.set()

    async def call(self, tool: str, arguments: Mapping[str, object], terms: Terms | None = None) -> AnyAnswer | Refusal:
        """Check the tool and its arguments, then ask what they mean; every refusal is an answer."""
        meant = taken(self.profile, tool, arguments, self.indexing.root)
        if isinstance(meant, Refusal):
            return meant
        ask = partial(self.ask, terms=terms or Terms(due(self.profile)))
        return await mending.answered(meant, ask, self.profile.tools, self.indexing.root)

    async def ask(self, question: AnyQuestion, terms: Terms | None = None) -> AnyAnswer | Refusal:
        """Put one question as soon as a generation of the index can answer it.

        Whatever the call has to wait for, it is answered or refused GRACE after its deadline.
        """
        terms = terms or Terms(due(self.profile))
        newest, worker = self.indexing.newest_or_none(), self._workers.current
        found = await self._ask(question, terms)
        assert not isinstance(found, InnerAnswer)
        is_early = not newest or newest.number < WORDS or (worker is not None and not worker.serves(WORDS))
        if is_early and isinstance(question, Search) and question.may_mean and isinstance(found, Hits):
            found = await self._once_ranked(question, found, terms)
        if self.connector and isinstance(found, Ranking) and found.mode_used == "meaning":
            assert isinstance(question, Search)
            ask = partial(self._ask, terms=terms._replace(report=None, least=WORDS))
            return await reranked(self.connector, ask, question, found, terms.deadline, self.indexing.tell)
        return found

    async def _once_ranked(self, question: Search, found: Hits, terms: Terms) -> AnyAnswer | Refusal:
        """Return what there is to say once words are there to a question that no line answers; else its lines."""
        if found.files:
            return found
        soon = min(terms.deadline, time.monotonic() + RANKS_SECONDS)
        later = await self._ask(question, terms._replace(least=WORDS, deadline=soon))
        assert not isinstance(later, InnerAnswer)
        return found if isinstance(later, Refusal) else later

    async def survey(self, deadline: float | None = None, *, calls: bool = True) -> Overview | Refusal:
        """Return what a report shows of the whole index: who may see that is decided where it is shown.

        Half of the time is for `calls`; where they cannot be had, the rest is told without them, and why.
        """
        deadline, why = deadline or due(self.profile), None
        if calls:
            seconds = max(0.0, deadline - time.monotonic()) / 2
            found = await self._ask(Survey(calls=True), Terms(deadline - seconds))
            if isinstance(found, Overview):
                return found
            assert isinstance(found, Refusal)
            is_late = time.monotonic() >= deadline - seconds
            reason = f"the index was not ready after {seconds:.0f} s" if is_late else found.reason
            why = said(f"Which function calls which is not known: {reason}.")
        found = await self._ask(Survey(), Terms(deadline))
        assert isinstance(found, Overview | Refusal)
        return replace(found, calls=CallGraph(missing=why)) if why and isinstance(found, Overview) else found

    async def _ask(self, question: Asked, terms: Terms) -> Found | Refusal:
        is_sql = isinstance(question, Query)
        if self._calls >= MAX_CALLS or (is_sql and self._sql_calls >= MAX_SQL_CALLS):
            return Refusal("busy", f"{self._calls} calls are at work already", "Wait for an answer, then ask again.")
        if (getattr(question, "cursor", None) or "").count(":") > 1:
            return Refusal("invalid", "the cursor is of a server with several projects", "Ask for the first page.")
        self._calls += 1
        self._sql_calls += is_sql
        try:
            with self._in_use():
                return await self._found(question, terms)
        except IndexingError as failed:
            return failed.refusal
        finally:
            self._calls -= 1
            self._sql_calls -= is_sql

    async def _found(self, question: Asked, terms: Terms) -> Found | Refusal:
        """Wait for the generation that can answer, and put the question. Raises IndexingError."""
        number = max(terms.least, tools.generation(question))
        try:
            async with asyncio.timeout_at(terms.deadline):
                if number == GRAPH and isinstance(question, Symbols) and (early := await self._early(question, terms)):
                    return early
                await self.indexed(number, terms.report)
        except TimeoutError:
            return unfinished(self.profile, self.indexing)
        return await self._put(question, number, terms.deadline, terms.basis or Basis())

    async def _early(self, question: Symbols, terms: Terms) -> Refusal | None:
        """Return the refusal of a question about uses that names no definition, or several, before they are known."""
        if await self.indexing.is_sealed(GRAPH, 0):
            return None
        await self.indexed(CODE, terms.report)
        found = await self._put(question, CODE, terms.deadline, Basis())
        return found if isinstance(found, Refusal) and found.kind in ("not_found", "ambiguous") else None

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Keep the files of the index open for as long as the block lasts, where who closes waits until it is idle.

        Raises IndexingError where they are closed.
        """
        if self._is_closed:
            raise IndexingError(GIVEN_UP)
        self._uses += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._uses -= 1
            if not self._uses:
                self._idle.set()

    async def idle(self) -> None:
        """Wait until no call is at work; each ends by its own time."""
        await self._idle.wait()

    async def indexed(self, number: int, report: Report | None = None) -> None:
        """Wait until a generation of the index is there, and report how far it is. Raises IndexingError."""
        while report and not await self.indexing.is_sealed(number, PROGRESS_SECONDS):
            await report(self.indexing.progress or Progress("walk", 0, 0))
        await self.indexing.sealed(number)

    def indexings(self) -> dict[str, Indexing]:
        """Return the index behind the door, which has no name."""
        return {"": self.indexing}

    async def rest(self) -> None:
        """End the processes that answer and keep the index; the next call starts them again.

        Not while a call or a look is at work: it would start again and again what it waits for.
        """
        if self._uses:
            return
        self._workers.rest()
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
        with suppress(IndexingError, LostError, TimeoutError), self._in_use():
            async with asyncio.timeout_at(due(self.profile)):
                worker = await self._workers.serving(CODE)
                if isinstance(worker, Refusal):
                    return
                swept = await self._follower.bring_up(worker, time.monotonic(), may_share=False)
            if swept and (swept.obstacle not in (None, "no root") or not worker.has_room):
                self.indexing.renew()

    async def changed(self, since: int | None) -> Changed | None:
        """Return what has changed since a generation, or the index was built; None where nobody can tell."""
        worker = self._workers.current
        if not self._follower or not worker or self._workers.is_old(worker) or self.has_no_root:
            return None
        return await self._follower.changed(max(self.indexing.changes, 0) if since is None else since)

    @property
    def has_no_root(self) -> bool:
        """Whether the root was gone at the last look, or another directory has its name."""
        is_gone = self._follower is not None and not self._follower.has_root
        return is_gone or is_replaced(self.indexing.root, self.indexing.root_fd)

    async def refs(self, asked: AskRefs, deadline: float) -> Refs | None:
        """Return what the refs of the project's repository say; None where nobody can look, or not in time."""
        with suppress(IndexingError, TimeoutError), self._in_use():
            async with asyncio.timeout_at(deadline):
                await self.indexing.sealed(CODE)
                return await self._follower.refs(asked) if self._follower else None
        return None

    @property
    def basis(self) -> Basis:
        """What an answer would be made of now, as far as the last look knows."""
        worker = self._workers.current
        return worker.basis if worker else Basis()

    async def close(self) -> None:
        """End the processes behind the door."""
        self._is_closed = True
        await self._workers.close()
        if self._follower:
            await self._follower.close()
        await self.indexing.close()

    async def _put(self, question: Asked, number: int, deadline: float, basis: Basis) -> Found | Refusal:
        """Put a question to a worker, and to the next one where that ends before it has begun with it.

        Where a file that the answer names has changed since the last look, it is put once more.
        """
        as_of = time.monotonic()
        # The others tell of files that they do not name, and so does whatever the graph answers.
        may_share = isinstance(question, Read | Search | Candidates | Reordered) and number < GRAPH
        while True:
            if deadly := self._breaker.refusal(question):
                return deadly
            try:
                async with asyncio.timeout_at(deadline):
                    worker, stale = await self._current(number, as_of, may_share=may_share)
            except TimeoutError:
                if self.indexing.newest().number < number:
                    return unfinished(self.profile, self.indexing)
                current = self._workers.current
                if current is None or not current.serves(number) or not self._workers.is_followed(current):
                    return not_ready(self.profile)  # no worker was, or the one that now serves came at the last moment
                return not_looked_at(self.profile)
            if isinstance(worker, Refusal):
                return worker
            made_of = Basis()
            found = await worker.ask(question, deadline, made_of, by_hand=self.by_hand(question))
            if found is None or (stale is None and not worker.has_room):  # for the change that it was told of last
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
            worker = await self._workers.serving(number)
            if isinstance(worker, Refusal) or not self._workers.is_followed(worker):
                is_early = self._follower is not None and not isinstance(worker, Refusal)
                return worker, UNSEEN if is_early else None
            assert self._follower
            try:
                swept = await self._follower.bring_up(worker, as_of, may_share=may_share)
            except LostError:
                return worker, UNFOLLOWED
            if swept is None:
                continue
            if self.has_no_root:
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
        return number >= GRAPH and has_changed and self.indexing.served_begun < as_of

    async def _is_current(self, worker: QueryWorker, found: Found | Refusal, as_of: float, deadline: float) -> bool:
        """Return whether the files that an answer names are what the worker knows; one that names none takes a look."""
        if not self._follower or not self._workers.is_followed(worker) or self._follower.has_looked_since(as_of):
            return True
        paths = named(found)
        try:
            async with asyncio.timeout_at(deadline):
                return bool(paths) and await self._follower.are_current(paths)
        except (LostError, TimeoutError):
            return False

    def _stale(self, swept: Swept) -> str:
        """Say that an answer is older than the project."""
        files = f" ({counted(swept.pending, 'file')})" if swept.pending else ""
        changed = f"The project has changed since this was indexed{files}"
        if self.indexing.is_over:
            return f"{changed}, and could not be indexed again: this may be out of date."
        return f"{changed}, and this may be out of date: {self.indexing.state()}."


def with_note(found: Found | Refusal, note: str | None) -> Found | Refusal:
    """Return an answer with one more sentence in its note, or a refusal where that may be why nothing was found."""
    if note is None or isinstance(found, InnerAnswer):
        return found
    if isinstance(found, Refusal):
        is_of_index = found.kind in ("not_found", "ambiguous", "not_indexed")
        return replace(found, next_step=said(f"{found.next_step} {note}")) if is_of_index else found
    return replace(found, note=" ".join(filter(None, (found.note, note))))


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
