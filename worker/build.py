"""One build, from the tree to the sealed image: list and describe, hide what the profile hides, extract, resolve, seal.

Every file is read twice: first to describe it, since the profile's view decides on descriptions what may be seen; then,
if it is visible, for its text. A file that changed in between is listed without content, and says so.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Literal

import msgspec

from fledgling.config import Scope
from fledgling.security.secret_files import is_secret
from fledgling.wire import DEFINITION_KINDS, Build, Built, LanguageStats, Progress
from fledgling.worker.below import Reader
from fledgling.worker.extract import Extractor
from fledgling.worker.generated import is_generated
from fledgling.worker.image import Block, Builder, cut
from fledgling.worker.language import Languages
from fledgling.worker.resolve import resolve
from fledgling.worker.rows import FileRow, ImportRow, SymbolRow
from fledgling.worker.text import content_hash, count_lines, decode, split_lines
from fledgling.worker.walk import Entry, walk

CHUNK_CHARS = 16 * 2**20  # of text loaded at once: large enough to be fast, small beside the memory limit
HEAD_BYTES = 256  # of a file, enough for its `#!` line
PROGRESS_SECONDS = 0.1  # between two reports
SLOWEST = 10  # files named in the statistics
CHANGED = "changed while it was indexed"

Stage = Literal["walk", "read", "extract", "seal"]


class Clock:
    """Seconds by stage, and progress reports at a bearable rate."""

    def __init__(self, report: Callable[[Progress], None]) -> None:
        self._report = report
        self._reported = 0.0
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: Stage) -> Iterator[None]:
        """Time one stage: `with clock.stage("walk"): ...`."""
        self._report(Progress(name, 0, 0))
        begun = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - begun

    def tick(self, stage: Stage, done: int, total: int) -> None:
        """Report that `done` of `total` files are through, unless the last report was just now."""
        if time.monotonic() - self._reported > PROGRESS_SECONDS:
            self._reported = time.monotonic()
            self._report(Progress(stage, done, total))


class Extracted(msgspec.Struct):
    """What the second reading found, over all files; `seconds` is by path."""

    symbols: list[tuple[str, str, SymbolRow]] = []
    imports: dict[str, list[ImportRow]] = {}
    seconds: dict[str, float] = {}
    changed: list[str] = []


class Building:
    """A build at work: what it was ordered, what it uses, and whom it tells.

    >>> Building(order, scope, builder, languages, pipe.send).run()
    Built(files=812, ...)
    """

    def __init__(
        self,
        order: Build,
        scope: Scope,
        builder: Builder,
        languages: Languages,
        report: Callable[[Progress], None],
    ) -> None:
        self._order = order
        self._scope = scope
        self._builder = builder
        self._languages = languages
        self._extractor = Extractor(languages)
        self._clock = Clock(report)

    def run(self) -> Built:
        """Fill and seal the image. Raises OSError where the root cannot be read, MemoryError past the limit."""
        begun = time.perf_counter()
        with self._clock.stage("walk"):
            tree = walk(self._order.root_fd, self._scope)
        with self._clock.stage("read"):
            described = self._described(tree.entries)
        with self._clock.stage("extract"):
            found = self._extracted(described)
        with self._clock.stage("seal"):
            counts, size = self._sealed(described, found)
        rows = [row for _, row in described]
        return Built(
            **counts,
            lines=sum(row.line_count or 0 for row in rows),
            image_bytes=size,
            seconds={**self._clock.seconds, "total": time.perf_counter() - begun},
            languages=_statistics(rows, found),
            skipped=dict(Counter(row.skip_reason for row in rows if row.skip_reason).most_common()),
            left_out=tree.left_out,
            slowest=tuple(sorted(found.seconds.items(), key=lambda item: (-item[1], item[0]))[:SLOWEST]),
            defined=tuple(sorted(name for name, row in self._languages.rows.items() if row.rules)),
            has_content=self._scope.index_content,
            notices=tuple(tree.notices),
            partial=tree.partial,
        )

    def _described(self, entries: Sequence[Entry]) -> list[tuple[Entry, FileRow]]:
        """Describe every entry, and keep those that the profile leaves visible."""
        described = []
        with closing(Reader(self._order.root_fd)) as reader:
            for done, entry in enumerate(entries):
                self._clock.tick("read", done, len(entries))
                described.append((entry, self._describe(reader, entry)))
        visible = self._builder.files([row for _, row in described])
        return [(entry, row) for entry, row in described if row.path in visible]

    def _describe(self, reader: Reader, entry: Entry) -> FileRow:
        if entry.is_symlink:
            return self._row(entry, b"", None, "symlink")
        if is_secret(entry.path):
            return self._row(entry, b"", None, "secret")
        if entry.size > self._scope.max_file_size:
            return self._row(entry, b"", None, "too large")
        try:
            data = reader.read(entry.raw, self._scope.max_file_size)
        except OSError:
            return self._row(entry, b"", None, "unreadable")
        if len(data) > self._scope.max_file_size:
            return self._row(entry, b"", None, "too large")
        text = decode(data)
        if text is None:
            return self._row(entry, data, None, "binary")
        return self._row(entry, data, text, None)

    def _row(self, entry: Entry, data: bytes, text: str | None, skip_reason: str | None) -> FileRow:
        directory, _, filename = entry.path.rpartition("/")
        return FileRow(
            path=entry.path,
            absolute_path=f"{self._order.root}/{entry.path}" if self._order.root else None,
            directory=directory,
            filename=filename,
            extension=filename[filename.rfind(".") :].lower() if "." in filename else "",
            language=self._languages.detect(filename, data[:HEAD_BYTES]),
            size_bytes=entry.size,
            line_count=None if text is None else count_lines(text),
            modified_at=datetime.fromtimestamp(entry.modified_ns / 1e9, UTC).replace(tzinfo=None),
            is_binary=skip_reason == "binary",
            is_generated=is_generated(entry.path, text or ""),
            content_hash=content_hash(data) if data or text is not None else None,
            skip_reason=skip_reason,
        )

    def _extracted(self, described: Sequence[tuple[Entry, FileRow]]) -> Extracted:
        """Read the visible files again: load their text, and extract what it says."""
        found = Extracted()
        blocks: list[Block] = []
        waiting = 0
        with closing(Reader(self._order.root_fd)) as reader:
            for done, (entry, row) in enumerate(described):
                self._clock.tick("extract", done, len(described))
                if row.line_count is None:
                    continue
                text = self._again(reader, entry, row)
                if text is None:
                    found.changed.append(row.path)
                    continue
                comments = self._extract(row, text, found)
                if self._scope.index_content:
                    blocks += cut(row.path, split_lines(text), comments)
                    waiting += len(text)
                if waiting > CHUNK_CHARS:
                    self._builder.text(blocks)
                    blocks, waiting = [], 0
        self._builder.text(blocks)
        return found

    def _again(self, reader: Reader, entry: Entry, row: FileRow) -> str | None:
        """Return the text that was described, or None where the file is another now."""
        try:
            data = reader.read(entry.raw, self._scope.max_file_size)
        except OSError:
            return None
        return decode(data) if content_hash(data) == row.content_hash else None

    def _extract(self, row: FileRow, text: str, found: Extracted) -> frozenset[int]:
        if row.language is None:
            return frozenset()
        begun = time.perf_counter()
        extraction = self._extractor.extract(row.language, text.encode())
        found.symbols += [(row.path, row.language, symbol) for symbol in extraction.symbols]
        if extraction.imports:
            found.imports[row.path] = extraction.imports
        found.seconds[row.path] = time.perf_counter() - begun
        return extraction.comment_lines

    def _sealed(self, described: Sequence[tuple[Entry, FileRow]], found: Extracted) -> tuple[dict[str, int], int]:
        """Resolve imports among visible files, copy what the views leave, and make the image immutable."""
        languages = {row.path: row.language for _, row in described}
        resolved = resolve(languages, found.imports)
        self._builder.symbols(found.symbols)
        self._builder.imports((path, row) for path, rows in sorted(resolved.items()) for row in rows)
        self._builder.without_content(found.changed, CHANGED)
        self._builder.finish()
        return self._builder.counts(), self._builder.seal()


def _statistics(rows: Sequence[FileRow], found: Extracted) -> tuple[LanguageStats, ...]:
    symbols = Counter(language for _, language, row in found.symbols if row.kind in DEFINITION_KINDS)
    groups: dict[str, list[FileRow]] = {}
    for row in rows:
        groups.setdefault(row.language or "", []).append(row)
    return tuple(
        LanguageStats(
            language,
            len(group),
            sum(row.line_count or 0 for row in group),
            sum(row.size_bytes for row in group),
            symbols[language],
            sum(found.seconds.get(row.path, 0.0) for row in group),
        )
        for language, group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    )
