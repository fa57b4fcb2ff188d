"""Names that a condition says more of: `a instanceof B`, `isinstance(a, B)`, `isB(a)` of a function that checks it."""

from collections.abc import Sequence

from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.reading.flow import Key, own_field
from fledgling.worker.graph.reading.labels import (
    ARG,
    ARGS,
    BITS,
    COND,
    IS_AWAIT,
    IS_CALL,
    IS_GET,
    IS_NAME,
    IS_NARROW,
    KEY,
    LEFT,
    OF,
    TYPE,
)
from fledgling.worker.graph.reading.signs import AROUND
from fledgling.worker.graph.tables import NONE, Binding, Flag, Op

REFUTED = BITS["refuted"]
IS_CHOICE, IS_OPERATION, IS_THIS = BITS["choice"], BITS["operation"], BITS["this"]
BOTH, EITHER = (b"&&", b"and"), (b"||", b"or")
NEGATING, NOT = (IS_OPERATION, IS_AWAIT), ord("!")
MAX_CHECKED = 16  # names that one condition says more of, the last ones: each of `a && b && c` reads all before it


def narrow(builder: Builder, narrowed: Sequence[tuple[int, int]]) -> list[tuple[Key, int]]:
    """Go on with names as objects of a class: `isinstance(a, B)`. Return the names, and what each is bound to."""
    found = []
    for node, type_ in narrowed:
        if builder.tree.kind(node) == IS_GET:
            found += narrow_own_field(builder, node, type_)
            continue
        name = builder.name(node)
        scope = builder.binder(name)
        if scope != NONE and builder.frames[scope] == builder.frame:
            before = builder.use_name(name)
            value = builder.add(Op.NARROWED, before, type_)
            builder.bindings.append(Binding(scope, name, value, builder.line(node)))
            key = (scope, builder.key_there(scope, name))
            builder.flow.hold(key, len(builder.bindings) - 1)
            found.append((key, len(builder.bindings) - 1))
    return found


def hold_asserted(builder: Builder, node: int) -> None:
    """Go on with names as what is asserted, which has been read, says that they are."""
    todo = [node]
    while todo:
        at = todo.pop()
        if builder.tree.labels[at] & COND:
            narrow(builder, narrowed_by(builder, at))
        else:
            todo += builder.tree.kids[at]


def narrow_own_field(builder: Builder, node: int, type_: int) -> list[tuple[Key, int]]:
    """Go on with a field of the own object as an object of a class: `$this->a instanceof B`."""
    part = builder.name(builder.tree.first(node, KEY))
    of = builder.add(Op.THIS, builder.scope)
    builder.flow.checked.add(part)
    before, key = builder.use_path(of, part, builder.add(Op.GET, of, part)), own_field(part)
    builder.bindings.append(Binding(NONE, NONE, builder.add(Op.NARROWED, before, type_), builder.line(node)))
    builder.flow.hold(key, len(builder.bindings) - 1)
    return [(key, len(builder.bindings) - 1)]


def condition(builder: Builder, node: int) -> list[tuple[int, int]]:
    """Read a condition; return the names that are narrowed where it holds, with the classes."""
    builder.scopes[builder.frame].flags |= Flag.OPERATES
    builder.visit(node)
    return narrowed_by(builder, node)


def narrowed_by(builder: Builder, node: int) -> list[tuple[int, int]]:
    """The names that are narrowed where a condition holds that has been read, with the classes."""
    tree = builder.tree
    found = list[tuple[int, int]]()
    todo = [node]
    while todo and len(found) < MAX_CHECKED:
        at = todo.pop()
        if tree.labels[at] & REFUTED:  # a !is B
            continue
        if tree.labels[at] & IS_NARROW or tree.kind(at) == IS_CALL:
            found += known_of(builder, at)
        elif builder.dialect.smart_casts and is_either(builder, at):
            found += narrowed_by_either(builder, at)
        elif not tree.kind(at) or is_both(builder, at):
            todo += tree.kids[at]
    return found


