"""How assignments are read, what removes a name, and what says in which scope one is bound."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.expressions import constant_key
from fledgling.worker.graph.reading.labels import (
    BITS,
    IS_ALIASED,
    IS_INDEX,
    IS_NAME,
    IS_TUPLE,
    KEY,
    LEFT,
    OTHERWISE,
    RIGHT,
    TYPE,
)
from fledgling.worker.graph.reading.operators import operator_between, runs_in_place, runs_on_key
from fledgling.worker.graph.reading.signs import AROUND, called_between
from fledgling.worker.graph.reading.statements import any_of, arms
from fledgling.worker.graph.reading.targets import key_changed, left_of, set_by_call, take_shape, target
from fledgling.worker.graph.reading.told_types import comment_before, told_type
from fledgling.worker.graph.tables import MADE, NONE, Augmented, Flag, Op, ScopeKind, Use, Write

CHANGES = re.compile(rb"[-+*/%&|^<>?]++=")
UNLESS = (b"??=", b"||=", b"&&=")
SINGLE, IS_OWN_FIELD = BITS["single"], BITS["own_field"]
FRESH, CHECKED, IS_AUGMENT, IS_REPEATED = (BITS[label] for label in ("fresh", "checked", "augment", "repeated"))


@visits("assign")
def assign(builder: Builder, node: int, _use: int) -> int:
    """`a = b`, `a: T = b`"""
    tree = builder.tree
    left, *more = [*tree.having(node, LEFT)] or [left_of(builder, node)]
    if tree.labels[node] & IS_ALIASED:  # $$a = b
        builder.aliased.add((builder.frame, NONE))
    right = tree.first(node, RIGHT)
    with in_companion(builder, node):
        value = builder.optional(right)
    if (tree.kind(left) == IS_TUPLE or more) and right != NONE and tree.labels[right] & CHECKED:  # a, ok := b.(C)
        value = builder.add(Op.TUPLE, [value, MADE])
    if tree.kind(left) == IS_NAME:
        value = changed(builder, left, right, value)
        builder.name_value(value, left)
    type_ = builder.optional(tree.first(node, TYPE), Use.TYPE)
    if tree.labels[node] & FRESH:
        builder.forget(left)
        builder.begin(left, node)
    given: list[int] = []
    with in_companion(builder, node):
        for kid in tree.having(node, OTHERWISE):  # let a = b else { c }: c does not come back
            arms(builder, [kid], [], given)
    if value == NONE and given and builder.dialect.gives_last:  # val a get() = b, val a by b
        value = any_of(builder, given[:1]) or NONE
    bare = value == NONE
    if more:
        return assign_each(builder, node, [left, *more], value, type_)
    if type_ != NONE:
        value = builder.add(Op.DECLARED, type_, value)
    elif (comment := comment_before(builder, node)) and (
        tree.kind(left) == IS_NAME or builder.dialect.told_in
    ):  # /** @var A $b */ $b = c
        told = told_type(builder, comment, "var", tree.text(left))
        value = value if told == NONE else builder.add(Op.CAST, told, max(value, 0))
    target(builder, left, max(value, 0), bare=bare)
    return max(value, 0)


def changed(builder: Builder, left: int, right: int, value: int) -> int:
    """What an assignment gives a name: by `a += b` what it was, of the same type, or b, a function that is added."""
    if right == NONE or not CHANGES.fullmatch(between(builder, left, right)):
        return value
    before = builder.use_name(builder.name(left))
    takes = builder.dialect.adds_functions or is_unless(builder, left, right)
    return builder.add(Op.CHOICE, [before, value]) if takes else before


@contextmanager
def in_companion(builder: Builder, node: int) -> Iterator[None]:
    """Read what a property of a companion object holds, which has no object of the class around."""
    is_apart = bool(builder.tree.labels[node] & SINGLE)
    if is_apart:
        builder.enter(NONE, ScopeKind.BLOCK, NONE, builder.line(node), Flag.SINGLE)
    yield
    if is_apart:
        builder.leave()


def assign_each(builder: Builder, node: int, lefts: list[int], value: int, type_: int) -> int:
    """`a, b T = c, d`; of `typedef struct A B, *C;` each is of that type."""
    held = max(value, 0)
    op, *parts = builder.expressions[held]
    known = [held] * len(lefts) if builder.tree.labels[node] & FRESH else []
    if op == Op.TUPLE and len(parts[0]) == len(lefts):
        known = parts[0]
    for place, left in enumerate(lefts):
        part = known[place] if known else builder.add(Op.ITEM, held, place)
        builder.begin(left, node)
        target(builder, left, part if type_ == NONE else builder.add(Op.DECLARED, type_, part))
    return 0


@visits("repeated")
def repeated(builder: Builder, node: int, _use: int) -> int:
    """`C, D` of Go's `const ( A, B T = iota, 1; C, D )`: each is of what the one before it is."""
    tree = builder.tree
    lefts = tree.having(node, LEFT)
    if not lefts:  # the name alone
        tree.unsay(node, IS_REPEATED)
        lefts = [node]
    for left, before in zip(lefts, builder.bindings[-len(lefts) :], strict=False):
        builder.begin(left, node)
        builder.bind(left, before.value)
    return 0


