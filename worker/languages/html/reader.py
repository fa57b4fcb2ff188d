"""Elements with an id and headings of HTML: https://html.spec.whatwg.org/multipage/syntax.html.

Tags are cut as the standard's tokenizer does, with elements whose content is text. An element ends at its end tag, or
where the standard lets it end without one. Names that a template fills in are left out.
"""

import html
import re
from collections import Counter

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.outline import Definition, FileOutline
from fledgling.worker.extracting.sections import Heading, sections

ATTRIBUTES = rb"(?>(?:[^>=]++|=\s*+(?>(?:\"[^\"]*+\"|'[^']*+')?))*)"
TAG = rb"<(?P<end>/?)(?P<name>[a-zA-Z][^\s/>]*+)(?P<attributes>" + ATTRIBUTES + rb")(?P<closed>>|\Z)"
COMMENT = rb"<!--(?>-?>|.*?(?:--!?>|\Z))"
TOKEN = deferred(rb"[^<]*+(?:(?P<comment>" + COMMENT + rb")|" + TAG + rb"|<[!?/][^>]*+>?|<)", re.DOTALL)
MARKUP = deferred(COMMENT + rb"|" + TAG, re.DOTALL)
EMBEDDED = {  # comments of what is in an element, beside its strings
    "style": deferred(rb"(/\*.*?(?:\*/|\Z))|\"(?>(?:[^\"\\\n]++|\\.)*)|'(?>(?:[^'\\\n]++|\\.)*)", re.DOTALL),
    "script": deferred(
        rb"(/\*.*?(?:\*/|\Z)|^[ \t]*+//[^\n]*+)|\"(?>(?:[^\"\\\n]++|\\.)*)|'(?>(?:[^'\\\n]++|\\.)*)|`[^`]*+",
        re.DOTALL | re.MULTILINE,
    ),
}
ID = deferred(rb"[\s\"'/]id\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++))", re.IGNORECASE)
ATTRIBUTE = deferred(rb"[\s/]*+([^\s/=]++)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"']\S*+))?)?")
TEMPLATE = deferred(r"\{\{|\{%|<[%?]|\$\{|\s")
HEADING = deferred(r"h[1-6]")

# fmt: off
VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
})
RAW_TEXT = frozenset({
    "iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp",
})
BLOCKS = (
    "address", "article", "aside", "blockquote", "center", "details", "dialog", "dir", "div", "dl", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "main",
    "menu", "nav", "ol", "p", "pre", "section", "summary", "table", "ul",
)
# fmt: on
ENDED_BY = {  # the open elements that a start tag ends
    **dict.fromkeys(BLOCKS, frozenset({"p"})),
    "li": frozenset({"li", "p"}),
    **dict.fromkeys(("dt", "dd"), frozenset({"dt", "dd", "p"})),
    **dict.fromkeys(("option", "optgroup"), frozenset({"option"})),
    **dict.fromkeys(("td", "th"), frozenset({"td", "th", "p"})),
    "tr": frozenset({"td", "th", "tr", "p"}),
    **dict.fromkeys(("thead", "tbody", "tfoot"), frozenset({"td", "th", "tr", "thead", "tbody", "tfoot", "p"})),
}


class _TagByTag:
    """A document that is read tag by tag."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._open: list[tuple[str, Definition | None]] = []
        self._names: Counter[str] = Counter()
        self._heading: tuple[str, int, int] | None = None  # the open one: its name, start, and where its text starts
        self.ids: list[Definition] = []
        self.comments: list[tuple[int, int]] = []
        self.headings: list[Heading] = []

    def read(self) -> None:
        """Go through all tags."""
        at = 0
        while token := TOKEN.match(self._source, at):
            at = token.end()
            if token["comment"]:
                self.comments.append(token.span("comment"))
            elif token["closed"]:
                at = self._tag(token)
        self._pop(0, len(self._source))

    def _tag(self, token: re.Match[bytes]) -> int:
        """Read one tag; where to go on."""
        name = token["name"].decode(errors="replace").lower()
        start, end = token.start("end") - 1, token.end()
        if token["end"]:
            self._end_tag(name, start, end)
            return end
        self._start_tag(name, start, end, token["attributes"])
        if name not in RAW_TEXT:
            return end
        text_end = self._text_end(name, end)
        if embedded := EMBEDDED.get(name):
            found = embedded.finditer(self._source, end, text_end)
            self.comments += (comment.span(1) for comment in found if comment[1])
        return text_end

    def _start_tag(self, name: str, start: int, end: int, attributes: bytes) -> None:
        ended = ENDED_BY.get(name, frozenset())
        while self._open and self._open[-1][0] in ended:
            self._pop(len(self._open) - 1, start)
        found = None
        if value := identifier(attributes):
            found = Definition(f"#{value}", "selector", start, end, start, end, body=end, is_global=True)
            self.ids.append(found)
        if HEADING.fullmatch(name):
            self._heading = (name, start, end)
        if name not in VOID:
            self._open.append((name, found))
            self._names[name] += 1

    def _end_tag(self, name: str, start: int, end: int) -> None:
        if self._heading and HEADING.fullmatch(name):
            opened, begin, text = self._heading
            self.headings.append(Heading(int(opened[1]), words(self._source[text:start]), begin, begin, end, end))
            self._heading = None
        if self._names[name]:
            index = len(self._open) - 1
            while self._open[index][0] != name:
                index -= 1
            self._pop(index + 1, start)
            self._pop(index, end)

    def _pop(self, depth: int, end: int) -> None:
        """End all open elements but the first `depth`."""
        while len(self._open) > depth:
            name, found = self._open.pop()
            self._names[name] -= 1
            if found:
                found.end = found.inside = end

    def _text_end(self, name: str, at: int) -> int:
        """Where the end tag of an element stands that holds nothing but text."""
        end = re.compile(rb"</%b(?=[\s/>])" % name.encode(), re.IGNORECASE).search(self._source, at)
        return end.start() if end else len(self._source)


def identifier(attributes: bytes) -> str | None:
    """The id among attributes, if its text is all there."""
    if not ID.search(attributes):
        return None
    for match in ATTRIBUTE.finditer(attributes):
        if match[1].lower() == b"id":
            value = html.unescape((match[2] or match[3] or match[4] or b"").decode(errors="replace"))
            return value if value and not TEMPLATE.search(value) else None
    return None


def words(source: bytes) -> str:
    """The text of a heading without the tags in it."""
    return " ".join(html.unescape(MARKUP.sub(b"", source).decode(errors="replace")).split())


def outline(source: bytes) -> FileOutline:
    """Ids and sections of a document: `outline(b'<h1 id="top">Guide</h1>')` has `#top` and `Guide`."""
    document = _TagByTag(source)
    document.read()
    return FileOutline([*document.ids, *sections(document.headings, len(source))], document.comments)
