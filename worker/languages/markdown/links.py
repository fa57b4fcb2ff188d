"""Links of Markdown to files, line by line: what is code is left out, and what leads to another host.

https://spec.commonmark.org/0.31.2/#links. A link that is broken between two lines is not found.
"""

from collections.abc import Iterator

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.outline import FoundImport

FENCE = deferred(rb" {0,3}(?:[-+*>][ \t]++)?+\s*+(`{3,}+[^`]*+$|~{3,}+)")
TICKS = deferred(rb"`++")
INLINE = deferred(rb"\]\([ \t]*+(?:<([^<>]++)>|([^\s()<>]++(?:\([^\s()]*+\)[^\s()]*+)?+))")
REFERENCE = deferred(rb" {0,3}\[(?!\^)[^\[\]]++\]:[ \t]*+(?:<([^<>]++)>|(\S++))")
HTML = deferred(rb"\b(?:href|src)=(?:\"([^\"\s]++)\"|'([^'\s]++)')")
# What is on another host, in the same document, a template's, or a name in documentation of Rust, or of Julia.
ELSEWHERE = deferred(r"[A-Za-z][A-Za-z0-9+.-]*+:|//|#|\?|\{|<|\$|\w+@|@(?:ext)?ref\b|@id\b|crate\b|[\w:]*?::")


def links(source: bytes) -> Iterator[FoundImport]:
    """Yield the links of a text to files: of b"[a](b.md)" that is `b.md`."""
    fence, start = b"", 0
    for line in source.split(b"\n"):
        mark = FENCE.match(line)
        if mark and not fence:
            fence = mark[1][: len(mark[1]) - len(mark[1].lstrip(mark[1][:1]))]
        elif mark and mark[1].startswith(fence) and not mark[1].strip(fence[:1] + b" \t\r"):
            fence = b""
        elif not fence:
            yield from _of_line(line, start)
        start += len(line) + 1


def _of_line(line: bytes, start: int) -> Iterator[FoundImport]:
    line = _without_code(line) if b"`" in line else line
    reference = REFERENCE.match(line)
    for found in (*INLINE.finditer(line), *([reference] if reference else ()), *HTML.finditer(line)):
        name = (found[1] or found[2]).decode(errors="replace")
        if is_file(name):
            yield FoundImport(name, start + found.start(), start + found.end())


def _without_code(line: bytes) -> bytes:
    """Return a line with blanks for code, in linear time: what stands between two runs of as many backticks."""
    last = {len(run[0]): run.start() for run in TICKS.finditer(line)}
    text, opened = bytearray(line), None
    for run in TICKS.finditer(line):
        if opened is None and last[len(run[0])] > run.start():
            opened = run
        elif opened and len(opened[0]) == len(run[0]):
            text[opened.start() : run.end()] = b" " * (run.end() - opened.start())
            opened = None
    return bytes(text)


def is_file(name: str) -> bool:
    """Whether a link may lead to a file: `is_file("a.md#b")`, but not `https://a`, `#b`, `mailto:a` or `{{a}}`."""
    return not ELSEWHERE.match(name) and "{{" not in name
