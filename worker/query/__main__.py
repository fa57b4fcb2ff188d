"""The query worker's main. What it needs to open the images is loaded here, all else in serve.py meanwhile.

It may be started before there is anything to open: then it loads, and waits for `Open`.
"""

if __name__ == "__main__":
    from fledgling.worker.process.begin import begin

    begin()

import _duckdb as duckdb

from fledgling.messages.control import Open, ToWorker
from fledgling.messages.generations import LISTING
from fledgling.pipe import Pipe
from fledgling.worker.process.fault import ended
from fledgling.worker.store.database import Starting, start


def main() -> None:
    """Run one query worker: read Open from standard input, then serve."""
    pipe: Pipe[ToWorker] = Pipe(ToWorker)
    starting = Starting(lambda: _ordered(pipe))
    from fledgling.worker.query.serve import serve  # noqa: PLC0415  (see Starting)

    if (ordered := starting.wait()) is not None:
        serve(pipe, *ordered)


def _ordered(pipe: Pipe[ToWorker]) -> tuple[Open, duckdb.DuckDBPyConnection | None] | None:
    """Wait for what is to be opened, and start DuckDB; a listing needs none. None where that is not what comes."""
    ordered = pipe.receive()
    if not isinstance(ordered, Open):
        return None
    return ordered, None if ordered.generation.number == LISTING else start()


if __name__ == "__main__":
    ended(main)
