"""Operators: what reads their operands, and the methods that they run where a class declares those."""

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.labels import (
    ARM,
    BIND,
    BITS,
    IS_COMPUTED,
    IS_NARROW,
    IS_NUMBER,
    IS_TEXT,
    LEFT,
    OVER,
    TYPE,
)
from fledgling.worker.graph.reading.made_texts import filled, of_places
from fledgling.worker.graph.reading.open_scopes import QUOTES
from fledgling.worker.graph.reading.signs import AROUND, WRITTEN_OUT, called_by_sign
from fledgling.worker.graph.tables import MADE, NONE, Flag, Op, Use

SIGNS = b"+-"
SETTER = BITS["setter"]
DELEGATING = ("provideDelegate", "getValue", "setValue")  # which a property of Kotlin calls that hands on


def runs(builder: Builder, left: int, method: int, at: int) -> int:
    """Note that the operator behind a node runs a method, which gives an expression; return that."""
    source, start = builder.tree.source, builder.tree.end[left]
    while source[start] in AROUND:
        start += 1
    builder.named("")  # which its row has
    builder.site_at(start, method, Use.OPERATOR, at)
    return at


def runs_in_place(builder: Builder, left: int, operands: list[int], method: int, at: int) -> None:
    """Note that `a += b`, which gives an expression, runs a method: in Kotlin `plusAssign`, or else `plus`."""
    if not builder.dialect.selects:
        runs(builder, left, method, at)
        return
    for own in (method, builder.named(f"{builder.text_of(method)}Assign")):
        runs(builder, left, own, builder.add(Op.OPERATED, operands, own))


def by_key(builder: Builder, sign: str) -> str:
    """The method that `a[b]`, `a[b] = c` or `del a[b]` runs; empty where none is known."""
    return sign if sign in builder.dialect.signs else builder.dialect.operators.get(sign, "")


def runs_on_key(builder: Builder, node: int, of: int, sign: str) -> None:
    """Note what `a[b] = c` runs, or `del a[b]`."""
    if (method := by_key(builder, sign)) and builder.tree.kids[node]:
        name = builder.named(method)
        runs(builder, builder.tree.kids[node][0], name, builder.add(Op.OPERATED, [of], name))


def operator_between(builder: Builder, left: int, right: int) -> int:
    """The name of the method behind an operator between two nodes, `+` or `+=`; -1 where none is known."""
    tree = builder.tree
    between = tree.source[tree.end[left] : tree.start[right]] if right != NONE else b""
    method = builder.dialect.operators.get(between.strip(AROUND).removesuffix(b"=").decode(errors="replace"))
    return builder.named(method) if method else NONE


@visits("sum")
def sum_(builder: Builder, node: int, _use: int) -> int:
    """`a + b`"""
    builder.scopes[builder.frame].flags |= Flag.OPERATES
    parts = [(kid, builder.visit(kid)) for kid in builder.tree.kids[node]]
    summed = [1 if is_negative(builder, kid) else at for kid, at in parts]  # `-1` is no `uint`
    called = [] if len(parts) != 2 else summed_by_method(builder, node, [at for _, at in parts])
    return builder.add(Op.SUM, summed, *called)


def summed_by_method(builder: Builder, node: int, operands: list[int]) -> list[int]:
    """The call that `a + b` is of Kotlin, `a.plus(b)`; none before what is written out, or of another language."""
    of, *arguments = operands
    method = operator_between(builder, *builder.tree.kids[node]) if builder.dialect.operators else NONE
    if method == NONE or builder.expressions[of][0] in WRITTEN_OUT:
        return []
    operated(builder, node, operands)
    return [builder.add(Op.CALL, builder.add(Op.GET, of, method), arguments, [])]


