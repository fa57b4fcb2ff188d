"""The query worker's main. What it needs to open the images is loaded here, all else in serving.py meanwhile."""

if __name__ == "__main__":
    from fledgling.worker.begin import begin

    begin()

import os

from fledgling.pipe import Pipe
from fledgling.wire import Open, ToWorker
from fledgling.worker.image import Opening, open_sealed


def main() -> None:
    """Run one query worker: read Open from standard input, then serve."""
    pipe: Pipe[ToWorker] = Pipe(ToWorker)
    opened = pipe.receive()
    if isinstance(opened, Open):
        generation, memory_limit = opened.generation.number, opened.profile.memory_limit
        opening = Opening(lambda: open_sealed(opened.images, generation, memory_limit))
        from fledgling.worker.serving import serve  # noqa: PLC0415  (see Opening)

        serve(pipe, opened, opening.wait)
    os._exit(0)  # calls still at work have nobody left to answer


if __name__ == "__main__":
    main()
