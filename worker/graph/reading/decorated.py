"""What stands above a definition: `@a`, `#[a]`."""

from collections.abc import Sequence

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.class_definitions import KINDS_OF_CLASS, define_class
from fledgling.worker.graph.reading.definitions import define_function
from fledgling.worker.graph.reading.labels import BITS, DEFINED, IS_FUNCTION, VALUE, WORD
from fledgling.worker.graph.tables import NONE, Flag, Op, Site, Use

DECORATOR, COMPILED, SKIP = BITS["decorator"], BITS["compiled"], BITS["skip"]


@visits("decorated")
def decorated(builder: Builder, node: int, _use: int) -> int:
    """`@a` above a definition."""
    tree = builder.tree
    before = len(builder.sites)
    decorators = [builder.visit(kid, Use.DECORATOR) for kid in tree.having(node, DECORATOR)]
    asked = [site for site in builder.sites[before:] if builder.expressions[site.at][0] == Op.FIXTURE]
    for kid, decorator in zip(tree.having(node, DECORATOR), decorators, strict=True):
        if builder.expressions[decorator][0] == Op.CALL:
            builder.site_of_call(kid, builder.add(Op.CALL, decorator, [], []))
    value = 0
    for kid in tree.kids[node]:
        if tree.kind(kid) == IS_FUNCTION:
            _go_on_defining(builder, kid, decorators, before)
            value = define_function(builder, kid, decorators, builder.line(node))
        elif tree.kind(kid) in KINDS_OF_CLASS:
            value = define_class(builder, kid, decorators, builder.line(node))
        elif not tree.labels[kid] & DECORATOR:
            builder.begin(kid, node)
            value = builder.visit(kid)
    op, *parts = builder.expressions[value]
    op, *parts = builder.expressions[parts[0]] if op == Op.DECORATED else (op, *parts)
    for site in asked if op in (Op.FUNCTION, Op.CLASS) else ():  # `@usefixtures("a")`: what it stands above gets it
        site.scope = parts[0]
    return value


def _go_on_defining(builder: Builder, function: int, decorators: Sequence[int], first: int) -> None:
    """Let the property that `@a.setter` names above a function of its name be defined there, and not read."""
    defined = builder.name(builder.tree.first(function, DEFINED))
    for decorator in decorators:
        op, *parts = builder.expressions[decorator]
        is_part = op == Op.GET and builder.flag(decorator) & Flag.SETTER
        for site in builder.sites[first:] if is_part else ():
            if site.at == parts[0] and site.name == defined and builder.expressions[site.at][0] == Op.NAME:
                site.use = Use.DEFINITION


@visits("attribute")
def attribute(builder: Builder, node: int, _use: int) -> int:
    """`#[a]` before a definition, which begins there."""
    tree = builder.tree
    further = (at for at in range(node + 1, len(tree.start)) if tree.labels[at] and not tree.labels[at] & SKIP)
    behind = next((at for at in further if tree.start[at] >= tree.end[node]), NONE)
    builder.begins[behind] = builder.first_line(node)
    if tree.labels[node] & COMPILED or node in builder.perhaps:
        builder.perhaps.add(behind)
    builder.visit_all(node)
    return 0


@visits("annotation")
def annotation(builder: Builder, node: int, _use: int) -> int:
    """`[A]`, `[B.A(c)]`, `[A<B>]`: the class A or AAttribute; a use of each, where that is one."""
    builder.tree.unsay(node, BITS["annotation"])
    is_alone = bool(builder.tree.kind(node))  # there is no more than the name
    of, *arguments = [node] if is_alone else builder.tree.kids[node] or [NONE]
    before, made = len(builder.sites), 0
    at = builder.visit(of, Use.TYPE)
    op, *parts = builder.expressions[at]
    if op == Op.INDEX:
        at = parts[0]
        op, *parts = builder.expressions[at]
    if op in (Op.BARE, Op.GET):
        short = parts[0] if op == Op.BARE else parts[1]
        name = builder.named(builder.text_of(short) + builder.dialect.attribute_ends)
        longer = builder.use_name(name) if op == Op.BARE else builder.add(Op.GET, parts[0], name)
        builder.mean_type(longer)
        builder.apply(longer, *parts[4:])
        named = builder.add(Op.ANNOTATION, at)
        made = builder.add(Op.NEW, builder.add(Op.CHOICE, [named, longer]), [], [])
        for site in builder.sites[before:]:
            if (site.name, site.at) == (short, at):
                site.at = named
                builder.sites.append(Site(site.line, site.column, name, site.use, longer, site.scope))
    for argument in arguments:
        word = builder.tree.first(argument, WORD)
        if word == NONE:
            builder.visit(argument)
            continue
        builder.site(word, Use.WRITE, builder.add(Op.GET, made, builder.name(word)))  # `[A(B = c)]`
        builder.optional(builder.tree.first(argument, VALUE))
    return 0
