"""How elements of JSX are read: `<A b={c} />` calls A with an object of what it is given."""

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.labels import BITS, IS_NAME, IS_PAIR, KEY, OF, TYPE, VALUE
from fledgling.worker.graph.reading.literals import written_out
from fledgling.worker.graph.tables import MADE, NONE, Op, Site, Use

ENDED = BITS["ended"]


@visits("element")
def element(builder: Builder, node: int, _use: int) -> int:
    """`<A b={c}>`, `<A.B />`, `</A>`; `<a>` is of the language."""
    tree = builder.tree
    of = tree.first(node, OF)
    if of == NONE:  # <>
        return MADE
    if tree.kind(of) == IS_NAME and tree.text(of)[:1].islower():
        builder.site(of, Use.KEYWORD, 0)
        given(builder, node, of)
    elif tree.labels[node] & ENDED:
        builder.visit(of)
    else:
        function, site = builder.visit(of, Use.CALL), len(builder.sites) - 1
        at = builder.add(Op.CALL, function, [given(builder, node, of)], [])
        if builder.sites[site].at == function:
            builder.sites[site].at = at
    return MADE


def given(builder: Builder, node: int, of: int) -> int:
    """The object of what an element is given."""
    tree = builder.tree
    pairs: list[tuple[int, int]] = []
    keys: list[Site] = []
    for kid in tree.kids[node]:
        if tree.kind(kid) == IS_PAIR:
            key, value = tree.first(kid, KEY), builder.optional(tree.first(kid, VALUE))
            if tree.kids[key]:  # a:b
                builder.has_read(key)
            else:
                builder.site(key, Use.KEYWORD, 0)
                keys.append(builder.sites[-1])
            pairs.append((builder.add(Op.TEXT, builder.key_name(key)), max(value, 0)))
        elif tree.labels[kid] & TYPE:
            builder.visit(kid, Use.TYPE)
        elif kid != of:
            pairs.append((NONE, builder.visit(kid)))
    return written_out(builder, pairs, keys)
