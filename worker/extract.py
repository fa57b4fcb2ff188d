"""Definitions, imports and comment lines of one file: the tree-sitter engine, and the choice of engine.

What to look for stands in `languages/*.scm`; this is the vocabulary of their captures. Patterns count in file order: of
two that say something about the same thing, the first holds.

    @definition.<kind>  a definition; its signature begins here
    @definition.scope   no symbol, but what stands in it belongs to its @name: an `impl` of Rust; `self` is what is around
    @definition.access  no symbol: its @visibility is that of the @name beside it, else of what follows beside it: `private`
    @definition.namespace  a module where others name it as their @parent, else a variable: a table of Lua
    @definition         widens the range of the definition with the same @name: decorators, `export`
    @name               its name; patterns with the same name node speak of the same definition; `(#set! name "Companion")`
                        in a pattern is the name of what has none of its own
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
    @prefix, @within    the first stands before the module of every import in the second: `std::` in `use std::{io::Read}`
    @imported, @alias   a name taken from the module, and what it is called here; an alias alone is the module's; a name
                        that ends the @module is no part of it: `C` in `a.b.C`
    @default            an alias of the module's default export
    @comment            a comment
"""

import re
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from operator import itemgetter

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor, Tree

from fledgling.worker.declarator import declared
from fledgling.worker.language import Language, Languages
from fledgling.worker.lexical import StatementRules, comments, scanner
from fledgling.worker.macros import without_macros
from fledgling.worker.outline import Definition, Import, Text, extraction, without
from fledgling.worker.readers import READERS
from fledgling.worker.rows import Extraction

BUDGET = 0.5  # CPU seconds a file: five times what a megabyte of ordinary source takes; hostile ones take minutes
MATCH_LIMIT = 10_000  # matches in progress; bounds memory and time on what is nested or repeated without end
MAX_RUN = 500  # tokens side by side with no node between; the query's time grows with the square of it
MAX_MODULE = 1000  # characters; prefixes nested ten thousand deep would make modules of quadratic size
MAX_DEPTH = 50_000  # levels; the query counts them in 16 bits, and beyond never gives up a match in progress
CHUNK = 1024  # bytes handed to the parser at a time; reading the text of a node copies one for each predicate
BLANKS = re.compile(r"(?<!\s)\s++(?=[.:\\])|(?<=[.:])[\s\\]++|\\\n\s*+")  # `a . b` is `a.b`, also over lines
BLANK = re.compile(rb"\s*+")
DEFINITION = re.compile(r"@(definition(?:\.(\w+))?)")

Span = tuple[int, int]
Captures = dict[str, list[Node]]


class OutOfTime(Exception):
    """The file's budget is spent."""


# ---- patterns that speak of one thing, put together ------------------------------------------------------------------


