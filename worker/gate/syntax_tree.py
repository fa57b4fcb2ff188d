"""The walk over a syntax tree: every node, field, word and name is one that is known, or the SQL is denied."""

from collections.abc import Callable, Iterable
from types import NoneType
from typing import Any, NamedTuple

from fledgling.worker.gate.denied import Denied, folded, refused, shown, suggestion
from fledgling.worker.gate.functions import BOUNDED, FUNCTIONS, TABLE_FUNCTIONS, refused_function
from fledgling.worker.gate.syntax import (
    COLLATIONS,
    LITERALS,
    NEWER,
    NOTHING,
    PLAIN,
    SYNTAX,
    TYPES,
    VALUE_NAMES,
    WORD,
    WORDS,
    Fields,
    Node,
)

Scope = frozenset[tuple[str, ...]]  # what FROM may name, as folded paths: ("files",), ("main", "files"), ("a_cte",)


class KnownNames(NamedTuple):
    """What `check` asks of one kind of node: its row of SYNTAX by what the fields hold, and its rule."""

    fields: frozenset[str]
    words: tuple[str, ...]
    nothing: tuple[str, ...]
    plain: tuple[str, ...]
    nodes: tuple[tuple[str, str], ...]  # field, and the role of the nodes in it
    rule: Callable[[Node, Scope], None] | None


def check(tree: Node, scope: Scope) -> frozenset[str]:
    """Deny a tree that holds anything not in the tables above, and return the names that it reads from.

    A name may be a CTE's. Iterative: a tree may be deeper than Python's stack.
    """
    read: set[str] = set()
    pending: list[tuple[Node, str, Scope]] = [(tree, "answer", scope)]
    while pending:
        node, role, scope = pending.pop()
        kind = node.get("class") or node.get("type") or ""
        known = KNOWN.get((role, kind))
        if known is None or not known.fields >= node.keys() >= known.fields - NEWER:
            raise refused(kind or role)
        _check_fields(node, known)
        if known.rule:
            known.rule(node, scope)
        if kind == "BASE_TABLE":
            read.add(folded(node["table_name"]))
        if "cte_map" in known.fields:
            scope = _with_ctes(node, scope, pending)
        for field, inner in known.nodes:
            if (value := node[field]) is not None:
                pending.extend((child, inner, scope) for child in _nodes(value))
    return frozenset(read)


def _check_fields(node: Node, known: KnownNames) -> None:
    """Deny a word that is not known, a feature that is not offered, and a node where a name or number belongs."""
    for field in known.words:
        if node[field] not in WORDS:
            raise refused(str(node[field]))
    for field in known.nothing:
        if node.get(field):
            raise refused(field)
    for field in known.plain:
        if type(node[field]) not in ATOMS and not _is_plain(node[field]):
            raise refused(field)


def _with_ctes(node: Node, scope: Scope, pending: list[tuple[Node, str, Scope]]) -> Scope:
    """Put the CTEs of a query with what is to be looked at, and return what the query itself may name.

    A CTE sees those listed before it, not itself: in `WITH files AS (FROM files) ...` the inner name is the table. Only
    the second half of a recursive CTE sees the CTE; with USING KEY it has a second name there, `recurring.name`.
    """
    for cte in node["cte_map"]["map"]:
        pending.append((cte, "cte", scope))
        scope |= {(folded(cte["key"]),)}
    if "cte_name" in node:
        name = folded(node["cte_name"])
        pending.append((node["right"], "query", scope | {(name,), ("recurring", name)}))
    return scope


def _nodes(value: Any) -> Iterable[Node]:
    """The nodes a field holds, itself or in lists: of `[[a], [b]]` a and b."""
    if not isinstance(value, list):
        return (value,)
    if any(isinstance(item, list) for item in value):
        return (node for item in value for node in _nodes(item))
    return (item for item in value if item is not None)


ATOMS = frozenset((str, int, bool, NoneType))


