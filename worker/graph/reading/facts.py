"""The facts of one file: its text, parsed, asked by the query of its language, and read once."""

import sys
from bisect import bisect_left, bisect_right

import msgspec
import numpy as np
from tree_sitter import Tree

from fledgling.worker.extracting.captures import blank_end
from fledgling.worker.extracting.grammar import Syntax, load_grammar, unknown
from fledgling.worker.extracting.repair import in_turn, understand
from fledgling.worker.extracting.repair import repairs as load_repairs
from fledgling.worker.graph.reading import (  # noqa: F401 - how nodes are read
    assignments,
    call_expressions,
    class_definitions,
    decorated,
    defined_by_text,
    definitions,
    elements,
    expressions,
    fields,
    import_statements,
    literals,
    made_classes,
    matches,
    named_methods,
    object_literals,
    operators,
    paths,
    sent_blocks,
    statements,
    this,
    tried,
    type_expressions,
)
from fledgling.worker.graph.reading.builder import Builder
from fledgling.worker.graph.reading.extension_blocks import hand_out
from fledgling.worker.graph.reading.labels import BITS, IS_CLASS, IS_FUNCTION, NUMBERS
from fledgling.worker.graph.reading.namespaces import enclose
from fledgling.worker.graph.reading.reduced import MAX_DEPTH, Reduced
from fledgling.worker.graph.reading.types_before import take_in
from fledgling.worker.graph.reading.whole_text import read_whole
from fledgling.worker.graph.tables import Flag, packed
from fledgling.worker.language import Language, Languages

NEWLINE = 10
FRAMES = 20  # calls of Python within each other that reading a node takes: 8 for `if (a) {}`; by default 1,000 in all
DEFINING = IS_FUNCTION | IS_CLASS | BITS["interface"]
LEAVES_OUT = "bodies"  # the repairs that leave out what holds no definition, but uses


class FactsExtractor:
    """The grammars and queries of all languages that have a graph.

    >>> FactsExtractor(load_languages()).facts_of("cobol", b"") is None
    True
    """

    def __init__(self, languages: Languages) -> None:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), FRAMES * MAX_DEPTH))
        self._readers = {
            name: LanguageReader(name, row, languages.rules) for name, row in languages.rows.items() if row.graph.rules
        }
        for reader in self._readers.values():
            load_repairs(reader.row.repairs)  # a confined process opens no file later
            if other := self._readers.get(reader.row.fallback or ""):
                reader.asks(other)

    def facts_of(self, language: str, source: bytes) -> bytes | None:
        """Return one file's facts, packed; None for a language without graph. Raises LanguageError."""
        reader = self._readers.get(language)
        return reader.facts_of(source) if reader else None


class GraphSyntax(Syntax):
    """A grammar, and the query that finds what the graph is made of, compiled when it is first needed."""

    known = NUMBERS

    def __init__(self, name: str, grammar: str, rules: dict[str, str], row: Language) -> None:
        super().__init__(load_grammar(grammar), rules, row)
        self.language = name


