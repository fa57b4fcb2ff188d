"""The query worker's main: open the images, confine, answer until the pipe closes. It meets hostile questions."""

import sys

if __name__ == "__main__":
    # msgspec looks for it first and needs nothing of it: a fifteenth of the time that a worker takes to be ready.
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]

import os
import time
from pathlib import Path
from threading import Thread

import _duckdb as duckdb

from fledgling import refusals
from fledgling.pipe import Pipe
from fledgling.security import limits
from fledgling.security.confinement import ConfinementError, confine
from fledgling.wire import CODE, Open, Ready, ToWorker
from fledgling.worker.blocks import Blocks
from fledgling.worker.image import lock_down, open_sealed
from fledgling.worker.outlines import Outlines
from fledgling.worker.signatures import Signatures

ENDING = 0.0005  # seconds between two looks at whether a thread is gone


class Opening:
    """The engine opens the images while our own modules are loaded: each takes some thirty milliseconds of a start.

    >>> Opening(opened).wait()
    <_duckdb.DuckDBPyConnection object>
    """

    def __init__(self, opened: Open) -> None:
        self._opened = opened
        self._db: duckdb.DuckDBPyConnection | None = None
        self._thread = Thread(target=self._open)
        self._thread.start()

    def _open(self) -> None:
        opened = self._opened
        self._db = open_sealed(opened.images, opened.generation.number, opened.profile.memory_limit)

    def wait(self) -> duckdb.DuckDBPyConnection:
        """Return the open image, when the kernel, too, knows nothing of this thread: confinement allows no other."""
        self._thread.join()
        while Path(f"/proc/self/task/{self._thread.native_id}").exists():
            time.sleep(ENDING)
        assert self._db, "the thread has said what it stumbled over"
        return self._db


def main() -> None:
    """Run one query worker: read Open from standard input, then serve. The order is what confinement needs."""
    pipe: Pipe[ToWorker] = Pipe(ToWorker)
    opened = pipe.receive()
    if not isinstance(opened, Open):
        return
    profile, images = opened.profile, opened.images
    signatures, blocks = Signatures(images.signatures), Blocks(images.blocks)
    outlines = Outlines(images.outlines) if opened.generation.number == CODE else None
    opening = Opening(opened)
    from fledgling.worker.calls import Calls  # noqa: PLC0415  (see Opening)
    from fledgling.worker.index import Asking  # noqa: PLC0415

    gate = None
    if "query" in profile.tools:
        from fledgling.worker.gate.statement import Gate  # noqa: PLC0415

        gate = Gate()  # a database of its own
    db = opening.wait()
    lowered = limits.with_memory(limits.QUERY_WORKER, profile.memory_limit)
    try:
        layers = confine("query worker", opened.confining, parent=opened.broker_pid, lowered=lowered)
    except ConfinementError as absent:
        pipe.send(refusals.not_confined(str(absent)))
        return
    lock_down(db)
    pipe.send(Ready(layers))
    Calls(pipe, lambda: Asking(db.cursor(), signatures, blocks, outlines, opened, gate)).serve()
    os._exit(0)  # calls still at work have nobody left to answer


if __name__ == "__main__":
    main()
