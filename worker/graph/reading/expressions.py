"""How names, members, keys and operators become expressions."""

from collections.abc import Sequence
from functools import partial

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.labels import (
    ARM,
    BIND,
    BITS,
    BRACKETS,
    COND,
    IS_AWAIT,
    IS_COMPUTED,
    IS_INDEX,
    IS_LABEL,
    IS_NAME,
    IS_PATH,
    IS_POINTEE,
    IS_PRESENT,
    IS_SLICE,
    KEY,
    OF,
    OVER,
    TYPE,
    VALUE,
)
from fledgling.worker.graph.reading.last_operands import put_in_place
from fledgling.worker.graph.reading.narrowing import is_both, is_either, narrow, narrowed_by, refuted_by
from fledgling.worker.graph.reading.operators import by_key, operator_between, runs
from fledgling.worker.graph.tables import NONE, Flag, Op, Use

NAMES_TYPE = BITS["names_type"]
MAX_SLICE = 8  # elements of a slice that are told apart
FAR_FROM_POINTER = 16  # bytes before a name within which a `*` makes it a pointer: `* const a`


@visits("name")
def name(builder: Builder, node: int, use: int) -> int:
    """`a`"""
    builder.note_alias(node)
    builder.is_type = bool(builder.tree.labels[node] & NAMES_TYPE)
    builder.is_value = bool(builder.only_types) and not builder.is_type
    at = builder.use_name(builder.key(node))
    builder.is_value = builder.is_type = False
    is_call = builder.dialect.bare_calls and builder.expressions[at][0] == Op.BARE
    if is_call and use == Use.READ and not builder.tree.text(node)[:1].isupper():
        at = builder.add(Op.CALL, at, [], [])
        use = Use.CALL
    if use == Use.TYPE:
        builder.mean_type(at)
    builder.site(node, use, at)
    return at


@visits("label")
def label(builder: Builder, node: int, _use: int) -> int:
    """A name that no scope has to know: a key, a type parameter."""
    if builder.tree.labels[node] & BIND:
        builder.bind(node, 1, Use.DEFINITION)
    else:
        builder.site(node, Use.KEYWORD, 0)
    return builder.add(Op.TEXT, builder.name(node))


@visits("get")
def get(builder: Builder, node: int, use: int) -> int:
    """`a.b`"""
    tree = builder.tree
    if builder.dialect.calls_last and put_in_place(tree, node):
        return builder.visit(node, use)
    first = tree.first(node, OF)
    key = tree.first(node, KEY)
    is_path = builder.dialect.crates and first != NONE and tree.kind(first) == IS_NAME
    builder.begins_path = is_path and tree.source[tree.end[first] : tree.start[key]] == b"::"
    of = builder.optional(first)
    builder.begins_path = False
    types: list[int] = []
    if key == NONE:
        key, types = generic_key(builder, node)
    else:
        types = [builder.visit(kid, Use.TYPE) for kid in tree.kids[node] if tree.labels[kid] & TYPE]
    if key == NONE or of == NONE:
        return 0
    if tree.kind(key) == IS_PATH:  # a->B::c()
        return builder.visit(key, use)
    key = without_sigil(builder, key)
    between = tree.source[tree.end[first] : tree.start[key]]
    if builder.dialect.says_virtual and between in (b".", b"->"):
        builder.mean_value(of)
    if between == b"::" and builder.dialect.crates:  # in PHP a class stands before it
        of = before_others(builder, of)
    elif between == b"->" and builder.dialect.pointers and builder.expressions[of][0] != Op.THIS:
        of = builder.add(Op.POINTED, of, builder.named("operator->"))
    part = builder.name(key)
    builder.replace([key], of)
    at = builder.use_path(of, part, builder.add(Op.GET, of, part))
    builder.site(key, use, at)
    if use == Use.CALL and types:
        builder.applied[at] = types
    if use == Use.TYPE and builder.bounded_paths and (name := builder.bounded_path(node)) != NONE:
        return builder.add(Op.EVERY, [at, builder.use_name(name)])
    return builder.add(Op.INDEX, at, builder.add(Op.TUPLE, types)) if types and use == Use.TYPE else at


