"""How each kind of statement changes what names mean."""

from collections.abc import Sequence
from functools import partial

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.call_expressions import of_type
from fledgling.worker.graph.reading.constness import note_constness
from fledgling.worker.graph.reading.expressions import of_brackets
from fledgling.worker.graph.reading.flow import BREAK, CONTINUE, LABELLED
from fledgling.worker.graph.reading.labels import (
    ARM,
    BITS,
    BODY,
    COND,
    IS_GET,
    IS_KIND,
    IS_NAME,
    LEFT,
    OPTIONAL,
    OTHERWISE,
    OVER,
    TYPE,
    VALUE,
    WORD,
)
from fledgling.worker.graph.reading.made_members import note_class
from fledgling.worker.graph.reading.narrowing import condition, hold_asserted, narrow, refuted_by
from fledgling.worker.graph.reading.signs import note_each
from fledgling.worker.graph.reading.targets import target
from fledgling.worker.graph.reading.told_types import comment_before, told_type
from fledgling.worker.graph.tables import MADE, NONE, Flag, Op, ScopeKind, Use

REFUTED = BITS["refuted"]
IS_ITEM, IS_BLOCK, IS_ASYNC = BITS["item_with"], BITS["block"], BITS["async"]


def arms(
    builder: Builder, nodes: list[int], narrowed: list[tuple[int, int]], values: list[int]
) -> list[tuple[dict, bool]]:  # type: ignore[type-arg]
    """Read each of some arms by itself; where the first one runs, names are `narrowed`. Note what they give."""

    def run(node: int, narrowed: list[tuple[int, int]]) -> None:
        narrow(builder, narrowed)
        value = builder.body(node)
        if not builder.flow.is_dead:
            values.append(value)

    found = []
    for place, node in enumerate(nodes):
        found.append(builder.flow.arm(lambda node=node, place=place: run(node, [] if place else narrowed)))  # type: ignore[misc]
    return found


def any_of(builder: Builder, values: list[int]) -> int:
    """What a statement gives that has run one of several parts, in languages where it gives anything."""
    known = [value for value in values if value > MADE]
    if not builder.dialect.gives_last or not known:
        return 0
    found = builder.add(Op.CHOICE, known) if len(known) > 1 else known[0]
    return found if all(values) else builder.add(Op.UNSURE, found)


@visits("block")
def block(builder: Builder, node: int, _use: int) -> int:
    """`{ a; b }` where it has names of its own."""
    tree = builder.tree
    flags = int(Flag.IMPLICIT) if tree.labels[node] & BITS["implicit"] else 0
    flags |= int(Flag.SINGLE) if tree.labels[node] & BITS["single"] else 0  # constructor() : this(a())
    flags |= int(Flag.SINGLE | Flag.HEADED) if tree.labels[node] & BITS["head"] else 0  # class A(b: B) : C(b)
    flags |= int(Flag.STATIC) if tree.labels[node] & BITS["static"] else 0  # object A : B(c())
    note_class(builder, flags, node)
    builder.enter(node, ScopeKind.BLOCK, NONE, builder.line(node), flags)
    if tree.labels[node] & (IS_KIND & ~IS_BLOCK):  # what a loop goes over or a condition takes has a name in it alone
        tree.unsay(node, IS_BLOCK)
        builder.visit(node)
        found = 0
    else:
        found = builder.visit_all(node)
    builder.leave()
    return found if builder.dialect.gives_last else 0


@visits("asserted")
def asserted(builder: Builder, node: int, _use: int) -> int:
    """`assert($a instanceof B);`: what is asserted holds from there on."""
    builder.visit_all(node)
    hold_asserted(builder, node)
    return 0


