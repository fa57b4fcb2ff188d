"""How types that are written out become expressions: of functions, arrays, values, results."""

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.definitions import RECEIVER_TYPE, read_function, read_rest
from fledgling.worker.graph.reading.labels import BIND, BITS, BRACKETS, DEFINED, KEY, OF, TYPE, VALUE
from fledgling.worker.graph.reading.targets import target
from fledgling.worker.graph.tables import NONE, SIGNATURE, Op, ScopeKind, Use

IS_CHANNEL, IS_KEYS = BITS["channel"], BITS["keys"]
FAR_FROM_TYPE = 64  # bytes behind the type of an array in which its brackets stand


@visits("signature")
def signature(builder: Builder, node: int, _use: int) -> int:
    """The type of a function: `(a: A) => B`, `A.() -> B`."""
    receiver = builder.optional(builder.tree.first(node, RECEIVER_TYPE), Use.TYPE)
    scope = read_function(builder, node, ScopeKind.SIGNATURE, NONE, builder.line(node), 0)
    builder.scopes[scope].bases = [] if receiver == NONE else [receiver]
    value = builder.add(Op.FUNCTION, scope)
    if builder.tree.labels[node] & BITS["open"]:  # interface A { (b: B): C }; delegate C A(B b);
        around = builder.scopes[builder.scope]
        if around.returns != NONE:
            builder.scopes[scope].returns, around.returns = around.returns, NONE
        builder.bind_silently(builder.named(SIGNATURE), builder.scope, value, node)
    return value


@visits("array", "channel")
def array(builder: Builder, node: int, use: int) -> int:
    """`T[]`, `T[][]` where that is one node, `T[,]`, `chan T`, `map[A]T`"""
    tree = builder.tree
    found = [(kid, builder.visit(kid, use)) for kid in tree.kids[node]]
    kid, of = next(((kid, at) for kid, at in found if tree.labels[kid] & OF), (NONE, NONE))
    if of == NONE:
        return 1
    brackets = tree.source[tree.end[kid] : tree.end[node]].count(b"[", 0, FAR_FROM_TYPE)
    for _ in range(brackets - 1):
        of = builder.add(Op.ARRAY, of, False)
    behind = tree.first(node, BRACKETS)
    further = [] if behind == NONE else [tree.text(behind).count(",")]
    if key := next((at for kid, at in found if tree.labels[kid] & KEY), 0):  # map[A]B
        further = [0, key]
    return builder.add(Op.ARRAY, of, tree.kind(node) == IS_CHANNEL, *further)


@visits("array_made")
def array_made(builder: Builder, node: int, _use: int) -> int:
    """`new T[] {a}`, `new T[a][]`: an array of the type that it says."""
    tree = builder.tree
    of = max(builder.optional(tree.first(node, OF), Use.TYPE), 0)
    dimensions = 0
    for kid in tree.having(node, BRACKETS):
        builder.visit_all(kid)
        dimensions += 1 if tree.kids[kid] else tree.text(kid).count("[", 0, FAR_FROM_TYPE)
    for _ in range(min(dimensions, FAR_FROM_TYPE)):
        of = builder.add(Op.ARRAY, of, False)
    return builder.add(Op.CAST, of, max(builder.optional(tree.first(node, VALUE)), 0))


@visits("typeof")
def typeof(builder: Builder, node: int, _use: int) -> int:
    """The type of a value: `typeof a`."""
    found = [builder.visit(kid) for kid in builder.tree.kids[node]]
    return builder.add(Op.VALUE, found[-1]) if found else 1


@visits("predicate")
def predicate(builder: Builder, node: int, _use: int) -> int:
    """`a is B`"""
    tree = builder.tree
    found = [(kid, builder.visit(kid, Use.TYPE if tree.labels[kid] & TYPE else Use.READ)) for kid in tree.kids[node]]
    types = [at for kid, at in found if tree.labels[kid] & TYPE]
    return builder.add(Op.PREDICATE, types[-1]) if types else 0


@visits("lookup")
def lookup(builder: Builder, node: int, _use: int) -> int:
    """`A["b"]`, `A[number]`"""
    parts = [builder.visit(kid, Use.TYPE) for kid in builder.tree.kids[node]]
    return builder.add(Op.LOOKUP, parts[0], parts[1] if len(parts) > 1 else 0) if parts else 0


@visits("keyed")
def keyed(builder: Builder, node: int, _use: int) -> int:
    """`{ [a: string]: B }` is a `Record<string, B>`, `{ [A in keyof B]: C }` has what B has."""
    tree = builder.tree
    builder.enter(node, ScopeKind.BLOCK, NONE, builder.line(node))
    read = {kid: builder.visit(kid, Use.TYPE) for kid in tree.kids[node]}
    builder.leave()
    of_same = [kid for kid in read if tree.kind(kid) == IS_KEYS]
    of = next((at for kid, at in read.items() if tree.labels[kid] & OF), 0)
    any_keys, same_keys = builder.dialect.keyed_types
    name, type_ = (same_keys, read[of_same[0]]) if of_same else (any_keys, of)
    return builder.add(Op.INDEX, builder.add(Op.NAME, builder.named(name), NONE, None), type_)


@visits("keys")
def keys(builder: Builder, node: int, _use: int) -> int:
    """`keyof A`: A, for what asks for it"""
    return ([builder.visit(kid, Use.TYPE) for kid in builder.tree.kids[node]] or [0])[0]


@visits("type_alias")
def type_alias(builder: Builder, node: int, _use: int) -> int:
    """`type A<T extends B> = C`: T is a name in there alone."""
    tree = builder.tree
    name = tree.first(node, DEFINED)
    scope = builder.enter(node, ScopeKind.BLOCK, NONE, builder.line(node))
    read_rest(builder, node)
    value = builder.visit(tree.first(node, VALUE))
    builder.leave()
    if builder.dialect.crates:  # whoever applies it to types says what T is
        value = builder.add(Op.EVERY, [value], scope)
    builder.name_value(value, name)
    builder.begin(name, node)
    target(builder, name, value)
    return value


@visits("cast")
def cast(builder: Builder, node: int, _use: int) -> int:
    """`a as T`"""
    tree = builder.tree
    value = builder.optional(tree.first(node, VALUE))
    type_ = builder.optional(tree.first(node, TYPE), Use.TYPE)
    return builder.add(Op.CAST, max(type_, 0), max(value, 0))


@visits("qualified")
def qualified(builder: Builder, node: int, _use: int) -> int:
    """`<T as A>`"""
    of, trait = (max(builder.optional(builder.tree.first(node, role), Use.TYPE), 0) for role in (VALUE, TYPE))
    return builder.add(Op.QUALIFIED, of, trait)


@visits("results")
def results(builder: Builder, node: int, _use: int) -> int:
    """`(a A, b B)` behind a function: the types of what it returns, which may have names."""
    tree = builder.tree
    parts: list[int] = []
    named: list[int] = []
    for kid in tree.kids[node]:
        if tree.labels[kid] & BIND:
            named.append(kid)
            continue
        type_ = builder.visit(kid, Use.TYPE)
        for name in named:
            builder.bind(name, builder.add(Op.DECLARED, type_, NONE), Use.DEFINITION)
        parts += [type_] * max(1, len(named))
        named = []
    return parts[0] if len(parts) == 1 else builder.add(Op.TUPLE, parts)
