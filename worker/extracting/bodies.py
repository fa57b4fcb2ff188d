"""Bodies of functions that define and import nothing, blank before a text is parsed: half of a parser's work.

Where a body stands is told by lines, which is a guess: it may be in a comment. What is in it is not: it is made of
whole tokens and brackets that close, or it stays. So the tree is asked: where it has a body with nothing in it, from
bracket to bracket, there is one; where it does not, that text is parsed as it is; and where it has errors, only those
bodies stay away that cannot have made them. What a parser does not know within a body is then nobody's error, and never
taken for the end of a function.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

import re2
from msgspec import Struct

from fledgling.worker.language import Languages

SHORTEST = 60  # bytes of a body; a shorter one takes no longer to parse than to leave out
DEEPEST = 40  # brackets within each other: the time to look at them is linear
NO_BRACKETS = bytes(set(range(256)) - set(b"(){}[]"))
INDENTED = rb"(?>(?:%s[^\n]*+\n|[ \t]*+(?:#[^\n]*+)?+\n)*)"
COMMENTS = b"/#"  # what they begin with, and no string

Span = tuple[int, int]


class Blanked(Struct, frozen=True):
    """A text with nothing in some bodies, every byte of the rest where it was; where they begin; comments in them."""

    text: bytes
    bodies: frozenset[int] = frozenset()
    comments: list[Span] = []


class Bodies:
    """Finds the bodies in texts of one language. Made once per language.

    `Bodies(languages, "go").blanked(b"\\nfunc f(a, b int) {\\n...\\n}\\n").bodies == {18}` if it is long.
    """

    def __init__(self, languages: Languages, name: str) -> None:
        row = languages.rows[name]
        self._begin = re.compile(row.body.encode())
        tokens = [languages.tokens[token] for token in row.comments + row.strings]
        self._token = re.compile("|".join(tokens).encode(), re.DOTALL)  # without groups `re` is four times as fast
        self._with_comments = row.comment_lines
        self._defining = re2.compile(row.defining.encode())

    def blanked(self, source: bytes, only: frozenset[int] | None = None) -> Blanked:
        """Leave out what is in bodies; `only` in those that begin there."""
        spans = [span for span in self._bodies(source) if only is None or span[0] in only]
        spans = [span for span in spans if self._is_plain(source[slice(*span)])]
        parts: list[bytes] = []
        done = 0
        for start, end in spans:
            opening, closing = (b"{", b"}") if source[start] == ord("{") else (b"(", b")")
            parts += source[done:start], opening, b" " * (end - start - 2), closing
            done = end
        parts.append(source[done:])
        tokens = (token.span() for span in spans for token in self._token.finditer(source, *span))
        comments = [token for token in tokens if source[token[0]] in COMMENTS] if self._with_comments else []
        return Blanked(b"".join(parts), frozenset(start for start, _ in spans), comments)

    def sure(self, source: bytes, bodies: frozenset[int]) -> frozenset[int]:
        """Those that cannot have made an error of what is none.

        In a comment or a string that ends in a body further down, that body would take its end away. Without brackets,
        a body that is cut too short leaves `else` without `if`.
        """
        starts, ends = [], [0]
        for token in self._token.finditer(source):
            starts.append(token.start())
            ends.append(token.end())
        return frozenset(
            body for body in bodies if source[body] == ord("{") and ends[bisect_left(starts, body)] <= body
        )

    def _bodies(self, source: bytes) -> Iterator[Span]:
        """The spans that look like bodies, none in another: with their braces, or of lines that are indented alike."""
        at = 0
        endless = set[bytes]()
        while match := self._begin.search(source, at):
            at = match.end()
            indent = match["indent"] or b""
            if source[at - 1] != ord("{"):
                line = source.rfind(b"\n", 0, at) + 1
                more = source[line:at]
                lines = _indented(more).match(source, line) if len(more) > len(indent) else None
                start, end = at, _code_end(source, at, lines.end() if lines else at)
            else:
                close = b"\n" + indent + b"}"
                newline = -1 if close in endless else source.find(close, at)
                if newline < 0:
                    endless.add(close)
                start, end = at - 1, newline + len(close) if newline >= 0 else 0
            if end - start >= SHORTEST:
                yield start, end
            at = max(at, end)

    def _is_plain(self, body: bytes) -> bool:
        """Whether it is whole, and defines and imports nothing."""
        inner = body[1:-1] if body.startswith(b"{") else body
        code = self._token.sub(b"", inner + b"\n.")
        return (
            code.endswith(b"\n.")  # or the last token goes on
            and not code.endswith(b"\\\n.")
            and not self._defining.search(code)
            and _is_balanced(code.translate(None, NO_BRACKETS))
        )


@lru_cache(maxsize=64)
def _indented(indent: bytes) -> re.Pattern[bytes]:
    return re.compile(INDENTED % indent)


def _code_end(source: bytes, start: int, end: int) -> int:
    """Where the code of some lines ends: before lines that are blank or comments, which are no part of a block.

    `start` where the last lines could be a comment or the end of a string.
    """
    while end > start:
        begin = max(start, source.rfind(b"\n", start, end - 1) + 1)
        line = source[begin:end].strip()
        if line and not line.startswith(b"#"):
            return begin + len(source[begin:end].rstrip())
        if b"'" in line or b'"' in line:
            break
        end = begin
    return start


def _is_balanced(brackets: bytes) -> bool:
    for _ in range(DEEPEST):
        if not brackets:
            return True
        rest = brackets.replace(b"()", b"").replace(b"{}", b"").replace(b"[]", b"")
        if len(rest) == len(brackets):
            return False
        brackets = rest
    return not brackets
