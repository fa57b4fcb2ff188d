"""Tables and top-level keys of TOML 1.0 (https://toml.io/en/v1.0.0)."""

import re

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.keys import brackets_end, key, match_end, unquoted
from fledgling.worker.extracting.outline import Definition, FileOutline

LINE_STRING = rb"\"(?>(?:[^\"\\\n]++|\\.)*)\"|'[^'\n]*+'"
STRING = rb"\"\"\"(?>(?:[^\"\\]++|\\.|\"(?!\"\"))*)\"{3,5}|'''(?>(?:[^']++|'(?!''))*)'{3,5}|" + LINE_STRING
PART = rb"(?:[\w-]++|" + LINE_STRING + rb")"
NAME = rb"(?P<name>" + PART + rb"(?>(?:[ \t]*+\.[ \t]*+" + PART + rb")*))[ \t]*+"
PARTS = deferred(PART, re.DOTALL)
BLANK = deferred(rb"(?>(?:\s++|#[^\n]*+)*)")
HEADER = deferred(rb"\[\[?+[ \t]*+" + NAME + rb"\]\]?+", re.DOTALL)
PAIR = deferred(NAME + rb"=[ \t]*+", re.DOTALL)
SCALAR = deferred(rb"(?:" + STRING + rb"|[^\s#\"',\[\]{}][^#\r\n]*+)", re.DOTALL)
TO_BRACKET = deferred(rb"(?>(?:[^\"'#{}\[\]]++|" + STRING + rb"|#[^\n]*+)*)(?:(?P<open>[{\[])|[}\]])", re.DOTALL)
REST = deferred(rb"[ \t]*+(?:#[^\n]*+|\r?+)(?:\n|\Z)")


def outline(source: bytes) -> FileOutline:
    """The keys before the first table, and all tables: `outline(b"a = 1\\n[b.c]\\nd = 2\\n")` has `a` and `b.c`."""
    found: list[Definition] = []
    table: Definition | None = None
    at = match_end(BLANK, source, 0)
    while at < len(source):
        if header := HEADER.match(source, at):
            end = header.end()
            table = named(header, end, end)
            found.append(table)
        elif pair := PAIR.match(source, at):
            value = value_end(source, pair.end())
            if value is None:
                return FileOutline(found, complete=False)
            end = value
            if table is None:
                found.append(named(pair, pair.end(), end))
            else:
                table.end = table.inside = end
        else:
            return FileOutline(found, complete=False)
        rest = REST.match(source, end)
        if rest is None:
            return FileOutline(found, complete=False)
        at = match_end(BLANK, source, rest.end())
    return FileOutline(found)


def named(match: re.Match[bytes], value: int, end: int) -> Definition:
    """The key that a header or pair gives: `[tool.ruff]` is `ruff` of `tool`."""
    *path, name = (unquoted(part) for part in PARTS.findall(match["name"]))
    return key(name, match.start(), value, end, parent=".".join(path) or None)


def value_end(source: bytes, start: int) -> int | None:
    """Where the value that starts here ends, if it does."""
    if source[start : start + 1] not in (b"{", b"["):
        scalar = SCALAR.match(source, start)
        return start + len(scalar[0].rstrip()) if scalar else None
    return brackets_end(TO_BRACKET, source, start)
