"""The index of one profile: its indexer, what that reports, and the memory files it leaves; another where it dies."""

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self

from msgspec.structs import astuple, replace

from fledgling import refusals
from fledgling.broker.audit_log.records import AnyRecord, KilledRecord
from fledgling.broker.audit_log.writer import tell_confinement
from fledgling.broker.launch import BackProcess, how_ended
from fledgling.broker.memory import Memory
from fledgling.config import Settings
from fledgling.messages.answers import Refusal
from fledgling.messages.control import (
    CONFINED,
    Accepted,
    Build,
    Built,
    Confining,
    Crashed,
    FromIndexer,
    Generation,
    Images,
    Open,
    Progress,
    Relate,
    Unchanged,
)
from fledgling.messages.generations import CODE, GRAPH, LISTING, TEXT
from fledgling.messages.profile import Profile
from fledgling.pipe import Unpacker
from fledgling.plain import said
from fledgling.security import inspection, limits, memory_file

MAX_REPORT_BYTES = 2**21  # of a message of the indexer; the longest are a thousand exclude_patterns
Tell = Callable[[AnyRecord], None]  # what becomes of the processes: AuditLog.tell


def _unheard(_: AnyRecord) -> None:
    pass


UNFINISHED = "The index could not be finished: what is not there now will be missing until Fledgling is started again."
SILENT_SECONDS = 300.0  # between two reports; sealing the index of a kernel takes a tenth of that
BUILD_SECONDS = 1800.0  # for an index, two builds included; a kernel of 78,000 files takes a minute of two quiet cores
RELATE_AFTER_SECONDS = 1.0  # from an index to its graph, if nobody asks for it sooner: the first calls have the cores
RELATING_SECONDS = 600.0  # for the graph of an index, which is served meanwhile
RENEW_AGAIN_SECONDS = 30.0  # from a build of a changed project that failed to the next try
ENDED = "the indexer ended before the index was complete"
AGAIN = "Start Fledgling again; see its log."
AT_WORK = {  # what a build does in each stage
    "walk": "files are being listed",
    "read": "files are being read",
    "extract": "files are being parsed",
    "seal": "it is being finished",
    "relate": "uses of definitions are being resolved",
}
UNCHANGED = Refusal("unavailable", "the project is what an earlier index was made of", "Use that index.")
_log = logging.getLogger("fledgling")


class IndexingError(Exception):
    """There will be no index; `refusal` says why.

    `is_refused` tells a build that was refused, because of what it was asked to do, from one that failed.
    """

    def __init__(self, refusal: Refusal, *, is_refused: bool = False) -> None:
        super().__init__(f"{refusal.reason}; {refusal.next_step}")
        self.refusal = refusal
        self.is_refused = is_refused


class UnchangedError(IndexingError):
    """There is no need for an index: the tree is the one that was asked about."""


class _DiedError(Exception):
    """A process that a build needs has ended, or failed: how, as a sentence. Another build may do better."""