class Found:
    """What the matches of a query say, put together: matches that speak of the same node speak of one thing."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._definitions: dict[int, Definition] = {}  # by the start of the name
        self._imports: dict[int, Import] = {}  # by the start of the module
        self._names = defaultdict[int, list[tuple[str | None, str | None]]](list)  # by the start of the statement
        self._decorators: list[Span] = []
        self._accesses: list[Definition] = []
        self._prefixes: list[tuple[int, int, str]] = []  # from where to where, and what stands before the modules there
        self.comments: list[Span] = []
        self.complete = True

    def add(self, captures: Captures, capture: str, kind: str, named: str | None) -> None:
        """Add one match; `capture` is the one that holds the whole definition, if its pattern has one."""
        if kind == "access":
            self._add_access(captures)
        elif "name" in captures:
            (node, *_) = captures["name"]
            self._add_definition(captures, node.byte_range, named or self._text(node), captures.get(capture), kind)
        elif "declarator" in captures:
            self._add_declared(captures, captures.get(capture), kind)
        elif "import" in captures:
            self._add_import(captures)
        elif "comment" in captures:
            self.comments.append(captures["comment"][0].byte_range)
        elif "decorator" in captures:
            self._decorators.append(captures["decorator"][0].byte_range)
        elif "prefix" in captures:
            start, end = captures["within"][0].byte_range
            self._prefixes.append((start, end, self._cut(captures["prefix"][0].start_byte, start)))

    def definitions(self) -> list[Definition]:
        """All definitions, with the decorators directly above, and signatures that begin behind those within."""
        definitions = [found for found in self._definitions.values() if found.kind and found.name]
        definitions += self._accesses
        code = without(self._source, self.comments) if self._decorators else b""
        behind = {start: blank_end(code, end) for start, end in self._decorators}
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
        return list(self._prefixed() if self._prefixes else self._imports.values())

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

    def _add_declared(self, captures: Captures, whole: list[Node] | None, kind: str) -> None:
        """Add what a declarator declares, unless it is a function and no definition of one is meant: a prototype."""
        found = declared(captures["declarator"][0])
        known = not whole or kind == "function" or not whole[0].has_error
        if found and known and (kind == "type" or found.is_function == (kind == "function")):
            self._add_definition(captures, found.name, " ".join(self._cut(*found.name).split()), whole, kind)
            definition = self._definitions[found.name[0]]
            definition.parent = definition.parent or "::".join(self._cut(*owner) for owner in found.owners)
            definition.value = found.value

    def _add_definition(self, captures: Captures, place: Span, name: str, whole: list[Node] | None, kind: str) -> None:
        found = self._definitions.get(place[0])
        if found is None:
            found = self._definitions[place[0]] = Definition(name.strip("'\"`"), inside=place[1])
        if whole and not (kind and found.kind):
            start, end = whole[0].byte_range
            if kind:
                found.kind, found.head = kind, start
            found.start = min(start, found.start) if found.end >= 0 else start
            found.end = max(end, found.end)
        if "inside" in captures:
            found.inside = captures["inside"][0].start_byte
        if found.body is None and found.value is None:
            found.body = start_of(captures.get("body"))
            found.value = start_of(captures.get("value"))
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
        names = self._names[start]
        name, alias = self._captured(captures, "imported"), self._captured(captures, "alias")
        if "module" in captures:
            module = captures["module"][0]
            found = self._imports.get(module.start_byte)
            path = BLANKS.sub("", self._text(module).strip("'\"<>"))
            if name and captures["imported"][0].end_byte == module.end_byte:
                if found:  # a pattern above says what is imported
                    return
                owner = path.removesuffix(name).rstrip(".")
                path, name = (owner, name) if owner else (path, None)
            if found is None:
                found = self._imports[module.start_byte] = Import(path, start, end)
            found.start, found.end = min(start, found.start), max(end, found.end)
            found.relative = found.relative or "relative" in captures
            names = found.names
        if default := self._captured(captures, "default"):
            name, alias = "default", default
        if name or alias:
            names.append((name, alias))

    def _captured(self, captures: Captures, capture: str) -> str | None:
        return self._text(captures[capture][0]) if capture in captures else None

    def _text(self, node: Node) -> str:
        text = self._cut(*node.byte_range)
        return text[1:] if node.type == "simple_symbol" else text  # `:name` of Ruby

    def _cut(self, start: int, end: int) -> str:
        return self._source[start:end].decode(errors="replace")


def start_of(nodes: list[Node] | None) -> int | None:
    """Where a captured node begins."""
    return min(node.start_byte for node in nodes) if nodes else None


def blank_end(source: bytes, offset: int) -> int:
    """The first byte from `offset` on that is not white space."""
    match = BLANK.match(source, offset)
    return match.end() if match else offset


# ---- one grammar -----------------------------------------------------------------------------------------------------


class Syntax:
    """One grammar with its rules. The rules are compiled when first needed: TypeScript's take a third of a second."""

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
    def _kinds(self) -> list[tuple[str, str, str | None]]:
        """The definition capture of each pattern, its kind, the name it sets: ("definition.class", "class", None)."""
        query = self._query
        ranges = [(query.start_byte_for_pattern(i), query.end_byte_for_pattern(i)) for i in range(query.pattern_count)]
        found = [DEFINITION.search(self._rules, start, end) for start, end in ranges]
        kinds = [(match[1], match[2] or "") if match else ("", "") for match in found]
        return [(*kind, query.pattern_settings(i).get("name")) for i, kind in enumerate(kinds)]

    def parse(self, source: bytes, deadline: float) -> Tree:
        """The syntax tree; OutOfTime if it takes too long."""
        try:
            return self._parser.parse(
                lambda offset, _: source[offset : offset + CHUNK],
                progress_callback=lambda _offset, _error: time.thread_time() > deadline,
            )
        except ValueError as error:  # what tree-sitter raises when the callback stops it
            self._parser.reset()
            raise OutOfTime from error

    def find(self, source: bytes, tree: Tree) -> Found:
        """Run the query and put together what its patterns say about the same node; OutOfTime if it would take long."""
        if is_bomb(tree):
            raise OutOfTime
        found = Found(source)
        cursor = QueryCursor(self._query, match_limit=MATCH_LIMIT)
        for pattern, captures in sorted(cursor.matches(tree.root_node), key=itemgetter(0)):
            found.add(captures, *self._kinds[pattern])
        found.complete = not (tree.root_node.has_error or cursor.did_exceed_match_limit)
        return found


