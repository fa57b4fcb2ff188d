"""How imports are read: what they bind, and in whose scope."""

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.labels import ALIAS, IMPORTED, IS_NAME, MODULE, WILDCARD
from fledgling.worker.graph.tables import NONE, Imported, Op, Use


@visits("import")
def import_(builder: Builder, node: int, _use: int) -> int:
    """`import a.b as c`"""
    tree = builder.tree
    line = builder.line(node)
    kids = tree.kids[node]
    for place, kid in enumerate(kids):
        if not tree.labels[kid] & MODULE:
            continue
        module = tree.text(kid).replace(" ", "")
        parts = tree.kids[kid] or [kid]
        alias = kids[place + 1] if place + 1 < len(kids) and tree.labels[kids[place + 1]] & ALIAS else NONE
        imported = builder.add(Op.IMPORT, len(builder.imports))
        builder.imports.append(Imported(line, module, None if alias != NONE or len(parts) == 1 else ""))
        builder.bind(alias if alias != NONE else parts[0], imported, Use.IMPORT)
        for part in parts if alias != NONE else parts[1:]:
            builder.site(part, Use.IMPORT, imported if part == parts[-1] else 0)
    return 0


@visits("from")
def from_(builder: Builder, node: int, _use: int) -> int:
    """`from a import b as c`"""
    tree = builder.tree
    line = builder.line(node)
    first = tree.first(node, MODULE)
    module = tree.text(first).replace(" ", "")
    for part in tree.kids[first] or ([first] if tree.labels[first] & IS_NAME else []):
        builder.site(part, Use.IMPORT, 0)
    kids = tree.kids[node]
    for place, kid in enumerate(kids):
        if tree.labels[kid] & WILDCARD:
            builder.scopes[builder.scope].stars.append(len(builder.imports))
            is_inner = tree.source[: tree.start[node]][-1:] not in (b"", b"\n")
            builder.imports.append(Imported(line, module, "*", conditional=is_inner))
        elif tree.labels[kid] & IMPORTED:
            imported = builder.add(Op.IMPORT, len(builder.imports))
            builder.imports.append(Imported(line, module, tree.text(kid)))
            alias = kids[place + 1] if place + 1 < len(kids) and tree.labels[kids[place + 1]] & ALIAS else NONE
            if alias != NONE:
                builder.site(kid, Use.IMPORT, imported)
            builder.bind(alias if alias != NONE else kid, imported, Use.IMPORT)
    return 0
