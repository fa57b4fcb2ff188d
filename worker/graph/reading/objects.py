"""What languages with objects written out, patterns and exports have besides: `{ a, b() {} }`, `export { a as b }`."""

import re

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.call_expressions import called, of_type
from fledgling.worker.graph.reading.definitions import RECEIVER_TYPE, read_function, said_inside
from fledgling.worker.graph.reading.expressions import of_brackets, own_type
from fledgling.worker.graph.reading.labels import (
    ALIAS,
    ARGS,
    BIND,
    BITS,
    BRACKETS,
    IMPORTED,
    KEY,
    MODULE,
    OF,
    RECEIVER,
    RIGHT,
    TYPE,
    VALUE,
    WILDCARD,
)
from fledgling.worker.graph.reading.paths import path_of
from fledgling.worker.graph.reading.targets import left_of, take_shape, target
from fledgling.worker.graph.reading.told_types import comment_before, told_instead, told_type
from fledgling.worker.graph.tables import (
    DECLARED,
    MADE,
    NONE,
    OF_CLASS,
    OF_OBJECTS,
    OF_PACKAGE,
    SIGNATURE,
    WHOLE,
    Imported,
    Op,
    ScopeKind,
    Use,
)

HIDDEN, OPEN, STATIC = BITS["hidden"], BITS["open"], BITS["static"]
DEFAULT, BY_DEFAULT, DECLARATION = BITS["default"], BITS["exported"], BITS["declaration"]
IS_FIELD, IS_CHANNEL, IS_PAYLOAD = BITS["field"], BITS["channel"], BITS["payload"]


# The name of a constant, as the text of `define("A\\B", 1)` gives it, behind its namespace.
CONSTANT_NAME = re.compile(r"((?:[^\W\d]\w*\\{1,2})*)([^\W\d]\w*)")
FAR_FROM_TYPE = 64  # bytes behind the type of an array in which its brackets stand


@visits("label")
def label(builder: Builder, node: int, _use: int) -> int:
    """A name that no scope has to know: a key, a type parameter."""
    if builder.tree.labels[node] & BIND:
        builder.bind(node, 1, Use.DEFINITION)
    else:
        builder.site(node, Use.KEYWORD, 0)
    return builder.add(Op.TEXT, builder.name(node))


@visits("field")
def field(builder: Builder, node: int, _use: int) -> int:
    """`a: T = b` in a class"""
    tree = builder.tree
    type_ = of_brackets(builder, node, builder.optional(tree.first(node, TYPE), Use.TYPE))
    value = of_type(builder, tree.first(node, VALUE), type_)
    told = told_type(builder, comment_before(builder, node), "var")
    type_ = told_instead(builder, tree.first(node, TYPE), type_, told)
    if tree.labels[node] & RECEIVER:  # a constant of an enum is an object of it
        value = builder.add(Op.THIS, builder.scope)
    if tree.labels[node] & ALIAS:
        value = builder.add(Op.RENAMED, value)
    how = (OF_CLASS if said_inside(tree, node) & STATIC else OF_OBJECTS) if builder.dialect.prototypes else 0
    is_name = tree.labels[node] & BIND  # `A` of `enum E { A, B(1) }` is as long as its name
    for kid in [node] if is_name else tree.kids[node]:
        if tree.labels[kid] & BIND and (kid == node or not tree.labels[kid] & IS_FIELD):
            builder.name_value(value, kid)
            held = value if type_ == NONE else builder.add(Op.DECLARED, own_type(builder, type_, kid), value)
            bound = tree.kids[kid][0] if builder.dialect.sigil and tree.kids[kid] else kid  # $a, used as b->a
            builder.show(builder.scope, builder.name(bound))
            builder.begin(bound, node)
            builder.bind_name(builder.name(bound), builder.scope, max(held, 1), bound, Use.DEFINITION, how=how)
        elif tree.kind(kid) == IS_PAYLOAD:
            hold(builder, kid, f"{builder.text_of(builder.bindings[-1].name)}.")
        elif not tree.labels[kid] & (TYPE | VALUE):
            builder.visit(kid)
    if tree.labels[node] & ALIAS and not is_name and not any(tree.labels[kid] & BIND for kid in tree.kids[node]):
        chosen = tree.first(tree.first(node, VALUE), KEY)  # A::b insteadof C
        builder.bind_silently(builder.name(chosen), builder.scope, value, chosen)
    return 0


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


@visits("constant_made")
def constant_made(builder: Builder, node: int, _use: int) -> int:
    r"""`define("A", b)`, `define("B\A", c)`: a constant of the namespace in the text, wherever that stands."""
    tree = builder.tree
    at = called(builder, node, Op.CALL, Use.READ)
    word = tree.kids[tree.first(node, ARGS)][0]
    if found := CONSTANT_NAME.fullmatch(tree.text(word)[1:-1]):
        around, builder.scope = builder.scope, NONE
        before, name = found[1], builder.named(found[2])
        namespace = before.rstrip("\\").replace("\\\\", "\\")
        scope = builder.enter(node, ScopeKind.NAMESPACE, builder.named(namespace), builder.line(node))
        binding = builder.bind_silently(name, scope, MADE, node)
        builder.site_at(tree.start[word] + 1 + len(before.encode()), name, Use.DEFINITION, MADE, binding)
        builder.leave()
        builder.scope = around
    return at


