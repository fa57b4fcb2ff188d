"""The calls that a query worker works on: each with a cursor and a deadline of its own, and a clock that ends them."""

import os
import sys
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

import msgspec

from fledgling import refusals
from fledgling.messages.answers import Refusal
from fledgling.messages.control import Begun, Call, Cancel, Open, OpenFleet, Reply, ToWorker, Update, Updated
from fledgling.messages.questions import Query
from fledgling.pipe import HEADER_BYTES, Pipe, pack
from fledgling.worker.process import fault
from fledgling.worker.query.dispatch import answer
from fledgling.worker.store.database import AGAIN
from fledgling.worker.tools.request import Request

CALL_THREADS = 2  # calls worked on at once, of SQL and of the other tools each: slow SQL leaves room for the quick
TICK = 0.02  # seconds at most between two looks at deadlines
FORGET_CALLS = 64  # that opened a cursor, until DuckDB forgets their buffers: each leaves one to five kilobytes
FAULT = Refusal("failed", "the call ended by a fault of the server", "Ask in another way; the server's log says more.")
_REPLY = msgspec.msgpack.Decoder(Reply)

Waiting = SimpleQueue[tuple[Call, Request]]


class Calls:
    """The calls at work, from the frame that asks to the frame that answers.

    >>> Calls(pipe, lambda index: Request(db.cursor(), ...)).serve()
    """

    def __init__(
        self,
        pipe: Pipe[ToWorker],
        request: Callable[[int], Request],
        forget: Callable[[], None] = lambda: None,
        update: Callable[[Update], bool] = lambda _: False,
        *,
        are_doubtful: bool = False,
    ) -> None:
        """Answer calls that come through `pipe`; `request` opens a cursor on the index of each.

        `forget` has DuckDB free what calls have left behind; `update` takes what has changed, if there is room.
        Answers that `are_doubtful` are read here before the broker does, which would end this worker.
        """
        self._pipe = pipe
        self._asking = request
        self._forget = forget
        self._update = update
        self._are_doubtful = are_doubtful
        self._until_forgotten = FORGET_CALLS
        self._at_work: dict[int, tuple[Request, float]] = {}
        self._ending = threading.Lock()  # whoever ends a call must find its cursor open
        self._sql: Waiting = SimpleQueue()
        self._other: Waiting = SimpleQueue()
        self._stirring = threading.Event()

    def serve(self) -> None:
        """Take calls until the broker closes the pipe."""
        threading.Thread(target=self._watch, daemon=True).start()
        for queue in (self._sql, self._other) * CALL_THREADS:
            threading.Thread(target=self._take, args=[queue], daemon=True).start()
        while (message := self._pipe.receive()) is not None:
            match message:
                case Call():
                    self._count()
                    request = self._asking(message.index)
                    request.by_hand = message.by_hand
                    self._at_work[message.id] = (request, time.monotonic() + message.seconds)
                    self._stirring.set()
                    (self._sql if isinstance(message.question, Query) else self._other).put((message, request))
                case Cancel():
                    self._cancel(message.id)
                case Update():
                    has_room = self._update(message)
                    if message.is_last:
                        self._pipe.send(Updated(message.generation, has_room=has_room))
                    del message  # it may be large, and the next may be long in coming
                case Open() | OpenFleet():
                    break

    def _count(self) -> None:
        self._until_forgotten -= 1
        if self._until_forgotten == 0:
            self._until_forgotten = FORGET_CALLS
            self._forget()

    def _take(self, queue: Waiting) -> None:
        try:
            while True:
                self._work(*queue.get())
        except BrokenPipeError:  # the broker is gone
            os._exit(0)
        except BaseException as problem:  # noqa: BLE001  (a thread that is gone would leave its calls to their timeout)
            sys.stderr.write(fault.line(problem))
            os._exit(1)

    def _work(self, call: Call, request: Request) -> None:
        self._pipe.send(Begun(call.id))
        try:
            answered, taken = answer(request, call.question)
            frame = pack(Reply(call.id, answered, request.changes, taken))
            if self._are_doubtful:
                _REPLY.decode(frame[HEADER_BYTES:])
        except MemoryError:
            frame = pack(Reply(call.id, refusals.out_of_memory(request.profile), request.changes))
        except Exception as problem:  # noqa: BLE001  (the loop's last resort: one refusal, one log line, the next call)
            sys.stderr.write(fault.line(problem))
            frame = pack(Reply(call.id, FAULT, request.changes))
        with self._ending:
            del self._at_work[call.id]
        if request.cursor:
            request.cursor.close()
        self._pipe.write(frame)

    def _cancel(self, number: int) -> None:
        """End a call from now on as if its time were over; one that has ended already is left alone."""
        with self._ending:
            if number in self._at_work:
                request, _ = self._at_work[number]
                self._at_work[number] = (request, 0.0)
                request.end("cancelled")

    def _watch(self) -> None:
        """Interrupt calls past their deadline, again and again until they end."""
        while True:
            self._stirring.wait()
            self._stirring.clear()
            while deadlines := [deadline for _, deadline in list(self._at_work.values())]:
                left = min(deadlines) - time.monotonic()
                time.sleep(min(left, TICK) if left > 0 else AGAIN)
                with self._ending:
                    for request, deadline in list(self._at_work.values()):
                        if time.monotonic() > deadline:
                            request.end("timeout")
