"""Functions that a macro makes of a class, perhaps: `TEST_F(A, b) { }` may be a member of A, or of one below it."""

import re

from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.tables import Flag

MAX_HEAD = 300  # bytes before a body in which the call of the macro begins that makes its function
MAX_NAMED = 3  # arguments of such a macro that may name the class, the first ones
PATH = re.compile(rb"[A-Za-z_]\w*+(?:::[A-Za-z_]\w*+)*+")


def note_class(builder: Builder, flags: int, body: int) -> None:
    """Note what the macro before the body of the next scope names, if one makes that: types, if they are any."""
    if not flags & Flag.IMPLICIT or not builder.dialect.bare_members:
        return
    scope, start = len(builder.scopes), builder.tree.start[body]
    head = builder.tree.source[max(0, start - MAX_HEAD) : start].rstrip()
    arguments = head[:-1].rpartition(b"(")[2] if head.endswith(b")") else b""
    for argument in arguments.split(b",", MAX_NAMED)[:MAX_NAMED]:
        path = argument.strip()
        if PATH.fullmatch(path):
            at = builder.use_names(path.decode().split("::"))
            builder.mean_type(at)
            builder.macro_made.append((at, scope))
