"""`match` and `switch`: cases, and the patterns that bind names in them."""

from functools import partial

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.flow import BREAK, Layer
from fledgling.worker.graph.reading.labels import BITS, BODY, IS_NAME, LEFT, OTHERWISE, OVER, TYPE, WORD
from fledgling.worker.graph.reading.narrowing import MAX_CHECKED, narrow, narrowed_by
from fledgling.worker.graph.reading.statements import any_of
from fledgling.worker.graph.reading.targets import target
from fledgling.worker.graph.tables import NONE, Flag, Op, Use

MAX_FALLING = 64  # names that go on from case to case; with more, each case of a long `switch` costs all before it


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
    elif over != NONE and types and tree.kind(over) == IS_NAME and len(types) <= MAX_CHECKED:  # when (a) { is B ->
        sites = len(builder.sites)
        read = [builder.visit(type_, Use.TYPE) for type_ in types]
        narrow(builder, [(over, read[0] if len(read) == 1 else builder.add(Op.CHOICE, read))])
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
    holds: list[list[tuple[int, int]]] = []
    for kid in tree.kids[node]:
        if tree.labels[kid] & BODY:
            narrow(builder, holds[0] if len(holds) == 1 else [])
            found = builder.body(kid)
        elif tree.labels[kid] & LEFT:
            target(builder, kid, builder.subject)
        elif tree.labels[kid] & bind:
            target(builder, kid, 0)
        else:
            builder.visit(kid, Use.TYPE if tree.labels[kid] & TYPE else Use.READ)
            if builder.dialect.smart_casts and not builder.subject:  # when { a is B -> a.c() }
                holds.append(narrowed_by(builder, kid))
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


@visits("class_pattern")
def class_pattern(builder: Builder, node: int, _use: int) -> int:
    """`A(b=c)`, `A { b: c } d`: members of an A; where no class is named, of what a pattern around it takes."""
    tree = builder.tree
    type_, around = tree.first(node, TYPE), builder.apart
    held = 0
    if type_ != NONE:
        typed = builder.dialect.typed
        held = builder.visit(type_, Use.TYPE if typed else Use.READ)
        builder.apart = builder.add(Op.DECLARED, held, NONE) if typed else builder.add(Op.INSTANCE, held)
    for kid in tree.kids[node]:
        if tree.labels[kid] & LEFT:
            target(builder, kid, builder.apart)
        elif tree.labels[kid] & BITS["bind"]:
            target(builder, kid, 0)
        elif kid != type_:
            builder.visit(kid)
    builder.apart = around
    return held


@visits("member_pattern")
def member_pattern(builder: Builder, node: int, _use: int) -> int:
    """`b=c` or `b: c` in such a pattern"""
    tree = builder.tree
    key, around = tree.first(node, WORD), builder.apart
    builder.apart = builder.add(Op.GET, around, builder.name(key))
    builder.site(key, Use.READ, builder.apart)
    for kid in tree.kids[node]:
        if tree.labels[kid] & BITS["bind"]:
            target(builder, kid, builder.apart)
        elif kid != key:
            builder.visit(kid)
    builder.apart = around
    return 0


@visits("case_name")
def case_name(builder: Builder, node: int, use: int) -> int:
    """`case A:`, where A may be a constant of the enumeration that is looked at."""
    part = builder.name(node)
    at = builder.add(Op.CASE, builder.add(Op.GET, builder.subject, part), builder.use_name(part))
    builder.site(node, use, at)
    return at
