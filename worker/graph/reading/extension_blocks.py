"""Blocks of members that extend a type, `extension(A a) { int B() => c; }` of C# 14: each is `int B(this A a)`."""

from fledgling.worker.graph.reading.labels import BIND, BITS, BODY, DEFINED, IS_FUNCTION, IS_PARAM, WORD
from fledgling.worker.graph.reading.reduced import Reduced

CONSTRUCTOR, EXTENSION_OF = BITS["constructor"], BITS["extension_of"]
STATIC = b"static "
MAX_RECEIVER = 400  # bytes of a receiver that is put into each member of a block


def hand_out(tree: Reduced, word: str) -> set[int]:
    """Put what stands in such a block beside it, with its receiver; return the copies of that, which are no names.

    The grammar takes a block for a constructor of the name `extension`, and its members for functions within.
    """
    copies = set[int]()
    for node in range(len(tree.labels)):
        kids = tree.kids[node]
        blocks = [kid for kid in kids if tree.labels[kid] & CONSTRUCTOR and _is_block(tree, kid, word)]
        for block in blocks:
            place = kids.index(block)
            kids[place : place + 1] = _members(tree, block, copies)
    return copies


def _is_block(tree: Reduced, node: int, word: str) -> bool:
    named, receivers = tree.first(node, WORD), [kid for kid in tree.kids[node] if tree.kind(kid) == IS_PARAM]
    body = tree.first(node, BODY)
    has_members = body >= 0 and all(tree.kind(kid) == IS_FUNCTION for kid in tree.kids[body])
    if len(receivers) != 1 or tree.end[receivers[0]] - tree.start[receivers[0]] > MAX_RECEIVER:
        return False
    is_named = named >= 0 and tree.text(named) == word
    return is_named and has_members and tree.first(receivers[0], BIND) >= 0


def _members(tree: Reduced, block: int, copies: set[int]) -> list[int]:
    receiver = next(kid for kid in tree.kids[block] if tree.kind(kid) == IS_PARAM)
    tree.labels[receiver] |= EXTENSION_OF
    members = tree.kids[tree.first(block, BODY)]
    taking = [each for each in members if STATIC not in tree.source[tree.start[each] : tree.start[_name(tree, each)]]]
    for number, member in enumerate(taking):
        own = _copied(tree, receiver, copies) if number else receiver
        first = next((at for at, kid in enumerate(tree.kids[member]) if tree.kind(kid) == IS_PARAM), 0)
        tree.kids[member].insert(first, own)
    return members


def _name(tree: Reduced, function: int) -> int:
    return max(tree.first(function, DEFINED), function)


def _copied(tree: Reduced, node: int, copies: set[int]) -> int:
    """Another node that says the same."""
    kids = [_copied(tree, kid, copies) for kid in tree.kids[node]]
    copies.add(len(tree.labels))
    for column in (tree.labels, tree.kinds, tree.start, tree.end):
        column.append(column[node])
    tree.kids.append(kids)
    return len(tree.labels) - 1