def narrowed_by_either(builder: Builder, node: int) -> list[tuple[int, int]]:
    """The name that each side of `a is B || a is C` checks, if that is one, with the classes."""
    tree = builder.tree
    found, todo = list[tuple[int, int]](), [node]
    while todo and len(found) < MAX_CHECKED:
        at = todo.pop()
        if tree.labels[at] & IS_NARROW and not tree.labels[at] & REFUTED:
            found += known_of(builder, at)
        elif tree.kids[at] and (not tree.kind(at) or is_either(builder, at)):
            todo += tree.kids[at]
        else:
            return []
    is_one = not todo and len({tree.text(name) for name, _ in found}) == 1
    return [(found[0][0], builder.add(Op.CHOICE, [type_ for _, type_ in found]))] if is_one else []


def known_of(builder: Builder, node: int) -> list[tuple[int, int]]:
    """What a check says, which is asked for again by each condition around it."""
    if node not in builder.checked:
        builder.checked[node] = checked_by(builder, node)
    return builder.checked[node]


def checked_by(builder: Builder, node: int) -> list[tuple[int, int]]:
    """The name that `a instanceof B` or `isA(b)` says more of, with the class, which is read again for that."""
    tree, sites = builder.tree, len(builder.sites)
    name, type_ = NONE, 0
    if tree.labels[node] & IS_NARROW:
        inner = [kid for near in tree.kids[node] for kid in (near, *tree.kids[near])]
        left = next((kid for kid in inner if tree.labels[kid] & LEFT), NONE)
        of = next((kid for kid in inner if tree.labels[kid] & TYPE), NONE)
        if NONE not in (left, of) and (tree.kind(left) == IS_NAME or is_own_field(builder, left)):
            name, type_ = left, builder.visit(of)
    elif (name := checked_by_call(builder, node)) != NONE:
        type_ = builder.add(Op.CHECKED, builder.visit(tree.first(node, OF)))
    del builder.sites[sites:]
    return [] if name == NONE else [(name, type_)]


def is_own_field(builder: Builder, node: int) -> bool:
    """Whether a node is a field of the own object: `$this->a`."""
    tree = builder.tree
    of = tree.first(node, OF)
    return tree.kind(node) == IS_GET and of != NONE and tree.kind(of) == IS_THIS


def refuted_by(builder: Builder, node: int) -> list[tuple[int, int]]:
    """The names that are narrowed where a condition does not hold, in a language that says so: `!(a instanceof B)`."""
    tree = builder.tree
    found, todo = list[tuple[int, int]](), [node] if builder.dialect.refutes else []
    while todo and len(found) < MAX_CHECKED:
        at = todo.pop()
        kids = tree.kids[at]
        if tree.labels[at] & REFUTED:
            found += known_of(builder, at)
        elif len(kids) == 1 and tree.kind(at) in NEGATING and tree.source[tree.start[at]] == NOT:
            found += narrowed_by(builder, kids[0])
        elif not tree.kind(at) or is_either(builder, at):
            todo += kids
    return found


def is_either(builder: Builder, node: int) -> bool:
    """Whether a node is `a || b`, of which neither holds where the whole does not."""
    return _is_joined(builder, node, EITHER)


def is_both(builder: Builder, node: int) -> bool:
    """Whether a node is `a && b`, where both hold, in a language that says so."""
    return builder.dialect.both_hold and _is_joined(builder, node, BOTH)


def _is_joined(builder: Builder, node: int, signs: tuple[bytes, bytes]) -> bool:
    """Whether one of some signs stands between the two operands that a node has."""
    tree, kids = builder.tree, builder.tree.kids[node]
    is_of_two = len(kids) == 2 and tree.kind(node) in (IS_OPERATION, IS_CHOICE)
    return is_of_two and tree.source[tree.end[kids[0]] : tree.start[kids[1]]].strip(AROUND).lower() in signs


def checked_by_call(builder: Builder, node: int) -> int:
    """The name that a call gets alone of what may be declared to check its class: `isA(b)` of TypeScript."""
    tree = builder.tree
    if not (builder.dialect.prototypes and builder.dialect.typed):
        return NONE
    callee, args = tree.first(node, OF), tree.first(node, ARGS)
    given = [] if args == NONE else [args] if tree.labels[args] & ARG else tree.kids[args]
    is_plain = callee != NONE and not any(tree.kids[kid] for kid in tree.kids[callee])
    return given[0] if is_plain and len(given) == 1 and tree.kind(given[0]) == IS_NAME else NONE
