"""Definitions, imports and comment lines of one file: the tree-sitter engine, and the choice of engine.

What a text may cost is not limited here: a few kilobytes can keep tree-sitter's query busy for minutes, and neither it
nor the parser can be stopped from within but at a price for every file. extractor.py ends the process instead.

What to look for stands in `languages/*.scm`; this is the vocabulary of their captures. Patterns count in file order: of
two that say something about the same thing, the first holds.

    @definition.<kind>  a definition; its signature begins here
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
    @parent             who owns it, where nesting does not say: `A` in `A.prototype.f = function () {}`
    @decorator          belongs to the definition that follows directly
    @declarator         what holds the @name, and maybe the @parent, somewhere inside: declarator.py finds them
    @global             marks what belongs to nobody, wherever it stands: a macro of C
    @import             a statement or call that imports @module; patterns with the same module node, or without one and
                        with the same start, speak of one import
    @relative           marks the import as one that starts from the importing file
    @prefix, @within    the first stands before the module of every import in the second: `std` in `use std::{io::Read}`
    @imported, @alias   a name taken from the module, and what it is called here; an alias alone is the module's; a name
                        that ends the @module is no part of it: `C` in `a.b.C`
    @default            an alias of the module's default export
    @comment            a comment
    @blank              the brackets of a body, a block or a macro with nothing between them (bodies.py)
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache, cached_property, lru_cache, partial
from importlib import import_module
from itertools import accumulate

import re2
from msgspec import Struct
from msgspec.structs import replace
from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor, Range, Tree

from fledgling.worker.extracting import branches, directives
from fledgling.worker.extracting.bodies import Blanked, Bodies, between, moved
from fledgling.worker.extracting.conditions import plain
from fledgling.worker.extracting.declarator import Declared, declared
from fledgling.worker.extracting.lexical import StatementRules, comments, scanner
from fledgling.worker.extracting.macros import ended, lines, macros, placed
from fledgling.worker.extracting.outline import COMPILED, Definition, Import, Text, extraction, without
from fledgling.worker.language import Language, Languages, own_module
from fledgling.worker.rows import Extraction

MATCH_LIMIT = 10_000  # matches in progress; bounds memory and time on what is nested or repeated without end
MAX_MODULE = 1000  # characters; prefixes nested ten thousand deep would make modules of quadratic size
BLANKS = re.compile(r"(?<!\s)\s++(?=[.:\\])|(?<=[.:])[\s\\]++|\\\n\s*+")  # `a . b` is `a.b`, also over lines
BLANK = re.compile(rb"\s*+")
WORDS = re.compile(rb"[ \t]*+((?:[A-Za-z_]\w*+[ \t]++)++)")
DEFINITION = re.compile(rb"@(definition(?:\.(\w+))?)")
CAPTURE = re.compile(rb"@\w[\w.]*+")
SIGN = lru_cache(re2.compile)  # of another language, in the whole of a text: RE2 takes a twentieth of the time
CALLS = frozenset({"function_declarator", "parenthesized_declarator"})  # what a macro with a body looks like
NEAR = 1000  # bytes between what a grammar does not know and the error that it makes
MORE = re.compile(rb"@(?:inside|doc|parent|visibility|exported|global)\b")

Span = tuple[int, int]
Captures = dict[str, list[Node]]


# ---- patterns that speak of one thing, put together ------------------------------------------------------------------


class Pattern(Struct, frozen=True):
    """What a pattern says whatever it matches, asked once and not for each match.

    `whole` is its capture of the definition, "definition.class", and `kind` that definition's. `name` is the name it
    sets. `says_more` marks the few with a capture of what most definitions do not have, `is_comment` those that capture
    nothing but a comment: half of all matches. `is_blank` marks a body's brackets.
    """

    whole: str
    kind: str
    name: str | None
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
            MORE.search(source) is not None,
            CAPTURE.findall(source) == [b"@comment"],
            CAPTURE.findall(source) == [b"@blank"],
        )


class Found:
    """What the matches of a query say, put together: matches that speak of the same node speak of one thing."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._definitions: dict[int, Definition] = {}  # by the start of the name
        self._imports: dict[int, Import] = {}  # by the start of the module
        self._included: list[Import] = []  # read line by line
        self._names = defaultdict[int, list[tuple[str | None, str | None]]](list)  # by the start of the statement
        self.decorators: list[Span] = []
        self._accesses: list[Definition] = []
        self._prefixes: list[tuple[int, int, str]] = []  # from where to where, and what stands before the modules there
        self.comments: list[Span] = []
        self.macros: list[Definition] = []  # read line by line
        self.left_out: list[Span] = []  # branches that were not parsed
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
            self._add_import(captures)
        elif "decorator" in captures:
            self.decorators.append(captures["decorator"][0].byte_range)
        elif "prefix" in captures:
            start, end = captures["within"][0].byte_range
            self._prefixes.append((start, end, self._cut(captures["prefix"][0].start_byte, start)))

    def take(self, run: directives.Run) -> None:
        """Add what was read line by line."""
        self.macros += run.macros
        self._included += run.imports
        self.comments += run.comments

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

    def imports(self) -> list[Import]:
        """All imports with the names of their statements, and modules with what stands before them."""
        for found in self._imports.values():
            found.names += self._names.pop(found.start, ())
        return [*(self._prefixed() if self._prefixes else self._imports.values()), *self._included]

    def _prefixed(self) -> Iterator[Import]:
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
            found.parent = found.parent or self._captured(captures, "parent")
            found.visibility = found.visibility or self._captured(captures, "visibility")
            found.exported = found.exported or "exported" in captures
            found.is_global = found.is_global or "global" in captures

    def _add_access(self, captures: Captures) -> None:
        start, end = captures["visibility"][0].byte_range
        name, keyword = self._captured(captures, "name"), self._captured(captures, "visibility")
        self._accesses.append(Definition(name or "", "access", start, end, start, end, visibility=keyword))

    def _add_import(self, captures: Captures) -> None:
        start, end = captures["import"][0].byte_range
        name, alias = self._captured(captures, "imported"), self._captured(captures, "alias")
        if "module" in captures:
            module = captures["module"][0]
            at, behind = module.byte_range
            found = self._imports.get(at)
            ends_module = name is not None and captures["imported"][0].end_byte == behind
            if found and ends_module:  # a pattern above says what is imported
                return
            if found is None:
                path = BLANKS.sub("", self._text(module).strip("'\"<>"))
                if name and ends_module:
                    owner = path.removesuffix(name).rstrip(".")
                    path, name = (owner, name) if owner else (path, None)
                found = self._imports[at] = Import(path, start, end)
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


