"""Classes of Ruby that a call makes: `Struct.new(:a) { def b = c }`, `Class.new(A) do def b; end end`."""

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.call_expressions import called
from fledgling.worker.graph.reading.class_definitions import embedded_in
from fledgling.worker.graph.reading.declared_methods import given
from fledgling.worker.graph.reading.labels import ARG, ARGS, BITS, BODY, OF
from fledgling.worker.graph.reading.named_methods import reader, writer
from fledgling.worker.graph.tables import NONE, Flag, Op, ScopeKind, Use

IS_LAMBDA = BITS["lambda"]
HOLDING = ("Struct", "Data")  # these have a method for each name that they get
PLAIN = ("Class", "Module")  # what these make stands on nothing that they bring


@visits("class_made")
def class_made(builder: Builder, node: int, use: int) -> int:
    """`Class.new(A) { b }`, and `A.new(:b) { def c; end }`, which makes a class below A as `Struct.new` does."""
    tree = builder.tree
    maker = tree.text(tree.first(node, OF)).removeprefix("::")
    blocks = [kid for kid in tree.kids[node] if tree.kind(kid) == IS_LAMBDA]
    tree.kids[node] = [kid for kid in tree.kids[node] if kid not in blocks]
    bases = [builder.visit(kid, Use.INHERIT) for kid in _taken(builder, node)] if maker in PLAIN else []
    made = called(builder, node, Op.CALL, use)
    if maker not in PLAIN:
        of = builder.expressions[builder.expressions[made][1]][1]
        bases = [made if maker in ("Struct", "Data") else of]
    body = NONE
    for block in blocks:
        body = tree.first(block, BODY)
    within = embedded_in(tree, body) if body != NONE else []
    kind = ScopeKind.INTERFACE if maker == "Module" else ScopeKind.CLASS
    scope = builder.enter((blocks or [NONE])[0], kind, NONE, builder.line(node), int(Flag.PARTIAL))
    if maker in HOLDING:
        hold_members(builder, node, scope, is_set=maker == "Struct")
    mixed_in = [builder.visit(kid, Use.INHERIT) for kid in within]
    builder.scopes[scope].prepended = [
        at for at, kid in zip(mixed_in, within, strict=True) if tree.labels[kid] & BITS["prepended"]
    ]
    builder.scopes[scope].bases = mixed_in + bases
    builder.body(body)
    builder.leave()
    return builder.add(Op.CLASS, scope)


@visits("class_methods")
def class_methods(builder: Builder, node: int, use: int) -> int:
    """`class_methods do def a; end end` in a module of Rails: what each class that includes it has itself."""
    tree, around = builder.tree, builder.scopes[builder.scope]
    blocks = [kid for kid in tree.kids[node] if tree.kind(kid) == IS_LAMBDA]
    if around.kind != ScopeKind.INTERFACE or not blocks:
        return called(builder, node, Op.CALL, use)
    tree.kids[node] = [kid for kid in tree.kids[node] if kid not in blocks]
    at = called(builder, node, Op.CALL, use)
    scope = builder.enter(blocks[0], ScopeKind.INTERFACE, NONE, builder.line(node), int(Flag.PARTIAL))
    builder.body(tree.first(blocks[0], BODY))
    builder.leave()
    around.extends = [builder.add(Op.CLASS, scope), *around.extends]
    return at


def hold_members(builder: Builder, node: int, scope: int, *, is_set: bool) -> None:
    """Let a class have the members that symbols name: what gives each, and of a `Struct` what sets it."""
    for name, _ in given(builder, node)[0]:
        value = reader(builder, builder.line(node), name, 0, None)
        builder.bind_silently(builder.named(name), scope, value, node)
        if is_set:
            value = writer(builder, builder.line(node), name, 0)
            builder.bind_silently(builder.named(f"{name}="), scope, value, node)


def _taken(builder: Builder, node: int) -> list[int]:
    """Take the class out of the arguments that another one is made below: `Class.new(A)`."""
    tree = builder.tree
    args = tree.first(node, ARGS)
    if args == NONE:
        return []
    if tree.labels[args] & ARG:  # without brackets
        tree.kids[node].remove(args)
        return [args]
    taken, tree.kids[args] = tree.kids[args][:1], tree.kids[args][1:]
    return taken
