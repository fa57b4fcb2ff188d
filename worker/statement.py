"""The gate of `query`: one SELECT over the tables a caller may see, or a reason why not.

Everything that decides whether SQL may run lives here. DuckDB parses the text, and its syntax tree is compared with
tables of what is known: kinds of node, their fields, functions, types, names in scope. What is in no table is refused.
The statement type decides little, because DuckDB 2.0 calls `WITH x AS (DELETE ...) FROM x` a SELECT. The text handed
back is DuckDB's own restatement, and its tree is checked as well: what was checked is what runs.

The gate says what may be asked, not what an answer may cost. Joins, recursion, ranges and concatenation can still ask
for more time or memory than there is; the limits of the worker process end them.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
from msgspec import DecodeError, json

from fledgling.wire import MAX_SQL_CHARS

MAX_REPEAT = 1000  # what one call may pad, repeat or compare, in characters or elements

Node = dict[str, Any]  # a node of the syntax tree, as json_serialize_sql writes it
OPENING, CLOSING = frozenset("([{"), frozenset(")]}")
Scope = frozenset[tuple[str, ...]]  # what FROM may name, as folded paths: ("files",), ("main", "files"), ("a_cte",)


class Denied(Exception):
    """SQL that does not pass. `Denied("the function now is not on the allowlist: ...", "Write the moment as ...")`."""

    def __init__(self, reason: str, next_step: str) -> None:
        """`reason` says what was wrong, `next_step` what to do instead."""
        super().__init__(reason)
        self.reason = reason
        self.next_step = next_step


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
        _fits(sql)
        _parses_cheaply(sql)
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
            raise _not_parsed(str(error)) from None


def _restated(parser: duckdb.DuckDBPyConnection, sql: str, scope: Scope) -> str:
    """DuckDB's restatement of `sql`, both checked."""
    _one_select(parser.extract_statements(sql))
    written = _call(parser, "SELECT json_serialize_sql(?)", sql)
    _check(_tree(written), scope)
    text = _call(parser, "SELECT json_deserialize_sql(CAST(? AS JSON))", written)
    if _nesting(_words(text)) > MAX_RESTATED_NESTING:
        raise Denied("too many joins or operators follow each other", "Split it into CTEs: WITH a AS (...).")
    _check(_tree(_call(parser, "SELECT json_serialize_sql(?)", text)), scope)
    return text


def _call(parser: duckdb.DuckDBPyConnection, sql: str, text: str) -> str:
    """What one scalar function makes of `text`: `_call(parser, "SELECT json_serialize_sql(?)", "FROM files")`."""
    row = parser.execute(sql, [text]).fetchone()
    return str(row[0]) if row else ""


def _tree(answer: str) -> Node:
    """The syntax tree in an answer of json_serialize_sql; Denied where it is an error."""
    tree: Node = json.decode(answer)
    if tree["error"]:
        raise _not_parsed(tree["error_message"])
    return tree


# ---- before parsing: what DuckDB's parser should not be asked --------------------------------------------------------


def _fits(sql: str) -> None:
    """Deny text that is too long or not text: `_fits("SELECT 1\\0")` raises Denied."""
    try:
        sql.encode()
    except UnicodeEncodeError:
        raise Denied("the SQL holds a lone surrogate", "Send plain UTF-8 text.") from None
    if len(sql) > MAX_SQL_CHARS:
        raise Denied(f"the SQL is longer than {MAX_SQL_CHARS} characters", "Send a shorter SELECT.")
    if "\0" in sql:
        raise Denied("the SQL holds a NUL character", "Send plain UTF-8 text.")


def _words(sql: str) -> list[str]:
    """The tokens of `sql` as DuckDB cuts them, folded, without comments: `["from", "files"]`."""
    data = sql.encode().lower()
    tokens = duckdb.tokenize(sql)
    ends = [*(start for start, _ in tokens), len(data)][1:]
    return [
        data[start:end].decode(errors="replace").strip()
        for (start, kind), end in zip(tokens, ends, strict=True)
        if kind != duckdb.token_type.comment
    ]


def _nesting(words: list[str]) -> int:
    """How many brackets are open at most: `(1 + (2))` is 2. The parser's cost grows with their square."""
    changes = ((word in OPENING) - (word in CLOSING) for word in words)
    return max(accumulate(changes), default=0)


