"""What a bundler does first, whatever it makes: it is confined, and opens the indexes, which lie in one memory file.

They were written by processes that have met hostile files, so not a byte of them is read before.
"""

import os

import _duckdb as duckdb

from fledgling.messages.bundling import Bundle, Export
from fledgling.messages.control import Layer, StoredIndexes
from fledgling.security import limits
from fledgling.security.confinement import confine
from fledgling.worker.bundler.room import memory
from fledgling.worker.store.database import EMPTY
from fledgling.worker.store.image_files import ImageFiles
from fledgling.worker.store.shelf import StoredFiles, stored_in


class MadeFiles(ImageFiles):
    """The database that is made, by a protocol of its own: the indexes have the other."""

    protocol = "made"


def confined(order: Bundle | Export) -> tuple[Layer, ...]:
    """Give up the rights of this process, and say what holds it. Raises ConfinementError."""
    lowered = limits.of_bundler(order.memory_limit)
    return confine("bundler", order.confining, parent=order.broker_pid, lowered=lowered)


def opened(order: Bundle | Export, made: int, db: duckdb.DuckDBPyConnection) -> StoredIndexes:
    """Attach an empty memory file as the database `made`, and let the tables of the indexes be attached."""
    stored = stored_in(order.fd, order.table_bytes)
    os.pwrite(made, EMPTY, 0)
    db.execute("SET memory_limit=$1", [f"{memory(order)}B"])
    db.execute("SET auto_checkpoint_skip_wal_threshold=0")
    db.execute("SET wal_autocheckpoint='0B'")
    StoredFiles(order.fd, stored).register(db)
    files = MadeFiles({"tables": made})
    db.register_filesystem(files)
    db.execute(f"ATTACH '{files.protocol}://tables' AS made")
    return stored
