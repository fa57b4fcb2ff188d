"""The part of a syntax tree that a query captures, as numbers: what no pattern names is not there.

A capture says what a node is (`@call`), or what it is to the node around it (`@of`). Nodes with the same span are one:
an expression and the statement that is nothing else.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter

import numpy as np
import numpy.typing as npt
from tree_sitter import Node, Query, QueryCursor

MATCH_LIMIT = 10_000  # matches in progress; bounds memory and time on what is nested or repeated without end
LAST = (1 << 32) - 1  # an end is stored as the distance to this, so that of two nodes the outer one sorts first

Columns = npt.NDArray[np.int64]

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
    "pointee",
    "path",
    "root",
    "extension",
    "tokens",
    "conditional",
    "mixin",
    "accessor",
    "method_alias",
    "method_made",
    "constant_made",
    "setting",
    "own_field",
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
    "within",
    "match",
    "case",
    "case_name",
    "narrow",
    "return",
    "yield",
    "raise",
    "break",
    "continue",
    "labelled",
    "assign",
    "augment",
    "global",
    "nonlocal",
    "delete",
    "field",
    "param",
    "results",
    "keyword",
    "spread",
    "spread_words",
    "pair",
    "call",
    "new",
    "reference",
    "get",
    "index",
    "slice",
    "cast",
    "choice",
    "sum",
    "list",
    "variant",
    "tuple",
    "dict",
    "shape",
    "text",
    "number",
    "operation",
    "pointed",
    "addressed",
    "applied",
    "await",
    "super",
    "this",
    "array",
    "channel",
    "typeof",
    "class_of",
    "nullable",
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
    "existing",
    "until_break",
    "defined",
    "module",
    "imported",
    "alias",
    "wildcard",
    "everywhere",
    "compiled",
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
    "extension_of",
    "receiver_type",
    "explicit",
    "hidden",
    "container",
    "optional",
    "partial",
    "guard",
    "fresh",
    "checked",
    "receiver",
    "constructor",
    "named",
    "replaced",
    "prepended",
    "makes",
    "included",
    "open",
    "overrides",
    "virtual",
    "points",
    "constant",
    "present",
    "skip",
]
_NUMBERS = {
    label: number for number, label in enumerate([*ROLES, *KINDS])
}  # few bits for roles: they are asked for most
BITS = {label: 1 << number for label, number in _NUMBERS.items()}
IS_KIND = (1 << len(_NUMBERS)) - (1 << len(ROLES))
WORD = 62  # labels that fit one number of a column: it has 64 bits
_KIND_BITS = [*(BITS[kind] for kind in KINDS), 0]
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


_START, _END = attrgetter("start_byte"), attrgetter("end_byte")


class Reduced:
    """A tree by columns: labels, start, end and the nodes within; node 0 is the whole text, the others are in order.

    `kinds` has the bit of the kind of each node; 0 for one that only has a role.
    """

    def __init__(self, source: bytes, root: Node, query: Query) -> None:
        self.source = source
        self._ascii = source.decode("ascii") if source.isascii() else None
        cursor = QueryCursor(query, match_limit=MATCH_LIMIT)
        captures = cursor.captures(root)
        self.complete = not (root.has_error or cursor.did_exceed_match_limit)
        spans, labels, kinds = _gathered(captures)
        self.start = [0, *(spans >> 32).tolist()]
        self.end = [len(source) + 1, *(LAST - (spans & LAST)).tolist()]
        self.labels, self.kinds = [0, *labels], [0, *kinds]
        self.kids: list[list[int]] = [[] for _ in self.labels]
        self._nest()

    def _nest(self) -> None:
        ends, labels, kids, kinds = self.end, self.labels, self.kids, self.kinds
        stack, top = [0], ends[0]
        skip, skipped = BITS["skip"], 0
        for node, start in enumerate(self.start):
            end = ends[node]
            if not node:
                continue
            while top < end or top <= start:
                stack.pop()
                top = ends[stack[-1]]
            if start < skipped or start == end:
                labels[node] = kinds[node] = 0
                continue
            if labels[node] & skip:
                skipped = end
                continue
            kids[stack[-1]].append(node)
            stack.append(node)
            top = end

    def unsay(self, node: int, kind: int) -> None:
        """Take a kind away from a node, which then is of the next one that it has."""
        self.labels[node] &= ~kind
        left = self.labels[node] & IS_KIND
        self.kinds[node] = left & -left  # the lowest bit

    def kind(self, node: int) -> int:
        """The bit of the kind of a node; 0 for one that only has a role."""
        return self.kinds[node]

    def text(self, node: int) -> str:
        """What stands there."""
        if self._ascii is not None:
            return self._ascii[self.start[node] : self.end[node]]
        return self.source[self.start[node] : self.end[node]].decode(errors="replace")

    def having(self, node: int, role: int) -> list[int]:
        """The nodes directly within that have a role."""
        labels = self.labels
        return [kid for kid in self.kids[node] if labels[kid] & role]

    def first(self, node: int, role: int) -> int:
        """The first of them, or -1."""
        labels = self.labels
        for kid in self.kids[node]:
            if labels[kid] & role:
                return kid
        return -1


def _gathered(captures: Mapping[str, Sequence[Node]]) -> tuple[Columns, list[int], list[int]]:
    """Return the spans of all captured nodes in order, each once, and the labels and the kind of each."""
    captured = {label: nodes for label, nodes in captures.items() if not label.startswith("_")}  # a predicate's own
    counts = [len(nodes) for nodes in captured.values()]
    total = sum(counts)
    if not total:
        return np.zeros(0, np.int64), [], []
    starts = np.fromiter(map(_START, chain.from_iterable(captured.values())), np.int64, total)
    ends = np.fromiter(map(_END, chain.from_iterable(captured.values())), np.int64, total)
    spans = starts << 32 | LAST - ends
    order = np.argsort(spans, kind="stable")
    ordered = spans[order]
    firsts = np.flatnonzero(np.diff(ordered, prepend=-1))
    numbers = np.repeat([_NUMBERS[label] for label in captured], counts)[order]
    labels: list[int] = []
    for first in range(0, len(_NUMBERS), WORD):
        here = (numbers >= first) & (numbers < first + WORD)
        word = np.bitwise_or.reduceat(np.where(here, 1 << numbers % WORD, 0), firsts)
        some = np.flatnonzero(word)
        labels = labels or [0] * len(word)
        for at, more in zip(some.tolist(), word[some].tolist(), strict=True):
            labels[at] |= more << first
    kinds = np.minimum.reduceat(np.where(numbers < len(ROLES), len(_NUMBERS), numbers), firsts) - len(ROLES)
    return ordered[firsts], labels, [_KIND_BITS[kind] for kind in kinds.tolist()]
