"""Calls that a grammar takes for calls of operations: of these Kotlin calls the last operand.

`a ?: b<C>(d)` reads as `(a ?: b)<C>(d)`, and `b<C>(d) == e` as two comparisons: `((b < C) > (d)) == e`.
"""

from fledgling.worker.graph.reading.labels import ARM, BITS, IS_CALL, IS_KIND, OF
from fledgling.worker.graph.reading.reduced import Reduced

APPLIED = BITS["applied"]
OPERATIONS = BITS["choice"] | BITS["sum"] | BITS["operation"]


def put_in_place(tree: Reduced, node: int) -> bool:
    """Let a call stand in its operation, if there is one; return whether there was."""
    of = tree.first(node, OF)
    if of >= 0 and tree.kinds[of] == IS_CALL and tree.kinds[tree.first(of, OF)] & (OPERATIONS | APPLIED):
        put_in_place(tree, of)  # a ?: b<C>(d) { e }
    holder = of if of >= 0 and tree.kinds[of] == APPLIED else node
    first = tree.kids[of][0] if holder == of else of
    if first < 0 or not tree.kinds[first] & OPERATIONS or len(tree.kids[first]) < 2:
        return False
    *before, last = tree.kids[first]
    is_arm = tree.labels[last] & ARM
    tree.labels[last] = tree.labels[last] & ~ARM | OF * (holder == node)
    others = [kid for kid in tree.kids[node] if kid not in (first, of)]
    if holder == of:
        tree.kids[of][0] = last
    tree.kids[first] = [last if holder == node else of, *others]
    tree.kids[node] = [*before, first]
    _swap(tree, node, first)
    tree.labels[first] = tree.labels[first] & IS_KIND | is_arm
    return True


def _swap(tree: Reduced, one: int, other: int) -> None:
    """Give each of two nodes the kinds of the other."""
    kinds, others = tree.labels[one] & IS_KIND, tree.labels[other] & IS_KIND
    tree.labels[one] = tree.labels[one] & ~IS_KIND | others
    tree.labels[other] = tree.labels[other] & ~IS_KIND | kinds
    tree.kinds[one], tree.kinds[other] = tree.kinds[other], tree.kinds[one]
