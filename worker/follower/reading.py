"""Reading files that have changed: as a build reads them, and with care, since whoever writes one may be at it now."""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing

from msgspec import Struct
from msgspec.structs import replace

from fledgling.messages.following import Follow
from fledgling.worker.extractor.messages import Batch, ExtractedBatch, Source, TextFacts
from fledgling.worker.extractor.pool import Extractors
from fledgling.worker.extractor.wording import worded
from fledgling.worker.files.describe import Describing
from fledgling.worker.files.openat import Reader
from fledgling.worker.files.stamps import is_racy, stamp_at
from fledgling.worker.files.text import Pieces
from fledgling.worker.files.tree import Entry
from fledgling.worker.language import Languages
from fledgling.worker.rows import FileRow, FileWords, SymbolColumns
from fledgling.worker.store.parts import Part
from fledgling.worker.store.symbol_writer import Outlined, one_by_one

MOST_BYTES = 4 * 2**20  # of one file: it fits a frame with all that is found in it
TRIES = 3  # to read a file that is being written; then it is pending until the next look

Found = tuple[TextFacts, Outlined, SymbolColumns]


class Readings(Struct):
    """What was read: by path, the row of a file and its text; what is to be read `again` at the next look; and what is
    pending, since it was being written.
    """

    read: dict[str, tuple[FileRow, Pieces | None]]
    again: dict[str, Entry]
    pending: list[str]


class Reading:
    """Reads files that have changed, and makes parts of them.

    >>> reading = Reading(order, languages, extractors)
    >>> readings = reading.read({"a.py": entry})
    >>> reading.made(readings.read)["a.py"][0].row.path
    'a.py'
    """

    def __init__(self, order: Follow, languages: Languages, extractors: Extractors) -> None:
        self._root_fd = order.root_fd
        self._has_content = order.scope.index_content
        self._max_file_size = order.scope.max_file_size
        self._tabled = order.profile.reads_all_of("symbols")
        self._hashed = self._has_content and order.profile.hashes_definitions
        self._extractors = extractors
        self._languages = languages
        self._describing = Describing(
            languages,
            max_file_size=order.scope.max_file_size,
            root=order.root,
            with_hashes=order.profile.reads_hashes,
        )

    def read(self, entries: Mapping[str, Entry]) -> Readings:
        """Read files, each between two looks at its stamp; a file that is gone by now the next look will tell."""
        readings = Readings({}, {}, [])
        with closing(Reader(self._root_fd)) as reader:
            for path in sorted(entries):
                self._read(reader, entries[path], readings)
        return readings

    def _read(self, reader: Reader, entry: Entry, readings: Readings) -> None:
        for _ in range(TRIES):
            begun_ns = time.time_ns()
            described = self._describing.describe(reader, entry, MOST_BYTES)
            stamp = stamp_at(entry.raw, self._root_fd)
            if stamp is None:
                return
            if stamp == entry.stamp:
                readings.read[entry.path] = described
                if is_racy(stamp.modified_ns, stamp.changed_ns, begun_ns):
                    readings.again[entry.path] = entry
                return
            entry = entry.restamped(stamp, self._max_file_size)
            if entry.size > MOST_BYTES and not entry.skip_reason:
                break
        readings.again[entry.path] = entry
        readings.pending.append(entry.path)

    def made(self, read: Mapping[str, tuple[FileRow, Pieces | None]]) -> dict[str, tuple[Part, TextFacts | None]]:
        """Return the part of each file, with what extractors have found in it, where they look at it."""
        sources = [
            Source(path, row.language, tuple(text for _, text in pieces or ()))
            for path, (row, pieces) in sorted(read.items())
            if row.language and row.line_count is not None and pieces  # an empty file is parsed by nobody
        ]
        found: dict[str, Found] = {}
        for batch, answer in (
            self._extractors.extract(sources, Batch((), self._tabled, hashed=self._hashed)) if sources else ()
        ):
            for source, facts, symbols, columns in zip(batch.sources, answer.facts, *_one_by_one(answer), strict=True):
                found[source.path] = facts, symbols, columns
        words = self._words(sources, found)
        return {path: self._part(row, pieces, found.get(path), words.get(path)) for path, (row, pieces) in read.items()}

    def _words(self, sources: Sequence[Source], found: Mapping[str, Found]) -> dict[str, FileWords]:
        """Return the words of the files of code, by path, as a build makes them."""
        if not self._has_content:
            return {}
        asked = []
        for source in sources:
            if self._languages.rows[source.language].role == "code":
                facts, symbols, _ = found[source.path]
                [outline] = symbols.parts
                texts = source.blocks if facts.prose else ()
                asked.append(Source(source.path, source.language, texts, facts.prose, facts.symbols, outline))
        return {
            source.path: facts.words or worded(replace(source, prose=b""))
            for batch, answer in self._extractors.extract(asked, Batch((), for_words=True))
            for source, facts in zip(batch.sources, answer.facts, strict=True)
        }

    def _part(
        self, row: FileRow, pieces: Pieces | None, found: Found | None, words: FileWords | None
    ) -> tuple[Part, TextFacts | None]:
        facts, symbols, columns = found or (None, Outlined([b""]), SymbolColumns())
        blocks = pieces or [] if self._has_content else []
        part = Part(
            row=row,
            engine=facts.engine if facts else None,
            is_parsed=facts.complete if facts else None,
            blocks=blocks,
            signatures=self._extractors.sign([text for _, text in blocks])() if blocks else b"",
            symbols=symbols,
            columns=columns,
            comments=facts.comments if facts else [],
            words=words,
        )
        return part, facts


def _one_by_one(found: ExtractedBatch) -> tuple[list[Outlined], list[SymbolColumns]]:
    """Return the symbols of each file of a batch by themselves."""
    counts = [facts.symbols for facts in found.facts]
    return one_by_one(found.outlined, counts), found.symbols.one_by_one(counts)
