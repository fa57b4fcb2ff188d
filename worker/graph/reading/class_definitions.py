"""How classes and namespaces become scopes, and what is above them what those stand on."""

from fledgling.worker.graph.reading.assignments import FRESH, assign_each
from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.call_expressions import called
from fledgling.worker.graph.reading.calls_on_classes import note_for_includers
from fledgling.worker.graph.reading.definitions import apart, note_types, read_rest, said_inside
from fledgling.worker.graph.reading.labels import (
    ARGS,
    BITS,
    BODY,
    DEFINED,
    IS_GET,
    IS_INDEX,
    IS_KEYWORD,
    KEY,
    MODULE,
    OF,
    RETURNS,
    WORD,
)
from fledgling.worker.graph.reading.paths import path_of
from fledgling.worker.graph.reading.reduced import MAX_DEPTH, Reduced
from fledgling.worker.graph.reading.tagged_types import hold_told
from fledgling.worker.graph.reading.told_types import comment_before, note_templates
from fledgling.worker.graph.tables import NONE, OF_ITSELF, Flag, Op, ScopeKind, Use

BASE, PREPENDED, CONTAINER, STATIC = BITS["base"], BITS["prepended"], BITS["container"], BITS["static"]
PARTIAL = BITS["partial"]
SAID = {  # a flag of a class, by the role that says it
    PARTIAL: Flag.PARTIAL,
    BITS["hidden"]: Flag.HIDDEN,
    BITS["abstract"]: Flag.ABSTRACT,
    BITS["open"]: Flag.OPEN,
    BITS["derives"]: Flag.DERIVES,
    BITS["inner"]: Flag.INNER,
    BITS["single"]: Flag.SINGLE,
    BITS["constructor"]: Flag.HEADED,
    BITS["extends_none"]: Flag.EXTENDS_NONE,
    BITS["hands_on"]: Flag.HANDS_ON,
}
IS_MIXIN, IS_NAMESPACE = BITS["mixin"], BITS["namespace"]
METACLASS = "metaclass"
KINDS_OF_CLASS = {
    BITS["class"]: ScopeKind.CLASS,
    BITS["interface"]: ScopeKind.INTERFACE,
    BITS["namespace"]: ScopeKind.NAMESPACE,
}


@visits("class", "interface", "namespace")
def class_(builder: Builder, node: int, _use: int) -> int:
    """`class A(B): c`; `(class A { b })` sees its own name."""
    tree = builder.tree
    own, word = tree.first(node, DEFINED), tree.first(node, WORD)
    if own != NONE and tree.kind(own) == IS_GET:
        return nested(builder, node, tree.leaves(own))
    if own != NONE and tree.kind(own) == IS_INDEX:  # struct A<B> {}: what it has is a member of A
        builder.extensions.append((builder.visit(own, Use.TYPE), len(builder.scopes)))
    if word == NONE or not builder.dialect.prototypes:
        value = define_class(builder, node, [], builder.first_line(node))
        if tree.labels[node] & FRESH:  # typedef struct { int a; } B, *C;
            assign_each(builder, node, tree.having(node, DEFINED)[1:], value, NONE)
        return value
    around = builder.enter(NONE, ScopeKind.BLOCK, NONE, builder.line(node))
    builder.show(around, builder.name(word))
    value = define_class(builder, node, [], builder.first_line(node))
    builder.bind_silently(builder.name(word), around, value, word, OF_ITSELF)
    builder.leave()
    builder.define_member(word, value, OF_ITSELF)
    return value


def nested(builder: Builder, node: int, names: list[int]) -> int:
    """`namespace A.B { c }`: B stands in A, of which there may be more in other places."""
    if builder.depth + len(names) > MAX_DEPTH:
        return builder.list_names(node)
    scopes, line = list[int](), builder.first_line(node)
    for at, name in enumerate(map(builder.name, names), 1):
        builder.show(builder.scope, name)
        scopes.append(builder.enter(node if at == len(names) else NONE, ScopeKind.NAMESPACE, name, line))
    builder.depth += len(names)
    builder.body(builder.tree.first(node, BODY))
    builder.depth -= len(names)
    value = 0
    for own, scope in zip(reversed(names), reversed(scopes), strict=True):
        builder.leave()
        value = builder.add(Op.CLASS, scope)
        builder.bind(own, value, Use.DEFINITION)
    return value


