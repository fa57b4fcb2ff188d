"""The query worker's main. What it needs to open the images is loaded here, all else in serving.py meanwhile.

It may be started before there is anything to open: then it loads, and waits for `Open`.
"""

if __name__ == "__main__":
    from fledgling.worker.begin import begin

    begin()

import os

import _duckdb as duckdb

from fledgling.pipe import Pipe
from fledgling.wire import LISTING, Open, ToWorker
from fledgling.worker.fault import ended
from fledgling.worker.image import Opening, open_sealed


def main() -> None:
    """Run one query worker: read Open from standard input, then serve."""
    pipe: Pipe[ToWorker] = Pipe(ToWorker)
    opening = Opening(lambda: _opened(pipe))
    from fledgling.worker.serving import serve  # noqa: PLC0415  (see Opening)

    if (found := opening.wait()) is not None:
        serve(pipe, *found)
    os._exit(0)  # calls still at work have nobody left to answer


def _opened(pipe: Pipe[ToWorker]) -> tuple[Open, duckdb.DuckDBPyConnection | None] | None:
    """Wait for what is to be opened, and open it; a listing needs no engine. None where that is not what comes."""
    opened = pipe.receive()
    if not isinstance(opened, Open):
        return None
    if opened.generation.number == LISTING:
        return opened, None
    return opened, open_sealed(opened.images, opened.generation.number, opened.profile.memory_limit)


if __name__ == "__main__":
    ended(main)
