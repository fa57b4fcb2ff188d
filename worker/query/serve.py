"""A query worker from its images to its end: confine, then answer until the pipe closes. It meets hostile questions."""

import gc
import os

import _duckdb as duckdb
from msgspec.structs import astuple

from fledgling import refusals
from fledgling.messages.control import Open, Ready, ToWorker
from fledgling.messages.generations import CODE, GRAPH, LISTING
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


def serve(pipe: Pipe[ToWorker], opened: Open, db: duckdb.DuckDBPyConnection | None) -> None:
    """Serve what was opened, until the broker closes the pipe. The order is what confinement needs."""
    profile, images, generation = opened.profile, opened.images, opened.generation.number
    engine = {
        images.text,
        images.code,
        images.edges,
    }  # DuckDB's own; the others are mapped here, and read once confined
    mapped = {fd: memory_file.mapped(fd) for fd in {*images.of(generation)} - engine if os.fstat(fd).st_size}
    gate = None
    if generation >= CODE and "query" in profile.tools:
        from fledgling.worker.gate.statement import Gate  # noqa: PLC0415  (few profiles have it)

        gate = Gate()  # a database of its own: opening one takes a while
    share = memory_share(images, generation, profile.memory_limit)
    lowered = limits.of_query_worker(share)
    try:
        layers = confine("query worker", opened.confining, parent=opened.broker_pid, lowered=lowered)
    except ConfinementError as absent:
        pipe.send(refusals.not_confined(str(absent)))
        return
    if db:
        open_sealed(db, images, generation, share)
        lock_down(db)
    blocks = Blocks(mapped[images.listing if generation == LISTING else images.blocks])
    signatures = None if generation == LISTING else Signatures(mapped[images.signatures])
    outlines = Outlines(mapped[images.outlines]) if generation >= CODE else None
    graph = Graph(mapped[images.graph]) if generation == GRAPH else None
    words = Words(mapped[images.words]) if generation >= CODE else None
    begun = generation != LISTING and images.listing in mapped  # a map may have been begun with it
    listing = Blocks(mapped[images.listing]) if begun else None
    for fd in {*astuple(images)} - engine:
        os.close(fd)
    gc.freeze()  # what is loaded stays; what calls leave behind does not
    gc.enable()
    pipe.send(Ready(layers))

    partial, cut = opened.generation.partial, opened.generation.cut
    base = Snapshot(opened.changes, blocks, signatures, outlines, words, partial=partial, cut=cut, graph=graph)
    snapshots = Snapshots(base, db.cursor if db else duckdb.connect, opened.generation.modules)

    corpora, tags, summaries = Corpora(), LastMade[TagsOfFiles](), LastMade[MadeRows]()

    def request(_: int) -> Request:
        cursor, of = db.cursor() if db else None, snapshots.newest
        readers = of.signatures, of.blocks, of.outlines
        return Request(
            cursor,
            *readers,
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
