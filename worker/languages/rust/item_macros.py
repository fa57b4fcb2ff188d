"""Items within a macro that only says when they are there: `cfg_rt! { pub fn spawn() { } }`, as no parser reads tokens.

They are called `cfg_...` by custom; `cfg_if!` has an `if` within. With errors left, the text is parsed with them, too.
"""

import re

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.source_text import Span

BEGIN = deferred(
    rb"^(?P<indent>[ \t]*+) cfg_ (?!if\b) \w++ ! [ \t]*+ \{ [ \t]*+ \n"
    rb"(?= \s*+ (?: [#] !?+ \[ | // | /\*"
    rb"     | (?:pub|fn|mod|use|impl|struct|enum|trait|async|unsafe|const|static|type)\b ) )",
    re.MULTILINE | re.VERBOSE,
)


def first(source: bytes) -> list[Span]:
    """The spans to leave out: the heads of such macros, and the brackets that end them, indented alike."""
    found: list[Span] = []
    if b"cfg_" not in source:
        return found
    endless = set[bytes]()
    for match in BEGIN.finditer(source):
        close = b"\n" + match["indent"] + b"}"
        end = -1 if close in endless else source.find(close, match.end() - 1)
        if end < 0:
            endless.add(close)
        else:
            found += [(match.end("indent"), match.end() - 1), (end + len(close) - 1, end + len(close))]
    return sorted(found)