class Indexing:
    """An index that is being built. Creating one starts the indexer; `accepted` and `built` wait for what it reports.

    Where a process of the build dies, the index is built once more, over memory files of its own; what the first build
    has sealed is served until the second has as much.

    >>> indexing = Indexing(settings, profile)
    >>> await indexing.accepted()
    >>> (await indexing.built()).files
    812
    """

    def __init__(
        self,
        settings: Settings,
        profile: Profile,
        *,
        confining: Confining = CONFINED,
        tell: Tell = _unheard,
        is_followed: bool = False,
        tree: str | None = None,
    ) -> None:
        """Start the indexer. Where the index `is_followed`, it keeps what a follower needs, and may be built anew.

        With a `tree` the hash of what is indexed is told; where it is this one, UnchangedError is raised in its place.
        """
        root, self.root_fd = _opened(settings.root)
        self.root = str(root)  # by its name alone: what is below it is the indexer's
        self.profile = profile
        self.confining = confining
        self.tell = tell
        self.progress: Progress | None = None
        self.is_followed = is_followed
        self.files = self._filling = Files.created(is_followed=is_followed)  # of the newest generation; of the build
        self._known_fd: int | None = None  # facts of texts, of the last build that has found them
        self.memory = Memory(profile.memory_limit, lambda: {*self.files.all(), *self._filling.all(), *self._known()})
        self.news = asyncio.Event()  # set, and replaced by another, with all that changes what is said below
        self.is_over = False
        self.scope = settings.scope  # what the newest index was built with
        self.changes = self.latest = -1  # generations of changes: of the newest index, and the last there is of it
        self._accepted: Accepted | None = None
        self._sealed: dict[int, Generation] = {}
        self._newest: Generation | None = None
        self._failure: IndexingError | None = None
        self._died: str | None = None
        self.begun = time.monotonic()  # the last build
        self.started_at = self.begun_at = datetime.now(UTC)  # the last build; that of the newest generation
        self.completed_at: datetime | None = None  # the last build, whole or not
        self.has_files: int | None = None  # how many are in the index that was built last
        self.served_begun = float("-inf")  # when the build of the newest index began
        self._not_before = 0.0  # on the clock of time.monotonic, when a build that failed may be tried again
        self._building: asyncio.Task[Built] | None = None
        self._relating: asyncio.Task[None] | None = None  # behind a build
        self._no_graph: IndexingError | None = None
        self._graph_wanted = asyncio.Event()
        self.order = Build(  # to all indexers, but for the files they fill
            broker_pid=os.getpid(),
            images=self._filling.images,
            root_fd=self.root_fd,
            profile=profile,
            scope=settings.scope,
            root=str(root) if profile.absolute_paths else None,
            confining=confining,
            tree=tree,
        )
        self._process = self._started()

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
    def is_accepted(self) -> bool:
        """Whether an indexer has begun."""
        return self._accepted is not None

    @property
    def failure(self) -> str | None:
        """Why the last build has failed, as a sentence, if it has."""
        return self._failure.refusal.reason if self._failure else None

    @property
    def images(self) -> Images:
        """What a worker opens that starts now."""
        return self.files.images

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

    def renew(self, *, at_once: bool = False) -> None:
        """Build the index anew, unless that is under way; until it is whole, what is there is served.

        Where that has just failed, it is tried again in a while, or `at_once`.
        """
        if not self.is_over or (time.monotonic() < self._not_before and not at_once):
            return
        if self._relating:
            self._relating.cancel()  # what it resolves is of the project as it was
            self._keep_facts()
        self._died = self._failure = None
        self.progress = self.completed_at = None
        self.is_over = False
        if self._filling is not self.files:
            self._filling.close(self._known())  # of a build that has failed
            self._filling = self.files
        try:
            self._filling = Files.created(is_followed=self.is_followed)
            self._process = self._started()
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
            self.latest = generation
            self._tell_news()

    async def renewed(self, images: Images | None, until: float) -> bool:
        """Wait until there is an index over other files than these; False where that takes too long, or failed."""
        with suppress(TimeoutError, IndexingError):
            async with asyncio.timeout_at(until):
                while self.images is images:
                    await self._changed()
        return self.images is not images

    def state(self) -> str:
        """Say how far a build is: "the index is still being built: files are being parsed, 1,200 of 3,000"."""
        at = self.progress or Progress("walk", 0, 0)
        once_more = f"being built once more, since {self._died}" if self._died else "still being built"
        counted = f", {at.done:,} of {at.total:,}" if at.total else ""  # unknown, or not to be told
        return f"the index is {once_more}: {AT_WORK[at.stage]}{counted}"

    async def close(self) -> None:
        """End the indexer if it still works, and let go of the images."""
        for task in filter(None, (self._building, self._relating)):
            task.cancel()
            await asyncio.wait([task])
        self._process.kill()
        await self._process.ended()
        for fd in {*self.files.all(), *self._filling.all(), *self._known()}:
            os.close(fd)
        self._close_root()

    async def _changed(self, number: int = CODE) -> None:
        """Wait until there is news; raise IndexingError where there will be none of this generation."""
        self.begin()
        if self._failure:
            raise IndexingError(self._failure.refusal, is_refused=self._failure.is_refused)
        if number == GRAPH:
            self._graph_wanted.set()
            if self._no_graph:
                raise IndexingError(self._no_graph.refusal)
        if self.is_over and not (number == GRAPH and self._relating):
            raise IndexingError(refusals.NO_INDEX)
        await self.news.wait()

    def _tell_news(self) -> None:
        told, self.news = self.news, asyncio.Event()
        told.set()

    def _started(self) -> BackProcess[FromIndexer]:
        """Start an indexer over the memory files that are to be filled."""
        self.started_at = datetime.now(UTC)
        return BackProcess(
            "fledgling.worker.indexer",
            replace(
                self.order,
                images=self._filling.images,
                kept_fd=self._filling.kept_fd,
                facts_fd=self._filling.facts_fd,
                known_fd=self._known_fd,
                begun_ns=time.time_ns(),
            ),
            [*self._filling.all(), self.root_fd, *self._known()],
            Unpacker(FromIndexer, MAX_REPORT_BYTES),
        )

    async def _build(self) -> Built:
        """Build the index, to its end: all waiters are told."""
        try:
            async with asyncio.timeout(BUILD_SECONDS):
                return await self._built_in_two()
        except TimeoutError:
            raise self._fails(IndexingError(await self._overdue())) from None
        except IndexingError as failed:
            raise self._fails(failed) from None
        finally:
            if not self.is_followed:
                self._close_root()
            self.is_over, self.completed_at = True, datetime.now(UTC)
            self._tell_news()

    def _fails(self, failed: IndexingError) -> IndexingError:
        """There will be no more than there is, and an answer of that says so."""
        self._failure = failed
        self._not_before = time.monotonic() + RENEW_AGAIN_SECONDS
        if self._newest and self._newest.number < CODE:
            self._newest = replace(self._newest, pending=UNFINISHED)
        return failed

    async def _built_in_two(self) -> Built:
        """Build the index, and once more where the first build dies."""
        try:
            return await self._built_at_once()
        except _DiedError as died:
            self._died = str(died)
        _log.error("%s; the index is built once more", self._died)
        self._start_again()
        try:
            return await self._built_at_once()
        except _DiedError as died:
            first = self._died
            reason = f"the index could not be built, and is not tried again: {first}; the second time {died}"
            raise IndexingError(Refusal("failed", reason, AGAIN)) from died

    def _start_again(self) -> None:
        """Start another indexer over memory files of its own; what nobody can open is let go."""
        self.progress = None
        died = self._filling
        try:
            self._filling = Files.created(is_followed=self.is_followed)
            if self._newest is None:
                self._open_from(self._filling)
            elif died is not self.files:
                died.close(self._known())
            self._process = self._started()
        except OSError as problem:
            reason = f"{self._died}, and no other indexer can be started: {problem.strerror}"
            raise IndexingError(Refusal("failed", reason, AGAIN)) from problem
        self._tell_news()

    def _known(self) -> tuple[int, ...]:
        return () if self._known_fd is None else (self._known_fd,)

    def _keep_facts(self) -> None:
        """Keep the facts that a build has found for those that follow, also if its graph is not whole."""
        found = self._filling.facts_fd
        if found is None or found == self._known_fd or not memory_file.is_sealed(found):
            return
        for fd in {*self._known()} - {*self.files.all(), *self._filling.all()}:
            os.close(fd)
        self._known_fd = found

    def _open_from(self, files: "Files") -> None:
        """Let workers that start from now on open these; those at work hold theirs themselves."""
        if self.files is not files:
            self.files.close(self._known())
            self.files = files

    async def _built_at_once(self) -> Built:
        """Follow one indexer to its end. Raises IndexingError, or _DiedError where another may do better."""
        self._process.watch(self.memory, int(self.profile.memory_limit * limits.INDEXING))
        message = await self._heard()
        if not isinstance(message, Accepted):
            raise await self._failed(message, is_refused=self._accepted is None)
        if problem := inspection.problem("indexer", self._process.pid, message.layers, self.confining):
            ended = self._process.has_ended()
            raise await self._failed(None if ended else refusals.not_confined(problem), is_refused=True)
        tell_confinement(self.tell, "indexer", self._process.pid, message.layers)
        tell_confinement(self.tell, "lister", self._process.pid, message.lister_layers)
        tell_confinement(self.tell, "extractors", self._process.pid, message.extractor_layers)
        self._accepted = message
        self._tell_news()
        return await self._followed()

    async def _followed(self) -> Built:
        """Take what the indexer reports, one after the other, to the end."""
        last = -1
        while isinstance(message := await self._heard(), Progress | Generation):
            if isinstance(message, Progress):
                self.progress = message
            elif message.number <= last:
                break
            else:
                last = message.number
                await self._check(last)
                self._serve(message)
        if not isinstance(message, Built) or last != CODE:
            raise await self._failed(message)
        self.has_files = message.files
        self.progress = Progress("relate", 0, 0)
        self._relating = asyncio.create_task(self._relate(self._process))
        return message

    async def _relate(self, process: BackProcess[FromIndexer]) -> None:
        """Take what the indexer reports behind the index: the graph; without one, who asks for it hears why."""
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(RELATE_AFTER_SECONDS):
                    await self._graph_wanted.wait()
            process.tell(Relate())
            async with asyncio.timeout(RELATING_SECONDS):
                while isinstance(message := await self._heard(), Progress):
                    self.progress = message
                if not isinstance(message, Generation) or message.number != GRAPH:
                    raise await self._failed(message)
                await self._check(GRAPH)
                self._serve(message)
                self._keep_facts()
        except TimeoutError:
            self._no_graph = _without_graph(f"this was not finished after {RELATING_SECONDS:g} s")
        except (IndexingError, _DiedError) as failed:
            self._no_graph = _without_graph(str(failed))
        finally:
            process.kill()
            await process.ended()
            self._tell_news()

    def _serve(self, generation: Generation) -> None:
        """Let workers open a generation, if it is not less than what another build has left."""
        if self._newest and generation.number < min(self._newest.number, CODE):
            return
        self._open_from(self._filling)
        self.begun_at = self.started_at
        if generation.number == CODE:
            assert self._accepted
            self.scope = self._accepted.scope
            self.changes = self.latest = self.latest + 1
            self._sealed.pop(GRAPH, None)  # that of another build
            self.served_begun = self.begun
            self._no_graph = None
        self._newest = generation
        for number in (LISTING, TEXT, CODE, GRAPH)[: generation.number + 1]:
            self._sealed.setdefault(number, generation)
        self._tell_news()

    async def _heard(self) -> FromIndexer | None:
        """Return the next report; None where the indexer has ended. It is ended where it says nothing for too long."""
        try:
            async with asyncio.timeout(SILENT_SECONDS):
                return await self._process.receive()
        except TimeoutError:
            raise await self._given_up(f"the indexer has said nothing for {SILENT_SECONDS:g} s and was ended") from None

    async def _check(self, number: int) -> None:
        """Raise IndexingError where an image of a generation could still be changed."""
        if not all(map(memory_file.is_sealed, self._filling.of(number))):
            raise await self._given_up("the indexer left an image unsealed")

    async def _overdue(self) -> Refusal:
        """End a build that takes too long, and say so."""
        failed = await self._given_up(f"the index was not complete after {BUILD_SECONDS:g} s, and its build was ended")
        return replace(
            failed.refusal,
            next_step="Index less (exclude_patterns, max_file_size, max_files), then start Fledgling again.",
        )

    async def _given_up(self, reason: str) -> IndexingError:
        """End an indexer that is not waited for any more."""
        self._process.kill()
        await self._process.ended()
        self._tell_ended(reason)
        return IndexingError(Refusal("failed", reason, AGAIN))

    async def _failed(self, message: object, *, is_refused: bool = False) -> Exception:
        """Return what to raise where an indexer has not come to the end: what it was refused, or how it died."""
        self._process.kill()
        status = await self._process.ended()
        if isinstance(message, Refusal):
            return IndexingError(message, is_refused=is_refused)
        if isinstance(message, Unchanged) and self.order.tree:
            return UnchangedError(UNCHANGED)
        if self._process.over_memory:
            self._tell_ended("it held more than memory_limit and the headroom")
            return IndexingError(refusals.index_too_large(self.profile))
        if -signal.SIGSYS in (status, message.status if isinstance(message, Crashed) else None):
            self._tell_ended("it made a system call that Fledgling never makes")
            return IndexingError(Refusal("failed", f"{ENDED}: it made a system call that Fledgling never makes", AGAIN))
        if isinstance(message, Crashed):
            died = f"the {message.process} of the index ended: {how_ended(message.status)}"
        elif message is not None or self._process.broken:
            self._tell_ended("it sent a message that no indexer sends")
            return IndexingError(Refusal("failed", ENDED, AGAIN))
        else:
            died = f"{ENDED}: {how_ended(status)}"
        self._tell_ended(died)
        return _DiedError(died)

    def _tell_ended(self, reason: str) -> None:
        self.tell(KilledRecord(process="indexer", pid=self._process.pid, reason=reason))

    def _close_root(self) -> None:
        if self.root_fd >= 0:
            os.close(self.root_fd)
            self.root_fd = -1