def is_misread(node: Node, kind: str, found: Declared) -> bool:
    """Whether a declaration of C is none: it has an error, or a macro: `TEST(a, b) { }`, `class LIB_API Name;`."""
    if kind in ("variable", "type"):
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


# ---- one grammar -----------------------------------------------------------------------------------------------------


class Syntax:
    """One grammar with its rules. The rules are compiled when first needed: TypeScript's take a sixth of a second."""

    def __init__(self, grammar: str, rules: str, row: Language) -> None:
        self.row = row
        module, _, function = grammar.rpartition(".")
        self._grammar = Grammar(getattr(import_module(module), function)())
        self._parser = Parser(self._grammar)
        self._rules = rules

    @cached_property
    def _query(self) -> Query:
        return Query(self._grammar, self._rules)

    @cached_property
    def _patterns(self) -> list[Pattern]:
        return list(patterns(self._query, self._rules.encode()))

    def parse(self, source: bytes, ranges: list[Range], old: Tree | None = None) -> Tree:
        """The syntax tree of what stands in some ranges, or of all; `old` is that of almost the same text."""
        self._parser.included_ranges = ranges
        return self._parser.parse(source, old) if old else self._parser.parse(source)

    def find(self, source: bytes, tree: Tree) -> Found:
        """Run the query and put together what its patterns say about the same node."""
        found = Found(source)
        cursor = QueryCursor(self._query, match_limit=MATCH_LIMIT)
        matched: list[list[Captures]] = [[] for _ in self._patterns]
        for index, captures in cursor.matches(tree.root_node):
            matched[index].append(captures)
        for pattern, matches in zip(self._patterns, matched, strict=True):
            if pattern.is_comment:
                found.comments += [captures["comment"][0].byte_range for captures in matches]
            elif pattern.is_blank:
                found.blank |= {captures["blank"][0].start_byte for captures in matches}
            else:
                for captures in matches:
                    found.add(pattern, captures)
        found.complete = not (tree.root_node.has_error or cursor.did_exceed_match_limit)
        return found


# ---- one file --------------------------------------------------------------------------------------------------------


