r"""Texts of several namespaces without brackets, `namespace A; ... namespace B; ...`: each goes on to the next one."""

from fledgling.worker.graph.reading.labels import BITS, BODY, DEFINED, MODULE, VALUE
from fledgling.worker.graph.reading.reduced import Reduced

PACKAGE, NAMESPACE = BITS["package"], BITS["namespace"]


def enclose(tree: Reduced) -> None:
    """Put what follows each of several packages into it, as a namespace with brackets has it."""
    top = tree.kids[0]
    places = [place for place, node in enumerate(top) if tree.kind(node) == PACKAGE and tree.first(node, MODULE) < 0]
    if len(places) < 2:
        return
    for place, end in reversed([*zip(places, [*places[1:], len(top)], strict=True)]):
        node, inner = top[place], top[place + 1 : end]
        for name in tree.having(node, VALUE):
            tree.labels[name] = tree.labels[name] & ~VALUE | DEFINED
        tree.labels[node] = tree.labels[node] & ~PACKAGE | NAMESPACE
        tree.kinds[node] = NAMESPACE
        tree.kids[node].append(len(tree.labels))
        tree.start.append(tree.end[node])
        tree.end[node] = tree.end[inner[-1]] if inner else tree.end[node]
        tree.end.append(tree.end[node])
        tree.labels.append(BODY)
        tree.kinds.append(0)
        tree.kids.append(inner)
        del top[place + 1 : end]
