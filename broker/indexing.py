"""One build of the index: the indexer process, what it reports, and the memory file it leaves."""

import asyncio
import os
from pathlib import Path

from fledgling import refusals
from fledgling.broker.launch import BackProcess
from fledgling.config import Settings
from fledgling.security import limits, memory_file
from fledgling.wire import Accepted, Build, Built, FromIndexer, Profile, Progress, Refusal


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

    def __init__(self, settings: Settings, profile: Profile) -> None:
        root = Path(settings.root).resolve(strict=True)
        root_fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.profile = profile
        self.image_fd = memory_file.create()
        self.progress: Progress | None = None
        build = Build(
            broker_pid=os.getpid(),
            image_fd=self.image_fd,
            root_fd=root_fd,
            profile=profile,
            scope=settings.scope,
            root=str(root) if profile.absolute_paths else None,
        )
        try:
            self._process: BackProcess[FromIndexer] = BackProcess(
                "fledgling.worker.indexer", build, [self.image_fd, root_fd], FromIndexer
            )
        finally:
            os.close(root_fd)
        self._accepted: Accepted | None = None
        self._building: asyncio.Task[Built] | None = None

    async def accepted(self) -> Accepted:
        """Wait until the indexer has checked the profile's views and the project's own settings."""
        if self._accepted is None:
            self._process.watch(limits.memory_cap(self.profile.memory_limit))
            message = await self._process.receive()
            if not isinstance(message, Accepted):
                raise await self._failed(message)
            self._accepted = message
            self._building = asyncio.create_task(self._build())
        return self._accepted

    async def built(self) -> Built:
        """Wait until the image is sealed; any number of callers may, and a cancelled one does not stop the build."""
        assert self._building is not None, "built() comes after accepted()"
        return await asyncio.shield(self._building)

    async def is_built(self, seconds: float) -> bool:
        """Wait at most so long; return whether `built` would now answer at once."""
        assert self._building is not None, "is_built() comes after accepted()"
        done, _ = await asyncio.wait([self._building], timeout=seconds)
        return bool(done)

    async def close(self) -> None:
        """End the indexer if it still works, and let go of the image."""
        self._process.kill()
        await self._process.ended()
        if self._building:
            await asyncio.gather(self._building, return_exceptions=True)
        os.close(self.image_fd)

    async def _build(self) -> Built:
        while isinstance(message := await self._process.receive(), Progress):
            self.progress = message
        if not isinstance(message, Built):
            raise await self._failed(message)
        await self._process.ended()
        if not memory_file.is_sealed(self.image_fd):
            raise IndexingError(Refusal("failed", "the indexer left the image unsealed", "Start Fledgling again."))
        return message

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
