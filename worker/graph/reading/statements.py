"""How each kind of statement changes what names mean."""

from collections.abc import Sequence
from functools import partial

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.call_expressions import of_type
from fledgling.worker.graph.reading.flow import BREAK, CONTINUE, LABELLED, Layer
from fledgling.worker.graph.reading.labels import (
    ARM,
    BITS,
    BODY,
    COND,
    IS_GET,
    IS_LOOP,
    IS_NAME,
    IS_NARROW,
    LEFT,
    OPTIONAL,
    OTHERWISE,
    OVER,
    TYPE,
    VALUE,
    WORD,
)
from fledgling.worker.graph.reading.targets import target
from fledgling.worker.graph.tables import MADE, NONE, Binding, Flag, Op, ScopeKind, Use

FINALLY = BITS["finally"]
IS_HANDLER, IS_ITEM, IS_BLOCK = BITS["handler"], BITS["item_with"], BITS["block"]
MAX_FALLING = 64  # names that go on from case to case; with more, each case of a long `switch` costs all before it


def arms(
    builder: Builder, nodes: list[int], narrowed: list[tuple[int, int]], values: list[int] | None = None
) -> list[tuple[dict, bool]]:  # type: ignore[type-arg]
    """Read each of some arms by itself; where the first one runs, names are `narrowed`. Note what they give."""

    def run(node: int, narrowed: list[tuple[int, int]]) -> None:
        narrow(builder, narrowed)
        value = builder.body(node)
        if values is not None and not builder.flow.is_dead:
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


def narrow(builder: Builder, narrowed: list[tuple[int, int]]) -> None:
    """Go on with names as objects of a class: `isinstance(a, B)`."""
    for node, type_ in narrowed:
        name = builder.name(node)
        scope = builder.binder(name)
        if scope != NONE and builder.frames[scope] == builder.frame:
            before = builder.use_name(name)
            value = builder.add(Op.NARROWED, before, type_)
            builder.bindings.append(Binding(scope, name, value, builder.line(node)))
            builder.flow.hold((scope, name), len(builder.bindings) - 1)


def condition(builder: Builder, node: int) -> list[tuple[int, int]]:
    """Read a condition; return the names that are narrowed where it holds, with the classes."""
    builder.scopes[builder.frame].flags |= Flag.OPERATES
    builder.visit(node)
    tree = builder.tree
    found = []
    todo = [node]
    while todo:
        at = todo.pop()
        if tree.labels[at] & IS_NARROW:
            inner = tree.kids[at]
            inner = [kid for near in inner for kid in (near, *tree.kids[near])]
            left = next((kid for kid in inner if tree.labels[kid] & LEFT), NONE)
            type_ = next((kid for kid in inner if tree.labels[kid] & TYPE), NONE)
            if left != NONE and type_ != NONE and tree.kind(left) == IS_NAME:
                sites = len(builder.sites)
                found.append((left, builder.visit(type_)))
                del builder.sites[sites:]
        elif not tree.kind(at):
            todo += tree.kids[at]
    return found


@visits("block")
def block(builder: Builder, node: int, _use: int) -> int:
    """`{ a; b }` where it has names of its own."""
    tree = builder.tree
    builder.enter(node, ScopeKind.BLOCK, NONE, builder.line(node))
    if tree.labels[node] & (IS_HANDLER | IS_LOOP):  # what it catches or goes over has a name in there alone
        tree.unsay(node, IS_BLOCK)
        builder.visit(node)
        found = 0
    else:
        found = builder.visit_all(node)
    builder.leave()
    return found if builder.dialect.gives_last else 0


@visits("branch")
def branch(builder: Builder, node: int, _use: int) -> int:
    """`if a: b elif c: d else: e`"""
    tree = builder.tree
    found = []
    values: list[int] = []
    narrowed: list[tuple[int, int]] = []
    closed = False
    for kid in tree.kids[node]:
        labels = tree.labels[kid]
        if labels & COND:
            narrowed = condition(builder, kid)
        elif labels & ARM:
            closed = closed or bool(labels & OTHERWISE)
            found += arms(builder, [kid], [] if labels & OTHERWISE else narrowed, values)
        else:
            builder.visit(kid)
    builder.flow.join(found, optional=not closed)
    return any_of(builder, values)