@visits("variables")
def variables(builder: Builder, node: int, _use: int) -> int:
    """`T a = b, c`"""
    tree = builder.tree
    type_ = builder.optional(tree.first(node, TYPE), Use.TYPE)
    for kid in tree.kids[node]:
        if tree.kind(kid) == BITS["assign"]:
            own = of_brackets(builder, kid, type_)
            value = of_type(builder, tree.first(kid, RIGHT), own)
            left = left_of(builder, kid)
            before = len(builder.bindings)
            if builder.complete:  # else it may be values of an enum, around what the grammar does not know
                builder.begin(left, node)
            target(builder, left, builder.add(Op.DECLARED, max(own_type(builder, own, left), 0), value))
            if tree.labels[node] & DECLARATION and value == NONE:
                for row in builder.bindings[before:]:
                    row.how = DECLARED
            elif builder.scopes[builder.scope].kind == ScopeKind.CLASS:
                how = seen_by_others(builder, said_inside(tree, node))
                for row in builder.bindings[before:]:
                    row.how = how
        elif not tree.labels[kid] & TYPE:
            builder.visit(kid)
    return 0


def seen_by_others(builder: Builder, said: int) -> int:
    """Which other files see a field of a class itself, by what is said of it."""
    if not said & STATIC or said & HIDDEN:
        return OF_OBJECTS
    return OF_PACKAGE if builder.dialect.members_of_packages and not said & OPEN else 0


@visits("shape")
def shape(builder: Builder, node: int, _use: int) -> int:
    """A pattern where it is not expected."""
    take_shape(builder, node, 0)
    return 0


@visits("signature")
def signature(builder: Builder, node: int, _use: int) -> int:
    """The type of a function: `(a: A) => B`, `A.() -> B`."""
    receiver = builder.optional(builder.tree.first(node, RECEIVER_TYPE), Use.TYPE)
    scope = read_function(builder, node, ScopeKind.SIGNATURE, NONE, builder.line(node), 0)
    builder.scopes[scope].bases = [] if receiver == NONE else [receiver]
    value = builder.add(Op.FUNCTION, scope)
    if builder.tree.labels[node] & BITS["open"]:  # interface A { (b: B): C }
        builder.bind_silently(builder.named(SIGNATURE), builder.scope, value, node)
    return value


@visits("array", "channel")
def array(builder: Builder, node: int, use: int) -> int:
    """`T[]`, `T[][]` where that is one node, `T[,]`, `chan T`"""
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
    return builder.add(Op.ARRAY, of, tree.kind(node) == IS_CHANNEL, *further)


@visits("typeof")
def typeof(builder: Builder, node: int, _use: int) -> int:
    """The type of a value: `typeof a`."""
    found = [builder.visit(kid) for kid in builder.tree.kids[node]]
    return builder.add(Op.VALUE, found[-1]) if found else 1


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


@visits("this")
def this(builder: Builder, node: int, _use: int) -> int:
    """The object of a method; of the function around, where each has its own but a lambda; `this@A`: one of A."""
    of = builder.tree.first(node, TYPE)
    if of != NONE:
        return builder.add(Op.DECLARED, builder.visit(of, Use.TYPE), NONE)
    scope = builder.scope
    while builder.dialect.prototypes and builder.scopes[scope].kind in (ScopeKind.LAMBDA, ScopeKind.BLOCK):
        scope = builder.scopes[scope].parent
    return builder.add(Op.THIS, scope)


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


# ---- modules


def module_of(builder: Builder, node: int) -> str:
    """The module that a statement names."""
    found = node if builder.tree.labels[node] & MODULE else builder.tree.first(node, MODULE)
    return "" if found == NONE else builder.tree.text(found).strip("'\"`")


def take_import(builder: Builder, node: int, module: str, name: str | None) -> int:
    """Note an import of a statement; return its expression."""
    builder.imports.append(Imported(builder.line(node), module, name))
    return builder.add(Op.IMPORT, len(builder.imports) - 1)


VERSION = re.compile(r"(?:/v\d+|\.v\d+)$")  # of a path that ends in one, the name stands before


@visits("package")
def package(builder: Builder, node: int, _use: int) -> int:
    """`import a "x/y"`: y, or a, stands for the package; or `package x`: what the file is a part of."""
    tree = builder.tree
    module = module_of(builder, node)
    if not module:
        name = tree.first(node, VALUE)
        builder.package = tree.text(name)
        if builder.dialect.spaces == "global":
            path_of(builder, name, NONE, is_last=False)
        return 0
    alias, wildcard = tree.first(node, ALIAS), tree.first(node, WILDCARD)
    if alias != NONE and tree.text(alias) == "_":  # it is imported for what it does, and has no name
        return 0
    value = take_import(builder, node, module, "*" if wildcard != NONE else None)
    if wildcard != NONE:
        builder.scopes[0].stars.append(len(builder.imports) - 1)
    elif alias != NONE:
        builder.bind(alias, value, Use.IMPORT)
    else:
        last = VERSION.sub("", module).rpartition("/")[2]
        builder.bind_silently(builder.named(last), 0, value, node)
    return 0


