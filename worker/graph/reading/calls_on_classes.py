"""Calls that say something of a class: `extend A`, `A.include(B)`, `setattr(a, "b", c)`, `include!("a.rs")`."""

from fledgling.worker.graph.reading.builder import REPLACED, Builder
from fledgling.worker.graph.reading.labels import ARGS, BITS, INCLUDED, IS_DICT, KEY
from fledgling.worker.graph.tables import MADE, NONE, Flag, Imported, Op, ScopeKind

EXTENDED, MIXED = BITS["extended"], BITS["mixed"]
WHERE_MIXED_IN = ("included", "prepended", "inherited")  # methods of a module that run where that is done with it


def make(builder: Builder, node: int) -> None:
    """Note that a macro defines names of a module: those of a file, `include!("a.rs")`, or others that are not seen."""
    tree = builder.tree
    texts = [each for kid in tree.kids[node] for each in (kid, *tree.kids[kid]) if tree.labels[each] & INCLUDED]
    if not texts:
        builder.scopes[builder.scope].flags |= Flag.MAKES
    for text in texts:
        builder.scopes[builder.scope].stars.append(len(builder.imports))
        builder.imports.append(Imported(builder.line(node), tree.text(text).strip('"'), "*"))


def note_replaced(builder: Builder, node: int, function: int, arguments: list[int]) -> None:
    """Note whose members a call sets by name: `setattr(a, "b", c)`, `Object.defineProperties(a, { b: c })`.

    Where nothing stands before the name, it is what the method is called on: `a.define_method(:b) { c }`.
    """
    tree = builder.tree
    if arguments[:1] and arguments[0] >= 0:
        given = [kid for args in tree.having(node, ARGS) for kid in tree.kids[args]]
        pairs = [pair for kid in given if tree.kind(kid) == IS_DICT for pair in tree.kids[kid]]
        op, *parts = builder.expressions[function]
        is_first = bool(tree.labels[given[0]] & REPLACED) if given else False
        of = parts[0] if op == Op.GET and is_first else arguments[0]
        of = MADE if "calls" in builder.dialect.sending.values() and not is_first else of  # a.send(:remove_method, :b)
        builder.replace(given + [tree.first(pair, KEY) for pair in pairs], of)


def note_extended(builder: Builder, node: int, of: int, arguments: list[int]) -> None:
    """Note the modules whose methods a class has itself: `extend A` in it, or where a module is included in it."""
    tree = builder.tree
    args = tree.first(node, ARGS)
    given = [] if args == NONE else [args] if tree.labels[args] & EXTENDED else tree.kids[args]  # without brackets
    pairs = [*zip(given, arguments, strict=False)]
    extended, mixed = ([at for kid, at in pairs if tree.labels[kid] & label] for label in (EXTENDED, MIXED))
    row = builder.scopes[builder.scope]
    if extended and of == NONE and row.kind in (ScopeKind.CLASS, ScopeKind.INTERFACE):
        row.extended = extended + row.extended  # the last one comes first
    elif of != NONE or row.kind == ScopeKind.LAMBDA:  # a.class_eval { extend B }
        note_for_includers(builder, extended, mixed)


def note_for_includers(builder: Builder, extended: list[int], mixed: list[int]) -> None:
    """Note what a class gets that includes the module around, where that is done: `def self.included(a)`."""
    row = builder.scopes[builder.scope]
    if row.kind == ScopeKind.LAMBDA:
        row = builder.scopes[row.parent]
    if (extended or mixed) and row.name != NONE and builder.text_of(row.name) in WHERE_MIXED_IN:
        around = builder.scopes[row.parent]
        around.extends, around.includes = extended + around.extends, around.includes + mixed
