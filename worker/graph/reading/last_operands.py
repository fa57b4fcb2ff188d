"""Calls that a grammar takes for calls of operations: of these the last operand is called.

`a ?: b<C>(d)` reads as `(a ?: b)<C>(d)`, what is asked of that, `.e()`, is asked of both, and `b<C>(d) == e` reads as
two comparisons: `((b < C) > (d)) == e`. In TypeScript `!b<C>(d)` reads as `(!b)<C>(d)`.
"""

from fledgling.worker.graph.reading.labels import BITS, IS_AWAIT, IS_CALL, IS_GET, IS_INDEX, IS_KIND
from fledgling.worker.graph.reading.reduced import Reduced

APPLIED = BITS["applied"]
OPERATIONS = BITS["choice"] | BITS["sum"] | BITS["operation"]
ASKING = IS_CALL | IS_GET | IS_INDEX | IS_AWAIT  # what stands behind a value


def put_in_place(tree: Reduced, node: int) -> bool:
    """Let a call, and what is asked of it, stand in its operation, if there is one; return whether there was."""
    chain = [node]  # a ?: b<C>(d).e(), a ?: b<C>(d).e, a ?: b<C>(d)
    while (first := _first(tree, chain[-1])) >= 0 and tree.kinds[first] & ASKING:
        chain.append(first)
    if first < 0 or tree.kinds[chain[-1]] != IS_CALL or not tree.kinds[first] & (OPERATIONS | APPLIED):
        return False
    return all(_is_exchanged(tree, at) for at in reversed(chain))


def _first(tree: Reduced, node: int) -> int:
    """The first node within one, if that begins where it does and no bracket is around it; else -1."""
    first = next(iter(tree.kids[node]), -1)
    return first if first >= 0 and tree.start[first] == tree.start[node] else -1


def _is_exchanged(tree: Reduced, node: int) -> bool:
    """Let what asks an operation ask its last operand; return whether it asks one."""
    of = tree.kids[node][0]
    is_applied = tree.kinds[of] == APPLIED
    first = tree.kids[of][0] if is_applied else of
    kids = tree.kids[first]
    if not tree.kinds[first] & OPERATIONS or not kids or _first(tree, first) == kids[-1]:  # a!!
        return False
    *before, last = tree.kids[first]
    others = tree.kids[node][1:]
    if is_applied:
        tree.kids[of][0] = last
    tree.kids[first] = [of if is_applied else last, *others]
    tree.kids[node] = [*before, first]
    _swap(tree, node, first, IS_KIND)
    _swap(tree, first, last, ~IS_KIND)
    tree.kinds[node], tree.kinds[first] = tree.kinds[first], tree.kinds[node]
    return True


def _swap(tree: Reduced, one: int, other: int, labels: int) -> None:
    """Give each of two nodes those of some labels that the other has."""
    differ = (tree.labels[one] ^ tree.labels[other]) & labels
    tree.labels[one] ^= differ
    tree.labels[other] ^= differ
