"""The gate of `query`: one SELECT over the tables a caller may see, or a reason why not.

DuckDB parses the text, and its syntax tree is compared with tables of what is known: kinds of node, their fields and
types (syntax.py), functions (functions.py), names in scope (syntax_tree.py). What is in no table is refused.
The statement type decides little, because DuckDB 2.0 calls `WITH x AS (DELETE ...) FROM x` a SELECT. The text handed
back is DuckDB's own restatement, and its tree is checked as well: what was checked is what runs.

The gate says what may be asked, not what an answer may cost. Joins, recursion, ranges and concatenation can still ask
for more time or memory than there is; the limits of the worker process end them.
"""

import threading
from typing import NamedTuple

import _duckdb as duckdb
from msgspec import DecodeError, json

from fledgling.worker.gate.denied import Denied, not_parsed
from fledgling.worker.gate.parse_cost import MAX_RESTATED_NESTING, check_cost, check_text, nesting, words_of
from fledgling.worker.gate.syntax import Node
from fledgling.worker.gate.syntax_tree import Scope, check

SERIALIZE = "SELECT json_serialize_sql(?)"
DESERIALIZE = "SELECT json_deserialize_sql(?)"


class Parser(threading.local):
    """DuckDB's parser, for each thread its own: two calls on one connection get each other's answers."""

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        """Called in each thread. Calls of one function have nothing to optimize, and trying takes half their time."""
        self._connection = database.cursor()
        self._connection.execute("PRAGMA disable_optimizer")
        [self._serialize], [self._deserialize] = map(self.statements, (SERIALIZE, DESERIALIZE))

    def statements(self, sql: str) -> list[duckdb.Statement]:
        """What `sql` holds, parsed and not looked into: `statements("FROM a; FROM b")` are two."""
        return self._connection.extract_statements(sql)

    def tree(self, sql: str) -> str:
        """The tree of SELECTs, as JSON; it holds an error where there is none."""
        return self._asked(self._serialize, sql)

    def text(self, tree: str) -> str:
        """The text that a tree stands for: `text(tree("from a"))` is `"SELECT * FROM a"`."""
        return self._asked(self._deserialize, tree)

    def _asked(self, statement: duckdb.Statement, argument: str) -> str:
        row: tuple[str] | None = self._connection.execute(statement, [argument]).fetchone()
        assert row, "a SELECT without FROM has one row"
        return row[0]


class Admitted(NamedTuple):
    """A statement that may run, and which tables it reads: one whose name a CTE has, too, may be one too many."""

    text: str
    tables: frozenset[str]


class Gate:
    """Admits SQL. `Gate().admit("from files", frozenset({"files"})).text` is `"SELECT * FROM files"`.

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
        database.execute("SET disabled_filesystems='LocalFileSystem'")
        self._parser = Parser(database)

    def admit(self, sql: str, tables: frozenset[str]) -> Admitted:
        """DuckDB's restatement of the one SELECT in `sql`, which may read `tables` and nothing else; or Denied.

        `admit("from files -- all", frozenset({"files"}))` is `("SELECT * FROM files", {"files"})`;
        `admit("SELECT * FROM read_text('/etc/passwd')", ...)` is denied.
        """
        scope = frozenset({(name,) for name in tables} | {("main", name) for name in tables})
        check_text(sql)
        check_cost(sql)
        try:
            text, read = _restated(self._parser, sql, scope)
            return Admitted(text, read & tables)
        except RecursionError:
            raise Denied(
                "the statement is nested too deeply", "Split it into CTEs: WITH a AS (...), b AS (...)."
            ) from None
        except (duckdb.InterruptException, duckdb.OutOfMemoryException):
            raise
        except (duckdb.Error, DecodeError, ValueError) as error:  # ValueError: a statement the client has no name for
            raise not_parsed(str(error)) from None


def _restated(parser: Parser, sql: str, scope: Scope) -> tuple[str, frozenset[str]]:
    """DuckDB's restatement of `sql`, both checked, and the names it reads from."""
    written = parser.tree(sql)
    tree: Node = json.decode(written)
    if tree["error"] and tree["error_type"] != "parser":
        raise _no_select([statement.type.name for statement in parser.statements(sql)])
    _check_one(tree, scope)
    text = parser.text(written)
    if nesting(words_of(text)) > MAX_RESTATED_NESTING:
        raise Denied("too many joins or operators follow each other", "Split it into CTEs: WITH a AS (...).")
    return text, _check_one(json.decode(parser.tree(text)), scope)


def _check_one(tree: Node, scope: Scope) -> frozenset[str]:
    """Deny a tree that is an error, of more than one statement, or holds what `check` does not know."""
    if tree["error"]:
        raise not_parsed(tree["error_message"])
    if len(tree["statements"]) != 1:
        raise _not_one(len(tree["statements"]))
    return check(tree, scope)


def _no_select(kinds: list[str]) -> Denied:
    """Why statements of which json_serialize_sql makes no tree are denied."""
    if len(kinds) != 1:
        return _not_one(len(kinds))
    if kinds == ["MULTI"]:  # DuckDB would read the table first, to make an ENUM of the values
        return Denied(
            "PIVOT does not say which values become columns",
            "Name them: PIVOT files ON language IN ('python', 'sql') USING count(*).",
        )
    return Denied(f"the statement is {kinds[0]}, not SELECT", "Send one SELECT, DESCRIBE or SUMMARIZE.")


def _not_one(count: int) -> Denied:
    return Denied(f"{count} statements were sent", "Send exactly one SELECT per call.")
