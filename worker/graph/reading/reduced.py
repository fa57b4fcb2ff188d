"""The part of a syntax tree that a query captures, as numbers: what no pattern names is not there.

A capture says what a node is (`@call`), or what it is to the node around it (`@of`). Nodes with the same span are one:
an expression and the statement that is nothing else.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter

import numpy as np
from tree_sitter import Node, Query, QueryCursor, Tree

from fledgling.worker.arrays import NDArray
from fledgling.worker.extracting.grammar import unknown
from fledgling.worker.graph.reading.labels import BITS, IS_GET, IS_KIND, KINDS, NUMBERS, ROLES

MATCH_LIMIT = 10_000  # matches in progress; bounds memory and time on what is nested or repeated without end
LAST = (1 << 32) - 1  # an end is stored as the distance to this, so that of two nodes the outer one sorts first

MAX_DEPTH = 150  # captured nodes within each other; what is deeper is listed, but nobody asks what it means
MAX_TREE_DEPTH = 1_000  # nodes of a tree within each other that a query sees: a pattern begun costs each node within
COLUMN_BITS = 62  # labels that fit one number of a column: it has 64 bits
Columns = NDArray[np.int64]
_KIND_BITS = [*(BITS[kind] for kind in KINDS), 0]
_START, _END = attrgetter("start_byte"), attrgetter("end_byte")


class Reduced:
    """A tree by columns: labels, start, end and the nodes within; node 0 is the whole text, the others are in order.

    `kinds` has the bit of the kind of each node; 0 for one that only has a role.
    """

    def __init__(self, source: bytes, tree: Tree, query: Query) -> None:
        self.source = source
        self._ascii = source.decode("ascii") if source.isascii() else None
        cursor = QueryCursor(query, match_limit=MATCH_LIMIT)
        cursor.set_max_start_depth(MAX_TREE_DEPTH)
        captures = cursor.captures(tree.root_node)
        is_cut = cursor.did_exceed_match_limit or _is_deeper(tree.root_node, MAX_TREE_DEPTH)
        self.complete = not (is_cut or any(True for _ in unknown(tree)))
        spans, labels, kinds = _gathered(captures)
        self.start = [0, *(spans >> 32).tolist()]
        self.end = [len(source) + 1, *(LAST - (spans & LAST)).tolist()]
        self.labels, self.kinds = [0, *labels], [0, *kinds]
        self.kids: list[list[int]] = [[] for _ in self.labels]
        self._nest()

    def count(self, kind: int) -> int:
        """How many nodes there are of a kind."""
        return sum(bool(own & kind) for own in self.kinds)

    def _nest(self) -> None:
        ends, labels, kids, kinds = self.end, self.labels, self.kids, self.kinds
        stack, top = [0], ends[0]
        skip, skipped = BITS["skip"], 0
        of_block, bare_block = BITS["of_block"], BITS["bare_block"]
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
            around = stack[-1]
            kids[around].append(node)
            if labels[node] & of_block and labels[around] & bare_block:
                labels[around] |= BITS["block"]
                kinds[around] = _lowest(labels[around] & IS_KIND)
            stack.append(node)
            top = end

    def unsay(self, node: int, kind: int) -> None:
        """Take a kind away from a node, which then is of the next one that it has."""
        self.labels[node] &= ~kind
        self.kinds[node] = _lowest(self.labels[node] & IS_KIND)

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

    def leaves(self, node: int) -> list[int]:
        """The nodes of the names of `a.b.c`, in order; anything else is one."""
        found, todo = list[int](), [node]
        while todo:
            at = todo.pop()
            if self.kinds[at] == IS_GET and self.kids[at]:
                todo += reversed(self.kids[at])
            else:
                found.append(at)
        return found


def _lowest(bits: int) -> int:
    return bits & -bits


def _is_deeper(root: Node, depth: int) -> bool:
    """Whether so many nodes stand within each other. What has too few within it is not looked into."""
    level = [root]
    for left in range(depth, -1, -1):
        level = [kid for node in level for kid in node.children if kid.descendant_count > left]
        if not level:
            return False
    return True


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
    numbers = np.repeat([NUMBERS[label] for label in captured], counts)[order]
    labels: list[int] = []
    for first in range(0, len(NUMBERS), COLUMN_BITS):
        here = (numbers >= first) & (numbers < first + COLUMN_BITS)
        word = np.bitwise_or.reduceat(np.where(here, 1 << numbers % COLUMN_BITS, 0), firsts)
        some = np.flatnonzero(word)
        labels = labels or [0] * len(word)
        for at, more in zip(some.tolist(), word[some].tolist(), strict=True):
            labels[at] |= more << first
    kinds = np.minimum.reduceat(np.where(numbers < len(ROLES), len(NUMBERS), numbers), firsts) - len(ROLES)
    return ordered[firsts], labels, [_KIND_BITS[kind] for kind in kinds.tolist()]
