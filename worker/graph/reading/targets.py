"""What stands on the left of an assignment gets its value: names, parts of what is taken apart, fields, keys."""

import re

from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.reading.expressions import constant_key, last_number, without_sigil
from fledgling.worker.graph.reading.labels import (
    BIND,
    BITS,
    IS_ASSIGN,
    IS_GET,
    IS_LABEL,
    IS_NAME,
    IS_PAIR,
    IS_SLICE,
    IS_SPREAD,
    IS_TUPLE,
    KEY,
    LEFT,
    OF,
    RIGHT,
    VALUE,
)
from fledgling.worker.graph.reading.operators import runs_on_key
from fledgling.worker.graph.reading.put_by_call import put_all
from fledgling.worker.graph.reading.reduced import MAX_DEPTH, Reduced
from fledgling.worker.graph.tables import MADE, NONE, WHOLE, Flag, Op, Use, Write

COMMENT = re.compile(rb"/\*.*?(?:\*/|\Z)|//[^\n]*+", re.DOTALL)  # also one that a broken text does not end
COLON = ord(":")
ARROW = b"=>"
IS_VALUE = [BITS[kind] for kind in ("call", "await", "pointed", "addressed", "cast", "choice", "operation", "tokens")]


def left_of(builder: Builder, node: int) -> int:
    """What an assignment assigns to; `let a;` is nothing else."""
    tree = builder.tree
    if tree.labels[node] & LEFT and not tree.kids[node]:
        tree.unsay(node, IS_ASSIGN)
        return node
    return tree.first(node, LEFT)


def target(builder: Builder, node: int, value: int, *, bare: bool = False) -> None:
    """Give what stands on the left its value; of what is nested too deeply the names are listed."""
    tree = builder.tree
    if node == NONE:
        return
    if builder.depth > MAX_DEPTH:
        builder.list_names(node)
        return
    builder.depth += 1
    kind = tree.kind(node)
    if kind == IS_NAME:
        builder.bind(node, value)
    elif kind == IS_TUPLE:
        op, *parts = builder.expressions[value]
        if is_keyed(builder, tree.kids[node]):
            take_keys(builder, tree.kids[node], value)
            builder.depth -= 1
            return
        nodes = with_holes(tree, node) if builder.dialect.prototypes else tree.kids[node]
        take_apart(builder, nodes, value, parts[0] if op in (Op.TUPLE, Op.LIST) else [])
    elif kind == IS_GET:
        field_target(builder, node, value, bare=bare)
    elif kind in TARGETS:
        TARGETS[kind](builder, node, value)
    elif kind in IS_VALUE:  # f(a) = b, *a = b
        builder.visit(node)
    else:
        for kid in tree.kids[node]:
            target(builder, kid, value)
    builder.depth -= 1


def own_field_target(builder: Builder, node: int, value: int) -> None:
    """`@a = b`"""
    of, part = builder.add(Op.THIS, builder.scope), builder.name(node)
    builder.site(node, Use.WRITE, builder.add(Op.GET, of, part))
    builder.writes.append(Write(of, part, NONE, value, builder.line(node)))


def set_by_call(builder: Builder, key: int, of: int, value: int) -> None:
    """Note that the method `b=` of Ruby is called, where b stands."""
    tree = builder.tree
    part = builder.named(f"{tree.text(key)}=")
    at = builder.add(Op.CALL, builder.add(Op.GET, of, part), [value], [])
    builder.has_read(key)
    builder.site_at(tree.start[key], part, Use.CALL, at)


def path_target(builder: Builder, node: int, _value: int) -> None:
    """`A::b = c`: what a class itself declares is of that type."""
    builder.visit(node, Use.WRITE)


def variant_target(builder: Builder, node: int, value: int) -> None:
    """`Some(a)`: a is what stands in the value, or what `Some` is declared to hold."""
    tree = builder.tree
    of = tree.first(node, OF)
    named = builder.optional(of)
    last = last_number(builder, named) if named != NONE else NONE
    for place, kid in enumerate(kid for kid in tree.kids[node] if kid != of):
        if tree.kind(kid) == IS_NAME and not tree.labels[kid] & BIND:
            builder.visit(kid)
        elif last == NONE:
            target(builder, kid, builder.add(Op.ELEMENT, value))
        else:
            target(builder, kid, builder.add(Op.PAYLOAD, value, named, last, place))


def field_named(builder: Builder, word: int, value: int, of: int) -> int:
    """`b` of `A { b: c }`, written out or taken apart: what A, or a variant of that name, is declared to have."""
    last = last_number(builder, of)
    held = builder.add(Op.PAYLOAD, value, of, last, ~builder.name(word)) if last != NONE else 0
    builder.site(word, Use.KEYWORD, held)
    return held


