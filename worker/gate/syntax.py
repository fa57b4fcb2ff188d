"""What is known of DuckDB's syntax tree: kinds of node, their fields, words, types. The gate admits nothing else."""

from typing import Any

# What a field of a node may hold; any other word is a role, a key of SYNTAX, and the field holds nodes of that role
PLAIN = "plain"  # names, numbers, flags
WORD = "word"  # one of WORDS
NOTHING = "nothing"  # a feature that is not offered: it must be absent
RULED = "ruled"  # nodes that syntax_tree.py looks into by a rule

Fields = dict[str, str]
Node = dict[str, Any]  # a node of the syntax tree, as json_serialize_sql writes it


def fields(plain: str = "", word: str = "", nothing: str = "", ruled: str = "", **nodes: str) -> Fields:
    """A node's fields: `fields("name", expr="expression")` is `{"name": PLAIN, "expr": "expression"}`."""
    by_kind = {PLAIN: plain, WORD: word, NOTHING: nothing, RULED: ruled}
    return {field: kind for kind, fields in by_kind.items() for field in fields.split()} | nodes


def names(text: str) -> frozenset[str]:
    """`names("a b")` is `frozenset({"a", "b"})`."""
    return frozenset(text.split())


PLACE = fields("alias query_location query_location_length")
EXPRESSION = PLACE | fields(word="class type")
TABLE = PLACE | fields(word="type", nothing="sample")
QUERY = fields(word="type", ruled="cte_map", modifiers="modifier")
CALLED = fields(
    "function_name distinct",
    nothing="schema catalog is_legacy_function_call",
    ruled="qualified_name",
    arguments="argument",
)
CALL = EXPRESSION | CALLED | fields("is_operator", nothing="export_state", filter="expression", order_bys="modifier")
ORDER = fields(word="type null_order", expression="expression")

NEWER = names("is_legacy_function_call")  # fields that the first of the tested releases does not have