def to_types(builder: Builder, at: int, types: list[int]) -> int:
    """What is applied to types, if there are any: `a<B, C>`."""
    if not types:
        return at
    return builder.add(Op.INDEX, at, together(builder, types))


def together(builder: Builder, types: list[int]) -> int:
    """What a type is applied to, as one expression: several types, or one alone that is no tuple, `A<(B, C)>`."""
    is_alone = len(types) == 1 and not (
        builder.expressions[types[0]][0] == Op.TUPLE and builder.expressions[types[0]][1]
    )
    return types[0] if is_alone else builder.add(Op.TUPLE, types)


def without_sigil(builder: Builder, node: int) -> int:
    """The node of a field's name, which no sigil is part of: `s` in `A::$s`."""
    kids = builder.tree.kids[node]
    return kids[0] if builder.dialect.sigil and kids else node


@visits("reference")
def reference(builder: Builder, node: int, use: int) -> int:
    """`a::b`, `::b`: a function, and no variable of its name, where a name alone means the variable."""
    alone = builder.tree.first(node, VALUE)
    at = get(builder, node, use) if alone == NONE else builder.visit(alone, use)
    return wrapped(builder, Op.ALIAS, at)


def before_others(builder: Builder, at: int) -> int:
    """A name that others follow in a path: of a namespace and what else may have its name, it is the namespace."""
    if builder.dialect.spaces != "global" and not builder.dialect.crates:
        return at
    return wrapped(builder, Op.PREFIX, at)


def wrapped(builder: Builder, op: int, at: int) -> int:
    """What an operation makes of an expression, which the occurrence just added then means."""
    meant = builder.add(op, at)
    if builder.sites and builder.sites[-1].at == at:
        builder.sites[-1].at = meant
    return meant


def is_generic(builder: Builder, node: int) -> bool:
    """Whether a node is a name with types: `a<B>`."""
    tree = builder.tree
    return tree.kind(node) == IS_INDEX and any(tree.labels[kid] & TYPE for kid in tree.kids[node][1:])


def generic_key(builder: Builder, node: int) -> tuple[int, list[int]]:
    """Read the types of `a.b<C>`; return the node of `b`, and the types."""
    tree = builder.tree
    for kid in tree.kids[node]:
        if not tree.labels[kid] & OF and is_generic(builder, kid):
            key, *types = tree.kids[kid]
            return key, [builder.visit(type_, Use.TYPE) for type_ in types]
    return NONE, []


@visits("index")
def index(builder: Builder, node: int, use: int) -> int:
    """`a[b]`"""
    tree = builder.tree
    if use != Use.TYPE:
        builder.scopes[builder.frame].flags |= Flag.INDEXES
    of, *keys = [builder.visit(kid, inner) for kid, inner in key_uses(builder, node, use)] or [0]
    builder.replace(tree.kids[node], of)
    if len(keys) == 1 and tree.kind(tree.kids[node][1]) == IS_SLICE:
        return part_of(builder, of, tree.kids[node][1])
    if use in (Use.TYPE, Use.INHERIT):
        builder.apply(of, len(keys))
    key = keys[0] if len(keys) == 1 and use != Use.TYPE else together(builder, keys)
    at = builder.add(Op.INDEX, of, key, *called_by_key(builder, of, keys if use == Use.READ else []))
    if keys and use not in (Use.TYPE, Use.INHERIT) and (method := by_key(builder, "[]")):
        runs(builder, tree.kids[node][0], builder.named(method), at)
    constant = constant_key(builder, key)
    return builder.use_path(of, constant, at) if constant else at


def called_by_key(builder: Builder, of: int, keys: list[int]) -> list[int]:
    """The call that `a[b]` is of Kotlin, `a.get(b)`."""
    method = builder.dialect.operators.get("[]") if keys and builder.dialect.selects else None
    return [builder.add(Op.CALL, builder.add(Op.GET, of, builder.named(method)), keys, [])] if method else []


