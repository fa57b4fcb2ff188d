"""The gate of `query`: one SELECT over the tables a caller may see, or a reason why not.

DuckDB parses the text, and its syntax tree is compared with tables of what is known: kinds of node, their fields and
types (syntax.py), functions (functions.py), names in scope (syntax_tree.py). What is in no table is refused.
The statement type decides little, because DuckDB 2.0 calls `WITH x AS (DELETE ...) FROM x` a SELECT. The text handed
back is DuckDB's own restatement, and its tree is checked as well: what was checked is what runs.

The gate says what may be asked, not what an answer may cost. Joins, recursion, ranges and concatenation can still ask
for more time or memory than there is; the limits of the worker process end them.
"""

import threading

import _duckdb as duckdb
from msgspec import DecodeError, json

from fledgling.worker.gate.denied import Denied, not_parsed
from fledgling.worker.gate.parse_cost import MAX_RESTATED_NESTING, check_cost, check_text, nesting, words_of
from fledgling.worker.gate.syntax import Node
from fledgling.worker.gate.syntax_tree import Scope, check

# A tree and the text it stands for, in one statement: what is constant in these costs more than most SQL does to parse
RESTATE = "SELECT tree, json_deserialize_sql(tree) FROM (SELECT json_serialize_sql(?) AS tree)"
SERIALIZE = "SELECT json_serialize_sql(?)"


class Parser(threading.local):
    """DuckDB's parser, for each thread its own: two calls on one connection get each other's answers."""

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        """Called in each thread. Calls of one function have nothing to optimize, and trying takes half their time."""
        self._connection = database.cursor()
        self._connection.execute("PRAGMA disable_optimizer")
        [self._restate], [self._serialize] = map(self.statements, (RESTATE, SERIALIZE))

    def statements(self, sql: str) -> list[duckdb.Statement]:
        """What `sql` holds, parsed and not looked into: `statements("FROM a; FROM b")` are two."""
        return self._connection.extract_statements(sql)

    def restated(self, sql: str) -> tuple[str, str]:
        """The tree of a SELECT and the text of that tree: `restated("FROM a")[1]` is `"SELECT * FROM a"`."""
        tree, text = self._asked(self._restate, sql)
        return tree, text

    def tree(self, sql: str) -> str:
        """The tree of a SELECT, as JSON."""
        [tree] = self._asked(self._serialize, sql)
        return tree

    def _asked(self, statement: duckdb.Statement, sql: str) -> tuple[str, ...]:
        row: tuple[str, ...] | None = self._connection.execute(statement, [sql]).fetchone()
        assert row, "a SELECT without FROM has one row"
        return row


class Gate:
    """Admits SQL. `Gate().admit("from files", frozenset({"files"}))` is `"SELECT * FROM files"`.

    It holds an empty in-memory database of its own, used to parse and never to run what it is given. Make it before the
    process is confined: opening a DuckDB database reads files of the system.
    """

    def __init__(self) -> None:
        """Open the empty database, without threads, files or extensions."""
        database = duckdb.connect(
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
        self._parser = Parser(database)

    def admit(self, sql: str, tables: frozenset[str]) -> str:
        """DuckDB's restatement of the one SELECT in `sql`, which may read `tables` and nothing else; or Denied.

        `admit("from files -- all", frozenset({"files"}))` is `"SELECT * FROM files"`;
        `admit("SELECT * FROM read_text('/etc/passwd')", ...)` is denied.
        """
        scope = frozenset({(name,) for name in tables} | {("main", name) for name in tables})
        check_text(sql)
        check_cost(sql)
        try:
            return _restated(self._parser, sql, scope)
        except RecursionError:
            raise Denied(
                "the statement is nested too deeply", "Split it into CTEs: WITH a AS (...), b AS (...)."
            ) from None
        except (duckdb.InterruptException, duckdb.OutOfMemoryException):
            raise
        except (duckdb.Error, DecodeError, ValueError) as error:  # ValueError: a statement the client has no name for
            raise not_parsed(str(error)) from None


def _restated(parser: Parser, sql: str, scope: Scope) -> str:
    """DuckDB's restatement of `sql`, both checked."""
    _one_select(parser.statements(sql))
    written, text = parser.restated(sql)
    check(_tree(written), scope)
    if nesting(words_of(text)) > MAX_RESTATED_NESTING:
        raise Denied("too many joins or operators follow each other", "Split it into CTEs: WITH a AS (...).")
    check(_tree(parser.tree(text)), scope)
    return text


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
