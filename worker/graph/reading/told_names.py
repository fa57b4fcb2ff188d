"""Names that comments of JavaScript give types: `@import { A as B } from "m"`, `@typedef {import("m").A} B`.

They hold in the whole file. A name that stands for what is no type of the project's is known, and means nothing.
"""

import re

from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.reading.type_reader import TypeReader
from fledgling.worker.graph.tables import NONE, WHOLE, Imported, Op

MAX_TYPEDEF = 10_000  # bytes of one: as long as a comment that says types
TAKEN = re.compile(
    rb"@import\s++(?:([\w$]++)\s*+,?+\s*+)?+(?:\*\s++as\s++([\w$]++)\s*+|\{([\w$\s,*]*+)\}\s*+)?+"
    rb"from\s*+[\"']([^\"'\n]++)[\"']"
)
NAMED = re.compile(rb"([\w$]++)(?:\s++as\s++([\w$]++))?")
DEFINED = re.compile(rb"@(?:typedef\s++(?:\{|([\w$]++))|callback\s++([\w$]++))")
BEHIND = re.compile(rb"[\s*]*+([\w$]++)")


def named_type(builder: Builder, reader: type[TypeReader], name: str) -> int:
    """The expression of the type that a comment of the file gives a name, 0 for none of the project's; else -1."""
    if builder.told_names is None:
        builder.told_names = {}
        scope, builder.scope = builder.scope, 0
        _read(builder, reader, builder.told_names)
        builder.scope = scope
    return builder.told_names.get(name, NONE)


def taken(builder: Builder, module: bytes, name: str | None) -> int:
    """The expression of what a comment takes from a module, of all of it where the name is None."""
    builder.imports.append(Imported(0, module.decode(errors="replace"), name))
    return builder.add(Op.IMPORT, len(builder.imports) - 1)


def _read(builder: Builder, reader: type[TypeReader], found: dict[str, int]) -> None:
    source = builder.tree.source
    for at in TAKEN.finditer(source):
        default, whole, names, module = at.groups()
        for word, of in ((default, "default"), (whole, None)):
            if word:
                found[word.decode()] = taken(builder, module, of)
        for name in NAMED.finditer(names or b""):
            found[(name[2] or name[1]).decode()] = taken(builder, module, name[1].decode())
    for at in DEFINED.finditer(source):
        if plain := at[1] or at[2]:
            found.setdefault(plain.decode(), 0)
            continue
        reading = reader(builder, at.end(), at.end() + MAX_TYPEDEF)
        type_ = reading.read()
        if named := BEHIND.match(source, reading.at):
            found.setdefault(named[1].decode(), type_)


def of_module(builder: Builder, module: bytes, words: list[str]) -> int:
    """The expression of `import("m").a.b`, of what the module is where nothing is asked of it."""
    at = taken(builder, module, words[0] if words else WHOLE)
    for word in words[1:]:
        at = builder.add(Op.GET, at, builder.named(word))
    return at
