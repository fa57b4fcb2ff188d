"""What uses what as rows of tables: the graph with names in place of numbers."""

from collections.abc import Iterator, Sequence
from functools import cache

from fledgling.worker.graph.reasons import WORDS, confidence
from fledgling.worker.graph.rows import BASE_REASONS, FURTHER, Graph
from fledgling.worker.indexer.loading import Columns
from fledgling.worker.store.graph import CONFIDENCES, USES
from fledgling.worker.store.symbols import Outlines
from fledgling.worker.store.text import Blocks

ROWS_TOGETHER = 200_000  # rows of a table that are loaded at once
CALLS = (USES.index("call"), USES.index("decorator"))
CERTAIN = CONFIDENCES.index("certain")


class Edges:
    """The rows of three tables, a part at a time.

    >>> for table, columns in Edges(graph, numbers, blocks, outlines).tables(): ...
    """

    def __init__(self, graph: Graph, numbers: Sequence[int], blocks: Blocks, outlines: Outlines) -> None:
        """`numbers` has the numbers that the files of the graph have in the index."""
        self._graph = graph
        self._files = [blocks.file(number) for number in numbers]
        self._outlines = outlines
        self._numbers = {name: number for number, name in enumerate(graph.names)}
        self._name_at = cache(self._qualified)

    def tables(self) -> Iterator[tuple[str, Columns]]:
        """Yield rows of `calls`, `refs` and `inherits`, each with the name of the table."""
        graph = self._graph
        calls = [at for at, kind in enumerate(graph.kind) if kind in CALLS]
        for some in _together(calls):
            yield "calls", self._calls(some)
        for some in _together(range(len(graph.line))):
            yield "refs", self._refs(some)
        if graph.bases:
            yield "inherits", self._inherits()

    def _calls(self, rows: Sequence[int]) -> Columns:
        graph = self._graph
        return {
            **self._places(rows),
            "caller": [self._at(graph.file[at], graph.enclosing_line[at]) for at in rows],
            "callee_name": [graph.names[graph.name[at]] for at in rows],
            "callee_path": [self._path(graph.target_file[at]) for at in rows],
            "callee_qualified_name": self._targets(rows),
            "confidence": [CONFIDENCES[graph.confidence[at]] for at in rows],
            "reason": [WORDS.get(graph.reason[at]) for at in rows],
        }

    def _refs(self, rows: Sequence[int]) -> Columns:
        graph = self._graph
        return {
            **self._places(rows),
            "name": [graph.names[graph.name[at]] for at in rows],
            "target_path": [self._path(graph.target_file[at]) for at in rows],
            "target_qualified_name": self._targets(rows),
            "kind": [USES[graph.kind[at]] for at in rows],
            "confidence": [CONFIDENCES[graph.confidence[at]] for at in rows],
        }

    def _inherits(self) -> Columns:
        bases = [base for base in self._graph.bases if base[-1] != FURTHER]
        reasons = [BASE_REASONS[kind] for *_, kind in bases]
        return {
            "path": [self._path(file) for file, *_ in bases],
            "line": [line for _, line, *_ in bases],
            "name": [self._at(file, line) for file, line, *_ in bases],
            "base": [name or None for _, _, name, *_ in bases],
            "base_path": [self._path(file) for _, _, _, file, *_ in bases],
            "base_qualified_name": [self._at(file, line) for _, _, _, file, line, _ in bases],
            "kind": [kind for *_, kind in bases],
            "confidence": [
                None if base[3] < 0 else CONFIDENCES[confidence(reason) if reason else CERTAIN]
                for base, reason in zip(bases, reasons, strict=True)
            ],
            "reason": [WORDS.get(reason) for reason in reasons],
        }

    def _places(self, rows: Sequence[int]) -> Columns:
        graph = self._graph
        return {"path": [self._path(graph.file[at]) for at in rows], "line": [graph.line[at] for at in rows]}

    def _targets(self, rows: Sequence[int]) -> list[str | None]:
        graph = self._graph
        return [self._at(graph.target_file[at], graph.target_line[at], graph.names[graph.name[at]]) for at in rows]

    def _path(self, file: int) -> str | None:
        return None if file < 0 else self._files[file].path

    def _at(self, file: int, line: int, name: str = "") -> str | None:
        return self._name_at(file, line, name) if file >= 0 and line else None

    def _qualified(self, file: int, line: int, name: str) -> str | None:
        """Return the definition that begins on a line: of several the one with a name, else the longest.

        None if the name is that of something which is in no outline, `a` of `struct { int a; }`.
        """
        rows = self._outlines.beginning(self._files[file], line)
        named = [row for row in rows if row.name == name]
        if not named and self._numbers.get(name) not in self._graph.begun.get((file, line), ()):
            named = rows
        return max(named, key=lambda row: row.line_end).qualified_name if named else None


def _together(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    for begin in range(0, len(rows), ROWS_TOGETHER):
        yield rows[begin : begin + ROWS_TOGETHER]
