"""A text as definitions are found in it: its lines, its comments, and where its code is."""

import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

NEWLINE, LINE_END = 10, re.compile(b"\n")
MAX_GAP = 1000  # bytes of white space between a comment and what it is about: each definition looks through them
END = 256  # bytes looked at together for the last code before a place
Span = tuple[int, int]  # of bytes of a text: the first, and that behind the last


def line_starts(source: bytes) -> list[int]:
    """Return where each line begins: `line_starts(b"a\\nbc")` is [0, 2].

    By numpy where a process has it, in a tenth of the time; to load it takes as long as to parse ten files without.
    """
    if np := sys.modules.get("numpy"):
        return [0, *((np.frombuffer(source, np.uint8) == NEWLINE).nonzero()[0] + 1).tolist()]
    return [0, *(found.end() for found in LINE_END.finditer(source))]


class SourceText:
    """A file's bytes with the places of lines and comments, and of what no signature shows.

    `SourceText(b"x = 1  # one\\n# two\\n", [(7, 12), (13, 18)]).comment_lines == {2}`
    """

    def __init__(
        self,
        source: bytes,
        comments: Iterable[Span],
        hidden: Sequence[Span] = (),
        *,
        has_blank_ends: bool = False,
    ) -> None:
        self.source = source
        self.comments = sorted(
            [(at, end - 1) if at < end and source[end - 1] == NEWLINE else (at, end) for at, end in comments]
        )
        self.code = without(source, self.comments)
        self.shown = without(self.code, hidden) if hidden else self.code
        self.starts = line_starts(source)
        self._has_blank_ends = has_blank_ends  # blanks may end a definition: an element of HTML
        self._last_lines: dict[int, int] = {}  # of ends behind blanks: thousands of definitions may end in one place

    @cached_property
    def comment_lines(self) -> frozenset[int]:
        """The lines that hold nothing but comment, and not nothing."""
        return frozenset(self._comment_lines())

    def line(self, offset: int) -> int:
        """The 1-based line that holds a byte."""
        return bisect_right(self.starts, offset)

    def last_line(self, first: int, end: int) -> int:
        """The line of the last code before `end` of what begins on line `first`.

        A block of Python may end in comments that are not part of it, a definition of Scala in lines with nothing.
        """
        if first < len(self.starts) and end <= self.starts[first]:  # the line below begins no sooner
            return first
        if self._has_blank_ends or not self.code[max(end - 2, 0) : end].isspace():  # as nearly all do
            return self.line(max(end - 1, 0))
        if end not in self._last_lines:
            self._last_lines[end] = self.line(max(self._code_end(end) - 1, 0))
        return max(first, self._last_lines[end])

    def _code_end(self, end: int) -> int:
        """Where the last code before a place ends."""
        step = END
        while end > 0:
            begin = max(end - step, 0)
            if code := self.code[begin:end].rstrip():
                return begin + len(code)
            end, step = begin, 2 * step
        return 0

    def comments_above(self, offset: int) -> list[bytes]:
        """The comments directly above, top first: one block comment, or line comments below each other."""
        found: list[bytes] = []
        index = bisect_right(self.comments, (offset, offset)) - 1
        below = offset
        while index >= 0:
            start, end = self.comments[index]
            if below - end > MAX_GAP or self.source.count(b"\n", end, below) > 1 or self.code[end:below].strip():
                break
            if self.line(start) not in self.comment_lines:
                break
            found.append(self.source[start:end])
            if b"\n" in found[-1].strip():
                break
            below = start
            index -= 1
        return found[::-1]

    def _comment_lines(self) -> Iterator[int]:
        source, code, starts, ends = self.source, self.code, self.starts, [*self.starts, len(self.source)]
        last = at = 0  # the last line that was looked at, and where it ends
        for start, end in self.comments:
            first = last if start < at else bisect_right(starts, start, last)
            behind = first if end <= ends[first] else bisect_right(starts, end - 1, first)
            for line in range(max(first, last + 1), behind + 1):
                whole = slice(ends[line - 1], ends[line])
                if code[whole].isspace() and not source[whole].isspace():
                    yield line
            last = max(last, behind)
            at = ends[last]


def without(source: bytes, spans: Iterable[Span]) -> bytes:
    """The text with blanks in place of spans, every other byte where it was."""
    text = bytearray(source)
    for start, end in spans:
        text[start:end] = b" " * (end - start)
    return bytes(text)
