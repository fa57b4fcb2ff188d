"""One build of the index: the indexer process, what it reports, and the memory files it leaves."""

import asyncio
import logging
import os
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import astuple, replace

from fledgling import refusals
from fledgling.broker import audit_log
from fledgling.broker.launch import BackProcess
from fledgling.config import Settings
from fledgling.pipe import Unpacker
from fledgling.security import inspection, limits, memory_file
from fledgling.wire import (
    CODE,
    CONFINED,
    LISTING,
    TEXT,
    Accepted,
    Build,
    Built,
    Confining,
    FromIndexer,
    Generation,
    Images,
    Profile,
    Progress,
    Refusal,
)

MAX_REPORT_BYTES = 2**21  # of a message of the indexer; the longest are a thousand exclude_patterns
Tell = Callable[[audit_log.AnyRecord], None]  # what becomes of the processes: AuditLog.tell


def _unheard(_: audit_log.AnyRecord) -> None:
    pass


UNFINISHED = "The index could not be finished: what is not there now will be missing until Fledgling is started again."
SILENT_SECONDS = 300.0  # between two reports; sealing the index of a kernel takes a tenth of that
_log = logging.getLogger("fledgling")


class IndexingError(Exception):
    """There will be no index; `refusal` says why."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"{refusal.reason}; {refusal.next_step}")
        self.refusal = refusal


class Indexing:
    """A build at work. Creating one starts the indexer; `accepted` and `built` wait for what it reports.

    >>> indexing = Indexing(settings, profile)
    >>> await indexing.accepted()
    >>> (await indexing.built()).files
    812
    """

    def __init__(
        self, settings: Settings, profile: Profile, *, confining: Confining = CONFINED, tell: Tell = _unheard
    ) -> None:
        root = Path(settings.root).resolve(strict=True)
        root_fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.profile = profile
        self.confining = confining
        self.tell = tell
        self.images = Images(*(memory_file.create() for _ in Images.__struct_fields__))
        self.progress: Progress | None = None
        build = Build(
            broker_pid=os.getpid(),
            images=self.images,
            root_fd=root_fd,
            profile=profile,
            scope=settings.scope,
            root=str(root) if profile.absolute_paths else None,
            confining=confining,
        )
        try:
            self._process: BackProcess[FromIndexer] = BackProcess(
                "fledgling.worker.indexer",
                build,
                [*astuple(self.images), root_fd],
                Unpacker(FromIndexer, MAX_REPORT_BYTES),
            )
        finally:
            os.close(root_fd)
        self._accepting: asyncio.Task[Accepted] | None = None
        self._newest: Generation | None = None
        self._sealed: dict[int, asyncio.Future[Generation]] = {}
        self._building: asyncio.Task[Built] | None = None

    async def accepted(self) -> Accepted:
        """Wait until the indexer has checked the profile's views and the project's own settings; any number may."""
        if self._accepting is None:
            self._accepting = asyncio.create_task(self._accept())
        return await asyncio.shield(self._accepting)

    async def _accept(self) -> Accepted:
        self._process.watch(limits.memory_cap(self.profile.memory_limit))
        message = await self._heard()
        if not isinstance(message, Accepted):
            raise await self._failed(message)
        if problem := inspection.problem("indexer", self._process.pid, message.layers, self.confining):
            raise await self._failed(refusals.not_confined(problem))
        audit_log.tell_of(self.tell, "indexer", self._process.pid, message.layers)
        audit_log.tell_of(self.tell, "lister", self._process.pid, message.lister_layers)
        audit_log.tell_of(self.tell, "extractors", self._process.pid, message.extractor_layers)
        self._sealed = {number: asyncio.get_running_loop().create_future() for number in (LISTING, TEXT, CODE)}
        self._building = asyncio.create_task(self._build())
        return message

    async def sealed(self, number: int) -> Generation:
        """Wait until a generation is there, and return it or a later one. Comes after `accepted`, as all below.

        Any number of callers may wait, and one that is cancelled does not stop the build. Raises IndexingError.
        """
        return await asyncio.shield(self._sealed[number])

    def newest(self) -> Generation:
        """Return the last generation that is there. Comes after `sealed`."""
        assert self._newest
        return self._newest

    async def is_sealed(self, number: int, seconds: float) -> bool:
        """Wait at most so long; return whether `sealed` would now answer at once."""
        done, _ = await asyncio.wait([self._sealed[number]], timeout=seconds)
        return bool(done)

    async def built(self) -> Built:
        """Wait until everything is there, and return the statistics."""
        assert self._building is not None, "built() comes after accepted()"
        return await asyncio.shield(self._building)

    async def close(self) -> None:
        """End the indexer if it still works, and let go of the image."""
        self._process.kill()
        await self._process.ended()
        tasks = [task for task in (self._accepting, self._building) if task]
        await asyncio.gather(*tasks, return_exceptions=True)
        for future in self._sealed.values():
            future.cancel()
        for fd in astuple(self.images):
            os.close(fd)

    async def _build(self) -> Built:
        try:
            return await self._followed()
        except IndexingError as failed:
            if self._newest and self._newest.number < CODE:
                self._newest = replace(self._newest, partial=UNFINISHED)
            for future in self._sealed.values():
                if not future.done():
                    future.set_exception(failed)
                    future.exception()  # it is heard where somebody waits
            raise

    async def _followed(self) -> Built:
        """Take what the indexer reports, one after the other, to the end."""
        while isinstance(message := await self._heard(), Progress | Generation):
            if isinstance(message, Progress):
                self.progress = message
            else:
                if self._newest and message.number <= self._newest.number:
                    break
                self._check(message.number)
                self._newest = message
                for number, future in self._sealed.items():
                    if number <= message.number and not future.done():
                        future.set_result(message)
        if not isinstance(message, Built) or not self._sealed[CODE].done():
            raise await self._failed(message)
        await self._process.ended()
        return message

    async def _heard(self) -> FromIndexer | None:
        """Return the next report; None where the indexer has ended, or says nothing for too long and is killed."""
        try:
            async with asyncio.timeout(SILENT_SECONDS):
                return await self._process.receive()
        except TimeoutError:
            _log.error(
                "the indexer (pid %d) has said nothing for %g s and is killed", self._process.pid, SILENT_SECONDS
            )
            self._process.kill()
            return None

    def _check(self, number: int) -> None:
        """Raise IndexingError where an image of a generation could still be changed."""
        if not all(map(memory_file.is_sealed, self.images.of(number))):
            self._process.kill()
            raise IndexingError(Refusal("failed", "the indexer left an image unsealed", "Start Fledgling again."))

    async def _failed(self, message: object) -> IndexingError:
        self._process.kill()
        await self._process.ended()
        if isinstance(message, Refusal):
            return IndexingError(message)
        if self._process.over_memory:
            return IndexingError(refusals.index_too_large(self.profile))
        return IndexingError(
            Refusal("failed", "the indexer ended before the index was complete", "Start Fledgling again; see its log.")
        )
