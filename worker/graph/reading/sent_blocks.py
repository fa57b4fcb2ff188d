"""Blocks of Ruby for which a symbol stands, `a.each(&:save)`: what they get is asked for the method of that name."""

from fledgling.worker.graph.reading.builder import Builder, visits
from fledgling.worker.graph.reading.labels import WORD
from fledgling.worker.graph.reading.named_callbacks import NAME
from fledgling.worker.graph.tables import NONE, Flag, Op, Parameter, ScopeKind, Use


@visits("sent_block")
def sent_block(builder: Builder, node: int, _use: int) -> int:
    """`&:a`, which is `{ |b| b.a }`."""
    word = builder.tree.first(node, WORD)
    written = NAME.fullmatch(builder.tree.text(word))
    if not written:  # `&:+`
        return builder.visit(word)
    name = builder.named(written[1])
    scope = builder.enter(node, ScopeKind.LAMBDA, NONE, builder.line(node), int(Flag.IS_BLOCK))
    builder.scopes[scope].parameters = [Parameter(builder.named(""))]
    asked = builder.add(Op.GET, builder.add(Op.PARAMETER, scope, 0), name)
    call = builder.add(Op.CALL, asked, [], [])
    builder.site_at(builder.tree.start[word] + 1, name, Use.CALL, call)
    builder.scopes[scope].returned = [call]
    builder.leave()
    return builder.add(Op.FUNCTION, scope)
