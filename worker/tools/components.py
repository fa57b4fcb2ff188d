"""What imports each other in circles, and what stands on what: of any graph, in time linear in its edges."""

from collections.abc import Collection, Iterator, Mapping
from typing import TypeVar

Node = TypeVar("Node", str, int)
Edges = Mapping[Node, Collection[Node]]


def components(edges: Edges[Node]) -> list[list[Node]]:
    """Return the strongly connected components of a graph, each behind those that it leads to.

    See Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1(2), 1972.

    >>> components({"a": ["b"], "b": ["a", "c"], "c": []})
    [['c'], ['b', 'a']]
    """
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    open_: list[Node] = []
    is_open: set[Node] = set()
    found: list[list[Node]] = []
    for root in edges:
        if root in index:
            continue
        at_work: list[tuple[Node, Iterator[Node]]] = [(root, iter(edges.get(root, ())))]
        index[root] = low[root] = len(index)
        open_.append(root)
        is_open.add(root)
        while at_work:
            node, rest = at_work[-1]
            following = next(rest, None)
            if following is None:
                at_work.pop()
                if at_work:
                    low[at_work[-1][0]] = min(low[at_work[-1][0]], low[node])
                if low[node] == index[node]:
                    found.append(_closed(open_, is_open, node))
            elif following not in index:
                index[following] = low[following] = len(index)
                open_.append(following)
                is_open.add(following)
                at_work.append((following, iter(edges.get(following, ()))))
            elif following in is_open:
                low[node] = min(low[node], index[following])
    return found


def _closed(open_: list[Node], is_open: set[Node], last: Node) -> list[Node]:
    closed = [open_.pop()]
    while closed[-1] != last:
        closed.append(open_.pop())
    is_open.difference_update(closed)
    return closed


def layers(edges: Edges[Node]) -> list[list[Node]]:
    """Return the nodes in layers, on top those that nothing stands on; what is in one circle is in one layer.

    >>> layers({"app": ["core"], "core": ["util"], "util": [], "cli": ["util"]})
    [['app'], ['cli', 'core'], ['util']]
    """
    height: dict[Node, int] = {}
    for circle in components(edges):
        below = [height[other] for node in circle for other in edges.get(node, ()) if other in height]
        height |= dict.fromkeys(circle, max(below, default=-1) + 1)
    levels: list[list[Node]] = [[] for _ in range(max(height.values(), default=-1) + 1)]
    for node in sorted(height):
        levels[-1 - height[node]].append(node)
    return levels


def circles(edges: Edges[Node], *, with_own: bool = False) -> list[list[Node]]:
    """Return what leads to itself by way of others or, `with_own`, at once; sorted.

    >>> circles({"a": ["b"], "b": ["a"], "c": ["c"]})
    [['a', 'b']]
    """
    found = [sorted(each) for each in components(edges)]
    return sorted(each for each in found if len(each) > 1 or (with_own and each[0] in edges.get(each[0], ())))
