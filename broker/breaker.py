"""What is learnt from query workers that end: which question not to ask again, and when not to start another one."""

import math
import time
from collections import deque
from collections.abc import Iterable

import msgspec

from fledgling.digests import sha256
from fledgling.messages.answers import Refusal
from fledgling.messages.questions import Asked, Query, Sift

DEADLY = 2  # workers that a question may end; it is refused from then on
REMEMBERED = 1024  # questions that have ended a worker, each 32 bytes; the oldest is forgotten
CRASHES = 5  # workers that end by themselves, one after the other and without an answer, ...
CRASH_SECONDS = 60.0  # ... within so long: then starting another is put off ...
PAUSE_SECONDS, MAX_PAUSE_SECONDS = 1.0, 60.0  # ... by so long at first, and twice as long after each that ends again


class Breaker:
    """The memory of one session. A worker that a limit ends is no crash; a call that does not end is to blame alone.

    >>> breaker = Breaker()
    >>> breaker.ended([Query("SELECT 1")], is_crash=True)
    >>> breaker.ended([Query("SELECT 1")], is_crash=True)
    >>> breaker.refusal(Query("SELECT 1")).reason
    'this call has ended 2 query workers'
    """

    def __init__(self) -> None:
        self.misleading: set[int] = set()  # indexes, of several, by which a worker has said what no answer may be
        self._blamed: dict[bytes, int] = {}
        self._crashes: deque[float] = deque(maxlen=CRASHES)
        self._pause = 0.0
        self._until = 0.0

    def refusal(self, question: Asked) -> Refusal | None:
        """Return the refusal for a question that has ended DEADLY workers."""
        ended = self._blamed.get(_digest(question), 0)
        if ended < DEADLY:
            return None
        return Refusal(
            "unavailable",
            f"this call has ended {ended} query workers",
            "Ask in another way or for less at once; it is not tried again until Fledgling is restarted.",
        )

    def wait(self) -> float:
        """Return the seconds for which no worker is to be started."""
        return max(self._until - time.monotonic(), 0.0)

    def unavailable(self) -> Refusal | None:
        """Return the refusal while no worker is to be started and none has answered since."""
        seconds = math.ceil(self.wait())
        if not seconds or not self._pause:
            return None
        return Refusal(
            "unavailable",
            f"{len(self._crashes)} query workers have ended one after the other",
            f"Ask again in {seconds} s: another one is started then.",
        )

    def blame(self, question: Asked) -> None:
        """Remember that this question has ended a worker."""
        key = _digest(question)
        self._blamed[key] = self._blamed.pop(key, 0) + 1
        if len(self._blamed) > REMEMBERED:
            del self._blamed[next(iter(self._blamed))]

    def misled(self, question: Asked, index: int) -> None:
        """Remember of which index a worker has said what does not fit its question: it may not be an indexer's."""
        if not isinstance(question, Sift):  # that is about all of them
            self.misleading.add(index)

    def ended(self, at_work: Iterable[Asked], *, is_crash: bool) -> None:
        """Take note of a worker that ended by itself or by its memory cap, and blame the SQL it worked on.

        The other tools run statements of ours: where one of them is at work when a worker is killed from outside, or by
        SQL beside it, it would be refused for nothing.
        """
        for question in at_work:
            if isinstance(question, Query):
                self.blame(question)
        if is_crash:
            self._crashes.append(time.monotonic())
            is_loop = len(self._crashes) == CRASHES and self._crashes[-1] - self._crashes[0] <= CRASH_SECONDS
            if is_loop or self._pause:
                self._pause = min(max(2 * self._pause, PAUSE_SECONDS), MAX_PAUSE_SECONDS)
                self._until = self._crashes[-1] + self._pause

    def answered(self, question: Asked) -> None:
        """Take note of a worker that works, and of a question that did not end it.

        It may be the one before those that ended: calls are refused no longer, but the next start waits for what is
        left of the first pause.
        """
        self._crashes.clear()
        self._pause = 0.0
        self._until = min(self._until, time.monotonic() + PAUSE_SECONDS)
        if self._blamed:
            self._blamed.pop(_digest(question), None)


def _digest(question: Asked) -> bytes:
    return sha256(msgspec.msgpack.encode(question)).digest()