@visits("bound")
def bound(builder: Builder, node: int, _use: int) -> int:
    """`T: A + B`, `where T: A, T::B: C`: all that is said of a type parameter, in one place or in several."""
    tree = builder.tree
    left = tree.first(node, LEFT)
    types = [builder.visit(kid, Use.TYPE) for kid in tree.having(node, RIGHT)]
    name, is_path = builder.name(left), bool(tree.kids[left])
    known = builder.bounded.get((builder.scope, name))
    if known is not None or is_path:
        builder.visit(left)
    if known is None:
        value = types[0] if len(types) == 1 else builder.add(Op.EVERY, types)
        builder.bounded_paths.update([name] if is_path else ())
        builder.bounded[builder.scope, name] = (
            builder.bind_silently(name, builder.scope, value, left)
            if is_path
            else builder.bind(left, value, Use.DEFINITION)
        )
        return 0
    builder.bindings[known].value = builder.add(Op.EVERY, [builder.bindings[known].value, *types])
    return 0


@visits("augment")
def augment(builder: Builder, node: int, _use: int) -> int:
    """`a += b`: what a was, or what b is; where classes have operators, what those return."""
    tree = builder.tree
    builder.scopes[builder.frame].flags |= Flag.OPERATES
    left = tree.first(node, LEFT)
    right = tree.first(node, RIGHT)
    value = builder.visit(right)
    if builder.dialect.signs and left != NONE:
        return augment_by_sign(builder, left, right, value)
    has_operators = bool(builder.dialect.operators) and left != NONE
    operator = [operator_between(builder, left, right), True] if has_operators else []
    line, scope = builder.line(node), builder.scope
    if builder.dialect.prototypes and is_unless(builder, left, right):
        return assign_unless(builder, left, value)
    if tree.kind(left) == IS_NAME:
        before = builder.use_name(builder.name(left))
        after = builder.add(Op.CHOICE, [before, value], *operator)
        if operator and operator[0] != NONE:
            runs_in_place(builder, left, [before, value], operator[0], after)
        builder.bind(left, after)
        builder.augmented.append(Augmented(before, after, line, scope))
    elif tree.kind(left) == IS_INDEX:
        write, key = key_changed(builder, left, "[]=")
        before = builder.add(Op.INDEX, write.of, 0)
        after = builder.add(Op.CHOICE, [before, value], *operator)
        builder.augmented.append(Augmented(before, after, line, scope))
        if operator:
            write.value = augment_part(builder, left, builder.add(Op.INDEX, write.of, key), value, operator)
    elif left != NONE:
        before = builder.visit(left, Use.WRITE)
        builder.augmented.append(Augmented(before, NONE, line, scope))
        op, *parts = builder.expressions[before]
        general = parts[2] if op == Op.REACH else before
        op, *parts = builder.expressions[general]
        if operator and op == Op.GET:
            after = augment_part(builder, left, general, value, operator)
            if operator[0] != NONE:
                runs_in_place(builder, left, [before, value], operator[0], after)
            builder.writes.append(Write(parts[0], parts[1], NONE, after, line))
    return 0


def augment_by_sign(builder: Builder, left: int, right: int, value: int) -> int:
    """`a.b += c`, of Ruby: what `a.b + c` gives is there then; by `a.b ||= c` perhaps what was there."""
    kind = builder.tree.kind(left)
    if kind == IS_NAME:
        before = builder.use_name(builder.name(left))
    elif kind == IS_OWN_FIELD:
        before = builder.add(Op.GET, builder.add(Op.THIS, builder.scope), builder.name(left))
    else:
        before = builder.visit(left)
    after = called_between(builder, left, right, before, value)
    if after == NONE:  # of a field or what is behind a key, not all is seen that may be there
        value = value if kind == IS_NAME else builder.add(Op.UNSURE, value)
        after = builder.add(Op.CHOICE, [before, value])
    builder.augmented.append(Augmented(before, NONE, builder.line(left), builder.scope))
    if kind in (IS_NAME, IS_OWN_FIELD):
        target(builder, left, after)
    else:
        put_back(builder, left, before, after)
    return after


