"""What a profile lets in: its views, admitted, and the rows that they leave. Rows go in, rows come out.

What a view leaves out never comes to a sink: there is nothing to escape to.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import _duckdb as duckdb
from msgspec.structs import astuple

from fledgling.messages.profile import Profile, View
from fledgling.worker.gate.denied import Denied
from fledgling.worker.gate.statement import Gate
from fledgling.worker.indexer.loading import Loading, TableRows, load, of_rows
from fledgling.worker.rows import FileRow
from fledgling.worker.store.database import AGAIN, ROWS_TOGETHER, SQL, SYMBOLS_TOGETHER

# Where a view hides files, joins are carried out as written: DuckDB would choose by how many rows there are, also
# hidden ones, and the order of what is left would tell.
_AS_WRITTEN = "SET disabled_optimizers='join_order,build_side_probe_side'"

VIEW_SECONDS = 120.0  # of one view: sums over 100,000 files take five; who says nothing for 300 is taken for dead

# The columns that each view keeps, where that is more than the path: text is put together again from lines.
_KEEPS = {"content": ("path", "line_number", "line_text", "is_comment")}

# What each view of a profile may read. visible_files decides about files before any text is read.
_MAY_READ = {
    "visible_files": frozenset({"files"}),
    "files": frozenset({"files"}),
    "content": frozenset({"content", "files"}),
    "symbols": frozenset({"symbols", "files"}),
    "imports": frozenset({"imports", "files"}),
}


# The tables that hold what a view may narrow when all of it is there.
_HELD = {"content": ("blocks", "comments"), "symbols": ("symbols",), "imports": ("imports",)}


class ViewError(Exception):
    """A profile's view cannot be used: `line` of the profile file, `problem`, and what would be right."""

    def __init__(self, line: int, problem: str, fix: str) -> None:
        super().__init__(line, problem, fix)
        self.line, self.problem, self.fix = line, problem, fix