def embed(builder: Builder, scope: int, base: int, node: int) -> None:
    """What is embedded in a struct is a field as well, with the name of its type: `A`, `*b.A`, `A[B]`."""
    tree = builder.tree
    op, *parts = builder.expressions[base]
    if op == Op.INDEX and tree.kids[node]:
        node = tree.kids[node][0]
        op, *parts = builder.expressions[parts[0]]
    if op in (Op.NAME, Op.GET):
        name = parts[0] if op == Op.NAME else parts[1]
        value = builder.add(Op.DECLARED, base, NONE)
        binding = builder.bind_silently(name, scope, value, node)
        if builder.scopes[scope].kind == ScopeKind.CLASS:
            builder.site(node if op == Op.NAME else tree.first(node, KEY), Use.DEFINITION, value, binding)


def name_self(builder: Builder, scope: int, type_: int, node: int) -> None:
    """Bind the word that means the type around: `Self`."""
    if builder.dialect.self_type:
        builder.bind_silently(builder.named(builder.dialect.self_type), scope, builder.add(Op.ALIAS, type_), node)


@visits("extension")
def extension(builder: Builder, node: int, _use: int) -> int:
    """`impl A for B { c }`: members of B, which stands elsewhere, and A above it."""
    tree = builder.tree
    of, body = tree.first(node, OF), tree.first(node, BODY)
    scope = builder.enter(node, ScopeKind.CLASS, NONE, builder.line(node))
    read_rest(builder, node)
    type_ = builder.optional(of, Use.TYPE)
    builder.scopes[scope].bases = [builder.visit(kid, Use.INHERIT) for kid in tree.having(node, BASE)]
    if type_ != NONE:
        name_self(builder, scope, type_, node)
        builder.extensions.append((type_, scope))
    builder.body(body)
    builder.leave()
    return 0


@visits("singleton")
def singleton(builder: Builder, node: int, _use: int) -> int:
    """`class << self; a = b; end` in a class of Ruby: that extends what is included here, whose variables are apart."""
    for kid in builder.tree.having(node, STATIC):
        builder.tree.unsay(kid, IS_MIXIN)
    around = builder.singleton, builder.opened
    builder.singleton, builder.opened = node, builder.scope
    builder.visit_all(node)
    builder.singleton, builder.opened = around
    return 0


def embedded_in(tree: Reduced, body: int) -> list[int]:
    """Take the bases out of a body that stand among the members: what is embedded, included, or of a companion."""
    if tree.kind(body) == IS_MIXIN and tree.first(body, OF) == NONE:  # the only one
        mixed_in = mixed_in_by(tree, body)
        tree.kids[body] = []
        return mixed_in
    if tree.kind(body):  # the only member
        return []
    embedded = tree.having(body, BASE)
    mixed_in = [kid for kid in tree.kids[body] if tree.kind(kid) == IS_MIXIN and tree.first(kid, OF) == NONE]
    tree.kids[body] = [kid for kid in tree.kids[body] if kid not in embedded and kid not in mixed_in]
    return embedded + [base for kid in reversed(mixed_in) for base in mixed_in_by(tree, kid)]


def mixed_in_by(tree: Reduced, node: int) -> list[int]:
    """What `include A` or `include(A)` names."""
    args = tree.first(node, ARGS)
    return tree.having(node, BASE) or (tree.having(args, BASE) if args != NONE else [])


