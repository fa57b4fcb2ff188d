"""DuckDB's tables with an overlay: a database in memory for each snapshot, filled when a statement first asks for it.

In it stand, under the names that the base has, views of what is seen of the base and of what is new. Only rows of parts
are copied. A cursor that uses the database means the snapshot by what would mean the base.
"""

import re
import threading
import weakref
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

import _duckdb as duckdb
import msgspec
from msgspec.structs import asdict, astuple

from fledgling.messages.languages import Modules
from fledgling.worker.rows import SymbolColumns
from fledgling.worker.store.database import SQL
from fledgling.worker.store.overlay.changed import Order, Overlay
from fledgling.worker.store.overlay.symbols import SPREAD, OverlaidOutlines
from fledgling.worker.store.overlay.text import OverlaidBlocks
from fledgling.worker.store.package_root import root
from fledgling.worker.store.sections import NUMBER

_READS = re.compile(r"\b(?:FROM|JOIN) (?:text\.)?(files|names|imports|roots)\b")
_FILES_BY_NUMBER = "text.files", "numbered"  # what statements join names with, and what stands for it

# Symbols of the base up to which rows come in the order of paths, as those of a table do, where a statement asks for
# none: to sort them takes some milliseconds, and of more the memory that a worker may not have.
ORDERED_ROWS = 200_000

_NUMBERS = count(1)  # a name may be in use by a call at work
_Row = dict[str, Any]


class Laid(NamedTuple):
    """What an overlay is, and where it stands."""

    overlay: Overlay
    order: Order
    blocks: OverlaidBlocks
    outlines: OverlaidOutlines


class Tables:
    """What stands for the tables of the base in one snapshot; any number of threads may ask.

    >>> tables = Tables(db.cursor(), 17, Laid(overlay, order, blocks, outlines), modules)
    >>> cursor.execute(tables.statement("list_names", cursor), parameters)
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, generation: int, laid: Laid, modules: Mapping[str, Modules]
    ) -> None:
        """Make nothing yet. What is made goes with the last who holds this; nobody else uses the connection."""
        self._connection = connection
        self._name = f"changes_{generation}_{next(_NUMBERS)}"
        self._laid, self._modules = laid, modules
        self._making = threading.Lock()
        self._made: set[str] = set()
        weakref.finalize(self, _drop, connection, self._name).atexit = False

    def statement(self, sql: str, cursor: duckdb.DuckDBPyConnection) -> str:
        """Return the text of a SQL file, for a cursor that means this snapshot from now on."""
        self.mean(cursor, *_READS.findall(SQL[sql]))
        return SQL[sql].replace(*_FILES_BY_NUMBER)

    def mean(self, cursor: duckdb.DuckDBPyConnection, *tables: str) -> None:
        """Let a cursor mean this snapshot by the names of these tables."""
        with self._making:
            for table in ("hidden", *tables):
                self._make(table)
        cursor.execute(f"USE {self._name}")

    def _make(self, table: str) -> None:
        if table in self._made:
            return
        for other in _AFTER.get(table, ["hidden"]):
            self._make(other)
        if table == "hidden":
            self._connection.execute(f"ATTACH IF NOT EXISTS ':memory:' AS {self._name}")
        self._connection.execute("BEGIN TRANSACTION")
        try:
            self._fill(table)
            self._connection.commit()
        except BaseException:
            self._connection.rollback()
            raise
        self._made.add(table)

    def _fill(self, table: str) -> None:
        match table:
            case "hidden":
                self._hide()
            case "roots":
                self._lead()
            case "content":
                self._run("schema_content")
            case _:
                self._lay(table)

    def _run(self, sql: str, *, is_ordered: bool = True, **parameters: object) -> None:
        text = SQL[sql].replace("image.", f"{self._name}.")
        self._connection.execute(text if is_ordered else text.replace("ORDER BY place", ""), parameters)

    def _lay(self, table: str) -> None:
        """Make a table of what parts say, and the view of it and the base."""
        self._run(f"overlay_{table}", is_ordered=self._laid.outlines.count_rows() <= ORDERED_ROWS)
        own = f"{self._name}.own_{table}"
        shape = {column: kind for column, kind, *_ in self._connection.execute(f"DESCRIBE {own}").fetchall()}
        rows = [*_ROWS[table](self._laid)]
        said = {"rows": msgspec.json.encode(rows).decode(), "shape": msgspec.json.encode([shape]).decode()}
        self._connection.execute(SQL["load_own"].replace("image.own", own), said)

    def _hide(self) -> None:
        hidden = {path: place.at for path, place in self._laid.overlay.places.items() if place.is_taken}
        self._run("overlay_hidden")
        self._run("hide_files", numbers=[*hidden.values()], paths=[*hidden])
        self._run("hide_imports", paths=[*self._laid.overlay.imports])

    def _lead(self) -> None:
        """Find the roots again: a module that leads to a file may have become one that leads to none."""
        reading = SQL["leading_modules"].replace("code.", f"{self._name}.")
        leading = self._connection.execute(reading).fetchall()
        self._run("overlay_roots", roots=[root(module, self._modules.get(language)) for module, language in leading])


def _files(laid: Laid) -> Iterator[_Row]:
    for number, (part, behind) in enumerate(zip(laid.order.parts, laid.order.behind, strict=True), 1):
        place = behind * SPREAD + number
        yield {**asdict(part.row), "engine": part.engine, "is_parsed": part.is_parsed, "place": place}


def _names(laid: Laid) -> Iterator[_Row]:
    for number, (first, part) in enumerate(zip(laid.outlines.own_firsts, laid.order.parts, strict=True)):
        symbols = part.symbols
        each = zip(symbols.names, symbols.kinds, memoryview(symbols.lines).cast(NUMBER), strict=True)
        for row, (name, code, lines) in enumerate(each, first):
            yield {"row": row, "name": name, "code": code, "file": -1 - number, "lines": lines}


def _imports(laid: Laid) -> Iterator[_Row]:
    for path, rows in laid.overlay.imports.items():
        for row in rows:
            yield {"path": path, **asdict(row)}


def _symbols(laid: Laid) -> Iterator[_Row]:
    for first, part in zip(laid.outlines.own_firsts, laid.order.parts, strict=True):
        of_file = {"path": part.row.path, "language": part.row.language}
        for place, row in enumerate(zip(*astuple(part.columns), strict=True), first):
            yield of_file | dict(zip(SymbolColumns.__struct_fields__, row, strict=True)) | _EFFECTS | {"place": place}


def _blocks(laid: Laid) -> Iterator[_Row]:
    for number, part in enumerate(laid.order.parts):
        comments = part.comments or [[]] * len(part.blocks)
        each = zip(part.blocks, comments, strict=True)
        for block, ((first_line, text), lines) in enumerate(each, laid.blocks.own_block(number)):
            of_block = {"block": block, "first_line": first_line, "text": text.decode(), "lines": lines or None}
            yield {"path": part.row.path, **of_block}


_EFFECTS = {"purity": None, "purity_reason": None}  # which come with the graph, that no change is laid over
_ROWS = {"files": _files, "names": _names, "imports": _imports, "symbols": _symbols, "blocks": _blocks}
_AFTER = {"hidden": [], "roots": ["imports", "files"], "content": ["blocks"]}  # what is made before; else "hidden"


def _drop(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    connection.execute(f"DETACH DATABASE IF EXISTS {name}")
    connection.close()
