"""The query tool: one SELECT that the gate admits, in a read-only transaction, with rows and bytes capped."""

import math
from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import _duckdb as duckdb
import msgspec

from fledgling.messages.answers import Table
from fledgling.messages.questions import Query, asks_graph
from fledgling.worker.gate.denied import Denied
from fledgling.worker.tools import made_tables, unknown
from fledgling.worker.tools.request import Refused, Request

if TYPE_CHECKING:
    from fledgling.worker.gate.statement import Admitted  # loaded where a profile allows SQL

OVERLAID = frozenset({"files", "content", "symbols", "imports"})  # tables that changes are laid over
OF_TEXT = frozenset({"symbols", "imports", *made_tables.TABLES})  # tables of what texts are found to say
RELATED = frozenset({"calls", "refs", "inherits", "cycles", "hubs", "unreachable"})  # of what uses what
TABLES = OVERLAID | RELATED | made_tables.TABLES
_LATE = frozenset({"purity", "purity_reason"})  # columns that are known with those
EFFECTS_LATER = "purity is NULL here: a statement that names purity or purity_reason waits until they are known."
UNSEEN = (
    "No use is known of the rows of unreachable. A name computed at run time may use them; unseen says what else may."
)
_INEXACT = ("TIME ZONE", "INTERVAL", "_NS")  # in the names of types: of an interval, Python would make a year 360 days
_ENDS = frozenset({date.min, date.max, datetime.min, datetime.max})  # what DuckDB makes of dates without end as well
MAX_INTEGER = 2**53  # JSON readers hold integers as doubles; beyond this they would round


def query(request: Request, question: Query) -> Table:
    """Answer with the rows of the admitted statement: what was checked is the text that runs."""
    gate, cursor = request.gate, request.cursor
    assert gate, "the profile allows query"
    assert cursor, "the index is whole"
    try:
        admitted = gate.admit(question.sql, TABLES)
    except Denied as denied:
        raise Refused("denied", denied.reason, denied.next_step) from denied
    left_out = [made_tables.make(request, table) for table in sorted(made_tables.TABLES & admitted.tables)]
    if asks_graph(question):
        cursor.execute("USE edges")
    elif request.snapshot and request.snapshot.tables:
        request.snapshot.tables.mean(cursor, *OVERLAID & admitted.tables)
    cursor.execute("BEGIN TRANSACTION READ ONLY")
    try:
        return _run(request, cursor, admitted, left_out, knows_effects=asks_graph(question))
    except (duckdb.InterruptException, duckdb.OutOfMemoryException):
        raise
    except duckdb.Error as problem:
        reason, *more = str(problem).splitlines()
        has = any(line.startswith("Candidate bindings") for line in more) and _columns(cursor, admitted.tables)
        described = " or ".join(f"DESCRIBE {table}" for table in sorted(admitted.tables) or ["files"])
        next_step = has or f"Correct the statement; {described} lists the columns."
        raise Refused("invalid", reason.rstrip("!"), next_step) from problem
    finally:
        cursor.rollback()


def _columns(cursor: duckdb.DuckDBPyConnection, tables: frozenset[str]) -> str:
    """Say which columns there are where one is named that is not: `hubs has path, importers.`; empty for no table."""
    cursor.rollback()
    cursor.execute("BEGIN TRANSACTION READ ONLY")  # an error has ended the last one
    named = {table: [row[0] for row in cursor.execute(f"DESCRIBE {table}").fetchall()] for table in sorted(tables)}
    return " ".join(f"{table} has {', '.join(names)}." for table, names in named.items())


