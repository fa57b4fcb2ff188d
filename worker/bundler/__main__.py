"""The bundler's main. What it is told of lies in one memory file, and what it makes goes to others that are open."""

if __name__ == "__main__":
    from fledgling.worker.process.begin import begin

    begin()

from fledgling.messages.bundling import Bundle, Exhausted, Export
from fledgling.pipe import Pipe
from fledgling.worker.bundler.export import export
from fledgling.worker.bundler.room import ExhaustedError
from fledgling.worker.bundler.run import bundle
from fledgling.worker.process.fault import ended
from fledgling.worker.store.database import Starting, start


def main() -> None:
    """Make one bundle or export: read the order from standard input, report on standard output."""
    pipe: Pipe[Bundle | Export] = Pipe(Bundle | Export)
    starting = Starting(start)
    try:
        match pipe.receive():
            case Bundle() as order:
                bundle(pipe, order, starting.wait())
            case Export() as order:
                export(pipe, order, starting.wait())
    except ExhaustedError as full:
        pipe.send(Exhausted(full.number))


if __name__ == "__main__":
    ended(main)