class Extractor:
    """All grammars of the table, and their rules.

    `Extractor(load_languages()).extract("python", b"def f(): ...\\n").symbols[0].name == "f"`
    """

    def __init__(self, languages: Languages) -> None:
        self.rows = languages.rows
        self._syntaxes = {
            name: [
                Syntax(grammar, "\n".join(languages.rules[file] for file in row.rules), row) for grammar in row.grammars
            ]
            for name, row in languages.rows.items()
            if row.grammars
        }
        for name, row in languages.rows.items():
            if row.fallback:
                self._syntaxes[name] += self._syntaxes[row.fallback]
        folders = {row.reader for row in languages.rows.values() if row.reader}
        self._readers = {folder: own_module(folder, "reader").outline for folder in folders}
        # Made when a language is first met, as queries are: no file needs to be opened for them.
        self._bodies = cache(partial(Bodies, languages))
        self._statements = cache(partial(StatementRules, languages))
        self._scanners = cache(partial(scanner, languages))

    def extract(self, language: str, source: bytes) -> Extraction:
        """What the text of one file says: lines of UTF-8. Whatever they hold, it does not raise."""
        row = self.rows.get(language, Language())
        if syntaxes := self._syntaxes.get(language):
            return parsed(syntaxes, source, self._bodies(language) if row.body else None)
        if row.rules:
            rules = self._statements(language)
            cut = rules.cut(source)
            return extraction(row, Text(source, cut.comments), rules.definitions(cut), [], "rules", complete=True)
        spans = comments(self._scanners(language), source) if row.comments else []
        if row.reader:
            found = self._readers[row.reader](source)
            text = Text(source, spans + found.comments)
            return extraction(row, text, found.definitions, found.imports, "reader", complete=found.complete)
        return extraction(row, Text(source, spans), [], [], "none", complete=True)


def parsed(syntaxes: list[Syntax], source: bytes, bodies: Bodies | None) -> Extraction:
    """What tree-sitter finds; it does not see the bodies in which there is nothing to be found."""
    blanked = bodies.blanked(source) if bodies else without_annotations(syntaxes[0].row, source)
    syntax, found = read(syntaxes, source, blanked)
    sure = blanked.bodies & found.blank  # the others stand in a comment, or in a macro
    if bodies and not found.complete:
        sure = bodies.sure(source, sure)
    if bodies and sure != blanked.bodies:
        blanked = bodies.blanked(source, sure)
        syntax, found = read(syntaxes, source, blanked)
    if not blanked.bodies <= found.blank:
        blanked = Blanked(source)
        syntax, found = read(syntaxes, source, blanked)
    text = Text(source, found.comments + blanked.comments, found.left_out)
    definitions, imports = found.definitions(), found.imports()
    return extraction(
        syntax.row, text, definitions, imports, "tree-sitter", complete=found.complete, macros=found.macros
    )


def read(syntaxes: list[Syntax], source: bytes, blanked: Blanked) -> tuple[Syntax, Found]:
    """What a text says without some bodies, and the grammar that knows it."""
    in_order = in_turn(syntaxes, blanked.text)
    runs = directives.runs(blanked.text) if in_order[0].row.macros else []
    text, blank = directives.without(blanked.text, runs)
    syntax, tree, left_out = understand(in_order, blanked.text, text, between(text, blanked.blank + blank))
    found = syntax.find(source, tree)
    for run in runs:
        found.take(run)
    found.decorators += blanked.annotations
    found.comments += branches.comments(text, left_out)
    found.left_out = left_out
    return syntax, found


def without_annotations(row: Language, source: bytes) -> Blanked:
    """The text without what the grammar of a language would take for the begin of an expression."""
    annotations = COMPILED(row.annotations.encode()).finditer(source) if row.annotations else ()
    spans = [match.span(match.lastgroup or 0) for match in annotations]
    return Blanked(without(source, spans) if spans else source, annotations=spans)


def understand(
    syntaxes: list[Syntax], source: bytes, text: bytes, ranges: list[Range]
) -> tuple[Syntax, Tree, list[Span]]:
    """The first grammar that parses the text without error, else the one with the fewest errors, with its tree.

    And which branches of conditionals are not in that.
    """
    best, *others = syntaxes
    text, tree = without_macros(best, ended(text) if best.row.macros else text, ranges)
    fewest = errors(tree)
    left_out: list[Span] = []
    for easier in (without_directives, with_one_branch, without_gaps, without_conditions):
        known, spans = easier(best.row, text, tree) if fewest else (text, [])
        if known != text:
            attempt = best.parse(known, ranges)
            if (count := errors(attempt)) < fewest:
                text, tree, fewest = known, attempt, count
                left_out += spans
    for syntax in others:
        if fewest and (syntax.row is syntaxes[0].row or looks_like(syntaxes[0].row, source)):
            attempt = syntax.parse(text, ranges)
            if (count := errors(attempt)) < fewest:
                best, tree, fewest = syntax, attempt, count
    return best, tree, left_out


