"""The facts of one file: its text, parsed, asked by the query of its language, and read once."""

from functools import cached_property

import numpy as np
from tree_sitter import Parser, Query, QueryError, Tree

from fledgling.worker.extracting.grammar import load_grammar
from fledgling.worker.graph import definitions, expressions, objects, statements  # noqa: F401 - how nodes are read
from fledgling.worker.graph.builder import Builder
from fledgling.worker.graph.reduced import Reduced
from fledgling.worker.graph.tables import packed
from fledgling.worker.language import PLACE, Language, LanguageError, Languages

NEWLINE = 10


class FactsExtractor:
    """The grammars and queries of all languages that have a graph.

    >>> FactsExtractor(load_languages()).facts_of("cobol", b"") is None
    True
    """

    def __init__(self, languages: Languages) -> None:
        self._readers = {
            name: Reader(row, {file: languages.rules[file] for file in row.graph.rules})
            for name, row in languages.rows.items()
            if row.graph.rules
        }

    def facts_of(self, language: str, source: bytes) -> bytes | None:
        """Return one file's facts, packed; None for a language without graph. Raises LanguageError."""
        reader = self._readers.get(language)
        return reader.facts_of(source) if reader else None


class Reader:
    """One language; its query is compiled when it is first needed."""

    def __init__(self, row: Language, rules: dict[str, str]) -> None:
        self._row = row
        self._rules = rules
        self._grammars = [load_grammar(grammar) for grammar in row.grammars]

    @cached_property
    def _queries(self) -> list[Query]:
        try:
            return [Query(grammar, "\n".join(self._rules.values())) for grammar in self._grammars]
        except QueryError as problem:
            raise LanguageError(f"{PLACE}/{', '.join(self._rules)}", problem) from problem

    def _parsed(self, source: bytes) -> tuple[int, Tree]:
        """The tree of the first grammar that knows the whole text, else of the first."""
        first = Parser(self._grammars[0]).parse(source)
        if first.root_node.has_error:
            for which, grammar in enumerate(self._grammars[1:], 1):
                tree = Parser(grammar).parse(source)
                if not tree.root_node.has_error:
                    return which, tree
        return 0, first

    def facts_of(self, source: bytes) -> bytes:
        """Return the tables of a text, packed."""
        which, tree = self._parsed(source)
        starts = [0, *(np.flatnonzero(np.frombuffer(source, np.uint8) == NEWLINE) + 1).tolist()]
        builder = Builder(Reduced(source, tree.root_node, self._queries[which]), self._row.graph, starts)
        return packed(builder.facts())
