"""Links of reStructuredText to files: directives that take one, roles of Sphinx, targets, and entries of a toctree."""

from collections.abc import Iterator

from fledgling.worker.deferred import deferred
from fledgling.worker.extracting.outline import FoundImport
from fledgling.worker.languages.markdown.links import is_file

DIRECTIVE = deferred(
    r"\s*+(?:\.\. (?:\|[^|]++\| )?+(?:image|figure|include|literalinclude)::|:file:)[ ]++([^\s`]++)[ ]*+$"
)
ROLE = deferred(r":(?:doc|download):`(?:[^`<>]*+<([^`<>]++)>|([^`<>]++))`")
TARGET = deferred(r"\.\. _[^:`\n]{1,400}+: ++(\S++)[ ]*+$|`[^`<>]*+<([^`<>\s]++)>`_")
TREE = deferred(r"(\s*+)\.\. toctree::")
ENTRY = deferred(r"\s++(?:[^:<>\n][^<>\n]*+<([^<>\n]++)>|([^\s:<>*][^\s<>*]*+))\s*+$")


def links(source: bytes) -> Iterator[FoundImport]:
    """Yield the links of a text to files: of b".. image:: a.png" that is `a.png`."""
    start = 0
    tree: int | None = None  # the indentation of the toctree that is open
    for raw in source.split(b"\n"):
        line = raw.decode(errors="replace")
        if found := TREE.match(line):
            tree = len(found[1])
        elif tree is not None and line.strip() and len(line) - len(line.lstrip()) <= tree:
            tree = None
        elif tree is not None and (entry := ENTRY.match(line)):
            yield FoundImport(entry[1] or entry[2], start, start + len(raw))
        for name in _named(line):
            yield FoundImport(name, start, start + len(raw))
        start += len(raw) + 1


def _named(line: str) -> Iterator[str]:
    if ("::" in line or ":file:" in line) and (directive := DIRECTIVE.match(line)):
        yield from filter(is_file, [directive[1]])
    if "`" in line or ".. _" in line:
        for expression in (ROLE, TARGET):
            names = (found[1] or found[2] for found in expression.finditer(line))
            yield from (name for name in names if is_file(name) and not name.endswith("_"))