def key_uses(builder: Builder, node: int, use: int) -> list[tuple[int, int]]:
    """What stands in `A[B, C]`, with its use: of a type so are all, or the first few, `Annotated[B, "words"]`."""
    kids = builder.tree.kids[node]
    if use not in (Use.TYPE, Use.INHERIT) or not kids:
        return [(kid, Use.READ) for kid in kids]
    name = builder.tree.text(kids[0]).rpartition(".")[2]
    typed = builder.dialect.typed_keys.get(name, len(kids))
    return [(kids[0], use), *((kid, Use.TYPE if place < typed else Use.READ) for place, kid in enumerate(kids[1:]))]


def part_of(builder: Builder, of: int, node: int) -> int:
    """`a[1:3]`: those elements, or any where the places are not written out."""
    places = builder.tree.text(node).split(":")
    if len(places) == 2 and all(place.strip().isdecimal() and len(place) < 4 for place in places):
        first, end = map(int, places)
        if end - first <= MAX_SLICE:
            return builder.add(Op.LIST, [builder.add(Op.ITEM, of, place) for place in range(first, end)], True)
    return builder.add(Op.LIST, [~of], False)


@visits("slice")
def slice_(builder: Builder, node: int, _use: int) -> int:
    """`1:3`"""
    builder.visit_all(node)
    return 1


def constant_key(builder: Builder, key: int) -> tuple[object, ...] | None:
    """A key that is written out."""
    found = builder.expressions[key]
    return found if found[0] in (Op.TEXT, Op.NUMBER) else None


def read_choice(
    builder: Builder, node: int, use: int, found: list[tuple[int, int]], narrowed: Sequence[tuple[int, int]] = ()
) -> None:
    """Read one of the parts of a choice, where names are `narrowed`, and add it to those that are found."""
    kept = narrow(builder, narrowed)
    at = builder.visit(node, use)
    for key, binding in kept:  # behind the choice nothing is known of it
        if builder.flow.layers[-1].get(key) == (binding,):
            del builder.flow.layers[-1][key]
    found.append((node, builder.add(Op.PRESENT, at) if builder.tree.labels[node] & IS_PRESENT else at))


@visits("choice")
def choice(builder: Builder, node: int, use: int) -> int:
    """`a if b else c`, `a or b`, `a | b`"""
    tree = builder.tree
    builder.scopes[builder.frame].flags |= Flag.OPERATES
    inner = use if use == Use.TYPE else Use.READ
    found: list[tuple[int, int]] = []
    narrowed: list[tuple[int, int]] = []
    for place, kid in enumerate(sorted(tree.kids[node], key=lambda kid: not tree.labels[kid] & COND)):
        if place and tree.labels[kid] & ARM:  # a || (b = c), (a := b) if c else d
            arm, _ = builder.flow.arm(partial(read_choice, builder, kid, inner, found, narrowed))
            narrowed = []
            if arm:
                builder.flow.join([(arm, False)], optional=True)
        else:
            read_choice(builder, kid, inner, found)
            if builder.dialect.both_hold and use != Use.TYPE and not tree.labels[kid] & ARM:  # a instanceof B && a.c()
                holds = tree.labels[kid] & COND or is_both(builder, node)
                narrowed = refuted_by(builder, kid) if is_either(builder, node) else []
                narrowed = narrowed_by(builder, kid) if holds else narrowed
    parts = [at for kid, at in found if tree.labels[kid] & ARM]
    if not builder.dialect.operators or not tree.labels[node] & IS_COMPUTED or use == Use.TYPE:
        return builder.add(Op.CHOICE, parts)
    kids = tree.kids[node]
    method = operator_between(builder, *kids[:2]) if len(kids) > 1 else NONE
    at = builder.add(Op.CHOICE, parts, method)
    return at if method == NONE else runs(builder, kids[0], method, at)


@visits("pointed")
def pointed(builder: Builder, node: int, use: int) -> int:
    """`*a`"""
    of = builder.optional(builder.tree.first(node, VALUE), use)
    return of if use == Use.CALL or of <= 1 else builder.add(Op.POINTED, of, builder.named("operator*"))


