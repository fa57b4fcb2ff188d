"""Methods of Ruby that a statement names: `attr_reader :a`, `alias a b`, `define_method(:a) { }`, `a.b = c`."""

import re

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.call_expressions import called
from fledgling.worker.graph.reading.definitions import read_function
from fledgling.worker.graph.reading.labels import ARGS, BITS, KEY, OF, WORD
from fledgling.worker.graph.reading.listed_methods import bind_method, class_around, computed_names
from fledgling.worker.graph.reading.targets import TARGETS, set_by_call
from fledgling.worker.graph.reading.told_types import comment_before, told_type
from fledgling.worker.graph.tables import NONE, Flag, Op, Parameter, ScopeKind, Use, Write

IS_LAMBDA, IS_STATIC = BITS["lambda"], BITS["static"]
NAME = re.compile(r":\w+[?!=]?|:?\"\w+[?!=]?\"|'\w+[?!=]?'")
READS, WRITES = ("attr_accessor", "attr_reader"), ("attr_accessor", "attr_writer")


def words(builder: Builder, node: int) -> list[int]:
    """The names that a statement gives, in brackets or not."""
    tree = builder.tree
    among = [*tree.kids[node], *(kid for args in tree.having(node, ARGS) for kid in tree.kids[args])]
    return [kid for kid in among if tree.labels[kid] & WORD]


def said(builder: Builder, node: int) -> tuple[str, int]:
    """The name that `:a`, `"a"` or `a` is, and the byte where it begins."""
    text = builder.tree.text(node)
    return text.removeprefix(":").strip("\"'"), builder.tree.start[node] + text.startswith((":", '"', "'"))


def define(builder: Builder, node: int, value: int, name: str, line: int = 0) -> None:
    """Bind a method of the class around, which a node names."""
    _, start = said(builder, node)
    binding = builder.bind_at(builder.named(name), builder.scope, value, line or builder.line(node))
    builder.site_at(start, builder.named(name), Use.DEFINITION, value, binding)


@visits("accessor")
def accessor(builder: Builder, node: int, _use: int) -> int:
    """`attr_accessor :a, :b`: methods that give the fields and set them, which begin where it does."""
    kind = builder.tree.text(node).split("(")[0].split()[0]
    flags = Flag.STATIC if builder.tree.labels[node] & IS_STATIC else 0
    comment, line = comment_before(builder, node), builder.line(node)
    for kid in words(builder, node):
        text, _ = said(builder, kid)
        if kind in READS:
            define(builder, kid, reader(builder, line, text, flags, comment), text, line)
        if kind in WRITES:
            define(builder, kid, writer(builder, line, text, flags), f"{text}=", line)
    return 0


def reader(builder: Builder, line: int, text: str, flags: int, comment: tuple[int, int] | None) -> int:
    """`def a = @a`"""
    scope = builder.enter(NONE, ScopeKind.FUNCTION, builder.named(text), line)
    field = builder.add(Op.GET, builder.add(Op.THIS, scope), builder.named(f"@{text}"))
    builder.scopes[scope].returned, builder.scopes[scope].flags = [field], flags
    builder.scopes[scope].returns = told_type(builder, comment, "return")
    builder.leave()
    return builder.add(Op.FUNCTION, scope)


def writer(builder: Builder, line: int, text: str, flags: int) -> int:
    """`def a=(b) = @a = b`"""
    scope = builder.enter(NONE, ScopeKind.FUNCTION, builder.named(f"{text}="), line)
    builder.scopes[scope].parameters, builder.scopes[scope].flags = [Parameter(builder.named(text))], flags
    value, own = builder.add(Op.PARAMETER, scope, 0), builder.add(Op.THIS, scope)
    builder.writes.append(Write(own, builder.named(f"@{text}"), NONE, value, line))
    builder.leave()
    return builder.add(Op.FUNCTION, scope)


@visits("method_alias")
def method_alias(builder: Builder, node: int, _use: int) -> int:
    """`alias a b`, `alias_method :a, :b`: a is what b is."""
    new, *more = words(builder, node)
    builder.has_read(node)
    for old in more[:1]:
        text, start = said(builder, old)
        part = builder.named(text)
        kind = builder.scopes[builder.scope].kind
        if kind in (ScopeKind.CLASS, ScopeKind.INTERFACE):
            own = builder.add(Op.CLASS, builder.scope)
            made = own if builder.tree.labels[node] & IS_STATIC else builder.add(Op.INSTANCE, own)
            value = builder.add(Op.GET, made, part)
        else:
            value = builder.add(Op.BARE, part, builder.scope, NONE)
        builder.site_at(start, part, Use.READ, builder.add(Op.ALIAS, value))
        define(builder, new, value, said(builder, new)[0])
    return 0


@visits("method_made")
def method_made(builder: Builder, node: int, use: int) -> int:
    """`define_method("a") { |b| c }`, and with the name of another method behind a comma, which is not followed.

    In a loop over names that are written out, `define_method("#{n}?") { c }`, the block is each of these.
    """
    tree = builder.tree
    word, *_ = words(builder, node)
    blocks = [kid for kid in tree.kids[node] if tree.kind(kid) == IS_LAMBDA]
    is_written = NAME.fullmatch(tree.text(word)) is not None
    if not blocks and not is_written:
        return called(builder, node, Op.CALL, use)
    for kid in tree.kids[node]:
        if kid not in (tree.first(node, KEY), *blocks) and not (is_written and kid == word):
            builder.visit(kid)
    name, own = said(builder, word)[0] if is_written else "", class_around(builder)
    is_static = builder.defines_static or tree.text(tree.first(node, KEY)) != "define_method"
    for block in blocks:
        flags = Flag.STATIC if is_static else 0
        number = builder.named(name) if is_written else NONE
        scope = read_function(builder, block, ScopeKind.FUNCTION, number, builder.line(node), flags)
        value = builder.add(Op.FUNCTION, scope)
        if is_written:
            define(builder, word, value, name)
            continue
        for each, start in computed_names(builder, tree.text(word)) if own != NONE else ():
            bind_method(builder, own, each, start, value, builder.line(node))
    return 0


@visits("setting")
def setting(builder: Builder, node: int, use: int) -> int:
    """`a.b`, where it is no target."""
    return called(builder, node, Op.CALL, use)


def setting_target(builder: Builder, node: int, value: int) -> None:
    """`a.b = c` calls the method `b=`."""
    tree = builder.tree
    set_by_call(builder, tree.first(node, KEY), builder.visit(tree.first(node, OF)), value)


TARGETS[BITS["setting"]] = setting_target
