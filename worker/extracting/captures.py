"""What the matches of a query say, put together: definitions, imports, comments.

What to look for stands in `languages/*/tags.scm`; this is the vocabulary of their captures. Patterns count in file
order: of two that say something about the same thing, the first holds.

    @definition.<kind>  a definition, of a Kind of messages/questions.py; its signature begins here
    @definition.scope   no symbol, but what stands in it belongs to its @name: an `impl` of Rust; to what is around if
                        that is `self`
    @definition.call    no symbol, nor is what is local to a function in it: the call of a macro with a body
    @definition.access  no symbol: its @visibility is that of the @name beside it, else of what follows it: `private`
    @definition.namespace  a module where others name it as their @parent, else a variable: a table of Lua
    @definition         widens the range of the definition with the same @name: decorators, `export`
    @name               its name; patterns with the same name node speak of the same definition; what has no name of its
                        own gets one from its pattern: `(#set! name "Companion")`
    @body               the signature ends where this starts        @value       ... where the first line of this ends
    @inside             what is defined from here on belongs to it, not from its name on: parameters of PHP
    @doc                a documentation string                      @visibility  a keyword such as `private`
    @exported           marks the definition as an export as well
    @parent             who owns it, where nesting does not say: `A` in `A.prototype.f = function () {}`; several nodes
                        are owners in each other
    @decorator          belongs to the definition that follows directly
    @declarator         what holds the @name, and maybe the @parent, somewhere inside: declarator.py finds them
    @global             marks what belongs to nobody, wherever it stands: a macro of C
    @import             a statement or call that imports @module; patterns with the same module node, or without one and
                        with the same start, speak of one import; several nodes are one module, to the last of them
    @relative           marks the import as one that starts from the importing file
    @prefix, @within    the first stands before the module of every import in the second: `std` in `use std::{io::Read}`
    @imported, @alias   a name taken from the module, and what it is called here; an alias alone is the module's; a name
                        that ends the @module is no part of it: `C` in `a.b.C`; `(#set! imported "*")` for all names
    @default            an alias of the module's default export
    @comment            a comment
    @blank              the brackets of a body, a block or a macro with nothing between them (elided_bodies.py)
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace
from tree_sitter import Node, Query

from fledgling.messages.questions import Kind
from fledgling.worker.extracting.declarator import DeclaredName, declared
from fledgling.worker.extracting.outline import Definition, FoundImport
from fledgling.worker.extracting.source_text import Span, without

MAX_MODULE = 1000  # characters; prefixes nested ten thousand deep would make modules of quadratic size
BLANKS = re.compile(r"(?<!\s)\s++(?=[.:\\])|(?<=[.:])[\s\\]++|\\\n\s*+")  # `a . b` is `a.b`, also over lines
BLANK = re.compile(rb"\s*+")
WORDS = re.compile(rb"[ \t]*+((?:[A-Za-z_]\w*+[ \t]++)++)")
DEFINITION = re.compile(rb"@(definition(?:\.(\w+))?)")
CAPTURE = re.compile(rb"@\w[\w.]*+")
CALLS = frozenset({"function_declarator", "parenthesized_declarator"})  # what a macro with a body looks like
MORE = re.compile(rb"@(?:inside|doc|parent|visibility|exported|global)\b")

KNOWN = {
    *(
        "definition",
        "name",
        "body",
        "inside",
        "doc",
        "exported",
        "parent",
        "decorator",
        "declarator",
        "global",
        "value",
    ),
    *(
        "visibility",
        "import",
        "module",
        "relative",
        "prefix",
        "within",
        "imported",
        "alias",
        "default",
        "comment",
        "blank",
    ),
    *(f"definition.{kind}" for kind in (*get_args(Kind), "scope", "call", "access", "namespace")),
}

Captures = dict[str, list[Node]]


class Pattern(Struct, frozen=True):
    """What a pattern says whatever it matches, asked once and not for each match.

    `whole` is its capture of the definition, "definition.class", and `kind` that definition's. `name` and `imported`
    are the names it sets. `says_more` marks the few with a capture of what most definitions do not have, `is_comment`
    those that capture nothing but a comment: half of all matches. `is_blank` marks a body's brackets.
    """

    whole: str
    kind: str
    name: str | None
    imported: str | None
    says_more: bool
    is_comment: bool
    is_blank: bool


def patterns(query: Query, rules: bytes) -> Iterator[Pattern]:
    """The patterns of a query in order."""
    for index in range(query.pattern_count):
        source = rules[query.start_byte_for_pattern(index) : query.end_byte_for_pattern(index)]
        whole = DEFINITION.search(source)
        yield Pattern(
            whole[1].decode() if whole else "",
            (whole[2] or b"").decode() if whole else "",
            query.pattern_settings(index).get("name"),
            query.pattern_settings(index).get("imported"),
            MORE.search(source) is not None,
            CAPTURE.findall(source) == [b"@comment"],
            CAPTURE.findall(source) == [b"@blank"],
        )


class Captured:
    """What the matches of a query say, put together: matches that speak of the same node speak of one thing."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._definitions: dict[int, Definition] = {}  # by the start of the name
        self._imports: dict[int, FoundImport] = {}  # by the start of the module
        self._included: list[FoundImport] = []  # read line by line
        self._names = defaultdict[int, list[tuple[str | None, str | None]]](list)  # by the start of the statement
        self.decorators: list[Span] = []
        self._accesses: list[Definition] = []
        self._prefixes: list[tuple[int, int, str]] = []  # from where to where, and what stands before the modules there
        self.comments: list[Span] = []
        self.macros: list[Definition] = []  # read line by line
        self.blank: set[int] = set()
        self.complete = True

    def add(self, pattern: Pattern, captures: Captures) -> None:
        """Add one match."""
        if pattern.kind == "access":
            self._add_access(captures)
        elif "name" in captures:
            start, end = captures["name"][0].byte_range
            self._add_definition(pattern, captures, start, end, pattern.name)
        elif "declarator" in captures:
            self._add_declared(pattern, captures)
        elif "import" in captures:
            self._add_import(pattern, captures)
        elif "decorator" in captures:
            self.decorators.append(captures["decorator"][0].byte_range)
        elif "prefix" in captures:
            start, end = captures["within"][0].byte_range
            self._prefixes.append((start, end, self._cut(captures["prefix"][0].start_byte, start)))

    def take(
        self,
        macros: Sequence[Definition] = (),
        imports: Sequence[FoundImport] = (),
        comments: Sequence[Span] = (),
        decorators: Sequence[Span] = (),
    ) -> None:
        """Add what was found without a parser."""
        self.macros += macros
        self._included += imports
        self.comments += comments
        self.decorators += decorators

    def definitions(self) -> list[Definition]:
        """All definitions, with the decorators directly above, and signatures that begin behind those within."""
        definitions = [found for found in self._definitions.values() if found.kind and found.name]
        definitions += self._accesses
        code = without(self._source, self.comments) if self.decorators else b""
        behind = {start: blank_end(code, end) for start, end in self.decorators}
        above = {following: start for start, following in behind.items()}
        for found in definitions if behind else ():
            while found.start in above:
                found.start = above[found.start]
            while found.head in behind:
                found.head = behind[found.head]
        return definitions

    def imports(self) -> list[FoundImport]:
        """All imports with the names of their statements, and modules with what stands before them."""
        for found in self._imports.values():
            found.names += self._names.pop(found.start, ())
        return [*(self._prefixed() if self._prefixes else self._imports.values()), *self._included]

    def _prefixed(self) -> Iterator[FoundImport]:
        ahead = sorted(self._prefixes, reverse=True)
        around = [(len(self._source), "")]
        for start, found in sorted(self._imports.items()):
            while ahead and ahead[-1][0] <= start:
                begin, end, prefix = ahead.pop()
                while around[-1][0] <= begin:
                    around.pop()
                before = around[-1][1]
                around.append((end, before if len(before) > MAX_MODULE else before + "".join(prefix.split())))
            while around[-1][0] <= start:
                around.pop()
            found.module = around[-1][1] + found.module
            if len(found.module) <= MAX_MODULE:
                yield found

    def _add_declared(self, pattern: Pattern, captures: Captures) -> None:
        """Add what a declarator declares, unless it is a function and no definition of one is meant: a prototype."""
        declarator = captures["declarator"][0]
        found = declared(declarator)
        whole = captures.get(pattern.whole)
        if found is None:
            return
        is_wanted = pattern.kind == "type" or found.is_function == (pattern.kind == "function")
        if not is_wanted or (whole and is_misread(whole[0], pattern.kind, found)):
            if pattern.kind == "function" and declarator.type in CALLS:
                self._add_definition(replace(pattern, kind="call"), captures, *found.name, self._cut(*found.name))
            return
        if found.owners and pattern.kind == "function":
            pattern = replace(pattern, kind="method")
        self._add_definition(pattern, captures, *found.name, " ".join(self._cut(*found.name).split()))
        definition = self._definitions[found.name[0]]
        definition.parent = definition.parent or "::".join(self._cut(*owner) for owner in found.owners)
        definition.value = found.value
        if pattern.kind in ("function", "method"):
            self._add_words_ahead(definition)

    def _add_words_ahead(self, function: Definition) -> None:
        """Let a function begin with the macros that were left out on its first line: `asmlinkage long f(void)`."""
        line = self._source.rfind(b"\n", 0, function.head) + 1
        words = WORDS.match(self._source, line, function.head)
        if words and words.end() == function.head:
            function.head = words.start(1)
            function.start = min(function.start, function.head)

    def _add_definition(self, pattern: Pattern, captures: Captures, start: int, end: int, name: str | None) -> None:
        """Add what a match says of the definition whose name stands from `start` to `end`, and may be another there."""
        found = self._definitions.get(start)
        if found is None:
            name = self._name(captures["name"][0], start, end) if name is None else name
            found = self._definitions[start] = Definition(name.strip("'\"`"), inside=end)
        if (whole := captures.get(pattern.whole)) and not (pattern.kind and found.kind):
            start, end = whole[0].byte_range
            if pattern.kind:
                found.kind, found.head = pattern.kind, start
            found.start = min(start, found.start) if found.end >= 0 else start
            found.end = max(end, found.end)
        if found.body is None and found.value is None:
            if "body" in captures:
                found.body = start_of(captures["body"])
            if "value" in captures:
                found.value = start_of(captures["value"])
        if pattern.says_more:
            if "inside" in captures:
                found.inside = captures["inside"][0].start_byte
            found.doc = found.doc or self._captured(captures, "doc")
            found.parent = found.parent or "::".join(map(self._text, captures.get("parent", ()))) or None
            found.visibility = found.visibility or self._captured(captures, "visibility")
            found.exported = found.exported or "exported" in captures
            found.is_global = found.is_global or "global" in captures

    def _add_access(self, captures: Captures) -> None:
        start, end = captures["visibility"][0].byte_range
        name, keyword = self._captured(captures, "name"), self._captured(captures, "visibility")
        self._accesses.append(Definition(name or "", "access", start, end, start, end, visibility=keyword))

    def _add_import(self, pattern: Pattern, captures: Captures) -> None:
        start, end = captures["import"][0].byte_range
        name, alias = pattern.imported or self._captured(captures, "imported"), self._captured(captures, "alias")
        if "module" in captures:
            first, last = captures["module"][0], captures["module"][-1]
            at, behind = first.start_byte, last.end_byte
            found = self._imports.get(at)
            ends_module = "imported" in captures and captures["imported"][0].end_byte == behind
            if found and ends_module:  # a pattern above says what is imported
                return
            if found is None:
                path = BLANKS.sub("", self._name(first, at, behind).strip("'\"<>"))
                if name and ends_module:
                    owner = path.removesuffix(name).rstrip(".")
                    path, name = (owner, name) if owner else (path, None)
                found = self._imports[at] = FoundImport(path, start, end)
            found.start, found.end = min(start, found.start), max(end, found.end)
            found.relative = found.relative or "relative" in captures
            names = found.names
        else:
            names = self._names[start]
        if default := self._captured(captures, "default"):
            name, alias = "default", default
        if name or alias:
            names.append((name, alias))

    def _captured(self, captures: Captures, capture: str) -> str | None:
        return self._text(captures[capture][0]) if capture in captures else None

    def _text(self, node: Node) -> str:
        return self._name(node, *node.byte_range)

    def _name(self, node: Node, start: int, end: int) -> str:
        text = self._source[start:end].decode(errors="replace")
        return text[1:] if text[:1] == ":" and node.type == "simple_symbol" else text  # `:name` of Ruby

    def _cut(self, start: int, end: int) -> str:
        return self._source[start:end].decode(errors="replace")


def is_misread(node: Node, kind: str, found: DeclaredName) -> bool:
    """Whether a declaration of C is none: it has an error, or a macro: `TEST(a, b) { }`, `class LIB_API Name;`."""
    if kind in ("variable", "type", "property"):
        type_ = node.child_by_field_name("type")
        is_class = type_ is not None and type_.type == "class_specifier" and not type_.child_by_field_name("body")
        return node.has_error or is_class
    if node.type != "function_definition" or node.child_by_field_name("type") or found.owners or found.is_plain:
        return False
    return not (node.parent and node.parent.type in ("field_declaration_list", "template_declaration"))


def start_of(nodes: list[Node]) -> int:
    """Where captured nodes begin."""
    return nodes[0].start_byte if len(nodes) == 1 else min(node.start_byte for node in nodes)


def blank_end(source: bytes, offset: int) -> int:
    """The first byte from `offset` on that is not white space."""
    match = BLANK.match(source, offset)
    return match.end() if match else offset