def pair_of(builder: Builder, left: int, over: int, element: int) -> int:
    """What a loop gives at each turn: an element, or, where the language does so, its place and the element."""
    if not builder.dialect.loops_over_pairs:
        return element
    if builder.tree.kind(left) == IS_NAME:
        return builder.add(Op.RECEIVED, over)
    return builder.add(Op.TUPLE, [1, element])


@visits("loop")
def loop(builder: Builder, node: int, _use: int) -> int:
    """`for a in b: c`, `while a: b`; in a comprehension without a body."""
    tree = builder.tree
    over, left, body = tree.first(node, OVER), tree.first(node, LEFT), tree.first(node, BODY)
    builder.scopes[builder.frame].flags |= Flag.OPERATES * (over == NONE)
    element = NONE
    if over != NONE:
        value = builder.gone_over.pop(over, NONE)
        value = builder.visit(over) if value == NONE else value
        element = builder.add(Op.ELEMENT, value)
        builder.site_of_call(over, element)
        element = pair_of(builder, left, value, element)
        if tree.first(node, TYPE) != NONE:
            element = builder.add(Op.DECLARED, builder.visit(tree.first(node, TYPE), Use.TYPE), element)

    def run() -> None:
        for kid in tree.kids[node]:
            if kid == left:
                target(builder, left, max(element, 0))
            elif kid == body:
                builder.body(body)
            elif kid != over and not tree.labels[kid] & (OTHERWISE | TYPE):
                builder.visit(kid)

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


@visits("try")
def try_(builder: Builder, node: int, _use: int) -> int:
    """`try: a except B as c: d else: e finally: f`; what begins may end after any assignment in it."""
    tree = builder.tree
    begun = len(builder.flow.given)
    values: list[int] = []
    layer, dead = builder.flow.arm(partial(read_tried, builder, node, values))
    handlers = tree.having(node, IS_HANDLER)
    builder.flow.join([(builder.flow.left_early(begun, layer) if handlers else layer, False)], optional=bool(handlers))
    found = [each for kid in handlers for each in arms(builder, [kid], [], values)]
    otherwise = tree.first(node, OTHERWISE)
    if otherwise != NONE:
        values = values[0 if dead else 1 :]  # what it gives, and not the body
        passed, died = builder.flow.arm(partial(read_otherwise, builder, otherwise, layer, values))
        found.append((passed, dead or died))
    else:
        found.append((layer, dead))
    builder.flow.join(found, optional=False)
    for kid in tree.having(node, FINALLY):
        read_finally(builder, kid, builder.flow.left_early(begun, layer))
    return any_of(builder, values)


def read_tried(builder: Builder, node: int, values: list[int]) -> None:
    """Read what a `try` runs first: its body, or in Ruby all that stands before what else it has."""
    tree = builder.tree
    body, others = tree.first(node, BODY), IS_HANDLER | OTHERWISE | FINALLY
    parts = [kid for kid in tree.kids[node] if not tree.labels[kid] & others]
    found = 0
    for part in parts if body == NONE else [body]:
        found = builder.visit(part) if body == NONE else builder.body(part)
    if not builder.flow.is_dead:
        values.append(found)


def read_otherwise(builder: Builder, node: int, layer: Layer, values: list[int]) -> None:
    """Read what runs where nothing was raised: all of the body has run, which a layer says."""
    builder.flow.join([(layer, False)], optional=False)
    found = builder.body(node)
    if not builder.flow.is_dead:
        values.append(found)


def read_finally(builder: Builder, node: int, layer: Layer) -> None:
    """Read what runs wherever a `try` ends; what holds there holds behind it only as far as it says so itself."""
    begun = len(builder.flow.given)

    def run() -> None:
        builder.flow.join([(layer, False)], optional=True)
        builder.body(node)

    held, dead = builder.flow.arm(run)
    given = {key for key, _ in builder.flow.given[begun:]}
    builder.flow.join([({key: ways for key, ways in held.items() if key in given}, dead)], optional=False)


@visits("handler")
def handler(builder: Builder, node: int, _use: int) -> int:
    """`except A as b: c`"""
    tree = builder.tree
    left, type_ = tree.first(node, LEFT), tree.first(node, TYPE)
    caught = NONE
    for kid in tree.kids[node]:
        if kid in (left, type_) or not tree.labels[kid] & (TYPE | LEFT | BODY):
            inner = tree.first(kid, TYPE) if tree.labels[kid] & TYPE and tree.first(kid, TYPE) != NONE else kid
            if inner != left:
                caught = builder.visit(inner)
            for near in tree.having(kid, LEFT):
                left = near
    if left != NONE:
        target(builder, left, builder.add(Op.INSTANCE, caught) if caught != NONE else 0)
    found = 0
    for kid in tree.having(node, BODY):
        found = builder.body(kid)
    return found


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
    entered = builder.add(Op.ENTERED, max(value, 0))
    builder.site_of_call(node, entered)
    target(builder, left, entered)
    return entered


