"""Macros and includes of C and C++, read line by line: two of three symbols of a kernel, and no parser need see them.

    #include <stdio.h>
    #define ONE 1   /* a run of directives, */
    // with nothing but comments between
    #define TWO(a) \\
        (a + ONE)

Such a run is left out of the text. What may stand in a comment stays, and what does not plainly define or include
something: where there is more behind a comment, or a name or parameters are no words; and all of a text that may have
raw strings.
"""

import re

from msgspec import Struct

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.outline import Definition, FoundImport
from fledgling.worker.extracting.repair import Apart
from fledgling.worker.extracting.source_text import Span
from fledgling.worker.languages.c.macros import REMARK, ended

LINE = rb"//(?>(?:[^\n\\]++|\\(?:\r?\n)?+)*)"
COMMENT = deferred(LINE + rb"|" + REMARK, re.DOTALL)
VALUE = rb"[^\n\\/\"]++|\\(?:\r?\n|\"|\\(?!\r?\n))?+|/(?!\*)|\"(?:(?>(?:[^\"\\\n]++|\\.)*)\")?+"
DIRECTIVE = deferred(
    rb"\#(?<![^\n \t]\#)[ \t]*+(?:define[ \t]++(?P<name>[A-Za-z_]\w*+)"
    rb"(?:(?P<parameters>\((?>(?:[\w \t,.]++|\\\r?\n)*)\))|(?![($\x80-\xff]))"
    rb"(?:[ \t]++|\\\r?\n)*+(?P<value>(?!//)(?>(?:" + VALUE + rb")+))?+"
    rb"|include[ \t]*+(?:<(?P<system>[^\s<>\"'\\]++)>|\"(?P<local>[^\s<>\"'\\]++)\")[ \t]*+)"
    rb"(?P<remark>(?<!/)" + REMARK + rb"|" + LINE + rb")?+[ \t]*+\r?+"
    rb"(?:(?P<end>\n|\Z)\s*+(?P<between>(?:(?:" + LINE + rb"|" + REMARK + rb")\s*+)++)?+)?+",
    re.DOTALL,
)  # fmt: skip
RAW = deferred(rb"R\"[^\s()\\]{0,16}+\(")
STUB = b"#undef A"  # shorter than any of them


class Run(Struct):
    """Directives with nothing but comments between them: from the first byte to the last that is no blank."""

    start: int
    end: int
    macros: list[Definition] = []
    imports: list[FoundImport] = []
    comments: list[Span] = []


def apart(source: bytes) -> Apart:
    """The text without runs, and what they say; what else is a directive ends where its line does."""
    found = runs(source)
    text, blank = without(source, found)
    return Apart(
        ended(text),
        blank,
        definitions=[macro for run in found for macro in run.macros],
        imports=[one for run in found for one in run.imports],
        comments=[comment for run in found for comment in run.comments],
    )


def runs(source: bytes) -> list[Run]:
    """All runs of a text in order; in linear time."""
    found: list[Run] = []
    behind = looked = 0
    in_comment = False
    for match in () if RAW.search(source) else DIRECTIVE.finditer(source):
        start, stop = match.start(), match.start("end")
        if start != behind or not found:
            in_comment = goes_on(source, looked, start, in_comment=in_comment)
            looked = start
            if in_comment or stop < 0 or not begins_line(source, start):
                continue
            found.append(Run(start, stop))
        elif stop < 0:
            continue
        run = found[-1]
        behind = looked = match.end()
        if match["name"] is not None:
            run.macros.append(macro(match))
        else:
            run.imports.append(include(match))
        run.end = stop
        if match["remark"] is not None:
            run.comments.append(match.span("remark"))
        if match["between"] is not None:
            run.comments += (comment.span() for comment in COMMENT.finditer(source, *match.span("between")))
            run.end = run.comments[-1][1]
    if found and found[-1].comments and not ends(source, *found[-1].comments[-1]):
        found.pop()
    return found


def macro(match: re.Match[bytes]) -> Definition:
    """What a directive defines: the signature shows its value, or its parameters and no value."""
    name, start, value = match["name"].decode(), match.start(), match.start("value")
    found = Definition(name, "macro", start, match.end("end"), start, match.end("name"), qualified=name)
    if value >= 0 and match["parameters"] is None:
        found.value = value
    elif value >= 0:
        found.body = value
    return found


def include(match: re.Match[bytes]) -> FoundImport:
    """What a directive includes."""
    path = match["system"] or match["local"]
    return FoundImport(
        path.decode(errors="replace"), match.start(), match.end("end"), relative=match["local"] is not None
    )


def goes_on(source: bytes, start: int, end: int, *, in_comment: bool) -> bool:
    """Whether a comment may go on at the end of a part of a text: one begins in it, in a string maybe, or before."""
    opening, closing = source.rfind(b"/*", start, end), source.rfind(b"*/", start, end)
    return opening >= closing - 1 if max(opening, closing) >= 0 else in_comment


def begins_line(source: bytes, offset: int) -> bool:
    """Whether nothing but blanks stands before a place on its line, which goes on from no other."""
    line = source.rfind(b"\n", 0, offset) + 1
    return not source[line:offset].strip() and not source[max(line - 3, 0) : line].endswith((b"\\\n", b"\\\r\n"))


def ends(source: bytes, start: int, end: int) -> bool:
    """Whether a comment ends, and not only the text."""
    return source.startswith(b"//", start) or source.endswith(b"*/", start + len(b"/*"), end)


def without(source: bytes, found: list[Run]) -> tuple[bytes, list[Span]]:
    """The text without some runs, every byte of the rest where it was, and what of it is blank.

    A directive that says nothing stays, as it may be what ends a statement: the call of a macro without a semicolon.
    """
    text = bytearray(source)
    for run in found:
        text[run.start : run.end] = STUB.ljust(run.end - run.start)
    return bytes(text), [(run.start + len(STUB), run.end) for run in found]
