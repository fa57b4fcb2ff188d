"""The query worker's main. What it needs to open the images is loaded here, all else in serving.py meanwhile."""

import sys

if __name__ == "__main__":
    # msgspec looks for it first and needs nothing of it: a fifteenth of the time that a worker takes to be ready.
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]

import os
import time
from pathlib import Path
from threading import Thread

import _duckdb as duckdb

from fledgling.pipe import Pipe
from fledgling.wire import Open, ToWorker
from fledgling.worker.image import open_sealed

ENDING = 0.0005  # seconds between two looks at whether a thread is gone


class Opening:
    """The engine opens the images while all else is loaded, which takes about as long.

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
        """Return the engine once the thread is gone for the kernel, too: confinement suffers no other."""
        self._thread.join()
        while Path(f"/proc/self/task/{self._thread.native_id}").exists():
            time.sleep(ENDING)
        assert self._db, "the thread has said what it stumbled over"
        return self._db


def main() -> None:
    """Run one query worker: read Open from standard input, then serve."""
    pipe: Pipe[ToWorker] = Pipe(ToWorker)
    opened = pipe.receive()
    if isinstance(opened, Open):
        opening = Opening(opened)
        from fledgling.worker.serving import serve  # noqa: PLC0415  (see Opening)

        serve(pipe, opened, opening.wait)
    os._exit(0)  # calls still at work have nobody left to answer


if __name__ == "__main__":
    main()
