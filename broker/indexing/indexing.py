"""The index of one profile: what of it is there, who waits for more, and another build where one dies."""

import asyncio
import logging
import os
import time
from contextlib import suppress
from datetime import UTC, datetime

from msgspec.structs import astuple, replace

from fledgling import refusals
from fledgling.broker.audit_log.records import AnyRecord, Tell
from fledgling.broker.indexing.attempt import Attempt
from fledgling.broker.indexing.failures import DiedError, IndexingError, failed
from fledgling.broker.indexing.files import HeldFiles
from fledgling.broker.indexing.ordering import opened, ordered, reference, started
from fledgling.broker.indexing.progress import in_words
from fledgling.broker.indexing.relating import related
from fledgling.broker.memory import Memory
from fledgling.broker.watchdog import within
from fledgling.messages.control import (
    CONFINED,
    Accepted,
    Built,
    Confining,
    Generation,
    Images,
    Open,
    Progress,
    lacking,
)
from fledgling.messages.generations import CODE, EDGES, GRAPH, LISTING, TEXT, WORDS
from fledgling.messages.profile import Profile
from fledgling.settings import Settings

UNFINISHED = "The index could not be finished: what is not there now will be missing until Fledgling is started again."
BUILD_SECONDS = 1800.0  # for an index, two builds included; a kernel of 78,000 files takes a minute of two quiet cores
RENEW_AGAIN_SECONDS = 30.0  # from a build of a changed project that failed to the next try
INDEX_LESS = "Index less (exclude_patterns, max_file_size, max_files), then start Fledgling again."
_log = logging.getLogger("fledgling")


def _unheard(_: AnyRecord) -> None:
    pass


