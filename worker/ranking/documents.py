"""What a document says of itself: its first heading, or the title of its front matter, and its first sentence."""

import json
import re
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import takewhile

from fledgling.worker.deferred import deferred
from fledgling.worker.ranking.sentences import (
    MOST_CHARS,
    TOP_BYTES,
    UNDERLINE,
    Sentence,
    cut,
    paragraph_of,
    plain,
    without_markup,
)

MENU_ENTRIES, MENU_WORDS = 3, 4  # of a row of links: at least so many entries, of at most so many words
MENU_DASHED = 6  # entries with dashes between them, which a sentence may have as well: `fast - small - simple`
# Markup that holds no prose, and links of which the text is.
_TARGET = r"(?:\(\s{0,9}[^()\s]{0,500}\s{0,9}\)|\[[^\[\]]{0,100}\])"  # CommonMark 6.3: a line may end before it
_PICTURES = deferred(
    r"(?:link:|https?://)[^\s\[\]]{1,300}\[\s{0,9}image:[^\[\]]{1,300}\[[^\[\]]{0,200}\]\s{0,9}\]"  # of AsciiDoc
    rf"|<!--.*?(?:-->|\Z)|<[a-zA-Z/][^<>]{{0,1000}}>|\[?!\[[^\[\]]{{0,200}}\]{_TARGET}(?:\]{_TARGET})?",
    re.DOTALL,
)
_TITLE_TAG = deferred(r"<h1(?:\s[^<>]{0,300})?>(.{0,300}?)</h1>", re.DOTALL)
_HEADING_TAG = deferred(r"<h([2-6])(?:\s[^<>]{0,300})?>.{0,300}?</h\1>", re.DOTALL)
_HEADING = deferred(r"\s*(?:#{1,6}|=+)\s+(.*)")  # marks and white space at its end are not of it
_SAYING = deferred(r"[^\W_](?:.*[^\W_])?")  # of a heading, without the signs around its words
_KEY = deferred(r"([A-Za-z_][\w-]*+):(?:[ \t]++(.*+))?")  # of front matter
_TITLES, _DESCRIPTIONS = ("title", "name"), ("description", "summary", "about")
_OF_MONEY = deferred(  # a heading of sections that ask for money, or thank for it: they say nothing of the project
    r"(?i)(?:our |the |\w+ )?(?:donat(?:e|ions?|ing)|sponsors?|sponsoring|sponsorship|backers|patrons|funding"
    r"|financial contributors|supporters|for enterprises?|support (?:us|me|(?:this|the) project|(?:the )?development))"
    r"(?: (?:and|&|/) \w+)?"
)
_OF_NEWS = deferred(  # likewise of what is new, which says nothing of what there was before
    r"(?i)(?:(?:(?:our|the|latest|recent|release) )?(?:news|announcements?|updates|releases|changelog)"
    r"|release notes|what(?:.?s| is) new(?: in .{1,60})?"
    r"|.{1,60}? (?:is|are) (?:now (?:available|here|live|out|released)|out|released))"
)
_OF_USE = deferred(  # likewise of what one does with it, of which the first step says nothing of the project
    r"(?i)(?:(?:\w+ )?(?:usage|installation|installing|development|deployment)|how to (?:use|install|run|build).*"
    r"|(?:getting started|quick ?start|requirements|prerequisites|set-?up|contributing|licen[sc]e)\b.*)"
)
_OF_CONTENTS = deferred(r"(?i)[\W_]*(?:table of )?contents[\W_]*")  # a line that stands above links to what follows
_SELLING = deferred(r"(?i)\b(?:t-shirts?|merch(?:andise)?|stickers|buy me a coffee|sponsored by)\b")  # likewise prose
_QUOTED = deferred(r"[*_]{0,3}[\"\u201c\u00ab][^\"\u201d\u00bb]{20,}[\"\u201d\u00bb]")  # what somebody else has said
_BREAK = deferred(r"\s{0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|'{3,})")
_FENCE = deferred(r"\s*(?:(`{3,})[^`]*|(~{3,}).*)", re.DOTALL)  # and what is said of the code behind it
_CLOSING = deferred(r"\s*(`{3,}|~{3,})\s*")
_ITEM = deferred(r"\s*(?:[-+*]|\d{1,9}[.)])\s")
_NO_PROSE = deferred(
    r"\s*(?:[|>:\-+=!~]|```|//|\*(?!\*\S)|\[!\[|<|\.\. |\[[^\]]*\]:|\[[^\]]*\]$|\d+\.|\w+::\S*\[|:\w+:)"
)
_BETWEEN = deferred(r"(?:^|\s)[|\u2022\u00b7](?:\s|$)")  # what stands between the entries of a row of links
_DASHES = deferred(r"\s[-\u2013]\s")  # likewise
_LANGUAGES = deferred(r"(?i)(?:(?:other )?languages?|translations?)\s{0,9}:")  # that a document is in
_FIELD = deferred(r":\w[\w -]{0,40}:(?:\s|$)")  # of reStructuredText; what is indented behind it goes on
_REFERENCE = deferred(
    r"``[^`]{0,200}``|`[^`]{0,200}`|\b([A-Za-z][\w-]{0,60}[A-Za-z0-9])_(?=[\s.,;:)]|$)"
)  # likewise; not of code
_CELLS, _NEXT = deferred(r'"cells"\s*:\s*\[\s*'), deferred(r"\s*,\s*")  # of a notebook
_JSON = json.JSONDecoder()
_TITLE = deferred(r"=\s+\S.*")  # of a document of AsciiDoc: up to a blank line its authors, version and settings are


