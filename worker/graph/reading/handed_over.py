"""What calls hand over: arguments in order, by names, and what is unpacked: `a(b, c=d, *e)`."""

from typing import NamedTuple

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.labels import (
    ARG,
    ARGS,
    INIT,
    IS_CLASS,
    IS_KEYWORD,
    IS_SPREAD,
    IS_SPREAD_WORDS,
    TYPE,
    VALUE,
    WORD,
)
from fledgling.worker.graph.reading.object_literals import name_key
from fledgling.worker.graph.tables import NONE, Flag, Site, Use


class HandedOver(NamedTuple):
    """What a call hands over: in order, by names, and where these names stand; some places and names are `typed`."""

    arguments: list[int]
    words: list[tuple[int, int]]
    sites: list[Site]
    typed: tuple[str, ...] = ()

    def put(self, call: int) -> int:
        """Let the names of the arguments be those of a call, which says what they mean; return that."""
        for site in self.sites:
            site.at = call
        return call


def read_part(builder: Builder, node: int, function: int, given: HandedOver) -> int:
    """Read what stands beside the function of a call; return what is called."""
    tree = builder.tree
    labels = tree.labels[node]
    if labels & ARGS and not labels & ARG:
        for argument in tree.kids[node]:
            add_argument(builder, argument, given)
    elif labels & (ARG | ARGS):
        add_argument(builder, node, given)
    elif not labels & INIT:
        value = builder.visit(node, Use.TYPE if labels & TYPE else Use.READ)
        if tree.kind(node) == IS_CLASS:  # new A() { ... }
            builder.scopes[builder.expressions[value][1]].bases = [function]
            return value
    return function


def add_argument(builder: Builder, node: int, given: HandedOver) -> None:
    """Read an argument."""
    tree = builder.tree
    arguments, words, sites, typed = given
    kind = tree.kind(node)
    if kind == IS_KEYWORD:
        word = tree.first(node, WORD)
        is_type = bool(typed) and tree.text(word) in typed
        if builder.literal != NONE:
            name_key(builder, word)
        value = builder.visit(tree.first(node, VALUE), Use.TYPE if is_type else Use.READ)
        before = len(builder.sites)
        if builder.literal == NONE:
            builder.site(word, Use.KEYWORD, 0)
        sites += builder.sites[before:]  # a broken text may lack it
        words.append((builder.name(word), value))
    elif kind == IS_SPREAD:
        builder.scopes[builder.frame].flags |= Flag.UNPACKS | Flag.SPREADS
        arguments.append(~builder.visit(tree.first(node, VALUE)))
    elif kind == IS_SPREAD_WORDS:
        builder.scopes[builder.frame].flags |= Flag.UNPACKS
        words.append((NONE, builder.visit(tree.first(node, VALUE))))
    else:
        is_type = str(len(arguments)) in typed and min(arguments, default=0) >= 0  # `*a` may be any number of places
        arguments.append(builder.visit(node, Use.TYPE if is_type else Use.READ))
        if builder.literal != NONE and tree.labels[node] & WORD:  # A { b }
            name_key(builder, node)


@visits("keyword", "spread", "spread_words")
def inner_value(builder: Builder, node: int, _use: int) -> int:
    """An argument that stands where none is expected: `metaclass=M`, `*rest`."""
    word = builder.tree.first(node, WORD)
    if word != NONE:
        builder.site(word, Use.KEYWORD, 0)
    return builder.optional(builder.tree.first(node, VALUE))