DESCRIBES = frozenset(("describe", "desc", "show", "summarize"))
TAKES_STATEMENTS = DESCRIBES | {"analyze", "as", "copy", "explain", "materialized"}  # then a bracket, then a statement


def _misplaced_statements(words: list[str]) -> int:
    """How many statements begin where no subquery or CTE body does: `WITH a AS (WITH ...`, `UNION (DESCRIBE ...`.

    The parser tries what follows such a WITH six times over and such a DESCRIBE twice; all levels multiply.
    """
    misplaced = 0
    for two_back, back, word, ahead in zip(["", "", *words], ["", *words], words, [*words[1:], ""], strict=False):
        if word == "with" and ahead not in ("ordinality", "time"):
            in_subquery = back == "(" and two_back not in TAKES_STATEMENTS
            misplaced += not in_subquery and back not in ("", ";")
        elif word in DESCRIBES and back == "(":
            misplaced += two_back not in ("", "from", "join", ",", "as", "materialized")
    return misplaced


def _case_copies(words: list[str]) -> int:
    """How many words the operands of CASE may grow to, at most: the parser copies `x` of `CASE x WHEN` to each WHEN.

    A CASE in the operand of another counts as endless: every level multiplies the copies.
    """
    longest = length = 0
    in_operand = False
    for word in words:
        if word == "case" and in_operand:
            return sys.maxsize
        in_operand = word == "case" or (in_operand and word != "when")
        length = length + 1 if in_operand and word != "case" else 0
        longest = max(longest, length)
    return longest * words.count("when")


def _window_copies(words: list[str]) -> int:
    """How many words named windows may grow to, at most: the parser copies a window's definition to each OVER."""
    return words.count("over") * (len(words) - words.index("window")) if "window" in words else 0


def _grouping_copies(words: list[str]) -> int:
    """How many words ROLLUP, CUBE and GROUPING SETS may grow to, at most: sets repeat their columns, and multiply."""
    sets = 1
    for place, word in enumerate(words):
        if word in ("cube", "rollup", "sets") and sets < sys.maxsize:
            depths = accumulate((word in OPENING) - (word in CLOSING) for word in words[place + 1 :])
            inside = [word for word, _ in zip(words[place + 1 :], takewhile(bool, depths), strict=False)]
            sets *= 2 ** (inside.count(",") + 1) if word == "cube" else inside.count(",") + 2
    return sets * len(words) if sets > 1 else 0


SIDE_BY_SIDE = "List CTEs side by side: WITH a AS (...), b AS (FROM a) ...; describe in FROM: FROM (DESCRIBE files)."


class Cost(NamedTuple):
    """What parsing may cost at most, measured on the words."""

    measure: Callable[[list[str]], int]
    limit: int
    reason: str
    next_step: str


# DuckDB 2.0's parser backtracks and copies without a limit of time or memory, and cannot be interrupted. Measured
# without these rows: 110 characters of nested WITH, or 560 of CUBE, take over 20 seconds; 16 KiB of brackets, 10 GB.
COSTS = (
    Cost(len, 5000, "the SQL has more than 5000 words", "Send a shorter SELECT."),
    Cost(_nesting, 40, "more than 40 brackets are nested", "Split it into CTEs: WITH a AS (...), b AS (...) SELECT."),
    Cost(_misplaced_statements, 0, "a WITH or DESCRIBE stands where only a SELECT may", SIDE_BY_SIDE),
    Cost(_case_copies, 5000, "the operand of a CASE is too long for its WHENs", "Name it in a CTE: CASE x WHEN ..."),
    Cost(_window_copies, 10_000, "named windows are too long for their uses", "Compute the keys in a CTE."),
    Cost(_grouping_copies, 10_000, "ROLLUP, CUBE or GROUPING SETS make too many sets", "Group by fewer columns."),
)  # fmt: skip
MAX_RESTATED_NESTING = 100  # DuckDB restates each join and each operator in brackets of its own


def _parses_cheaply(sql: str) -> None:
    """Deny what costs DuckDB's parser too much: `_parses_cheaply("SELECT " + "(" * 200)` raises Denied."""
    words = _words(sql)
    for cost in COSTS:
        if cost.measure(words) > cost.limit:
            raise Denied(cost.reason, cost.next_step)


