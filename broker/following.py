"""The follower of one index: asked before a call whether the project has changed, and what it says goes to the worker.

Nothing is done between calls. What is answered within a moment of a look shares it: an agent that has edited a file
needs longer than that to ask.
"""

import asyncio
import logging
import os
import time
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, TypeVar

from fledgling.broker.audit_log.records import KilledRecord
from fledgling.broker.audit_log.writer import tell_confinement
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.launch import BackProcess, how_ended
from fledgling.broker.query_worker import QueryWorker
from fledgling.broker.spawn import spawn
from fledgling.broker.watchdog import within
from fledgling.messages.answers import Refusal
from fledgling.messages.bounded import MAX_COUNT
from fledgling.messages.control import Images, Update
from fledgling.messages.following import (
    AskChanged,
    AskRefs,
    Follow,
    Following,
    FromFollower,
    Look,
    Looked,
    Refs,
    Sweep,
    Swept,
)
from fledgling.messages.status import Changed
from fledgling.pipe import MAX_FRAME_BYTES, Unpacker
from fledgling.security import inspection, limits
from fledgling.settings import Freshness

SHARE = 4  # a look is shared for so many times what it took: looking takes at most a fifth of a core
SILENT_SECONDS = 60.0  # of a follower that looks; half a second is what a kernel takes
RESTARTS = 5  # followers that may end, in RESTART_SECONDS; then answers say that nobody follows
RESTART_SECONDS = 60.0
_log = logging.getLogger("fledgling")

Result = TypeVar("Result")
Said = TypeVar("Said", Looked, Refs)


class LostError(Exception):
    """Nobody follows the project."""


