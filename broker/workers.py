"""Which worker answers: one over the newest generation of an index, and another where that ends."""

import asyncio

from fledgling.broker.breaker import Breaker
from fledgling.broker.following import Follower
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.query_worker import QueryWorker
from fledgling.broker.succession import Succession
from fledgling.messages.answers import Refusal
from fledgling.messages.generations import CODE, WORDS

AGAIN_SECONDS = 1.0  # between two tries to let a worker take over; callers wait for none of them


class Workers(Succession):
    """The query workers over one index: one that answers, one that loads, and those whose last calls are at work.

    A follower, where there is one, begins when a worker serves all there is.

    >>> workers = Workers(indexing, Breaker(), None)
    >>> worker = await workers.serving(CODE)
    """

    def __init__(self, indexing: Indexing, breaker: Breaker, follower: Follower | None) -> None:
        super().__init__(indexing, breaker)
        self._indexing = indexing
        self._follower = follower
        self._loading: QueryWorker | None = QueryWorker(indexing, breaker)  # while the indexer walks
        self._following = asyncio.create_task(self._follow())

    async def serving(self, number: int) -> QueryWorker | Refusal:
        """Return a worker that serves a generation or a later one; calls to the one before go on while it starts."""
        while not (worker := self.current) or not worker.serves(number) or self.is_old(worker):
            await self._indexing.sealed(number)  # of an index that was built anew
            if refusal := await self.replaced():
                return refusal
        return worker

    def is_old(self, worker: QueryWorker) -> bool:
        """Return whether a worker serves an index that another has taken the place of, since the project changed."""
        return self.is_followed(worker) and worker.images is not self._indexing.images

    def is_followed(self, worker: QueryWorker) -> bool:
        """Return whether changes are laid over what a worker serves."""
        has_all = worker.generation is not None and worker.generation.number >= CODE
        return self._follower is not None and has_all

    def rest(self) -> None:
        """End the worker that answers; the next call starts another."""
        worker, self.current = self.current, None
        if worker:
            self._end(worker.retire())

    async def close(self) -> None:
        """End them all."""
        self._following.cancel()
        await asyncio.wait([self._following])
        await super().close()
        if self._loading:
            await self._loading.close()

    async def _inherited(self) -> bool:
        loading, self._loading = self._loading, None
        return loading is not None and await self._takes_over(loading)

    async def _follow(self) -> None:
        """Let a worker over each generation take over as soon as it is there, until no more will come."""
        while True:
            news = self._indexing.news
            if self._loading and self._loading.images is not self._indexing.images:
                self._end(self._loading.close())  # it would keep the files of a build that has ended
                self._loading = None
            newest = self._indexing.newest_or_none()
            # The first worker of all is waiting; it takes over when it is asked, or when all is there.
            if newest and (newest.number >= WORDS or self.current or self.is_replacing()):
                await self._served()
            if self._indexing.is_over and self._loading:
                self._end(self._loading.close())  # what it waited for will not come
                self._loading = None
            if self._follower and newest and newest.number >= CODE:
                await self._follower.begin()
            elif self._indexing.is_over and not self._follower:
                break
            await news.wait()

    async def _served(self) -> None:
        """Let a worker over the newest generation take over, in as many tries as it takes."""
        while not self._serves_newest():
            if await self.replaced():
                await asyncio.sleep(AGAIN_SECONDS)

    def _serves_newest(self) -> bool:
        """Return whether the worker is over the newest generation, or lacks the graph or its tables alone: few ask."""
        worker, newest = self.current, self._indexing.newest()
        if not worker or not worker.generation:
            return False
        lacks_uses = worker.generation.number >= WORDS and worker.images is self._indexing.images
        return worker.generation is newest or lacks_uses