def _one_select(statements: list[duckdb.Statement]) -> None:
    """Deny all but one SELECT without parameters. More is decided by `_check`."""
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


# ---- the syntax tree: what is known ----------------------------------------------------------------------------------

# What a field of a node may hold; any other word is a role, a key of SYNTAX, and the field holds nodes of that role
PLAIN = "plain"  # names, numbers, flags
WORD = "word"  # one of WORDS
NOTHING = "nothing"  # a feature that is not offered: it must be absent
RULED = "ruled"  # nodes that the rule of this one, or _children, looks into

Fields = dict[str, str]


def _fields(plain: str = "", word: str = "", nothing: str = "", ruled: str = "", **nodes: str) -> Fields:
    """A node's fields: `_fields("name", expr="expression")` is `{"name": PLAIN, "expr": "expression"}`."""
    by_kind = {PLAIN: plain, WORD: word, NOTHING: nothing, RULED: ruled}
    return {field: kind for kind, fields in by_kind.items() for field in fields.split()} | nodes


def _names(text: str) -> frozenset[str]:
    """`_names("a b")` is `frozenset({"a", "b"})`."""
    return frozenset(text.split())


PLACE = _fields("alias query_location query_location_length")
EXPRESSION = PLACE | _fields(word="class type")
TABLE = PLACE | _fields(word="type", nothing="sample")
QUERY = _fields(word="type", ruled="cte_map", modifiers="modifier")
CALLED = _fields("function_name distinct", nothing="schema catalog", ruled="qualified_name", arguments="argument")
CALL = EXPRESSION | CALLED | _fields("is_operator", nothing="export_state", filter="expression", order_bys="modifier")
ORDER = _fields(word="type null_order", expression="expression")

