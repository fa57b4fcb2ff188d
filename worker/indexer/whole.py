"""What only the whole graph tells: what imports or calls itself by way of others, and what nothing is seen to use."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import accumulate
from operator import attrgetter
from typing import NamedTuple

from fledgling.worker.graph.columns import FURTHER, GraphColumns
from fledgling.worker.graph.linking.other_case import small
from fledgling.worker.graph.tables import GraphFile, Op, unpacked
from fledgling.worker.graph.unit import LINE
from fledgling.worker.indexer.edges import CALLS
from fledgling.worker.indexer.placing import MAX_LINES, Places
from fledgling.worker.language import Language
from fledgling.worker.of_tests import is_test
from fledgling.worker.store.graph import CONFIDENCES, IN_NO_OUTLINE, PLACE_BITS, USES
from fledgling.worker.store.symbols import Outlines
from fledgling.worker.store.symbols import Row as Symbol
from fledgling.worker.store.text import Blocks, File
from fledgling.worker.tools.components import circles
from fledgling.worker.unnamed import MAX_ABOVE, MAX_HEAD, is_given, is_run, taker

SURE = tuple(map(CONFIDENCES.index, ("certain", "likely")))
DOUBTFUL = tuple(map(CONFIDENCES.index, ("possible", "unresolved")))
KINDS = frozenset(("function", "method", "class"))
# Names that a language or its tools run.
STARTED = frozenset(("main", "init", "setup", "teardown", "constructor", "__init__", "__construct"))
WORD = re.compile(r"\w+")
LINE_BITS = 32
DEFINING = USES.index("definition")


class Circle(NamedTuple):
    """One member of a circle; line and name are None where files import each other."""

    kind: str
    cycle: int
    size: int
    path: str
    line: int | None
    name: str | None


class Unreached(NamedTuple):
    """A definition that nothing is seen to use; `unseen` says what may use it all the same, None is nothing known."""

    path: str
    line: int
    name: str
    unseen: str | None


class Spans:
    """Lines from the first to the last of definitions, asked for what stands within.

    >>> spans = Spans([(3, 5), (1, 9)])
    >>> spans.hold(1), spans.hold(7), spans.hold(10)
    (False, True, False)
    """

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        ordered = sorted(spans)
        self._begins = [begin for begin, _ in ordered]
        self._ends = [-1, *accumulate((end for _, end in ordered), max)]  # of those that begin before, the last

    def hold(self, line: int) -> bool:
        """Return whether a line is in one of them, other than as its first."""
        return line <= self._ends[bisect_left(self._begins, line)]


class Whole:
    """Asks a graph, its files and their definitions.

    >>> whole = Whole(graph, files, places, blocks, outlines, load_languages().rows)
    >>> [*whole.circles()], [*whole.unreached(not_whole={"c"}, beside={"python": ["jupyter"]})]
    """

    def __init__(
        self,
        graph: GraphColumns,
        files: Sequence[GraphFile],
        places: Places,
        blocks: Blocks,
        outlines: Outlines,
        languages: Mapping[str, Language],
    ) -> None:
        """`places` have settled the rows."""
        self._languages = languages
        self._graph, self._files, self._places, self._blocks = graph, files, places, blocks
        self._split: tuple[int, list[bytes]] = -1, []  # the block that was read last, and its lines
        self._symbols: list[list[Symbol]] = [outlines.definitions(place) for place in places.files]

    # ---- circles

    def circles(self) -> Iterator[Circle]:
        """Yield the members of all circles: of files that import each other, of functions that call each other."""
        known = {file.path for file in self._files}
        leads = {
            file.path: sorted({to for row in file.imports if (to := row.resolved_path) in known and to})
            for file in sorted(self._files, key=attrgetter("path"))
        }
        number = 0
        for each in circles(leads):
            number += 1
            yield from (Circle("import", number, len(each), path, None, None) for path in each)
        for called in circles(self._calls(), with_own=True):
            number += 1
            for key in called:
                file, line, place = key >> LINE_BITS, key >> PLACE_BITS & MAX_LINES, key & IN_NO_OUTLINE
                row = self._places.row(file, line, place)
                name = row.qualified_name if row else None
                yield Circle("call", number, len(called), self._files[file].path, line, name)

    def _calls(self) -> dict[int, list[int]]:
        """Return whom each definition calls for sure or likely, by numbers of a file and a line with its place."""
        graph, places = self._graph, self._places
        found: dict[int, set[int]] = defaultdict(set)
        around: dict[tuple[int, int, int], int | None] = {}
        columns = zip(
            graph.file,
            graph.enclosing_line,
            graph.enclosing_part,
            graph.target_file,
            places.target_lines.tolist(),
            graph.kind,
            graph.confidence,
            strict=True,
        )
        for file, line, part, target, target_line, kind, confidence in columns:
            if target < 0 or not line or kind not in CALLS or confidence not in SURE:
                continue
            key = file, line, part
            if key not in around:
                around[key] = places.line_around(*key)
            if own := around[key]:
                found[file << LINE_BITS | own].add(target << LINE_BITS | target_line)
        return {key: sorted(found[key]) for key in sorted(found)}

    # ---- what nothing is seen to use

    def unreached(self, not_whole: Set[str], beside: Mapping[str, Sequence[str]]) -> Iterator[Unreached]:
        """Yield the functions, methods and classes that are used nowhere but in themselves, as far as can be seen.

        Of the languages that are `not_whole` some file is not wholly in the graph; those `beside` one may use it, too,
        and have no graph.
        """
        found = [*self._unreached(not_whole)]
        asked = defaultdict[str, set[str]](set)
        for file, each in found:
            if each.unseen is None:
                asked[self._files[file].language].add(each.name)
        said = {language: self._said(names, beside[language]) for language, names in asked.items()}
        for file, each in found:
            is_said = each.unseen is None and each.name in said[self._files[file].language]
            yield each._replace(unseen="a file in a language without a graph names it") if is_said else each

    def _said(self, names: Set[str], languages: Sequence[str]) -> set[str]:
        """Return those names that stand as a word in a file in one of some languages."""
        files = (self._blocks.file(number) for each in languages for number in self._blocks.in_language(each))
        blocks = (block for file in files for block in range(file.block, file.block + file.blocks))
        return {word for block in blocks for word in WORD.findall(self._blocks.text(block).decode()) if word in names}

    def _unreached(self, not_whole: Set[str]) -> Iterator[tuple[int, Unreached]]:
        """Yield the same and their files, without a look at languages that have no graph."""
        used, doubtful, words = self._used(), self._doubtful(), self._words()
        below = self._derived_from_outside()
        replacing = {(file, line & LINE) for file, line, *_ in self._graph.overrides}
        for file, rows in enumerate(self._symbols):
            derived = Spans((row.line_start, row.line_end) for row in rows if (file, row.line_start) in below)
            for row in rows:
                place = file, row.line_start
                if row.kind not in KINDS or (file << LINE_BITS | row.line_start) in used:
                    continue
                language = self._files[file].language
                dialect = self._languages[language].graph
                name = small(row.name) if dialect.in_any_case else row.name
                is_whole = language not in not_whole
                unseen = None if is_whole else "a file that is not wholly in the graph may use it"
                if name in doubtful:
                    unseen = "uses of its name lead nowhere that is known"
                elif name in words:
                    unseen = "its name stands in a string"
                elif self._languages[language].family in self._pasting:
                    unseen = "a macro may make its name of parts"
                elif place in replacing or derived.hold(row.line_start):
                    unseen = "it may be called through a class that its own is derived from"
                unseen = self._run_by_others(file, row) or unseen
                yield file, Unreached(self._files[file].path, row.line_start, row.name, unseen)

    def _derived_from_outside(self) -> set[tuple[int, int]]:
        """Return the classes that are derived, at whatever distance, from one that is not in the graph."""
        derived: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        for file, line, _, to, to_line, _ in self._graph.bases:
            derived[to, to_line & LINE].append((file, line & LINE))
        waiting = [
            (file, line & LINE) for file, line, _, to, _, kind in self._graph.bases if to < 0 and kind != FURTHER
        ]
        for each in waiting:
            waiting += derived.pop(each, ())
        return set(waiting)

    def _used(self) -> set[int]:
        """Return the definitions that are used outside of themselves, by numbers that hold a file and a line."""
        graph = self._graph
        ends: dict[int, int] = {}
        for file, rows in enumerate(self._symbols):
            for row in rows:
                key = file << LINE_BITS | row.line_start
                ends[key] = max(ends.get(key, 0), row.line_end)
        found: set[int] = set()
        columns = zip(graph.file, graph.line, graph.target_file, graph.target_line, graph.kind, strict=True)
        for file, line, target, target_line, kind in columns:
            if target < 0 or kind == DEFINING:
                continue
            key = target << LINE_BITS | target_line
            if key not in found and not (file == target and target_line <= line <= ends.get(key, 0)):
                found.add(key)
        return found

    def _doubtful(self) -> set[str]:
        """Return the names of which some use is not resolved."""
        each = zip(self._graph.file, self._graph.name, self._graph.confidence, strict=True)
        found = {(file, name) for file, name, confidence in each if confidence in DOUBTFUL}
        return {word for file, name in found for word in self._spelled(file, self._graph.names[name])}

    def _words(self) -> set[str]:
        """Return the words of short strings of the project: `getattr(a, "run")`, `__all__`, registries."""
        found = set[str]()
        for number, file in enumerate(self._files):
            facts = unpacked(file.facts)
            for text in {facts.names[parts[0]] for op, *parts in facts.expressions if op == Op.TEXT}:
                found.update(word for said in WORD.findall(text) for word in self._spelled(number, said))
        return found

    def _spelled(self, file: int, name: str) -> Iterator[str]:
        """Yield a name of a file, and in small letters what may mean one in another case."""
        yield name
        if self._languages[self._files[file].language].graph.in_any_case:
            yield small(name)

    @cached_property
    def _pasting(self) -> set[str]:
        """The families of languages of which macros of the project make names of parts."""
        return {
            self._languages[file.language].family
            for file, place in zip(self._files, self._places.files, strict=True)
            if (sign := self._languages[file.language].graph.pastes.encode())
            and any(sign in self._blocks.text(block) for block in range(place.block, place.block + place.blocks))
        }

    def _run_by_others(self, file: int, row: Symbol) -> str | None:
        """Say who may run a definition that no code of the project names."""
        path, language = self._files[file].path, self._files[file].language
        if is_test(path) or row.name.lower().startswith("test"):
            return "a test runner may run it"
        known, dialect = self._languages[language].unnamed, self._languages[language].graph
        if is_run(known, row.kind, row.name) or row.name in STARTED:
            return "the language or a tool may run it"
        if row.kind == "method" and dialect.declares_all_types:
            return "it may be called through an interface or a trait"
        if is_given(known, next(self._head(file, row), "")):
            return "parameters of its name may be given what it returns"
        if taker(known, row.kind, self._head(file, row)):
            return "what stands above it may register it"
        return None

    def _head(self, file: int, row: Symbol) -> Iterator[str]:
        """The lines that a definition begins on, so far as one may stand before many others that begin there, too."""
        for line in range(row.line_start, min(row.line_end + 1, row.line_start + MAX_ABOVE)):
            yield self._line(self._places.files[file], line)[:MAX_HEAD].decode(errors="ignore").strip()

    def _line(self, file: File, line: int) -> bytes:
        for block in self._blocks.holding(file, line, line):
            if self._split[0] != block:  # definitions are asked for in their order
                self._split = block, self._blocks.text(block).split(b"\n")
            return self._split[1][line - self._blocks.first_lines[block]]
        return b""
