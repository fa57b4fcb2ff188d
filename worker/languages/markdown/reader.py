"""Sections and links of Markdown by the block structure of CommonMark 0.31.2: https://spec.commonmark.org/0.31.2/#appendix-a.

Only headings of the document itself are sections: not those in quotes and lists, code, HTML or front matter. Of inline
text only links and pictures are parsed: a section is named as its heading is written, `The *quick* guide`, but without
where they lead.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.outline import FileOutline
from fledgling.worker.extracting.sections import Heading, sections
from fledgling.worker.languages.markdown.links import links

MAX_NESTING = 100  # quotes and lists in each other; deeper ones are text, as for markdown-it
QUOTE = -1  # a container is a block quote, or a list item with the width of its indentation

FRONT_MATTER = deferred(
    rb"---[ \t]*\r?\n(?=(?>(?:[ \t]*#[^\n]*\n)*)[\w\"'-][^\n:]*+:)(?s:.*?)^(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)"
    rb"|\+\+\+[ \t]*\r?\n(?s:.*?)^\+\+\+[ \t]*\r?(?:\n|\Z)",
    re.MULTILINE,
)
ATX = deferred(rb"(#{1,6})(?:[ \t]+(.*))?$", re.DOTALL)
FENCE = deferred(rb"(`{3,}+)[^`]*+$|(~{3,}+)")
ITEM = deferred(rb"(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|$)")
REFERENCE = deferred(
    rb"""\[(?>(?:[^\[\]\\]++|\\.)+)\]:\s*+(?:<[^<>\n]*+>|[^\s<]\S*+)"""
    rb"""(?:\s++(?:"(?>(?:[^"\\]++|\\.)*)"|'(?>(?:[^'\\]++|\\.)*)'|\((?>(?:[^()\\]++|\\.)*)\)))?[ \t]*+(?:\n|$)""",
    re.DOTALL,
)
MOST_LINKED = 1000  # characters of a heading whose links are looked for: a longer one is named as it is written
KEPT = r"(?P<kept>(`+)[^`]+\2|\\.)"  # code, and a sign that is none of a link
PICTURE = deferred(KEPT + r"|!\[(?P<text>[^\[\]]*+)\]\([^()]*+\)")
LINK = deferred(KEPT + r"|\[(?P<text>[^\[\]]*+)\]\([^()]*+\)")
SETEXT = {b"=": 1, b"-": 2}
# fmt: off
BLOCK_TAGS = (
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link "
    "main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead "
    "title tr track ul"
).replace(" ", "|").encode()
# fmt: on
ATTRIBUTE = rb"""\s++[A-Za-z_:][\w.:-]*+(?:\s*+=\s*+(?:[^\s"'=<>`]++|'[^']*+'|"[^"]*+"))?"""
TAG = rb"(?:<[A-Za-z][A-Za-z0-9-]*+(?>(?:" + ATTRIBUTE + rb")*)\s*+/?>|</[A-Za-z][A-Za-z0-9-]*+\s*+>)[ \t]*+$"
BLANK = deferred(rb"^ *+$")
HTML = [  # how a block of HTML starts, and what ends it
    (
        deferred(rb"<(?:script|pre|style|textarea)(?:[ \t>]|$)", re.IGNORECASE),
        deferred(rb"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    ),
    (deferred(rb"<!--"), deferred(rb"-->")),
    (deferred(rb"<\?"), deferred(rb"\?>")),
    (deferred(rb"<![A-Za-z]"), deferred(rb">")),
    (deferred(rb"<!\[CDATA\["), deferred(rb"\]\]>")),
    (deferred(rb"</?(?:" + BLOCK_TAGS + rb")(?:[ \t]|/?>|$)", re.IGNORECASE), BLANK),
    (deferred(TAG), BLANK),
]
ANY_TAG = len(HTML) - 1  # the last cannot interrupt a paragraph


class _ContainedLine(Struct):
    """A line at byte `start`, with `text` from where its containers end; tabs are expanded. `end` is behind its end."""

    text: bytes
    start: int
    end: int

    @property
    def indent(self) -> int:
        """Columns of white space before what follows."""
        return len(self.text) - len(self.text.lstrip(b" "))


class _OpenBlocks:
    """The blocks that are open while lines are read, and the headings found so far."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self.headings: list[Heading] = []
        self._containers: list[int] = []
        self._empty_item = False  # the innermost list item has no content yet
        self._paragraph: int | None = None  # where the open one starts
        self._fence = b""  # the marker of the open one
        self._html: re.Pattern[bytes] | None = None  # what ends the open block

    def add(self, line: _ContainedLine) -> None:
        """Read one line: what it continues, the blocks it starts, and what is left as text."""
        opened = self._continued(line)
        if len(opened) < len(self._containers):
            self._fence, self._html = b"", None
        elif self._fence or self._html:
            self._continue_leaf(line)
            return
        paragraph = self._paragraph is not None and len(opened) == len(self._containers)  # it may end or go on here
        lazy = self._paragraph is not None
        while self._open_container(line, opened, interrupts=paragraph):
            paragraph = lazy = False
        rest = line.text.strip(b" ")
        if rest and lazy and line.indent >= 4:
            return
        is_leaf = not rest or line.indent >= 4 or self._leaf(line, rest, opened, paragraph=paragraph, lazy=lazy)
        if not is_leaf and lazy:
            return
        self._containers = opened
        self._empty_item = self._empty_item and not rest
        self._paragraph = None if is_leaf else line.start

    def _continued(self, line: _ContainedLine) -> list[int]:
        """The open containers that go on in this line; takes their indentation and marks from it."""
        if not line.text.strip(b" "):
            items = self._containers.index(QUOTE) if QUOTE in self._containers else len(self._containers)
            return self._containers[: items - (self._empty_item and items == len(self._containers))]
        for depth, width in enumerate(self._containers):
            indent = line.indent
            if width == QUOTE and indent < 4 and line.text[indent : indent + 1] == b">":
                line.text = line.text[indent + 1 :].removeprefix(b" ")
            elif width != QUOTE and indent >= width:
                line.text = line.text[width:]
            else:
                return self._containers[:depth]
        return self._containers[:]

    def _continue_leaf(self, line: _ContainedLine) -> None:
        rest = line.text.strip(b" ")
        if self._fence:
            if rest.startswith(self._fence) and not rest.strip(self._fence[:1]) and line.indent < 4:
                self._fence = b""
        elif self._html and self._html.search(line.text):
            self._html = None

    def _open_container(self, line: _ContainedLine, opened: list[int], *, interrupts: bool) -> bool:
        """Start a block quote or list item and take its mark from the line."""
        indent, rest = line.indent, line.text.strip(b" ")
        if indent >= 4 or len(opened) >= MAX_NESTING:
            return False
        if rest[:1] == b">":
            opened.append(QUOTE)
            line.text = line.text[indent + 1 :].removeprefix(b" ")
            return True
        item = ITEM.match(rest)
        if not item or is_rule(rest) or (interrupts and (item.end() == len(rest) or item[1] not in (None, b"1"))):
            return False
        if interrupts and rest[:1] == b"-" and not rest.strip(b"-"):
            return False
        content = line.text[indent + item.end() :]
        spaces = len(content) - len(content.lstrip(b" "))
        width = item.end() + (spaces if 1 <= spaces <= 4 and content.strip(b" ") else 1)
        opened.append(indent + width)
        line.text = line.text[indent + width :]
        self._empty_item = True
        return True

    def _leaf(self, line: _ContainedLine, rest: bytes, opened: list[int], *, paragraph: bool, lazy: bool) -> bool:
        """Whether the line is a heading, a rule, or starts a fence or HTML."""
        if heading := ATX.match(rest):
            text = heading[2] or b""
            if not opened:
                self._heading(len(heading[1]), closed(text), line.start, line.end, line.end)
            return True
        if fence := FENCE.match(rest):
            self._fence = fence[1] or fence[2]
            return True
        if rest[:1] == b"<":
            for start, end in HTML[:ANY_TAG] if lazy else HTML:
                if start.match(rest):
                    self._html = None if end.search(rest) else end
                    return True
        if paragraph and rest[:1] in SETEXT and not rest.strip(rest[:1]) and (opened or self._underlined(line, rest)):
            return True
        return is_rule(rest)

    def _underlined(self, line: _ContainedLine, rest: bytes) -> bool:
        """The paragraph above is a heading, unless it is nothing but link references."""
        start = self._paragraph or 0
        while reference := REFERENCE.match(self._source, start, line.start):
            start = reference.end()
        text = self._source[start : line.start]
        if text.strip():
            self._heading(SETEXT[rest[:1]], text, start, start + len(text.rstrip()), line.end)
        return bool(text.strip())

    def _heading(self, level: int, text: bytes, start: int, text_end: int, end: int) -> None:
        name = without_targets(" ".join(text.decode(errors="replace").split()))
        self.headings.append(Heading(level, name, start, start, text_end, end))


def is_rule(rest: bytes) -> bool:
    """Whether the line is a thematic break: `* * *`."""
    marks = rest.replace(b" ", b"")
    return len(marks) >= 3 and marks[:1] in b"*_-" and not marks.strip(marks[:1])


def without_targets(name: str) -> str:
    """Return a heading without its pictures and where its links lead; of pictures alone, what they show.

    >>> without_targets("[1.0](https://a.org/1) of ![build](b.svg) `a[0](b)`"), without_targets("![logo](a.png)")
    ('1.0 of `a[0](b)`', 'logo')
    """
    if "](" not in name or len(name) > MOST_LINKED:
        return name
    bare = PICTURE.sub(lambda found: found["kept"] or "", name)
    if not LINK.sub(lambda found: found["kept"] or found["text"], bare).strip():
        bare = PICTURE.sub(lambda found: found["kept"] or found["text"], name)
    return " ".join(LINK.sub(lambda found: found["kept"] or found["text"], bare).split()) or name


def closed(text: bytes) -> bytes:
    """The text of an ATX heading without the marks that close it: `Install ##` is "Install"."""
    bare = text.rstrip(b"#")
    return text if bare and bare[-1:] not in b" \t" else bare


def lines(source: bytes, start: int) -> Iterator[_ContainedLine]:
    """The lines from `start` on."""
    for raw in source[start:].split(b"\n"):
        text = raw.removesuffix(b"\r")
        yield _ContainedLine(
            text.expandtabs(4) if b"\t" in text else text, start, min(start + len(raw) + 1, len(source))
        )
        start += len(raw) + 1


def outline(source: bytes) -> FileOutline:
    """The sections of a text: `outline(b"# Guide\\n## Install\\n")` has `Guide` and, inside it, `Install`."""
    front_matter = FRONT_MATTER.match(source)
    document = _OpenBlocks(source)
    for line in lines(source, front_matter.end() if front_matter else 0):
        document.add(line)
    return FileOutline(list(sections(document.headings, len(source))), imports=[*links(source)])