@visits("import_path")
def import_path(builder: Builder, node: int, _use: int) -> int:
    """`import a.b.C`, `import a.b.*`: a class, or all of a package"""
    tree = builder.tree
    first = tree.first(node, MODULE)
    module = tree.text(first).replace(" ", "")
    is_all = tree.first(node, WILDCARD) != NONE
    parts = path_parts(builder, first)
    for part in parts if is_all else parts[:-1]:
        builder.site(part, Use.IMPORT, 0)
    package = module if is_all else module.rpartition(".")[0]
    value = take_import(builder, node, package, "*" if is_all else tree.text(parts[-1]))
    if is_all:
        builder.scopes[0].stars.append(len(builder.imports) - 1)
    else:
        name = builder.name(parts[-1])
        builder.own[0].add(name)
        builder.bind_name(name, 0, value, parts[-1], Use.IMPORT)
    return 0


def path_parts(builder: Builder, node: int) -> list[int]:
    """The names of `a.b.c`, in order."""
    found, todo = [], [node]
    while todo:
        at = todo.pop()
        todo += reversed(builder.tree.kids[at])
        if not builder.tree.kids[at]:
            found.append(at)
    return found


@visits("imports")
def imports(builder: Builder, node: int, _use: int) -> int:
    """`import a, { b as c } from "m"`, `import * as d from "m"`"""
    tree = builder.tree
    module = module_of(builder, node)
    kids = tree.kids[node]
    for place, kid in enumerate(kids):
        labels = tree.labels[kid]
        if labels & DEFAULT:
            builder.bind(kid, take_import(builder, node, module, "default"), Use.IMPORT)
        elif labels & WILDCARD:
            builder.bind(kid, take_import(builder, node, module, None), Use.IMPORT)
        elif labels & ALIAS and not (place and tree.labels[kids[place - 1]] & IMPORTED):  # import a = require("m")
            builder.bind(kid, take_import(builder, node, module, WHOLE), Use.IMPORT)
        elif labels & IMPORTED:
            value = take_import(builder, node, module, tree.text(kid))
            alias = kids[place + 1] if place + 1 < len(kids) and tree.labels[kids[place + 1]] & ALIAS else NONE
            if alias == NONE:
                builder.bind(kid, value, Use.IMPORT)
            else:
                builder.site(kid, Use.IMPORT, value)
                builder.bind(alias, value, Use.IMPORT)
    return 0


@visits("require")
def require(builder: Builder, node: int, _use: int) -> int:
    """`require("m")`, `import("m")`: the module"""
    tree = builder.tree
    module = ""
    for kid in tree.kids[node]:
        inner = tree.first(kid, MODULE)
        if inner != NONE:
            module = module_of(builder, kid)
        elif not tree.labels[kid] & MODULE:
            builder.visit(kid)
    return take_import(builder, node, module or module_of(builder, node), WHOLE)


@visits("export")
def export(builder: Builder, node: int, _use: int) -> int:
    """`export default a`, `export = a`, `export { a as b }`, `export { a } from "m"`, `export * from "m"`"""
    tree = builder.tree
    module = module_of(builder, node)
    kids = tree.kids[node]
    of_all = sum(tree.labels[kid] for kid in kids if tree.labels[kid] & BY_DEFAULT)
    is_default, is_whole = bool(of_all), bool(of_all & WILDCARD)
    has_names = False
    for place, kid in enumerate(kids):
        labels = tree.labels[kid]
        if labels & (MODULE | BY_DEFAULT):
            continue
        if labels & IMPORTED:
            has_names = True
            alias = kids[place + 1] if place + 1 < len(kids) and tree.labels[kids[place + 1]] & ALIAS else NONE
            export_name(builder, node, module, kid, alias)
        elif labels & ALIAS:
            builder.site(kid, Use.IMPORT, 0)
        elif labels & WILDCARD:
            has_names = True
            builder.export(tree.text(kid), take_import(builder, node, module, None), kid)
            builder.site(kid, Use.IMPORT, 0)
        else:
            builder.begin(kid, node)
            value = builder.visit(kid)
            if is_default:
                builder.export("default", value, kid)
            if is_whole:
                builder.export(WHOLE, value, kid)
    if module and not has_names:
        builder.scopes[builder.scope].stars.append(len(builder.imports))
        builder.imports.append(Imported(builder.line(node), module, "*"))
    return 0


def export_name(builder: Builder, node: int, module: str, name: int, alias: int) -> None:
    """One name of `export { a as b }`."""
    if module:
        value = take_import(builder, node, module, builder.tree.text(name))
        builder.site(name, Use.IMPORT, value)
    else:
        value = builder.visit(name)
    builder.export(builder.tree.text(name if alias == NONE else alias), value, name)