def put_back(builder: Builder, node: int, before: int, value: int) -> None:
    """Note what puts a value where `a.b` or `a[b]` has been read: the methods `b=` and `[]=`."""
    tree = builder.tree
    op, *parts = builder.expressions[before]
    if op == Op.REACH:
        op, *parts = builder.expressions[parts[2]]
    if op == Op.INDEX:
        of, key = parts
        runs_on_key(builder, node, of, "[]=")
        builder.writes.append(Write(of, NONE, key, value, builder.line(node), builder.scope))
    elif op == Op.CALL and builder.expressions[parts[0]][0] == Op.GET and tree.first(node, KEY) != NONE:
        set_by_call(builder, tree.first(node, KEY), builder.expressions[parts[0]][1], value)


def is_unless(builder: Builder, left: int, right: int) -> bool:
    """Whether `a ??= b`, `a ||= b` or `a &&= b` of JavaScript stands there, which leaves a as it is or makes it b."""
    return NONE not in (left, right) and between(builder, left, right) in UNLESS


def between(builder: Builder, left: int, right: int) -> bytes:
    """What stands between both sides of an assignment."""
    return builder.tree.source[builder.tree.end[left] : builder.tree.start[right]].strip(AROUND)


def assign_unless(builder: Builder, left: int, value: int) -> int:
    """Give a name, a member or what is behind a key another value, or leave it; return what it is then.

    The left side is read twice, so what it was is not known where another such assignment is in that.
    """
    sites = len(builder.sites)
    before = 0 if holds_another(builder, left) else builder.visit(left)
    del builder.sites[sites:]
    after = builder.add(Op.CHOICE, [before, value])
    target(builder, left, after)
    return after


def holds_another(builder: Builder, node: int) -> bool:
    """Whether an assignment with an operator stands within a node."""
    tree = builder.tree
    todo = [*tree.kids[node]]
    while todo:
        at = todo.pop()
        if tree.kind(at) == IS_AUGMENT:
            return True
        todo += tree.kids[at]
    return False


def augment_part(builder: Builder, node: int, at: int, value: int, operator: list[int]) -> int:
    """Bind what an operator leaves in `a.b` or `a[b]`, which `at` is in general; return that."""
    op, of, part = builder.expressions[at]
    key = constant_key(builder, part) if op == Op.INDEX else part
    after = builder.add(Op.CHOICE, [at if key is None else builder.use_path(of, key, at), value], *operator)
    if key is not None:
        builder.bind_path(of, key, after, node)
    return after


@visits("delete")
def delete(builder: Builder, node: int, _use: int) -> int:
    """`del a`, `del a.b, c[d]`"""
    tree = builder.tree
    todo = [*reversed(tree.kids[node])]
    while todo:
        kid = todo.pop()
        if tree.kind(kid) == IS_INDEX:
            key_changed(builder, kid, "del []")
        elif tree.kind(kid) == IS_TUPLE:
            todo += reversed(tree.kids[kid])
        else:
            builder.visit(kid, Use.WRITE)
            if tree.kind(kid) == IS_NAME:
                unbind(builder, kid)
    return 0


def unbind(builder: Builder, node: int) -> None:
    """Note that a name of the class that is read stands for nothing from here on: `del a`; perhaps, in a branch."""
    key = (builder.binder(builder.name(node)), builder.name(node))
    if key[0] != builder.frame or builder.scopes[builder.frame].kind != ScopeKind.CLASS:
        return
    if len(builder.flow.layers) > 1:
        builder.replaced[node] = builder.add(Op.CLASS, builder.frame)
    builder.flow.hold(key, NONE)


@visits("global", "nonlocal")
def outward(builder: Builder, node: int, _use: int) -> int:
    """`global a`"""
    for kid in builder.tree.kids[node]:
        builder.site(kid, Use.READ, builder.use_name(builder.name(kid)))
    return 0


@visits("shape")
def shape(builder: Builder, node: int, _use: int) -> int:
    """A pattern where it is not expected."""
    take_shape(builder, node, 0)
    return 0
