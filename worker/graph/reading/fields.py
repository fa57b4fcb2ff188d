"""How fields, constants and variables are declared, with or without a type."""

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.call_expressions import of_type
from fledgling.worker.graph.reading.constness import note_constness
from fledgling.worker.graph.reading.definitions import said_inside
from fledgling.worker.graph.reading.expressions import of_brackets, own_type
from fledgling.worker.graph.reading.labels import (
    ALIAS,
    ARG,
    BIND,
    BITS,
    IS_CALL,
    IS_CLASS,
    IS_COMPUTED,
    IS_PARAM,
    KEY,
    RECEIVER,
    REST,
    RIGHT,
    TYPE,
    VALUE,
)
from fledgling.worker.graph.reading.targets import left_of, target
from fledgling.worker.graph.reading.told_types import comment_before, told_instead, told_type
from fledgling.worker.graph.tables import (
    COMPONENT,
    DECLARED,
    NONE,
    OF_CLASS,
    OF_OBJECTS,
    OF_PACKAGE,
    POSITIONAL,
    PRIVATE,
    Op,
    Parameter,
    ScopeKind,
    Use,
)

HIDDEN, OPEN, STATIC = BITS["hidden"], BITS["open"], BITS["static"]
DECLARATION, IS_FIELD, IS_PAYLOAD = BITS["declaration"], BITS["field"], BITS["payload"]


@visits("field")
def field(builder: Builder, node: int, _use: int) -> int:
    """`a: T = b` in a class"""
    tree = builder.tree
    type_ = of_brackets(builder, node, builder.optional(tree.first(node, TYPE), Use.TYPE))
    value = of_type(builder, tree.first(node, VALUE), type_)
    told = told_type(builder, comment_before(builder, node), "var")
    type_ = told_instead(builder, tree.first(node, TYPE), type_, told)
    is_constant = bool(tree.labels[node] & RECEIVER)
    if is_constant:  # of an enum, an object of it; what one of C++ names is no plain number
        value = builder.add(Op.COMPUTED) if tree.labels[node] & IS_COMPUTED else builder.add(Op.THIS, builder.scope)
    if tree.labels[node] & ALIAS:
        value = builder.add(Op.RENAMED, value)
    how = how_held(builder, node)
    is_name = tree.labels[node] & BIND  # `A` of `enum E { A, B(1) }` is as long as its name
    for kid in [node] if is_name else tree.kids[node]:
        if tree.labels[kid] & BIND and (kid == node or not tree.labels[kid] & IS_FIELD):
            if how == COMPONENT:
                type_ = component(builder, kid, type_)
            held = value if type_ == NONE else builder.add(Op.DECLARED, own_type(builder, type_, kid), value)
            bound = tree.kids[kid][0] if builder.dialect.sigil and tree.kids[kid] else kid  # $a, used as b->a
            name = builder.name(bound)
            is_outer = tree.labels[kid] & BITS["of_no_class"]  # in a struct of C: `enum { A } b`
            scope = max(builder.binder(builder.key(bound)), 0) if is_outer else builder.scope
            builder.show(scope, name)
            builder.begin(bound, node)
            builder.name_value(value, bound)
            binding = builder.bind_name(name, scope, max(held, 1), bound, Use.DEFINITION, how=how)
            note_constness(builder, node, bound, binding)
        elif tree.kind(kid) == IS_PAYLOAD:
            hold(builder, kid, f"{builder.text_of(builder.bindings[-1].name)}.")
        elif not tree.labels[kid] & (TYPE | VALUE):
            op, *of = builder.expressions[builder.visit(kid)]
            name_in_variant(builder, node, kid)
            if op == Op.CLASS and tree.kind(kid) == IS_CLASS and tree.labels[node] & RECEIVER:
                builder.scopes[of[0]].bases = [builder.add(Op.CLASS, builder.scope)]  # A { void b() {} }, a class below
    if tree.labels[node] & ALIAS and not is_name and not any(tree.labels[kid] & BIND for kid in tree.kids[node]):
        chosen = tree.first(tree.first(node, VALUE), KEY)  # A::b insteadof C
        builder.bind_silently(builder.name(chosen), builder.scope, value, chosen)
    return 0


