"""The gate of `query`: one SELECT over the tables a caller may see, or a reason why not.

DuckDB parses the text, and its syntax tree is compared with tables of what is known: kinds of node, their fields and
types (syntax.py), functions (functions.py), names in scope (syntax_tree.py). What is in no table is refused.
The statement type decides little, because DuckDB 2.0 calls `WITH x AS (DELETE ...) FROM x` a SELECT. The text handed
back is DuckDB's own restatement, and its tree is checked as well: what was checked is what runs.

The gate says what may be asked, not what an answer may cost. Joins, recursion, ranges and concatenation can still ask
for more time or memory than there is; the limits of the worker process end them.
"""

import duckdb
from msgspec import DecodeError, json

from fledgling.worker.gate.denied import Denied, not_parsed
from fledgling.worker.gate.parse_cost import MAX_RESTATED_NESTING, check_cost, check_text, nesting, words_of
from fledgling.worker.gate.syntax import Node
from fledgling.worker.gate.syntax_tree import Scope, check


class Gate:
    """Admits SQL. `Gate().admit("from files", frozenset({"files"}))` is `"SELECT * FROM files"`.

    It holds an empty in-memory database of its own, used to parse and never to run what it is given. Make it before the
    process is confined: opening a DuckDB database reads files of the system.
    """

    def __init__(self) -> None:
        """Open the empty database, without threads, files or extensions."""
        self._parser = duckdb.connect(
            ":memory:",
            config={
                "threads": 1,
                "async_threads": 0,
                "enable_external_access": False,
                "autoload_known_extensions": False,
                "autoinstall_known_extensions": False,
                "max_expression_depth": 250,
            },
        )

    def admit(self, sql: str, tables: frozenset[str]) -> str:
        """DuckDB's restatement of the one SELECT in `sql`, which may read `tables` and nothing else; or Denied.

        `admit("from files -- all", frozenset({"files"}))` is `"SELECT * FROM files"`;
        `admit("SELECT * FROM read_text('/etc/passwd')", ...)` is denied.
        """
        scope = frozenset({(name,) for name in tables} | {("main", name) for name in tables})
        check_text(sql)
        check_cost(sql)
        try:
            with self._parser.cursor() as parser:  # its own: two calls on one connection get each other's answers
                return _restated(parser, sql, scope)
        except RecursionError:
            raise Denied(
                "the statement is nested too deeply", "Split it into CTEs: WITH a AS (...), b AS (...)."
            ) from None
        except (duckdb.InterruptException, duckdb.OutOfMemoryException):
            raise
        except (duckdb.Error, DecodeError, ValueError) as error:  # ValueError: a statement the client has no name for
            raise not_parsed(str(error)) from None


def _restated(parser: duckdb.DuckDBPyConnection, sql: str, scope: Scope) -> str:
    """DuckDB's restatement of `sql`, both checked."""
    _one_select(parser.extract_statements(sql))
    written = _call(parser, "SELECT json_serialize_sql(?)", sql)
    check(_tree(written), scope)
    text = _call(parser, "SELECT json_deserialize_sql(CAST(? AS JSON))", written)
    if nesting(words_of(text)) > MAX_RESTATED_NESTING:
        raise Denied("too many joins or operators follow each other", "Split it into CTEs: WITH a AS (...).")
    check(_tree(_call(parser, "SELECT json_serialize_sql(?)", text)), scope)
    return text


def _call(parser: duckdb.DuckDBPyConnection, sql: str, text: str) -> str:
    """What one scalar function makes of `text`: `_call(parser, "SELECT json_serialize_sql(?)", "FROM files")`."""
    row = parser.execute(sql, [text]).fetchone()
    return str(row[0]) if row else ""


def _tree(answer: str) -> Node:
    """The syntax tree in an answer of json_serialize_sql; Denied where it is an error."""
    tree: Node = json.decode(answer)
    if tree["error"]:
        raise not_parsed(tree["error_message"])
    return tree


def _one_select(statements: list[duckdb.Statement]) -> None:
    """Deny all but one SELECT without parameters. More is decided by `check`."""
    kinds = [statement.type.name for statement in statements]
    if len(kinds) != 1:
        raise Denied(f"{len(kinds)} statements were sent", "Send exactly one SELECT per call.")
    if kinds == ["MULTI"]:  # DuckDB would read the table first, to make an ENUM of the values
        raise Denied(
            "PIVOT does not say which values become columns",
            "Name them: PIVOT files ON language IN ('python', 'sql') USING count(*).",
        )
    if kinds != ["SELECT"]:
        raise Denied(f"the statement is {kinds[0]}, not SELECT", "Send one SELECT, DESCRIBE or SUMMARIZE.")
    if statements[0].named_parameters:
        raise Denied("the SQL has parameters", "Write the values into the SQL.")
