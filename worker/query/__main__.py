"""The query worker's main. What it needs to open the images is loaded here, all else in serve.py meanwhile.

It may be started before there is anything to open: then it loads, and waits for `Open`.
"""

if __name__ == "__main__":
    from fledgling.worker.process.begin import begin

    begin()

import _duckdb as duckdb

from fledgling.messages.control import Open, OpenFleet, ToWorker
from fledgling.messages.generations import LISTING
from fledgling.pipe import Pipe
from fledgling.standing_in import load_numpy
from fledgling.worker.process.fault import ended
from fledgling.worker.store.database import Starting, start


def main() -> None:
    """Run one query worker: read Open from standard input, then serve."""
    pipe: Pipe[ToWorker] = Pipe(ToWorker)
    starting = Starting(lambda: _ordered(pipe))
    load_numpy()
    from fledgling.worker.query.serve import serve  # noqa: PLC0415  (see Starting)

    match starting.wait():
        case Open() as opened, db:
            serve(pipe, opened, db)
        case OpenFleet() as opened, db if db:
            from fledgling.worker.query.fleet import serve_fleet  # noqa: PLC0415  (few have one)

            serve_fleet(pipe, opened, db)


def _ordered(pipe: Pipe[ToWorker]) -> tuple[Open | OpenFleet, duckdb.DuckDBPyConnection | None] | None:
    """Wait for what is to be opened, and start DuckDB; a listing needs none. None where that is not what comes."""
    ordered = pipe.receive()
    if not isinstance(ordered, Open | OpenFleet):
        return None
    is_listing = isinstance(ordered, Open) and ordered.generation.number == LISTING
    return ordered, None if is_listing else start()


if __name__ == "__main__":
    ended(main)