# Role -> kind of node (its class, its type, or "" where there is one kind) -> exactly the fields it has
SYNTAX: dict[str, dict[str, Fields]] = {
    "answer": {"": _fields(nothing="error", statements="statement")},
    "statement": {"": _fields(nothing="named_param_map", node="query")},
    "query": {
        "SELECT_NODE": QUERY | _fields(
            "group_sets", "aggregate_handling", "sample", select_list="expression", from_table="table",
            where_clause="expression", group_expressions="expression", having="expression", qualify="expression",
        ),
        "SET_OPERATION_NODE": QUERY | _fields("setop_all", "setop_type", "left right", children="query"),
        "RECURSIVE_CTE_NODE": QUERY | _fields(
            "cte_name union_all aliases", ruled="right", left="query", key_targets="expression",
        ),
    },
    "cte": {"": _fields("key", value="cte_body")},
    "cte_body": {
        "": _fields("aliases", "materialized", "payload_aggregates", query_node="query", key_targets="expression"),
    },
    "modifier": {
        "ORDER_MODIFIER": _fields(word="type", orders="order"),
        "LIMIT_MODIFIER": _fields(word="type limit_type", limit="expression", offset="expression"),
        "DISTINCT_MODIFIER": _fields(word="type", distinct_on_targets="expression"),
    },
    "order": {"ORDER_DEFAULT": ORDER, "ASCENDING": ORDER, "DESCENDING": ORDER},
    "table": {
        "BASE_TABLE": TABLE | _fields(
            "catalog_name schema_name table_name column_name_alias", nothing="at_clause", ruled="qualified_name",
        ),
        "TABLE_FUNCTION": TABLE | _fields("column_name_alias", "with_ordinality", function="table_function"),
        "SUBQUERY": TABLE | _fields("column_name_alias", subquery="statement"),
        "EXPRESSION_LIST": TABLE | _fields("expected_names", nothing="expected_types", values="expression"),
        "EMPTY": TABLE,
        "JOIN": TABLE | _fields(
            "using_columns is_implicit nearest_count", "join_type ref_type nearest_order_type",
            "delim_flipped duplicate_eliminated_columns ranking_expression nearest_approx",
            left="table", right="table", condition="expression",
        ),
        "PIVOT": TABLE | _fields(
            "unpivot_names groups column_name_alias include_nulls", source="table", aggregates="expression",
            pivots="pivot",
        ),
        # DESCRIBE and SUMMARIZE hold the query they describe; SHOW, which holds a name, is not among WORDS
        "SHOW_REF": TABLE | _fields(
            word="show_type", nothing="catalog_name schema_name table_name", query="query", qualified_name="no_name",
        ),
    },
    "no_name": {"": _fields(nothing="path")},
    "pivot": {"": _fields("unpivot_names", nothing="pivot_enum", pivot_expressions="expression", entries="pivoted")},
    "pivoted": {"": _fields("alias", nothing="values", star_expr="expression")},
    "expression": {
        "BETWEEN": EXPRESSION | _fields(input="expression", lower="expression", upper="expression"),
        "CASE": EXPRESSION | _fields(case_checks="case", else_expr="expression"),
        "CAST": EXPRESSION | _fields("try_cast", child="expression", type_expr="type"),
        "COLLATE": EXPRESSION | _fields("collation", child="expression"),
        "COLUMN_REF": EXPRESSION | _fields("column_names"),
        "COMPARISON": EXPRESSION | _fields(left="expression", right="expression"),
        "CONJUNCTION": EXPRESSION | _fields(children="expression"),
        "CONSTANT": EXPRESSION | _fields(ruled="literal"),
        "FUNCTION": CALL,
        "LAMBDA": EXPRESSION | _fields(word="syntax_type", lhs="expression", expr="expression"),
        "OPERATOR": EXPRESSION | _fields(children="expression"),
        "POSITIONAL_REFERENCE": EXPRESSION | _fields("index"),
        "STAR": EXPRESSION | _fields(
            "relation_name exclude_list columns", expr="expression", qualified_exclude_list="column",
            replace_list="replacement", rename_list="renaming",
        ),
        "SUBQUERY": EXPRESSION | _fields(
            word="subquery_type comparison_type", subquery="statement", child="expression",
        ),
        "WINDOW": EXPRESSION | CALLED | _fields(
            "ignore_nulls has_ignore_nulls", "start end exclude_clause", partitions="expression", orders="order",
            arg_orders="order", start_expr="expression", end_expr="expression", offset_expr="expression",
            default_expr="expression", filter_expr="expression",
        ),
    },
    "table_function": {"FUNCTION": CALL},
    "argument": {"": _fields("name", expression="expression")},
    "case": {"": _fields(when_expr="expression", then_expr="expression")},
    "column": {"": _fields("catalog schema table column")},
    "replacement": {"": _fields("key", value="expression")},
    "renaming": {"": _fields("value", key="column")},
    "type": {
        "TYPE": EXPRESSION | _fields("type_name", nothing="catalog schema", ruled="qualified_name", children="type"),
        "CONSTANT": EXPRESSION | _fields(ruled="literal"),
    },
}  # fmt: skip