def field_target(builder: Builder, node: int, value: int, *, bare: bool) -> None:
    """`a.b = c`; `A::B` in a pattern of Rust is a constant."""
    tree = builder.tree
    if builder.dialect.crates and tree.source[tree.start[tree.first(node, KEY)] - 1] == COLON:
        builder.visit(node)
        return
    of, key = builder.visit(tree.first(node, OF)), without_sigil(builder, tree.first(node, KEY))
    part = builder.name(key)
    is_module = written(builder, of) == "module"
    if not bare and builder.name_value(value, key) and not is_module:
        builder.define_member(key, value)
    else:
        builder.site(key, Use.WRITE, builder.add(Op.GET, of, part))
    if not bare:
        export_member(builder, of, part, value, key)
        builder.writes.append(Write(of, part, NONE, value, builder.line(key)))
        if builder.text_of(part) in builder.dialect.variables:  # a.__dict__ = { "b": c }
            put_all(builder, key, of, value)
        builder.bind_path(of, part, value, key)


def key_target(builder: Builder, node: int, value: int) -> None:
    """`a[b] = c`"""
    tree = builder.tree
    builder.scopes[builder.frame].flags |= Flag.INDEXES
    of, *keys = [builder.visit(kid) for kid in tree.kids[node]] or [0]
    runs_on_key(builder, node, of, "[]=")
    key = keys[0] if len(keys) == 1 else 0
    note_own_name(builder, of, key)
    is_slice = any(tree.kind(kid) == IS_SLICE for kid in tree.kids[node])
    builder.writes.append(Write(of, NONE, key, value, builder.line(node), builder.scope, is_slice))
    if is_slice:
        builder.take(value, node)
    if constant := constant_key(builder, key):
        builder.bind_path(of, constant, value, node)


def note_own_name(builder: Builder, of: int, key: int) -> None:
    """Note that a module gives one of its names a value by its text: `globals()["a"] = b`."""
    op, *parts = builder.expressions[of]
    kind, *name = builder.expressions[key]
    if op == Op.CALL and kind == Op.TEXT and written(builder, parts[0]) in builder.dialect.variables:
        builder.doubted.add((0, name[0]))


def key_changed(builder: Builder, node: int, sign: str) -> tuple[Write, int]:
    """`a[b] += c`, `del a[b]`: what is behind the key is not followed. Return what is put into a, and what b is."""
    builder.scopes[builder.frame].flags |= Flag.INDEXES
    tree = builder.tree
    of, *keys = [builder.visit(kid) for kid in tree.kids[node]] or [0]
    runs_on_key(builder, node, of, sign)
    is_slice = any(tree.kind(kid) == IS_SLICE for kid in tree.kids[node])
    write = Write(of, NONE, 0, MADE, builder.line(node), builder.scope, is_slice)
    builder.writes.append(write)
    return write, keys[0] if len(keys) == 1 and not is_slice else 0


def with_holes(tree: Reduced, node: int) -> list[int]:
    """The parts of a pattern of JavaScript, with NONE for each that it leaves out: `[, a, , b]`."""
    found = list[int]()
    at = tree.start[node]
    for kid in tree.kids[node]:
        commas = COMMENT.sub(b"", tree.source[at : tree.start[kid]]).count(b",")
        found += [*[NONE] * (commas - bool(found)), kid]
        at = tree.end[kid]
    return found


def take_apart(builder: Builder, nodes: list[int], value: int, known: list[int]) -> None:
    """`a, *b, c = d`, where the parts of d may be `known`; a node is NONE where nothing takes that part."""
    tree = builder.tree
    if not known:
        builder.scopes[builder.frame].flags |= Flag.UNPACKS
    rest = next((place for place, node in enumerate(nodes) if node != NONE and tree.kind(node) == IS_SPREAD), NONE)
    is_known = len(known) >= len(nodes) - (rest != NONE) and min(known, default=-1) >= 0
    is_known = is_known and (rest != NONE or len(known) == len(nodes))
    if nodes and not is_known:
        builder.take(value, next(node for node in nodes if node != NONE))
    for place, node in enumerate(nodes):
        if node == NONE:
            continue
        behind = len(nodes) - place - 1
        if place == rest:
            inner = tree.first(node, VALUE)
            parts = known[place : len(known) - behind] if is_known else [~value]
            target(builder, node if inner == NONE else inner, builder.add(Op.LIST, parts, is_known))
        elif rest != NONE and place > rest:
            target(builder, node, known[len(known) - behind - 1] if is_known else builder.add(Op.ELEMENT, value))
        else:
            take_part(builder, node, known[place] if is_known else builder.add(Op.ITEM, value, place))


def is_keyed(builder: Builder, nodes: list[int]) -> bool:
    """Whether a pattern says what keys its parts stand behind: `["a" => $b] = $c`."""
    tree = builder.tree
    return len(nodes) > 1 and tree.source[tree.end[nodes[0]] : tree.start[nodes[1]]].strip() == ARROW


def take_keys(builder: Builder, nodes: list[int], value: int) -> None:
    """`["a" => $b, "c" => $d] = $e`, of which the nodes are keys and parts in turn."""
    for key, part in zip(nodes[::2], nodes[1::2], strict=False):
        target(builder, part, builder.add(Op.INDEX, value, builder.visit(key)))


