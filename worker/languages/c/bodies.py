"""Bodies in C and C++ that hold an error and define nothing, found by their brackets; left out, they hide nothing.

Most of what a grammar does not know stands in the body of a function: `if ISZERO(a) {`, `YY_BREAK`,
`va_arg(a, char *)`. A body ends where its brackets do, whatever is in it. Where it defines something, only the
statements around that are left out. A body whose brackets differ between the branches of a conditional stays.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from msgspec import Struct

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.repair import Repaired
from fledgling.worker.extracting.source_text import Span, without
from fledgling.worker.languages.c.conditionals import BRACE, CODE, COMMENT, DEPTHS, PIECE, comments
from fledgling.worker.languages.c.macros import lines

# What holds definitions, by the words before its bracket; `struct a f() {` is a function.
HOLDER = deferred(
    rb"\b(?:namespace|class|struct|union|enum)\b (?>(?:[^()=]++|\((?>(?:[^()]++|\([^()]*+\))*)\))*) (?<!\)) \Z"
    rb"|\bextern \s*+ (?:\"[^\"]*+\")?+ \s*+ \Z",
    re.VERBOSE,
)
DEFINING = deferred(
    rb"^[ \t]*+\#[ \t]*+(?:def|inc|imp) | \btypedef\b | \bnamespace\b [^;]*+ [={] | \busing\s++\w++\s*+=(?!=)"
    rb"| \b(?:struct|union|enum|class)\b [^;(){}=]*+ (?: \([^()]*+\) [^;(){}=]*+ )?+ \{"
    rb"| ^[ \t]*+ (?!else\b|return\b|new\b|case\b) [\w:<>]++ [\s*&]++ (?:[\w:<>]++[\s*&]++)*+ (?<![=,]\s) \w++"
    rb"  [ \t]*+ \([^(){};]*+\) \s*+ (?:const\s*+)?+ \{",
    re.VERBOSE | re.MULTILINE,
)
ENDED = deferred(rb";|(?<=\})\s*+(?!else\b|while\b|catch\b|[;,.)\]]|\Z)")
FEWEST = 2  # bytes of what is left out


class Body(Struct):
    """Where the content of a body begins and ends, and where statements that stand directly in it end."""

    start: int
    end: int = 0
    depth: int = BRACE
    ends: list[int] = []
    around: list[tuple[int, int]] = []  # open conditionals: how deep they begin, and their first branch ends
    is_sure: bool = True

    def take(self, source: bytes, piece: re.Match[bytes]) -> bool:
        """Look at the next piece of the text; whether the body goes on behind it."""
        sign = piece.lastgroup
        if sign in ("begin", "turn", "end"):
            return self._branch(sign)
        if sign == "bracket":
            self.depth += DEPTHS[piece[0]]
            if self.depth < BRACE:
                self.end = piece.start()
        elif sign == "words" and self.depth == BRACE and not self.around:
            self.ends += (end.end() for end in ENDED.finditer(source, *piece.span()))
        return not self.end

    def is_whole(self) -> bool:
        """Whether it ends where its brackets say, whichever branches are taken."""
        return self.end > 0 and self.is_sure and not self.around

    def _branch(self, sign: str) -> bool:
        if sign == "begin":
            self.around.append((self.depth, -1))
            return True
        if not self.around:  # it has begun in a branch that ends here
            return False
        before, behind = self.around.pop()
        if sign == "turn":
            self.is_sure = self.is_sure and behind in (-1, self.depth)
            self.around.append((before, self.depth))
            self.depth = before
        else:
            self.is_sure = self.is_sure and self.depth == (before if behind < 0 else behind)
        return True


def repaired(source: bytes, unknown: Iterable[Span]) -> Repaired:
    """The text without what defines nothing in the bodies that have an error in common with it."""
    errors = sorted(unknown)
    starts = [start for start, _ in errors]
    furthest = [*accumulate((end for _, end in errors), max)]
    wrong = (body for body in bodies(source, furthest[-1] if errors else 0) if has_error(body, starts, furthest))
    spans = [span for body in wrong for span in plain(source, body)]
    text = without(source, (line for span in spans for line in lines(source, *span)))
    return Repaired(text, comments=comments(source, spans))


def has_error(body: Body, starts: Sequence[int], furthest: Sequence[int]) -> bool:
    """Whether an error is in a body, or around it; errors by their starts, and how far they and those before reach."""
    before = bisect_right(starts, body.end)
    return before > 0 and furthest[before - 1] >= body.start


def bodies(source: bytes, last: int) -> Iterator[Body]:
    """What stands in brackets that hold no definitions of the file, in order, none in another; none behind `last`."""
    head = 0  # where the words before the next bracket begin
    body: Body | None = None
    for piece in PIECE.finditer(source):
        if body is None:
            if piece.start() > last:
                return
            if piece[0] == b"{" and not HOLDER.search(source, head, piece.start()):
                body = Body(piece.end())
            head = begin_of_head(source, head, piece)
        elif not body.take(source, piece):
            if body.is_whole():
                yield body
            body, head = None, piece.end()


def begin_of_head(source: bytes, head: int, piece: re.Match[bytes]) -> int:
    """Where the words before a bracket begin behind a piece: behind brackets, semicolons, comments and directives."""
    if piece.lastgroup not in CODE:
        return head if source[head : piece.start()].strip() else piece.end()
    if piece[0] in (b"{", b"}"):
        return piece.end()
    semicolon = piece[0].rfind(b";") if piece.lastgroup == "words" else -1
    return piece.start() + semicolon + 1 if semicolon >= 0 else head


def plain(source: bytes, body: Body) -> Iterator[Span]:
    """What of a body defines nothing: all of it, or runs of statements."""
    code = COMMENT.sub(lambda token: b" " * len(token[0]), source[body.start : body.end])
    behind = run = begin = 0
    for end in [*(end - body.start for end in body.ends), len(code)]:
        if DEFINING.search(code, begin, end):
            yield from _run(source, body.start + run, body.start + begin)
            run = end
        begin = behind = end
    yield from _run(source, body.start + run, body.start + behind)


def _run(source: bytes, start: int, end: int) -> Iterator[Span]:
    text = source[start:end]
    if len(text.strip()) >= FEWEST:
        yield start + len(text) - len(text.lstrip()), start + len(text.rstrip())