def define_class(builder: Builder, node: int, decorators: list[int], line: int) -> int:
    """Read a class whose definition begins on a line."""
    tree = builder.tree
    own, body = tree.first(node, DEFINED), tree.first(node, BODY)
    within = embedded_in(tree, body) if body != NONE and body != node else []
    of_itself = list[int]()
    if not builder.dialect.bare_calls:
        of_itself = [kid for kid in within if tree.labels[kid] & STATIC]
        tree.kids[node] = [kid for kid in within if kid not in of_itself] + tree.kids[node] + of_itself
    bases, prepended, places, metaclass = bases_of(builder, node)
    word = tree.first(node, WORD) if builder.dialect.prototypes else NONE
    name = name_of(builder, node, word if own == NONE else own)
    whole = tree.first(node, CONTAINER)
    container = NONE
    if whole != NONE:  # class A::B
        own, name = NONE, builder.name(whole)
        container, word = apart(builder, whole)
    said = said_inside(tree, node) | PARTIAL * builder.dialect.bare_calls
    flags = sum(flag for role, flag in SAID.items() if said & role)
    flags |= Flag.STATIC if tree.labels[node] & STATIC else 0  # of C++, in a namespace without a name
    flags |= Flag.SINGLE if of_itself else 0  # what it inherits may be what its companion object does
    scope = builder.enter(node, KINDS_OF_CLASS[tree.kind(node)], name, line, flags)
    if builder.dialect.bare_calls:  # the class itself may define what it includes
        mixed_in = [builder.visit(kid, Use.INHERIT) for kid in within]
        prepended += [at for at, kid in zip(mixed_in, within, strict=True) if tree.labels[kid] & PREPENDED]
        bases = mixed_in + bases
    builder.scopes[scope].bases, builder.scopes[scope].prepended = bases, prepended
    builder.scopes[scope].metaclass = metaclass
    if own != NONE:
        name_self(builder, scope, builder.add(Op.CLASS, scope), node)
    builder.scopes[scope].returns = builder.optional(tree.first(node, RETURNS), Use.TYPE)
    read_rest(builder, node)
    note_types(builder, scope, [])
    comment = comment_before(builder, node)
    note_templates(builder, scope, comment)
    hold_told(builder, scope, comment, line)
    if builder.dialect.embeds:
        for base, place in zip(bases, places, strict=True):
            embed(builder, scope, base, place)
    builder.body(body)
    builder.leave()
    value = builder.add(Op.CLASS, scope)
    if decorators:
        value = builder.add(Op.DECORATED, value, decorators)
    if own != NONE:
        bind_class(builder, node, own, value)
    elif container != NONE:
        builder.members.append((container, len(builder.bindings)))
        builder.define_member(word, value)
    return value


def bind_class(builder: Builder, node: int, own: int, value: int) -> None:
    r"""Give a class its name; `namespace A\B;` says where what follows is, and is no definition of a B."""
    if builder.tree.kind(node) == IS_NAMESPACE and builder.dialect.spaces == "global":
        path_of(builder, own, NONE, is_last=False)
    else:
        builder.bind(own, value, Use.DEFINITION)


def name_of(builder: Builder, node: int, named: int) -> int:
    """The name of a class, or of a module that is declared, `declare module "m" {}`; -1 where it has none."""
    module = builder.tree.first(node, MODULE)
    if module != NONE:
        return builder.named(builder.tree.text(module).strip("'\""))
    return NONE if named == NONE else builder.name(named)


def bases_of(builder: Builder, node: int) -> tuple[list[int], list[int], list[int], int]:
    """Read what is above a class: its bases, those whose members come first, their nodes, and its metaclass."""
    tree = builder.tree
    bases, prepended, places, metaclass = [], [], [], NONE
    for kid in tree.having(node, BASE):
        is_word = tree.kind(kid) == IS_KEYWORD
        base = builder.visit(kid, Use.READ if is_word else Use.INHERIT)
        if not is_word:
            mean_base(builder, base)
            bases.append(base)
            places.append(kid)
            prepended += [base] if tree.labels[kid] & PREPENDED else []
        elif tree.text(tree.first(kid, WORD)) == METACLASS:
            metaclass = base
    return bases, prepended, places, metaclass


def mean_base(builder: Builder, base: int) -> None:
    """Let the name of a base mean a type, which has as many type parameters as it is given."""
    op, *parts = builder.expressions[base]
    if builder.dialect.selects:
        builder.mean_type(parts[0] if op == Op.INDEX else base)
    if builder.dialect.selects and op == Op.INDEX:
        key, *some = builder.expressions[parts[1]]
        builder.apply(parts[0], len(some[0]) if key == Op.TUPLE else 1)


@visits("mixin")
def mixin(builder: Builder, node: int, use: int) -> int:
    """`A.include B`: B is above A, which stands elsewhere; nothing is known of `include B` outside of a class."""
    tree = builder.tree
    of = tree.first(node, OF)
    if of == NONE:
        return called(builder, node, Op.CALL, use)
    type_ = builder.visit(of)
    mixed_in = mixed_in_by(tree, node)
    bases = [builder.visit(kid, Use.INHERIT) for kid in mixed_in]
    note_for_includers(builder, [], bases)
    scope = builder.enter(node, ScopeKind.CLASS, NONE, builder.line(node))
    builder.scopes[scope].bases = bases
    builder.scopes[scope].prepended = bases if all(tree.labels[kid] & PREPENDED for kid in mixed_in) else []
    builder.extensions.append((type_, scope))
    builder.leave()
    return 0