# Every word of DuckDB's own that a tree may hold, whichever field it stands in
WORDS = {"NULLS FIRST", "NULLS LAST"} | _names("""
    SELECT_NODE SET_OPERATION_NODE RECURSIVE_CTE_NODE ORDER_MODIFIER LIMIT_MODIFIER DISTINCT_MODIFIER
    BASE_TABLE TABLE_FUNCTION SUBQUERY EXPRESSION_LIST EMPTY JOIN PIVOT SHOW_REF
    BETWEEN CASE CAST COLLATE COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION LAMBDA OPERATOR POSITIONAL_REFERENCE
    STAR TYPE WINDOW
    CASE_EXPR OPERATOR_CAST VALUE_CONSTANT CONJUNCTION_AND CONJUNCTION_OR
    COMPARE_BETWEEN COMPARE_EQUAL COMPARE_NOTEQUAL COMPARE_LESSTHAN COMPARE_GREATERTHAN COMPARE_LESSTHANOREQUALTO
    COMPARE_GREATERTHANOREQUALTO COMPARE_DISTINCT_FROM COMPARE_NOT_DISTINCT_FROM COMPARE_IN COMPARE_NOT_IN INVALID
    ARRAY_EXTRACT ARRAY_SLICE ARRAY_CONSTRUCTOR STRUCT_EXTRACT GROUPING_FUNCTION OPERATOR_COALESCE OPERATOR_IS_NULL
    OPERATOR_IS_NOT_NULL OPERATOR_NOT OPERATOR_NULLIF OPERATOR_TRY OPERATOR_UNPACK
    WINDOW_AGGREGATE WINDOW_CUME_DIST WINDOW_FILL WINDOW_FIRST_VALUE WINDOW_LAG WINDOW_LAST_VALUE WINDOW_LEAD
    WINDOW_NTH_VALUE WINDOW_NTILE WINDOW_PERCENT_RANK WINDOW_RANK WINDOW_RANK_DENSE WINDOW_ROW_NUMBER
    UNBOUNDED_PRECEDING UNBOUNDED_FOLLOWING CURRENT_ROW_RANGE CURRENT_ROW_ROWS CURRENT_ROW_GROUPS
    EXPR_PRECEDING_ROWS EXPR_FOLLOWING_ROWS EXPR_PRECEDING_RANGE EXPR_FOLLOWING_RANGE EXPR_PRECEDING_GROUPS
    EXPR_FOLLOWING_GROUPS NO_OTHER CURRENT_ROW GROUP TIES
    INNER LEFT RIGHT FULL OUTER SEMI ANTI REGULAR NATURAL CROSS POSITIONAL ASOF
    UNION UNION_BY_NAME EXCEPT INTERSECT STANDARD_HANDLING FORCE_AGGREGATES
    CTE_MATERIALIZE_DEFAULT CTE_MATERIALIZE_ALWAYS CTE_MATERIALIZE_NEVER
    ORDER_DEFAULT ASCENDING DESCENDING ROW_COUNT PERCENTAGE SCALAR EXISTS NOT_EXISTS ANY
    SINGLE_ARROW LAMBDA_KEYWORD WITH_ORDINALITY WITHOUT_ORDINALITY DESCRIBE SUMMARY
""")
LITERALS = _names("STRING INTEGER NUMERIC BOOLEAN NULL_LITERAL HEX BIT")
COLLATIONS = _names("binary c nocase noaccent nfc posix")
TYPES = {"time with time zone", "timestamp with time zone"} | _names("""
    array bigint binary bit bitstring blob bool boolean bpchar bytea char date datetime dec decimal double enum float
    float4 float8 guid hugeint int int1 int128 int16 int2 int32 int4 int64 int8 integer integral interval json list
    logical long map null numeric nvarchar oid real row short signed smallint string struct text time time_ns timestamp
    timestamp_ms timestamp_ns timestamp_s timestamp_us timestamptz timetz tinyint tuple ubigint uhugeint uint128 uint16
    uint32 uint64 uint8 uinteger union usmallint utinyint uuid varbinary varchar
""")
# Bare words DuckDB reads as calls unless a column of that name is in scope, which the gate cannot know
VALUE_NAMES = _names("""
    current_catalog current_date current_role current_schema current_time current_timestamp current_user localtime
    localtimestamp session_user user
""")


# ---- functions -------------------------------------------------------------------------------------------------------

SQL = Path(__file__).with_name("sql")


def _reviewed_refusals(text: str) -> dict[str, tuple[str, str]]:
    """Name -> (why, what to do), of lines under `# why: what to do`: `{"now": ("it reads the clock", "write ...")}`."""
    refusals: dict[str, tuple[str, str]] = {}
    why = remedy = ""
    for line in text.splitlines():
        if line.startswith("# "):
            why, _, remedy = line.removeprefix("# ").partition(": ")
        elif line:
            refusals[_folded(line)] = (why, remedy)
    return refusals


def _folded(name: str) -> str:
    """`name` as DuckDB compares names. Only ASCII folds: to str.lower, the Kelvin sign is a k."""
    return name.encode().lower().decode()


FUNCTIONS = frozenset(_folded(name) for name in (SQL / "functions.txt").read_text().splitlines())
REFUSED_FUNCTIONS = _reviewed_refusals((SQL / "denied_functions.txt").read_text())
TABLE_FUNCTIONS = _names("generate_series json_each json_tree range unnest")


class Bound(NamedTuple):
    """What an argument must be, so that one call stays small."""

    holds: Callable[[Node], bool]
    words: str


def _is_small_literal(node: Node) -> bool:
    """Whether `node` is a number written out, from 0 to MAX_REPEAT: `40`."""
    if node["class"] != "CONSTANT" or node["literal"]["kind"] != "INTEGER":
        return False
    digits = str(node["literal"]["text"])
    return digits.isdecimal() and len(digits) <= len(str(MAX_REPEAT)) and int(digits) <= MAX_REPEAT


