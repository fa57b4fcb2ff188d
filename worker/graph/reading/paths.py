"""Paths that name what is elsewhere, `use a::b::{c, d as e}`, and names in texts that only a macro makes code."""

import re

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.expressions import before_others, to_types
from fledgling.worker.graph.reading.labels import ALIAS, ARGS, BITS, IS_GET, IS_LABEL, IS_PATH, KEY, OF, VALUE, WILDCARD
from fledgling.worker.graph.reading.whole_text import words
from fledgling.worker.graph.tables import BY_MACRO, NONE, Imported, Op, ScopeKind, Use
from fledgling.worker.graph.unit import dotted

EVERYWHERE, GUARD, WORD = BITS["everywhere"], BITS["guard"], BITS["word"]
PARTS = OF | VALUE | ARGS
IS_UNDER, OPENS, IS_CONDITIONAL = BITS["use_under"], BITS["opens"], BITS["conditional"]
ALTERNATIVE = re.compile(rb"#[ \t]*+el")
SUBSCRIPT = re.compile(rb"\boperator\s*+\[")
# What stands in an inline namespace belongs to the one around it.
OPENED = re.compile(r"(?<![\w\\])(?<!inline )namespace[\s\\]++(\w++(?:::\w++)*+)[\s\\]*+\{")


@visits("use")
def use(builder: Builder, node: int, _use: int) -> int:
    """`use a::b::{c, d as e, f::*}`: each of the last names stands for what the path leads to."""
    builder.is_shown = builder.tree.source.startswith(b"pub", builder.tree.start[node])
    for kid in [node] if builder.tree.labels[node] & WILDCARD else builder.tree.kids[node]:
        is_sure = node not in builder.perhaps and not (builder.unseen and builder.is_given(node))
        use_part(builder, kid, NONE, is_sure=is_sure)
    return 0


@visits("use_under")
def use_under(builder: Builder, node: int, _use: int) -> int:
    """Part of such a path."""
    use_part(builder, node, NONE)
    return 0


def use_part(builder: Builder, node: int, prefix: int, *, is_sure: bool = True) -> None:
    """One part of a path: names that are taken behind a prefix; not for sure where a compiler may leave it out."""
    tree = builder.tree
    labels = tree.labels[node]
    if labels & WILDCARD:
        of = tree.first(node, OF)
        path = prefix if of == NONE else path_of(builder, of, prefix)
        builder.scopes[builder.scope].stars.append(len(builder.imports))
        everywhere = bool(labels & EVERYWHERE)
        builder.imports.append(Imported(builder.line(node), "", "*", max(path, 0), everywhere=everywhere))
    elif tree.kind(node) == IS_UNDER and (labels & ARGS or any(tree.labels[kid] & PARTS for kid in tree.kids[node])):
        under(builder, node, prefix, is_sure=is_sure)
    elif is_sure:
        taken(builder, path_of(builder, node, prefix), last_of(builder, node))
    else:
        perhaps_taken(builder, path_of(builder, node, prefix), last_of(builder, node))


def under(builder: Builder, node: int, prefix: int, *, is_sure: bool) -> None:
    """`a::{b, c}`, or `a as b`"""
    tree = builder.tree
    of, value, alias = tree.first(node, OF), tree.first(node, VALUE), tree.first(node, ALIAS)
    if value != NONE:
        at = path_of(builder, value, prefix)
        taken(builder, at, alias if alias != NONE else last_of(builder, value), is_sure=is_sure)
        if tree.labels[node] & EVERYWHERE:
            builder.imports.append(Imported(builder.line(node), "", tree.text(alias), at, everywhere=True))
        return
    within = prefix if of == NONE else path_of(builder, of, prefix, is_last=False)
    for kid in [node] if tree.labels[node] & ARGS else [*tree.having(node, ARGS)]:
        for each in tree.kids[kid]:
            use_part(builder, each, within, is_sure=is_sure)


def last_of(builder: Builder, node: int) -> int:
    """The node of the last name of a path, which may end in another one: `a::(b::c)`."""
    while kids := builder.tree.kids[node]:
        key = builder.tree.first(node, KEY)
        node = key if key != NONE else kids[-1]
    return node