def component(builder: Builder, named: int, type_: int) -> int:
    """Note what a record of Java takes behind its name, `A... b`, and return the type of the field, an array there."""
    is_rest = bool(builder.tree.labels[named] & REST)
    row = Parameter(builder.name(named), type_, rest=int(is_rest))
    builder.components.setdefault(builder.scope, []).append(row)
    return builder.add(Op.ARRAY, type_, False) if is_rest and type_ != NONE else type_


def how_held(builder: Builder, node: int) -> int:
    """What its binding says of a field, or of what a record takes behind its name."""
    tree = builder.tree
    if builder.dialect.prototypes:
        return OF_CLASS if said_inside(tree, node) & STATIC else OF_OBJECTS
    if tree.labels[node] & BITS["property"]:
        return POSITIONAL
    return COMPONENT if builder.dialect.calls_methods and not tree.labels[node] & RECEIVER else 0


def name_in_variant(builder: Builder, node: int, kid: int) -> None:
    """Let a field of a variant of Rust, which was read just now, go by the names of both: `A { b: c }`, by `A.b`."""
    tree = builder.tree
    if builder.dialect.crates and tree.labels[kid] & IS_FIELD and tree.labels[node] & RECEIVER:
        named, variant = builder.bindings[-1], builder.text_of(builder.name(tree.first(node, BIND)))
        of_variant = builder.named(f"{variant}.{builder.text_of(named.name)}")
        builder.bind_at(of_variant, builder.scope, named.value, named.line)


@visits("payload")
def payload(builder: Builder, node: int, _use: int) -> int:
    """`(A, B)` of `struct C(A, B)`: fields that have numbers for names."""
    hold(builder, node, "")
    return 0


def hold(builder: Builder, node: int, before: str) -> None:
    """Declare what a tuple with a name holds, or a variant of an enumeration, by its place: `0`, `A.0`."""
    tree = builder.tree
    for place, kid in enumerate(tree.having(node, TYPE)):
        held = builder.add(Op.DECLARED, builder.visit(kid, Use.TYPE), NONE)
        builder.bind_silently(builder.named(f"{before}{place}"), builder.scope, held, kid)
    for kid in tree.kids[node]:
        if not tree.labels[kid] & TYPE:
            builder.visit(kid)


@visits("variables")
def variables(builder: Builder, node: int, _use: int) -> int:
    """`T a = b, c`"""
    tree = builder.tree
    type_ = builder.optional(tree.first(node, TYPE), Use.TYPE)
    behind = tree.first(node, RIGHT)  # of a condition: `if (A *b = c)`
    for kid in tree.kids[node]:
        if tree.kind(kid) == BITS["assign"]:
            own = of_brackets(builder, kid, type_)
            value = of_type(builder, tree.first(kid, RIGHT) if behind == NONE else behind, own)
            left = left_of(builder, kid)
            before = len(builder.bindings)
            if builder.complete:  # else it may be values of an enum, around what the grammar does not know
                builder.begin(left, node)
            target(builder, left, builder.add(Op.DECLARED, max(own_type(builder, own, left), 0), value))
            note_constness(builder, node, left, before)
            if tree.labels[node] & DECLARATION and value == NONE:
                for row in builder.bindings[before:]:
                    row.how = DECLARED
            elif builder.scopes[builder.scope].kind == ScopeKind.CLASS:
                how = seen_by_others(builder, said_inside(tree, node))
                for row in builder.bindings[before:]:
                    row.how = how
        elif tree.labels[kid] & (TYPE | ARG) != TYPE and kid != behind:
            if tree.labels[kid] & IS_CALL:  # `A a(b());` of C++
                tree.unsay(kid, IS_PARAM)
            builder.visit(kid)
    return 0


def seen_by_others(builder: Builder, said: int) -> int:
    """Which other files see a field of a class itself, by what is said of it."""
    if said & HIDDEN and not said & OPEN:
        return PRIVATE
    if not said & STATIC:
        return OF_OBJECTS
    return OF_PACKAGE if builder.dialect.members_of_packages and not said & OPEN else 0
