r"""What calls of PHP define by a text, wherever they stand: `define("A\B", c)`, `class_alias("A", "B\C")`."""

import re

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.call_expressions import called
from fledgling.worker.graph.reading.labels import ARGS
from fledgling.worker.graph.tables import MADE, NONE, SPACES, Expression, Op, ScopeKind, Use

# A name, as the text of `define("A\\B", 1)` gives it, behind its namespace.
NAME = re.compile(r"((?:[^\W\d]\w*\\{1,2})*)([^\W\d]\w*)")
MAX_PATH = 50  # names of a path, one behind the other, that a second name of a class is told by


@visits("constant_made")
def constant_made(builder: Builder, node: int, _use: int) -> int:
    r"""`define("A", b)`, `define("B\A", c)`: a constant of the namespace in the text."""
    tree = builder.tree
    at = called(builder, node, Op.CALL, Use.READ)
    word = tree.kids[tree.first(node, ARGS)][0]
    if found := NAME.fullmatch(tree.text(word)[1:-1]):
        _bind(builder, node, found, MADE, tree.start[word] + 1 + len(found[1].encode()))
    return at


@visits("class_aliased")
def class_aliased(builder: Builder, node: int, _use: int) -> int:
    r"""`class_alias(A::class, "B\C")`, `class_alias("A", C::class)`: a class has another name for all files.

    Where that may not run, `if (a) { class_alias(b, c); }`, some other class may have the name.
    """
    tree = builder.tree
    at = called(builder, node, Op.CALL, Use.READ)
    given = builder.expressions[at][2][:2]
    if len(given) < 2 or min(given) < 0:
        return at
    first, second = map(tree.text, tree.kids[tree.first(node, ARGS)][:2])
    of = _class(builder, first, given[0])
    if found := NAME.fullmatch(_path(builder, second, given[1]).lstrip("\\")):
        is_sure = len(builder.flow.layers) == 1 and builder.scopes[builder.scope].kind in SPACES
        of = of if is_sure or not of else builder.add(Op.UNSURE, of)
        _bind(builder, node, found, builder.add(Op.ALIAS, of, True) if of else 0)
    return at


def _class(builder: Builder, text: str, argument: int) -> int:
    """The class that an argument names, `A::class` or a text; 0 where it does neither."""
    op, *parts = builder.expressions[argument]
    if op == Op.GET and builder.text_of(parts[1]) == "class":
        return int(parts[0])
    named = NAME.fullmatch(text[1:-1].lstrip("\\")) if op == Op.TEXT else None
    if not named:
        return 0
    at = builder.add(Op.ROOT, builder.named(""), builder.scope)
    for word in filter(None, named[1].split("\\")):
        at = builder.add(Op.PREFIX, builder.add(Op.GET, at, builder.named(word)))
    return builder.add(Op.GET, at, builder.named(named[2]))


def _path(builder: Builder, text: str, argument: int) -> str:
    """The full name that an argument is, a text or `A::class`; empty where it is neither."""
    op, *parts = builder.expressions[argument]
    if op == Op.TEXT:
        return text[1:-1]
    words: list[str] = []
    is_class = op == Op.GET and builder.text_of(parts[1]) == "class"
    for _ in range(MAX_PATH if is_class else 0):
        op, *parts = builder.expressions[parts[0]]
        if op == Op.GET:
            words.append(builder.text_of(parts[1]))
        elif op == Op.ROOT:
            return "\\".join(reversed(words))
        elif op == Op.BARE:
            taken = builder.scopes[parts[2]].every.get(parts[0]) if parts[2] != NONE else None
            value: Expression = builder.expressions[builder.bindings[taken[-1]].value] if taken else (Op.UNKNOWN,)
            if value[0] != Op.ALIAS:
                words += [builder.text_of(parts[0]), _namespace(builder)]
                return "\\".join(filter(None, reversed(words)))
            parts = [value[1]]
        elif op != Op.PREFIX:
            break
    return ""


def _namespace(builder: Builder) -> str:
    """The namespace in which something stands."""
    scope = builder.scope
    while scope != NONE and builder.scopes[scope].kind != ScopeKind.NAMESPACE:
        scope = builder.scopes[scope].parent
    return builder.package if scope == NONE else builder.text_of(builder.scopes[scope].name)


def _bind(builder: Builder, node: int, found: re.Match[str], value: int, start: int = NONE) -> None:
    """Bind the name that a text gives in its namespace, which is defined at a byte, if it is at any."""
    around, builder.scope = builder.scope, NONE
    namespace = found[1].rstrip("\\").replace("\\\\", "\\")
    builder.enter(node, ScopeKind.NAMESPACE, builder.named(namespace), builder.line(node))
    name = builder.named(found[2])
    binding = builder.bind_silently(name, builder.scope, value, node)
    if start != NONE:
        builder.site_at(start, name, Use.DEFINITION, value, binding)
    builder.leave()
    builder.scope = around
