"""Comments above a definition that stand further out, below a decorator: for the grammar they end the block."""

from collections.abc import Iterable

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.repair import Repaired, around
from fledgling.worker.extracting.source_text import Span, without

# Lines of comments, and how far in the definition or the decorator stands that follows them
ABOVE = deferred(
    rb"(?m)^(?>(?:[ \t]*+(?>(?:\#[^\n]*+)?)\n)+)(?:(?P<indent>[ \t]++)(?:@|(?:async[ \t]++)?def\b|class\b))?"
)
COMMENT = deferred(rb"(?m)^(?P<indent>[ \t]*+)(?P<comment>\#[^\n]*+)")


def repaired(source: bytes, unknown: Iterable[Span]) -> Repaired:
    r"""The text with blanks for such comments near what the grammar does not know.

    >>> repaired(b"  @a\n# b\n  def c(): pass\n", [(2, 4)]).text
    b'  @a\n   \n  def c(): pass\n'
    """
    comments = [
        comment.span("comment")
        for start, end in around(unknown)
        for lines in ABOVE.finditer(source, start, end)
        for comment in COMMENT.finditer(source, *lines.span())
        if len(comment["indent"]) < len(lines["indent"] or b"")
    ]
    return Repaired(without(source, comments), comments=comments)