class Follower:
    """The process, and what it has said last.

    >>> follower = Follower(indexing, "burst")
    >>> await follower.bring_up(worker, time.monotonic(), may_share=True)
    Swept(generation=3, ...)
    """

    def __init__(self, indexing: Indexing, freshness: Freshness) -> None:
        self._indexing = indexing
        self._freshness = freshness
        self._process: BackProcess[FromFollower] | None = None
        self._images: Images | None = None  # over which it follows
        self._begun = float("-inf")  # when the last look began
        self._swept: Swept | None = None
        self._looking: asyncio.Task[None] | None = None
        self._talking = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._ended: list[float] = []  # when followers have ended that were not told to

    def has_looked_since(self, moment: float) -> bool:
        """Return whether the last look began at a moment or later."""
        return self._begun >= moment

    @property
    def has_root(self) -> bool:
        """Whether the root was there at the last look."""
        return self._swept is None or self._swept.obstacle != "no root"

    async def bring_up(self, worker: QueryWorker, as_of: float, *, may_share: bool) -> Swept | None:
        """Let a worker answer from the project as it was at a moment; or, where looks may be shared, shortly before.

        None where it serves an index that is not the newest. Raises LostError where nobody can tell.
        """
        while not self._is_up(worker, as_of, may_share=may_share):
            if worker.images is not self._indexing.images:
                return None
            if self._looking is None or self._looking.done():
                self._looking = self._task(self._look(worker))
            try:
                await asyncio.shield(self._looking)
            except LostError:
                if self._is_given_up():
                    raise
        assert self._swept
        return self._swept

    async def are_current(self, paths: Iterable[str]) -> bool:
        """Return whether files that an answer names are what they were at the last look. Raises LostError."""
        return await asyncio.shield(self._task(self._looked_at(tuple(paths))))

    async def changed(self, since: int) -> Changed | None:
        """Return what the last look knows of changes since a generation; None where nobody has looked."""
        try:
            return await asyncio.shield(self._task(self._told(since)))
        except LostError:
            return None

    async def refs(self, asked: AskRefs) -> Refs | None:
        """Return what the refs of the project's repository say; None where nobody can look."""
        await self.begin()
        try:
            return await asyncio.shield(self._task(self._said(asked, Refs)))
        except LostError:
            return None

    async def begin(self) -> None:
        """Start the process over the newest index, so that the first call need not wait for it."""
        if self._is_newest():
            return
        with suppress(LostError):
            await asyncio.shield(self._task(self._look(None)))

    async def rest(self) -> None:
        """End the process until somebody asks."""
        async with self._talking:
            await self._end()

    async def close(self) -> None:
        """End the process."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._end()

    def _task(self, talk: Coroutine[None, None, Result]) -> asyncio.Task[Result]:
        """Let a talk with the process come to its end, also where who asked no longer waits."""
        task = asyncio.create_task(talk)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # who waits hears it
        return task

    async def _looked_at(self, paths: tuple[str, ...]) -> bool:
        return (await self._said(Look(paths), Looked)).are_current

    async def _said(self, asked: Look | AskRefs, kind: type[Said]) -> Said:
        async with self._talking:
            if self._process is None:
                raise LostError
            self._process.tell(asked)
            message = await self._heard()
            if not isinstance(message, kind):
                raise await self._lost("it sent a message that was not asked for")
            return message

    async def _told(self, since: int) -> Changed | None:
        async with self._talking:
            if self._process is None or self._swept is None or self._swept.obstacle:
                return None
            self._process.tell(AskChanged(since))
            changed = await self._heard()
            if not isinstance(changed, Changed):
                raise await self._lost("it sent a message that was not asked for")
            return changed

    def _is_up(self, worker: QueryWorker, as_of: float, *, may_share: bool) -> bool:
        if self._swept is None or self._images is not worker.images:
            return False
        is_shared = may_share and self._freshness == "burst"
        is_seen = self._begun >= as_of - (SHARE * self._swept.seconds if is_shared else 0.0)
        return is_seen and (self._swept.obstacle is not None or worker.changes == self._swept.generation)

    async def _look(self, worker: QueryWorker | None) -> None:
        async with self._talking:
            await self._started()
            await self._sweep(worker if worker and worker.images is self._images else None)

    async def _sweep(self, worker: QueryWorker | None) -> None:
        """Let the process look, and tell a worker what it has not heard yet.

        Where another index takes the place of theirs meanwhile, the number of a change is that of the other by now.
        """
        assert self._process
        begun, begun_at = time.monotonic(), datetime.now(UTC)
        self._process.busy(True)
        self._process.tell(Sweep(worker.changes if worker else MAX_COUNT))
        while isinstance(message := await self._heard(), Update):
            if worker and self._is_newest():
                worker.update(message)
                self._indexing.changed_to(message.generation)  # the next process begins behind it if this one is lost
        if not isinstance(message, Swept):
            raise await self._lost("it sent a message that was not asked for")
        self._process.busy(False)
        self._begun, self._swept = begun, message
        if not self._is_newest():
            return
        if worker and not message.obstacle:
            worker.seen(message.generation, begun_at)
        self._indexing.changed_to(message.generation)
        if not message.obstacle:
            self._indexing.cut = message.cut

    def _is_newest(self) -> bool:
        """Return whether there is a process, and it follows the newest index."""
        return self._process is not None and self._images is self._indexing.images

    async def _started(self) -> None:
        """Let there be a process over the newest index."""
        if self._is_newest():
            return
        await self._end()
        if self._is_given_up():
            raise LostError
        indexing, order = self._indexing, self._indexing.order
        assert indexing.files.served.kept_fd is not None
        follow = Follow(
            broker_pid=os.getpid(),
            text_fd=indexing.images.blocks,
            kept_fd=indexing.files.served.kept_fd,
            root_fd=indexing.root_fd,
            profile=order.profile,
            scope=indexing.scope,
            asked=order.scope,
            generation=indexing.latest,
            base=max(indexing.changes, 0),
            is_next=indexing.latest > indexing.changes,
            cut=indexing.newest().cut,
            root=order.root,
            confining=order.confining,
        )
        self._images, self._swept = indexing.images, None
        try:
            self._process = BackProcess(
                spawn("fledgling.worker.follower", [follow.text_fd, follow.kept_fd, follow.root_fd]),
                follow,
                Unpacker(FromFollower, MAX_FRAME_BYTES),
            )
        except OSError as problem:
            _log.error("no follower can be started: %s", problem.strerror)
            self._ended.append(time.monotonic())
            raise LostError from problem
        self._process.watch(indexing.memory, int(order.profile.memory_limit * limits.INDEXING))
        await self._confined()

    def _is_given_up(self) -> bool:
        """Return whether so many followers have ended that no other is started for a while."""
        now = time.monotonic()
        self._ended = [ended for ended in self._ended if now - ended < RESTART_SECONDS]
        return len(self._ended) >= RESTARTS

    async def _confined(self) -> None:
        assert self._process
        first = await self._heard()
        if isinstance(first, Refusal):
            raise await self._lost(first.reason)
        if not isinstance(first, Following):
            raise await self._lost("it did not say what confines it")
        tell, pid = self._indexing.tell, self._process.pid
        if problem := inspection.problem("indexer", pid, first.layers, self._indexing.confining):
            raise await self._lost(problem)
        tell_confinement(tell, "follower", pid, first.layers)
        tell_confinement(tell, "extractors", pid, first.extractor_layers)

    async def _heard(self) -> FromFollower:
        """Return the next message. Raises LostError where none comes."""
        assert self._process
        pid = self._process.pid
        try:
            async with within(SILENT_SECONDS, lambda: pid):
                message = await self._process.receive()
        except TimeoutError:
            raise await self._lost(f"it has said nothing for {SILENT_SECONDS:g} s") from None
        if message is None:
            raise await self._lost(how_ended(await self._process.ended()))
        return message

    async def _lost(self, reason: str) -> LostError:
        """End the process, and say why; the next call starts another."""
        assert self._process
        _log.error("the follower (pid %d) has ended: %s", self._process.pid, reason)
        self._indexing.tell(KilledRecord(process="follower", pid=self._process.pid, reason=reason))
        self._ended.append(time.monotonic())
        await self._end()
        return LostError()

    async def _end(self) -> None:
        if self._process:
            process, self._process, self._images, self._swept = self._process, None, None, None
            process.kill()
            await process.ended()
