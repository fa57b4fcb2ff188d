"""How the object of a method becomes an expression: `this`, `super`, and `@a`, a field of it."""

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.labels import BITS, TYPE
from fledgling.worker.graph.tables import A_TRAIT, NONE, Op, ScopeKind, Use

POINTS = BITS["points"]


@visits("this")
def this(builder: Builder, node: int, _use: int) -> int:
    """The object of a method; of the function around, where each has its own but a lambda; `this@A`: one of A.

    In Rust `**self` is what is behind `Self`, `impl A for Box<B>`.
    """
    of = builder.tree.first(node, TYPE)
    if of != NONE:
        return builder.add(Op.DECLARED, builder.visit(of, Use.TYPE), NONE)
    if builder.tree.labels[node] & POINTS:
        own = builder.use_name(builder.named(builder.dialect.self_type))
        return builder.add(Op.DECLARED, own, NONE)
    scope = builder.scope
    while builder.dialect.prototypes and builder.scopes[scope].kind in (ScopeKind.LAMBDA, ScopeKind.BLOCK):
        scope = builder.scopes[scope].parent
    if scope in builder.own_types:
        return builder.add(Op.DECLARED, builder.own_types[scope], NONE)
    return builder.add(Op.THIS, scope)


@visits("own_type")
def own_type(builder: Builder, node: int, _use: int) -> int:
    """`f(this: A)`: what a function says that it is called on."""
    builder.own_types[builder.scope] = builder.visit(builder.tree.first(node, TYPE), Use.TYPE)
    return 0


@visits("super")
def super_(builder: Builder, node: int, use: int) -> int:
    """`super`; where that is a call, of the method that has the name of this one."""
    above = builder.add(Op.SUPER, builder.frame, NONE)
    if not builder.dialect.bare_calls:
        return above
    scope = builder.scope
    while scope != NONE and builder.scopes[scope].kind != ScopeKind.FUNCTION:
        scope = builder.scopes[scope].parent
    if scope == NONE:
        return above
    method = builder.add(Op.GET, above, builder.scopes[scope].name)
    if use == Use.CALL:
        return method
    at = builder.add(Op.CALL, method, [], [])
    builder.site_of_call(node, at)
    return at


@visits("own_field")
def own_field(builder: Builder, node: int, use: int) -> int:
    """`@a`: a field of the object that a method is of"""
    part = builder.name(node)
    of = builder.add(Op.THIS, builder.scope)
    at = builder.use_path(of, part, builder.add(Op.GET, of, part))
    builder.site(node, use, at)
    return at


@visits("trait_method")
def trait_method(builder: Builder, node: int, use: int) -> int:
    """`use A { a as b; }`: the method a of a trait"""
    of = builder.add(Op.SUPER, builder.scope, NONE, A_TRAIT)
    at = builder.add(Op.GET, of, builder.name(node))
    builder.site(node, use, at)
    return at
