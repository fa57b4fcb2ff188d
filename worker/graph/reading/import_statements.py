"""How imports and exports are read: what they bind, and in whose scope."""

import re
from collections.abc import Sequence

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.labels import ALIAS, BITS, IMPORTED, IS_NAME, MODULE, VALUE, WILDCARD
from fledgling.worker.graph.reading.paths import path_of
from fledgling.worker.graph.reading.reduced import Reduced
from fledgling.worker.graph.tables import EXPORTED, NONE, WHOLE, Flag, Imported, Op, Use

NEWLINE = ord("\n")
DEFAULT, BY_DEFAULT = BITS["default"], BITS["exported"]
VERSION = re.compile(r"(?:/v\d+|\.v\d+)$")  # of a path that ends in one, the name stands before


def module_of(builder: Builder, node: int) -> str:
    """The module that a statement names."""
    found = node if builder.tree.labels[node] & MODULE else builder.tree.first(node, MODULE)
    return "" if found == NONE else builder.tree.text(found).strip("'\"`")


def take_import(builder: Builder, node: int, module: str, name: str | None) -> int:
    """Note an import of a statement; return its expression."""
    builder.imports.append(Imported(builder.line(node), module, name))
    return builder.add(Op.IMPORT, len(builder.imports) - 1)


def alias_behind(tree: Reduced, kids: Sequence[int], place: int) -> int:
    """What the name at a place is to be called here, -1 where that is not said."""
    following = kids[place + 1] if place + 1 < len(kids) else NONE
    return following if following != NONE and tree.labels[following] & ALIAS else NONE


@visits("import")
def import_(builder: Builder, node: int, _use: int) -> int:
    """`import a.b as c`"""
    tree = builder.tree
    kids = tree.kids[node]
    for place, kid in enumerate(kids):
        if not tree.labels[kid] & MODULE:
            continue
        module = tree.text(kid).replace(" ", "")
        parts = tree.kids[kid] or [kid]
        alias = alias_behind(tree, kids, place)
        imported = take_import(builder, node, module, None if alias != NONE or len(parts) == 1 else "")
        builder.bind(alias if alias != NONE else parts[0], imported, Use.IMPORT)
        for part in parts if alias != NONE else parts[1:]:
            builder.site(part, Use.IMPORT, imported if part == parts[-1] else 0)
    return 0


@visits("from")
def from_(builder: Builder, node: int, _use: int) -> int:
    """`from a import b as c`"""
    tree = builder.tree
    first = tree.first(node, MODULE)
    module = tree.text(first).replace(" ", "")
    for part in tree.kids[first] or ([first] if tree.labels[first] & IS_NAME else []):
        builder.site(part, Use.IMPORT, 0)
    kids = tree.kids[node]
    for place, kid in enumerate(kids):
        if tree.labels[kid] & WILDCARD:
            builder.scopes[builder.scope].stars.append(len(builder.imports))
            is_inner = tree.start[node] > 0 and tree.source[tree.start[node] - 1] != NEWLINE
            builder.imports.append(Imported(builder.line(node), module, "*", conditional=is_inner))
        elif tree.labels[kid] & IMPORTED:
            imported = take_import(builder, node, module, tree.text(kid))
            alias = alias_behind(tree, kids, place)
            if alias != NONE:
                builder.site(kid, Use.IMPORT, imported)
            builder.bind(alias if alias != NONE else kid, imported, Use.IMPORT)
    return 0


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
        else:
            whole = builder.add(Op.ROOT, builder.named(""), builder.scope)
            for part in path_parts(builder, name):
                builder.site(part, Use.READ, whole)
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
    package = module if is_all else module.rpartition(".")[0]
    value = take_import(builder, node, package, "*" if is_all else tree.text(parts[-1]))
    for place, part in enumerate(parts if is_all else parts[:-1]):
        builder.site(part, Use.IMPORT, builder.add(Op.PART, len(builder.imports) - 1, place))
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
    builder.scopes[0].flags |= Flag.HIDDEN
    for place, kid in enumerate(kids):
        labels = tree.labels[kid]
        if labels & DEFAULT:
            builder.bind(kid, take_import(builder, node, module, "default"), Use.IMPORT)
        elif labels & WILDCARD:
            builder.bind(kid, take_import(builder, node, module, None), Use.IMPORT)
        elif labels & ALIAS and not (place and tree.labels[kids[place - 1]] & IMPORTED):  # import a = require("m")
            value = take_import(builder, node, module, WHOLE)
            builder.bind(kid, builder.add(Op.ALIAS, value), Use.IMPORT)
        elif labels & IMPORTED:
            value = take_import(builder, node, module, tree.text(kid))
            alias = alias_behind(tree, kids, place)
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
    if not builder.scope:  # and not in `declare module "m" { export default a }`
        builder.scopes[0].flags |= Flag.HIDDEN
    of_all = sum(tree.labels[kid] for kid in kids if tree.labels[kid] & BY_DEFAULT)
    is_default, is_whole = bool(of_all), bool(of_all & WILDCARD)
    has_names = False
    for place, kid in enumerate(kids):
        labels = tree.labels[kid]
        if labels & (MODULE | BY_DEFAULT | ALIAS):
            continue
        if labels & IMPORTED:
            has_names = True
            alias = alias_behind(tree, kids, place)
            export_name(builder, node, module, kid, alias)
        elif labels & WILDCARD:
            has_names = True
            builder.export(tree.text(kid), take_import(builder, node, module, None), kid, builder.scope)
            builder.site(kid, Use.IMPORT, 0)
        else:
            builder.begin(kid, node)
            first = len(builder.bindings)
            value = exported_value(builder, kid)
            for row in builder.bindings[first:]:
                row.how = row.how or EXPORTED * (row.scope == builder.scope)
            if is_default:
                builder.export("default", value, kid, builder.scope)
            if is_whole:
                builder.export(WHOLE, value, kid, builder.scope)
    if module and not has_names:
        builder.scopes[builder.scope].stars.append(len(builder.imports))
        builder.imports.append(Imported(builder.line(node), module, "*"))
    return 0


def export_name(builder: Builder, node: int, module: str, name: int, alias: int) -> None:
    """One name of `export { a as b }`; what is `default` is named by no name but the other one."""
    if module:
        value = take_import(builder, node, module, builder.tree.text(name))
        builder.site(name, Use.IMPORT, value)
    else:
        value = exported_value(builder, name)
    builder.export(builder.tree.text(name if alias == NONE else alias), value, name, builder.scope)
    if alias != NONE:
        builder.site(alias, Use.IMPORT, value if builder.tree.text(name) == "default" else 0)


def exported_value(builder: Builder, node: int) -> int:
    """What is exported: of TypeScript both the type and the variable of a name, `interface A {} const A = b;`."""
    first = len(builder.sites)
    value = builder.visit(node)
    op, *parts = builder.expressions[value]
    types = builder.names_type(parts[1], parts[0]) if op == Op.NAME and builder.dialect.typed else ()
    if types and parts[2] not in (None, types):
        value = builder.add(Op.ALIAS, builder.add(op, parts[0], parts[1], None))
        for site in builder.sites[first:]:
            site.at = value
    return value
