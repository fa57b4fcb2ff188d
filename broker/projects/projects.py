"""The front of several projects: a call goes to the project that its path begins with, or to each in turn.

Each project has a front of its own: an index, workers, a breaker and the profile's memory limit. It starts when it is
first asked for; one that nobody has asked for a while gives up its processes, and later its index. What is told of a
project an agent can see by exploring: a path that is in none leads nowhere, whatever it is called.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Literal

from msgspec.structs import replace

from fledgling.broker import mending
from fledgling.broker.basis import Basis
from fledgling.broker.front import Front, Report, taken
from fledgling.broker.indexing import Indexing, IndexingError
from fledgling.broker.projects.merging import Merging, may_be_ranked, ranked, tree
from fledgling.broker.projects.paths import Part, parts, within
from fledgling.messages.answers import AnyAnswer, Hits, Ranking, Refusal, Relations
from fledgling.messages.generations import LISTING
from fledgling.messages.profile import Profile
from fledgling.messages.questions import AnyQuestion, Dependencies, Explore, Query, Read, Search, Symbols

REST_SECONDS = 600.0  # without a call until a project gives up its processes: a worker is back in a tenth of a second
UNLOAD_SECONDS = 3600.0  # until it gives up its index, too, which takes seconds to make again
LOOK_SECONDS = 30.0  # between two looks at who may rest
NO_ROOT = "\0"  # no path begins with it: absolute paths are looked at here

State = Literal["unloaded", "serving", "resting"]
_log = logging.getLogger("fledgling")


class Slot:
    """One project: where it is, its front while it has one, and when it was asked last."""

    def __init__(self, root: str, start: Callable[[], Front]) -> None:
        self.root = root
        self._start = start
        self.front: Front | None = None
        self.asked = time.monotonic()
        self.calls = 0
        self.is_resting = False
        self._ending: asyncio.Task[None] | None = None

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
            self.front = self._start()
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
        """End the processes and keep the index."""
        if self.front and not self.is_resting:
            self.is_resting = True
            await self.front.rest()

    async def unload(self) -> None:
        """End the processes and let go of the index."""
        front, self.front = self.front, None
        if front:
            self._ending = asyncio.create_task(front.close())
        if self._ending:
            await asyncio.shield(self._ending)  # to its end, also where who waits is told to stop

    def held(self) -> int:
        """Return what the project holds, in bytes."""
        return self.front.indexing.memory.held() if self.front else 0


class Projects:
    """Answers the questions of one agent about several projects; it is asked as a front is.

    >>> projects = Projects(profile, {"api": Slot("/srv/api", start), "web": Slot("/srv/web", start)}, total_memory=0)
    >>> await projects.call("read", {"path": "api/src/x.py"})
    Excerpt(path='api/src/x.py', ...)
    """

    def __init__(self, profile: Profile, slots: Mapping[str, Slot], total_memory: int) -> None:
        """Serve projects by name, which together hold `total_memory` bytes: those asked longest ago are unloaded."""
        self.profile = profile
        self.slots = slots
        self._total_memory = total_memory
        self._resting = asyncio.create_task(self._let_rest())

    def deadline(self) -> float:
        """Return by when a call that arrives now must be answered, on the clock of time.monotonic."""
        return time.monotonic() + self.profile.query_timeout

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, object],
        report: Report | None = None,
        *,
        least: int = LISTING,
        deadline: float | None = None,
        basis: Basis | None = None,
    ) -> AnyAnswer | Refusal:
        """Check the tool and its arguments, then ask those projects that they are about."""
        meant = taken(self.profile, tool, arguments, NO_ROOT)
        if isinstance(meant, Refusal):
            return meant
        meant = meant._replace(question=self._relative(meant.question))
        ask = partial(self.ask, report=report, least=least, deadline=deadline or self.deadline(), basis=basis)
        return await mending.answered(meant, ask, self.profile.tools, NO_ROOT)

    async def ask(
        self,
        question: AnyQuestion,
        report: Report | None = None,
        *,
        least: int = LISTING,
        deadline: float | None = None,
        basis: Basis | None = None,
    ) -> AnyAnswer | Refusal:
        """Put one question to whom it is about, and answer with paths of the tree."""
        if isinstance(question, Query):
            return Refusal(
                "invalid",
                f"SQL is asked of one project, and {len(self.slots)} are served here",
                "Use the other tools, or start a server for that project alone.",
            )
        about = parts(question, list(self.slots))
        if not about:
            return self._nowhere(question)
        ask = partial(self._ask, report=report, least=least, deadline=deadline or self.deadline(), basis=basis)
        named = str(getattr(question, "path", None) or "").removeprefix("./").partition("/")[0] in self.slots
        if named:
            return _as_of(about[0].project, await ask(about[0]))
        for part in about:  # all of those that are not there begin at once
            with suppress(IndexingError):
                self.slots[part.project].open()
        match question:
            case Explore():
                below = replace(question, depth=max(question.depth - 1, 1))
                return tree(question, {part.project: await ask(Part(part.project, below)) for part in about})
            case Read() | Dependencies() | Symbols(relation=str()):
                return _only({part.project: await ask(part) for part in about})
            case Search() | Symbols():
                return await _listed(question, about, ask)

    def indexings(self) -> dict[str, Indexing]:
        """Return the index of each project that is not unloaded, by name."""
        return {name: slot.front.indexing for name, slot in self.slots.items() if slot.front}

    async def close(self) -> None:
        """End the processes behind all projects."""
        self._resting.cancel()
        await asyncio.wait([self._resting])
        for slot in self.slots.values():
            await slot.unload()

    async def _ask(
        self, part: Part, *, report: Report | None, least: int, deadline: float, basis: Basis | None
    ) -> AnyAnswer | Refusal:
        try:
            with self.slots[part.project].in_use() as front:
                return await front.ask(part.question, report, least=least, deadline=deadline, basis=basis)
        except IndexingError as failed:
            _log.error("project %s: %s", part.project, failed)  # it names a directory, and an agent is told of none
            return Refusal("unavailable", "the project cannot be opened", "Ask about another; see the server's log.")

    def _relative(self, question: AnyQuestion) -> AnyQuestion:
        """Return a question whose path, where it is absolute and below a root, is that of the tree."""
        path = str(getattr(question, "path", None) or "")
        for name, slot in self.slots.items():
            if path == slot.root or path.startswith(f"{slot.root}/"):
                return replace(question, path=f"{name}{path[len(slot.root) :]}")
        return question

    def _nowhere(self, question: AnyQuestion) -> Refusal:
        """Say which projects there are to one who asks for what is in none."""
        path = str(getattr(question, "path", "") or "")
        names = ", ".join(f"{name}/" for name in self.slots)
        kind: Literal["denied", "not_found"] = "denied" if path.startswith(("/", "..")) else "not_found"
        return Refusal(kind, f"there is no {path[:200]!r} here", f"Begin a path with a project: {names}.")

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


def _as_of(project: str, found: AnyAnswer | Refusal) -> AnyAnswer | Refusal:
    if isinstance(found, Refusal):
        return replace(found, reason=f"{project}/: {found.reason}")
    return within(found, project)


def _path(found: AnyAnswer) -> str:
    """Return where the definition is that an answer is about."""
    return found.definitions[0].path if isinstance(found, Relations) else str(getattr(found, "path", ""))


def _only(found: Mapping[str, AnyAnswer | Refusal]) -> AnyAnswer | Refusal:
    """Return the one answer there is, or say that there are several, or none."""
    answers = {name: each for name, each in found.items() if not isinstance(each, Refusal)}
    if len(answers) == 1:
        [(name, each)] = answers.items()
        return within(each, name)
    if answers:
        paths = ", ".join(f"{name}/{_path(each)}" for name, each in answers.items())
        return Refusal("ambiguous", f"several projects define it: {paths}", "Give one of these as path.")
    refusals = [(name, each) for name, each in found.items() if isinstance(each, Refusal)]
    name, best = next(((name, each) for name, each in refusals if each.kind != "not_found"), refusals[0])
    return replace(best, reason=f"{name}/: {best.reason}") if best.kind != "not_found" else best


async def _listed(
    question: Search | Symbols, about: Sequence[Part], ask: Callable[[Part], Awaitable[AnyAnswer | Refusal]]
) -> AnyAnswer | Refusal:
    """Answer with what projects list one after the other; by meaning, if that is asked for or no line is found."""
    if not (isinstance(question, Search) and question.is_ranked):
        merging = Merging(question, [part.project for part in about])
        for number, part in enumerate(about):
            merging.take(number, await ask(Part(part.project, merging.question(number, part.question))))
        found = merging.answer()
        if not (isinstance(question, Search) and may_be_ranked(question) and isinstance(found, Hits)) or found.total:
            return found
        answers = {part.project: await ask(part) for part in about}
        return ranked(answers) if any(isinstance(each, Ranking) for each in answers.values()) else found
    return ranked({part.project: await ask(part) for part in about})
