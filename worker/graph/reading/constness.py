"""What C++ says of what a name holds: whether a method may change it, `A &a`, or not, `const A &a`."""

import re

from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.reading.labels import BODY
from fledgling.worker.graph.tables import CHANGED, KEPT, NONE

FAR = 200  # bytes before a name in which its type begins
WORDS = re.compile(rb"\w+")
CONSTANT = frozenset([b"const", b"constexpr"])


def note_constness(builder: Builder, node: int, name: int, first: int) -> None:
    """Note what a declaration says of what its name holds, for the bindings from the first one on."""
    if builder.dialect.constant_methods and len(builder.bindings) > first and (how := said_before(builder, node, name)):
        builder.constness += [(binding, how) for binding in range(first, len(builder.bindings))]


def said_before(builder: Builder, node: int, name: int) -> int:
    """What a declaration says before a name that stands in it."""
    end = builder.tree.start[name]
    return constness(builder.tree.source[max(builder.tree.start[node], end - FAR) : end], builder.dialect.pointers)


def gives_place(builder: Builder, node: int, name: int) -> bool:
    """Whether what a function gives lasts, `A &a()`, or is not seen to be made for it, `auto a()`."""
    tree = builder.tree
    body = tree.first(node, BODY)
    end = tree.end[node] if body == NONE else tree.start[body]
    behind = tree.source[tree.end[name] : min(end, tree.end[name] + FAR)].rpartition(b"->")
    said = behind[2] if behind[1] else tree.source[max(tree.start[node], tree.start[name] - FAR) : tree.start[name]]
    said = said.strip()
    return (said.endswith((b"&", b"*")) and not said.endswith(b"&&")) or b"auto" in WORDS.findall(said)


def constness(said: bytes, pointers: tuple[str, ...]) -> int:
    """What stands before a name says of what that holds or points to; 0 where it is as what it is a part of.

    >>> [constness(said, ("shared_ptr",)) == KEPT for said in (b"const A &", b"A const *", b"shared_ptr<const A> ")]
    [True, True, True]
    >>> [constness(said, ("shared_ptr",)) == CHANGED for said in (b"A *const ", b"mutable A ", b"shared_ptr<A> ")]
    [True, True, True]
    >>> constness(b"vector<const A *> ", ()), constness(b"auto &", ())
    (0, 0)
    """
    before, _, rest = said.partition(b"<")
    applied, _, behind = rest.rpartition(b">")
    words = WORDS.findall(before)
    if applied and words and words[-1].decode(errors="replace") in pointers:
        outer = applied.partition(b",")[0] + b"*"
    else:
        outer = before + b" " + behind
    words = WORDS.findall(outer.rpartition(b"*")[0] if b"*" in outer else outer)
    if b"mutable" in words:
        return CHANGED
    if not CONSTANT.isdisjoint(words):
        return KEPT
    return CHANGED if (b"*" in outer or b"&" in outer) and b"auto" not in words else 0
