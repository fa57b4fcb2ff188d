"""A grammar with the query that asks its trees; and what a tree does not know."""

import re
from collections.abc import Container, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import cache, cached_property
from importlib import import_module
from types import ModuleType

from tree_sitter import Language as Grammar
from tree_sitter import Parser, Query, QueryCursor, QueryError, Range, Tree

from fledgling.standing_in import standing_in
from fledgling.worker.extracting.captures import KNOWN, Captured, Captures, Pattern, patterns
from fledgling.worker.extracting.source_text import Span
from fledgling.worker.language import PLACE, Language, LanguageError

RESOURCES = "importlib.resources"
MATCH_LIMIT = 10_000  # matches in progress; bounds memory and time on what is nested or repeated without end


class Syntax:
    """One grammar with its rules by file, which are compiled when first needed: TypeScript's take a sixth of a second.

    What needs them first raises LanguageError where they do not compile.
    """

    known: Container[str] = KNOWN  # what a capture may be called; one that begins with `_` is for its pattern alone

    def __init__(self, grammar: Grammar, rules: Mapping[str, str], row: Language) -> None:
        self.row = row
        self._grammar = grammar
        self._parser = Parser(self._grammar)
        self._rules = rules

    @cached_property
    def _text(self) -> str:
        return "\n".join(self._rules.values())

    @cached_property
    def query(self) -> Query:
        """The compiled rules. Raises LanguageError."""
        try:
            query = compiled(self._grammar, self._text)
        except QueryError as problem:
            raise self._wrong(problem) from problem
        for name in map(query.capture_name, range(query.capture_count)):
            if name not in self.known and not name.startswith("_"):
                raise self._unknown(name)
        return query

    @cached_property
    def _patterns(self) -> list[Pattern]:
        return list(patterns(self.query, self._text.encode()))

    def _wrong(self, problem: QueryError) -> LanguageError:
        """Name the file whose rules do not compile, in tree-sitter's own words."""
        for file, text in self._rules.items():
            try:
                Query(self._grammar, text)
            except QueryError as own:
                return LanguageError(f"{PLACE}/{file}", own)
        return LanguageError(f"{PLACE}/{', '.join(self._rules)}", problem)

    def _unknown(self, name: str) -> LanguageError:
        """Name the file that captures something by a name which means nothing, as tree-sitter does one of a node."""
        capture = re.compile(rf"^(?!;).*?(@{re.escape(name)})(?![\w.])", re.MULTILINE)
        for file, text in self._rules.items():
            if found := capture.search(text):
                row, column = text.count("\n", 0, found.start(1)), found.start(1) - found.start()
                return LanguageError(f"{PLACE}/{file}", f"Invalid capture at row {row}, column {column}: {name}")
        return LanguageError(f"{PLACE}/{', '.join(self._rules)}", f"Invalid capture: {name}")

    def parse(self, source: bytes, ranges: list[Range], old: Tree | None = None) -> Tree:
        """The syntax tree of what stands in some ranges, or of all; `old` is that of almost the same text."""
        self._parser.included_ranges = ranges
        return self._parser.parse(source, old) if old else self._parser.parse(source)

    def find(self, source: bytes, tree: Tree) -> Captured:
        """Run the query and put together what its patterns say about the same node."""
        found = Captured(source)
        cursor = QueryCursor(self.query, match_limit=MATCH_LIMIT)
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
        found.complete = not (any(True for _ in unknown(tree)) or cursor.did_exceed_match_limit)
        return found


def without_resources() -> AbstractContextManager[None]:
    """Let grammars load without what each would find files of its own by, that nobody asks for.

    That is a tenth of the time that loading an extractor takes.
    """
    absent = ModuleType(RESOURCES)
    absent.files = None  # type: ignore[attr-defined]
    return standing_in(RESOURCES, absent)


@cache
def compiled(grammar: Grammar, text: str) -> Query:
    """The query of some rules: compiled once in a process, and known to those that it forks. Raises QueryError."""
    return Query(grammar, text)


@cache
def load_grammar(name: str) -> Grammar:
    """A grammar by its module and function: `load_grammar("tree_sitter_go.language")`. Raises ValueError."""
    module, _, function = name.rpartition(".")
    try:
        return Grammar(getattr(import_module(module), function)())
    except (ImportError, AttributeError) as problem:
        raise ValueError(f"grammars: {name} is not installed ({problem})") from problem


def errors(tree: Tree, source: bytes) -> int:
    """How much of the text the grammar does not know: the lines of all places, those in another counted again."""
    return sum(1 + source.count(b"\n", start, end) for start, end in unknown(tree))


def unknown(tree: Tree) -> Iterator[Span]:
    """Where they stand, in no order, some in another."""
    todo = [tree.root_node] if tree.root_node.has_error else []
    while todo:
        node = todo.pop()
        if node.is_error or node.is_missing:
            yield node.byte_range
        todo += (child for child in node.children if child.has_error)
