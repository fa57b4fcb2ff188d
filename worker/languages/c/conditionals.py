"""Conditionals of C and C# whose branches do not stand for themselves: `if (a) {` in one, `if (b) {` in the other.

The preprocessor takes one. A parser reads all, one behind the other, and so a bracket too many: a function ends where
its file does, and what follows is in it. Nor does it know a conditional in the middle of a statement: between
`int f(int a,` and `int b)`, before an `else`, or a `case`, which the grammar of C# lacks. Where a text has errors it is
parsed with one branch of each such conditional, the first, and again with another, for what only that defines: `main`
behind the `#else` of a `wmain`.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from msgspec import Struct

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.repair import Repaired
from fledgling.worker.extracting.source_text import Span, without
from fledgling.worker.languages.c.macros import lines

REMARK = rb"//[^\n]*+|/\*(?>(?:[^*]++|\*(?!/))*)(?:\*/|\Z)"
LITERAL = rb"\"(?>(?:[^\"\\\n]++|\\.)*)\"?+|(?<![0-9])'(?>(?:[^'\\\n]++|\\.)*)'?+"
COMMENT = deferred(rb"(?P<remark>" + REMARK + rb")|" + LITERAL, re.DOTALL)
PIECE = deferred(
    rb"^[ \t]*+\#[ \t]*+(?:if(?P<never>[ \t]++0(?=\s))?(?P<begin>)|el(?P<turn>)|endif(?P<end>)|(?P<other>))"
    rb"(?>(?:[^\n\\/]++|\\.|" + REMARK + rb"|/)*)"
    rb"|(?:" + REMARK + rb")(?P<remark>)"
    rb"|(?P<literal>" + LITERAL + rb")"
    rb"|(?P<bracket>[({\[)}\]])|(?P<words>(?:[^\n({\[)}\]\"'/]++|\n(?![ \t]*+\#)|/(?![/*]))++)",
    re.DOTALL | re.MULTILINE,
)  # fmt: skip
CODE = frozenset({"literal", "bracket", "words"})
BRACE = 2**20  # how deep it counts: so a depth also tells what is in parentheses
DEPTHS = {b"(": 1, b"[": 1, b"{": BRACE, b")": -1, b"]": -1, b"}": -BRACE}
ENDS = deferred(rb"(?m)^[ \t]*+(?P<sign>#)[ \t]*+(?:(?P<begin>if)|endif)")
FOLLOWING = deferred(rb"(?>(?:\s++|" + REMARK + rb")*)(?P<sign>[\w{])?")
ELSE = deferred(rb"(?>(?:\s++|" + REMARK + rb")*)else\b")  # what goes on with a statement
INNER = deferred(rb"(?>(?:\s++|" + REMARK + rb")*)(?:else|case)\b")  # what stands in one
ENUM = deferred(rb"\benum\b[^;]*\Z")  # what is left out of one is no mistake of its parser
MOST_BRANCHES = 4  # that are looked at; each takes as long as the first
UNFINISHED = deferred(rb"[\w\"=(\[|&?+*/<>!-]\Z")  # what a statement does not end in


class Conditional(Struct):
    """One that is open: its directives, and how deep in brackets it begins, is where it is least deep, and ends."""

    depth: int
    least: int
    is_whole: bool = True
    directives: list[Span] = []
    first: int = 0  # which of its branches the preprocessor may take first
    ends: list[int] = []
    commas: set[bool] = set()  # whether the branches of one in an `enum` end in one

    def end_branch(self, depth: int, enum: int, last: bytes) -> None:
        """Note how deep a branch has ended, and in an `enum` that is as deep whether in a comma."""
        if depth == enum:
            self.commas.add(last.endswith(b","))
        self.is_whole = self.is_whole and self.least == self.depth == depth and len(self.commas) < 2
        self.ends.append(depth)

    def kept(self, turn: int) -> int:
        """Which branch is taken in a turn: each in one of them, and none in one if there is no `#else`."""
        return (self.first + turn) % max(len(self.directives), 2)

    def behind(self, turn: int) -> int:
        """How deep the branch that is taken ends."""
        kept = self.kept(turn)
        return self.ends[kept] if kept < len(self.ends) else self.depth

    def left_out(self, turn: int, end: Span) -> Iterator[Span]:
        """The directives, up to the one that ends it, and the branches that are not kept."""
        ends = [start for start, _ in self.directives[1:]] + [end[0]]
        for branch, ((start, behind), following) in enumerate(zip(self.directives, ends, strict=True)):
            yield start, behind if branch == self.kept(turn) else following
        yield end


def repaired(source: bytes, _unknown: Iterable[Span]) -> Repaired:
    """The text with one branch of conditionals whose branches do not stand for themselves."""
    spans = [*but_one(source)]
    text = without(source, (line for span in spans for line in lines(source, *span)))
    return Repaired(text, left_out=spans, comments=comments(source, spans))


def others(source: bytes) -> Iterator[bytes]:
    """The text with other branches of such conditionals, until each has been kept."""
    seen = [[*but_one(source)]]
    for turn in range(1, MOST_BRANCHES):
        spans = [*but_one(source, turn)]
        if spans in seen:
            break
        seen.append(spans)
        yield without(source, (line for span in spans for line in lines(source, *span)))


def but_one(source: bytes, turn: int = 0) -> Iterator[Span]:
    """The spans to leave out, in order: directives of such conditionals, and all their branches but the first.

    In the next turn it is the second that stays.

    What else the preprocessor is told in one of them stays: `#define` and `#include` stand for themselves.
    """
    behind = 0
    for start, end in sorted(_left_out(source, turn)):
        if start < behind:
            continue  # it is in a branch that is left out
        behind = end
        for piece in PIECE.finditer(source, start, end):
            if piece.lastgroup == "other":
                yield start, piece.start()
                start = piece.end()
        yield start, end


def conditionals(source: bytes, changed: list[Span]) -> Iterator[Span]:
    r"""From `#if` to `#endif`: those of which no directive is left in a text that a repair has changed.

    >>> list(conditionals(b"#if A\n#if B\n#endif\n#endif\n", [(0, 5), (19, 25)]))
    [(0, 19)]
    """
    opened = list[int]()
    for match in ENDS.finditer(source) if changed else ():
        if match["begin"]:
            opened.append(match.start("sign"))
        elif opened:
            begins = opened.pop()
            place = bisect_right(changed, (begins, len(source))) - 1
            if place >= 0 and begins < changed[place][1]:
                yield begins, match.start("sign")


def comments(source: bytes, spans: list[Span]) -> list[Span]:
    """The comments in what is left out."""
    found = (match for span in spans for match in COMMENT.finditer(source, *span))
    return [match.span() for match in found if match["remark"]]


def _left_out(source: bytes, turn: int) -> Iterator[Span]:
    depth = 0
    last = b";"
    enum = -1  # how deep what is in one is
    around = [Conditional(depth, depth)]  # the first is the text
    for piece in PIECE.finditer(source):
        match piece.lastgroup:
            case "bracket":
                depth += DEPTHS[piece[0]]
                if piece[0] == b"{" and ENUM.search(last):
                    enum = depth
                around[-1].least = min(around[-1].least, depth)
            case "begin":
                is_within = bool(UNFINISHED.search(last) or INNER.match(source, piece.end()))
                is_within = is_within or (depth != enum and last.endswith(b","))
                first = 0 if piece["never"] is None else 1
                around.append(Conditional(depth, depth, not is_within, [piece.span()], first))
            case "turn" if len(around) > 1:
                around[-1].end_branch(depth, enum, last)
                around[-1].directives.append(piece.span())
                depth = around[-1].depth
            case "end" if len(around) > 1:
                ended = around.pop()
                ended.end_branch(depth, enum, last)
                is_within = _goes_on(last, source, piece.end()) or (depth != enum and last.endswith(b","))
                ended.is_whole = ended.is_whole and not is_within
                depth = ended.behind(turn)
                around[-1].least = min(around[-1].least, ended.least)
                if not ended.is_whole:
                    yield from ended.left_out(turn, piece.span())
        if piece.lastgroup in CODE:
            last = piece[0].rstrip() or last


def _goes_on(last: bytes, source: bytes, end: int) -> bool:
    """Whether a statement whose last words are in a branch goes on behind: `int f(int a)` and `{`, or `else`."""
    following = FOLLOWING.match(source, end)
    sign = following and following["sign"]
    if ELSE.match(source, end):
        return True
    return sign is not None and (UNFINISHED.search(last) is not None or (sign == b"{" and last.endswith(b")")))
