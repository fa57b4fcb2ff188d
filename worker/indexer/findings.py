"""What extractors have found in each file, from one build of a server to the next: a text that is known is not parsed.

It is known again by its language and itself, by whether its name says that what it imports is exported, and by what
extractors were asked for: a project's settings may change that. A file with a new name is not parsed again. What an
extractor has found is no surer the second time: as it is, it was taken from a process that meets hostile text, and is
decoded as strictly.
"""

import msgspec
from msgspec.structs import replace

from fledgling.security import memory_file
from fledgling.worker.extractor.batches import one_by_one
from fledgling.worker.extractor.messages import Batch, ExtractedBatch, Source
from fledgling.worker.extractor.wording import gathers
from fledgling.worker.rows import FileWords
from fledgling.worker.store import facts

_DECODER = msgspec.msgpack.Decoder(ExtractedBatch)
_WORDS = msgspec.msgpack.Decoder(FileWords)


class Findings:
    """What the last build has found, and what this one leaves for the next.

    >>> findings = Findings(order.known_findings_fd, order.findings_fd, asked)
    >>> for batch, found in extractors.extract(sources, asked, findings.known):
    ...     findings.keep(batch, found, room=2**20)
    >>> findings.keep_words("a.py", words, room=2**20)
    >>> findings.seal()
    """

    def __init__(self, known_fd: int | None, fd: int | None, asked: Batch) -> None:
        """Read what is known, if there is any, and write to an empty file, if there is one, which the caller closes.

        Of each source the same is `asked`.
        """
        self._known = {} if known_fd is None else facts.read(known_fd)
        self._fd = fd
        self._writer = None if fd is None else facts.FactsWriter(fd)
        self._asked = f"{asked.tabled:d}{asked.hashed:d}"
        self._kept: set[bytes] = set()  # keys: files of the same text have one
        self._keys: dict[str, bytes] = {}  # of sources, by path

    def known(self, source: Source) -> ExtractedBatch | None:
        """Return what the last build has found in a file, if it was the same."""
        if not self._known:
            return None
        found = self._known.get(self._key(source))
        return None if found is None else _DECODER.decode(found)

    def keep(self, batch: Batch, found: ExtractedBatch, room: int) -> None:
        """Keep what was found in the files of a batch, as long as all that is kept fits the room, in bytes."""
        if self._writer is None:
            return
        each: list[ExtractedBatch] | None = None
        for at, source in enumerate(batch.sources):
            key = self._key(source)
            packed: bytes | memoryview | None = self._known.get(key)
            if packed is None and found.facts[at].engine:  # a file that was given up is tried again
                each = each or [*one_by_one(found)]
                [facts_of] = each[at].facts
                timeless = replace(each[at], facts=[replace(facts_of, seconds=0.0)])  # the time is of this build
                packed = msgspec.msgpack.encode(timeless)
            if packed is not None and key not in self._kept and self._writer.size + len(packed) <= room:
                self._writer.add(key, packed)
                self._kept.add(key)

    def words(self, path: str) -> FileWords | None:
        """Return the words of a file, if the last build has found it the same, and what it holds was kept again."""
        found = self._known.get(self._key_of_words(path)) if self._keys.get(path) in self._kept else None
        return None if found is None else _WORDS.decode(found)

    def keep_words(self, path: str, words: FileWords, room: int) -> None:
        """Keep the words of a file likewise, if what it holds was kept: one that was given up may say more later."""
        if self._writer is None or self._keys.get(path) not in self._kept:
            return
        packed = msgspec.msgpack.encode(words)
        if self._writer.size + len(packed) <= room:
            self._writer.add(self._key_of_words(path), packed)

    def seal(self) -> None:
        """Write what is left, and make the file immutable."""
        if self._writer is not None and self._fd is not None:
            with self._writer:
                pass
            memory_file.seal(self._fd)

    def _key(self, source: Source) -> bytes:
        key = self._keys.get(source.path)
        if key is None:
            kind = f"{self._asked}{gathers(source.path):d} {source.language}"
            key = self._keys[source.path] = facts.key_of(kind, source.blocks)
        return key

    def _key_of_words(self, path: str) -> bytes:
        return facts.key_of(f"words {path}", [self._keys[path]])
