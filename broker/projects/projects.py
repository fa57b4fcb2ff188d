"""The front of several projects: a call goes to the project that its path begins with, or to each in turn.

Each project has a front of its own: an index, workers, a breaker and the profile's memory limit. It starts when it is
first asked for; one that nobody has asked for a while gives up its processes, and later its index.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Literal

from msgspec.structs import replace

from fledgling.broker import surroundings
from fledgling.broker.front import ByHand, Front, no_tags
from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.indexing.indexing import Indexing
from fledgling.broker.projects.paths import Parts, ProjectPart
from fledgling.broker.projects.tree import ManyProjects
from fledgling.broker.terms import Terms
from fledgling.messages.answers import AnyAnswer, Refusal
from fledgling.messages.profile import Profile
from fledgling.messages.questions import AnyQuestion
from fledgling.plain import said

REST_SECONDS = 600.0  # without a call until a project gives up its processes: a worker is back in a tenth of a second
UNLOAD_SECONDS = 3600.0  # until it gives up its index, too, which takes seconds to make again
LOOK_SECONDS = 30.0  # between two looks at who may rest

State = Literal["unloaded", "serving", "resting"]
_log = logging.getLogger("fledgling")


class Slot:
    """One project: where it is, its front while it has one, and when it was asked last."""

    def __init__(self, root: str, start: Callable[[], Front]) -> None:
        self.root = root
        self._start = start
        self.front: Front | None = None
        self.by_hand: ByHand = no_tags  # of the front, as often as it is started
        self.asked = time.monotonic()
        self.calls = 0
        self.is_resting = False
        self._ending: set[asyncio.Task[None]] = set()

    @classmethod
    def of(cls, root: str, front: Front) -> "Slot":
        """Return the slot of a server's only project, which is always there."""
        slot = cls(root, lambda: front)
        slot.front = front
        return slot

    @property
    def state(self) -> State:
        """What there is of it in memory."""
        if self.front is None:
            return "unloaded"
        return "resting" if self.is_resting else "serving"

    def open(self) -> Front:
        """Return the front of the project, and start it if it is not there. Raises IndexingError."""
        self.asked, self.is_resting = time.monotonic(), False
        if self.front is None:
            try:
                self.front = self._start()
            except OSError as problem:
                reason = said(surroundings.failure(problem))
                raise IndexingError(Refusal("unavailable", reason, "Give up another project first.")) from problem
            self.front.by_hand = self.by_hand
        return self.front

    @contextmanager
    def in_use(self) -> Iterator[Front]:
        """Return the front for a call: as long as the block lasts, the project does not rest. Raises IndexingError."""
        front = self.open()
        self.calls += 1
        try:
            yield front
        finally:
            self.calls -= 1
            self.asked = time.monotonic()

    async def rest(self) -> None:
        """End the processes and keep the index; those, too, that a later generation has started since the last rest."""
        if self.front:
            self.is_resting = True
            await self.front.rest()

    async def unload(self) -> None:
        """Let calls at work end, then end the processes and let go of the index; who asks meanwhile has a new one.

        A process that started for such a call would be handed descriptors that are closed, or by then of other files.
        """
        front, self.front = self.front, None
        if front:
            ending = asyncio.create_task(_ended(front))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
        for ending in [*self._ending]:
            await asyncio.shield(ending)  # to its end, also where who waits is told to stop

    def held(self) -> int:
        """Return what the project holds, in bytes."""
        return self.front.indexing.memory.held() if self.front else 0


async def _ended(front: Front) -> None:
    await front.idle()
    await front.close()


class Projects(ManyProjects):
    """A tree of projects that are indexed here.

    >>> projects = Projects(profile, {"api": Slot("/srv/api", start), "web": Slot("/srv/web", start)}, total_memory=0)
    >>> await projects.call("read", {"path": "api/src/x.py"})
    Excerpt(path='api/src/x.py', ...)
    """

    def __init__(self, profile: Profile, slots: Mapping[str, Slot], total_memory: int) -> None:
        """Serve projects by name, which together hold `total_memory` bytes: those asked longest ago are unloaded."""
        super().__init__(profile, list(slots))
        self.slots = slots
        self._total_memory = total_memory
        self._resting = asyncio.create_task(self._let_rest())

    def indexings(self) -> dict[str, Indexing]:
        """Return the index of each project that is not unloaded, by name."""
        return {name: slot.front.indexing for name, slot in self.slots.items() if slot.front}

    async def close(self) -> None:
        """End the processes behind all projects."""
        self._resting.cancel()
        await asyncio.wait([self._resting])
        for slot in self.slots.values():
            await slot.unload()

    async def _ask(self, part: ProjectPart, terms: Terms) -> AnyAnswer | Refusal:
        try:
            with self.slots[part.project].in_use() as front:
                return await front.ask(part.question, terms)
        except IndexingError as failed:
            _log.error("project %s: %s", part.project, failed)  # it names a directory, and an agent is told of none
            return Refusal(
                "unavailable", "the project cannot be opened", "Ask about another; the server's log says why."
            )

    async def _ask_all(self, question: AnyQuestion, about: Parts, terms: Terms) -> AnyAnswer | Refusal:
        for part in about:  # all of those that are not there begin at once
            with suppress(IndexingError):
                self.slots[part.project].open()
        return await super()._ask_all(question, about, terms)

    def _absent(self) -> frozenset[str]:
        return frozenset(name for name, slot in self.slots.items() if slot.front is None)

    def _relative(self, question: AnyQuestion) -> AnyQuestion:
        """Return a question whose path, where it is absolute and below a root, is that of the tree."""
        path = str(getattr(question, "path", None) or "")
        for name, slot in self.slots.items():
            if path == slot.root or path.startswith(f"{slot.root}/"):
                return replace(question, path=f"{name}{path[len(slot.root) :]}")
        return question

    async def _let_rest(self) -> None:
        """Look now and then at who was not asked for a while. A timer does this: the next call may be days away."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            now = time.monotonic()
            idle = sorted((slot for slot in self.slots.values() if not slot.calls), key=lambda slot: slot.asked)
            for slot in idle:
                if slot.calls:
                    continue  # since the others were seen to
                if now - slot.asked > UNLOAD_SECONDS:
                    await slot.unload()
                elif now - slot.asked > REST_SECONDS:
                    await slot.rest()
            await self._make_room(idle)

    async def _make_room(self, idle: list[Slot]) -> None:
        """Unload those asked longest ago while all hold more than they may together."""
        while (
            self._total_memory
            and idle
            and not idle[0].calls
            and sum(slot.held() for slot in self.slots.values()) > self._total_memory
        ):
            slot = idle.pop(0)
            if slot.front:
                _log.info("a project is unloaded: all of them hold more than total_memory")
            await slot.unload()
