"""Snapshots: the index from one change to the next. A call is answered from one, and its pages from the same."""

from collections.abc import Callable, Mapping
from typing import Protocol

import _duckdb as duckdb
import msgspec
from msgspec import UNSET, Struct

from fledgling.messages.control import Update, lacking
from fledgling.messages.languages import Modules
from fledgling.worker.store.graph import Graph
from fledgling.worker.store.ngrams import Signatures
from fledgling.worker.store.overlay.changed import Order, OvergrownError, Overlay
from fledgling.worker.store.overlay.ngrams import OverlaidSignatures
from fledgling.worker.store.overlay.symbols import OverlaidOutlines
from fledgling.worker.store.overlay.tables import Laid, Tables
from fledgling.worker.store.overlay.text import OverlaidBlocks
from fledgling.worker.store.overlay.words import OverlaidWords
from fledgling.worker.store.parts import Changes
from fledgling.worker.store.symbols import Outlines
from fledgling.worker.store.text import Blocks
from fledgling.worker.store.words import Words

KEPT = 8  # snapshots that a page can be continued in: an agent that edits between two pages still gets the second
_CHANGES = msgspec.msgpack.Decoder(Changes)


class Meant(Protocol):
    """What the names of tables mean to the statements of a snapshot."""

    def statement(self, sql: str, cursor: duckdb.DuckDBPyConnection) -> str:
        """Return the text of a SQL file, for a cursor that means this snapshot from now on."""

    def mean(self, cursor: duckdb.DuckDBPyConnection, *tables: str) -> None:
        """Let a cursor mean this snapshot by the names of these tables."""


class Snapshot(Struct, frozen=True, eq=False):
    """One state of the index, which nothing changes. `tables` are None where they are those of the base."""

    changes: int  # the generation of changes that it holds
    blocks: Blocks
    signatures: Signatures | None  # a listing has none
    outlines: Outlines | None  # of the second generation
    words: Words | None = None  # of the third
    tables: Meant | None = None
    partial: str | None = None  # what it lacks, as sentences
    cut: str | None = None  # the first of them, where files are missing
    pending: tuple[str, ...] = ()  # files that have changed and could not be read yet
    graph: Graph | None = None  # of the fourth generation


class Snapshots:
    """The last snapshots over one base, by their generation of changes.

    >>> snapshots = Snapshots(base, db.cursor, generation.modules)
    >>> snapshots.add(Update(17, body))
    True
    >>> snapshots.newest.changes
    17
    """

    def __init__(
        self, base: Snapshot, connect: Callable[[], duckdb.DuckDBPyConnection], modules: Mapping[str, Modules]
    ) -> None:
        """Begin with the base, whose tables `connect` opens a connection to; `modules` are those of its languages."""
        self.base, self._connect, self._modules = base, connect, modules
        self._overlay: Overlay | None = Overlay()  # None where there was no room
        self._kept = {base.changes: base}
        self.newest = base

    def at(self, changes: int) -> Snapshot | None:
        """Return the snapshot with this generation of changes, if it is among the last."""
        return self.base if changes == self.base.changes else self._kept.get(changes)

    def add(self, update: Update) -> bool:
        """Take what has changed, and with the last of it make a snapshot; False as soon as there is no room for it."""
        try:
            if self._overlay:
                self._overlay = self._overlay.laid(self.base.blocks, _CHANGES.decode(update.body))
                if update.is_last:
                    self._keep(self._laid(update.generation, self._overlay))
        except (OvergrownError, MemoryError):
            self._overlay = None  # what comes after it would be laid over something else
        return self._overlay is not None

    def _laid(self, changes: int, overlay: Overlay) -> Snapshot:
        base = self.base
        assert base.signatures
        assert base.outlines, "what has changed is told of a whole index"
        order = Order(len(base.blocks.files), overlay)
        blocks = OverlaidBlocks(base.blocks, order)
        outlines = OverlaidOutlines(base.outlines, order)
        return Snapshot(
            changes,
            blocks,
            OverlaidSignatures(base.signatures, blocks, order.parts),
            outlines,
            OverlaidWords(base.words, order) if base.words else None,
            Tables(self._connect(), changes, Laid(overlay, order, blocks, outlines), self._modules),
            base.partial if overlay.cut is UNSET else lacking(base.partial, base.cut, overlay.cut),
            pending=overlay.pending,
        )

    def _keep(self, snapshot: Snapshot) -> None:
        self._kept[snapshot.changes] = self.newest = snapshot
        while len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]
