"""From what an engine found in a text to rows: nesting, qualified names, lines, signatures, documentation.

Both engines hand over `Definition`s and `FoundImport`s, positions in bytes, in any order. Everything that decides how
they become symbols and imports lives here, so that all languages agree.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from fledgling.worker.extracting.docstrings import cleaned, literal, unmarked
from fledgling.worker.extracting.source_text import SourceText
from fledgling.worker.language import Language
from fledgling.worker.rows import Engine, Extraction, ImportRow, SymbolRow

MAX_SIGNATURE = 300  # characters; a signature is to be read in a list
LONGEST = 4 * MAX_SIGNATURE  # bytes that one is made of
MAX_NAME = 200  # characters; a computed JavaScript name can be any expression, and nobody asks for such a one
END_OF_TEXT = 2**63  # behind any byte
MAX_QUALIFIED = 1000  # characters; functions nested ten thousand deep would make qualified names of quadratic size

OWNERS = frozenset({"class", "struct", "interface", "trait", "enum", "scope"})
BLANK_ENDS = frozenset({"section", "macro"})  # kinds that may end in a line with nothing
INSIDE = {(owner, "function"): "method" for owner in OWNERS}  # what a kind is called directly inside another
LOCAL_TO = frozenset({"function", "method"})  # what a language calls local is no symbol inside these
COMPILED = lru_cache(re.compile)  # the expressions of the table of languages


class Definition(Struct, gc=False):
    """One definition in bytes: `start`..`end` with decorators, `head` where the signature begins, `body` where it ends.

    What is defined from `inside` on belongs to it. `value` is the start of an assigned value, of which the signature
    shows only the first line. `doc` is the text of a documentation string. `parent` names the owner where nesting does
    not: `Router` for `Router.prototype.use = function () {}`. What is `exported` where it is defined is two symbols.
    What `is_global` belongs to nobody. The signature leaves the `gap` out: a docstring of Clojure.
    """

    name: str
    kind: str = ""
    start: int = -1
    end: int = -1
    head: int = -1
    inside: int = -1
    body: int | None = None
    value: int | None = None
    doc: str | None = None
    visibility: str | None = None
    parent: str | None = None
    qualified: str = ""
    exported: bool = False
    is_global: bool = False
    gap: tuple[int, int] | None = None


class FoundImport(Struct, gc=False):
    """One imported module in bytes, with pairs of (imported name or None, alias or None)."""

    module: str
    start: int
    end: int
    names: list[tuple[str | None, str | None]] = []
    relative: bool = False


class FileOutline(Struct):
    """What a reader finds in a text: definitions, and the spans of comments; not `complete` where it had to give up."""

    definitions: list[Definition]
    comments: list[tuple[int, int]] = []
    complete: bool = True
    imports: list[FoundImport] = []


def extraction(
    language: Language,
    text: SourceText,
    definitions: Iterable[Definition],
    imports: Iterable[FoundImport],
    engine: Engine,
    *,
    complete: bool,
    macros: Iterable[Definition] = (),
) -> Extraction:
    """Make the rows. What is among `macros` belongs to nobody, and nothing belongs to it."""
    definitions = [*definitions]
    imports = sorted(imports, key=lambda found: found.start)
    listed = [symbol(language, text, found, None) for found in macros if len(found.name) <= MAX_NAME]
    listed += symbols(language, text, definitions)
    listed += (row for found in imports for row in import_symbols(text, found))
    listed.sort(key=by_place)
    rows = [row for found in imports for row in import_rows(language, text.line(found.start), found)]
    comment_lines = text.comment_lines if language.comment_lines else frozenset[int]()
    docs = [found.doc for found in definitions if found.doc]
    return Extraction(listed, rows, comment_lines, engine, complete, text.comments, docs)


def symbols(
    language: Language,
    text: SourceText,
    definitions: Iterable[Definition],
    only: Sequence[tuple[int, int]] | None = None,
) -> Iterator[SymbolRow]:
    """The rows of definitions, or of those whose name stands in some spans, which are in order."""
    for found, parent in list(nested(language, definitions)):  # a later one may settle an earlier one's visibility
        if only is None or is_within(only, found.inside - 1):
            row = symbol(language, text, found, parent)
            yield row
            if found.exported:
                yield replace(row, kind="export")


def by_place(row: SymbolRow) -> tuple[int, int, str]:
    """A sort key: what begins first, and of that what holds the rest."""
    return row.line_start, -row.line_end, row.name


def is_within(spans: Sequence[tuple[int, int]], place: int) -> bool:
    """Whether a byte is in one of some spans, which are in order."""
    at = bisect_right(spans, (place, END_OF_TEXT))
    return at > 0 and place < spans[at - 1][1]


# ---- definitions -----------------------------------------------------------------------------------------------------


def nested(language: Language, definitions: Iterable[Definition]) -> Iterator[tuple[Definition, Definition | None]]:
    """Each definition that is a symbol, in order, with the one around it; settles kinds and qualified names."""
    in_order = sorted(definitions, key=lambda found: (found.start, -found.end))
    separate_chains(in_order)
    settle_namespaces(in_order)
    settle_constants(language, in_order)
    around = Around(in_order)
    variables: set[str] = set()
    accesses = Accesses()
    for found in in_order:
        innermost, parent = around.at(found.start)
        if found.is_global:
            parent = None
        if found.kind == "access":
            accesses.declare(found, parent)
            continue
        accesses.apply(found, parent)
        settle(found, parent)
        if innermost and is_local(language, found, innermost):
            continue
        if found.kind in ("variable", "constant"):
            if found.qualified in variables:
                continue
            if not language.variants:
                variables.add(found.qualified)
        if len(found.name) <= MAX_NAME and found.kind not in ("scope", "call"):
            yield found, parent


class Around:
    """What stands around the definitions of a file, one after the other."""

    def __init__(self, definitions: Iterable[Definition]) -> None:
        self._ahead = sorted(definitions, key=lambda found: found.inside, reverse=True)
        self._open: list[Definition] = []
        self._owners: list[Definition] = []  # those of them that may be a parent

    def at(self, start: int) -> tuple[Definition | None, Definition | None]:
        """The innermost definition around a place, and the innermost that is a parent of what stands there."""
        while self._ahead and self._ahead[-1].inside <= start:
            self._open.append(self._ahead.pop())
            if self._open[-1].kind != "call":
                self._owners.append(self._open[-1])
        while self._open and self._open[-1].end <= start:
            self._open.pop()
        while self._owners and self._owners[-1].end <= start:
            self._owners.pop()
        return self._open[-1] if self._open else None, self._owners[-1] if self._owners else None


def is_local(language: Language, found: Definition, around: Definition) -> bool:
    """Whether a definition is no symbol where it stands. What looks like a call with a body may be an error."""
    is_function = around.kind in LOCAL_TO or (around.kind == "call" and found.kind != "function")
    return is_function and found.kind in language.local


class Accesses:
    """Visibility by statements: `private` holds for what follows it in the same class, `private :a` for `a`."""

    def __init__(self) -> None:
        self._following: dict[int, str | None] = {}  # by the start of the class
        self._named: dict[tuple[str, str], Definition] = {}  # by the names of the class and its own

    def declare(self, access: Definition, parent: Definition | None) -> None:
        """Take a statement, and apply it to the definition it names."""
        if not access.name:
            self._following[parent.start if parent else -1] = access.visibility
        elif named := self._named.get((parent.qualified if parent else "", access.name)):
            named.visibility = access.visibility

    def apply(self, found: Definition, parent: Definition | None) -> None:
        """Give a definition what was said before it, unless it says something itself."""
        found.visibility = found.visibility or self._following.get(parent.start if parent else -1)
        self._named[parent.qualified if parent else "", found.name] = found


def settle_namespaces(in_order: Sequence[Definition]) -> None:
    """A table of Lua is a module where functions are put into it from outside: `function M.f() end`."""
    if namespaces := [found for found in in_order if found.kind == "namespace"]:
        owners = {found.parent for found in in_order}
        for found in namespaces:
            found.kind = "module" if found.name in owners else "variable"


def settle_constants(language: Language, in_order: Sequence[Definition]) -> None:
    """A variable whose name says so is a constant."""
    is_constant = COMPILED(language.constant).fullmatch
    for found in in_order:
        if found.kind == "variable" and is_constant(found.name):
            found.kind = "constant"


def separate_chains(in_order: Sequence[Definition]) -> None:
    """In `a = b = 1` the value of `a` is the definition of `b`, which is no member of `a`."""
    by_start = {found.start: found for found in reversed(in_order)}
    for found in reversed(in_order):
        if found.value in by_start:
            found.inside = by_start[found.value].inside


def owner(found: Definition, parent: Definition | None) -> str | None:
    """Qualified name of what holds a definition: A.B for `class B::C` or `def B.c` within A, B for `class ::B::C`."""
    around = parent.qualified if parent else None
    if not found.parent:
        return around
    names = found.parent.split("::")
    if not names[0]:
        around = None
    if parent and parent.kind in ("class", "module") and names[0] == parent.name:
        del names[0]  # `def A.f` within `class A`
    found.parent = ".".join(name for name in names if name) or None
    return ".".join(part for part in (around, found.parent) if part)


def settle(found: Definition, parent: Definition | None) -> None:
    """Make a function in a class a method, and give the definition its qualified name."""
    if parent:
        found.kind = INSIDE.get((parent.kind, found.kind), found.kind)
    if found.kind == "scope" and parent and found.name in ("self", parent.name):  # `class << self`
        found.name, found.qualified = parent.name, parent.qualified
        return
    name = found.name.replace("::", ".") if found.kind == "scope" else found.name
    around = owner(found, parent)
    qualified = f"{around}.{name}" if around and name else around or name
    found.qualified = qualified if len(qualified) <= MAX_QUALIFIED else found.name


def symbol(language: Language, text: SourceText, found: Definition, parent: Definition | None) -> SymbolRow:
    """The row of one definition."""
    first = text.line(found.start)
    return SymbolRow(
        found.name,
        found.kind,
        first,
        text.line(found.end - 1) if found.kind in BLANK_ENDS else text.last_line(first, found.end),
        found.parent.rpartition(".")[2] if found.parent else parent.name if parent else None,
        signature(text, found),
        docstring(language, text, found),
        visibility(language, found, parent),
        found.qualified,
    )


def visibility(language: Language, found: Definition, parent: Definition | None) -> str:
    """What a keyword says, else the name: `_x` is private in Python, `#x` in JavaScript; else the language's rule."""
    if found.visibility:
        return language.visibilities.get(found.visibility, found.visibility)
    if parent and parent.kind == "scope" and parent.visibility:  # `public extension A`
        return language.visibilities.get(parent.visibility, parent.visibility)
    if language.private and COMPILED(language.private).match(found.name):
        return "private"
    return language.visibility_in.get(parent.kind if parent else "", language.visibility)


