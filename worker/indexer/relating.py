"""The last stage of a build: every text is parsed once more, with all that is in bodies, and what its names mean is
resolved when all are.

The graph has a share of its own of memory_limit. Where a project is too large for that, there is none; that is said.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

import numpy as np
from msgspec import Struct

from fledgling.messages.control import Build
from fledgling.security import limits, memory_file
from fledgling.worker.extractor.messages import Batch, imports_of
from fledgling.worker.extractor.pool import Extractors
from fledgling.worker.graph.project import GraphFile
from fledgling.worker.graph.reasons import WORDS
from fledgling.worker.graph.resolve import resolved
from fledgling.worker.graph.rows import Graph
from fledgling.worker.graph.solver import GraphBudget
from fledgling.worker.indexer.edges import Edges
from fledgling.worker.indexer.index import Index
from fledgling.worker.indexer.tables import EdgeTables
from fledgling.worker.language import Languages
from fledgling.worker.store import graph_writer
from fledgling.worker.store.graph import GIVEN_UP, NO_GRAPH, NONE, RESOLVED
from fledgling.worker.store.graph_writer import Links, Occurrences
from fledgling.worker.store.symbols import Outlines
from fledgling.worker.store.text import Blocks

TOO_LARGE = "Uses of definitions are not resolved: the graph is too large for the profile's memory_limit."
CUT = "Not all uses of definitions are resolved: working them out would have taken too long."

Report = Callable[[int, int, str | None], None]


class Related(Struct, frozen=True):
    """The languages in which uses are resolved, and what is lacking of that, as a sentence."""

    languages: tuple[str, ...] = ()
    lacks: str | None = None


class Relating:
    """The stage at work.

    >>> Relating(order, index, languages, extractors).run({"a.py": "python"}, {"a.py": imports}, report)
    Related(languages=('python',), lacks=None)
    """

    def __init__(self, order: Build, index: Index, languages: Languages, extractors: Extractors) -> None:
        """Resolve what is in an index that is sealed."""
        limit = order.profile.memory_limit
        self._images = order.images
        self._index = index
        self._rows, self._graphed = languages.rows, languages.graphed()
        self._extractors = extractors
        self._most_rows = limits.graph(limit, index.size()) // graph_writer.ROW_BYTES
        self._most_facts = int(limit * limits.GRAPH_FACTS)
        self._numbers = index.numbers()
        self._how_far = bytearray([NO_GRAPH] * len(self._numbers))

    def run(self, languages: Mapping[str, str], imports: Mapping[str, bytes], report: Report) -> Related:
        """Write and seal the graph of the files that `languages` names; `imports` are packed, by the path of a file."""
        lacks, graph = self._index.why_unrelated(), Graph()
        files = [] if lacks else self._files(languages, imports, report)
        if files:
            try:
                graph = resolved(files, budget=GraphBudget(), languages=self._rows)
            except MemoryError:  # the limit of this process: what was worked out is let go
                files = None
        if files is None or len(graph.line) > self._most_rows:
            self._how_far[:] = bytes(len(self._how_far))
            lacks, graph, files = TOO_LARGE, Graph(), []
        numbers = [self._numbers[file.path] for file in files]
        self._write(graph, numbers)
        if self._index.edges:
            self._fill(self._index.edges, graph, numbers)
        return Related(tuple(sorted({file.language for file in files})), lacks or (CUT if graph.is_cut else None))

    def _fill(self, tables: EdgeTables, graph: Graph, numbers: Sequence[int]) -> None:
        """Load the graph into tables, where SQL is allowed."""
        blocks = Blocks(memory_file.mapped(self._images.blocks))
        outlines = Outlines(memory_file.mapped(self._images.outlines))
        for table, columns in Edges(graph, numbers, blocks, outlines).tables():
            tables.add(table, columns)
        tables.finish()

    def _files(
        self, languages: Mapping[str, str], imports: Mapping[str, bytes], report: Report
    ) -> list[GraphFile] | None:
        """Return the facts of all files whose language has a graph; None where they are too many."""
        asked = {path: name for path, name in languages.items() if name in self._graphed and path in self._numbers}
        sources = (source for _, source in self._index.sources(asked))
        files: list[GraphFile] = []
        size = done = 0
        for batch, found in self._extractors.extract(sources, Batch((), for_graph=True)):
            done += len(batch.sources)
            report(done, len(asked), batch.sources[0].path)
            size += sum(map(len, found.uses))
            if size > self._most_facts:
                return None
            for source, facts in zip(batch.sources, found.uses, strict=True):
                self._how_far[self._numbers[source.path]] = RESOLVED if facts else GIVEN_UP
                if facts:
                    rows = imports_of(imports.get(source.path, b""))
                    files.append(GraphFile(source.path, source.language, facts, rows))
        return files

    def _write(self, graph: Graph, numbers: Sequence[int]) -> None:
        """Write the rows with the numbers that files have in the index; `numbers` has those of the files resolved."""
        of = np.asarray([*numbers, NONE], np.uint32)  # the last for no file, which is -1
        kinds = [*dict.fromkeys(kind for *_, kind in graph.bases)]
        outside = [*dict.fromkeys(name for _, _, name, target, *_ in graph.bases if target < 0)]
        bases = [
            (file, line, to, outside.index(name) if to < 0 else to_line, kinds.index(kind))
            for file, line, name, to, to_line, kind in graph.bases
        ]
        rows = Occurrences(
            of[np.asarray(graph.file, np.int64)],
            np.asarray(graph.line, np.uint32),
            np.asarray(graph.column, np.uint32),
            np.asarray(graph.kind, np.uint32),
            np.asarray(graph.confidence, np.uint32),
            np.asarray(graph.reason, np.uint32),
            of[np.asarray(graph.target_file, np.int64)],
            np.asarray(graph.target_line, np.uint32),
        )
        words = [str(WORDS.get(code, "")) for code in range(max(WORDS) + 1)]  # type: ignore[call-overload]
        names = {"reasons": words, "outside": outside, "kinds": kinds}
        how_far = bytes(self._how_far)
        graph_writer.write(
            self._images.graph, how_far, rows, _links(of, bases), _links(of, [(*r, 0) for r in graph.overrides]), names
        )
        memory_file.seal(self._images.graph)


def _links(of: graph_writer.Numbers, rows: Sequence[tuple[int, int, int, int, int]]) -> Links:
    """Return pairs of definitions as columns, with the numbers that files have in the index."""
    table = np.asarray([*chain.from_iterable(rows)], np.int64).reshape(-1, 5).T
    return Links(of[table[0]], table[1], of[table[2]], table[3], table[4])