@visits("addressed")
def addressed(builder: Builder, node: int, use: int) -> int:
    """`&a`; in C# `ref a` or `out a`, whatever that is"""
    of = builder.optional(builder.tree.first(node, VALUE), use)
    is_told = builder.dialect.selects == "nearest"
    return of if use == Use.CALL or (of <= 1 and not is_told) else builder.add(Op.ADDRESSED, max(of, 0))


@visits("pointee")
def pointee(builder: Builder, node: int, use: int) -> int:
    """`unique_ptr<A>` in `unique_ptr<A>* b`, or the file's name for that: what b points to is a pointer itself."""
    builder.tree.unsay(node, IS_POINTEE)
    at = builder.visit(node, use)
    own = NONE if builder.expressions[at][0] == Op.GET else last_number(builder, at)  # `n::A`, of another scope
    bound = [builder.bindings[known].value for known in builder.scopes[0].every.get(own, ())]
    known = bound[0] if len(bound) == 1 else at
    if is_pointer_type(builder, known):
        return builder.add(Op.ARRAY, at, False)
    return at if builder.expressions[known][0] == Op.CLASS else builder.add(Op.POINTEE, at)


def own_type(builder: Builder, type_: int, name: int) -> int:
    """The type of one of the variables of a declaration, `b` of `unique_ptr<A> *a, b`: only some need be pointers.

    What has brackets behind it, `char a[2]`, is one where it is passed.
    """
    if type_ == NONE or not builder.dialect.pointers or builder.expressions[type_][0] not in (Op.ARRAY, Op.POINTEE):
        return type_
    tree = builder.tree
    before = tree.source[max(0, tree.start[name] - FAR_FROM_POINTER) : tree.start[name]]
    is_array = tree.source[tree.end[name] : tree.end[name] + 1] == b"["
    is_pointer = is_array or before.replace(b"const", b"").rstrip(b" \t\n&").endswith(b"*")
    of: int = builder.expressions[type_][1]
    return type_ if is_pointer else of


def of_brackets(builder: Builder, node: int, type_: int) -> int:
    """The type of what has brackets behind its name, `int a[]`: arrays of what is declared before it."""
    behind = builder.tree.first(node, BRACKETS)
    if behind == NONE or type_ == NONE:
        return type_
    builder.visit(behind)
    for _ in range(builder.tree.text(behind).count("[")):
        type_ = builder.add(Op.ARRAY, type_, False)
    return type_


def is_pointer_type(builder: Builder, at: int) -> bool:
    """Whether a type is a pointer of a library, applied to a type."""
    op, *parts = builder.expressions[at]
    return op == Op.INDEX and last_name(builder, parts[0]) in builder.dialect.pointers


def last_name(builder: Builder, at: int) -> str:
    """The last word of a name or path; empty for anything else."""
    name = last_number(builder, at)
    return "" if name == NONE else builder.text_of(name)


def last_number(builder: Builder, at: int) -> int:
    """The number of the last word of a name or path; -1 for anything else."""
    op, *parts = builder.expressions[at]
    found: int = parts[1] if op == Op.GET else parts[0] if op in (Op.NAME, Op.BARE) else NONE
    return found


@visits("await")
def await_(builder: Builder, node: int, use: int) -> int:
    """`await a`, `b = a` among types: a itself; `<-a`: what it gives."""
    tree = builder.tree
    for kid in tree.kids[node]:
        if tree.kind(kid) == IS_LABEL:
            builder.visit(kid)
    of = tree.first(node, VALUE)
    if of == NONE and tree.labels[node] & VALUE:  # there is no more than the name: `[A]`
        tree.unsay(node, IS_AWAIT)
        return builder.visit(node, use)
    value = builder.optional(of, use)
    for kid in tree.kids[node]:
        if kid != of and tree.kind(kid) != IS_LABEL:  # the bounds of `a[b:c]`
            builder.visit(kid, use)
    return builder.add(Op.ELEMENT, value) if of != NONE and tree.labels[of] & OVER else value
