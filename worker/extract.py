"""Definitions, imports and comment lines of one file: the tree-sitter engine, and the choice of engine.

What to look for stands in `languages/*.scm`; this is the vocabulary of their captures. Patterns count in file order: of
two that say something about the same thing, the first holds.

    @definition.<kind>  a definition; its signature begins here
    @definition.scope   no symbol, but what stands in it belongs to its @name: an `impl` of Rust
    @definition         widens the range of the definition with the same @name: decorators, `export`
    @name               its name; patterns with the same name node speak of the same definition
    @body               the signature ends where this starts        @value       ... where the first line of this ends
    @doc                a documentation string                      @visibility  a keyword such as `private`
    @exported           marks the definition as an export as well
    @parent             who owns it, where nesting does not say: `A` in `A.prototype.f = function () {}`
    @decorator          belongs to the definition that follows directly
    @import             a statement or call that imports @module; patterns with the same module node, or without one and
                        with the same start, speak of one import
    @relative           marks the import as one that starts from the importing file
    @imported, @alias   a name taken from the module, and what it is called here; an alias alone is the module's
    @default            an alias of the module's default export
    @comment            a comment
"""

import re
import time
from collections import defaultdict
from functools import cached_property
from importlib import import_module
from itertools import chain
from operator import itemgetter

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor, Tree

from fledgling.worker.language import Language, Languages
from fledgling.worker.lexical import StatementRules, comments, scanner
from fledgling.worker.outline import Definition, Import, Text, extraction
from fledgling.worker.rows import Extraction

BUDGET = 0.5  # CPU seconds a file: five times what a megabyte of ordinary source takes; hostile ones take minutes
MATCH_LIMIT = 10_000  # matches in progress; bounds memory and time on what is nested or repeated without end
MAX_RUN = 500  # tokens side by side with no node between; the query's time grows with the square of it
MAX_DEPTH = 50_000  # levels; the query counts them in 16 bits, and beyond never gives up a match in progress
CHUNK = 1024  # bytes handed to the parser at a time; reading the text of a node copies one for each predicate
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
        self.comments: list[Span] = []
        self.complete = True

    def add(self, captures: Captures, capture: str, kind: str) -> None:
        """Add one match; `capture` is the one that holds the whole definition, if its pattern has one."""
        if "name" in captures:
            self._add_definition(captures, captures.get(capture), kind)
        elif "import" in captures:
            self._add_import(captures)
        elif "comment" in captures:
            self.comments.append(captures["comment"][0].byte_range)
        elif "decorator" in captures:
            self._decorators.append(captures["decorator"][0].byte_range)

    def definitions(self) -> list[Definition]:
        """All definitions, with the decorators directly above, and signatures that begin behind those within."""
        definitions = [found for found in self._definitions.values() if found.kind and found.name]
        behind = {start: blank_end(self._source, end) for start, end in self._decorators}
        above = {following: start for start, following in behind.items()}
        for found in definitions if behind else ():
            while found.start in above:
                found.start = above[found.start]
            while found.head in behind:
                found.head = behind[found.head]
        return definitions

    def imports(self) -> list[Import]:
        """All imports with the names of their statements."""
        for found in self._imports.values():
            found.names += self._names.pop(found.start, ())
        return list(self._imports.values())

    def _add_definition(self, captures: Captures, whole: list[Node] | None, kind: str) -> None:
        (name, *_) = captures["name"]
        found = self._definitions.get(name.start_byte)
        if found is None:
            found = Definition(self._text(name).strip("'\""), inside=name.end_byte)
            self._definitions[name.start_byte] = found
        if whole:
            start, end = whole[0].byte_range
            if kind and not found.kind:
                found.kind, found.head = kind, start
            found.start = min(start, found.start) if found.end >= 0 else start
            found.end = max(end, found.end)
        if found.body is None and found.value is None:
            found.body = start_of(captures.get("body"))
            found.value = start_of(captures.get("value"))
        found.doc = found.doc or self._captured(captures, "doc")
        found.parent = found.parent or self._captured(captures, "parent")
        found.visibility = found.visibility or self._captured(captures, "visibility")
        found.exported = found.exported or "exported" in captures

    def _add_import(self, captures: Captures) -> None:
        start, end = captures["import"][0].byte_range
        names = self._names[start]
        if "module" in captures:
            module = captures["module"][0]
            found = self._imports.get(module.start_byte)
            if found is None:
                path = "".join(self._text(module).replace("\\", "").split())
                found = self._imports[module.start_byte] = Import(path, start, end)
            found.start, found.end = min(start, found.start), max(end, found.end)
            found.relative = found.relative or "relative" in captures
            names = found.names
        name, alias = self._captured(captures, "imported"), self._captured(captures, "alias")
        if default := self._captured(captures, "default"):
            name, alias = "default", default
        if name or alias:
            names.append((name, alias))

    def _captured(self, captures: Captures, capture: str) -> str | None:
        return self._text(captures[capture][0]) if capture in captures else None

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode(errors="replace")


