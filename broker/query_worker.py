"""One query worker process and the calls it works on."""

import asyncio
import logging
import math
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Protocol

from msgspec import Struct

from fledgling import refusals
from fledgling.broker.audit_log.records import KilledRecord, Tell
from fledgling.broker.audit_log.writer import tell_confinement
from fledgling.broker.basis import Basis
from fledgling.broker.breaker import Breaker
from fledgling.broker.launch import BackProcess, how_ended
from fledgling.broker.memory import Memory
from fledgling.broker.protocol import tools
from fledgling.broker.refused import not_ready
from fledgling.broker.spawn import spawn
from fledgling.broker.taken import meant_by, with_words
from fledgling.broker.watchdog import STARVED, within
from fledgling.messages.answers import Refusal
from fledgling.messages.control import (
    Begun,
    Call,
    Cancel,
    Confining,
    FromWorker,
    Generation,
    Images,
    Ready,
    Reply,
    TagsByHand,
    Update,
    Updated,
)
from fledgling.messages.generations import EDGES, WORDS
from fledgling.messages.inner_answers import Found
from fledgling.messages.profile import Profile
from fledgling.messages.questions import Asked
from fledgling.pipe import MAX_FRAME_BYTES, MAX_VALUES, Unpacker
from fledgling.security import inspection, limits

MOMENTS = 16  # generations of changes whose time is known: twice as many as a worker continues pages in
READY_SECONDS = 60.0  # in which it could run, from start to ready; a quiet machine needs a tenth of one
OPENED_SECONDS = 0.002  # more for each index; a quiet machine opens ten meanwhile
PAGE_FRAME_BYTES = 2**22  # a page is 28,000 characters; one entry alone may be longer
_log = logging.getLogger("fledgling")
NO_TAGS = TagsByHand()
LOST = Refusal(
    "unavailable",
    "the query worker ended while it worked on this call",
    "Ask again: a new worker answers from the same index. If that ends too, ask for less at once.",
)