def _is_small_number(node: Node) -> bool:
    """Whether `node` is at most MAX_REPEAT: `40`, `least(line_count, 40)`."""
    if node["class"] == "FUNCTION" and _folded(node["function_name"]) == "least":
        return any(_is_small_literal(argument["expression"]) for argument in node["arguments"])
    return _is_small_literal(node)


def _is_short_text(node: Node) -> bool:
    """Whether `node` is text of at most MAX_REPEAT characters: `'parse'`, `left(name, 100)`; not `left(name, -1)`."""
    if node["class"] == "FUNCTION" and _folded(node["function_name"]) == "left":
        arguments = [argument["expression"] for argument in node["arguments"] if not argument["name"]]
        return len(arguments) == 2 and _is_small_literal(arguments[1])
    return node["class"] == "CONSTANT" and len(node["literal"]["text"]) <= MAX_REPEAT


def _is_fixed_format(node: Node) -> bool:
    """Whether `node` is a literal without huge or computed widths: `'%5d'`, not `'%99999d'`, `'%*d'`, `'{:{}}'`."""
    huge_or_computed = r"%[^a-zA-Z%]*(\d{4}|\*)|\{[^}]*(\d{4}|\{)"
    return node["class"] == "CONSTANT" and not re.search(huge_or_computed, node["literal"]["text"])


def _is_aggregate_name(node: Node) -> bool:
    """Whether `node` names, as text, a function that may be called: `'avg'` in `list_aggregate(l, 'avg')`."""
    return node["class"] == "CONSTANT" and _folded(node["literal"]["text"]) in FUNCTIONS


SMALL = Bound(_is_small_number, f"an integer literal up to {MAX_REPEAT}, or least(n, {MAX_REPEAT})")
SHORT = Bound(_is_short_text, f"a literal of up to {MAX_REPEAT} characters, or left(text, {MAX_REPEAT})")
FIXED = Bound(_is_fixed_format, "a literal whose widths have at most three digits")
NAMED = Bound(_is_aggregate_name, "the name of an aggregate on the allowlist as a literal, 'avg'")

# One call of these can fill memory, compare two long texts for minutes in which DuckDB cannot be interrupted, or call a
# function by a name given as text
BOUNDED: dict[str, dict[int, Bound]] = {
    "aggregate": {1: NAMED},
    "array_aggr": {1: NAMED},
    "array_aggregate": {1: NAMED},
    "array_resize": {1: SMALL},
    "bar": {3: SMALL},
    "bitstring": {1: SMALL},
    "damerau_levenshtein": {0: SHORT, 1: SHORT},
    "editdist3": {0: SHORT, 1: SHORT},
    "equi_width_bins": {2: SMALL},
    "format": {0: FIXED},
    "jaro_similarity": {0: SHORT, 1: SHORT},
    "jaro_winkler_similarity": {0: SHORT, 1: SHORT},
    "levenshtein": {0: SHORT, 1: SHORT},
    "list_aggr": {1: NAMED},
    "list_aggregate": {1: NAMED},
    "list_resize": {1: SMALL},
    "lpad": {1: SMALL},
    "printf": {0: FIXED},
    "repeat": {1: SMALL},
    "rpad": {1: SMALL},
    "to_base": {2: SMALL},
}


# ---- the walk --------------------------------------------------------------------------------------------------------


def _check(tree: Node, scope: Scope) -> None:
    """Deny a tree that holds anything not in the tables above. Iterative: a tree may be deeper than Python's stack."""
    pending: list[tuple[Node, str, Scope]] = [(tree, "answer", scope)]
    while pending:
        node, role, scope = pending.pop()
        kind = node.get("class") or node.get("type") or ""
        fields = SYNTAX[role].get(kind)
        if fields is None or fields.keys() != node.keys():
            raise _refused(kind or role)
        for field, holds in fields.items():
            value = node[field]
            if holds == WORD and value not in WORDS:
                raise _refused(str(value))
            if (holds == NOTHING and value) or (holds == PLAIN and not _is_plain(value)):
                raise _refused(field)
        if rule := RULES.get((role, kind)):
            rule(node, scope)
        pending.extend(_children(node, fields, scope))