def taken(builder: Builder, path: int, name: int, *, is_sure: bool = True) -> None:
    """Bind a name to what a path leads to, or may lead to."""
    text = builder.tree.text(name)
    if text == builder.dialect.self_type.lower():  # use a::{self}
        op, *parts = builder.expressions[path]
        if op == Op.PREFIX:
            path = parts[0]
            op, *parts = builder.expressions[path]
        text = builder.text_of(parts[1 if op == Op.GET else 0]) if op in (Op.GET, Op.NAME, Op.BARE) else text
    number = builder.named(text)
    builder.own[builder.scope].add(number)
    builder.items[builder.scope].add(number)
    op, *parts = builder.expressions[path]
    if op == Op.BARE and parts[0] == number:  # it stands in another module, and not here
        builder.expressions[path] = (Op.NAME, number, NONE, None)
    if builder.sites and builder.sites[-1].at == path and builder.sites[-1].name == number:
        builder.sites.pop()  # the last name of the path is what binds
    bound = path if is_sure else builder.add(Op.UNSURE, path)
    alias = builder.add(Op.ALIAS, bound, *([True] if builder.is_shown else []))
    builder.bind_name(number, builder.scope, alias, name, Use.IMPORT)


def perhaps_taken(builder: Builder, path: int, name: int) -> None:
    """Take a name as one of all that a module has, since another module may have it where this is not compiled.

    Not beside what has that name itself, which would hide it: `mod a; #[cfg(b)] pub use a::a;`.
    """
    op, *parts = builder.expressions[path]
    is_inner = builder.scopes[builder.scope].kind not in (ScopeKind.MODULE, ScopeKind.NAMESPACE)
    is_other = op != Op.GET or builder.text_of(parts[1]) != builder.tree.text(name)
    if is_inner or is_other or parts[1] in builder.own[builder.scope]:
        taken(builder, path, name, is_sure=False)
        return
    if builder.sites and builder.sites[-1].at == path:
        builder.sites[-1].at = builder.add(Op.ALIAS, path)
    builder.scopes[builder.scope].stars.append(len(builder.imports))
    builder.imports.append(Imported(builder.line(name), "", builder.tree.text(name), parts[0]))


def path_of(builder: Builder, node: int, prefix: int, *, is_last: bool = True) -> int:
    """The expression of a path, behind a prefix or from where all paths begin; others may go on behind it."""
    tree = builder.tree
    if tree.kind(node) == IS_GET:
        of, key = tree.first(node, OF), tree.first(node, KEY)
        before = prefix if of == NONE else path_of(builder, of, prefix, is_last=False)
        if before == NONE:
            before = builder.add(Op.ROOT, builder.named(""), builder.scope)
        at = builder.add(Op.GET, before, builder.name(key))
        builder.site(key, Use.IMPORT, at)
        return at if is_last else before_others(builder, at)
    if tree.kids[node]:  # a.b.c as a list of names
        *others, last = tree.kids[node]
        for kid in others:
            prefix = path_of(builder, kid, prefix, is_last=False)
        return path_of(builder, last, prefix, is_last=is_last)
    text = tree.text(node)
    if prefix != NONE and text == builder.dialect.self_type.lower():
        return prefix
    if tree.kind(node) == BITS["root"]:
        return builder.visit(node)
    if prefix == NONE and not looks_around(builder):
        prefix = builder.add(Op.ROOT, builder.named(""), builder.scope)
    at = builder.use_name(builder.named(text)) if prefix == NONE else builder.add(Op.GET, prefix, builder.named(text))
    builder.site(node, Use.IMPORT, at)
    return at if is_last else before_others(builder, at)


def looks_around(builder: Builder) -> bool:
    """Whether the paths that are taken begin in the namespace around them: of C# those that stand in one."""
    is_within = builder.scope > 0 or bool(builder.package)
    return builder.dialect.crates or (builder.dialect.spaces == "nested" and is_within)


