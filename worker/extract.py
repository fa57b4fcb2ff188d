"""Definitions, imports and comment lines of one file: the tree-sitter engine, and the choice of engine.

What to look for stands in `languages/*.scm`; this is the vocabulary of their captures. Patterns count in file order: of
two that say something about the same thing, the first holds.

    @definition.<kind>  a definition; its signature begins here
    @definition         widens the range of the definition with the same @name: decorators, `export`
    @name               its name; patterns with the same name node speak of the same definition
    @body               the signature ends where this starts        @value       ... where the first line of this ends
    @doc                a documentation string                      @visibility  private or protected, by a keyword
    @parent             who owns it, where nesting does not say: `A` in `A.prototype.f = function () {}`
    @decorator          belongs to the definition that follows directly
    @import             a statement or call that imports @module; patterns with the same module node speak of one import
    @imported, @alias   a name taken from the module, and what it is called here; an alias alone is the module's
    @default            an alias of the module's default export
    @comment            a comment
"""

import re
import time
from collections.abc import Iterable
from functools import cached_property
from importlib import import_module
from itertools import chain
from operator import itemgetter

from msgspec import Struct
from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor, Tree

from fledgling.worker.language import Language, Languages
from fledgling.worker.lexical import StatementRules, comments, scanner
from fledgling.worker.outline import Definition, Import, Text, extraction
from fledgling.worker.rows import Extraction

BUDGET = 0.5  # CPU seconds a file: five times what a megabyte of ordinary source takes; hostile ones take minutes
MATCH_LIMIT = 10_000  # matches in progress; bounds memory and time on what is nested or repeated without end
CHUNK = 65536  # bytes handed to the parser at a time
BLANK = re.compile(rb"\s*+")
DEFINITION = re.compile(r"@(definition(?:\.(\w+))?)")

Spans = list[tuple[int, int]]
Captures = dict[str, list[Node]]


class OutOfTime(Exception):
    """The file's budget is spent."""


class Found(Struct):
    """What the query found in a tree."""

    definitions: dict[int, Definition] = {}
    imports: dict[int, Import] = {}
    comments: Spans = []
    decorators: Spans = []


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
        """Run the query and put together what its patterns say about the same node."""
        found = Found()
        cursor = QueryCursor(self._query, match_limit=MATCH_LIMIT)
        for pattern, captures in sorted(cursor.matches(tree.root_node), key=itemgetter(0)):
            if "name" in captures:
                capture, kind = self._kinds[pattern]
                merge_definition(found.definitions, source, captures, captures.get(capture), kind)
            elif "module" in captures:
                merge_import(found.imports, source, captures)
            elif "comment" in captures:
                found.comments.append(captures["comment"][0].byte_range)
            elif "decorator" in captures:
                found.decorators.append(captures["decorator"][0].byte_range)
        return found


# ---- patterns that speak of one thing, put together ------------------------------------------------------------------


def text_of(source: bytes, node: Node) -> str:
    """The source of a node."""
    return source[node.start_byte : node.end_byte].decode(errors="replace")


def merge_definition(
    definitions: dict[int, Definition], source: bytes, captures: Captures, whole: list[Node] | None, kind: str
) -> None:
    """Add what one match says about the definition named by @name."""
    (name, *_) = captures["name"]
    found = definitions.get(name.start_byte)
    if found is None:
        found = Definition(text_of(source, name).strip("'\""), inside=name.end_byte)
        definitions[name.start_byte] = found
    if whole:
        start, end = whole[0].byte_range
        if kind and not found.kind:
            found.kind, found.head = kind, start
        found.start = min(start, found.start) if found.end >= 0 else start
        found.end = max(end, found.end)
    if found.body is None and found.value is None:
        found.body = start_of(captures.get("body"))
        found.value = start_of(captures.get("value"))
    if "doc" in captures:
        found.doc = found.doc or source[slice(*captures["doc"][0].byte_range)]
    if "parent" in captures:
        found.parent = found.parent or text_of(source, captures["parent"][0])
    if "visibility" in captures:
        found.visibility = text_of(source, captures["visibility"][0])


def start_of(nodes: list[Node] | None) -> int | None:
    """Where a captured node begins."""
    return nodes[0].start_byte if nodes else None


def merge_import(imports: dict[int, Import], source: bytes, captures: Captures) -> None:
    """Add what one match says about the import of @module."""
    module = captures["module"][0]
    found = imports.get(module.start_byte)
    if found is None:
        name = "".join(text_of(source, module).replace("\\", "").split())
        found = imports[module.start_byte] = Import(name, module.start_byte, module.end_byte)
    if "import" in captures:
        start, end = captures["import"][0].byte_range
        found.start, found.end = min(start, found.start), max(end, found.end)
    names = {capture: text_of(source, captures[capture][0]) for capture in ("imported", "alias") if capture in captures}
    if "default" in captures:
        names = {"imported": "default", "alias": text_of(source, captures["default"][0])}
    if names:
        found.names.append((names.get("imported"), names.get("alias")))


def widen(definitions: Iterable[Definition], decorators: Spans, source: bytes) -> None:
    """Let definitions begin with the decorators directly above, and their signatures behind those within."""
    follows = {start: blank_end(source, end) for start, end in decorators}
    precedes = {following: start for start, following in follows.items()}
    for found in definitions if decorators else ():
        while found.start in precedes:
            found.start = precedes[found.start]
        while found.head in follows:
            found.head = follows[found.head]


def blank_end(source: bytes, offset: int) -> int:
    """The first byte from `offset` on that is not white space."""
    match = BLANK.match(source, offset)
    return match.end() if match else offset


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
    definitions = [definition for definition in found.definitions.values() if definition.kind]
    widen(definitions, found.decorators, source)
    text = Text(source, found.comments)
    complete = not tree.root_node.has_error
    return extraction(row, text, definitions, found.imports.values(), "tree-sitter", complete=complete)


def understand(syntaxes: list[Syntax], source: bytes, deadline: float) -> tuple[Syntax, Tree]:
    """The first grammar that parses the text without error, else the first of all, with its tree."""
    attempts = ((syntax, syntax.parse(source, deadline)) for syntax in syntaxes)
    first = next(attempts)
    return next((attempt for attempt in chain([first], attempts) if not attempt[1].root_node.has_error), first)
