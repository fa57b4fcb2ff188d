"""`try`: what names mean where anything in it may have ended it."""

from functools import partial

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.flow import Layer
from fledgling.worker.graph.reading.labels import BITS, BODY, COND, LEFT, OTHERWISE, TYPE
from fledgling.worker.graph.reading.statements import any_of, arms
from fledgling.worker.graph.reading.targets import target
from fledgling.worker.graph.tables import NONE, Op

FINALLY, IS_HANDLER = BITS["finally"], BITS["handler"]


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
    """Read what a `try` runs first: `try (A b = c) { d }`, in Ruby all that stands before what else it has."""
    tree = builder.tree
    body, others = tree.first(node, BODY), IS_HANDLER | OTHERWISE | FINALLY
    parts = [kid for kid in tree.kids[node] if not tree.labels[kid] & others]
    found = 0
    for part in parts:
        found = builder.body(part) if part == body else builder.visit(part)
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
        if kid in (left, type_) or not tree.labels[kid] & (TYPE | LEFT | BODY | COND):
            is_named = tree.labels[kid] & TYPE and tree.kind(kid) != BITS["class_pattern"]
            inner = tree.first(kid, TYPE) if is_named and tree.first(kid, TYPE) != NONE else kid
            if inner != left:
                caught = builder.visit(inner)
            for near in tree.having(kid, LEFT):
                left = near
    if left != NONE:
        target(builder, left, builder.add(Op.INSTANCE, caught) if caught != NONE else 0)
    for kid in tree.having(node, COND):  # `catch (A b) when (c)`
        builder.visit(kid)
    found = 0
    for kid in tree.having(node, BODY):
        found = builder.body(kid)
    return found