@visits("branch")
def branch(builder: Builder, node: int, _use: int) -> int:
    """`if a: b elif c: d else: e`, `a if b` of Ruby"""
    tree = builder.tree
    if len(tree.kids[node]) == 2 and tree.labels[tree.kids[node][1]] & COND:
        tree.kids[node].reverse()
    found = []
    values: list[int] = []
    narrowed: list[tuple[int, int]] = []
    refuted: list[tuple[int, int]] = []
    behind: list[tuple[int, int]] = []  # what holds where no arm that ends here has run
    closed = False
    for kid in tree.kids[node]:
        labels = tree.labels[kid]
        if labels & COND:
            narrowed, refuted = condition(builder, kid), refuted_by(builder, kid)
        elif labels & ARM:
            closed = closed or bool(labels & OTHERWISE)
            held = refuted if labels & OTHERWISE else [] if labels & REFUTED else narrowed
            found += arms(builder, [kid], held, values)
            behind = (narrowed if labels & REFUTED else refuted) if found[-1][1] and len(found) == 1 else []
        else:
            builder.visit(kid)
    builder.flow.join(found, optional=not closed)
    narrow(builder, behind)
    return any_of(builder, values)


def pair_of(builder: Builder, left: int, over: int, element: int) -> int:
    """What a loop gives at each turn: an element, or, where the language does so, its place or key and the element."""
    if not builder.dialect.loops_over_pairs:
        return element
    if builder.tree.kind(left) == IS_NAME:
        return builder.add(Op.RECEIVED, over)
    return builder.add(Op.TUPLE, [builder.add(Op.RECEIVED, over), element])


@visits("loop")
def loop(builder: Builder, node: int, _use: int) -> int:
    """`for a in b: c`, `async for a in b: c`, `while a: b`; in a comprehension without a body."""
    tree = builder.tree
    over, left, body = tree.first(node, OVER), tree.first(node, LEFT), tree.first(node, BODY)
    builder.scopes[builder.frame].flags |= Flag.OPERATES * (over == NONE)
    element = NONE
    if over != NONE:
        value = builder.gone_over.pop(over, NONE)
        value = builder.visit(over) if value == NONE else value
        element = builder.add(Op.ELEMENT, value, *([True] if tree.labels[node] & IS_ASYNC else ()))
        builder.site_of_call(over, element)
        note_each(builder, over, value)
        element = pair_of(builder, left, value, element)
        if tree.first(node, TYPE) != NONE:
            type_ = of_brackets(builder, node, builder.visit(tree.first(node, TYPE), Use.TYPE))
            element = builder.add(Op.DECLARED, type_, element)
        told = told_type(builder, comment_before(builder, node), "var", "" if left == NONE else tree.text(left))
        element = element if told == NONE else builder.add(Op.CAST, told, element)

    held = list[tuple[int, int]]()

    def run() -> None:
        held.clear()
        for kid in tree.kids[node]:
            if kid == left:
                first = len(builder.bindings)
                target(builder, left, max(element, 0))
                note_constness(builder, node, left, first)
            elif kid == body:
                narrow(builder, held)
                builder.body(body)
            elif kid != over and not tree.labels[kid] & (OTHERWISE | TYPE):
                held.extend(condition(builder, kid))

    if body == NONE:
        run()
        return 0
    has_break = builder.flow.loop(run)
    for kid in tree.having(node, OTHERWISE):
        builder.flow.join([builder.flow.arm(partial(builder.body, kid))], optional=has_break)
    return 0


@visits("break", "continue")
def leap(builder: Builder, node: int, _use: int) -> int:
    """`break`, `continue a`: what holds here may hold behind the loop; `next a` of Ruby: what a block gives."""
    has_label = False
    for kid in builder.tree.kids[node]:
        given = builder.visit(kid)
        if not builder.tree.labels[kid] & VALUE:
            has_label = True
        elif builder.scopes[builder.frame].kind == ScopeKind.LAMBDA:
            builder.scopes[builder.frame].returned.append(given)
    builder.flow.leaps |= LABELLED if has_label else BREAK if builder.tree.kind(node) == BITS["break"] else CONTINUE
    builder.flow.is_dead = True
    return 0


@visits("labelled")
def labelled(builder: Builder, node: int, _use: int) -> int:
    """`a: { b; break a; c }`"""
    layer, dead, _ = builder.flow.leaving(partial(builder.body, builder.tree.first(node, BODY)), 0)
    builder.flow.join([(layer, dead)], optional=False)
    return 0