def _is_plain(value: Any) -> bool:
    """Whether `value` is text, a number, a flag, none, or lists of these."""
    return all(map(_is_plain, value)) if isinstance(value, list) else not isinstance(value, dict)


# ---- rules: what a node's own fields may say ------------------------------------------------------------------------


def _known_table(node: Node, scope: Scope) -> None:
    """`files`, `main.files` or a CTE in scope, not `'a.csv'`, `hidden` or `other.main.files`."""
    path = tuple(folded(name) for name in node["qualified_name"]["path"])
    spelled = [node["catalog_name"], node["schema_name"], node["table_name"]]
    if node["qualified_name"] != {"path": [name for name in spelled if name]}:
        raise refused("qualified_name")
    if path not in scope:
        names = frozenset(name for name, *rest in scope if not rest)
        listed = ", ".join(sorted(names))
        raise Denied(
            f"{shown('.'.join(path))} is not a table here",
            f"{suggestion('.'.join(path), names)}The tables are {listed}; the text of files is in content.",
        )


def _known_cte_map(node: Node, _: Scope) -> None:
    """The CTEs themselves are walked by `_children`."""
    if node["cte_map"].keys() != {"map"}:
        raise refused("cte_map")


def _known_function(node: Node, _: Scope) -> None:
    """A function of functions.txt, with the arguments BOUNDED asks for."""
    name = folded(node["function_name"])
    if name not in FUNCTIONS or node["qualified_name"] != {"path": [node["function_name"]]}:
        raise refused_function(name, FUNCTIONS)
    bounds = BOUNDED.get(name, {})
    for position, argument in enumerate(node["arguments"]):
        bound = bounds.get(position)
        if bound and not (bound.holds(argument["expression"]) and not argument["name"]):
            raise Denied(f"argument {position + 1} of {name} is not bounded", f"Give {bound.words}.")


def _known_table_function(node: Node, _: Scope) -> None:
    """A function of TABLE_FUNCTIONS in FROM."""
    name = folded(node["function_name"])
    if name not in TABLE_FUNCTIONS or node["qualified_name"] != {"path": [node["function_name"]]}:
        raise refused_function(name, TABLE_FUNCTIONS)


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
        if folded(name) in VALUE_NAMES:
            raise Denied(
                f"{name} alone stands for a call that is not offered",
                "Write a moment as a literal, TIMESTAMP '2026-01-31 12:00:00'; qualify a column of that name, t.user.",
            )


def _known_type(node: Node, _: Scope) -> None:
    """A type DuckDB is born with."""
    name = node["type_name"]
    if folded(name) not in TYPES or node["qualified_name"] != {"path": [name]}:
        raise Denied(f"{shown(name)} is not a type here", f"{suggestion(name, TYPES)}Use one of DuckDB's own types.")


def _known_literal(node: Node, _: Scope) -> None:
    """A literal as it was written."""
    literal = node["literal"]
    if literal.keys() != {"kind", "text"} or literal["kind"] not in LITERALS or not _is_plain(literal["text"]):
        raise refused("literal")


def _known_collation(node: Node, _: Scope) -> None:
    """`NOCASE`, `NOCASE.NOACCENT`; not those of the ICU extension."""
    if not COLLATIONS.issuperset(folded(node["collation"]).split(".")):
        raise Denied(f"the collation {shown(node['collation'])} is not offered", "Use NOCASE, NOACCENT or NFC.")


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


def _known(fields: Fields, rule: Callable[[Node, Scope], None] | None) -> KnownNames:
    """A row of SYNTAX as `check` goes through it."""
    by_kind = {
        kind: tuple(field for field, holds in fields.items() if holds == kind) for kind in (WORD, NOTHING, PLAIN)
    }
    nodes = tuple((field, role) for field, role in fields.items() if role in SYNTAX)
    return KnownNames(frozenset(fields), by_kind[WORD], by_kind[NOTHING], by_kind[PLAIN], nodes, rule)


KNOWN = {
    (role, kind): _known(fields, RULES.get((role, kind)))
    for role, kinds in SYNTAX.items()
    for kind, fields in kinds.items()
}