def of_document(text: bytes, *, has_references: bool = False) -> Sentence | None:
    """Return what the top of a document says of it; of reStructuredText, which has references, `a_`, without marks.

    >>> of_document(b"# Uploads\\n\\nSends a file again. More.\\n")
    Sentence(text='Uploads: Sends a file again.', source='heading')
    """
    top = text[:TOP_BYTES].decode(errors="replace")
    return _of_lines(_without_tags(top).split("\n"), has_references=has_references)


def of_notebook(text: bytes) -> Sentence | None:
    r"""Return what the first cells of Markdown say of a notebook, of those that are whole at its top.

    >>> of_notebook(b'{"cells": [{"cell_type": "markdown", "source": ["# Uploads\\n", "Sends a file again."]}]}')
    Sentence(text='Uploads: Sends a file again.', source='Markdown cell')
    """
    top = text[:TOP_BYTES].decode(errors="replace")
    for cell in _cells(top):
        if cell.get("cell_type") == "markdown" and isinstance(source := cell.get("source"), str | list):
            said = "".join(piece for piece in source if isinstance(piece, str))
            if found := _of_lines(_without_tags(said).split("\n")):
                return Sentence(found.text, "Markdown cell")
    return None


def _cells(top: str) -> Iterator[dict[str, object]]:
    """Yield the cells of a notebook, as far as they are whole."""
    behind = _CELLS.search(top)
    while behind:
        try:
            cell, at = _JSON.raw_decode(top, behind.end())
        except (ValueError, RecursionError):  # it is cut off, or no JSON
            return
        if isinstance(cell, dict):
            yield cell
        behind = _NEXT.match(top, at)


def _without_tags(document: str) -> str:
    """Return a document without pictures and tags: `<h1>` is its title, and lower ones are part of no sentence."""
    titled = _TITLE_TAG.sub(lambda found: f"\n# {' '.join(found[1].split())}\n", document)
    return _PICTURES.sub("", _HEADING_TAG.sub("\n", titled))


def _without_fences(lines: Sequence[str]) -> list[str]:
    """Return lines, empty those of code in fences: each ends by its own sign, at least as often (CommonMark 4.5).

    What is never closed is none, nor is the line below a heading, which is at least as long as that.
    """
    closing = deque((at, found[1]) for at, line in enumerate(lines) if (found := _CLOSING.fullmatch(line)))
    unclosed: set[str] = set()  # so that each mark is looked for once: a text may have one on each line
    kept: list[str] = []
    for at, line in enumerate(lines):
        if at < len(kept):
            continue
        while closing and closing[0][0] <= at:
            closing.popleft()
        fence = _FENCE.fullmatch(line)
        above = kept[-1].strip() if kept else ""
        if fence and not (above and UNDERLINE.fullmatch(line.strip()) and len(line.strip()) >= len(above)):
            mark = fence[1] or fence[2]
            ends = () if mark in unclosed else (end for end, other in closing if other.startswith(mark))
            if end := next(iter(ends), None):
                kept += [""] * (end + 1 - at)
                continue
            unclosed.add(mark)
        kept.append(line)
    return kept


def _without_lists(lines: Sequence[str]) -> list[str]:
    """Return lines, empty those of items of lists: what goes on below an item, or stands indented behind it."""
    kept: list[str] = []
    is_item = is_below = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.strip():
            begins = _ITEM.match(line) is not None and not UNDERLINE.fullmatch(following)
            goes_on = is_below or line.startswith((" ", "\t"))
            is_item = begins or (is_item and goes_on and not _HEADING.fullmatch(line))
        is_below = is_item and bool(line.strip())
        kept.append("" if is_item else line)
    return kept


