"""A query worker from its images to its end: confine, then answer until the pipe closes. It meets hostile questions."""

import gc
import os
from collections.abc import Mapping
from mmap import mmap
from typing import TYPE_CHECKING

import _duckdb as duckdb
from msgspec.structs import astuple

from fledgling import refusals
from fledgling.messages.control import Open, Ready, ToWorker
from fledgling.messages.generations import CODE, GRAPH, LISTING, WORDS
from fledgling.pipe import Pipe
from fledgling.security import limits, memory_file
from fledgling.security.confinement import ConfinementError, confine
from fledgling.worker.query.calls import Calls
from fledgling.worker.store.database import forget_buffers, lock_down, memory_share, open_sealed
from fledgling.worker.store.graph import Graph
from fledgling.worker.store.ngrams import Signatures
from fledgling.worker.store.overlay.snapshots import Snapshot, Snapshots
from fledgling.worker.store.symbols import Outlines
from fledgling.worker.store.text import Blocks
from fledgling.worker.store.words import Words
from fledgling.worker.tools.corpora import Corpora
from fledgling.worker.tools.kept_tags import LastMade, MadeRows, TagsOfFiles
from fledgling.worker.tools.request import Request

if TYPE_CHECKING:
    from fledgling.worker.gate.statement import Gate


def serve(pipe: Pipe[ToWorker], opened: Open, db: duckdb.DuckDBPyConnection | None) -> None:
    """Serve what was opened, until the broker closes the pipe. The order is what confinement needs."""
    images, generation = opened.images, opened.generation.number
    tables = {images.text, images.code, images.edges}  # DuckDB's; the others are mapped here, and read once confined
    mapped = {fd: memory_file.mapped(fd) for fd in {*images.of(generation)} - tables if os.fstat(fd).st_size}
    gate = _gate(opened)
    share = memory_share(images, generation, opened.profile.memory_limit)
    lowered = limits.of_query_worker(share)
    try:
        layers = confine("query worker", opened.confining, parent=opened.broker_pid, lowered=lowered)
    except ConfinementError as absent:
        pipe.send(refusals.not_confined(str(absent)))
        return
    if db:
        open_sealed(db, images, generation, share)
        lock_down(db)
    snapshots = Snapshots(_base(opened, mapped), db.cursor if db else duckdb.connect, opened.generation.modules)
    begun = generation != LISTING and images.listing in mapped  # a map may have been begun with it
    listing = Blocks(mapped[images.listing]) if begun else None
    for fd in {*astuple(images)} - tables:
        os.close(fd)
    gc.freeze()  # what is loaded stays; what calls leave behind does not
    gc.enable()
    pipe.send(Ready(layers))

    corpora, tags, summaries = Corpora(), LastMade[TagsOfFiles](), LastMade[MadeRows]()

    def request(_: int) -> Request:
        of = snapshots.newest
        return Request(
            db.cursor() if db else None,
            of.signatures,
            of.blocks,
            of.outlines,
            opened,
            generation,
            listing,
            gate,
            snapshot=of,
            snapshots=snapshots,
            graph=of.graph,
            corpora=corpora,
            tags=tags,
            summaries=summaries,
        )

    Calls(pipe, request, lambda: forget_buffers(db, share) if db else None, snapshots.add).serve()


def _gate(opened: Open) -> "Gate | None":
    """Return the gate for SQL, with a database of its own, where the profile allows SQL: opening one takes a while."""
    if opened.generation.number < CODE or "query" not in opened.profile.tools:
        return None
    from fledgling.worker.gate.statement import Gate  # noqa: PLC0415  (few profiles have it)

    return Gate()


def _base(opened: Open, mapped: Mapping[int, mmap]) -> Snapshot:
    """Read the mapped files of an index, by their descriptors: those that its generation has."""
    images, generation = opened.images, opened.generation
    has_text, has_code = generation.number != LISTING, generation.number >= CODE
    return Snapshot(
        opened.changes,
        Blocks(mapped[images.blocks if has_text else images.listing]),
        Signatures(mapped[images.signatures]) if has_text else None,
        Outlines(mapped[images.outlines]) if has_code else None,
        Words(mapped[images.words]) if generation.number >= WORDS else None,
        partial=generation.partial,
        cut=generation.cut,
        graph=Graph(mapped[images.graph]) if generation.number >= GRAPH else None,
    )