def longest_frame(profile: Profile) -> int:
    """Return how many bytes a reply may have under a profile: rows of a query take up to 2.25 times their JSON."""
    return min(MAX_FRAME_BYTES, PAGE_FRAME_BYTES + 9 * profile.max_result_bytes // 4)


def most_values(profile: Profile) -> int:
    """Return how many values a reply may hold under a profile: in the rows of a query, each takes two bytes of JSON."""
    return max(MAX_VALUES, profile.max_result_bytes // 2)


@dataclass
class Waiting:
    """A call that the worker was told of: what was asked of which index, who waits, and whether it has begun with it.

    None tells them who wait that it never will: ask another.
    """

    question: Asked
    index: int
    answer: asyncio.Future[Found | Refusal | None]
    basis: Basis
    has_begun: bool = False


class Openable(Protocol):
    """What a worker serves: an index, or several, and what holds for who opens it."""

    @property
    def profile(self) -> Profile:
        """The profile that is served."""

    @property
    def confining(self) -> Confining:
        """What a worker may do without."""

    @property
    def memory(self) -> Memory:
        """What processes and memory files hold together."""

    @property
    def indexes(self) -> int:
        """How many indexes there are."""

    @property
    def changes(self) -> int:
        """The generation of changes that it was built with."""

    @property
    def begun_at(self) -> datetime:
        """When the build of it began."""

    @property
    def images(self) -> Images | None:
        """The memory files of one that is alone."""

    @property
    def tell(self) -> Tell:
        """What becomes of what is told of a process."""

    def descriptors(self) -> tuple[int, ...]:
        """Return what a worker is handed."""

    def newest(self) -> Generation:
        """Return the last generation there is."""

    def opening(self, generation: Generation) -> Struct:
        """Return what a worker is told to open."""


class QueryWorker:
    """A worker over one generation of the index. When it dies, calls at work are refused, and it takes no further one.

    Creating one starts the process, which loads; what it opens it is told by `ready`.

    >>> worker = QueryWorker(indexing, breaker)
    >>> await worker.ready(generation)
    >>> await worker.ask(Explore(), time.monotonic() + 30, Basis())
    Exploration(...)
    """

    def __init__(self, indexing: Openable, breaker: Breaker) -> None:
        profile = indexing.profile
        self._indexing = indexing
        self.images = indexing.images
        replies: Unpacker[FromWorker] = Unpacker(FromWorker, longest_frame(profile), most_values(profile))
        self._process = BackProcess(spawn("fledgling.worker.query", indexing.descriptors()), None, replies)
        self._profile = profile
        self._breaker = breaker
        self.generation: Generation | None = None
        self.changes = 0  # the generation of changes from which it answers
        self.has_room = True  # for changes
        self.unreadable: frozenset[int] = frozenset()  # of several indexes
        self._moments: dict[int, datetime] = {}  # by generation of changes, when the project was found to be that
        self._waiting: dict[int, Waiting] = {}
        self._ids = count(1)
        self._reading: asyncio.Task[None] | None = None
        self._stopping: dict[asyncio.Task[None], Waiting] = {}  # calls that are to end
        self._has_ended = False
        self._is_spent = False
        self._data_limit = math.inf
        self._was_killed = False

    @property
    def pid(self) -> int:
        """The process id, as in `ps`."""
        return self._process.pid

    async def ready(self, generation: Generation) -> bool:
        """Open a generation of its images, and wait until the worker serves it; False where it ended instead."""
        self.generation, self.changes = generation, self._indexing.changes
        self.seen(max(self.changes, 0), self._indexing.begun_at)
        self._process.begin(self._indexing.opening(generation))
        limit = self._profile.memory_limit
        of_files = self._indexing.memory.files_bytes() if generation.number >= WORDS else None
        if of_files is not None and generation.number < EDGES:
            of_files += limits.graph(limit, of_files)  # what is still to come
        self._process.watch(self._indexing.memory, limits.worker_share(limit, of_files))
        first, is_ready = None, False
        seconds = READY_SECONDS + OPENED_SECONDS * self._indexing.indexes
        try:
            async with within(seconds, lambda: self.pid):
                first = await self._process.receive()
            is_ready = self._is_confined(first)
        except TimeoutError:
            self._tell_killed(f"it was not ready after {seconds:g} s")
            self._was_killed = True
        if not is_ready:
            self._process.kill()
            status = await self._process.ended()
            if not isinstance(first, Ready | Refusal):
                self._tell_end(status, first)
            self._was_killed = True
            self._breaker.ended([], is_crash=True)
        self._data_limit = limits.data_limit(self.pid)
        self._process.busy(bool(self._waiting))
        self._reading = asyncio.create_task(self._read())
        return is_ready

    def _is_confined(self, first: object) -> bool:
        """Return whether the first message says that the worker is ready, and the kernel does not say otherwise."""
        problem = first.reason if isinstance(first, Refusal) else None
        if isinstance(first, Ready):
            self.unreadable = frozenset(first.unreadable)
            problem = inspection.problem("query worker", self.pid, first.layers, self._indexing.confining)
            number = self.generation.number if self.generation else None
            tell_confinement(self._indexing.tell, "query worker", self.pid, first.layers, number)
        if problem:
            _log.error("the query worker (pid %d) is not used: %s", self.pid, problem)
        return isinstance(first, Ready) and problem is None

    def serves(self, number: int) -> bool:
        """Return whether the worker takes calls about a generation, or a later one."""
        return self.is_serving() and self.generation is not None and self.generation.number >= number

    def is_serving(self) -> bool:
        """Return whether the worker takes calls; one that has no memory left for them does not."""
        return self._reading is not None and not (self._has_ended or self._was_killed or self._is_spent)

    def update(self, update: Update) -> None:
        """Let calls that come from now on see a change of the project."""
        self._process.tell(update)
        if update.is_last:
            self.changes = update.generation

    @property
    def basis(self) -> Basis:
        """What an answer would be made of now."""
        generation = max(self.changes, 0)
        return Basis(generation, self._moments.get(generation))

    def seen(self, generation: int, at: datetime) -> None:
        """Note that the project was what a generation of changes says when a look began."""
        self._moments[generation] = at
        if len(self._moments) > MOMENTS:
            del self._moments[min(self._moments)]

    async def ask(
        self, question: Asked, deadline: float, basis: Basis, index: int = 0, by_hand: TagsByHand = NO_TAGS
    ) -> Found | Refusal | None:
        """Return the answer, at the latest YIELDING after `deadline` (time.monotonic).

        A worker that has had so long to yield is then killed; one that got no processor may still.
        `basis` takes what it was made of, and `by_hand` are tags that it may speak of. None where the worker ended
        before it had begun with the call: ask another.
        """
        # Where one that does not end costs the worker, others are put to the next.
        while late := [task for task, waiting in self._stopping.items() if waiting.has_begun]:
            if time.monotonic() >= deadline:
                return not_ready(self._profile)
            await asyncio.wait(late, timeout=deadline - time.monotonic())
        if self._has_ended or self._was_killed:  # since it was chosen
            return None
        number = next(self._ids)
        waiting = Waiting(question, index, asyncio.get_running_loop().create_future(), basis)
        self._waiting[number] = waiting
        self._process.busy(True)
        self._process.tell(Call(number, deadline - time.monotonic(), question, index, by_hand))
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(deadline):
                    return await asyncio.shield(waiting.answer)
            self._stop(number, waiting, limits.YIELDING)
            done, _ = await asyncio.wait([waiting.answer], timeout=deadline + limits.YIELDING - time.monotonic())
            return waiting.answer.result() if done else refusals.timed_out(self._profile)
        except asyncio.CancelledError:
            self._process.tell(Cancel(number))
            self._stop(number, waiting, limits.GRACE)
            raise

    async def retire(self) -> None:
        """End the worker once the calls at work are answered; each of them ends by its own time."""
        if self._waiting:
            await asyncio.wait([waiting.answer for waiting in self._waiting.values()])
        await self.close()

    async def close(self) -> None:
        """End the worker; calls at work are refused."""
        self._kill()
        if self._reading:
            await self._reading
        else:
            await self._process.ended()

    async def _read(self) -> None:
        """Hand each reply to its call; a message about a call that nobody put breaks the protocol, and is the end."""
        while isinstance(message := await self._process.receive(), Begun | Reply | Updated):
            if isinstance(message, Updated):
                self.has_room = message.has_room
                continue
            waiting = self._waiting.get(message.id)
            if waiting is None:
                break
            if isinstance(message, Begun):
                waiting.has_begun = True
                continue
            meant = meant_by(waiting.question, message.taken)
            if not meant or not tools.fits(meant, message.answer, self._profile):
                self._breaker.misled(waiting.question, waiting.index)
                break
            del self._waiting[message.id]
            self._process.busy(bool(self._waiting))
            self._breaker.answered(waiting.question)
            if not waiting.answer.done():
                waiting.basis.take(message.generation, self._moments.get(message.generation))
                waiting.answer.set_result(with_words(waiting.question, meant, message.answer))
            self._is_spent = limits.is_spent(self.pid, self._data_limit)
        self._has_ended = True
        self._process.kill()
        self._tell_end(await self._process.ended(), message)
        if not self._was_killed:
            at_work = [waiting.question for waiting in self._waiting.values() if waiting.has_begun]
            self._breaker.ended(at_work, is_crash=not self._process.over_memory)
        for waiting in self._waiting.values():
            if not waiting.answer.done():
                waiting.answer.set_result(self._lost() if waiting.has_begun else None)
        self._waiting.clear()

    def _stop(self, number: int, waiting: Waiting, seconds: float) -> None:
        """Kill the worker where a call that is to end does not in so many seconds, though it has run in the last."""
        stopping = asyncio.create_task(self._stopped(number, waiting, seconds))
        self._stopping[stopping] = waiting
        stopping.add_done_callback(self._stopping.pop)

    async def _stopped(self, number: int, waiting: Waiting, seconds: float) -> None:
        if (await asyncio.wait([waiting.answer], timeout=seconds - limits.HEARING))[0]:
            return
        try:
            async with within(limits.HEARING, lambda: self.pid, STARVED * seconds):
                await asyncio.wait([waiting.answer])
        except TimeoutError:
            if not waiting.answer.done():
                waiting.answer.set_result(refusals.timed_out(self._profile))
                self._give_up(number, waiting)

    def _give_up(self, number: int, given_up: Waiting) -> None:
        """End the worker of a call that does not end, which alone is to blame.

        A call that waits behind others at work is not: it ends when the worker comes to it.
        """
        if given_up.has_begun and not self._was_killed:  # calls that are at work beside it have the same deadline
            self._breaker.blame(given_up.question)
        if given_up.has_begun or not any(waiting.has_begun for waiting in self._waiting.values()):
            if not self._was_killed:
                self._tell_killed("a call did not end within its timeout")
            self._kill()
        else:
            self._process.tell(Cancel(number))

    def _kill(self) -> None:
        """End the worker on purpose: that is no crash."""
        self._was_killed = True
        self._process.kill()

    def _tell_end(self, status: int, last: object) -> None:
        """Tell why the worker has ended, if nobody here wanted that."""
        if self._was_killed:
            return
        if self._process.over_memory:
            self._tell_killed("it held more than memory_limit and the headroom")
        elif status == -signal.SIGSYS:
            self._tell_killed("it made a system call that Fledgling never makes")
        elif last is not None:
            self._tell_killed("it sent a message that was not asked for")
        elif self._process.broken:
            self._tell_killed(f"it broke the protocol: {self._process.broken}")
        else:
            self._tell_killed(how_ended(status))

    def _tell_killed(self, reason: str) -> None:
        _log.warning("the query worker (pid %d) has ended: %s", self.pid, reason)
        self._indexing.tell(KilledRecord(process="query worker", pid=self.pid, reason=reason))

    def _lost(self) -> Refusal:
        """Say what became of a call that the worker had begun with."""
        return refusals.out_of_memory(self._profile) if self._process.over_memory else LOST
