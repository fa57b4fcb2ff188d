"""Items within a macro that only says when they are there: `cfg_rt! { pub fn spawn() { } }`, as no parser reads tokens.

They are called `cfg_...` by custom. `cfg_if!` has branches within, whose heads stand on lines of their own, indented
alike: `if #[cfg(unix)] {`, `} else {`. With errors left, the text is parsed with them, too.
"""

import re
from collections.abc import Iterator

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.source_text import Span

BEGIN = deferred(
    rb"^(?P<indent>[ \t]*+) (?:cfg_if::)?+ cfg_ \w++ ! [ \t]*+ \{ [ \t]*+ \n"
    rb"(?: (?P<inner>[ \t]*+) if [ ] [#] \[ [^{}]{1,2000}+ \{ [ \t]*+ \n)?+"
    rb"(?= \s*+ (?: [#] !?+ \[ | // | /\*"
    rb"     | (?:pub|fn|mod|use|impl|struct|enum|trait|async|unsafe|const|static|type)\b ) )",
    re.MULTILINE | re.VERBOSE,
)
BRANCH = deferred(
    rb"^(?P<indent>[ \t]*+) (?P<head> (?: \} [ ] else [ ] )?+ (?: if [ ] [#] \[ [^{}]{1,2000}+ )?+ \{ | \} ) $",
    re.MULTILINE | re.VERBOSE,
)


def first(source: bytes) -> list[Span]:
    """The spans to leave out: the heads of such macros, and the brackets that end them, indented alike."""
    found: list[Span] = []
    if b"cfg_" not in source:
        return found
    ends = dict[bytes, int]()  # of those brackets the last that was found, or -1: each is looked for once
    read = 0  # the end of the last macro whose branches are known: none in it is read again
    for match in BEGIN.finditer(source):
        close = b"\n" + match["indent"] + b"}"
        end = ends.get(close, 0)
        if 0 <= end < match.end() - 1:
            end = ends[close] = source.find(close, match.end() - 1)
        if end < 0:
            continue
        head = source.find(b"\n", match.end("indent"))
        found += [(match.end("indent"), head), (end + len(close) - 1, end + len(close))]
        branches = (
            BRANCH.finditer(source, head, end + 1) if match["inner"] is not None and match.start() >= read else ()
        )
        heads = [each.span("head") for each in branches if each["indent"] == match["inner"]]
        found += [line for each in heads for line in lines_of(source, *each)]
        read = end if heads else read
    return sorted(found)


def lines_of(source: bytes, start: int, end: int) -> Iterator[Span]:
    """The spans of the lines of a span, without their ends."""
    while (line := source.find(b"\n", start, end)) >= 0:
        yield start, line
        start = line + 1
    yield start, end
