"""A query worker that answers, and another that takes over where it ends: over one index, or over many."""

import asyncio
import logging
from collections.abc import Coroutine

from fledgling.broker.breaker import Breaker
from fledgling.broker.query_worker import Openable, QueryWorker
from fledgling.broker.refused import NOT_STARTED
from fledgling.messages.answers import Refusal

_log = logging.getLogger("fledgling")


class Succession:
    """The worker that answers, the one that is to, and those whose last calls are at work.

    >>> workers = Succession(PackIndex(...), Breaker())
    >>> await workers.replaced()
    >>> workers.current
    <QueryWorker object at ...>
    """

    def __init__(self, index: Openable, breaker: Breaker) -> None:
        self.current: QueryWorker | None = None
        self._index = index
        self._breaker = breaker
        self._replacing: asyncio.Task[Refusal | None] | None = None
        self._retiring: set[asyncio.Task[None]] = set()

    def replace(self) -> asyncio.Task[Refusal | None]:
        """Let a worker take over, unless one is about to."""
        if self._replacing is None or self._replacing.done():
            self._replacing = asyncio.create_task(self._replaced())
        return self._replacing

    def is_replacing(self) -> bool:
        """Return whether a worker is about to take over."""
        return self._replacing is not None and not self._replacing.done()

    async def replaced(self) -> Refusal | None:
        """Wait until a worker has taken over; return why none does."""
        return await asyncio.shield(self.replace())  # who waits no longer does not stop it for the others

    async def close(self) -> None:
        """End them all."""
        if self._replacing:
            self._replacing.cancel()
            await asyncio.wait([self._replacing])
        if self.current:
            await self.current.close()
        await asyncio.gather(*self._retiring)

    async def _replaced(self) -> Refusal | None:
        if wait := self._breaker.unavailable():
            return wait
        if await self._inherited():
            return None
        await asyncio.sleep(self._breaker.wait())  # an answer since does not make up for those that ended
        try:
            worker = QueryWorker(self._index, self._breaker)
        except OSError as problem:
            _log.error("no query worker can be started: %s", problem.strerror)
            return NOT_STARTED
        return None if await self._takes_over(worker) else self._breaker.unavailable() or NOT_STARTED

    async def _inherited(self) -> bool:
        """Let a worker take over that was started before; False where there is none."""
        return False

    async def _takes_over(self, worker: QueryWorker) -> bool:
        """Let a worker open the newest there is and take over; False where it ended instead, or has other files."""
        try:
            is_ready = worker.images is self._index.images and await worker.ready(self._index.newest())
        except asyncio.CancelledError:
            await worker.close()
            raise
        if not is_ready:
            await worker.close()
            return False
        old, self.current = self.current, worker
        if old:
            if not old.is_serving():
                _log.warning("the query worker (pid %d) has ended or is spent; a new one takes over", old.pid)
            self._end(old.retire())
        return True

    def _end(self, ending: Coroutine[None, None, None]) -> None:
        """Let a worker end while others go on; `close` waits for it."""
        retiring = asyncio.create_task(ending)
        self._retiring.add(retiring)
        retiring.add_done_callback(self._retiring.discard)
