"""Type parameters that stand before what they are for, `template <class T> void f(T a)`: names in that alone."""

from fledgling.worker.graph.reading.labels import BIND, BITS, DEFINED, IS_ASSIGN, LEFT, RIGHT, SCOPES, VALUE
from fledgling.worker.graph.reading.reduced import Reduced

ATTRIBUTE, TEMPLATED, BLOCK, TYPE_ALIAS = (BITS[label] for label in ("attribute", "templated", "block", "type_alias"))


def take_in(tree: Reduced) -> list[tuple[int, int]]:
    """Put them into the functions, classes and aliases behind them; return these, each with what it begins with."""
    found = []
    heads = {node for node, kind in enumerate(tree.kinds) if kind == ATTRIBUTE and tree.labels[node] & TEMPLATED}
    for kids in [kids for kids in tree.kids if not heads.isdisjoint(kids)] if heads else ():
        left, before = list[int](), list[int]()
        for node in kids:
            if node in heads:
                before.append(node)
                continue
            if before and tree.labels[node] & TEMPLATED and _is_scope(tree, node):
                found.append((node, before[0]))
                for head in before:
                    tree.unsay(head, ATTRIBUTE)
                tree.kids[node][:0] = before
            else:
                left += before
            left.append(node)
            before = []
        kids[:] = left + before
    return found


def _is_scope(tree: Reduced, node: int) -> bool:
    """Whether what stands there has names of its own; what is no more than declared, `struct A;`, has no other."""
    kind = tree.kind(node)
    if tree.labels[node] & SCOPES:
        return True
    if kind == IS_ASSIGN and (left := tree.first(node, LEFT)) >= 0 and tree.first(node, RIGHT) >= 0:  # using A = B<T>;
        tree.labels[left] = tree.labels[left] & ~BIND | DEFINED
        tree.labels[tree.first(node, RIGHT)] |= VALUE
        tree.labels[node] |= TYPE_ALIAS
        tree.kinds[node] = TYPE_ALIAS
    elif not kind or tree.first(node, DEFINED) >= 0:  # void f(T a);
        tree.labels[node] |= BLOCK
        tree.kinds[node] = BLOCK
    return bool(tree.labels[node] & SCOPES)
