"""Items within a macro that only says when they are there: `cfg_rt! { pub fn spawn() { } }`, as no parser reads tokens.

They are called `cfg_...` by custom. `cfg_if!` has branches within, whose heads stand on lines of their own, indented
alike: `if #[cfg(unix)] {`, `} else {`. With errors left, the text is parsed with them, too.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.source_text import Span

BLANK = rb"(?: \s | // [^\n]*+ \n | /\* (?: [^*] | \* (?! / ) ){0,2000}+ \*/ )*+"
END = rb"[ \t\r]*+ (?: // [^\n]*+ )?+ $"
CONDITION = rb"if [ ] [#] \[ [^{}]{1,2000}+"
WORD = rb"(?:pub|fn|mod|use|impl|struct|enum|trait|async|unsafe|const|static|type|extern)\b"
ITEM = rb"(?: [#] !?+ \[ | \w++ ! [ ] \{ |" + WORD + rb")"
ITEMS = END + BLANK + rb"(?:" + ITEM + rb"|" + CONDITION + rb"\{" + END + BLANK + rb"(?:" + ITEM + rb"| \} ) )"
HEAD = rb"(?: \} [ ] else [ ] (?:" + CONDITION + rb")?+ |" + CONDITION + rb") \{"
# A macro that holds items or branches of items, the head of a branch, and what may end either.
LINE = deferred(
    rb"^(?P<indent> [ \t]*+ ) (?: (?P<macro> (?:cfg_if::)?+ cfg_ \w++ ! [ \t]*+ \{ ) (?=" + ITEMS + rb")"
    rb"| (?P<head>" + HEAD + rb")" + END + rb"| (?P<end> \} ) )",
    re.MULTILINE | re.VERBOSE,
)


class Macro(Struct):
    """One whose end is not found yet; its branches are indented alike, and `is_within` says whether one is begun."""

    indent: bytes
    spans: list[Span]
    branches: bytes | None = None
    is_within: bool = False

    def takes_head(self, line: re.Match[bytes]) -> bool:
        """Whether a line begins one of its branches."""
        if line["head"].startswith(b"}"):
            return self.is_within and self.branches == line["indent"]
        return not self.is_within and self.branches in (None, line["indent"])


def first(source: bytes) -> list[Span]:
    """The spans to leave out: the heads of such macros and of their branches, and the brackets that end them."""
    found = list[Span]()
    around = list[Macro]()
    begin = source.find(b"cfg_")
    for line in LINE.finditer(source, source.rfind(b"\n", 0, begin) + 1) if begin >= 0 else ():
        indent = line["indent"]
        while around and len(around[-1].indent) > len(indent):
            around.pop()
        if line["macro"]:
            around.append(Macro(indent, [line.span("macro")]))
        elif not around:
            continue
        elif line["head"]:
            macro = around[-1]
            if macro.takes_head(line):
                macro.branches, macro.is_within = indent, True
                macro.spans += lines_of(source, *line.span("head"))
        elif around[-1].is_within and around[-1].branches == indent:
            around[-1].is_within = False
            around[-1].spans.append(line.span("end"))
        elif around[-1].indent == indent:
            macro = around.pop()
            found += [] if macro.is_within else [*macro.spans, line.span("end")]
    return sorted(found)


def lines_of(source: bytes, start: int, end: int) -> Iterator[Span]:
    """The spans of the lines of a span, without their ends."""
    while (line := source.find(b"\n", start, end)) >= 0:
        yield start, line
        start = line + 1
    yield start, end