def _children(node: Node, fields: Fields, scope: Scope) -> Iterator[tuple[Node, str, Scope]]:
    """The nodes below `node`, each with its role and with what FROM may name there.

    A CTE sees those listed before it, not itself: in `WITH files AS (FROM files) ...` the inner name is the table. Only
    the second half of a recursive CTE sees the CTE; with USING KEY it has a second name there, `recurring.name`.
    """
    for cte in node["cte_map"]["map"] if "cte_map" in fields else ():
        yield cte, "cte", scope
        scope |= {(_folded(cte["key"]),)}
    if "cte_name" in fields:
        name = _folded(node["cte_name"])
        yield node["right"], "query", scope | {(name,), ("recurring", name)}
    for field, role in fields.items():
        if role in SYNTAX:
            for child in _nodes(node[field]):
                yield child, role, scope


def _nodes(value: Any) -> Iterator[Node]:
    """The nodes a field holds, itself or in lists: of None none, of `[[a], [b]]` a and b."""
    if isinstance(value, list):
        for item in value:
            yield from _nodes(item)
    elif value is not None:
        yield value


def _is_plain(value: Any) -> bool:
    """Whether `value` is text, a number, a flag, none, or lists of these."""
    return all(map(_is_plain, value)) if isinstance(value, list) else not isinstance(value, dict)


# ---- rules: what a node's own fields may say ------------------------------------------------------------------------


def _known_table(node: Node, scope: Scope) -> None:
    """`files`, `main.files` or a CTE in scope, not `'a.csv'`, `hidden` or `other.main.files`."""
    path = tuple(_folded(name) for name in node["qualified_name"]["path"])
    spelled = [node["catalog_name"], node["schema_name"], node["table_name"]]
    if node["qualified_name"] != {"path": [name for name in spelled if name]}:
        raise _refused("qualified_name")
    if path not in scope:
        names = sorted(name for name, *rest in scope if not rest)
        raise Denied(
            f"{_shown('.'.join(path))} is not a table here",
            f"{_suggestion('.'.join(path), names)}The tables are {', '.join(names)}; the text of files is in content.",
        )


def _known_cte_map(node: Node, _: Scope) -> None:
    """The CTEs themselves are walked by `_children`."""
    if node["cte_map"].keys() != {"map"}:
        raise _refused("cte_map")


def _known_function(node: Node, _: Scope) -> None:
    """A function of functions.txt, with the arguments BOUNDED asks for."""
    name = _folded(node["function_name"])
    if name not in FUNCTIONS or node["qualified_name"] != {"path": [node["function_name"]]}:
        raise _refused_function(name, FUNCTIONS)
    bounds = BOUNDED.get(name, {})
    for position, argument in enumerate(node["arguments"]):
        bound = bounds.get(position)
        if bound and not (bound.holds(argument["expression"]) and not argument["name"]):
            raise Denied(f"argument {position + 1} of {name} is not bounded", f"Give {bound.words}.")


def _known_table_function(node: Node, _: Scope) -> None:
    """A function of TABLE_FUNCTIONS in FROM."""
    name = _folded(node["function_name"])
    if name not in TABLE_FUNCTIONS or node["qualified_name"] != {"path": [node["function_name"]]}:
        raise _refused_function(name, TABLE_FUNCTIONS)


def _known_column(node: Node, _: Scope) -> None:
    """Any column that is in scope, which DuckDB decides; not a bare word that DuckDB would call."""
    if len(node["column_names"]) == 1:
        _no_call(node["column_names"])


def _known_groups(node: Node, _: Scope) -> None:
    """The GROUP BY of a PIVOT holds bare names."""
    _no_call(node["groups"])


def _no_call(names: list[str]) -> None:
    """Deny bare words that DuckDB reads as calls: `_no_call(["current_date"])` raises Denied."""
    for name in names:
        if _folded(name) in VALUE_NAMES:
            raise Denied(
                f"{name} alone stands for a call that is not offered",
                "Write a moment as a literal, TIMESTAMP '2026-01-31 12:00:00'; qualify a column of that name, t.user.",
            )


def _known_type(node: Node, _: Scope) -> None:
    """A type DuckDB is born with."""
    name = node["type_name"]
    if _folded(name) not in TYPES or node["qualified_name"] != {"path": [name]}:
        raise Denied(f"{_shown(name)} is not a type here", f"{_suggestion(name, TYPES)}Use one of DuckDB's own types.")