def start_of(nodes: list[Node] | None) -> int | None:
    """Where a captured node begins."""
    return nodes[0].start_byte if nodes else None


def blank_end(source: bytes, offset: int) -> int:
    """The first byte from `offset` on that is not white space."""
    match = BLANK.match(source, offset)
    return match.end() if match else offset


# ---- one grammar -----------------------------------------------------------------------------------------------------


class Syntax:
    """One grammar with its rules. The rules are compiled when first needed: TypeScript's take a third of a second."""

    def __init__(self, grammar: str, rules: str) -> None:
        module, _, function = grammar.rpartition(".")
        self._grammar = Grammar(getattr(import_module(module), function)())
        self._parser = Parser(self._grammar)
        self._rules = rules

    @cached_property
    def _query(self) -> Query:
        return Query(self._grammar, self._rules)

    @cached_property
    def _kinds(self) -> list[tuple[str, str]]:
        """The definition capture of each pattern and its kind: ("definition.class", "class")."""
        query = self._query
        ranges = [(query.start_byte_for_pattern(i), query.end_byte_for_pattern(i)) for i in range(query.pattern_count)]
        found = [DEFINITION.search(self._rules, start, end) for start, end in ranges]
        return [(match[1], match[2] or "") if match else ("", "") for match in found]

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
            name: [Syntax(grammar, "\n".join(languages.rules[file] for file in row.rules)) for grammar in row.grammars]
            for name, row in languages.rows.items()
            if row.grammars
        }
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
            return parsed(row, syntaxes, source)
        if rules := self._statements.get(language):
            cut = rules.cut(source)
            return extraction(row, Text(source, cut.comments), rules.definitions(cut), [], "rules", complete=True)
        spans = comments(self._scanners[language], source) if language in self._scanners else []
        return extraction(row, Text(source, spans), [], [], "none", complete=True)


def parsed(row: Language, syntaxes: list[Syntax], source: bytes) -> Extraction:
    """What tree-sitter finds; nothing where the budget ends first."""
    deadline = time.thread_time() + BUDGET
    try:
        syntax, tree = understand(syntaxes, source, deadline)
        found = syntax.find(source, tree)
    except OutOfTime:
        return extraction(row, Text(source, []), [], [], "tree-sitter", complete=False)
    text = Text(source, found.comments)
    return extraction(row, text, found.definitions(), found.imports(), "tree-sitter", complete=found.complete)


def understand(syntaxes: list[Syntax], source: bytes, deadline: float) -> tuple[Syntax, Tree]:
    """The first grammar that parses the text without error, else the first of all, with its tree."""
    attempts = ((syntax, syntax.parse(source, deadline)) for syntax in syntaxes)
    first = next(attempts)
    return next((attempt for attempt in chain([first], attempts) if not attempt[1].root_node.has_error), first)