def _without_asides(lines: Sequence[str]) -> list[str]:
    """Return lines without the sections about money or news, each up to the next heading as high as its own, and of
    news up to a line across; and without those about its use that are not the first.
    """
    kept: list[str] = []
    signs: list[str] = []  # of headings that are underlined, the highest first
    passed = 0  # how high the heading is of what is passed over; 0 where nothing is
    is_news = is_titled = False
    above = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        found, underline = _HEADING.fullmatch(line), UNDERLINE.fullmatch(following)
        level = 0
        if found:
            level = len(line.lstrip()) - len(line.lstrip().lstrip("#="))
        elif underline and line.strip() and not UNDERLINE.fullmatch(line):
            signs += [underline[1]] if underline[1] not in signs else []
            level = signs.index(underline[1]) + 1
        if level and (not passed or level <= passed):
            said = _SAYING.search(found[1] if found else line)
            heading = said[0] if said else ""
            is_news = _OF_NEWS.fullmatch(heading) is not None
            is_aside = is_news or _OF_MONEY.fullmatch(heading) or (is_titled and _OF_USE.fullmatch(heading))
            passed, is_titled = level if is_aside else 0, True
        elif is_news and not above.strip() and _BREAK.fullmatch(line):
            passed = 0
        above = line
        if not passed:
            kept.append(line)
    return kept


def _is_menu(text: str) -> bool:
    """Return whether a paragraph is a row of links to elsewhere: `Blog | Documentation | Support`."""
    if _LANGUAGES.match(text):
        return True
    if text.endswith((".", "!", "?")):
        return False
    ways = ((_BETWEEN, MENU_ENTRIES), (_DASHES, MENU_DASHED))
    rows = [([entry for entry in between.split(text) if entry], least) for between, least in ways]
    return any(len(row) >= least and all(len(entry.split()) <= MENU_WORDS for entry in row) for row, least in rows)


def _of_lines(lines: Sequence[str], *, has_references: bool = False) -> Sentence | None:
    """Return the first heading, and what the first line of prose behind it says: without marks of references, `a_`."""
    title, description, lines = _front_matter(lines)
    lines, heading, prose = _without_lists(_without_fences(lines)), "", ""
    lines = _without_asides(lines) or lines
    is_header = is_field = False
    for at, line in enumerate(lines):
        following = lines[at + 1] if at + 1 < len(lines) else ""
        is_header = is_header and bool(line.strip())
        is_field = _FIELD.match(line) is not None or (is_field and line.startswith((" ", "\t")))
        if is_header or is_field or _OF_CONTENTS.fullmatch(line):
            continue
        if not heading and (found := _HEADING.fullmatch(line)):
            heading, is_header = found[1].rstrip("#= \t"), _TITLE.fullmatch(line) is not None
        elif not heading and line.strip() and UNDERLINE.fullmatch(following) and not UNDERLINE.fullmatch(line):
            heading = line.strip()
        elif line.strip() and not _NO_PROSE.match(line) and not _HEADING.fullmatch(line):
            if UNDERLINE.fullmatch(following) or line.strip() == heading:
                continue
            paragraph = paragraph_of(takewhile(lambda each: not _HEADING.fullmatch(each), lines[at:]))
            if has_references:
                paragraph = _REFERENCE.sub(lambda found: found[1] or found[0], paragraph)
            is_menu = _is_menu(without_markup(paragraph))
            is_other = is_menu or _SELLING.search(paragraph) or _QUOTED.match(paragraph)
            prose = "" if is_other else plain(paragraph)
            if prose:
                break
            is_header = True
    says = (without_markup(heading) or title, description or prose)
    text = cut(": ".join(filter(None, says)), MOST_CHARS)
    return Sentence(text, "heading") if text else None


def _front_matter(lines: Sequence[str]) -> tuple[str, str, Sequence[str]]:
    """Return the title and the description that front matter in YAML gives a document, and the lines behind it."""
    if not lines or lines[0].rstrip() != "---" or not _KEY.match("".join(lines[1:2])):
        return "", "", lines
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        return "", "", lines
    said = {found[1].lower(): (found[2] or "").strip("\"' ") for line in lines[1:end] if (found := _KEY.match(line))}
    title, description = (next((said[key] for key in keys if said.get(key)), "") for keys in (_TITLES, _DESCRIPTIONS))
    description = "" if description in (">", ">-", "|", "|-") else plain(description)
    return without_markup(title), description, lines[end + 1 :] or [""]
