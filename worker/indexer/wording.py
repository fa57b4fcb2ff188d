"""The stage behind definitions, which do not wait for it: which files of code say what.

Words are made of what is sealed by then, the text and the names of symbols, and of where comments are, which who parsed
a text has noted. Where a view may leave out rows, comments could tell what is hidden: there words are of what it has
left of symbols alone.
"""

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from fledgling.messages.control import Build
from fledgling.plain import counted
from fledgling.security import memory_file
from fledgling.worker.extractor.messages import Batch, Source
from fledgling.worker.extractor.pool import Extractors
from fledgling.worker.extractor.wording import worded
from fledgling.worker.indexer.findings import Findings
from fledgling.worker.indexer.index import Index
from fledgling.worker.language import Languages
from fledgling.worker.rows import FileWords
from fledgling.worker.store.symbols import Outlines
from fledgling.worker.store.text import Blocks
from fledgling.worker.store.words import WordWriter

BLOCKS_READ = 1024  # until their pages are given back: some megabytes

Report = Callable[[int, int, str | None], None]


class Wording:
    """The stage at work.

    >>> Wording(order, index, languages, extractors, findings).run({"a.py": facts.prose}, report)
    """

    def __init__(
        self, order: Build, index: Index, languages: Languages, extractors: Extractors, findings: Findings
    ) -> None:
        """Make the words of an index in which all else is sealed; `findings` has those of the last build."""
        self._images, self._index, self._extractors = order.images, index, extractors
        self._code = frozenset(languages.code())
        self._is_narrowed = order.profile.narrows_rows
        self._findings = None if self._is_narrowed else findings  # of one text, what is left may be another
        self._found: dict[int, FileWords] = {}  # by the number of the file
        self._room, self._room_to_keep = index.room_for_words(), index.room_for_another()
        self._without_room = 0

    def run(self, prose: dict[str, bytes], report: Report) -> str | None:
        """Write and seal the words of all files, of which there is this `prose` by path; say what is lacking.

        What is used of it is let go.
        """
        total = len(self._index.numbers())
        for batch, answer in self._extractors.extract(self._new(prose), Batch((), for_words=True)):
            report(len(self._found), total, batch.sources[0].path)
            for source, facts in zip(batch.sources, answer.facts, strict=True):
                if facts.words and self._findings:
                    self._findings.keep_words(source.path, facts.words, self._room_to_keep)
                self._take(source, facts.words or worded(replace(source, prose=b"")))
        writer = WordWriter(self._images.words)
        for number in sorted(self._found):
            writer.add(number, self._found[number])
        self._found.clear()
        writer.finish(total)
        memory_file.seal(self._images.words)
        if not self._without_room:
            return None
        files = counted(self._without_room, "file")
        return f"Search by meaning knows {files} by path alone: the profile's memory_limit is full."

    def _new(self, prose: dict[str, bytes]) -> Iterator[Source]:
        """Yield the files of code whose words are not known from an earlier build; the others are taken as they are."""
        for source in self._sources(prose):
            known = self._findings.words(source.path) if self._findings else None
            if known and self._findings:
                self._findings.keep_words(source.path, known, self._room_to_keep)
                self._take(source, known)
            else:
                yield source

    def _sources(self, prose: dict[str, bytes]) -> Iterator[Source]:
        blocks = Blocks(memory_file.mapped(self._images.blocks))
        outlines = Outlines(memory_file.mapped(self._images.outlines))
        behind = BLOCKS_READ
        for file in map(blocks.file, blocks.files if self._index.has_content else ()):
            if file.block >= behind:
                blocks.forget()
                outlines.forget()
                behind = file.block + BLOCKS_READ
            if file.blocks and file.language in self._code:
                said = b"" if self._is_narrowed else prose.pop(file.path, b"")
                texts = map(blocks.text, range(file.block, file.block + file.blocks)) if said else ()
                yield Source(file.path, file.language, tuple(texts), said, *outlines.part(file.number))

    def _take(self, source: Source, words: FileWords) -> None:
        if _size(words) > self._room:
            self._without_room += 1
            words = worded(Source(source.path, source.language, ()))
        self._room -= _size(words)
        self._found[self._index.numbers()[source.path]] = words


def _size(words: FileWords) -> int:
    return len(words.keys) + len(words.counts)