def without_macros(syntax: Syntax, source: bytes, ranges: list[Range]) -> tuple[bytes, Tree]:
    """The text without what must be macros, and its tree, or that of all of the text if it has no more errors."""
    spans = [*apart(macros(together(source, ranges)), ranges)] if syntax.row.macros else []
    text = without(source, spans) if spans else source
    tree = syntax.parse(text, ranges)
    if spans and (fewest := errors(tree)):
        attempt = syntax.parse(source, ranges, edited(tree, source, spans))
        tree = attempt if errors(attempt) <= fewest else tree
    return text, tree


def together(source: bytes, ranges: list[Range]) -> bytes:
    """What a parser reads of a text, without what stands between: of C a third."""
    return b"".join(source[each.start_byte : each.end_byte] for each in ranges) if ranges else source


def apart(spans: Iterable[Span], ranges: list[Range]) -> Iterator[Span]:
    """Spans of what stands together as spans of the text."""
    ends = [*accumulate(each.end_byte - each.start_byte for each in ranges)]
    moves = [each.end_byte - end for each, end in zip(ranges, ends, strict=True)] or [0]
    for start, end in (span for span in spans if span[0] < span[1]):
        yield start + moves[bisect_right(ends, start)], end + moves[bisect_left(ends, end)]


def without_directives(row: Language, text: bytes, tree: Tree) -> tuple[bytes, list[Span]]:
    """The text without directives that say nothing where it has errors: the grammar knows none among values."""
    spans = directives.silent(text, around(unknown(tree))) if row.macros else ()
    return without(text, spans), []


def with_one_branch(row: Language, text: bytes, _tree: Tree) -> tuple[bytes, list[Span]]:
    """The text with one branch of conditionals whose branches do not stand for themselves, and what that leaves out."""
    spans = [*branches.but_one(text)] if row.branches else []
    return without(text, (line for span in spans for line in lines(text, *span))), spans


def without_gaps(row: Language, text: bytes, tree: Tree) -> tuple[bytes, list[Span]]:
    """The text without what the grammar does not know where it has errors."""
    if not row.gaps:
        return text, []
    gaps = [COMPILED(gap.encode()) for gap in row.gaps]
    places = around(unknown(tree))
    found = [match.span() for place in places for gap in gaps for match in gap.finditer(text, *place)]
    spans = (span for span, is_directive in placed(text, found) if not is_directive)
    return without(text, (line for span in spans for line in lines(text, *span))), []


def around(spans: Iterable[Span]) -> Iterator[Span]:
    """Where to look for what made errors, in order, none in another."""
    begin = end = 0
    for start, behind in sorted(spans):
        if start - NEAR > end:
            yield begin, end
            begin = start - NEAR
        end = max(end, behind + NEAR)
    yield begin, end


def without_conditions(row: Language, text: bytes, _tree: Tree) -> tuple[bytes, list[Span]]:
    """The text with words for what is in conditions and patterns of Bash."""
    return plain(text) if row.conditions else text, []


def edited(tree: Tree, source: bytes, blanked: list[Span]) -> Tree:
    """The tree as it is to be when spans within lines are no longer blank: parsing on from it takes half the time."""
    edited = tree.copy()
    at, point = 0, (0, 0)
    for start, end in blanked:
        at, point = start, moved(point, source, at, start)
        last = point[0], point[1] + end - start
        edited.edit(start, end, end, point, last, last)
    return edited


def in_turn(syntaxes: list[Syntax], source: bytes) -> list[Syntax]:
    """The grammars to try: first that of the text's own language, but where there is little doubt only another."""
    sign = syntaxes[0].row.fallback_sure
    return syntaxes[-1:] if sign and SIGN(sign.encode()).search(source) else syntaxes


def looks_like(row: Language, source: bytes) -> bool:
    """Whether a text shows a sign of the language that is tried when its own does not parse it."""
    return SIGN(row.fallback_sign.encode()).search(source) is not None


def errors(tree: Tree) -> int:
    """How many places of the text the grammar does not know."""
    return sum(1 for _ in unknown(tree))


def unknown(tree: Tree) -> Iterator[Span]:
    """Where they stand, in no order, some in another."""
    todo = [tree.root_node] if tree.root_node.has_error else []
    while todo:
        node = todo.pop()
        if node.is_error or node.is_missing:
            yield node.byte_range
        todo += (child for child in node.children if child.has_error)
