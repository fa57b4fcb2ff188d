"""The part of a syntax tree that a query captures, as numbers: what no pattern names is not there.

A capture says what a node is (`@call`), or what it is to the node around it (`@of`). Nodes with the same span are one:
an expression and the statement that is nothing else.
"""

from collections.abc import Iterator

from tree_sitter import Node, Query, QueryCursor

MATCH_LIMIT = 10_000  # matches in progress; bounds memory and time on what is nested or repeated without end
LAST = (1 << 32) - 1  # an end is stored as the distance to this, so that of two nodes the outer one sorts first

# What a node is. Of two kinds that a span has, the first of these holds.
KINDS = [
    "import",
    "from",
    "imports",
    "export",
    "require",
    "package",
    "import_path",
    "use",
    "use_under",
    "root",
    "extension",
    "tokens",
    "conditional",
    "attribute",
    "decorated",
    "function",
    "variables",
    "class",
    "interface",
    "namespace",
    "lambda",
    "signature",
    "comprehension",
    "block",
    "branch",
    "loop",
    "try",
    "handler",
    "with",
    "item_with",
    "match",
    "case",
    "narrow",
    "return",
    "yield",
    "raise",
    "assign",
    "augment",
    "global",
    "nonlocal",
    "delete",
    "param",
    "results",
    "keyword",
    "spread",
    "spread_words",
    "pair",
    "field",
    "call",
    "new",
    "get",
    "index",
    "slice",
    "cast",
    "choice",
    "list",
    "variant",
    "tuple",
    "dict",
    "shape",
    "text",
    "number",
    "operation",
    "await",
    "super",
    "this",
    "array",
    "typeof",
    "label",
    "name",
]
# What it is to the node around it.
ROLES = [
    "of",
    "key",
    "args",
    "arg",
    "arm",
    "left",
    "right",
    "value",
    "init",
    "type",
    "body",
    "otherwise",
    "finally",
    "over",
    "word",
    "base",
    "decorator",
    "cond",
    "returns",
    "bind",
    "hoisted",
    "defined",
    "module",
    "imported",
    "alias",
    "wildcard",
    "default",
    "exported",
    "outward",
    "rest",
    "rest_words",
    "by_name",
    "generator",
    "static",
    "classmethod",
    "property",
    "setter",
    "abstract",
    "overload",
    "async",
    "protocol",
    "declaration",
    "guard",
    "fresh",
    "receiver",
    "constructor",
    "named",
    "skip",
]
BITS = {label: 1 << place for place, label in enumerate([*KINDS, *ROLES])}
IS_KIND = (1 << len(KINDS)) - 1
SCOPES = sum(
    BITS[kind]
    for kind in (
        "function",
        "class",
        "interface",
        "namespace",
        "extension",
        "lambda",
        "signature",
        "comprehension",
        "block",
    )
)


class Reduced:
    """A tree by columns: labels, start, end and the nodes within; node 0 is the whole text, the others are in order."""

    def __init__(self, source: bytes, root: Node, query: Query) -> None:
        self.source = source
        cursor = QueryCursor(query, match_limit=MATCH_LIMIT)
        labels: dict[int, int] = {}
        for label, nodes in cursor.captures(root).items():
            if label.startswith("_"):  # a predicate's own
                continue
            bit = BITS[label]
            for node in nodes:
                span = node.start_byte << 32 | LAST - node.end_byte
                labels[span] = labels.get(span, 0) | bit
        self.complete = not (root.has_error or cursor.did_exceed_match_limit)
        spans = sorted(labels)
        self.labels = [0, *map(labels.__getitem__, spans)]
        self.start = [0, *(span >> 32 for span in spans)]
        self.end = [len(source) + 1, *(LAST - (span & LAST) for span in spans)]
        self.kids: list[list[int]] = [[] for _ in self.labels]
        self._nest()

    def _nest(self) -> None:
        stack = [0]
        skip, skipped = BITS["skip"], 0
        for node in range(1, len(self.labels)):
            start, end = self.start[node], self.end[node]
            while self.end[stack[-1]] < end or self.end[stack[-1]] <= start:
                stack.pop()
            if start < skipped or start == end:
                self.labels[node] = 0
                continue
            if self.labels[node] & skip:
                skipped = end
                continue
            self.kids[stack[-1]].append(node)
            stack.append(node)

    def kind(self, node: int) -> int:
        """The bit of the kind of a node; 0 for one that only has a role."""
        labels = self.labels[node] & IS_KIND
        return labels & -labels

    def text(self, node: int) -> str:
        """What stands there."""
        return self.source[self.start[node] : self.end[node]].decode(errors="replace")

    def having(self, node: int, role: int) -> Iterator[int]:
        """The nodes directly within that have a role."""
        labels = self.labels
        return (kid for kid in self.kids[node] if labels[kid] & role)

    def first(self, node: int, role: int) -> int:
        """The first of them, or -1."""
        return next(self.having(node, role), -1)