def take_shape(builder: Builder, node: int, value: int) -> None:
    """`{ a, b: c = d, ...e }` takes a value apart."""
    tree = builder.tree
    is_import = builder.expressions[value][0] == Op.IMPORT
    of = NONE
    for kid in tree.kids[node]:
        kind = tree.kind(kid)
        if tree.labels[kid] & OF:  # the class of a pattern
            of = builder.visit(kid)
        elif of != NONE and kind in (IS_PAIR, IS_NAME):
            key, part = (tree.first(kid, KEY), tree.first(kid, VALUE)) if kind == IS_PAIR else (kid, kid)
            at = len(builder.sites)
            inner = field_named(builder, key, value, of)
            site = builder.sites.pop()
            target(builder, part, inner)
            builder.sites.insert(len(builder.sites) if kind == IS_NAME else at, site)
        elif is_import and (names := imported_names(tree, kid)):
            import_member(builder, value, *names)
        elif kind == IS_PAIR:
            key = tree.first(kid, KEY)
            inner = builder.add(Op.GET, value, builder.name(key))
            if builder.dialect.prototypes and tree.kind(key) == IS_LABEL:
                builder.site(key, Use.READ, inner)
            else:
                builder.visit(key)
            take_part(builder, tree.first(kid, VALUE), inner)
        elif kind == IS_SPREAD:
            target(builder, tree.first(kid, VALUE), value)
        elif kind in (IS_NAME, IS_ASSIGN):  # the name is that of the member as well
            name = kid if kind == IS_NAME else tree.first(kid, LEFT)
            inner = builder.add(Op.GET, value, builder.name(name))
            if builder.dialect.prototypes:
                builder.site(name, Use.READ, inner)
            take_part(builder, kid, inner)


TARGETS = {
    BITS["own_field"]: own_field_target,
    BITS["variant"]: variant_target,
    BITS["index"]: key_target,
    BITS["shape"]: take_shape,
    BITS["path"]: path_target,
}


def imported_names(tree: Reduced, node: int) -> list[int]:
    """The nodes of a and b in `{ a: b }`, of a and again a in `{ a }`, where that is all."""
    if tree.kind(node) == IS_NAME:
        return [node, node]
    if tree.kind(node) != IS_PAIR:
        return []
    key, name = tree.first(node, KEY), tree.first(node, VALUE)
    is_said = NONE not in (key, name) and not tree.kids[key]  # `[a()]: b` has a key that is computed
    return [key, name] if is_said and tree.kind(name) == IS_NAME else []


def import_member(builder: Builder, module: int, key: int, name: int) -> None:
    """`const { a: b } = require("m")` is an import."""
    member = builder.add(Op.GET, module, builder.name(key))
    if key != name:
        builder.site(key, Use.IMPORT, member)
    builder.bind(name, builder.add(Op.ALIAS, member), Use.IMPORT)


def take_part(builder: Builder, node: int, value: int) -> None:
    """`a = b` within a pattern: b is what a is if there is nothing else."""
    tree = builder.tree
    if tree.kind(node) == IS_ASSIGN:
        default = builder.optional(tree.first(node, RIGHT))
        node, value = tree.first(node, LEFT), builder.add(Op.CHOICE, [value, max(default, 0)])
    target(builder, node, value)


def export_member(builder: Builder, of: int, part: int, value: int, node: int) -> None:
    """`exports.a = b`, `module.exports.a = b`, `module.exports = b`"""
    if not builder.dialect.names_values:
        return
    path = written(builder, of)
    if path in ("exports", "module.exports"):
        is_left = builder.exports is None and path == "exports"
        at = builder.export(builder.text_of(part), builder.add(Op.UNSURE, value) if is_left else value, node)
        if builder.exports is not None:
            builder.exports.append(at)
        elif path == "module.exports":
            builder.writes.append(Write(builder.whole, part, NONE, value, builder.line(node)))
    elif path == "module" and builder.text_of(part) == "exports":
        op, *parts = builder.expressions[value]
        if written(builder, value) != "exports":
            leave_exports(builder)
        builder.export("default", value, node)
        builder.whole = value
        if op != Op.DICT:
            builder.export(WHOLE, value, node)
        for key, held in parts[0] if op == Op.DICT else ():
            if key != NONE and builder.expressions[key][0] == Op.TEXT:
                builder.export(builder.text_of(builder.expressions[key][1]), held, node)


def leave_exports(builder: Builder) -> None:
    """Doubt all that was exported by a name: `module.exports = b` puts another object in its place."""
    for at in builder.exports or ():
        builder.bindings[at].value = builder.add(Op.UNSURE, builder.bindings[at].value)
    builder.exports = None


def written(builder: Builder, at: int) -> str:
    """`a.b` as it is written, where no scope binds a."""
    op, *parts = builder.expressions[at]
    if op == Op.REACH and parts[1] != NONE:
        return written(builder, parts[1])
    if op == Op.GET:
        return f"{written(builder, parts[0])}.{builder.text_of(parts[1])}"
    return builder.text_of(parts[0]) if op == Op.NAME and parts[1] == NONE else ""
