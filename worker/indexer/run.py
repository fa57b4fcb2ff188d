"""An indexer from its images to its end: confine, build, report. It meets hostile files, and writes to memory only."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import _duckdb as duckdb

from fledgling import refusals
from fledgling.messages.answers import Refusal
from fledgling.messages.control import Accepted, Build, Relate, Unchanged
from fledgling.messages.profile import Profile
from fledgling.pipe import Pipe
from fledgling.plain import said
from fledgling.security.confinement import ConfinementError
from fledgling.worker.extractor.pool import Extractors, UnfitError
from fledgling.worker.gate.statement import Gate
from fledgling.worker.indexer.build import Building
from fledgling.worker.indexer.index import Index
from fledgling.worker.indexer.views import ViewError
from fledgling.worker.language import LanguageError, Languages
from fledgling.worker.lister.process import Lister, ListingError, confined
from fledgling.worker.process.child import CrashError
from fledgling.worker.resolving.resolve import load_resolvers
from fledgling.worker.store.database import EngineError, check_engine, open_empty


def index(
    pipe: Pipe[Build | Relate],
    order: Build,
    languages: Languages,
    lister: Lister,
    extractors: Extractors,
    database: Callable[[], duckdb.DuckDBPyConnection],
) -> None:
    """Run one build, and report it, or why there is no index. `database` waits for the DuckDB that fills the images.

    The order of the first lines is what confinement needs: no thread before it is there.
    """
    with _reported(pipe, order.profile):
        load_resolvers(languages)
        _check_tags(order.profile)
        gate = Gate() if order.profile.views else None
        db = database()
        layers = confined(order, order.broker_pid)
        open_empty(db, order.images, has_edges="query" in order.profile.tools)
        wanted = threading.Semaphore(0)
        threading.Thread(target=_listen, args=[pipe, wanted], daemon=True).start()
        began = lister.began()
        narrowed = began.narrowed
        has_content = narrowed.scope.index_content
        known = languages.modules(), extractors.sign
        made = Index(db, gate, order.images, order.profile, *known, has_content=has_content)
        held = (layers, began.layers, extractors.confined())
        untested = check_engine(duckdb.__version__)
        notices = tuple(map(said, (*narrowed.notices, untested) if untested else narrowed.notices))
        pipe.send(Accepted(narrowed.scope, narrowed.narrowed, notices, *held))
        building = Building(order, narrowed.scope, made, languages, lister, extractors, pipe.send)
        made_of = building.run()
        pipe.send(made_of)
        if not isinstance(made_of, Unchanged) and wanted.acquire():
            building.relate()


@contextmanager
def _reported(pipe: Pipe[Build | Relate], profile: Profile) -> Iterator[None]:
    """Report why there is no index, where that is known."""
    try:
        yield
    except ConfinementError as absent:
        pipe.send(refusals.not_confined(str(absent)))
    except ListingError as none:
        pipe.send(none.refusal)
    except CrashError as crash:
        pipe.send(crash.crashed)
    except (LanguageError, UnfitError) as wrong:
        pipe.send(refusals.unfit(str(wrong)))
    except EngineError as wrong:
        pipe.send(Refusal("failed", said(str(wrong)), "Install one of those: pip install 'duckdb>=2.0,<2.1'"))
    except ViewError as wrong:
        place = f"{profile.file}:{wrong.line}"
        pipe.send(Refusal("invalid", said(f"{place}: {wrong.problem}"), said(wrong.fix)))
    except (MemoryError, duckdb.OutOfMemoryException, duckdb.TransactionException):  # the last: no memory to commit
        pipe.send(refusals.index_too_large(profile))


def _check_tags(profile: Profile) -> None:
    """Let RE2 read the expressions of the profile's own rules. Raises ViewError."""
    own = [rule for rule in profile.tags if rule.line]
    if not own:
        return
    import re2  # noqa: PLC0415  (few profiles have rules of their own)

    from fledgling.worker.matching import lines  # noqa: PLC0415

    for rule in own:
        try:
            lines.of_pattern(rule.pattern)
        except re2.error as wrong:
            raise ViewError(
                rule.line,
                f"the expression of the tag {rule.tag} cannot be read ({lines.reason(wrong)})",
                "write RE2 syntax, without look-around or back-references",
            ) from wrong


def _listen(pipe: Pipe[Build | Relate], wanted: threading.Semaphore) -> None:
    """Hear that the graph is wanted, and exit when the broker closes the pipe."""
    while isinstance(pipe.receive(), Relate):
        wanted.release()
    os._exit(0)
