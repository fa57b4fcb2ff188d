"""A query worker over several indexes, which lie in one memory file: it has the rights of any other, and no more."""

import gc
import os

import _duckdb as duckdb

from fledgling import refusals
from fledgling.messages.answers import Refusal
from fledgling.messages.control import OpenFleet, Ready, ToWorker
from fledgling.pipe import Pipe
from fledgling.security import limits, memory_file
from fledgling.security.confinement import ConfinementError, confine
from fledgling.worker.query.calls import Calls
from fledgling.worker.store.database import forget_buffers, lock_down
from fledgling.worker.store.shelf import Shelf, StoredFiles, stored_in
from fledgling.worker.tools.corpora import Corpora
from fledgling.worker.tools.kept_tags import LastMade, TagsOfFiles
from fledgling.worker.tools.request import OneOfMany, Request


def serve_fleet(pipe: Pipe[ToWorker], opened: OpenFleet, db: duckdb.DuckDBPyConnection) -> None:
    """Serve the indexes, until the broker closes the pipe. The order is what confinement needs."""
    mapped = memory_file.mapped(opened.fd)
    taken = os.fstat(opened.fd).st_blocks * 512  # less than its size, where it has zeros
    share = limits.worker_share(opened.profile.memory_limit, taken)
    lowered = limits.of_query_worker(share)
    try:
        layers = confine("query worker", opened.confining, parent=opened.broker_pid, lowered=lowered)
    except ConfinementError as absent:
        pipe.send(refusals.not_confined(str(absent)))
        return
    stored = stored_in(opened.fd, opened.table_bytes)
    db.execute("SET memory_limit=$1", [f"{share}B"])
    StoredFiles(opened.fd, stored).register(db)
    db.execute(f"SET allowed_directories=['{StoredFiles.protocol}://']")  # no path of the system begins so
    lock_down(db)
    shelf, corpora, tags = Shelf(mapped, stored, db), Corpora(), LastMade[TagsOfFiles]()
    readable = next(filter(None, shelf.snapshots), None)
    if readable is None:
        pipe.send(Refusal("failed", "none of the indexes can be read", "Make the shards again."))
        return
    gc.freeze()  # what is loaded stays; what calls leave behind does not
    gc.enable()
    pipe.send(Ready(layers, shelf.unreadable))

    def request(index: int) -> Request:
        of = shelf.snapshots[index] or readable  # only what is asked of all comes to one that cannot be read
        return Request(
            db.cursor(),
            of.signatures,
            of.blocks,
            of.outlines,
            OneOfMany(opened.profile, shelf.generations[index]),
            shelf.generations[index].number,
            snapshot=of,
            graph=of.graph,
            corpora=corpora,
            tags=tags,
            shelf=shelf,
        )

    Calls(pipe, request, lambda: forget_buffers(db, share), are_doubtful=True).serve()
