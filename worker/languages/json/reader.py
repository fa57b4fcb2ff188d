"""Top-level keys of JSON (RFC 8259), and of JSONC and JSON5: comments, spare commas, single quotes, bare keys."""

import re

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.keys import brackets_end, key, match_end, unquoted
from fledgling.worker.extracting.outline import Definition, FileOutline

STRING = rb"\"(?>(?:[^\"\\\n]++|\\.)*)\"|'(?>(?:[^'\\\n]++|\\.)*)'"
COMMENT = rb"//[^\n]*+|/\*.*?\*/"
BLANK = deferred(rb"(?>(?:\s++|" + COMMENT + rb")*)", re.DOTALL)
BETWEEN = deferred(rb"(?>(?:[\s,]++|" + COMMENT + rb")*)", re.DOTALL)
KEY = deferred(rb"(" + STRING + rb"|[A-Za-z_$][\w$]*+)\s*+:\s*+", re.DOTALL)
SCALAR = deferred(STRING + rb"|[^\s,:/{}\[\]\"']++", re.DOTALL)
TO_BRACKET = deferred(
    rb"(?>(?:[^\"'/{}\[\]]++|" + STRING + rb"|" + COMMENT + rb")*)(?:(?P<open>[{\[])|[}\]])", re.DOTALL
)


def outline(source: bytes) -> FileOutline:
    """The keys of the object that a text is: `outline(b'{"a": {"b": 1}}')` has `a`."""
    start = match_end(BLANK, source, 0)
    if source[start : start + 1] != b"{":
        return FileOutline([])
    keys, end = members(source, start)
    return FileOutline(keys, complete=end is not None and match_end(BLANK, source, end) == len(source))


def members(source: bytes, start: int) -> tuple[list[Definition], int | None]:
    """The keys of the object that starts here, and where it ends; None where its text makes no sense."""
    found: list[Definition] = []
    at = match_end(BETWEEN, source, start + 1)
    while pair := KEY.match(source, at):
        value = match_end(BLANK, source, pair.end())
        end = value_end(source, value)
        if end is None:
            return found, None
        found.append(key(unquoted(pair[1]), at, value, end))
        at = match_end(BETWEEN, source, end)
    return found, at + 1 if source[at : at + 1] == b"}" else None


def value_end(source: bytes, start: int) -> int | None:
    """Where the value that starts here ends, if it does."""
    if source[start : start + 1] not in (b"{", b"["):
        scalar = SCALAR.match(source, start)
        return scalar.end() if scalar else None
    return brackets_end(TO_BRACKET, source, start)
