"""The indexer's main: confine, build, report, exit. It meets hostile files, and writes nothing but the memory file."""

import os
import sys
import threading
from contextlib import closing

import duckdb

from fledgling import refusals
from fledgling.config import MAX_YAML_BYTES, PROJECT_FILE, Narrowed, narrow
from fledgling.pipe import Pipe
from fledgling.security import lifeline, limits
from fledgling.wire import Accepted, Build, Refusal
from fledgling.worker.below import Reader
from fledgling.worker.build import Building
from fledgling.worker.builder import Builder, ViewError
from fledgling.worker.extracting.extractors import Extractors
from fledgling.worker.language import load_languages


def main() -> None:
    """Run one build: read Build from standard input, report on standard output."""
    pipe: Pipe[Build] = Pipe(Build)
    order = pipe.receive()
    if order is not None:
        _index(pipe, order)
    os._exit(0)  # the image is sealed or lost: nothing is left to tidy


def _index(pipe: Pipe[Build], order: Build) -> None:
    """Confine, build, report. The order of the first lines is what confinement needs."""
    lifeline.tie(order.broker_pid)
    limits.confine(limits.INDEXER, order.profile.memory_limit)
    languages = load_languages()
    extractors = Extractors(languages)  # before any thread: it forks
    threading.Thread(target=_end_with_broker, args=[pipe], daemon=True).start()
    try:
        narrowed = _narrowed(order)
        builder = Builder(order.images, order.profile, has_content=narrowed.scope.index_content)
        pipe.send(Accepted(narrowed.scope, narrowed.narrowed, narrowed.notices))
        pipe.send(Building(order, narrowed.scope, builder, languages, extractors, pipe.send).run())
    except ViewError as wrong:
        pipe.send(Refusal("invalid", f"{order.profile.file}:{wrong.line}: {wrong.problem}", wrong.fix))
    except (MemoryError, duckdb.OutOfMemoryException, duckdb.TransactionException):  # the last: no memory to commit
        pipe.send(refusals.index_too_large(order.profile))
    except Exception as problem:  # noqa: BLE001  (the last resort of this process: one refusal, one log line)
        sys.stderr.write(f"{type(problem).__name__}: {problem}\n")
        pipe.send(Refusal("failed", "the index could not be built", "See the server's log, then start it again."))


def _end_with_broker(pipe: Pipe[Build]) -> None:
    """Exit when the broker closes the pipe: it never sends a second message."""
    pipe.receive()
    os._exit(0)


def _narrowed(order: Build) -> Narrowed:
    """Return the scope as the project's own file leaves it; that file is as hostile as any other."""
    with closing(Reader(order.root_fd)) as reader:
        try:
            text = reader.read(os.fsencode(PROJECT_FILE), MAX_YAML_BYTES)
        except OSError:
            return Narrowed(order.scope)
    return narrow(order.scope, text)


if __name__ == "__main__":
    main()
