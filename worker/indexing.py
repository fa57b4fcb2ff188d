"""An indexer from its images to its end: confine, build, report. It meets hostile files, and writes to memory only."""

import os
import sys
import threading
from collections.abc import Callable
from contextlib import closing

import _duckdb as duckdb

from fledgling import refusals
from fledgling.config import MAX_YAML_BYTES, PROJECT_FILE, Narrowed, narrow
from fledgling.pipe import Pipe
from fledgling.security import limits
from fledgling.security.confinement import ConfinementError, confine
from fledgling.wire import Accepted, Build, Layer, Refusal
from fledgling.worker import fault
from fledgling.worker.below import Reader
from fledgling.worker.build import Building
from fledgling.worker.builder import Builder, ViewError
from fledgling.worker.extracting.extractors import Extractors
from fledgling.worker.gate.statement import Gate
from fledgling.worker.image import ENGINE, EngineError
from fledgling.worker.language import Languages


def index(
    pipe: Pipe[Build],
    order: Build,
    languages: Languages,
    extractors: Extractors,
    engine: Callable[[], duckdb.DuckDBPyConnection],
) -> None:
    """Run one build, and report. The order of the first lines is what confinement needs: no thread before it is there.

    `engine` waits for the engine that fills the images.
    """
    try:
        gate = Gate() if order.profile.views else None
        db = engine()
        layers = _confined(order)
        threading.Thread(target=_end_with_broker, args=[pipe], daemon=True).start()
        narrowed = _narrowed(order)
        has_content = narrowed.scope.index_content
        builder = Builder(db, gate, order.images, order.profile, extractors.sign, has_content=has_content)
        pipe.send(Accepted(narrowed.scope, narrowed.narrowed, narrowed.notices, layers, extractors.confined()))
        pipe.send(Building(order, narrowed.scope, builder, languages, extractors, pipe.send).run())
    except ConfinementError as absent:
        pipe.send(refusals.not_confined(str(absent)))
    except EngineError as wrong:
        pipe.send(Refusal("failed", str(wrong), f"Install that one: pip install duckdb=={ENGINE}"))
    except ViewError as wrong:
        pipe.send(Refusal("invalid", f"{order.profile.file}:{wrong.line}: {wrong.problem}", wrong.fix))
    except (MemoryError, duckdb.OutOfMemoryException, duckdb.TransactionException):  # the last: no memory to commit
        pipe.send(refusals.index_too_large(order.profile))
    except Exception as problem:  # noqa: BLE001  (the last resort of this process: one refusal, one log line)
        sys.stderr.write(fault.line(problem))
        pipe.send(Refusal("failed", "the index could not be built", "See the server's log, then start it again."))


def _confined(order: Build) -> tuple[Layer, ...]:
    """Keep the right to read below the root, as the user who owns it, and to write to the open images."""
    owner = os.fstat(order.root_fd)
    return confine(
        "indexer",
        order.confining,
        parent=order.broker_pid,
        lowered=limits.with_memory(limits.INDEXER, order.profile.memory_limit),
        owner=(owner.st_uid, owner.st_gid),
        readable=[order.root_fd],
    )


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
