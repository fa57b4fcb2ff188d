"""Sections and comments of reStructuredText, as docutils reads them (docutils/parsers/rst/states.py).

A title is a line with an adornment below it, or above and below; adornments mean levels in order of appearance. Only
what stands at the left edge of the document is read: directives, lists and literal blocks are indented or of one block.
"""

import re
import unicodedata
from itertools import accumulate

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.outline import FileOutline
from fledgling.worker.extracting.sections import Heading, sections
from fledgling.worker.languages.restructuredtext.links import links

MIN_ADORNMENT = 4  # characters; a shorter one must be as long as its title
TAB = 8  # columns

ADORNMENT = deferred(r"([!-/:-@[-`{-~])\1*+$")
EXPLICIT = deferred(r"(?:\.\.|__)(?: |$)")
NAME = r"\w++(?>(?:[-._+:](?!:)\w++)*)"  # of a directive: `py:function`
MARKUP = deferred(
    rf"__|\.\. +(?:\[(?:[0-9]++|\#(?:{NAME})?|\*|{NAME})\](?: |$)|_(?! |$)|\|(?! |$)|(?:{NAME}) ?::(?: |$))"
)
OPTION = r"(?:--?|[+/])[a-zA-Z0-9][\w-]*+(?:[ =][a-zA-Z<][^,\s]*+)?"
LIST_ITEM = deferred(
    r"[-+*\u2022\u2023\u2043](?: |$)"
    r"|:(?![: ])(?>(?:[^:\\]++|\\.|:(?!(?:[ `]|$)))*)(?<! ):(?: |$)"
    rf"|{OPTION}(?>(?:, {OPTION})*)  "
)
ENUMERATOR = deferred(
    r"(?:\((?:\d+|[a-zA-Z]|[ivxlcdm]+|[IVXLCDM]+|#)\)|(?:\d+|[a-zA-Z]|[ivxlcdm]+|[IVXLCDM]+|#)[.)])(?: |$)", re.ASCII
)
DOCTEST_OR_LINES = deferred(r"(?:>>>|\|)(?: |$)")
GRID_TABLE = deferred(r"\+-[-+]*-\+$")
SIMPLE_TABLE = deferred(r"=++(?: ++=++)++$")
SIMPLE_BORDER = deferred(r"=[= ]*$")


class _BlockByBlock:
    """The lines of a text, read block by block; `starts` are their places in bytes."""

    def __init__(self, lines: list[str], starts: list[int]) -> None:
        self._lines = lines
        self._starts = starts
        self._styles: list[str] = []
        self._level = 0
        self.headings: list[Heading] = []
        self.comments: list[tuple[int, int]] = []
        self.complete = True

    def read(self) -> None:
        """Go through the blocks at the left edge; what is indented belongs to the one above."""
        at = 0
        while at < len(self._lines):
            at = self._block(at)

    def _block(self, at: int) -> int:
        """Read the block that starts in this line; the line behind it, or behind as much of it as matters."""
        line = self._lines[at]
        if not line or line[0] == " ":
            return at + 1
        if EXPLICIT.match(line):
            return self._explicit(at)
        if LIST_ITEM.match(line) or (ENUMERATOR.match(line) and self._is_enumerated(at + 1)):
            return at + 1
        if DOCTEST_OR_LINES.match(line) or GRID_TABLE.match(line):
            return self._blank(at)
        if SIMPLE_TABLE.match(line):
            return self._simple_table(at)
        if ADORNMENT.match(line):
            return self._overlined(at)
        return self._text(at)

    def _line(self, at: int) -> str:
        return self._lines[at] if at < len(self._lines) else ""

    def _blank(self, at: int) -> int:
        """The first blank line from here on."""
        while self._line(at):
            at += 1
        return at

    def _is_enumerated(self, following: int) -> bool:
        line = self._line(following)
        return not line or line[0] == " " or ENUMERATOR.match(line) is not None

    def _explicit(self, at: int) -> int:
        """A directive, target or the like; otherwise a comment, with the indented lines below."""
        last, following = at, at + 1
        while following < len(self._lines) and self._lines[following][:1] in ("", " "):
            if self._lines[following]:
                last = following
            following += 1
        if self._lines[at] == ".." and not self._line(at + 1):
            last = at
        if not MARKUP.match(self._lines[at]):
            self.comments.append((self._starts[at], self._starts[last + 1] - 1))
        return following

    def _simple_table(self, at: int) -> int:
        """A table ends at its second rule below the first, or at one before a blank line."""
        rules = 0
        for last in range(at + 1, len(self._lines)):
            if SIMPLE_BORDER.match(self._lines[last]):
                rules += 1
                if rules == 2 or not self._line(last + 1) or len(self._lines[last]) != len(self._lines[at]):
                    return last + 1
        return len(self._lines)

    def _overlined(self, at: int) -> int:
        """A title between two equal adornments; a transition; or text that looks like an adornment."""
        overline, title, underline = self._lines[at], self._line(at + 1), self._line(at + 2)
        is_short = len(overline) < MIN_ADORNMENT
        if not title:
            return self._text(at) if is_short else at + 1
        if ADORNMENT.match(title):
            return self._text(at) if is_short else at + 2
        if overline != underline or (is_short and width(title) > len(overline)):
            return self._text(at) if is_short else at + 3
        self._title(overline[0] * 2, title, at, at + 2)
        return at + 3

    def _text(self, at: int) -> int:
        """A title over its adornment, the term of a definition, or a paragraph."""
        title, underline = self._lines[at], self._line(at + 1)
        if ADORNMENT.match(underline) and (width(title) <= len(underline) or len(underline) >= MIN_ADORNMENT):
            self._title(underline[0], title, at, at + 1)
            return at + 2
        end = at + 1
        while self._line(end)[:1] not in ("", " "):
            end += 1
        return self._quoted_literal(end) if self._lines[end - 1].endswith("::") and not self._line(end) else end

    def _quoted_literal(self, at: int) -> int:
        """A literal block that is not indented: each line starts with the same mark."""
        while at < len(self._lines) and not self._lines[at]:
            at += 1
        mark = self._line(at)[:1]
        if ADORNMENT.match(mark):
            while self._line(at)[:1] == mark:
                at += 1
        return at

    def _title(self, style: str, title: str, first: int, last: int) -> None:
        """A heading, if its style is known or is the next one to be."""
        level = self._styles.index(style) + 1 if style in self._styles else len(self._styles) + 1
        if level > self._level + 1:
            self.complete = False
            return
        if level > len(self._styles):
            self._styles.append(style)
        self._level = level
        text = self._starts[last - 1], self._starts[last]
        name = " ".join(title.split())
        self.headings.append(Heading(level, name, self._starts[first], *text, self._starts[last + 1]))


def width(title: str) -> int:
    """The columns that a title takes: wide characters two, combining ones none."""
    if title.isascii():
        return len(title)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in title)
    return len(title) + wide - sum(map(bool, map(unicodedata.combining, title)))


def outline(source: bytes) -> FileOutline:
    """The sections and comments of a text: `outline(b"Guide\\n=====\\n")` has the section `Guide`."""
    lines = [line.expandtabs(TAB).rstrip() for line in source.decode(errors="replace").split("\n")]
    starts = list(accumulate((len(line) + 1 for line in source.split(b"\n")), initial=0))
    starts[-1] = len(source)
    document = _BlockByBlock(lines, starts)
    document.read()
    found = list(sections(document.headings, len(source)))
    return FileOutline(found, document.comments, document.complete, [*links(source)])