def is_bomb(tree: Tree) -> bool:
    """Whether the query would take minutes: more than MAX_RUN mere tokens in a row (`((((((...`), or MAX_DEPTH levels.

    This is asked first because a query cannot be stopped: its progress callback crashes in tree-sitter 0.26. Subtrees
    too small to hold such a run are not looked into.
    """
    todo = [(tree.root_node, 0)]
    while todo:
        node, depth = todo.pop()
        if depth > MAX_DEPTH:
            return True
        cursor = node.walk()
        run = 0
        more = cursor.goto_first_child()
        while more:
            child = cursor.node
            if child and child.is_named:
                run = 0
                if child.descendant_count > MAX_RUN:
                    todo.append((child, depth + 1))
            elif (run := run + 1) > MAX_RUN:
                return True
            more = cursor.goto_next_sibling()
    return False


# ---- one file --------------------------------------------------------------------------------------------------------


class Extractor:
    """All grammars and rules of the table, compiled.

    `Extractor(load_languages()).extract("python", b"def f(): ...\\n").symbols[0].name == "f"`
    """

    def __init__(self, languages: Languages) -> None:
        self._languages = languages
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
        self._statements = {
            name: StatementRules(languages, name)
            for name, row in languages.rows.items()
            if row.rules and not row.grammars
        }
        self._scanners = {name: scanner(languages, name) for name, row in languages.rows.items() if row.comments}

    def extract(self, language: str, source: bytes) -> Extraction:
        """What the text of one file says. Whatever the text, it does not raise."""
        row = self._languages.rows.get(language, Language())
        if syntaxes := self._syntaxes.get(language):
            return parsed(syntaxes, source)
        if rules := self._statements.get(language):
            cut = rules.cut(source)
            return extraction(row, Text(source, cut.comments), rules.definitions(cut), [], "rules", complete=True)
        spans = comments(self._scanners[language], source) if language in self._scanners else []
        if row.reader:
            found = READERS[row.reader](source)
            text = Text(source, spans + found.comments)
            return extraction(row, text, found.definitions, found.imports, "reader", complete=found.complete)
        return extraction(row, Text(source, spans), [], [], "none", complete=True)


def parsed(syntaxes: list[Syntax], source: bytes) -> Extraction:
    """What tree-sitter finds; nothing where the budget ends first."""
    deadline = time.thread_time() + BUDGET
    row = syntaxes[0].row
    try:
        syntax, tree = understand(syntaxes, source, deadline)
        row = syntax.row
        found = syntax.find(source, tree)
    except OutOfTime:
        return extraction(row, Text(source, []), [], [], "tree-sitter", complete=False)
    text = Text(source, found.comments)
    return extraction(row, text, found.definitions(), found.imports(), "tree-sitter", complete=found.complete)


def understand(syntaxes: list[Syntax], source: bytes, deadline: float) -> tuple[Syntax, Tree]:
    """The first grammar that parses the text without error, else the one with the fewest errors, with its tree."""
    best, *others = syntaxes
    tree = best.parse(source, deadline)
    fewest = errors(tree)
    if fewest and best.row.macros:
        source = without_macros(source)
        others = syntaxes
    for syntax in others:
        if not fewest:
            break
        try:
            attempt = syntax.parse(source, deadline)
        except OutOfTime:
            break
        if (count := errors(attempt)) < fewest:
            best, tree, fewest = syntax, attempt, count
    return best, tree


def errors(tree: Tree) -> int:
    """How many places of the text the grammar does not know."""
    count = 0
    todo = [tree.root_node] if tree.root_node.has_error else []
    while todo:
        node = todo.pop()
        count += node.is_error or node.is_missing
        todo += (child for child in node.children if child.has_error)
    return count
