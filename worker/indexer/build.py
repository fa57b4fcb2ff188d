"""One build, from the tree to the sealed images: list, describe, hide what the profile hides, extract, resolve, seal.

Where the profile narrows files, every file is read twice: first to describe it, since the views decide on descriptions
what may be seen, then, if it is visible, for its text. One that changed in between is listed without content.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from heapq import nsmallest
from itertools import groupby, islice
from operator import itemgetter
from typing import Literal

import msgspec

from fledgling.messages.control import Build, Built, Generation, Progress, Unchanged
from fledgling.messages.generations import CODE, EDGES, GRAPH, LISTING, TEXT, WORDS
from fledgling.plain import counted, said
from fledgling.scope import Scope
from fledgling.security import memory_file
from fledgling.worker.extractor.batches import given_up, joined
from fledgling.worker.extractor.messages import Batch, Source, packed
from fledgling.worker.extractor.pool import Extractors
from fledgling.worker.files.describe import Describing
from fledgling.worker.files.openat import Reader
from fledgling.worker.files.text import Pieces
from fledgling.worker.files.tree import Entry, Tree, nearest
from fledgling.worker.indexer.clock import Clock
from fledgling.worker.indexer.extracted import Extracted
from fledgling.worker.indexer.findings import Findings
from fledgling.worker.indexer.index import Index
from fledgling.worker.indexer.totals import contents_hash, lacking, statistics, tree_hash
from fledgling.worker.indexer.wording import Wording
from fledgling.worker.language import Languages
from fledgling.worker.lister.process import Lister
from fledgling.worker.reasons import CHANGED, COUNTING, EXTRACTING, NO_ROOM
from fledgling.worker.resolving.project import MAX_MANIFEST
from fledgling.worker.rows import FileRow, ImportRow
from fledgling.worker.store.kept import UNRESOLVED, KeptWriter

DESCRIBED_TOGETHER = 10_000  # files: what a view will hide waits in DuckDB, in a tenth of the memory
SLOWEST = 10  # files named in the statistics
SMALL_BYTES = 2**20  # of source: parsed before a worker for the text alone could have started


class Building:
    """A build at work: what it was ordered, what it uses, and whom it tells. It ends lister and extractors.

    >>> building = Building(order, scope, index, languages, lister, extractors, pipe.send)
    >>> building.run()
    Built(files=812, ...)
    >>> building.relate()
    """

    def __init__(
        self,
        order: Build,
        scope: Scope,
        index: Index,
        languages: Languages,
        lister: Lister,
        extractors: Extractors,
        tell: Callable[[Progress | Generation], None],
    ) -> None:
        self._order = order
        self._scope = scope
        self._index = index
        self._languages = languages
        self._lister = lister
        self._extractors = extractors
        self._tell = tell
        self._clock = Clock(tell)
        self._describing = Describing(
            languages,
            max_file_size=scope.max_file_size,
            root=order.root,
            with_hashes=order.profile.reads_hashes or order.tree is not None,
        )
        self._kept = None if order.kept_fd is None else KeptWriter(order.kept_fd)
        self._asked = Batch((), index.holds_symbols, hashed=index.hashes_symbols)
        self._findings = Findings(order.known_findings_fd, order.findings_fd, self._asked)
        self._manifests: dict[str, str] = {}
        self._room = index.text_room  # bytes of text that still fit
        self._languages_of: Mapping[str, str] = {}  # of files that are parsed, by path
        self._resolved: dict[str, bytes] = {}  # imports, packed, by the path of their file
        self._unresolved: set[str] = set()  # of which files they are not known
        self._cut: str | None = None
        self._partial: str | None = None
        self._without_room = 0  # files of which nothing is known but their text, since the rest did not fit

    def run(self) -> Built | Unchanged:
        """Fill and seal the images. Raises ListingError where there is no tree, MemoryError past the limit."""
        tree = self._walked()
        narrows = self._order.profile.narrows_files
        with self._clock.stage("read"):
            rows, cut = self._read_visible(tree.entries) if narrows else (self._read(tree.entries), None)
        hashed = None if self._order.tree is None else tree_hash(tree, rows, self._scope)
        if hashed and hashed == self._order.tree:
            return Unchanged()
        languages = {row.path: row.language for row in rows if row.language and row.line_count is not None}
        missing = lacking((tree.partial, cut), rows)
        is_large = sum(row.size_bytes for row in rows if row.path in languages) > SMALL_BYTES
        if self._index.end_reading():
            self._clock.mark("text")
            if is_large:
                self._tell(self._generation(TEXT, missing, EXTRACTING))
        files = {row.path: row.language for row in rows}
        links = {entry.path: entry.target for entry in tree.entries if entry.target and entry.path in files}
        found = Extracted(self._languages, files, self._manifests, links)
        contents = contents_hash(rows) if self._order.profile.sums_hashes else None
        by_language = statistics(rows)
        skipped = Counter(row.skip_reason for row in rows if row.skip_reason)
        tree.entries.clear()  # both take as much memory as what the parsers find needs
        rows.clear()
        with self._clock.stage("extract"):
            self._extract(languages, found)
        with self._clock.stage("seal"):
            counts = self._finish(found)
        self._languages_of, self._unresolved = languages, found.unresolved
        missing = lacking((missing, self._undefined()), ())
        if is_large and self._order.known_findings_fd is None:  # else words are there in a moment
            self._clock.mark("definitions")
            self._tell(self._generation(CODE, missing))
        with self._clock.stage("words"):
            self._partial = missing = lacking((missing, self._word(found.prose)), ())
        self._clock.mark("total")
        self._tell(self._generation(WORDS, missing))
        return Built(
            **counts,
            lines=sum(row.lines for row in by_language),
            image_bytes=self._index.size(),
            sections=self._index.sections(),
            seconds=self._clock.seconds,
            languages=tuple(map(found.added, by_language)),
            skipped=dict(skipped.most_common()),
            left_out=tree.left_out,
            slowest=tuple(nsmallest(SLOWEST, found.seconds.items(), key=lambda item: (-item[1], item[0]))),
            notices=tuple(map(said, tree.notices)),
            partial=missing,
            tree=hashed,
            contents=contents,
        )

    def relate(self) -> None:
        """Resolve what the names in all files mean, and seal the graph, then its tables, if there are any.

        Comes last: the index is served, and the graph is while its tables are filled.
        """
        from fledgling.worker.indexer.relating import Relating  # noqa: PLC0415  (not every build is `for_graph`)

        relating = Relating(self._order, self._index, self._languages, self._extractors)
        tell = partial(self._clock.tick, "relate")
        related = relating.run(self._languages_of, self._resolved, self._unresolved, tell)
        self._extractors.close()
        generation = msgspec.structs.replace(
            self._generation(GRAPH, self._partial),
            related=related.languages,
            unrelated=related.lacks,
            unfollowed=related.unfollowed,
        )
        if self._index.edges:
            self._tell(generation)
            relating.fill(self._index.edges, partial(self._clock.tick, "fill"))
        self._tell(msgspec.structs.replace(generation, number=EDGES))

    def _walked(self) -> Tree:
        """Take what the lister has found; what names tell is served as soon as it is there."""
        with self._clock.stage("walk"):
            walked = self._lister.walked()
            if walked.has_listing:
                self._tell(self._generation(LISTING, walked.partial, COUNTING))
            tree = self._lister.tree()
            self._lister.close()
            self._cut = tree.partial
            self._index.unlisted(tree.unlisted)
            is_large = sum(entry.size for entry in tree.entries) > SMALL_BYTES
            if is_large and self._order.known_findings_fd is None:  # else few texts are parsed
                self._extractors.expect(self._languages.by_extensions(entry.path for entry in tree.entries))
            if self._kept:
                self._kept.files({entry.path: entry.stamp for entry in tree.entries}, self._order.begun_ns)
        return tree

    def _generation(
        self, number: Literal[0, 1, 2, 3, 4], partial: str | None, pending: str | None = None
    ) -> Generation:
        return Generation(
            number,
            defined=tuple(sorted(name for name, row in self._languages.rows.items() if row.finds_definitions)),
            has_content=self._scope.index_content,
            undefined=self._languages.undefined(),
            documents=self._languages.documents(),
            code=self._languages.code(),
            modules=self._languages.modules(),
            conventions=self._languages.conventions(),
            any_case=self._languages.in_any_case(),
            infers_new=self._languages.inferring_new(),
            unnamed=self._languages.unnamed(),
            related=() if self._index.why_unrelated() else self._languages.graphed(),
            partial=partial,
            cut=self._cut,
            pending=pending,
        )

    def _read(self, entries: Sequence[Entry]) -> list[FileRow]:
        """Describe every file, load its text, and return the rows."""
        rows = []
        for row, pieces in self._described(entries):
            rows.append(row)
            self._load(row, pieces)
        self._index.files(rows)
        return rows

    def _read_visible(self, entries: list[Entry]) -> tuple[list[FileRow], str | None]:
        """Describe every file, load the text of those that the profile leaves visible, and return their rows.

        Comes with a sentence where they are more than `max_files`.
        """
        described = self._described(entries, is_told=False)
        while some := [row for row, _ in islice(described, DESCRIBED_TOGETHER)]:
            failed = self._describing.failed  # a view cannot decide on what is not known
            self._index.files([row for row in some if row.path not in failed])
        known = self._index.visible()
        visible = [entry for entry in entries if entry.path in known]
        entries[:] = visible  # the others take as much memory as there are of them
        visible, cut = nearest(visible, self._scope.max_files)
        left_out = known.keys() - {entry.path for entry in visible}
        self._index.leave_out(sorted(left_out))
        rows = []
        missing: dict[str, list[str]] = {NO_ROOM: [], CHANGED: []}
        for row, pieces in self._described(visible):
            if row.content_hash != known[row.path].content_hash:
                reason = NO_ROOM if row.skip_reason == NO_ROOM else CHANGED
                missing[reason].append(row.path)
                row, pieces = msgspec.structs.replace(known[row.path], line_count=None, skip_reason=reason), None
            rows.append(row)
            self._load(row, pieces)
        for reason, paths in missing.items():
            self._index.without_content(paths, reason)
        return rows, cut

    def _load(self, row: FileRow, pieces: Pieces | None) -> None:
        if pieces is not None:
            self._room -= sum(len(text) for _, text in pieces)
            self._index.text(row.path, pieces)
            if self._languages.is_manifest(row.path) and row.size_bytes <= MAX_MANIFEST:
                self._manifests[row.path] = b"\n".join(text for _, text in pieces).decode()

    def _described(self, entries: Sequence[Entry], *, is_told: bool = True) -> Iterator[tuple[FileRow, Pieces | None]]:
        """Describe files one by one; how many they are `is_told` unless some of them may be hidden."""
        with closing(Reader(self._order.root_fd)) as reader:
            for done, entry in enumerate(entries):
                self._clock.tick("read", *((done, len(entries), entry.path) if is_told else (0, 0, None)))
                yield self._describing.describe(reader, entry, self._room)

    def _imports(self, imports: Sequence[tuple[str, ImportRow]]) -> None:
        """Load resolved imports, those of each file one after the other."""
        self._index.imports(imports)
        for path, rows in groupby(imports, key=itemgetter(0)):
            self._resolved[path] = packed([row for _, row in rows])
            if self._kept:
                self._kept.resolved(path, self._resolved[path])

    def _finish(self, found: Extracted) -> dict[str, int]:
        """Load the imports that waited for all files, and seal all; return how much of each kind there is."""
        for imports in found.waiting():
            self._imports(imports)
        counts = self._index.finish(found.parsed())
        if self._kept and self._order.kept_fd is not None:
            for path in found.unresolved:
                self._kept.resolved(path, UNRESOLVED)
            self._kept.finish()
            memory_file.seal(self._order.kept_fd)
        return counts

    def _undefined(self) -> str | None:
        """Say of how many files there was no room for what the parsers have found."""
        if not self._without_room:
            return None
        files = counted(self._without_room, "file")
        return f"Definitions and imports of {files} are missing: the profile's memory_limit is full."

    def _extract(self, languages: Mapping[str, str], found: Extracted) -> None:
        """Parse the text that was loaded; what is found is loaded and resolved as it comes."""
        first_blocks: dict[str, int] = {}

        def sources() -> Iterator[Source]:
            for block, source in self._index.sources(languages):
                first_blocks[source.path] = block
                yield source

        comments: dict[str, list[int]] = {"block": [], "line_number": []}
        for batch, answer in self._extractors.extract(sources(), self._asked, self._findings.known):
            self._clock.tick("extract", len(found.files), len(languages), batch.sources[0].path)
            if self._index.has_room(answer):
                self._findings.keep(batch, answer, self._index.room_for_another())
            else:
                self._without_room += len(batch.sources)
                answer = joined([given_up(facts.seconds) for facts in answer.facts])
            if self._kept:
                for source, facts in zip(batch.sources, answer.facts, strict=True):
                    self._kept.facts(source.path, packed(facts.imports), packed(facts.declared))
            self._imports(found.add(batch, answer))
            self._index.symbols(batch, answer)
            each = zip(batch.sources, answer.facts, strict=True) if self._index.holds_content else ()
            for source, facts in each:
                for block, lines in enumerate(facts.comments, first_blocks[source.path]):
                    comments["block"] += [block] * len(lines)
                    comments["line_number"] += lines
        if self._index.holds_content:
            self._index.comments(comments)

    def _word(self, prose: dict[str, bytes]) -> str | None:
        """Make the words of all files, and seal them, and what the next build takes over; say what is lacking."""
        wording = Wording(self._order, self._index, self._languages, self._extractors, self._findings)
        lacks = wording.run(prose, partial(self._clock.tick, "words"))
        self._findings.seal()
        return lacks