def _run(
    request: Request,
    cursor: duckdb.DuckDBPyConnection,
    admitted: "Admitted",
    left_out: list[str | None],
    *,
    knows_effects: bool,
) -> Table:
    request.check()
    result = cursor.execute(one_select(cursor, admitted.text))
    columns = [name for name, *_ in result.description]
    for name, kind, *_ in result.description:
        if any(part in str(kind) for part in _INEXACT):
            reason = f"the column {name} holds a time zone, an interval or nanoseconds, which an answer does not hold"
            raise Refused("invalid", reason, f"Cast it: {name}::VARCHAR (the index holds UTC).")
    fetched = result.fetchmany(request.profile.max_rows + 1)
    kept = _fitting(request, fetched[: request.profile.max_rows])
    truncated = len(kept) < len(fetched)
    late = EFFECTS_LATER if not knows_effects and _LATE.intersection(columns) else None
    lacks = [*_lacks(request, admitted), *left_out]
    note = unknown.joined(late, request.partial, *lacks, _cut(request, kept, truncated=truncated))
    return Table(columns, kept, len(kept), truncated, note)


def one_select(cursor: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    """Return the one statement in `sql`, or refuse: a second layer behind the gate, which asks for more than this."""
    statements = cursor.extract_statements(sql)
    if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
        raise Refused("denied", "this is not one SELECT", "Send exactly one SELECT per call.")
    return statements[0]


def _fitting(request: Request, fetched: list[tuple[Any, ...]]) -> list[list[Any]]:
    """Return the rows from the first on that fit in an answer, as JSON values."""
    kept: list[list[Any]] = []
    room = request.profile.max_result_bytes
    for row in fetched:
        request.check()
        cells = [plain(cell) for cell in row]
        room -= len(msgspec.json.encode(cells)) + 1
        if room < 0:
            break
        kept.append(cells)
    return kept


def _cut(request: Request, rows: list[list[Any]], *, truncated: bool) -> str | None:
    if truncated:
        return (
            f"Cut after {len(rows)} rows (at most {request.profile.max_rows} rows and "
            f"{request.profile.max_result_bytes} bytes): aggregate, select fewer columns, or page with ORDER BY, LIMIT "
            "and OFFSET."
        )
    return None if rows else "The statement ran over the whole index and no row matched."


def _lacks(request: Request, admitted: "Admitted") -> Iterator[str | None]:
    """Yield what is missing in the tables that a statement reads, and is in the project."""
    everything, tables = unknown.scope(request, None), admitted.tables
    if tables & OF_TEXT:
        unparsed = unknown.not_whole(request, everything)
        yield unknown.of_parsing(
            request, unparsed, "some of their symbols and imports may be missing, or end too early"
        )
    if tables & RELATED or "purity" in admitted.text.lower():
        known = request.opened.generation
        resolved = f"Uses are resolved in {', '.join(known.related) or 'no language of this project'}."
        yield unknown.joined(known.unrelated, known.unfollowed) or resolved
    if "unreachable" in tables:
        yield UNSEEN
    if "symbols" in tables:
        yield unknown.of_languages(request, everything)
    if tables & {"content", *made_tables.TABLES} and not request.opened.generation.has_content:
        yield unknown.NO_TEXT
    elif tables & {"content", *OF_TEXT}:
        yield unknown.of_unread(request, everything, "in content" if "content" in tables else "looked into")


def plain(cell: object) -> Any:
    """Return a cell as a JSON value; what JSON cannot hold exactly becomes text.

    >>> plain(float("nan")), plain(b"\\x00\\xff"), plain({1: Decimal("0.5")})
    ('NaN', '00ff', {'1': 0.5})
    """
    match cell:
        case None | bool() | str():
            return cell
        case int():
            return cell if abs(cell) <= MAX_INTEGER else str(cell)
        case float():
            return cell if math.isfinite(cell) else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(cell, "NaN")
        case Decimal():
            return float(cell) if Decimal(repr(float(cell))) == cell else str(cell)
        case datetime() | date() if cell in _ENDS:
            reason = f"a date is infinite, or {cell.isoformat()}: the two look the same here"
            raise Refused("invalid", reason, "Cast its column to VARCHAR.")
        case datetime() | date() | time():
            return cell.isoformat()
        case bytes():
            return cell.hex()
        case list() | tuple():
            return [plain(item) for item in cell]
        case dict():
            return {str(key): plain(value) for key, value in cell.items()}
        case _:
            return str(cell)
