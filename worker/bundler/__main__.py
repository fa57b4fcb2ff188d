"""The bundler's main. What it is told of lies in one memory file, and what it makes goes to two that are open."""

if __name__ == "__main__":
    from fledgling.worker.process.begin import begin

    begin()

from fledgling.messages.control import Bundle
from fledgling.pipe import Pipe
from fledgling.worker.bundler.run import bundle
from fledgling.worker.process.fault import ended
from fledgling.worker.store.database import Starting, start


def main() -> None:
    """Make one bundle: read Bundle from standard input, report on standard output."""
    pipe: Pipe[Bundle] = Pipe(Bundle)
    starting = Starting(start)
    order = pipe.receive()
    if isinstance(order, Bundle):
        bundle(pipe, order, starting.wait())


if __name__ == "__main__":
    ended(main)
