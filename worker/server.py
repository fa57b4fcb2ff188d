"""The query worker's main: open the images, confine, answer until the pipe closes. It meets hostile questions."""

import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import _duckdb as duckdb

from fledgling import refusals
from fledgling.pipe import Pipe, pack
from fledgling.security import limits
from fledgling.security.confinement import ConfinementError, confine
from fledgling.wire import CODE, Call, Cancel, Open, Query, Ready, Refusal, Reply, ToWorker
from fledgling.worker import fault
from fledgling.worker.answers import answer
from fledgling.worker.blocks import Blocks
from fledgling.worker.gate.statement import Gate
from fledgling.worker.image import lock_down, open_sealed
from fledgling.worker.index import Asking
from fledgling.worker.outlines import Outlines
from fledgling.worker.signatures import Signatures

CALL_THREADS = 2  # calls worked on at once, of SQL and of the other tools each: slow SQL leaves room for the quick
TICK = 0.02  # seconds at most between two looks at deadlines
AGAIN = 0.005  # seconds between two interrupts of a call: one is lost on an engine that is between two batches
FAULT = Refusal("failed", "the call ended by a fault of the server", "Ask again in another way; see the log.")


class Server:
    """The calls at work and the clock that ends them."""

    def __init__(
        self,
        pipe: Pipe[ToWorker],
        db: duckdb.DuckDBPyConnection,
        signatures: Signatures,
        blocks: Blocks,
        outlines: Outlines | None,
        opened: Open,
        gate: Gate | None,
    ) -> None:
        """Answer calls that come through `pipe` from the open image `db`."""
        self._pipe = pipe
        self._db = db
        self._signatures = signatures
        self._blocks = blocks
        self._outlines = outlines
        self._opened = opened
        self._gate = gate
        self._calls: dict[int, tuple[Asking, float]] = {}
        self._ending = threading.Lock()  # whoever ends a call must find its cursor open
        self._sql_pool, self._pool = ThreadPoolExecutor(CALL_THREADS), ThreadPoolExecutor(CALL_THREADS)
        self._stirring = threading.Event()

    def serve(self) -> None:
        """Take calls until the broker closes the pipe."""
        threading.Thread(target=self._watch, daemon=True).start()
        while (message := self._pipe.receive()) is not None:
            match message:
                case Call():
                    asking = Asking(
                        self._db.cursor(), self._signatures, self._blocks, self._outlines, self._opened, self._gate
                    )
                    self._calls[message.id] = (asking, time.monotonic() + message.seconds)
                    self._stirring.set()
                    pool = self._sql_pool if isinstance(message.question, Query) else self._pool
                    pool.submit(self._work, message, asking)
                case Cancel():
                    self._cancel(message.id)
                case Open():
                    break

    def _work(self, call: Call, asking: Asking) -> None:
        try:
            frame = pack(Reply(call.id, answer(asking, call.question)))
        except MemoryError:
            frame = pack(Reply(call.id, refusals.out_of_memory(asking.profile)))
        except Exception as problem:  # noqa: BLE001  (the loop's last resort: one refusal, one log line, the next call)
            sys.stderr.write(fault.line(problem))
            frame = pack(Reply(call.id, FAULT))
        with self._ending:
            del self._calls[call.id]
        asking.cursor.close()
        self._pipe.write(frame)

    def _cancel(self, number: int) -> None:
        """End a call from now on as if its time were over; one that has ended already is left alone."""
        with self._ending:
            if number in self._calls:
                asking, _ = self._calls[number]
                self._calls[number] = (asking, 0.0)
                asking.end("cancelled")

    def _watch(self) -> None:
        """Interrupt calls past their deadline, again and again until they end."""
        while True:
            self._stirring.wait()
            self._stirring.clear()
            while deadlines := [deadline for _, deadline in list(self._calls.values())]:
                left = min(deadlines) - time.monotonic()
                time.sleep(min(left, TICK) if left > 0 else AGAIN)
                with self._ending:
                    for asking, deadline in list(self._calls.values()):
                        if time.monotonic() > deadline:
                            asking.end("timeout")


def main() -> None:
    """Run one query worker: read Open from standard input, then serve. The order is what confinement needs."""
    pipe: Pipe[ToWorker] = Pipe(ToWorker)
    opened = pipe.receive()
    if not isinstance(opened, Open):
        return
    signatures, blocks = Signatures(opened.images.signatures), Blocks(opened.images.blocks)
    outlines = Outlines(opened.images.outlines) if opened.generation.number == CODE else None
    db = open_sealed(opened.images, opened.generation.number, opened.profile.memory_limit)
    gate = Gate() if "query" in opened.profile.tools else None  # a database of its own: opening one takes a while
    lowered = limits.with_memory(limits.QUERY_WORKER, opened.profile.memory_limit)
    try:
        layers = confine("query worker", opened.confining, parent=opened.broker_pid, lowered=lowered)
    except ConfinementError as absent:
        pipe.send(refusals.not_confined(str(absent)))
        return
    lock_down(db)
    pipe.send(Ready(layers))
    Server(pipe, db, signatures, blocks, outlines, opened, gate).serve()
    os._exit(0)  # calls still at work have nobody left to answer


if __name__ == "__main__":
    main()