@visits("operation", "narrow")
def operation(builder: Builder, node: int, _use: int) -> int:
    """What gives nothing that is followed: `not a`."""
    tree = builder.tree
    builder.scopes[builder.frame].flags |= Flag.OPERATES
    if is_negative(builder, node):
        return builder.visit(tree.kids[node][0])
    found: dict[int, int] = {}
    operands: list[int] = []
    moved: list[int] = []
    is_computed = False
    for kid in tree.kids[node]:
        if tree.labels[kid] & BIND and tree.labels[node] & IS_NARROW:  # a instanceof B b
            parts = [found.get(role, 0) for role in (TYPE, LEFT)]
            builder.bind(kid, builder.add(Op.CAST, *parts))
            continue
        at = builder.visit(kid, Use.TYPE if tree.labels[kid] & TYPE else Use.READ)
        if kid == tree.kids[node][0] and tree.source[tree.start[kid]] in QUOTES:  # "%s" % a
            builder.scopes[builder.frame].flags |= Flag.FORMATS
        if tree.labels[kid] & OVER:  # a in b
            builder.take(at, kid)
        found.update((role, at) for role in (TYPE, LEFT) if tree.labels[kid] & role)
        operands.append(at)
        if tree.labels[kid] & ARM:
            moved.append(at)
        is_computed = is_computed or builder.expressions[at][0] not in WRITTEN_OUT
    if moved:  # `(a + 1)->b` of C: what a points to, wherever in an array that is
        return builder.add(Op.EVERY, moved)
    made = of_operator(builder, node) if builder.dialect.made_names else MADE
    at = by_method(builder, node, operands) if is_computed else NONE
    if at != NONE:
        return at if made == MADE else builder.add(Op.CHOICE, [at, made])
    if made != MADE:
        return made
    return builder.add(Op.COMPUTED) if is_computed and tree.labels[node] & IS_COMPUTED else 1


def by_method(builder: Builder, node: int, operands: list[int]) -> int:
    """What the method of an operator gives; -1 where none is known."""
    if builder.dialect.signs:
        return called_by_sign(builder, node, operands)
    return operated(builder, node, operands) if builder.dialect.operators or builder.dialect.prefixes else NONE


def operated(builder: Builder, node: int, operands: list[int]) -> int:
    """`a - b`, `a == b`, `a in b`, `!a`: what the method gives that is behind the operator; -1 where none is known.

    Where overloads are told apart, it is not: `a < b` gives none of what `compareTo` does.
    """
    tree = builder.tree
    if len(operands) == 1:
        return _prefixed(builder, node, operands)
    if len(operands) != 2:
        return NONE
    left, right = tree.kids[node]
    sign = tree.source[tree.end[left] : tree.start[right]].strip(AROUND).decode(errors="replace")
    method = builder.dialect.operators.get(sign.removeprefix("not "))
    if not method:
        return NONE
    if tree.labels[right] & OVER:
        operands.reverse()
    asked = builder.dialect.calling.get(method, method)  # who has `ne` of its own has `eq`, too
    at = runs(builder, left, builder.named(asked), builder.add(Op.OPERATED, operands, builder.named(method)))
    return NONE if builder.dialect.selects else at


def _prefixed(builder: Builder, node: int, operands: list[int]) -> int:
    """`!a`, `-a`"""
    tree = builder.tree
    sign = tree.source[tree.start[node] : tree.start[tree.kids[node][0]]].strip(AROUND).decode(errors="replace")
    method = builder.dialect.prefixes.get(sign)
    if not method:
        return NONE
    name = builder.named(method)
    at = builder.add(Op.OPERATED, operands, name)
    builder.named("")  # which its row has
    builder.site_at(tree.start[node], name, Use.OPERATOR, at)
    return at


@visits("delegate")
def delegate(builder: Builder, node: int, _use: int) -> int:
    """`by a` of a property: what `getValue` of that gives, which each read of the property calls."""
    tree = builder.tree
    of = builder.visit_all(node)
    for method in DELEGATING if tree.labels[node] & SETTER else DELEGATING[:-1]:
        builder.named("")  # which its row has
        builder.site_at(
            tree.start[node], builder.named(method), Use.OPERATOR, builder.add(Op.OPERATED, [of], builder.named(method))
        )
    return builder.add(Op.DELEGATED, of, builder.named(DELEGATING[1]))


def of_operator(builder: Builder, node: int) -> int:
    """`"a_%s" % b`, `"a_" + b`, `"a_" . b`"""
    tree = builder.tree
    kids = tree.kids[node]
    if len(kids) != 2:
        return MADE
    texts = [tree.text(kid) if tree.kind(kid) == IS_TEXT and not tree.kids[kid] else "" for kid in kids]
    between = tree.source[tree.end[kids[0]] : tree.start[kids[1]]].strip(AROUND)
    if between in (b"+", b"."):
        return filled(builder, texts[0][:-1], texts[1][1:])
    return of_places(builder, texts[0], "%") if between == b"%" else MADE


def is_negative(builder: Builder, node: int) -> bool:
    """Whether a node is a number with a sign, `-5L`, which has the type of the number where that says which."""
    tree = builder.tree
    kids = tree.kids[node]
    is_number = len(kids) == 1 and bool(tree.labels[kids[0]] & IS_NUMBER or tree.kind(kids[0]) == IS_NUMBER)
    return bool(builder.dialect.literals) and is_number and tree.source[tree.start[node]] in SIGNS