def signature(text: SourceText, found: Definition) -> str:
    """The source from the definition's own first word to its body, on one line, without comments.

    `def get(self, key: str) -> int`; of a value only the first line: `ROUTES = {`.
    """
    end = found.end
    if found.body is not None:
        end = found.body
    elif found.value is not None:
        newline = text.source.find(b"\n", found.value, found.end)
        end = newline if newline >= 0 else found.end
    shown = text.code if found.kind == "macro" else text.shown
    begin = found.head
    head = b""
    if found.gap and found.gap[1] <= end:
        head, begin = shown[begin : min(found.gap[0], begin + LONGEST)], found.gap[1]
    head += shown[begin : min(end, begin + LONGEST)]
    words = " ".join(head.decode(errors="ignore").split()).rstrip(" :;\\")
    return words if len(words) <= MAX_SIGNATURE else words[: MAX_SIGNATURE - 3] + "..."


# ---- documentation ---------------------------------------------------------------------------------------------------


def docstring(language: Language, text: SourceText, found: Definition) -> str | None:
    """What the author wrote about the definition, as plain text, where the language has a place for it."""
    if language.docs == "literal":
        return literal(found.doc) if found.doc else None
    if language.docs == "above" and language.doc_comment:
        between = text.comments_above(found.head) if found.head > found.start else []
        comments = text.comments_above(found.start) + between
        if not comments:
            return None
        is_marked = COMPILED(language.doc_comment).match
        marked = "\n".join(comment for comment in map(bytes.decode, comments) if is_marked(comment))
        return cleaned(unmarked(marked, language.doc_comment)).strip() or None
    return None


# ---- imports ---------------------------------------------------------------------------------------------------------


def import_rows(language: Language, line: int, found: FoundImport) -> Iterator[ImportRow]:
    """One row for the names that keep their name, and one for each that is renamed.

    `from m import a, b, c as d` gives (m, names a b) and (m, names c, alias d).
    """
    plain = tuple(name for name, alias in found.names if name and not alias)
    renamed = [((name,) if name else (), alias) for name, alias in found.names if alias]
    relative = found.relative or COMPILED(language.relative).match(found.module) is not None
    for names, alias in [(plain, None), *renamed] if plain or not renamed else renamed:
        yield ImportRow(line, found.module, alias, relative, False, None, names)


def import_symbols(text: SourceText, found: FoundImport) -> Iterator[SymbolRow]:
    """The names an import brings in, or the module where it brings in none."""
    line_start, line_end = text.line(found.start), text.line(max(found.end - 1, found.start))
    for name in [alias or name for name, alias in found.names] or [None]:
        bound = found.module if name in (None, "*", ".", "self") else name  # `use std::io::{self, Read}`
        yield SymbolRow(bound, "import", line_start, line_end, None, None, None, "public", bound)