class Views:
    """The tables that views read, in memory, and what the views of a profile leave of their rows.

    What is left of a table is the view `left_files`, `left_content`, `left_symbols` or `left_imports`, with all columns
    of the table: of one that the profile does not narrow, all rows. They are computed when all rows are there, since a
    view may look at any of them.

    >>> views = Views(loading, Gate(), profile)
    >>> "symbols" in views
    True
    >>> loading.load("memory", "symbols", columns)
    >>> views.compute("symbols")
    9184
    >>> for path, name, *_ in views.rest(): ...
    """

    def __init__(self, loading: Loading, gate: Gate | None, profile: Profile) -> None:
        """Make the tables, and let `gate` check the profile's views. Raises ViewError."""
        self._loading, self._db = loading, loading.db
        for tables in ("schema", "schema_blocks", "schema_comments"):
            loading.create(tables, "memory")
        self._lines = {view.name: view.line for view in profile.views}
        self._narrows_files = profile.narrows_files
        self._described = 0  # files
        if profile.views:  # where nothing is narrowed, nothing is computed
            self._create(gate, profile)

    def _create(self, gate: Gate | None, profile: Profile) -> None:
        self._loading.create("schema_content", "memory")
        admitted = {view.name: self._admitted(gate, view) for view in profile.views}
        for name in _MAY_READ:
            with self._computing(name):
                self._db.execute(f"CREATE VIEW left_{name} AS {admitted.get(name, f'FROM {_table(name)}')}")
        self._db.execute(_AS_WRITTEN if self._narrows_files else "CREATE VIEW kept AS SELECT path FROM files")

    def __contains__(self, name: str) -> bool:
        """Whether the profile has a view of this name."""
        return name in self._lines

    def compute(self, of: str) -> int:
        """Compute what is left of a table, and return how many rows these are; the table is forgotten.

        Others need the memory. Raises ViewError.
        """
        count = self._compute(of)
        for table in _HELD[of]:
            self._db.execute(f"DROP TABLE {table}")
        self._loading.let_go()
        return count

    def _compute(self, of: str) -> int:
        with self._computing(of):
            [[count]] = self._db.execute(f"CREATE OR REPLACE TABLE rest AS {SQL[f'left_{of}']}").fetchall()
        return int(count)

    def rest(self) -> Iterator[Any]:
        """Yield the rows that were computed last."""
        cursor = self._db.cursor().execute("FROM rest")
        while rows := cursor.fetchmany(ROWS_TOGETHER):
            yield from rows
        cursor.close()

    def rest_as_columns(self, first: int, count: int) -> TableRows:
        """Return some of these rows as columns."""
        return TableRows(self._loading, "rest", first, count)

    # ---- files ------------------------------------------------------------------------------------------------------

    def describe(self, rows: Sequence[FileRow]) -> None:
        """Load descriptions of files, in the order of paths; in any number of calls."""
        self._described += len(rows)
        load(self._db, "load_files", of_rows(FileRow.__struct_fields__, [astuple(row) for row in rows]))

    def visible(self) -> dict[str, FileRow]:
        """Return the files that the profile leaves visible, by path, as they were loaded; the others are forgotten."""
        with self._computing("visible_files"):
            self._db.execute("CREATE TABLE visible AS SELECT DISTINCT path FROM left_visible_files")
        self._keep_files("visible")
        with self._computing("files"):
            self._db.execute("CREATE TABLE kept AS SELECT DISTINCT path FROM left_files")
        return {row[0]: FileRow(*row) for row in self._db.execute(SQL["kept_files"]).fetchall()}

    def leave_out(self, paths: Sequence[str]) -> None:
        """Leave out files that are visible, and too many."""
        self._db.execute(SQL["leave_out_files"], {"paths": list(paths)})

    def without_content(self, paths: Sequence[str], reason: str) -> None:
        """Say of files that were described already why their content is not here."""
        if paths:
            self._db.execute(SQL["skip_files"], {"paths": list(paths), "reason": reason})

    def extracted(self, rows: Sequence[tuple[str, str | None, bool]]) -> None:
        """Note of files, by path, what extracted them and whether it understood them whole."""
        load(self._db, "extracted_files", of_rows(("path", "engine", "is_parsed"), rows))

    def files(self) -> Iterator[TableRows]:
        """Yield the files that there are, each once and in the order of paths, as far as is known of them by now."""
        if self._narrows_files:
            table, count = "rest", self._compute("files")
        else:  # they lie where they were loaded, each once and in that order
            table, count = "files", self._described
        for first in range(0, count, SYMBOLS_TOGETHER):
            yield TableRows(self._loading, table, first, min(SYMBOLS_TOGETHER, count - first))
        self._db.execute("DROP TABLE IF EXISTS rest")

    def forget_hidden(self) -> None:
        """Forget the files that `files` leaves out: from here on no view can read of them."""
        if self._narrows_files:
            self._keep_files("kept")

    def _keep_files(self, paths: str) -> None:
        """Copy the files of a table of paths: where it plans, DuckDB would go on counting what is deleted."""
        self._db.execute(f"CREATE TABLE seen AS SELECT * FROM files WHERE path IN (FROM {paths}) ORDER BY path")
        self._db.execute("DROP TABLE files")
        self._db.execute("ALTER TABLE seen RENAME TO files")

    # ---- views ------------------------------------------------------------------------------------------------------

    def _admitted(self, gate: Gate | None, view: View) -> str:
        """Return a statement for the rows that a view leaves, with all columns of its table, or raise ViewError."""
        assert gate, "the profile has views"
        types = self._columns(f"memory.{_table(view.name)}")
        try:
            select: str = gate.admit(view.select, _MAY_READ[view.name]).text
            columns = self._columns(select)
        except Denied as denied:
            raise ViewError(view.line, denied.reason, denied.next_step) from denied
        except duckdb.Error as problem:
            raise ViewError(view.line, str(problem).splitlines()[0], f"the columns are {', '.join(types)}") from problem
        keeps = _KEEPS.get(view.name, ("path",))
        if not types.keys() >= columns.keys() >= set(keeps):
            raise ViewError(
                view.line,
                f"the view {view.name} has the columns {', '.join(columns)}",
                f"it must have {', '.join(keeps)}, and may have {', '.join(sorted(types.keys() - {*keeps}))}",
            )
        cast = (f"{name if name in columns else 'NULL'}::{type_} AS {name}" for name, type_ in types.items())
        return f"SELECT {', '.join(cast)} FROM ({select})"

    def _columns(self, of: str) -> dict[str, str]:
        """Return the columns of a table or statement, each with its type."""
        return {name: type_ for name, type_, *_ in self._db.execute(f"DESCRIBE {of}").fetchall()}

    @contextmanager
    def _computing(self, name: str) -> Iterator[None]:
        """Name the view, and its line of the profile, that fails on a value of the project, or takes for ever.

        That value is never named.
        """
        is_done = threading.Event()
        limit = threading.Thread(target=_interrupt, args=[self._db, is_done], daemon=True)
        if name in self:
            limit.start()
        try:
            yield
        except duckdb.InterruptException:
            said = f"the view {name} takes more than {VIEW_SECONDS:g} s for this project"
            fix = (
                "let it end sooner: a recursive view needs a bound, and a join of all with all takes the square of them"
            )
            raise ViewError(self._lines[name], said, fix) from None
        except (duckdb.DataError, duckdb.ProgrammingError, OverflowError) as problem:
            if name not in self:
                raise
            said = f"the view {name} cannot be computed for this project: {type(problem).__name__}"
            fix = "leave columns as they are, or use TRY_CAST and what fits them"
            raise ViewError(self._lines[name], said, fix) from None
        finally:
            is_done.set()
            if name in self:
                limit.join()


def _interrupt(at_work: duckdb.DuckDBPyConnection, is_done: threading.Event) -> None:
    """End a view past its time, again and again until it ends; what this process did not run counts for nothing."""
    begun, ran = time.monotonic(), time.process_time()
    while (left := VIEW_SECONDS - min(time.monotonic() - begun, time.process_time() - ran)) > 0:
        if is_done.wait(left):
            return
    while not is_done.wait(AGAIN):
        at_work.interrupt()


def _table(name: str) -> str:
    """Return what a view narrows."""
    return "files" if name == "visible_files" else name
