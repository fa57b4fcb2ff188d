"""Macros of the standard library whose arguments are expressions: `println!("{}", a.b())` is read as a call.

What a macro gets is tokens, of which a parser knows nothing. Only the graph needs this: nothing in there is defined.
"""

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.source_text import Span

# https://doc.rust-lang.org/std/index.html#macros, without those that take patterns or types; log's; anyhow's
NAMES = (
    b"assert|assert_eq|assert_ne|debug_assert|debug_assert_eq|debug_assert_ne|dbg|eprint|eprintln|format|format_args|panic"
    b"|print|println|todo|unimplemented|unreachable|write|writeln|trace|debug|info|warn|error|bail|ensure|anyhow"
)
CALL = deferred(rb"\b(?:" + NAMES + rb")(?P<sign>!)[ \t]*+\(|\b(?P<list>vec!)[ \t]*+\[")


def first(source: bytes) -> list[Span]:
    """The spans to leave out: the sign of a macro, and the name of `vec!`, which leaves a list.

    >>> first(b"f!(a); println!(b); vec![c]")
    [(14, 15), (20, 24)]
    """
    return [match.span("sign" if match["sign"] else "list") for match in CALL.finditer(source)]