# Role -> kind of node (its class, its type, or "" where there is one kind) -> exactly the fields it has
SYNTAX: dict[str, dict[str, Fields]] = {
    "answer": {"": fields(nothing="error", statements="statement")},
    "statement": {"": fields(nothing="named_param_map", node="query")},
    "query": {
        "SELECT_NODE": QUERY | fields(
            "group_sets", "aggregate_handling", "sample", select_list="expression", from_table="table",
            where_clause="expression", group_expressions="expression", having="expression", qualify="expression",
        ),
        "SET_OPERATION_NODE": QUERY | fields("setop_all", "setop_type", "left right", children="query"),
        "RECURSIVE_CTE_NODE": QUERY | fields(
            "cte_name union_all aliases", ruled="right", left="query", key_targets="expression",
        ),
    },
    "cte": {"": fields("key", value="cte_body")},
    "cte_body": {
        "": fields("aliases", "materialized", "payload_aggregates", query_node="query", key_targets="expression"),
    },
    "modifier": {
        "ORDER_MODIFIER": fields(word="type", orders="order"),
        "LIMIT_MODIFIER": fields(word="type limit_type", limit="expression", offset="expression"),
        "DISTINCT_MODIFIER": fields(word="type", distinct_on_targets="expression"),
    },
    "order": {"ORDER_DEFAULT": ORDER, "ASCENDING": ORDER, "DESCENDING": ORDER},
    "table": {
        "BASE_TABLE": TABLE | fields(
            "catalog_name schema_name table_name column_name_alias", nothing="at_clause", ruled="qualified_name",
        ),
        "TABLE_FUNCTION": TABLE | fields("column_name_alias", "with_ordinality", function="table_function"),
        "SUBQUERY": TABLE | fields("column_name_alias", subquery="statement"),
        "EXPRESSION_LIST": TABLE | fields("expected_names", nothing="expected_types", values="expression"),
        "EMPTY": TABLE,
        "JOIN": TABLE | fields(
            "using_columns is_implicit nearest_count", "join_type ref_type nearest_order_type",
            "delim_flipped duplicate_eliminated_columns ranking_expression nearest_approx",
            left="table", right="table", condition="expression",
        ),
        "PIVOT": TABLE | fields(
            "unpivot_names groups column_name_alias include_nulls", source="table", aggregates="expression",
            pivots="pivot",
        ),
        # DESCRIBE and SUMMARIZE hold the query they describe; SHOW, which holds a name, is not among WORDS
        "SHOW_REF": TABLE | fields(
            word="show_type", nothing="catalog_name schema_name table_name", query="query", qualified_name="no_name",
        ),
    },
    "no_name": {"": fields(nothing="path")},
    "pivot": {"": fields("unpivot_names", nothing="pivot_enum", pivot_expressions="expression", entries="pivoted")},
    "pivoted": {"": fields("alias", nothing="values", star_expr="expression")},
    "expression": {
        "BETWEEN": EXPRESSION | fields(input="expression", lower="expression", upper="expression"),
        "CASE": EXPRESSION | fields(case_checks="case", else_expr="expression"),
        "CAST": EXPRESSION | fields("try_cast", child="expression", type_expr="type"),
        "COLLATE": EXPRESSION | fields("collation", child="expression"),
        "COLUMN_REF": EXPRESSION | fields("column_names"),
        "COMPARISON": EXPRESSION | fields(left="expression", right="expression"),
        "CONJUNCTION": EXPRESSION | fields(children="expression"),
        "CONSTANT": EXPRESSION | fields(ruled="literal"),
        "FUNCTION": CALL,
        "LAMBDA": EXPRESSION | fields(word="syntax_type", lhs="expression", expr="expression"),
        "OPERATOR": EXPRESSION | fields(children="expression"),
        "POSITIONAL_REFERENCE": EXPRESSION | fields("index"),
        "STAR": EXPRESSION | fields(
            "relation_name exclude_list columns", expr="expression", qualified_exclude_list="column",
            replace_list="replacement", rename_list="renaming",
        ),
        "SUBQUERY": EXPRESSION | fields(
            word="subquery_type comparison_type", subquery="statement", child="expression",
        ),
        "WINDOW": EXPRESSION | CALLED | fields(
            "ignore_nulls has_ignore_nulls", "start end exclude_clause", partitions="expression", orders="order",
            arg_orders="order", start_expr="expression", end_expr="expression", offset_expr="expression",
            default_expr="expression", filter_expr="expression",
        ),
    },
    "table_function": {"FUNCTION": CALL},
    "argument": {"": fields("name", expression="expression")},
    "case": {"": fields(when_expr="expression", then_expr="expression")},
    "column": {"": fields("catalog schema table column")},
    "replacement": {"": fields("key", value="expression")},
    "renaming": {"": fields("value", key="column")},
    "type": {
        "TYPE": EXPRESSION | fields("type_name", nothing="catalog schema", ruled="qualified_name", children="type"),
        "CONSTANT": EXPRESSION | fields(ruled="literal"),
    },
}  # fmt: skip

# Every word of DuckDB's own that a tree may hold, whichever field it stands in
WORDS = {"NULLS FIRST", "NULLS LAST"} | names("""
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
LITERALS = names("STRING INTEGER NUMERIC BOOLEAN NULL_LITERAL HEX BIT")
COLLATIONS = names("binary c nocase noaccent nfc posix")
TYPES = names("""
    array bigint binary bit bitstring blob bool boolean bpchar bytea char date datetime dec decimal double enum float
    float4 float8 guid hugeint int int1 int128 int16 int2 int32 int4 int64 int8 integer integral interval json list
    logical long map null numeric nvarchar oid real row short signed smallint string struct text time time_ns timestamp
    timestamp_ms timestamp_ns timestamp_s timestamp_us timestamptz timetz tinyint tuple ubigint uhugeint uint128 uint16
    uint32 uint64 uint8 uinteger union usmallint utinyint uuid varbinary varchar
""") | {"time with time zone", "timestamp with time zone"}
# Bare words DuckDB reads as calls unless a column of that name is in scope, which the gate cannot know
VALUE_NAMES = names("""
    current_catalog current_date current_role current_schema current_time current_timestamp current_user localtime
    localtimestamp session_user user
""")
