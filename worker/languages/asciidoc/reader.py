"""Sections, comments and links of AsciiDoc: https://docs.asciidoctor.org/asciidoc/latest/sections/titles-and-levels/.

What stands in a delimited block is no section, nor is a heading that is marked `[discrete]`. Where images are is said
by an attribute, so links to them are left out.
"""

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.outline import FileOutline, FoundImport
from fledgling.worker.extracting.sections import Heading, sections
from fledgling.worker.languages.markdown.links import is_file

TITLE = deferred(rb"(={1,6}|#{1,6})[ \t]++(\S.*)")
BLOCK = deferred(rb"(?:(-{4,}+|={4,}+|\.{4,}+|\*{4,}+|_{4,}+|\+{4,}+|/{4,}+)|(`{3,}+)\w*|([|,:!]={3,}+)|(--))[ \t]*+")
DISCRETE = deferred(rb"\[(?:discrete|float)\b[^\]]*+\]\s*")
UNDERLINE = deferred(rb"(?:(=)=++|(-)-++|(~)~++|(\^)\^++|(\+)\++)[ \t]*+")
LITERAL = b"-.`+/"  # what delimits a block in which nothing is markup
LINK = deferred(
    rb"(?:link|xref|include)::?(?!:)([^\s\[\]<>]{1,400}+)(?=\[)|<<([^\s,<>#]{1,400}+)(?:#[^,<>]*+)?(?:,[^<>]*+)?>>"
)
COMMENTS = b"/"


class _DelimitedBlock:
    """The block that is open, by its delimiter, and where it begins."""

    def __init__(self, delimiter: bytes, start: int) -> None:
        self.delimiter, self.start = delimiter, start
        self.is_literal = delimiter[:1] in LITERAL and delimiter != b"--"


def outline(source: bytes) -> FileOutline:
    """The sections of a text: `outline(b"= Guide\\n\\n== Install\\n")` has `Guide` and, inside it, `Install`."""
    headings: list[Heading] = []
    found = FileOutline([])
    blocks: list[_DelimitedBlock] = []  # those that are open, each in the one before
    before, start, is_discrete = b"", 0, False
    for line in source.splitlines(keepends=True):
        text, end = line.rstrip(b"\r\n"), start + len(line)
        is_literal = bool(blocks) and blocks[-1].is_literal
        is_comment = not is_literal and text.startswith(b"//") and not text.startswith(b"///")
        if not (is_literal or is_comment):
            found.imports += links(text, start)
        if delimiter := _delimiter(text, blocks, before):
            if blocks and delimiter == blocks[-1].delimiter:
                block = blocks.pop()
                if delimiter[:1] == COMMENTS:
                    found.comments.append((block.start, end - 1))
            elif not is_literal:
                blocks.append(_DelimitedBlock(delimiter, start))
        elif is_comment:
            found.comments.append((start, start + len(text)))
        elif not blocks and (title := TITLE.fullmatch(text)) and not is_discrete:
            headings.append(Heading(len(title[1]), _name(title[2]), start, start, start + len(text), end))
        elif not blocks and before.strip() and (level := _underlined(before, text)) and not is_discrete:
            first = start - len(before) - 1
            headings.append(Heading(level, _name(before), first, first, first + len(before), end))
        is_discrete = DISCRETE.fullmatch(text) is not None or (is_discrete and not text.strip())
        before, start = text, end
    found.definitions += sections(headings, len(source))
    found.complete = not blocks
    return found


def _name(title: bytes) -> str:
    return " ".join(title.decode(errors="replace").split())


def _delimiter(text: bytes, blocks: list[_DelimitedBlock], before: bytes) -> bytes:
    """The mark that a line opens or closes a block by; "" where it does neither, as below a title."""
    found = BLOCK.fullmatch(text)
    if not found or (not blocks and _underlined(before, text)):
        return b""
    return found[1] or found[2] or found[3] or found[4]


def _underlined(title: bytes, text: bytes) -> int:
    """The level of a title in the old form, a line over one that is as long; 0 where it is none."""
    found = UNDERLINE.fullmatch(text)
    width = len(title.decode(errors="replace"))
    is_title = found and title[:1].isalnum() and abs(width - len(text.rstrip())) <= 1
    return (found.lastindex or 0) if found and is_title else 0


def links(text: bytes, start: int) -> list[FoundImport]:
    """The files that a line of a document names; what an attribute is part of, `{base}/a.adoc`, is not known."""
    found = ((link, (link[1] or link[2]).decode(errors="replace")) for link in LINK.finditer(text))
    return [
        FoundImport(name, start + link.start(), start + link.end())
        for link, name in found
        if "{" not in name and "." in name and is_file(name)
    ]
