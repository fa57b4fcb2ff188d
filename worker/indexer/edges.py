"""What uses what as rows of tables: the graph with names in place of numbers."""

from collections.abc import Iterator, Sequence
from functools import cache

from fledgling.worker.graph.columns import BASE_REASONS, FURTHER, GraphColumns
from fledgling.worker.graph.reasons import WORDS, confidence
from fledgling.worker.graph.unit import LINE, LINE_BITS
from fledgling.worker.indexer.loading import Columns
from fledgling.worker.indexer.placing import Places
from fledgling.worker.store.graph import CONFIDENCES, USES

ROWS_TOGETHER = 200_000  # rows of a table that are loaded at once
CALLS = (USES.index("call"), USES.index("decorator"))
CERTAIN = CONFIDENCES.index("certain")


class Edges:
    """The rows of three tables, a part at a time.

    >>> for table, columns in Edges(graph, places).tables(): ...
    """

    def __init__(self, graph: GraphColumns, places: Places) -> None:
        """`places` have settled the rows of the graph."""
        self._graph = graph
        self._files = places.files
        self._places = places
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
            **self._where(rows),
            "caller": [self._around(graph.file[at], graph.enclosing_line[at], graph.enclosing_part[at]) for at in rows],
            "callee_name": [graph.names[graph.name[at]] for at in rows],
            "callee_path": [self._path(graph.target_file[at]) for at in rows],
            "callee_qualified_name": self._targets(rows),
            "confidence": [CONFIDENCES[graph.confidence[at]] for at in rows],
            "reason": [WORDS.get(graph.reason[at]) for at in rows],
        }

    def _refs(self, rows: Sequence[int]) -> Columns:
        graph = self._graph
        return {
            **self._where(rows),
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
            "line": [line & LINE for _, line, *_ in bases],
            "name": [self._at(file, line & LINE, line >> LINE_BITS) for file, line, *_ in bases],
            "base": [name or None for _, _, name, *_ in bases],
            "base_path": [self._path(file) for _, _, _, file, *_ in bases],
            "base_qualified_name": [self._at(file, line & LINE, line >> LINE_BITS) for _, _, _, file, line, _ in bases],
            "kind": [kind for *_, kind in bases],
            "confidence": [
                None if base[3] < 0 else CONFIDENCES[confidence(reason) if reason else CERTAIN]
                for base, reason in zip(bases, reasons, strict=True)
            ],
            "reason": [WORDS.get(reason) for reason in reasons],
        }

    def _where(self, rows: Sequence[int]) -> Columns:
        graph = self._graph
        return {"path": [self._path(graph.file[at]) for at in rows], "line": [graph.line[at] for at in rows]}

    def _targets(self, rows: Sequence[int]) -> list[str | None]:
        graph = self._graph
        return [
            self._at(graph.target_file[at], graph.target_line[at], graph.target_part[at], graph.names[graph.name[at]])
            for at in rows
        ]

    def _path(self, file: int) -> str | None:
        return None if file < 0 else self._files[file].path

    def _around(self, file: int, line: int, part: int) -> str | None:
        return self._at(file, *self._places.around(file, line, part))

    def _at(self, file: int, line: int, part: int, name: str = "") -> str | None:
        return self._name_at(file, line, part, name) if file >= 0 and line else None

    def _qualified(self, file: int, line: int, part: int, name: str) -> str | None:
        """Return a definition by its qualified name; None of what is in no outline, `a` of `struct { int a; }`."""
        row = self._places.row(file, line, self._places.place(file, line, part, name))
        return row.qualified_name if row else None


def _together(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    for begin in range(0, len(rows), ROWS_TOGETHER):
        yield rows[begin : begin + ROWS_TOGETHER]
