"""The tables of one file: its text read by a Builder from its beginning, and what is settled only at its end."""

import re
from collections.abc import Iterator

from fledgling.worker.graph.doubts import doubt_variables
from fledgling.worker.graph.reading.builder import REPLACED, Builder
from fledgling.worker.graph.reading.flow import MAX_REACHING
from fledgling.worker.graph.reading.labels import BITS, IS_LABEL, IS_NAME
from fledgling.worker.graph.tables import NONE, Facts, Op, ScopeKind, Use, packed_sites

# A string, a comment, or a name with the sign of a call behind it. A name in a string is none.
TOKENS = re.compile(
    rb"""(?s)"(?:\\.|[^"\\])*+"?|'(?:\\.|[^'\\]){1,8}'|/\*(?:[^*]|\*(?!/))*+|//[^\n]*+|[A-Za-z_]\w*+(?P<call>\s*+\()?"""
)
ANY = "_"  # of patterns


def read_whole(builder: Builder) -> Facts:
    """Read the whole text; what names mean in what no parser has seen of it is not known."""
    builder.enter(0, ScopeKind.MODULE, NONE, 0)
    builder.visit_all(0)
    _add_unread(builder)
    for start, end in builder.unseen:
        for at, word, is_called in words(builder.tree.source, start, end):
            name = builder.named(word)
            is_statement = at == start and is_called and word.isupper() and builder.dialect.declared
            if is_statement:  # of a macro: `A(b);`
                builder.site_at(at, name, Use.CALL, builder.add(Op.TOKEN, builder.use_name(name)))
            else:
                builder.site_at(at, name, Use.READ, 0)
    _spread_doubted(builder)
    _leave_out_variables(builder)
    replaced = [(builder.named(builder.tree.text(node).strip(":'\"")), of) for node, of in builder.replaced.items()]
    replaced += builder.replaced_names
    builder.leave()
    return Facts(
        list(builder.names),
        builder.scopes,
        builder.expressions,
        builder.bindings,
        builder.imports,
        builder.writes,
        packed_sites(builder.sites),
        builder.dynamic,
        builder.members,
        builder.extensions,
        builder.package,
        builder.complete,
        len(builder.starts),
        sorted(builder.conditions),
        replaced=replaced,
        augmented=builder.augmented,
        taken=builder.taken,
        undefined=sorted(builder.undefined),
        opening=builder.opening,
        constness=builder.constness,
        macro_made=builder.macro_made,
    )


def words(source: bytes, start: int, end: int) -> Iterator[tuple[int, str, bool]]:
    """The names in a part of a text that no parser has read: where each stands, and whether it is called."""
    for match in TOKENS.finditer(source, start, end):
        word = match[0].rstrip(b"( \t\r\n\\")
        if word[:1].isalpha() or word[:1] == b"_":
            yield match.start(), word.decode(), bool(match["call"])


def _add_unread(builder: Builder) -> None:
    """Note the names in what no rule has read: the account of a name counts them, and most are the module's."""
    tree, sigil, skip = builder.tree, builder.sigil, BITS["skip"]
    for node, said in enumerate(tree.labels):
        start = tree.start[node]
        if said & REPLACED:
            builder.replaced.setdefault(node, NONE)
        if sigil and tree.source[start - 1 : start] == sigil:  # the node around it has it
            continue
        if said & (IS_NAME | IS_LABEL) and not (
            builder.is_read[node]
            or start in builder.defined_at
            or tree.kids[node]
            or said & skip
            or tree.text(node) == ANY
        ):
            use = Use.READ if said & IS_NAME else Use.KEYWORD
            builder.site(node, use, builder.use_name(builder.name(node)))


def _spread_doubted(builder: Builder) -> None:
    """Let what is `doubted` stand for all that it is bound to, except where a check says more; `aliased`, for more."""
    expressions = builder.expressions
    doubt_variables(expressions, builder.aliased)
    for at, (op, *parts) in enumerate(expressions) if builder.doubted else ():
        if op == Op.NAME and (parts[1], parts[0]) in builder.doubted and parts[2]:
            values = (expressions[builder.bindings[binding].value][0] for binding in parts[2])
            if Op.NARROWED not in values:
                expressions[at] = (op, parts[0], parts[1], None)


def _leave_out_variables(builder: Builder) -> None:
    """Let names within a function of Rust mean what one around it defines, and none of its variables."""
    for at, scope, name in builder.seen_within:
        reach = tuple(each for each in builder.scopes[scope].every.get(name, ()) if each not in builder.variables)
        if 0 < len(reach) <= MAX_REACHING:
            builder.expressions[at] = (Op.NAME, name, scope, reach)