class Indexing:
    """An index that is being built. Creating one starts the indexer; `accepted` and `built` wait for what it reports.

    Where a process of the build dies, the index is built once more, over memory files of its own; what the first build
    has sealed is served until the second has as much.

    >>> indexing = Indexing(settings, profile)
    >>> await indexing.accepted()
    >>> (await indexing.built()).files
    812
    """

    indexes = 1  # of those that a worker opens

    def __init__(
        self,
        settings: Settings,
        profile: Profile,
        *,
        confining: Confining = CONFINED,
        tell: Tell = _unheard,
        is_followed: bool = False,
        tree: str | None = None,
        for_graph: bool = True,
    ) -> None:
        """Start the indexer. Where the index `is_followed`, it keeps what a follower needs, and may be built anew.

        Without `for_graph` there is none, which takes a tenth of what an indexer loads.
        With a `tree` the hash of what is indexed is told; where it is this one, UnchangedError is raised in its place.
        Raises IndexingError where the root cannot be opened, OSError where there is no file or process to be had.
        """
        root, self.root_fd = opened(settings.root)
        self.root = str(root)  # by its name alone: what is below it is the indexer's
        self.reference = reference(self.root_fd)
        self.profile = profile
        self.confining = confining
        self.tell = tell
        self.progress: Progress | None = None
        try:
            self.files = HeldFiles(is_followed=is_followed)
        except OSError:
            self._close_root()
            raise
        self.memory = Memory(profile.memory_limit, self.files.all)
        self.news = asyncio.Event()  # set, and replaced by another, with all that changes what is said below
        self.is_over = False
        self.scope = settings.scope  # what the newest index was built with
        self.cut: str | None = None  # what is to be said of files that the newest index lacks
        self.changes = self.latest = -1  # generations of changes: of the newest index, and the last there is of it
        self._accepted: Accepted | None = None
        self._sealed: dict[int, Generation] = {}
        self._newest: Generation | None = None
        self._failure: IndexingError | None = None
        self._died: str | None = None
        self.begun = time.monotonic()  # the last build
        self.completed_at: datetime | None = None  # the last build, whole or not
        self.ingested_at: datetime | None = None  # when the first build was whole
        self.updated_at: datetime | None = None  # when the last was, or a change was taken over since
        self.has_files: int | None = None  # how many are in the index that was built last
        self._contents: str | None = None  # the hash of these, where the profile has it told
        self.served_begun = float("-inf")  # when the build of the newest index began
        self._not_before = 0.0  # on the clock of time.monotonic, when a build that failed may be tried again
        self._building: asyncio.Task[Built] | None = None
        self._relating: asyncio.Task[None] | None = None  # behind a build
        self._no_graph: IndexingError | None = None
        self._graph_wanted = asyncio.Event()
        order = ordered(settings, profile, confining, self.files.filling.images, root, self.root_fd)
        self.order = replace(order, tree=tree, for_graph=for_graph)  # to all indexers, but for the files they fill
        try:
            self._attempt = self._started()
        except OSError:
            self.files.close()
            self._close_root()
            raise
        self.begun_at = self.started_at  # the build of the newest generation

    def begin(self) -> None:
        """Follow what the indexer reports, from now on. Whoever waits for anything below begins that, too."""
        if self._building is None:
            self._building = asyncio.create_task(self._build())
            self._building.add_done_callback(lambda done: done.cancelled() or done.exception())  # who waits hears it

    async def accepted(self) -> Accepted:
        """Wait until the indexer has checked the profile's views and the project's own settings; any number may."""
        while self._accepted is None:
            await self._changed()
        return self._accepted

    async def sealed(self, number: int) -> Generation:
        """Wait until a generation is there, and return it or a later one.

        Any number of callers may wait, and one that is cancelled does not stop the build. Raises IndexingError.
        """
        while number not in self._sealed:
            await self._changed(number)
        return self._sealed[number]

    @property
    def started_at(self) -> datetime:
        """When the last build began."""
        return self._attempt.started_at

    @property
    def is_accepted(self) -> bool:
        """Whether an indexer has begun."""
        return self._accepted is not None

    @property
    def failure(self) -> str | None:
        """Why the last build has failed, as a sentence, if it has."""
        return self._failure.refusal.reason if self._failure else None

    @property
    def content_hash(self) -> str | None:
        """The hash of what answers are made of; None once a change is laid over it, or where the profile tells none."""
        return self._contents if self.changes == self.latest else None

    @property
    def images(self) -> Images:
        """What a worker opens that starts now."""
        return self.files.served.images

    def descriptors(self) -> tuple[int, ...]:
        """Return what a worker is handed that starts now."""
        return astuple(self.images)

    def opening(self, generation: Generation) -> Open:
        """Return what a worker is told to open."""
        return Open(os.getpid(), self.images, self.profile, generation, self.confining, max(self.changes, 0))

    def newest(self) -> Generation:
        """Return the last generation that is there. Comes after `sealed`."""
        assert self._newest
        return self._newest

    def newest_or_none(self) -> Generation | None:
        """Return the last generation that is there, if there is one."""
        return self._newest

    @property
    def partial(self) -> str | None:
        """Say in sentences what the newest index lacks, changes included."""
        if (newest := self._newest) is None:
            return None
        return lacking(newest.partial, newest.cut, self.cut) if newest.number >= CODE else newest.partial

    def age(self) -> float:
        """Return the seconds since the last build began."""
        return time.monotonic() - self.begun

    async def is_sealed(self, number: int, seconds: float) -> bool:
        """Wait at most so long; return whether `sealed` would now answer at once."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while number not in self._sealed and not self._failure:
                    await self._changed(number)
        return number in self._sealed or self._failure is not None

    async def built(self) -> Built:
        """Wait until everything is there, and return the statistics."""
        self.begin()
        assert self._building
        return await asyncio.shield(self._building)

    def renew(self, *, afresh: bool = False) -> None:
        """Build the index anew, unless that is under way; until it is whole, what is there is served.

        Where that has just failed, it is tried again in a while. What has not changed is not parsed again; for an
        operator, `afresh`, all is, and at once.
        """
        if not self.is_over or (time.monotonic() < self._not_before and not afresh):
            return
        if self._relating:
            self._relating.cancel()  # what it resolves is of the project as it was
            self.files.keep("facts_fd")
        if afresh:
            self.files.forget()
        self._died = self._failure = None
        self.progress = self.completed_at = None
        self.is_over = False
        try:
            self.files.begin(is_any_served=True)
            self._attempt = self._started()
        except OSError as problem:
            _log.error("the index cannot be built anew: %s", problem.strerror)
            self.is_over, self._not_before = True, time.monotonic() + RENEW_AGAIN_SECONDS
            return
        self._building, self.begun = None, time.monotonic()
        self.begin()
        self._tell_news()

    def changed_to(self, generation: int) -> None:
        """Note that there is this generation of changes."""
        if generation > self.latest:
            self.latest, self.updated_at = generation, datetime.now(UTC)
            self._tell_news()

    async def renewed(self, images: Images | None, until: float) -> bool:
        """Wait until there is an index over other files than these; False where that takes too long, or failed."""
        with suppress(TimeoutError, IndexingError):
            async with asyncio.timeout_at(until):
                while self.images is images:
                    await self._changed()
        return self.images is not images

    def state(self) -> str:
        """Say how far a build is: "the index is still being built: files are being parsed, 1,200 of 3,000 files"."""
        once_more = f"being built once more, since {self._died}" if self._died else "still being built"
        return f"the index is {once_more}: {in_words(self.progress or Progress('walk', 0, 0))}"

    def resolving(self) -> str | None:
        """Say how far the graph is, if that is at work: "uses of definitions are being resolved, 400 of 812 files"."""
        is_at_work = self._relating is not None and not self._relating.done() and GRAPH not in self._sealed
        return in_words(self.progress) if is_at_work and self.progress and self.progress.total else None

    async def close(self) -> None:
        """End the indexer if it still works, and let go of the images."""
        for task in filter(None, (self._building, self._relating)):
            task.cancel()
            await asyncio.wait([task])
        await self._attempt.end()
        self.files.close()
        self._close_root()

    async def _changed(self, number: int = CODE) -> None:
        """Wait until there is news; raise IndexingError where there will be none of this generation."""
        self.begin()
        if self._failure:
            raise IndexingError(self._failure.refusal, is_refused=self._failure.is_refused)
        if number >= GRAPH:
            self._graph_wanted.set()
            if self._no_graph:
                raise IndexingError(self._no_graph.refusal)
        if self.is_over and not (number >= GRAPH and self._relating):
            raise IndexingError(refusals.NO_INDEX)
        await self.news.wait()

    def _tell_news(self) -> None:
        told, self.news = self.news, asyncio.Event()
        told.set()

    def _started(self) -> Attempt:
        """Start an indexer over the memory files that are to be filled."""
        filling, known = self.files.filling, self.files.known
        return Attempt(started(self.root_fd, filling, known), self.order, filling, known, tell=self.tell)

    async def _build(self) -> Built:
        """Build the index, to its end: all waiters are told."""
        try:
            async with within(BUILD_SECONDS, lambda: self._attempt.pid):
                return await self._built_in_two()
        except TimeoutError:
            late = await self._attempt.given_up(
                f"the index was not complete after {BUILD_SECONDS:g} s, and its build was ended"
            )
            raise self._fails(IndexingError(replace(late.refusal, next_step=INDEX_LESS))) from None
        except IndexingError as failure:
            raise self._fails(failure) from None
        finally:
            if not self.files.is_followed:
                self._close_root()
            self.is_over, self.completed_at = True, datetime.now(UTC)
            self._tell_news()

    def _fails(self, failure: IndexingError) -> IndexingError:
        """There will be no more than there is, and an answer of that says so."""
        self._failure = failure
        self._not_before = time.monotonic() + RENEW_AGAIN_SECONDS
        if self._newest and self._newest.number < WORDS:
            self._newest = replace(self._newest, pending=UNFINISHED)
        return failure

    async def _built_in_two(self) -> Built:
        """Build the index, and once more where the first build dies."""
        try:
            return await self._built_at_once()
        except DiedError as died:
            self._died = str(died)
        _log.error("%s; the index is built once more", self._died)
        self._start_again()
        try:
            return await self._built_at_once()
        except DiedError as died:
            first = self._died
            reason = f"the index could not be built, and is not tried again: {first}; the second time {died}"
            raise failed(reason) from died

    def _start_again(self) -> None:
        """Start another indexer over memory files of its own; what nobody can open is let go."""
        self.progress = None
        try:
            self.files.begin(is_any_served=self._newest is not None)
            self._attempt = self._started()
        except OSError as problem:
            reason = f"{self._died}, and no other indexer can be started: {problem.strerror}"
            raise failed(reason) from problem
        self._tell_news()

    async def _built_at_once(self) -> Built:
        """Follow one indexer to its end. Raises IndexingError, or DiedError where another may do better."""
        is_beside = self._newest is not None and self._newest.number >= CODE
        is_first = self._accepted is None
        self._accepted = await self._attempt.accepted(self.memory, is_first=is_first, is_beside=is_beside)
        self._tell_news()
        return await self._followed()

    async def _followed(self) -> Built:
        """Take what the indexer reports, one after the other, to the end."""
        last = -1
        while isinstance(message := await self._attempt.report(), Progress | Generation):
            if isinstance(message, Progress):
                self.progress = message
            elif message.number <= last:
                break
            else:
                await self._attempt.check(message.number)
                if message.number == WORDS:
                    self.files.keep("findings_fd")
                self._serve(message, is_new=last < CODE <= message.number)
                last = message.number
        if not isinstance(message, Built) or last != WORDS:
            raise await self._attempt.failed(message)
        self.has_files, self._contents = message.files, message.contents
        self.updated_at = datetime.now(UTC)
        self.ingested_at = self.ingested_at or self.updated_at
        if self.order.for_graph:
            self.progress = Progress("relate", 0, 0)
            self._relating = asyncio.create_task(self._relate(self._attempt))
        return message

    async def _relate(self, attempt: Attempt) -> None:
        """Serve the graph behind the index; without one, who asks for it hears why."""
        try:
            await related(attempt, self._graph_wanted, self._take_related)
        except IndexingError as failure:
            self._no_graph = failure
        finally:
            self._tell_news()

    def _take_related(self, message: Progress | Generation) -> None:
        if isinstance(message, Progress):
            self.progress = message
            return
        self.progress = Progress("fill", 0, 0)
        self._serve(message)
        self.files.keep("facts_fd")

    def _serve(self, generation: Generation, *, is_new: bool = False) -> None:
        """Let workers open a generation, if it is not less than what another build has left.

        It is new where it is the first of a build that has definitions.
        """
        if self._newest and generation.number < min(self._newest.number, CODE):
            return
        self.files.serve()
        self.begun_at = self.started_at
        if is_new:
            assert self._accepted
            self.scope = self._accepted.scope
            self.cut = generation.cut
            self.changes = self.latest = self.latest + 1
            self._contents = None  # those of the last; of these they come with the end of the build
            for number in (WORDS, GRAPH, EDGES):
                self._sealed.pop(number, None)  # that of another build
            self.served_begun = self.begun
            self._no_graph = None
        self._newest = generation
        for number in (LISTING, TEXT, CODE, WORDS, GRAPH, EDGES)[: generation.number + 1]:
            self._sealed.setdefault(number, generation)
        self._tell_news()

    def _close_root(self) -> None:
        if self.root_fd >= 0:
            os.close(self.root_fd)
            self.root_fd = -1