@visits("with")
def with_(builder: Builder, node: int, _use: int) -> int:
    """`with a as b: c`"""
    tree = builder.tree
    for kid in tree.kids[node]:
        if not tree.labels[kid] & BODY:
            builder.visit(kid)
        elif tree.labels[node] & OPTIONAL:  # what is raised in there ends it: `with suppress(A): b`
            begun = len(builder.flow.given)
            layer, _ = builder.flow.arm(partial(builder.body, kid))
            builder.flow.join([(builder.flow.left_early(begun, layer), False)], optional=True)
        else:
            builder.body(kid)
    return 0


@visits("within")
def within(builder: Builder, node: int, _use: int) -> int:
    """`with (a) { b }`: b may be a member of a."""
    body = builder.tree.first(node, BODY)
    for kid in builder.tree.kids[node]:
        if kid != body:
            builder.visit(kid)
    builder.within += 1
    builder.body(body)
    builder.within -= 1
    return 0


@visits("item_with")
def item_with(builder: Builder, node: int, _use: int) -> int:
    """`a as b`"""
    tree = builder.tree
    is_awaited = bool(tree.labels[node] & IS_ASYNC)
    left = value = NONE
    if tree.labels[node] & VALUE and tree.first(node, LEFT) == NONE:  # the item is its value
        tree.unsay(node, IS_ITEM)
        value = builder.visit(node)
    todo = [] if value != NONE else [*tree.kids[node]]
    for kid in todo:
        if tree.labels[kid] & LEFT:
            left = kid
        elif tree.labels[kid] & VALUE and any(tree.labels[near] & (VALUE | LEFT) for near in tree.kids[kid]):
            todo += tree.kids[kid]
        elif value == NONE:
            value = builder.visit(kid)
    entered = builder.add(Op.ENTERED, max(value, 0), is_awaited)
    builder.site_of_call(node, entered)
    target(builder, left, entered)
    return entered


@visits("return")
def return_(builder: Builder, node: int, _use: int) -> int:
    """`return a`; `return@b a` of Kotlin, which ends what b names"""
    tree = builder.tree
    word = tree.first(node, WORD)
    value = next((kid for kid in tree.having(node, VALUE) if kid != word), NONE)
    if word != NONE:
        builder.site(word, Use.KEYWORD, 0)
    if word != NONE and value != NONE:
        builder.end_at(builder.name(word), builder.visit(value))
    elif value != NONE:
        of = builder.scopes[builder.frame].returns
        builder.scopes[builder.frame].returned.append(of_type(builder, value, of))
    builder.flow.is_dead = True
    return 0


@visits("raise")
def raise_(builder: Builder, node: int, _use: int) -> int:
    """`raise a from b`"""
    for kid in builder.tree.kids[node]:
        may_be = builder.dialect.raises_classes and builder.tree.kind(kid) in (IS_NAME, IS_GET)
        is_class = may_be and not is_caught(builder, kid)
        value = builder.visit(kid, Use.CALL if is_class else Use.READ)
        if is_class and builder.sites[-1].at == value:
            builder.sites[-1].at = builder.add(Op.CALL, value, [], [])
    builder.flow.is_dead = True
    return 0


def is_caught(builder: Builder, node: int) -> bool:
    """Whether a name is that of an exception in its handler, and so an object: no class, of which one is made."""
    if builder.tree.kind(node) != IS_NAME:
        return False
    op, *parts = builder.expressions[builder.use_name(builder.name(node))]
    reach: Sequence[int] = (op == Op.NAME and parts[2]) or ()
    return bool(reach) and all(builder.expressions[builder.bindings[at].value][0] == Op.INSTANCE for at in reach)


@visits("yield")
def yield_(builder: Builder, node: int, _use: int) -> int:
    """`yield a`, `yield from a`"""
    tree = builder.tree
    scope = builder.scopes[builder.frame]
    scope.flags |= Flag.GENERATOR
    for kid in tree.kids[node]:
        value = builder.visit(kid)
        scope.flags |= Flag.UNPACKS | Flag.SPREADS if tree.labels[kid] & OVER else 0
        scope.yielded.append(builder.add(Op.ELEMENT, value) if tree.labels[kid] & OVER else value)
    return 0
