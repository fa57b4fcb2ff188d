"""Objects that are written out: what their fields get, and the elements of composite literals."""

from collections.abc import Sequence

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.labels import ARGS, INIT, IS_KEYWORD, KEY, OF, TYPE, VALUE, WORD
from fledgling.worker.graph.reading.targets import field_named
from fledgling.worker.graph.tables import NONE, Op, Use


@visits("changed")
def changed(builder: Builder, node: int, _use: int) -> int:
    """`a with { B = c }`: what a is, of which fields get other values."""
    of = builder.tree.first(node, OF)
    at = builder.visit(of)
    fill(builder, [kid for kid in builder.tree.kids[node] if kid != of], at)
    return at


def fill_made(builder: Builder, node: int, made: int) -> None:
    """Read what an object is filled with that was made just now: `new A(b) { C = d }`."""
    for kid in builder.tree.having(node, INIT):
        fill(builder, builder.tree.kids[kid], made)


def fill(builder: Builder, nodes: Sequence[int], of: int) -> None:
    """Read what fields of an expression get, `{ B = c, D = { E = f } }`, or what is put into it: `{ a, [b] = c }`.

    What a field holds is told by its type.
    """
    tree = builder.tree
    for node in nodes:
        word, given = tree.first(node, WORD), tree.first(node, VALUE)
        if word == NONE:
            builder.visit(node)
            continue
        name = builder.name(word)
        field = builder.add(Op.GET, of, name)
        builder.site(word, Use.WRITE, field)
        if given != NONE and tree.labels[given] & INIT:
            fill(builder, tree.kids[given], field)
        else:
            builder.visit(given)


def literal_of(builder: Builder, op: int, function: int) -> int:
    """What the keys are asked of that an object is written out with: of Rust a type or a variant."""
    if op != Op.NEW or not builder.dialect.plain_fields:
        return NONE
    return function if builder.dialect.crates else builder.add(Op.DECLARED, function, NONE)


def name_key(builder: Builder, word: int) -> None:
    """Read `b` of `A{b: c}`, a field; in Go it may be a value, where A turns out to be a map."""
    literal = 0 if builder.literal == NONE else builder.literal  # a half-written text may have a key and no object
    if builder.dialect.crates:
        field_named(builder, word, 0, literal)
    else:
        builder.site(word, Use.KEYWORD, literal)
    if builder.dialect.embeds:
        builder.visit(word)


@visits("composite")
def composite(builder: Builder, node: int, _use: int) -> int:
    """`[]A{b}`, `struct{ b A }{b: c}`, and `{b}` in such a one, of a type that is not named again."""
    tree = builder.tree
    type_ = builder.optional(tree.first(node, TYPE), Use.TYPE)
    literal = builder.literal
    if type_ != NONE:
        builder.literal = builder.add(Op.DECLARED, type_, NONE)
    elif literal != NONE:
        builder.literal = builder.add(Op.ELEMENT, 0 if tree.labels[node] & KEY else literal)  # not of a key's type
    for args in tree.having(node, ARGS) or [node]:
        for kid in tree.kids[args]:
            word = tree.first(kid, WORD) if tree.kind(kid) == IS_KEYWORD else NONE
            if word != NONE and (type_ == NONE or builder.expressions[type_][0] == Op.CLASS):
                name_key(builder, word)
            elif word != NONE:
                builder.visit(word)
            builder.visit(tree.first(kid, VALUE) if word != NONE else kid)
    builder.literal = literal
    return builder.add(Op.CAST, max(type_, 0), 0)