def _known_literal(node: Node, _: Scope) -> None:
    """A literal as it was written."""
    literal = node["literal"]
    if literal.keys() != {"kind", "text"} or literal["kind"] not in LITERALS or not _is_plain(literal["text"]):
        raise _refused("literal")


def _known_collation(node: Node, _: Scope) -> None:
    """`NOCASE`, `NOCASE.NOACCENT`; not those of the ICU extension."""
    if not COLLATIONS.issuperset(_folded(node["collation"]).split(".")):
        raise Denied(f"the collation {_shown(node['collation'])} is not offered", "Use NOCASE, NOACCENT or NFC.")


RULES: dict[tuple[str, str], Callable[[Node, Scope], None]] = {
    ("query", "SELECT_NODE"): _known_cte_map,
    ("query", "SET_OPERATION_NODE"): _known_cte_map,
    ("query", "RECURSIVE_CTE_NODE"): _known_cte_map,
    ("table", "BASE_TABLE"): _known_table,
    ("table", "PIVOT"): _known_groups,
    ("table_function", "FUNCTION"): _known_table_function,
    ("expression", "FUNCTION"): _known_function,
    ("expression", "WINDOW"): _known_function,
    ("expression", "COLUMN_REF"): _known_column,
    ("expression", "CONSTANT"): _known_literal,
    ("expression", "COLLATE"): _known_collation,
    ("type", "TYPE"): _known_type,
    ("type", "CONSTANT"): _known_literal,
}


# ---- refusals --------------------------------------------------------------------------------------------------------

CHANGES = "a statement that changes something", "The index is read-only: only SELECT runs, in a CTE as elsewhere."
# Node, word or field -> what it is called, and what to do instead.
REFUSALS = {
    "DELETE_QUERY_NODE": CHANGES,
    "INSERT_QUERY_NODE": CHANGES,
    "UPDATE_QUERY_NODE": CHANGES,
    "MERGE_QUERY_NODE": CHANGES,
    "COPY_QUERY_NODE": CHANGES,
    "DEFAULT": ("DEFAULT", "Write the value."),
    "PARAMETER": ("a parameter", "Write the value into the SQL."),
    "SHOW": ("SHOW", "DESCRIBE files lists the columns of a table."),
    "SHOW_SPECIAL": ("SHOW", "The tables are files, content, symbols and imports; DESCRIBE files lists columns."),
    "at_clause": ("AT, an earlier version of a table,", "There is one version; leave it out."),
    "sample": ("a random sample", "Take the same sample every time: ORDER BY hash(path) LIMIT 10."),
    "schema": ("a qualified function or type", "Write its name alone: left(path, 5), not path.left(5)."),
}


def _not_parsed(error: str) -> Denied:
    """The first line of DuckDB's own words; those after it quote the SQL."""
    return Denied(
        _shown(error.partition("\n")[0], 200), "Correct the SQL, in DuckDB's dialect; DESCRIBE files lists columns."
    )


def _refused(word: str) -> Denied:
    """`_refused("sample")` says that a random sample is not offered, and what to do instead."""
    what, next_step = REFUSALS.get(word, (_shown(word), "Write it with SELECT, JOIN, WHERE, GROUP BY, CTEs, windows."))
    return Denied(f"{what} is not offered", next_step)


def _refused_function(name: str, offered: frozenset[str]) -> Denied:
    """Why `name` is not offered, as reviewed in denied_functions.txt, or the nearest name that is."""
    if name in REFUSED_FUNCTIONS:
        why, remedy = REFUSED_FUNCTIONS[name]
    else:
        why, remedy = "none of that name may be called here", f"{_suggestion(name, offered)}use one of DuckDB's own"
    return Denied(f"the function {_shown(name)} is not on the allowlist: {why}", f"{remedy[0].upper()}{remedy[1:]}.")


def _suggestion(name: str, names: Iterable[str]) -> str:
    """The nearest of `names`, or nothing: `_suggestion("flies", ["files"])` is `"Did you mean files? "`."""
    near = get_close_matches(_folded(name)[:60], sorted(names), 1)
    return f"Did you mean {near[0]}? " if near else ""


def _shown(text: str, length: int = 60) -> str:
    """Text of the caller's, fit for a message: short and printable."""
    return "".join(c if c.isprintable() else "?" for c in text[:length])
