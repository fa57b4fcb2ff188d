"""Whose turn it is: agents share an event loop, and what one of them asks does not hold up the others."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

from fledgling.broker.fleet.fleet import Fleet
from fledgling.broker.front import Front
from fledgling.broker.terms import Terms
from fledgling.messages.answers import AnyAnswer, Refusal
from fledgling.messages.inner_answers import Found
from fledgling.messages.questions import AnyQuestion, Asked

TURNS = 1  # requests of one of several agents, or of nobody, worked on at once, refused ones too: others do not wait
TURN_SECONDS = 1.0  # until a request no longer counts as one of those: its client does not read what it asked for


class Turn:
    """One of the requests of an agent, or of nobody, that this process works on; not while it waits for a worker.

    A request may wait for several answers at once: it has its turn again when the last of them is there.
    """

    def __init__(self, turns: asyncio.Semaphore) -> None:
        self._turns = turns
        self._taking = asyncio.Lock()
        self._awaited = 0
        self._is_taken = False
        self._is_over = False

    async def take(self) -> None:
        """Wait for it, unless the request has had its time, or waits for a worker as well."""
        async with self._taking:
            if self._is_taken or self._is_idle():
                return
            await self._turns.acquire()
            self._is_taken = True
            if self._is_idle():
                self.give()

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[None]:
        """Let another request have it until the block ends."""
        self._awaited += 1
        self.give()
        try:
            yield
        finally:
            self._awaited -= 1
            await self.take()

    def give(self) -> None:
        """Let another request have it."""
        if self._is_taken:
            self._is_taken = False
            self._turns.release()

    def end(self) -> None:
        """Let another have it, for good."""
        self._is_over = True
        self.give()

    def _is_idle(self) -> bool:
        return self._is_over or self._awaited > 0


_turn: ContextVar[Turn | None] = ContextVar("turn", default=None)


@asynccontextmanager
async def taken(turns: asyncio.Semaphore) -> AsyncIterator[Turn]:
    """Wait for a turn, and have it for as long as the block lasts, but no longer than TURN_SECONDS."""
    turn = Turn(turns)
    _turn.set(turn)
    await turn.take()
    over = asyncio.get_running_loop().call_later(TURN_SECONDS, turn.end)
    try:
        await asyncio.sleep(0)  # or as many as are ready would be refused before anyone else is heard
        yield turn
    finally:
        over.cancel()
        turn.end()


@asynccontextmanager
async def aside() -> AsyncIterator[None]:
    """Give the turn back until the block ends."""
    turn = _turn.get()
    if turn is None:
        yield
        return
    async with turn.aside():
        yield


class SharingFront(Front):
    """A front whose questions give their turn back while the worker has them."""

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[None]:
        """Give the turn back until the block ends."""
        async with aside():
            yield

    async def ask(self, question: AnyQuestion, terms: Terms | None = None) -> AnyAnswer | Refusal:
        """Put one question, as any front does."""
        async with aside():
            return await super().ask(question, terms)


class SharingFleet(Fleet):
    """A fleet whose questions give their turn back while the worker has them."""

    async def put(self, question: Asked, number: int, terms: Terms) -> Found | Refusal:
        """Put one question to the worker, as any fleet does."""
        async with aside():
            return await super().put(question, number, terms)