@visits("path")
def path(builder: Builder, node: int, use: int) -> int:
    r"""`A\b`, `\A\b`, `a::b`: names of namespaces or classes, and one in the last"""
    types, within = list[int](), list[int]()
    *before, last = names_of(builder, node, types, within) or [NONE]
    at = path_to(builder, node, before)
    if last == NONE:
        return 0
    at = step(builder, at, last, use)
    if use == Use.CALL and types:
        builder.applied[at] = types
    if use == Use.TYPE and not types:  # vector<A>::iterator
        types = within
    return to_types(builder, at, types) if use in (Use.TYPE, Use.READ, Use.INHERIT) else at


def names_of(builder: Builder, node: int, types: list[int] | None = None, within: list[int] | None = None) -> list[int]:
    """The nodes of the names of a path in order; what stands in brackets behind one is read.

    What stands behind the last one is added to `types`, what stands behind others to `within`.
    """
    tree = builder.tree
    found = []
    for kid in tree.kids[node]:
        if tree.kind(kid) == IS_PATH:
            found += names_of(builder, kid, types if kid == tree.kids[node][-1] else within, within)
        elif tree.labels[kid] & WORD:  # A::~A, A::operator B
            found.append(kid)
            for part in tree.kids[kid]:
                builder.visit(part, Use.TYPE)
        elif tree.kids[kid]:  # a<B>
            first, *others = tree.kids[kid]
            found.append(first)
            read = [builder.visit(other, Use.TYPE) for other in others]
            behind = types if kid == tree.kids[node][-1] else within
            if behind is not None:
                behind += read
        else:
            found.append(kid)
    return found


def path_to(builder: Builder, node: int, names: list[int]) -> int:
    """The expression of all names of a path but the last, -1 where there is none."""
    begins_at_root = builder.tree.text(node).startswith(("\\", "::"))
    at = builder.add(Op.ROOT, builder.named(""), builder.scope) if begins_at_root else NONE
    for name in names:
        at = step(builder, at, name, Use.READ, is_last=False)
    return at


def step(builder: Builder, before: int, node: int, use: int, *, is_last: bool = True) -> int:
    """One name of a path behind others."""
    name = builder.name(node)
    at = builder.use_name(name) if before == NONE else builder.add(Op.GET, before, name)
    builder.site(node, use, at)
    return at if is_last else before_others(builder, at)


@visits("root")
def root(builder: Builder, node: int, _use: int) -> int:
    """`crate`, `super`: where a path begins."""
    return builder.add(Op.ROOT, builder.name(node), builder.scope)


@visits("conditional")
def conditional(builder: Builder, node: int, _use: int) -> int:
    """`#ifdef A` to `#endif`, or `#else`; not what lets a header be read once, which defines a word at first."""
    tree = builder.tree
    first = next((kid for kid in tree.kids[node] if tree.kind(kid) != IS_LABEL), NONE)
    if first == NONE or not tree.labels[first] & GUARD:
        within = [kid for kid in tree.kids[node] if tree.kind(kid) == IS_CONDITIONAL]
        is_branch = bool(within) and ALTERNATIVE.match(tree.source, tree.start[within[-1]]) is not None
        last = builder.line(within[-1]) if is_branch else builder.last_line(node)
        builder.conditions.append((builder.line(node), last))
    builder.visit_all(node)
    return 0


@visits("undefined")
def undefined(builder: Builder, node: int, _use: int) -> int:
    """`#undef a`: what a macro may be called that is none behind it."""
    builder.undefined.update(builder.named(word) for word in builder.tree.text(node).split()[:1])
    return 0


@visits("tokens")
def tokens(builder: Builder, node: int, _use: int) -> int:
    """What a macro is replaced by, or what it gets: names that no parser has read."""
    tree = builder.tree
    if SUBSCRIPT.search(tree.source, tree.start[node], tree.end[node]):
        builder.named(BY_MACRO + "operator[]")
    if tree.labels[node] & OPENS and (opened := OPENED.findall(tree.text(node))):
        builder.opening.append((builder.scopes[builder.scope].name, dotted(".".join(opened))))
    for at, word, is_call in words(tree.source, tree.start[node], tree.end[node]):
        name = builder.named(word)
        is_member = tree.source[at - 1 : at] == b"."  # of what is not known
        meant = builder.add(Op.TOKEN, 0 if is_member else builder.use_name(name))
        builder.site_at(at, name, Use.CALL if is_call else Use.READ, meant)
    builder.has_read(node)
    return 0
