"""Methods of a class that it names where it says when they run: `before_action :a`, `validates :b, if: :c`."""

import re
from collections.abc import Iterator

from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.reading.expressions import last_name
from fledgling.worker.graph.reading.labels import ARG, ARGS, IS_PAIR, IS_TEXT, KEY
from fledgling.worker.graph.tables import CLASSES, NONE, Op, ScopeKind, Use

NAME = re.compile(r":([A-Za-z_]\w*+[?!]?)")


def note_callbacks(builder: Builder, node: int, function: int) -> None:
    """Note the methods that a call of a class body names, each as what is called there."""
    naming = builder.dialect.names_methods
    if not naming or builder.expressions[function][0] != Op.BARE or class_around(builder) == NONE:
        return
    for kid in _naming(builder, node, is_whole=bool(re.fullmatch(naming, last_name(builder, function)))):
        written = NAME.fullmatch(builder.tree.text(kid))
        if written:
            name = builder.named(written[1])
            start = builder.tree.start[kid] + 1
            builder.site_at(start, name, Use.CALL, builder.add(Op.CALLBACK, name, builder.scope))


def class_around(builder: Builder) -> int:
    """The class in whose body something stands, also in a block there, `included do`; else -1."""
    scope = builder.scope
    while builder.scopes[scope].kind in (ScopeKind.LAMBDA, ScopeKind.BLOCK):
        scope = builder.scopes[scope].parent
    return scope if builder.scopes[scope].kind in CLASSES else NONE


def arguments_of(builder: Builder, node: int) -> Iterator[int]:
    """What a call gets: one without brackets, `validate :a`, is a list of arguments itself."""
    tree = builder.tree
    for kid in tree.kids[node]:
        if tree.labels[kid] & ARG:
            yield kid
        elif tree.labels[kid] & ARGS:
            yield from tree.kids[kid]


def _naming(builder: Builder, node: int, *, is_whole: bool) -> Iterator[int]:
    """The texts of a call that may name methods: those that it gets, and those behind a key that says so."""
    tree = builder.tree
    for kid in arguments_of(builder, node):
        if is_whole and tree.kind(kid) == IS_TEXT:
            yield kid
        if tree.kind(kid) != IS_PAIR:
            continue
        key = tree.first(kid, KEY)
        if key != NONE and tree.text(key).strip(":") in builder.dialect.keys_of_methods:
            yield from (part for part in tree.kids[kid] if part != key and tree.kind(part) == IS_TEXT)