@visits("match")
def match(builder: Builder, node: int, _use: int) -> int:
    """`match a: case b: c`"""
    tree = builder.tree
    builder.scopes[builder.frame].flags |= Flag.MATCHES
    case = BITS["case"]
    found = []
    values: list[int] = []
    left, value = tree.first(node, LEFT), 0
    over = tree.first(node, OVER)
    before: Layer = {}
    ends = tree.labels[node] & BITS["until_break"]
    for kid in tree.kids[node]:
        if tree.labels[kid] & case:
            falls = before if builder.dialect.prototypes and len(before) <= MAX_FALLING else {}
            run = partial(read_case, builder, kid, left, value, over, falls, values)
            found.append(builder.flow.leaving(run, BREAK)[:2] if ends else builder.flow.arm(run))
            before = found[-1][0]
        elif kid != left:
            value = builder.visit(kid)
    builder.flow.join(found, optional=True)
    return any_of(builder, values)


def read_case(builder: Builder, node: int, left: int, value: int, over: int, before: Layer, values: list[int]) -> None:
    """A case in which a name is what has been looked at, of the type of the case: `switch a := b.(type)`.

    It may go on from the case `before` it.
    """
    tree = builder.tree
    if before:
        builder.flow.join([(before, False)], optional=True)
    types = [*tree.having(node, TYPE)]
    if left != NONE:
        sites = len(builder.sites)
        held = builder.visit(types[0], Use.TYPE) if len(types) == 1 else NONE
        del builder.sites[sites:]
        builder.bind(left, value if held == NONE else builder.add(Op.CAST, held, value))
    elif over != NONE and len(types) == 1 and tree.kind(over) == IS_NAME:  # when (a) { is B -> a.c() }
        sites = len(builder.sites)
        narrow(builder, [(over, builder.visit(types[0], Use.TYPE))])
        del builder.sites[sites:]
    around, builder.subject = builder.subject, value
    given = builder.visit(node)
    builder.subject = around
    if not builder.flow.is_dead:
        values.append(given)


@visits("case")
def case(builder: Builder, node: int, _use: int) -> int:
    """`case b: c`; the names of a pattern stand for nothing that is known."""
    tree = builder.tree
    bind = BITS["bind"]
    found = 0
    if tree.labels[node] & OTHERWISE:
        return builder.visit_all(node)
    for kid in tree.kids[node]:
        if tree.labels[kid] & BODY:
            found = builder.body(kid)
        elif tree.labels[kid] & LEFT:
            target(builder, kid, builder.subject)
        elif tree.labels[kid] & bind:
            target(builder, kid, 0)
        else:
            builder.visit(kid, Use.TYPE if tree.labels[kid] & TYPE else Use.READ)
    return found


@visits("pattern")
def pattern(builder: Builder, node: int, _use: int) -> int:
    """`[a, {b:}]`, `A => a`: what it binds is not known, but for the class of it."""
    tree = builder.tree
    held, bind = NONE, BITS["bind"]
    for kid in tree.kids[node]:
        if tree.labels[kid] & bind:
            builder.bind(kid, 0 if held == NONE else builder.add(Op.CAST, held, 0))
        elif tree.kind(kid) == BITS["param"]:  # *a
            for rest in tree.having(kid, bind):
                builder.bind(rest, 0)
        else:
            at = builder.visit(kid, Use.TYPE if tree.labels[kid] & TYPE else Use.READ)
            held = at if tree.labels[kid] & TYPE else held
    return 0


@visits("case_name")
def case_name(builder: Builder, node: int, use: int) -> int:
    """`case A:`, where A may be a constant of the enumeration that is looked at."""
    part = builder.name(node)
    at = builder.add(Op.CASE, builder.add(Op.GET, builder.subject, part), builder.use_name(part))
    builder.site(node, use, at)
    return at


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
        is_class = builder.tree.kind(kid) in (IS_NAME, IS_GET) and not is_caught(builder, kid)
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
