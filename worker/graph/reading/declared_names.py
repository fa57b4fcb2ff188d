"""Which names each scope of a text binds anywhere, found before it is read: uses further up mean them too."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from fledgling.worker.dialect import Dialect
from fledgling.worker.graph.reading.labels import BIND, BITS, BODY, DEFINED, SCOPES
from fledgling.worker.graph.reading.reduced import MAX_DEPTH, Reduced
from fledgling.worker.graph.tables import NONE


class DeclaredNames(NamedTuple):
    """Numbers of names by the node of the scope that binds them; `namespaces` by the number of the namespace's name.

    `items` are those that are no variables: functions, types, constants, imports. `outward` are bound further out:
    0 is in the module.
    """

    names: dict[int, set[int]]
    items: dict[int, set[int]]
    outward: dict[int, dict[int, int]]
    namespaces: dict[int, set[int]]


def declared_names(tree: Reduced, dialect: Dialect, name: Callable[[int], int]) -> DeclaredNames:
    """Find the names that the scopes of a text bind; `name` gives the number of the one at a node."""
    if dialect.prototypes:
        _declare_no_existing(tree)
    found = _declarations(tree, dialect, name)
    if dialect.bare_calls:
        _share_variables(tree, name, found.names)
    if dialect.prototypes:
        found.namespaces.update(_of_namespaces(tree, name, found.names))
    return found


def _declarations(tree: Reduced, dialect: Dialect, name: Callable[[int], int]) -> DeclaredNames:
    """Find the names that each scope binds anywhere."""
    functions, block, field = BITS["function"] | BITS["lambda"], BITS["block"], BITS["field"]
    outward, ends_module = BITS["outward"], BITS["global"]
    is_item = DEFINED | BITS["constant"]
    found = DeclaredNames({0: set()}, {}, {}, {})
    stack = [(0, 0, 0, 0, 0)]  # node, its scope, the scope around that, the function around, the scope of no class
    while stack:
        node, scope, around, function, free = stack.pop()
        labels = tree.labels[node]
        if labels & SCOPES:
            scope, around = node, scope
            found.names[node] = set()
            function = function if labels & (block | BITS["comprehension"]) else node
            free = free if labels & BITS["class"] else node
        outer = around if labels & SCOPES else scope
        for kid in tree.kids[node]:
            of_kid = tree.labels[kid]
            if of_kid & BODY and labels & (functions | BITS["namespace"]):  # the block is the function's own scope
                tree.unsay(kid, block)
                of_kid = tree.labels[kid]
            if of_kid & BIND and labels & field and dialect.structural:  # see Builder.show()
                pass
            elif of_kid & (BIND | DEFINED):
                of = _holder(of_kid, scope, outer, function, free)
                first = tree.leaves(kid)[0] if of_kid & DEFINED else kid
                found.names[of].add(name(first))
                if of_kid & is_item:
                    found.items.setdefault(of, set()).add(name(kid))
            elif of_kid & outward:
                found.outward.setdefault(scope, {})[name(kid)] = 0 if labels & ends_module else 1
            if tree.kids[kid] or of_kid & SCOPES:
                stack.append((kid, scope, around, function, free))
    return found


def _holder(labels: int, scope: int, outer: int, function: int, free: int) -> int:
    """Which of some scopes a name with some labels stands in: what a struct of C holds that is no field, `free`."""
    if labels & BITS["of_no_class"]:
        return free
    if labels & DEFINED:
        return outer
    return function if labels & BITS["hoisted"] else scope


def _share_variables(tree: Reduced, name: Callable[[int], int], names: dict[int, set[int]]) -> None:
    """Let a block of Ruby have no variable of its own of a name that has a value before it, around it."""
    parameter = BITS["param"]
    held: dict[int, set[int]] = {node: set() for node in names}
    around: dict[int, int] = {}
    within = [(tree.end[0], 0, False)]  # what is read: its end, its scope, whether it is a parameter
    for node, labels in enumerate(tree.labels):  # in the order of the text
        if not node or not labels & (BIND | parameter | SCOPES):
            continue
        while within[-1][0] <= tree.start[node]:
            within.pop()
        _, scope, is_given = within[-1]
        is_given = is_given or bool(labels & parameter)
        if labels & BIND and (own := name(node)) not in held[scope]:
            if not is_given and any(own in held[at] for at in _beyond(tree, scope, around)):
                names[scope].discard(own)
            else:
                held[scope].add(own)
        if labels & SCOPES:
            around[node] = scope
        within.append((tree.end[node], node, False) if labels & SCOPES else (tree.end[node], scope, is_given))


def _beyond(tree: Reduced, scope: int, around: Mapping[int, int]) -> Iterator[int]:
    """The nodes of the scopes around one whose variables a block in there sees, the innermost first."""
    for _ in range(MAX_DEPTH):
        if not tree.labels[scope] & BITS["lambda"]:
            break
        scope = around[scope]
        yield scope


def _declare_no_existing(tree: Reduced) -> None:
    """Let what gives values to names that are bound elsewhere declare none: `[a] = b`."""
    todo = [node for node, labels in enumerate(tree.labels) if labels & BITS["existing"]]
    while todo:
        kids = [kid for kid in tree.kids[todo.pop()] if not tree.labels[kid] & SCOPES]
        for kid in kids:
            tree.unsay(kid, BIND)
        todo += kids


def _of_namespaces(tree: Reduced, name: Callable[[int], int], names: dict[int, set[int]]) -> dict[int, set[int]]:
    """The names in each namespace that several places make up."""
    found = dict[int, list[set[int]]]()
    for node, held in names.items():
        if tree.kind(node) == BITS["namespace"] and (own := tree.first(node, DEFINED)) != NONE:
            path = [name(leaf) for leaf in tree.leaves(own)]
            for part, inner in pairwise(path):  # namespace A.B {}
                found.setdefault(part, []).append({inner})
            found.setdefault(path[-1], []).append(held)
    return {name: set().union(*parts) for name, parts in found.items() if len(parts) > 1}