class LanguageReader:
    """One language."""

    def __init__(self, name: str, row: Language, rules: dict[str, str]) -> None:
        repairs = tuple(repair for repair in row.repairs if not repair.endswith(LEAVES_OUT))
        others = dict.fromkeys(repair for repair in row.repairs if repair.endswith(LEAVES_OUT))
        self._without_bodies = load_repairs(tuple(others)).repaired
        self.row = msgspec.structs.replace(row, repairs=repairs + row.graph.repairs)
        self._name = name
        files = dict.fromkeys(row.grammars, row.graph.rules)
        files[row.grammars[-1]] += row.graph.last_rules
        self._syntaxes: list[Syntax] = [
            GraphSyntax(name, grammar, {file: rules[file] for file in of_grammar}, self.row)
            for grammar, of_grammar in files.items()
        ]

    def asks(self, other: "LanguageReader") -> None:
        """Try the grammars of another language too, where those of its own do not know a text."""
        self._syntaxes += other._syntaxes

    def facts_of(self, source: bytes) -> bytes:
        """Return the tables of a text, packed."""
        repairs, text = load_repairs(self.row.repairs), source
        for respelled in repairs.respelled:
            text = respelled(text)
        syntax, tree, made = understand(in_turn(self._syntaxes, source), source, text, [])
        assert isinstance(syntax, GraphSyntax)
        starts = [0, *(np.flatnonzero(np.frombuffer(source, np.uint8) == NEWLINE) + 1).tolist()]
        reduced, text = self._reduced(syntax, source, tree, made[-1].text)
        if syntax.row.graph.spaces == "global":
            enclose(reduced)
        block = syntax.row.graph.extension_block
        copies = hand_out(reduced, block) if block and block.encode() in source else set[int]()
        headed = take_in(reduced) if syntax.row.graph.types_before else []
        changed = different(source, text)
        builder = Builder(reduced, syntax.row.graph, starts, changed)
        builder.copies = copies
        builder.begins.update((node, builder.line(first)) for node, first in headed)
        for begins, ends in (span for spans in repairs.conditionals for span in spans(source, changed)):
            builder.conditions.append((bisect_right(starts, begins), bisect_right(starts, ends)))
        for decorators in repairs.decorators:
            begin_above(builder, decorators(source))
        facts = read_whole(builder)
        if repairs.given and any(is_head(source, *span) for span in changed):
            facts.scopes[0].flags |= Flag.MAKES
        for systems in repairs.systems:
            facts.systems += systems(source)
        if syntax.language != self._name:
            facts.language = syntax.language
        return packed(facts)

    def _reduced(self, syntax: Syntax, source: bytes, tree: Tree, text: bytes) -> tuple[Reduced, bytes]:
        """What is captured of a tree; of the text without the bodies that have errors, where these hide functions."""
        found = Reduced(source, tree, syntax.query)
        for repair in self._without_bodies if tree.root_node.has_error else ():
            left = repair(text, unknown(tree)).text
            other = syntax.parse(left, [])
            if other.root_node.child_count > tree.root_node.child_count:
                again = Reduced(source, other, syntax.query)
                if again.count(IS_FUNCTION) > found.count(IS_FUNCTION):
                    again.complete = False
                    return again, left
        return found, text


def is_head(source: bytes, start: int, end: int) -> bool:
    """Whether what is left out heads items that a macro is given; `cfg_rt! {` makes nothing, nor does `vec![a]`.

    >>> is_head(b"make! { }", 0, 5), is_head(b"cfg_a! { }", 0, 6), is_head(b"f!(a)", 1, 2), is_head(b"vec![a]", 0, 4)
    (True, False, False, False)
    """
    return end - start > 1 and source.startswith(b"! {", end - 1) and not source.startswith(b"cfg_", start)


def begin_above(builder: Builder, spans: list[tuple[int, int]]) -> None:
    """Let definitions begin where what stands above them does, which a grammar may take for something else."""
    tree, first = builder.tree, dict[int, int]()
    for start, end in spans:
        begin = first.pop(start, start)
        node = bisect_left(tree.start, end)
        if node == len(tree.start):
            break
        if DEFINING & tree.kind(node) and bisect_right(builder.starts, begin) < builder.line(node):
            builder.begins[node] = bisect_right(builder.starts, begin)
        first[blank_end(tree.source, end)] = begin  # of several above each other


def different(source: bytes, text: bytes) -> list[tuple[int, int]]:
    """The spans where a text of the same length is another one.

    >>> different(b"a bc d", b"a    d")
    [(2, 4)]
    """
    if source == text:
        return []
    differ = np.frombuffer(source, np.uint8) != np.frombuffer(text, np.uint8)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], differ.view(np.int8), [0]))))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]