def _without_graph(reason: str) -> IndexingError:
    _log.error("the uses of definitions are not known: %s", reason)
    said_so = said(f"the uses of definitions could not be resolved: {reason}")
    return IndexingError(Refusal("unavailable", said_so, "search() finds them as text."))


def _opened(path: str) -> tuple[Path, int]:
    """Open the root; raise IndexingError where it is gone since it was looked at, or may not be read."""
    try:
        root = Path(path).resolve(strict=True)
        return root, os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as gone:
        reason = said(f"the root {path!r} cannot be opened: {gone.strerror}")
        raise IndexingError(Refusal("failed", reason, "Give the directory of the project with --root.")) from None


class Files(NamedTuple):
    """The memory files of one build: the images, which workers open, and, where the index is followed, what is kept for
    the follower and for the next build.
    """

    images: Images
    kept_fd: int | None = None
    facts_fd: int | None = None

    @classmethod
    def created(cls, *, is_followed: bool) -> Self:
        """Return new, empty files."""
        images = Images(*(memory_file.create() for _ in Images.__struct_fields__))
        return cls(images, memory_file.create(), memory_file.create()) if is_followed else cls(images)

    def all(self) -> tuple[int, ...]:
        """Return all descriptors."""
        return (*astuple(self.images), *(fd for fd in (self.kept_fd, self.facts_fd) if fd is not None))

    def of(self, generation: int) -> tuple[int, ...]:
        """Return those that are sealed with a generation."""
        images = self.images.of(generation)
        if self.kept_fd is not None and generation >= CODE:
            images = (*images, self.kept_fd)
        return images if self.facts_fd is None or generation < GRAPH else (*images, self.facts_fd)

    def close(self, but: Collection[int]) -> None:
        """Close all descriptors but some."""
        for fd in {*self.all()} - {*but}:
            os.close(fd)
