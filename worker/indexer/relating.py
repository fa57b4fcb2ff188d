"""The last stage of a build: every text is parsed once more, with all that is in bodies, and what its names mean is
resolved when all are.

The graph has a share of its own of memory_limit. Where a project is too large for that, it is of the files nearest to
the root, then by path; that is said.
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain

import numpy as np
from msgspec import Struct

from fledgling.messages.control import Build
from fledgling.plain import by_depth
from fledgling.security import limits, memory_file
from fledgling.worker.extractor.messages import Batch, ReadFile, Resolve, Source, imports_of, packed
from fledgling.worker.extractor.pool import Extractors, ResolverLostError
from fledgling.worker.graph.columns import BASE_REASONS, Bytes, GraphColumns, joined, packed_names, unpacked
from fledgling.worker.graph.effects.purity import Judged, judged
from fledgling.worker.graph.linking.families import families
from fledgling.worker.graph.reasons import WORDS
from fledgling.worker.graph.solving.budget import GraphBudget
from fledgling.worker.graph.tables import GraphFile
from fledgling.worker.indexer import same_graph
from fledgling.worker.indexer.edges import Edges
from fledgling.worker.indexer.index import Index
from fledgling.worker.indexer.loading import of_rows
from fledgling.worker.indexer.placing import Places
from fledgling.worker.indexer.tables import EdgeTables
from fledgling.worker.indexer.whole import Circle, Unreached, Whole
from fledgling.worker.language import Languages
from fledgling.worker.reasons import SYMLINK
from fledgling.worker.rows import WIDEST
from fledgling.worker.store import facts as known_facts
from fledgling.worker.store import graph_writer
from fledgling.worker.store.graph import GIVEN_UP, IN_PART, LEFT_OUT, NO_GRAPH, NONE, RESOLVED
from fledgling.worker.store.graph_writer import Inside, Links, Occurrences
from fledgling.worker.store.symbols import Outlines
from fledgling.worker.store.text import Blocks

TOO_LARGE = "Uses of definitions are not resolved: the graph is too large for the profile's memory_limit."
ENDED = "the process that resolves them ended unexpectedly, more than once"
CUT = "Not all uses of definitions are resolved: working them out would have taken too long."
UNFOLLOWED = "What functions are given as arguments is not followed: the project is too large for that."
VISITS = 3  # of a file: it is parsed, read, and given its rows
FOLLOWED_BYTES = 8_000_000  # of source: following arguments takes half of the time that all else does

Report = Callable[[int, int, str | None], None]


class RelatedLanguages(Struct, frozen=True):
    """The languages in which uses are resolved, and what is lacking of that, as sentences: of arguments by itself."""

    languages: tuple[str, ...] = ()
    lacks: str | None = None
    unfollowed: str | None = None


class Relating:
    """The stage at work.

    >>> relating = Relating(order, index, languages, extractors)
    >>> relating.run({"a.py": "python"}, {"a.py": imports}, set(), report)
    RelatedLanguages(languages=('python',), lacks=None)
    >>> relating.fill(index.edges, report)
    """

    def __init__(self, order: Build, index: Index, languages: Languages, extractors: Extractors) -> None:
        """Resolve what is in an index that is sealed."""
        limit = order.profile.memory_limit
        self._order = order
        self._images = order.images
        self._keys: dict[str, bytes] = {}  # of texts, by the path of a file
        self._known = {} if order.known_facts_fd is None else known_facts.read(order.known_facts_fd)
        self._graphs: dict[bytes, GraphColumns] = {}  # of each family, by what it is known by
        self._index = index
        self._rows, self._graphed = languages.rows, languages.graphed()
        self._in_any_case, self._beside = languages.in_any_case(), languages.beside()
        self._extractors = extractors
        for_graph = limits.graph(limit, index.size())
        self._most_rows = for_graph // graph_writer.ROW_BYTES
        self._most_facts = limits.files(limit) - index.size() - for_graph
        self._most_source = limits.graph_source(limit)
        self._numbers = index.numbers()
        self._sizes = Blocks(memory_file.mapped(order.images.blocks)).sizes
        self._lacks = index.why_unrelated()
        self._unfollowed: str | None = None
        self._how_far = bytearray([NO_GRAPH] * len(self._numbers))
        self._report: Report = lambda *_: None
        self._files_asked = 0
        self._written: tuple[GraphColumns, list[GraphFile], Places] | None = None

    def run(
        self, languages: Mapping[str, str], imports: Mapping[str, bytes], unresolved: Set[str], report: Report
    ) -> RelatedLanguages:
        """Write and seal the graph of the files that `languages` names; `imports` are packed, by the path of a file.

        Where the imports of a file are `unresolved`, its names mean nobody knows what: it is as if it were not parsed.
        """
        self._report = report
        found = [] if self._lacks else self._files(languages, imports, unresolved)
        graph, files = self._resolved(found)
        self._keep(found)
        numbers = [self._numbers[file.path] for file in files]
        places = self._placed(graph, numbers)
        self._write(graph, numbers, places)
        self._written = graph, files, places
        return RelatedLanguages(
            tuple(sorted({file.language for file in files} | self._given_up(languages))), self._lacks, self._unfollowed
        )

    def _given_up(self, languages: Mapping[str, str]) -> set[str]:
        """The languages of files that could not be read: an answer says so of each occurrence in them."""
        numbers = self._numbers
        return {
            name for path, name in languages.items() if path in numbers and self._how_far[numbers[path]] == GIVEN_UP
        }

    def _resolved(self, files: list[GraphFile]) -> tuple[GraphColumns, list[GraphFile]]:
        """Return the graph of as many files as fit, and those; how many fit is known only once it is tried.

        Where the process that resolves them is lost, that is tried once more.
        """
        lost = 0
        while files:
            budget = GraphBudget(follows_arguments=sum(map(self._size, files)) <= FOLLOWED_BYTES)
            is_partial = LEFT_OUT in self._how_far
            try:
                graph = self._graph(files, budget, is_partial=is_partial)
            except MemoryError:  # the limit of this process: what was worked out is let go
                graph = None
            except ResolverLostError:
                lost += 1
                if lost == 1:
                    continue
                graph = None
            if graph and len(graph.line) <= self._most_rows:
                for number in graph.broken:
                    self._how_far[self._numbers[files[number].path]] = IN_PART
                self._lacks = " ".join(self._limits(graph, is_lost=lost > 1)) or None
                self._unfollowed = None if budget.follows_arguments else UNFOLLOWED
                return graph, files
            del graph
            self._graphs = {}
            gc.collect()  # cells refer to each other
            nearest = sorted(files, key=lambda file: by_depth(file.path))
            for file in nearest[len(files) // 2 :]:
                self._how_far[self._numbers[file.path]] = LEFT_OUT
            files = sorted(nearest[: len(files) // 2], key=lambda file: self._numbers[file.path])
        if LEFT_OUT in self._how_far:
            self._lacks = f"Uses of definitions are not resolved: {ENDED}." if lost > 1 else TOO_LARGE
        return GraphColumns(), []

    def _tell(self, visited: int, at: str | None = None) -> None:
        """Report how far it is: a file is done when it was parsed, read and given its rows."""
        self._report(visited // VISITS, self._files_asked, at)

    def _tell_resolved(self, visited: int) -> None:
        self._tell(self._files_asked + visited)

    def _graph(self, files: Sequence[GraphFile], budget: GraphBudget, *, is_partial: bool) -> GraphColumns:
        """Return the graph of files: of each family that of the build before, if it is of the same, or a new one."""
        numbers = families(files, self._rows)
        keys = [same_graph.key([files[at] for at in each], budget, is_partial=is_partial) for each in numbers]
        known = [same_graph.known(key, self._known) for key in keys]
        room = self._order.profile.memory_limit - self._index.size() - self._most_rows * graph_writer.ROW_BYTES
        asked = Resolve(*budget, is_partial, [packed_names(graph) for graph in known], room)
        read = [ReadFile(file.path, file.language, memoryview(file.facts), packed(file.imports)) for file in files]
        made = self._extractors.resolve(read, asked, self._tell_resolved)
        self._graphs = {}
        for key, kept, new in zip(keys, known, made, strict=True):
            graph = kept if new is None else unpacked(new)
            assert graph
            self._graphs[key] = graph
        return joined(numbers, [*self._graphs.values()])

    def _limits(self, graph: GraphColumns, *, is_lost: bool) -> Iterator[str]:
        """Yield what is lacking in a graph, as sentences."""
        if left_out := self._how_far.count(LEFT_OUT):
            all_files = len(self._how_far) - self._how_far.count(NO_GRAPH)
            nearest = "those nearest to the root"
            filled = (
                f"the graph of the others, {nearest}, fills its share of the profile's memory_limit and leaves no room"
            )
            why = f"{ENDED}; the others are {nearest}" if is_lost else filled
            yield f"Uses in {left_out:,} of {all_files:,} files are not resolved: {why}."
        if graph.is_cut:
            yield CUT

    def _size(self, file: GraphFile) -> int:
        return self._sizes[self._numbers[file.path]]

    def _not_whole(self, blocks: Blocks) -> set[str]:
        """Return the languages of which some file is not wholly in the graph, with those that share names with them."""
        family = {name: self._rows[name].family for name in self._graphed}
        lacking = {
            family[language]
            for language in family
            for number in blocks.in_language(language)
            if self._how_far[number] in (LEFT_OUT, GIVEN_UP, IN_PART)
            or blocks.file(number).skip_reason not in (None, SYMLINK)  # the file itself is looked at where it is
        }
        return {name for name in self._graphed if family[name] in lacking}

    def fill(self, tables: EdgeTables, report: Report) -> None:
        """Load the graph that was written into tables, where SQL is allowed, and what only all of it tells."""
        assert self._written
        graph, files, places = self._written

        def tell(_: int = 0) -> None:
            report(0, 0, None)

        blocks = Blocks(memory_file.mapped(self._images.blocks))
        outlines = Outlines(memory_file.mapped(self._images.outlines))
        for table, columns in Edges(graph, places).tables():
            tables.add(table, columns)
            tell()
        if effects := [*judged(files, graph, tell)]:
            paths = [files[row.file].path for row in effects]
            tables.add("effects", {"path": paths, **of_rows(Judged._fields[1:], [row[1:] for row in effects])})
        whole = Whole(graph, files, places, blocks, outlines, self._rows)
        tell()
        if circles := [*whole.circles()]:
            tables.add("cycles", of_rows(Circle._fields, circles))
        tell()
        if unreached := [*whole.unreached(self._not_whole(blocks), self._beside)]:
            tables.add("unreached", of_rows(Unreached._fields, unreached))
        tell()
        tables.finish()

    def _files(
        self, languages: Mapping[str, str], imports: Mapping[str, bytes], unresolved: Set[str]
    ) -> list[GraphFile]:
        """Return the facts of the files that there is room for, of those whose language has a graph."""
        asked = self._fitting([path for path, name in languages.items() if name in self._graphed])
        self._files_asked = len(asked)
        sources = (source for _, source in self._index.sources({path: languages[path] for path in asked}))
        found: dict[str, bytes | memoryview] = {}
        for batch, answer in self._extractors.extract(self._new(sources, found), Batch((), for_graph=True)):
            found.update((source.path, uses) for source, uses in zip(batch.sources, answer.uses, strict=True))
            self._tell(len(found), batch.sources[0].path)
        found |= dict.fromkeys(found.keys() & unresolved, b"")
        for path, facts in found.items():
            self._how_far[self._numbers[path]] = RESOLVED if facts else GIVEN_UP
        return [
            GraphFile(path, languages[path], facts, imports_of(imports.get(path, b"")))
            for path, facts in sorted(found.items(), key=lambda each: self._numbers[each[0]])
            if facts
        ]

    def _new(self, sources: Iterable[Source], found: dict[str, bytes | memoryview]) -> Iterator[Source]:
        """Yield the sources whose facts are not known from an earlier build; those that are go among what is found."""
        for source in sources:
            key = self._keys[source.path] = known_facts.key_of(source.language, source.blocks)
            if facts := self._known.get(key):
                found[source.path] = facts
            else:
                yield source

    def _keep(self, found: Sequence[GraphFile]) -> None:
        """Seal facts, and the graphs of families, for the next build: each if it fits beside what is kept already."""
        if self._order.facts_fd is None:
            return
        room = self._most_facts
        of_texts: dict[bytes, Bytes] = {self._keys[file.path]: file.facts for file in found}
        of_graphs = [dict(same_graph.parts(key, graph)) for key, graph in self._graphs.items()]
        with known_facts.FactsWriter(self._order.facts_fd) as writer:
            for kept in (of_texts, *of_graphs):
                size = sum(map(len, kept.values()))
                if size <= room:
                    room -= size
                    for key, said in kept.items():
                        writer.add(key, said)
        memory_file.seal(self._order.facts_fd)

    def _fitting(self, paths: Sequence[str]) -> set[str]:
        """Return the files that there is room for, those nearest to the root; the others are noted as left out."""
        room = self._most_source
        fitting = set()
        for path in sorted((path for path in paths if path in self._numbers), key=by_depth):
            room -= self._sizes[self._numbers[path]]
            if room >= 0:
                fitting.add(path)
            else:
                self._how_far[self._numbers[path]] = LEFT_OUT
        return fitting

    def _placed(self, graph: GraphColumns, numbers: Sequence[int]) -> Places:
        blocks = Blocks(memory_file.mapped(self._images.blocks))
        outlines = Outlines(memory_file.mapped(self._images.outlines))
        return Places(graph, [*map(blocks.file, numbers)], outlines, self._in_any_case)

    def _write(self, graph: GraphColumns, numbers: Sequence[int], places: Places) -> None:
        """Write the rows with the numbers that files have in the index; `numbers` has those of the files resolved."""
        of = np.asarray([*numbers, NONE], np.uint32)  # the last for no file, which is -1
        names_outside = dict.fromkeys(name for _, _, name, target, *_ in graph.bases if target < 0)
        outside = {name: place for place, name in enumerate(names_outside)}
        bases = [
            (file, line, to, outside[name] if to < 0 else to_line, BASE_REASONS[kind])
            for file, line, name, to, to_line, kind in graph.bases
        ]
        columns = np.asarray(graph.column, np.uint32)
        is_kept = columns <= WIDEST
        places.settle()
        inside = np.asarray([*places.within()], np.uint32).reshape(-1, 2)
        all_rows = Occurrences(
            of[np.asarray(graph.file, np.int64)],
            np.asarray(graph.line, np.uint32),
            columns,
            np.asarray(graph.kind, np.uint32),
            np.asarray(graph.confidence, np.uint32),
            np.asarray(graph.reason, np.uint32),
            of[np.asarray(graph.target_file, np.int64)],
            places.target_lines,
        )
        rows = all_rows if is_kept.all() else Occurrences(*(column[is_kept] for column in all_rows))
        inside = inside[is_kept[inside[:, 0]]]
        within = Inside((np.cumsum(is_kept) - 1)[inside[:, 0]], inside[:, 1])
        words = [WORDS.get(code, "") for code in range(max(WORDS) + 1)]
        names = {"reasons": words, "outside": [*outside]}
        derived, overrides = (_links(of, [*places.of_links(some)]) for some in (bases, graph.overrides))
        made = [(int(of[at]), line, begin, end, int(of[to]), where) for at, line, begin, end, to, where in graph.made]
        graph_writer.write(self._images.graph, bytes(self._how_far), rows, within, derived, overrides, names, made)
        memory_file.seal(self._images.graph)


def _links(of: graph_writer.Numbers, rows: Sequence[tuple[int, int, int, int, int]]) -> Links:
    """Return pairs of definitions as columns, with the numbers that files have in the index."""
    table = np.asarray([*chain.from_iterable(rows)], np.int64).reshape(-1, 5).T
    return Links(of[table[0]], table[1], of[table[2]], table[3], table[4])
