"""Types that only a comment says, `@return A|null`, `@var array<int, B>`: nobody checks them, so none is certain.

`READERS` has who reads them, by how a dialect says that they are told (`told_in`).
"""

import re

from fledgling.worker.graph.reading.braced_types import BracedReader
from fledgling.worker.graph.reading.bracketed_types import BracketedReader
from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.reading.tagged_types import TagReader
from fledgling.worker.graph.tables import NONE

READERS = {"": TagReader, "braces": BracedReader, "brackets": BracketedReader}
MAX_COMMENT = 10_000  # bytes of a comment; a longer one says no types
MAX_BLANK = 200  # bytes between a comment and what it is about
TEMPLATE = re.compile(rb"@(?:phpstan-|psalm-)?template(?:-\w++)?[ \t]++(\w++)")
# What may stand between a comment of JavaScript and a function or value that it is about.
BETWEEN = re.compile(
    rb"\*/\s*+(?:export\s++(?:default\s++)?+)?+(?:(?:const|let|var)\s++)?+(?:[\w$.]++\s*+[=:]\s*+)?+(?:async\s++)?+\Z"
)
COMMENTED = re.compile(rb"[ \t]*+#")  # a line of Ruby


def comment_before(builder: Builder, node: int) -> tuple[int, int] | None:
    """The span of the comment that says types right before a node, where the language has such comments."""
    source, start = builder.tree.source, builder.tree.start[node]
    first = max(0, start - MAX_BLANK)
    if builder.dialect.told_in == "brackets":
        return _lines_before(source, start)
    if builder.dialect.told_in:
        between = BETWEEN.search(source[first:start])
        end = first + between.start() + 2 if between else 0
    elif builder.dialect.told_types:
        end = first + len(source[first:start].rstrip())
    else:
        return None
    if source[end - 2 : end] != b"*/":
        return None
    begins = source.rfind(b"/*", max(0, end - MAX_COMMENT), end - 2)
    is_one = begins >= 0 and source[begins : begins + 3] == b"/**" and source.find(b"*/", begins, end - 2) < 0
    return (begins, end - 2) if is_one else None


def _lines_before(source: bytes, start: int) -> tuple[int, int] | None:
    """The span of the lines right above that of a byte which hold a comment alone, `# a`."""
    end = source.rfind(b"\n", max(0, start - MAX_BLANK), start) + 1
    begins = end
    while begins and COMMENTED.match(source, above := source.rfind(b"\n", 0, begins - 1) + 1):
        begins = above
        if end - begins > MAX_COMMENT:
            return None
    return (begins, end) if begins < end else None


def told_type(builder: Builder, comment: tuple[int, int] | None, tag: str, name: str = "") -> int:
    """The expression of the type that a comment says behind a tag, `@var A $b` of a name; -1 where it says none."""
    for named, found in READERS[builder.dialect.told_in].told(builder, comment, tag) if comment else ():
        if not name or named in ("", name):
            return found
    return NONE


def told_parameters(builder: Builder, comment: tuple[int, int] | None) -> dict[str, int]:
    """The expressions of the types that a comment says of parameters: `@param A $b`."""
    return dict(READERS[builder.dialect.told_in].told(builder, comment, "param")) if comment else {}


def told_instead(builder: Builder, declared: int, type_: int, told: int) -> int:
    """Of the type that a node declares, -1 for none, and the one that a comment says, the one that counts."""
    is_open = declared != NONE and builder.tree.text(declared).lower().lstrip("?\\") in builder.dialect.told_types
    return told if told != NONE and (type_ == NONE or is_open) else type_


def note_templates(builder: Builder, scope: int, comment: tuple[int, int] | None) -> None:
    """Note which names stand for types that are given elsewhere: `@template T`."""
    found = {match[1] for match in TEMPLATE.finditer(builder.tree.source, *comment)} if comment else ()
    if found:
        builder.templates[scope] = frozenset(found)
